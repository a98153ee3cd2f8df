"""gssbo behind the interfaces of other packages, each in a module that is imported by name and needs its extra.

`gssbo.integrations.optuna` has a sampler.
"""

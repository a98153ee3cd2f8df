"""gssbo behind the interfaces of other packages, each in a module that is imported by name and needs its extra.

`gssbo.integrations.optuna` has a sampler, `gssbo.integrations.sklearn` a search over the parameters of an estimator
and a regressor.
"""

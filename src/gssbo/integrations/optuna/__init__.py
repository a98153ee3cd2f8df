"""A sampler for Optuna: `study = optuna.create_study(sampler=GSSBOSampler(seed=0))`."""

from __future__ import annotations

from gssbo.integrations.optuna.sampler import GSSBOSampler

__all__ = ["GSSBOSampler"]

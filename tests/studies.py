"""Small studies of Optuna."""

import optuna
from optuna.distributions import FloatDistribution

from gssbo.integrations.optuna import GSSBOSampler

UNIT = FloatDistribution(0.0, 1.0)
SPACE = {"x": UNIT, "y": UNIT}


def bowl(trial):
    return (trial.suggest_float("x", 0, 1) - 0.3) ** 2 + (trial.suggest_float("y", 0, 1) - 0.7) ** 2


def study_with(*, storage=None, name=None, direction="minimize", **options):
    options = {"seed": 0, "n_startup_trials": 4, "threads": 1, "warn_independent_sampling": False} | options
    return optuna.create_study(
        sampler=GSSBOSampler(**options), storage=storage, study_name=name, direction=direction, load_if_exists=True
    )


def only_model(study):
    (model,) = study.sampler._models.values()
    return model.optimizer


def points(study):
    return [tuple(sorted(trial.params.items())) for trial in study.trials]

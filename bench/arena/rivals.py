"""Optimizers of other packages, with their own defaults but for what is said here.

All search the unit cube, scaled to the box, and are seeded. None may evaluate more than the objective allows: it raises
`Spent`.
"""

from __future__ import annotations

import warnings

import numpy as np

from .. import searches
from .objective import Objective

__all__ = ["cma", "cma_random", "differential_evolution", "gpsampler", "tpe"]


def cma(objective: Objective, seed: int) -> None:
    """CMA-ES of the package cma with bounds and BIPOP restarts, first step 0.2 of a side.

    It starts at the centre of the box, which is a help wherever the optimum is near it (the plain levy20, powell50 and
    rastrigin100), and restarts from uniform points.
    """
    searches.cma(objective.unit, objective.problem.dim, objective.n_evals, seed, centre=True)


def cma_random(objective: Objective, seed: int) -> None:
    """The same, but the first start is uniform too."""
    searches.cma(objective.unit, objective.problem.dim, objective.n_evals, seed)


def differential_evolution(objective: Objective, seed: int) -> None:
    """SciPy's differential evolution; the best of a population that has converged is polished."""
    searches.differential_evolution(objective.unit, objective.problem.dim, objective.n_evals, seed)


def tpe(objective: Objective, seed: int) -> None:
    """Optuna's multivariate TPE."""
    import optuna

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.TPESampler(multivariate=True, seed=seed)
    _study(objective, sampler)


def gpsampler(objective: Objective, seed: int) -> None:
    """Optuna's GPSampler on one thread."""
    import optuna
    import torch

    torch.set_num_threads(1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        sampler = optuna.samplers.GPSampler(seed=seed)
    _study(objective, sampler)


def _study(objective: Objective, sampler: object) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=sampler)
    ranges = {f"x{k}": optuna.distributions.FloatDistribution(0.0, 1.0) for k in range(objective.problem.dim)}
    while True:
        trial = study.ask(ranges)
        study.tell(trial, objective.unit(np.array([trial.params[name] for name in ranges])))

"""Optimizers of other packages, with their own defaults but for what is said here.

All search the unit cube, scaled to the box, and are seeded. None may evaluate more than the objective allows: it raises
`Spent`.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy import optimize

from .objective import Objective

__all__ = ["cma", "cma_random", "differential_evolution", "gpsampler", "tpe"]

SIGMA = 0.2  # first step of CMA-ES, in sides of the box: better here than 0.1 or 0.3
POPULATION = 20  # about, of differential evolution: better here than 40, 80 or its own 15 a dimension


def cma(objective: Objective, seed: int) -> None:
    """CMA-ES of the package cma with bounds and BIPOP restarts, first step 0.2 of a side.

    It starts at the centre of the box, which is a help wherever the optimum is near it (the plain levy20, powell50 and
    rastrigin100), and restarts from uniform points.
    """
    _cma(objective, seed, centre=True)


def cma_random(objective: Objective, seed: int) -> None:
    """The same, but the first start is uniform too."""
    _cma(objective, seed, centre=False)


def _cma(objective: Objective, seed: int, *, centre: bool) -> None:
    import cma as package

    rng = np.random.default_rng(seed)
    d = objective.problem.dim
    first = iter([np.full(d, 0.5)] if centre else [])
    options = {
        "bounds": [0.0, 1.0],
        "seed": seed + 1,  # 0 would mean the clock
        "verbose": -9,
        "verb_log": 0,
        "maxfevals": objective.n_evals,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while True:  # should it end before the budget does, it begins anew
            package.fmin2(objective.unit, lambda: next(first, rng.random(d)), SIGMA, options, restarts=99, bipop=True)
            options["seed"] += 1_000


def differential_evolution(objective: Objective, seed: int) -> None:
    """SciPy's differential evolution, of about twenty members or one for each dimension.

    Its default of 15 members a dimension would spend these budgets on the first few generations: see
    bench/results/README.md for what that costs. When a population has converged and its best has been polished,
    another begins.
    """
    d = objective.problem.dim
    rng = np.random.default_rng(seed)
    while True:
        optimize.differential_evolution(
            objective.unit,
            [(0.0, 1.0)] * d,
            popsize=max(1, round(POPULATION / d)),
            maxiter=objective.n_evals,
            rng=rng,
        )


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

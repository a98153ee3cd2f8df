"""Searches of other packages, of the unit cube or of named parameters, which go on until the objective ends them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize

__all__ = ["Spent", "cma", "differential_evolution", "gpsampler", "tpe"]

SIGMA = 0.2  # first step of CMA-ES, in sides of the box: better in the arena than 0.1 or 0.3
POPULATION = 20  # about, of differential evolution: better there than 40, 80 or its own 15 a dimension

Value = Callable[[np.ndarray], float]
"""What is minimised, at a point (d,) of the unit cube."""

NamedValue = Callable[[dict[str, Any]], float]
"""What is minimised, of parameters by name; NaN where an evaluation fails."""


class Spent(Exception):
    """The budget is spent: an objective raises it instead of one evaluation too many, which ends the search."""


def cma(value: Value, dim: int, n_evals: int, seed: int, *, centre: bool = False) -> None:
    """CMA-ES of the package cma with bounds and BIPOP restarts from uniform points; it may start at the centre."""
    import cma as package

    rng = np.random.default_rng(seed)
    first = iter([np.full(dim, 0.5)] if centre else [])
    options = {
        "bounds": [0.0, 1.0],
        "seed": seed + 1,  # 0 would mean the clock
        "verbose": -9,
        "verb_log": 0,
        "maxfevals": n_evals,
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while True:  # should it end before the budget does, it begins anew
            package.fmin2(value, lambda: next(first, rng.random(dim)), SIGMA, options, restarts=99, bipop=True)
            options["seed"] += 1_000


def differential_evolution(value: Value, dim: int, n_evals: int, seed: int, *, polish: bool = True) -> None:
    """SciPy's differential evolution, of about twenty members or one for each dimension.

    Its default of 15 members a dimension would spend these budgets on the first few generations: see
    bench/results/README.md for what that costs. When a population has converged, another begins.
    """
    rng = np.random.default_rng(seed)
    while True:
        optimize.differential_evolution(
            value,
            [(0.0, 1.0)] * dim,
            popsize=max(1, round(POPULATION / dim)),
            maxiter=n_evals,
            polish=polish,
            rng=rng,
        )


def tpe(value: NamedValue, ranges: dict[str, Any], seed: int) -> None:
    """Optuna's multivariate TPE, of distributions by name."""
    _study(value, ranges, "TPESampler", multivariate=True, seed=seed)


def gpsampler(value: NamedValue, ranges: dict[str, Any], seed: int) -> None:
    """Optuna's GPSampler on one thread, of distributions by name."""
    import torch

    torch.set_num_threads(1)
    _study(value, ranges, "GPSampler", seed=seed)


def _study(value: NamedValue, ranges: dict[str, Any], sampler: str, **options: Any) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = optuna.create_study(sampler=getattr(optuna.samplers, sampler)(**options))
        while True:
            trial = study.ask(ranges)
            found = value(trial.params)
            if np.isnan(found):
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                study.tell(trial, found)

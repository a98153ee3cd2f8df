"""Optimizers by name: each evaluates ``told(point)`` until that raises `Spent`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import gssbo

from .. import searches
from ..distributions import distributions
from .task import Point, Task

__all__ = ["METHODS", "applies"]

Told = Callable[[Point], float]


def ours(task: Task, told: Told, seed: int) -> None:
    """The optimizer with all its defaults."""
    optimizer = gssbo.Optimizer(dict(task.space), threads=1, rng=seed)
    while True:
        x = optimizer.ask()
        optimizer.tell(x, told(x))


def random(task: Task, told: Told, seed: int) -> None:
    """Uniform random search."""
    rng = np.random.default_rng(seed)
    while True:
        told(task.point(rng.random(len(task.space))))


def differential_evolution(task: Task, told: Told, seed: int) -> None:
    """SciPy's, without a polish; what failed is infinitely bad."""
    searches.differential_evolution(_in_unit_cube(task, told), len(task.space), task.n_evals, seed, polish=False)


def cma(task: Task, told: Told, seed: int) -> None:
    """CMA-ES from uniform points."""
    searches.cma(_in_unit_cube(task, told), len(task.space), task.n_evals, seed)


def tpe(task: Task, told: Told, seed: int) -> None:
    """Optuna's multivariate TPE."""
    _study(task, told, "TPESampler", multivariate=True, seed=seed)


def gpsampler(task: Task, told: Told, seed: int) -> None:
    """Optuna's GPSampler on one thread."""
    import torch

    torch.set_num_threads(1)
    _study(task, told, "GPSampler", seed=seed)


def _study(task: Task, told: Told, sampler: str, **options: Any) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    ranges = distributions(task.space)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = optuna.create_study(sampler=getattr(optuna.samplers, sampler)(**options))
        while True:
            trial = study.ask(ranges)
            value = told(trial.params)
            if np.isnan(value):
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            else:
                study.tell(trial, value)


def _in_unit_cube(task: Task, told: Told) -> searches.Value:
    def value(u: np.ndarray) -> float:
        found = told(task.point(u))
        return np.inf if np.isnan(found) else found

    return value


METHODS: dict[str, Callable[[Task, Told, int], None]] = {
    "gssbo": ours,
    "tpe": tpe,
    "gpsampler": gpsampler,
    "cma": cma,
    "de": differential_evolution,
    "random": random,
}


def applies(method: str, task: Task) -> bool:
    """CMA-ES where all parameters are real, GPSampler for up to 200 evaluations."""
    return (method != "cma" or task.is_real) and (method != "gpsampler" or task.n_evals <= 200)

"""Optimizers by name: each evaluates ``told(point)`` until that raises `Spent`."""

from __future__ import annotations

from collections.abc import Callable

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
    searches.tpe(told, distributions(task.space), seed)


def gpsampler(task: Task, told: Told, seed: int) -> None:
    """Optuna's GPSampler on one thread."""
    searches.gpsampler(told, distributions(task.space), seed)


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

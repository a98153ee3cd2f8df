"""Optimizers by name: each evaluates the objective until that raises `Spent`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import gssbo
from gssbo.space import Integer, Real

from .. import searches
from ..distributions import distributions
from .tasks import Task

__all__ = ["METHODS", "PACKAGES", "Objective", "Spent"]

Vector = np.ndarray


class Spent(Exception):
    """The budget is spent."""


class Objective:
    """What methods evaluate; `Spent` beyond the budget."""

    def __init__(self, task: Task, seed: int) -> None:
        self.task, self.instance = task, task.make(seed)
        self._rng = np.random.default_rng([seed, 99])
        self.told: list[float] = []
        self.true: list[float] = []

    def __call__(self, x: Vector) -> float:
        """Value at a point (d,) in the units of the space."""
        if len(self.told) == self.task.n_evals:
            raise Spent
        true = self.instance.value(np.asarray(x, dtype=float))
        noise = self.instance.noise
        self.told.append(true if noise is None else noise(x, true, self._rng))
        self.true.append(true)
        return self.told[-1]

    def unit(self, u: Vector) -> float:
        """The same at a point of the unit cube; whole numbers have equal parts of it."""
        x = [
            min(each.low + int(w * (each.high - each.low + 1)), each.high) if isinstance(each, Integer) else w
            for each, w in zip(self.task.space, np.asarray(u).tolist(), strict=True)
        ]
        return self(np.array(x))

    def regret(self) -> Vector:
        """Simple regret (n,) after each evaluation."""
        told = np.array(self.told)
        first = np.append(True, told[1:] < np.minimum.accumulate(told)[:-1])
        incumbent = np.maximum.accumulate(np.where(first, np.arange(len(told)), 0))
        return np.array(self.true)[incumbent] - self.instance.optimum


def ours(objective: Objective, seed: int) -> None:
    """The optimizer with all its defaults, in batches where the task has them."""
    optimizer = gssbo.Optimizer(list(objective.task.space), threads=1, rng=seed)
    while True:
        if objective.task.q == 1:
            x = optimizer.ask()
            optimizer.tell(x, objective(np.asarray(x, dtype=float)))
        else:
            X = optimizer.ask(objective.task.q)
            optimizer.tell(X, [objective(np.asarray(x, dtype=float)) for x in X])


def cma(objective: Objective, seed: int) -> None:
    """CMA-ES from a uniform point with restarts, as in the arena; populations are batches anyhow."""
    searches.cma(objective.unit, len(objective.task.space), objective.task.n_evals, seed)


def de(objective: Objective, seed: int) -> None:
    """SciPy's differential evolution as in the arena, without a polish where there is noise, steps or a batch."""
    task = objective.task
    plain = objective.instance.noise is None and task.q == 1 and all(isinstance(each, Real) for each in task.space)
    searches.differential_evolution(objective.unit, len(task.space), task.n_evals, seed, polish=plain)


def tpe(objective: Objective, seed: int) -> None:
    """Optuna's multivariate TPE."""
    _study(objective, "TPESampler", multivariate=True, constant_liar=objective.task.q > 1, seed=seed)


def gpsampler(objective: Objective, seed: int) -> None:
    """Optuna's GPSampler on one thread."""
    import torch

    torch.set_num_threads(1)
    _study(objective, "GPSampler", seed=seed)


def _study(objective: Objective, sampler: str, **options: Any) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    ranges = distributions({f"x{i}": each for i, each in enumerate(objective.task.space)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        study = optuna.create_study(sampler=getattr(optuna.samplers, sampler)(**options))
        while True:
            trials = [study.ask(ranges) for _ in range(objective.task.q)]
            for trial in trials:
                study.tell(trial, objective(np.array(list(trial.params.values()), dtype=float)))


METHODS: dict[str, Callable[[Objective, int], None]] = {
    "gssbo": ours, "cma": cma, "de": de, "tpe": tpe, "gpsampler": gpsampler
}  # fmt: skip
PACKAGES = {"gssbo": "gssbo", "cma": "cma", "de": "scipy", "tpe": "optuna", "gpsampler": "optuna"}

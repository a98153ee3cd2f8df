"""The objective as every method sees it: counted, timed, recorded, and out of reach once the budget is spent.

Notation
--------
=====  ===============================================================
n      evaluations so far
x_i    point of evaluation i, i = 1..n
y_i    what the method was told: the value at x_i, with noise if any
v_i    value at x_i without noise (y_i where there is none)
f*     optimum
=====  ===============================================================

Simple regret after n evaluations is v_b - f*, where b is the evaluation with the lowest y_i so far: what is lost by
whoever stops here and trusts the best value seen. Without noise this is the lowest value so far; with noise it can grow
when a lucky value misleads. Cumulative regret is the sum of v_i - f* over all evaluations, the initial design included.

Seconds are those of the processor, of all threads together. Everybody is given one thread, so they are the wall time on
an idle machine, and other work on the machine does not change them much.
"""

from __future__ import annotations

import time

import numpy as np

from gssbo.problems import Problem

from ..searches import Spent

__all__ = ["Objective"]

SLACK = 1e-9  # of a side: what a point may lie outside the box by, from rounding


class Objective:
    """A problem with a budget.

    Parameters
    ----------
    problem : Problem
    n_evals : int
        Evaluations allowed.

    Attributes
    ----------
    told, true : list of float
        Values as the method was told them, and without noise.
    stamps : list of float
        Seconds that the method itself had used since `start` when it asked for each evaluation.
    seconds : float
        Seconds spent in evaluations.
    """

    def __init__(self, problem: Problem, n_evals: int) -> None:
        self.problem = problem
        self.n_evals = n_evals
        self.told: list[float] = []
        self.true: list[float] = []
        self.stamps: list[float] = []
        self.seconds = 0.0
        self.start()

    def start(self) -> None:
        """Start the clock; what was loaded before does not count."""
        self._begin = time.process_time()

    @property
    def optimizer_seconds(self) -> float:
        """Seconds since the start that were not spent in evaluations."""
        return time.process_time() - self._begin - self.seconds

    def __call__(self, x: np.ndarray) -> float:
        """Value at a point (d,) in the units of the problem."""
        if len(self.told) == self.n_evals:
            raise Spent
        asked = time.process_time()
        self.stamps.append(asked - self._begin - self.seconds)
        point = np.asarray(x, dtype=np.float64)
        lower, upper = self.problem.bounds.T
        slack = SLACK * (upper - lower)
        if not ((point >= lower - slack) & (point <= upper + slack)).all():
            raise ValueError(f"x must lie within the bounds of {self.problem.name}, got {point.tolist()}")
        point = np.clip(point, lower, upper)
        self.told.append(float(self.problem(point)))
        self.true.append(float(self.problem.expected(point)) if self.problem.stochastic else self.told[-1])
        self.seconds += time.process_time() - asked
        return self.told[-1]

    def unit(self, u: np.ndarray) -> float:
        """Value at a point (d,) of the unit cube."""
        lower, upper = self.problem.bounds.T
        return self(lower + (upper - lower) * np.asarray(u, dtype=np.float64))

    def simple_regret(self) -> np.ndarray:
        """Simple regret (n,) after each evaluation."""
        told = np.array(self.told)
        best = np.minimum.accumulate(told)
        first = np.concatenate([[True], told[1:] < best[:-1]])
        incumbent = np.maximum.accumulate(np.where(first, np.arange(len(told)), 0))
        return np.array(self.true)[incumbent] - self.problem.optimum

    def cumulative_regret(self) -> np.ndarray:
        """Cumulative regret (n,) after each evaluation."""
        return np.cumsum(np.array(self.true) - self.problem.optimum)

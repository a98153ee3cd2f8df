"""Inputs: a smooth function of uniform points, and histories that a real run left behind.

Notation: n observations, d dimensions; X in the unit cube (n, d), y (n,) to be maximised, theta (d + 2,) the log of
lengthscales, variance and noise on standardised responses.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

import gssbo
from gssbo.kernels import Kernel
from gssbo.presets import paper
from gssbo.problems import get_problem

Array = np.ndarray


class Data(NamedTuple):
    """Observations with hyperparameters that suit them."""

    X: Array
    y: Array
    z: Array  # standardised
    theta: Array

    @property
    def kernel(self) -> Kernel:
        """The kernel at theta."""
        return Kernel("matern52", np.exp(self.theta[:-2]), float(np.exp(self.theta[-2])))

    @property
    def noise(self) -> float:
        """The noise variance at theta."""
        return float(np.exp(self.theta[-1]))


def uniform(n: int, d: int, seed: int = 0) -> Data:
    """Observations at uniform points of a smooth function with a little noise."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    y = np.sin(X @ rng.normal(size=d) * 3.0 / np.sqrt(d)) + X[:, 0] + 0.05 * rng.normal(size=n)
    lengthscales = 0.5 * np.sqrt(d) * rng.uniform(0.5, 1.5, d)
    return Data(X, y, (y - y.mean()) / y.std(), np.log([*lengthscales, 1.3, 1e-2]))


@functools.cache
def _run(problem: str) -> gssbo.Optimizer:
    options = paper(100) | {"pool": "auto", "refit": 10, "refresh": "auto", "n_candidates": 2_000}
    return gssbo.Optimizer(get_problem(problem).bounds, rng=0, **options)


def history(problem: str, n: int) -> tuple[Array, Array]:
    """First n observations of a run on a problem: X in the unit cube, y to be maximised.

    The method's own run, made cheaper: hyperparameters every tenth iteration, 2,000 candidates, windowed pool. It is
    continued, not repeated, when more are wanted.
    """
    fun = get_problem(problem)
    optimizer = _run(problem)
    while optimizer.n_told < n:
        x = optimizer.ask()
        optimizer.tell(x, fun(x))
    low, high = np.asarray(fun.bounds, dtype=float).T
    return np.clip((optimizer.X[:n] - low) / (high - low), 0.0, 1.0), -optimizer.y[:n]


def unit_box(d: int) -> list[tuple[float, float]]:
    """Bounds of the unit cube."""
    return [(0.0, 1.0)] * d

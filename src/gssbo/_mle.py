"""Maximum likelihood of the hyperparameters, from a warm start and random restarts.

Notation
--------
theta   log lengthscales (d), log variance, log noise
L       log marginal likelihood, equation 2 of [1]

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from gssbo._core import _gp, _mle
from gssbo._parallel import run_all
from gssbo._typing import FloatArray

__all__ = ["Likelihood", "MaximumLikelihood", "maximize_likelihood"]

MAX_EVALUATIONS = 2000  # of L, from one start

MESSAGES = {
    _mle.CONVERGED: "relative decrease or projected gradient below its tolerance",
    _mle.STALLED: "no further increase along the gradient",
    _mle.LIMIT: f"{MAX_EVALUATIONS} evaluations spent",
}


class Likelihood:
    """L(theta) and its gradient for fixed inputs and responses, with the workspace allocated once.

    Parameters
    ----------
    kind : int
        Number of the kernel in the compiled core.
    X : ndarray of shape (n, d)
    z : ndarray of shape (n,)
        Standardised responses.
    """

    def __init__(self, kind: int, X: FloatArray, z: FloatArray) -> None:
        self._kind, self._X, self._z = kind, X, z
        self._work = np.zeros(_gp.work_size(*X.shape))
        self.n_evaluations = 0

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """L and dL/dtheta (d + 2,); L is NaN where K_y is not positive definite in doubles."""
        self.n_evaluations += 1
        gradient = np.zeros(len(theta))
        value = _gp.log_likelihood(self._kind, self._X, self._z, theta, self._work, gradient)
        return value, gradient

    def twin(self) -> Likelihood:
        """The same likelihood with a workspace and a count of its own, for another thread."""
        return Likelihood(self._kind, self._X, self._z)

    def climb(self, start: FloatArray, bounds: FloatArray) -> tuple[FloatArray, float, int]:
        """Best theta reached from `start` within `bounds` (p, 2), its L, and how the search ended."""
        theta = start.copy()
        low, high = np.ascontiguousarray(bounds.T)
        value, n_evaluations, status = _mle.climb(
            self._kind, self._X, self._z, low, high, MAX_EVALUATIONS, self._work, theta
        )
        self.n_evaluations += n_evaluations
        return theta, value, status


@dataclass(frozen=True)
class MaximumLikelihood:
    """Outcome of a search: the best theta over all starts, its L, and how the search went."""

    theta: FloatArray
    value: float
    n_evaluations: int
    n_starts: int
    success: bool
    message: str


def maximize_likelihood(
    likelihood: Likelihood, starts: FloatArray, bounds: FloatArray, *, threads: int = 1
) -> MaximumLikelihood:
    """Climb L from each row of `starts` (s, p) within `bounds` (p, 2), both in log parameters.

    The result does not depend on `threads`. `success` is False when no start has a finite likelihood; `theta` is then
    the first start.
    """
    hills = [likelihood, *(likelihood.twin() for _ in starts[1:])]
    climbs = run_all([partial(hill.climb, start, bounds) for hill, start in zip(hills, starts, strict=True)], threads)
    theta, value, message = starts[0], -np.inf, "no start has a finite likelihood"
    for reached, height, status in climbs:
        if height > value:
            theta, value, message = reached, height, MESSAGES[status]
    n_evaluations = sum(hill.n_evaluations for hill in hills)
    return MaximumLikelihood(theta, value, n_evaluations, len(starts), bool(np.isfinite(value)), message)

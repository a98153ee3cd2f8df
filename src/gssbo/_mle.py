"""Maximum likelihood of the hyperparameters, by L-BFGS-B from a warm start and random restarts.

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

import numpy as np
from scipy.optimize import minimize

from gssbo._core import _gp, _linalg
from gssbo._typing import FloatArray

__all__ = ["Likelihood", "MaximumLikelihood", "maximize_likelihood"]

REJECTED = 1e25  # what the minimiser sees where K_y is not positive definite in doubles


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
        n, d = X.shape
        self._kind, self._X, self._z = kind, X, z
        self._work = np.zeros((3, n, _linalg.padded(n)))
        self._d = d
        self.n_evaluations = 0

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """L and dL/dtheta (d + 2,); L is NaN where K_y is not positive definite in doubles."""
        self.n_evaluations += 1
        parameters = np.exp(theta)
        gradient = np.zeros(self._d + 2)
        value = _gp.log_likelihood(
            self._kind, self._X, self._z, parameters[: self._d], parameters[-2], parameters[-1], 0.0,
            self._work, gradient,
        )  # fmt: skip
        return value, gradient

    def negated(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """-L and its gradient, finite everywhere, for a minimiser."""
        value, gradient = self(theta)
        if not np.isfinite(value) or not np.isfinite(gradient).all():
            return REJECTED, np.zeros_like(gradient)
        return -value, -gradient


@dataclass(frozen=True)
class MaximumLikelihood:
    """Outcome of a search: the best theta over all starts, its L, and how the search went."""

    theta: FloatArray
    value: float
    n_evaluations: int
    n_starts: int
    success: bool
    message: str


def maximize_likelihood(likelihood: Likelihood, starts: FloatArray, bounds: FloatArray) -> MaximumLikelihood:
    """Climb L from each row of `starts` (s, p) within `bounds` (p, 2), both in log parameters.

    `success` is False when no start reached a finite likelihood; `theta` is then the first start.
    """
    best = MaximumLikelihood(starts[0], -np.inf, 0, len(starts), False, "no start reached a finite likelihood")
    for start in np.clip(starts, bounds[:, 0], bounds[:, 1]):
        result = minimize(likelihood.negated, start, jac=True, method="L-BFGS-B", bounds=bounds)
        value = -float(result.fun)
        if value > max(best.value, -REJECTED) and np.isfinite(result.x).all():
            theta = np.clip(result.x, bounds[:, 0], bounds[:, 1])
            best = MaximumLikelihood(theta, value, 0, len(starts), True, str(result.message))
    return MaximumLikelihood(
        best.theta, best.value, likelihood.n_evaluations, best.n_starts, best.success, best.message
    )

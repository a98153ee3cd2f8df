"""A Gaussian process under a prior of its hyperparameters, and its log expected improvement.

Notation
--------
X, z            inputs (n, d) and standardised responses (n,)
spread          standard deviation of each column of X, at least a thousandth of the largest (d,)
theta           log lengthscales (d), log variance, log noise

The prior: log lengthscale ~ N(log(5 spread sqrt(d)), 1.3^2), so that a function of many inputs is smooth in each of
them, as in [1], but in units of the data, which may all lie in a small region; log variance ~ N(0, 2^2); log noise
~ N(log 1e-6, 4^2).

References
----------
1. Hvarfner, Hellsten and Nardi, Vanilla Bayesian optimization performs great in high dimensions, ICML 2024.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gssbo._core import _acquire, _polish
from gssbo._mle import Climb, Likelihood, Prior
from gssbo._typing import FloatArray
from gssbo.columns import deviations, still_columns
from gssbo.gp import GaussianProcess
from gssbo.kernels import KERNELS

__all__ = ["MUCH_NOISE", "Improvement", "MapGaussianProcess"]

SMOOTHNESS, VAGUENESS = 5.0, 1.3
USUAL_NOISE, NOISE_FLOOR = 1e-6, 1e-8
MUCH_NOISE = 0.1  # of the responses' variance; a start


class MapGaussianProcess(GaussianProcess):
    """Gaussian process on responses that are standardised already; without checks, for callers in this package.

    Examples
    --------
    >>> X = np.linspace(0.0, 1.0, 12)[:, None]
    >>> z = np.sqrt(2.0) * np.sin(6.0 * X[:, 0])
    >>> gp = MapGaussianProcess()
    >>> theta, _ = gp.most_probable(X, z, start=None, max_evaluations=50)
    >>> gp.set_theta(X, z, theta)
    >>> mean, _ = gp.posterior(np.array([[np.pi / 12.0]]))
    >>> bool(abs(mean[0] - np.sqrt(2.0)) < 0.01)
    True
    """

    def __init__(self) -> None:
        super().__init__("matern52", normalize_y=False, n_restarts=0)

    def most_probable(
        self,
        X: FloatArray,
        z: FloatArray,
        *,
        start: FloatArray | None,
        max_evaluations: int,
        known: FloatArray | None = None,
        noise: float = USUAL_NOISE,
    ) -> tuple[FloatArray, float]:
        """Theta of the largest posterior density found from `start`, and its log.

        By default the start is the prior's centre, but for its `noise` variance: from where that is little, the search
        may end in a maximum in which noise is signal. `known` are noise variances (n,) beyond the noise in theta, in
        squared units of z.
        """
        d = X.shape[1]
        centre, weight, bounds = _prior(X)
        first = np.append(centre[:-1], np.log(noise)) if start is None else start
        first = np.clip(first, bounds[:, 0], bounds[:, 1])
        moved = np.append(~still_columns(X), [True, True])  # a lengthscale that data say nothing of is the prior's
        moved[0] |= not moved[:d].any()  # the core knows no points without inputs
        inputs = np.ascontiguousarray(X[:, moved[:d]])
        # The prior keeps lengthscales from where the likelihood is flat.
        climb = Climb(
            Likelihood(KERNELS[self.kernel], inputs, z, known), first[moved], bounds[moved],
            np.full(inputs.shape[1], np.inf), self.tol, prior=Prior(centre[moved], weight[moved]),
        )  # fmt: skip
        climb.advance(max_evaluations)
        theta = centre.copy()
        theta[moved] = climb.theta
        if not np.isfinite(climb.value):  # near duplicates under little noise: the prior's centre, with more of it
            theta = centre.copy()
            theta[d + 1] = np.log(1e-4)
        return theta, climb.value


def _prior(X: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Centre and weight (d + 2,) of the prior, and bounds (d + 2, 2) of where it is looked for."""
    d = X.shape[1]
    centre = np.concatenate([np.log(SMOOTHNESS * np.sqrt(d) * deviations(X)), [0.0, np.log(USUAL_NOISE)]])
    weight = np.concatenate([np.full(d, VAGUENESS**-2), [0.25, 0.0625]])
    bounds = np.empty((d + 2, 2))
    bounds[:d, 0], bounds[:d, 1] = centre[:d] - 5.0, centre[:d] + 6.0
    bounds[d:] = np.log([[1e-3, 1e3], [NOISE_FLOOR, 1.0]])
    return centre, weight, bounds


@dataclass(frozen=True)
class Improvement:
    """Log expected improvement over a level, in units of z, under a process.

    Examples
    --------
    >>> X = np.linspace(0.0, 1.0, 12)[:, None]
    >>> gp = MapGaussianProcess()
    >>> gp.set_theta(X, np.sin(6.0 * X[:, 0]), np.log([0.4, 1.0, 1e-6]))
    >>> x, _ = Improvement(gp, 0.9).climb(np.array([0.4]), (np.zeros(1), np.ones(1)), max_evaluations=50)
    >>> bool(abs(x[0] - np.pi / 12.0) < 0.05)
    True
    """

    gp: MapGaussianProcess
    level: float

    def at(self, points: FloatArray) -> FloatArray:
        """The improvement (m,) at points (m, d)."""
        mean, std = self.gp.posterior(points)
        value = np.empty(len(points))
        _acquire.log_expected_improvement(mean, std, self.level, value)
        return value

    def climb(
        self, start: FloatArray, box: tuple[FloatArray, FloatArray], *, max_evaluations: int
    ) -> tuple[FloatArray, float]:
        """The best point that a climb from `start` (d,) reaches in the box (low, high), and the improvement there."""
        gp, x = self.gp, start.copy()
        value = _polish.climb_log_ei(
            gp.kernel_.kind, gp.X_train_, gp.lengthscale_, gp.variance_, gp.U_, gp.alpha_, self.level, *box,
            max_evaluations, x,
        )  # fmt: skip
        return x, value

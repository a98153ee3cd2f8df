"""Pending points for surrogates that know their posterior covariance.

Notation
--------
P           pending points (p, d)
c(x, x')    posterior covariance of the latent function
R           R^T R = c(P, P) + noise I

As in `gssbo.fantasy`: observing the posterior mean at P leaves the mean and takes |R^-T c(P, x)|^2 off the variance.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from gssbo._core import _linalg
from gssbo._typing import FloatArray
from gssbo.factor import first_factor
from gssbo.fantasy import fantasize
from gssbo.kernels import Kernel
from gssbo.padded import padded_copy

__all__ = ["Correlated", "Imagined"]


class Correlated(Protocol):
    """What `Imagined` asks of a fitted surrogate."""

    y_mean_: float
    y_std_: float
    noise_: float

    def posterior(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (m,)."""
        ...

    def covariance(self, first: FloatArray, second: FloatArray) -> FloatArray:
        """Posterior covariance c (p, m) of the latent function between points (p, d) and (m, d)."""
        ...


class Imagined:
    """A fitted surrogate as if it had observed its own mean at points (p, d); it is not fitted again.

    Examples
    --------
    >>> from gssbo.baselines.sparse_gp import SparseProcess
    >>> model = SparseProcess(epochs=0, rng=0).fit([[0.0], [1.0]], [0.0, 1.0])
    >>> middle = np.array([[0.5]])
    >>> before, after = model.posterior(middle), Imagined(model, middle).posterior(middle)
    >>> bool(before[0] == after[0]), bool(after[1] < 0.5 * before[1])
    (True, True)
    """

    def __init__(self, model: Correlated, points: FloatArray) -> None:
        self.model, self.points = model, np.ascontiguousarray(points)
        self.y_mean_, self.y_std_, self.noise_ = model.y_mean_, model.y_std_, model.noise_
        covariance = padded_copy(model.covariance(self.points, self.points))
        size = float(np.diagonal(covariance).max()) + model.noise_
        jitters = Kernel("rbf", np.ones(1), size).jitters(len(points))
        self._R, _ = first_factor(covariance, (model.noise_ + jitter for jitter in jitters))

    def posterior(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (m,), in units of z."""
        mean, std = self.model.posterior(points)
        p, m = len(self.points), len(points)
        shared = padded_copy(self.model.covariance(self.points, np.ascontiguousarray(points)))
        _linalg.solve_transposed(p, m, self._R, shared)
        return mean, np.sqrt(np.maximum(std * std - np.einsum("ij,ij->j", shared, shared)[:m], 0.0))

    def posterior_bound(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (m,) before anything was imagined, which bounds the latter from above."""
        return self.model.posterior(points)


@fantasize.register(Imagined)
def _further(imagined: Imagined, points: FloatArray) -> Imagined:
    return Imagined(imagined.model, np.vstack([imagined.points, points]))

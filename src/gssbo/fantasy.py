"""Fantasies: a surrogate that takes pending points into account, without their values and without a refit.

Notation
--------
X, P        observed inputs (n, d); pending ones (p, d)
K_y         k(X, X) + noise I = U^T U
W, R        the last columns of the factor of K_y with P appended: W = U^-T k(X, P), R^T R = k(P, P) + noise I - W^T W

Observing at P exactly what the posterior mean is there leaves the mean as it is everywhere: the new weights are 0. Only
the variance shrinks, and that does not depend on the value.
"""

from __future__ import annotations

import copy
from functools import singledispatch

import numpy as np

from gssbo._core import _linalg
from gssbo._typing import FloatArray
from gssbo.gp import GaussianProcess
from gssbo.padded import padded_copy, padded_zeros
from gssbo.pooled import PooledProcess
from gssbo.projected import ProjectedProcess
from gssbo.surrogate import Predictor

__all__ = ["fantasize"]

MOST, KEPT = 1_000, 200  # pending points that count; of more, those that still do: the oldest and the newest


@singledispatch
def fantasize(surrogate: Predictor, points: FloatArray) -> Predictor:
    """Return a fitted surrogate as if it had observed its own mean at `points` (p, d).

    For a GaussianProcess that is a row of the factor and O(n^2) a point: the mean is the same, the standard deviation
    smaller. A point whose variance is spent (told without noise, say) is passed over. Of more than 1,000 pending points
    the first 100 and the newest 100 count, and as many behind them as make 1,000 again. Another type does what was
    registered for it, with `fantasize.register`; where there is nothing, pending points do not count, and the surrogate
    itself is returned.

    Examples
    --------
    >>> gp = GaussianProcess(lengthscale=0.3, noise=1e-6, fit_hyperparameters=False).fit([[0.2], [0.8]], [0.0, 1.0])
    >>> before, after = gp.posterior(np.array([[0.5]])), fantasize(gp, np.array([[0.5]])).posterior(np.array([[0.5]]))
    >>> bool(before[0] == after[0]), (before[1] ** 2).round(4), after[1].round(4)
    (True, array([0.5177]), array([0.001]))
    """
    return surrogate


@fantasize.register(GaussianProcess)
def _exact(gp: GaussianProcess, points: FloatArray) -> GaussianProcess:
    if len(points) == 0:
        return gp
    if gp.n_imagined_ + len(points) > MOST:
        n = len(gp.X_train_) - gp.n_imagined_
        pending = np.vstack([gp.X_train_[n:], points])
        gp, points = _first_rows(gp, n), np.vstack([pending[: KEPT // 2], pending[-KEPT // 2 :]])
    return _extended(gp, points)


def _extended(gp: GaussianProcess, points: FloatArray) -> GaussianProcess:
    """The process with points behind those it has seen, but for those that say nothing."""
    n, p = len(gp.X_train_), len(points)
    noise = gp.noise_ + gp.fit_info_["jitter"]
    k = gp.kernel_(gp.X_train_, points)
    mean = np.einsum("ij,i->j", k, gp.alpha_)
    W = padded_copy(k)
    _linalg.solve_transposed(n, p, gp.U_, W)
    S = gp.kernel_.padded_gram(points, noise, full=False)
    _linalg.subtract_product(p, p, n, W, W, S)
    smallest = 8 * n * np.finfo(float).eps * (gp.variance_ + noise)
    if _linalg.cholesky(p, S) or (np.diagonal(S) ** 2 <= smallest).any():
        if p == 1:
            return gp
        for i in range(p):  # some of them say nothing
            gp = _extended(gp, points[i : i + 1])
        return gp
    extended = copy.copy(gp)
    extended.n_imagined_ = gp.n_imagined_ + p
    extended.U_ = padded_zeros(n + p, n + p)
    extended.U_[:n, :n] = gp.U_[:, :n]
    extended.U_[:n, n : n + p] = W[:, :p]
    extended.U_[n:, n : n + p] = np.triu(S[:, :p])
    extended.X_train_ = np.vstack([gp.X_train_, points])
    extended.alpha_ = np.append(gp.alpha_, np.zeros(p))
    extended.y_train_ = np.append(gp.y_train_, mean)
    extended.known_noise_ = np.append(gp.known_noise_, np.zeros(p))
    extended.noise_factors_ = np.append(gp.noise_factors_, np.ones(p))
    return extended


def _first_rows(gp: GaussianProcess, n: int) -> GaussianProcess:
    """The process of the first n of its points, where those behind them are pending, which have no weight."""
    first = copy.copy(gp)
    first.n_imagined_ = 0
    first.U_ = padded_copy(gp.U_[:n, :n])
    for name in ("X_train_", "alpha_", "y_train_", "known_noise_", "noise_factors_"):
        setattr(first, name, getattr(gp, name)[:n])
    return first


@fantasize.register(ProjectedProcess)
@fantasize.register(PooledProcess)
def _informed(process: ProjectedProcess | PooledProcess, points: FloatArray) -> Predictor:
    return process.imagined(points)

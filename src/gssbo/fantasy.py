"""Fantasies: a Gaussian process that takes pending points into account, without their values and without a refit.

Notation
--------
X, x        observed inputs (n, d); a pending one (d,)
K_y         k(X, X) + noise I = U^T U
u, s        last column of the factor of K_y with x appended: u = U^-T k(X, x), s^2 = k(x, x) + noise - u.u

Observing at x exactly what the posterior mean is there leaves the mean as it is everywhere: the new weight is 0. Only
the variance shrinks, and that does not depend on the value.
"""

from __future__ import annotations

import copy

import numpy as np

from gssbo._core import _linalg
from gssbo._typing import FloatArray
from gssbo.gp import GaussianProcess

__all__ = ["fantasize"]


def fantasize(gp: GaussianProcess, points: FloatArray) -> GaussianProcess:
    """Return a fitted GP as if it had observed its own mean at `points` (p, d); O(n^2) a point.

    The mean is the same, the standard deviation smaller. A point whose variance is spent (told without noise, say) is
    passed over.

    Examples
    --------
    >>> gp = GaussianProcess(lengthscale=0.3, noise=1e-6, fit_hyperparameters=False).fit([[0.2], [0.8]], [0.0, 1.0])
    >>> before, after = gp.posterior(np.array([[0.5]])), fantasize(gp, np.array([[0.5]])).posterior(np.array([[0.5]]))
    >>> bool(before[0] == after[0]), (before[1] ** 2).round(4), after[1].round(4)
    (True, array([0.5177]), array([0.001]))
    """
    n, d = gp.X_train_.shape
    capacity = n + len(points)
    U = np.zeros((capacity, _linalg.padded(capacity)))
    U[:n, :n] = gp._U[:, :n]
    X = np.empty((capacity, d))
    X[:n] = gp.X_train_
    diagonal = gp.variance_ + gp.noise_ + gp.fit_info_["jitter"]
    column = np.zeros((capacity, _linalg.padded(1)))
    alpha, z = np.zeros(capacity), np.empty(capacity)
    alpha[:n], z[:n] = gp.alpha_, gp.y_train_
    for x in points:
        column[:n, 0] = gp.kernel_(X[:n], x[None, :])[:, 0]
        mean = float(np.einsum("i,i->", column[:n, 0], alpha[:n]))
        _linalg.solve_transposed(n, 1, U, column)
        u = column[:n, 0]
        left = diagonal - float(np.einsum("i,i->", u, u))
        if left <= 8 * n * np.finfo(float).eps * diagonal:
            continue
        U[:n, n], U[n, n] = u, np.sqrt(left)
        X[n], z[n] = x, mean
        n += 1
    extended = copy.copy(gp)
    extended._U, extended.X_train_ = U[:n], X[:n]
    extended.alpha_, extended.y_train_ = alpha[:n], z[:n]
    return extended

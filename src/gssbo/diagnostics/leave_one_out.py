"""Leave-one-out predictions, and the response scores as what they say.

Notation
--------
K_y         k(X, X) + noise I + diag(known noise) (n, n); P its inverse
z           standardised responses (n,)
mu_-i, v_-i mean and variance of response i given all others, noise included
s_i         response score -(P z)_i = -(z_i - mu_-i) / v_-i, section 4.1 of [1]

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026.
2. Rasmussen and Williams, Gaussian Processes for Machine Learning, MIT Press 2006, section 5.4.2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gssbo._arithmetic import in_own_arithmetic
from gssbo._core import _linalg
from gssbo._typing import ArrayLike, FloatArray
from gssbo.diagnostics.pool import Pool, factorized, read_pool
from gssbo.gp import GaussianProcess
from gssbo.kernels import Kernel

__all__ = ["LeaveOneOut", "leave_one_out"]


class LeaveOneOut(NamedTuple):
    """What all others predict for each observation, (n,) each."""

    mean: FloatArray
    """mu_-i, in units of y."""
    std: FloatArray
    """Standard deviation of the noisy response, sqrt(v_-i), in units of y."""
    scores: FloatArray
    """s_i, in inverse standardised units."""
    errors: FloatArray
    """(y_i - mu_-i) / sqrt(v_-i), without units; mean square about 1 where the hyperparameters are right."""


@in_own_arithmetic
def leave_one_out(
    model: GaussianProcess | Kernel,
    X: ArrayLike,
    y: ArrayLike,
    *,
    noise: float | None = None,
    noise_std: ArrayLike | None = None,
) -> LeaveOneOut:
    """Leave each observation of a pool out in turn, at the price of one inverse: O(n^3).

    Parameters
    ----------
    model : GaussianProcess or Kernel
        Lends kernel, noise, mean and scale, as in `PosteriorGap`; nothing is refitted.
    X : array of shape (n, d)
    y : array of shape (n,) or (n, 1)
    noise, noise_std
        As in `PosteriorGap`.

    Raises
    ------
    NotFittedError, ValueError
        As in `PosteriorGap`.

    Examples
    --------
    >>> X = np.linspace(0.0, 1.0, 12)[:, None]
    >>> y = np.sin(6.0 * X[:, 0])
    >>> y[5] += 0.5
    >>> found = leave_one_out(Kernel("matern52", np.array([0.3]), 1.0), X, y, noise=1e-3)
    >>> int(np.abs(found.errors).argmax()), round(float(y[5] - found.mean[5]), 2)
    (5, 0.5)
    """
    pool = read_pool(model, X, y, noise=noise, noise_std=noise_std)
    z, shared, n = pool.z, pool.shared, len(pool)
    P = _precision(pool)
    weights = np.empty(n)
    _linalg.product_vector(n, P, z, weights)
    variance = 1.0 / np.diagonal(P)
    std = np.sqrt(variance)
    with np.errstate(over="ignore", under="ignore"):
        return LeaveOneOut(
            mean=shared.mean + shared.scale * (z - weights * variance),
            std=shared.scale * std,
            scores=-weights,
            errors=weights * std,
        )


def _precision(pool: Pool) -> FloatArray:
    """P (n, n), padded; with jitter where K_y is not positive definite in doubles."""
    everything = np.arange(len(pool))
    for jitter in pool.shared.kernel.jitters(len(pool)):
        K = pool.covariance(everything, jitter, full=False)
        if factorized(K, pool.rounding(everything, jitter)):
            break
    P = np.empty_like(K)
    _linalg.inverse(len(pool), K, P)
    return P

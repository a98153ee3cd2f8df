"""How many to retain: so few that the posterior mean would hardly move with twice as many.

Notation
--------
n, p        pool members; pivots, up to twice as many as may be retained
m           retained: the first m pivots
mu_m(x)     posterior mean given those: the sum of v_i(x) w_i over i < m
v, w        U^-T k(Z, x), U^-T z with the pivots Z and the factor U^T U = k(Z, Z) + noise I

A rule that takes pivots leaves those before as they are, so one factorization gives the mean for every m.
"""

from __future__ import annotations

import numpy as np

from gssbo._typing import FloatArray, IndexArray
from gssbo._validation import check_choice, check_real
from gssbo.embedding import Embedding
from gssbo.factor import first_factor, forward
from gssbo.selection.rules import ORDERS

__all__ = ["check_tolerance", "sufficient_size"]

POINTS = 500  # where means are compared
SPARE = 30  # members beside the forced ones, at least: means of few may agree by chance
UNUSED = np.random.default_rng(0)  # rules that take pivots do not draw


def check_tolerance(name: str, tolerance: float | None, rule: str) -> float | None:
    """The tolerance, or None; raise a ValueError where it is not above 0 or the rule takes no pivots."""
    if tolerance is None:
        return None
    check_choice(f"rule, with {name},", rule, ORDERS)
    return check_real(name, tolerance, above=0.0)


def sufficient_size(
    embedding: Embedding, most: int, *, rule: str, forced: IndexArray, z: FloatArray, tolerance: float
) -> int:
    """Fewest members, up to a quarter, whose posterior mean is within a tolerance of that of twice as many.

    O(n most^2) time.

    Parameters
    ----------
    embedding : Embedding
        Of the pool (n, d).
    most : int
        Members at most, as many where that is not enough, or the whole pool.
    rule : str
        A key of `gssbo.selection.rules.ORDERS`.
    forced : ndarray of int
        Retained in any case.
    z : ndarray of shape (n,)
        Standardised responses.
    tolerance : float
        Largest difference at 500 points between the least and the largest inputs, the same every time; in units of z.

    Examples
    --------
    >>> from gssbo.kernels import Kernel
    >>> X = np.linspace(0.0, 1.0, 400)[:, None]
    >>> embedding = Embedding(Kernel("matern52", np.array([0.3]), 1.0), 1e-6, X)
    >>> z, forced = np.sin(60.0 * X[:, 0]), np.array([0])
    >>> [sufficient_size(embedding, 300, rule="residual", forced=forced, z=z, tolerance=t) for t in (0.1, 0.01)]
    [31, 62]
    """
    n = len(embedding)
    size, most = min(len(forced) + SPARE, most, n), min(most, n)
    if size == most:
        return most
    order = ORDERS[rule](embedding, min(2 * most, n - 1), forced, z, UNUSED)
    if 2 * most >= n:
        order = np.append(order, np.setdiff1d(np.arange(n), order))
    means = _means(embedding, order, z)
    while size < most:
        twice = min(2 * size, len(order))
        if np.abs(means[twice - 1] - means[size - 1]).max() <= tolerance:
            break
        size = min(-(-5 * size // 4), most)
    return size


def _means(embedding: Embedding, order: IndexArray, z: FloatArray) -> FloatArray:
    """Posterior means (p, POINTS) given the first pivots, the first two, and so on."""
    kernel = embedding.kernel
    low, high = embedding.X.min(axis=0), embedding.X.max(axis=0)
    points = low + np.random.default_rng(0).random((POINTS, len(low))) * (high - low)
    pivots = np.ascontiguousarray(embedding.X[order])
    U, _ = first_factor(kernel.padded_gram(pivots, embedding.noise, full=False), kernel.jitters(len(pivots)))
    shares = forward(U, kernel(pivots, points)) * forward(U, z[order])[:, None]
    return np.cumsum(shares, axis=0, out=shares)

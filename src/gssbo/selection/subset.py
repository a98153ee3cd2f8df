"""Selection by itself, for people who bring their own loop."""

from __future__ import annotations

import numpy as np

from gssbo._arithmetic import in_own_arithmetic
from gssbo._text import brief
from gssbo._typing import ArrayLike, FloatArray, IndexArray, RngLike
from gssbo._validation import (
    as_generator,
    check_choice,
    check_indices,
    check_integer,
    check_vector,
)
from gssbo.embedding import Embedding
from gssbo.exceptions import NotFittedError
from gssbo.features import FeatureEmbedding
from gssbo.gp import GaussianProcess
from gssbo.regressor import Regressor
from gssbo.responses import standardize
from gssbo.selection.rules import FEATURED, RESPONSIVE, RULES, Directions
from gssbo.selection.size import check_tolerance, sufficient_size

__all__ = ["select", "select_subset"]


def select(
    embedding: Directions,
    size: int,
    *,
    rule: str,
    forced: IndexArray,
    y: FloatArray | None,
    rng: np.random.Generator,
) -> IndexArray:
    """Apply a rule to a pool, without checks; a pool of at most `size` is retained whole."""
    n = len(embedding)
    if n <= size:
        return np.concatenate([forced, np.setdiff1d(np.arange(n), forced)])
    z = np.zeros(n) if y is None else standardize(y)[0]
    if isinstance(embedding, FeatureEmbedding):
        return FEATURED[rule](embedding, size, forced, z, rng)
    return RULES[rule](embedding, size, forced, z, rng)


@in_own_arithmetic
def select_subset(
    gp: GaussianProcess,
    X: ArrayLike,
    size: int,
    *,
    y: ArrayLike | None = None,
    rule: str = "vector",
    forced: ArrayLike = (),
    tolerance: float | None = None,
    rng: RngLike = None,
) -> IndexArray:
    """Choose which observations of a pool to keep.

    The vector rule, the paper's, adds signed cosines. Where the noise is very small, neighbours have opposite signs
    in the precision and count as unlike, so it keeps them together. For a subset that predicts like the whole pool,
    "residual" is the rule: it adds what the retained ones predict worst, and its time is linear in the pool.

    Parameters
    ----------
    gp : GaussianProcess
        Fitted; lends its kernel and noise to the pool.
    X : array of shape (n, d)
        Inputs of the pool.
    size : int
        How many to keep; a pool that is not larger is kept whole. With a `tolerance`, how many at most.
    y : array of shape (n,) or (n, 1), optional
        Responses of the pool, needed by "scalar", "topk-random" and the rules with residuals, and with a `tolerance`.
    rule : str
        One of "vector", "scalar", "random", "kmeans++", "maxmin", "residual", "variance", "residual-ratio",
        "residual-exchange" or "topk-random".
    forced : array of int
        Members kept in any case, fewer than `size`.
    tolerance : float, optional
        In standard deviations of y: so few are kept that twice as many would move the posterior mean by no more, at
        500 points in the box of the pool. For the rules "residual", "variance", "residual-ratio" and
        "residual-exchange". It takes four times as long, and twice the memory, as to choose `size`.
    rng : None, int or numpy.random.Generator
        Source of the rules that draw.

    Returns
    -------
    ndarray of int, shape (min(size, n),) or less
        Distinct members: the forced ones first, then in the order they were picked.

    Raises
    ------
    NotFittedError
        If `gp` is not fitted.
    ValueError
        If an argument is out of its range, or `gp` something else.

    Notes
    -----
    "vector", "scalar" and "kmeans++" invert the covariance of the pool: O(n^3) time, and 27 n^2 bytes of memory, 2.7 GB
    for 10,000 observations. The other rules take megabytes for 100,000.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((300, 2))
    >>> y = np.sin(5 * X[:, 0]) + X[:, 1]
    >>> gp = GaussianProcess(rng=0).fit(X[:50], y[:50])
    >>> kept = select_subset(gp, X, 40, forced=[299])
    >>> len(kept), int(kept[0])
    (40, 299)
    >>> len(select_subset(gp, X, 200, y=y, rule="residual", tolerance=0.05))
    30
    """
    if not isinstance(gp, Regressor):
        raise ValueError(f"gp must be a GaussianProcess, got {brief(gp)}")
    if not gp.fitted:
        raise NotFittedError("gp must be fitted: call gp.fit(X, y) first")
    pool = gp.check_points(X)
    count = check_integer("size", size, at_least=1)
    name = check_choice("rule", rule, RULES)
    members = check_indices("forced", forced, below=len(pool))
    if len(members) > 0 and count <= len(members):
        raise ValueError(f"size must be larger than the number of forced members ({len(members)}), got {count}")
    if name in RESPONSIVE and y is None:
        raise ValueError(f"y must be given with rule={name!r}, got None")
    responses = None if y is None else check_vector("y", y, size=len(pool), column=True)
    embedding = Embedding(gp.kernel_, gp.noise_, pool)
    within = check_tolerance("tolerance", tolerance, name)
    if within is not None:
        if responses is None:
            raise ValueError("y must be given with a tolerance, got None")
        z = standardize(responses)[0]
        count = sufficient_size(embedding, count, rule=name, forced=members, z=z, tolerance=within)
    return select(embedding, count, rule=name, forced=members, y=responses, rng=as_generator("rng", rng))

"""What the gap would be with a larger subset: measured for every size at once.

Notation
--------
v_i(x), w_i     entries of v_R and w_R (see `gssbo.diagnostics.partition`), in the order the discarded come back

Appending an observation to U leaves the first rows of the Cholesky factor as they are, so the mean gap of the subset
and the first j of the discarded is the sum of v_i(x) w_i over i >= j, and its variance gap that of v_i(x)^2. One
factorization gives all sizes, with no estimate in it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from gssbo._arithmetic import in_own_arithmetic
from gssbo._typing import ArrayLike, FloatArray, IndexArray, RngLike
from gssbo._validation import as_generator, check_choice, check_indices, check_real, check_vector
from gssbo.diagnostics.shared import points_of, shared_by
from gssbo.embedding import Embedding
from gssbo.gp import GaussianProcess
from gssbo.kernels import Kernel
from gssbo.selection.rules import RULES
from gssbo.selection.subset import select

__all__ = ["Growth", "growth", "growth_order"]


class Growth(NamedTuple):
    """Largest gaps as the subset grows, by size; the last size is the whole pool and its gaps are 0."""

    sizes: IndexArray
    """M, M + 1, ..., n: (r + 1,)."""
    mean_gap: FloatArray
    """Largest absolute mean gap at each size (r + 1,), in units of y."""
    variance_gap: FloatArray
    """Largest variance gap at each size (r + 1,), in squared units of y; never grows with the size."""

    def size_for(self, mean_gap: float) -> int:
        """Smallest size from which on the largest mean gap is at most `mean_gap`, in units of y.

        The mean gap may rise again on the way, so this is not the first size that happens to be below.
        """
        target = check_real("mean_gap", mean_gap, at_least=0.0)
        above = np.flatnonzero(~(self.mean_gap <= target))
        return int(self.sizes[above[-1] + 1 if above.size else 0])


def growth(roots: Iterable[FloatArray], w: FloatArray, first: int, scale: float) -> Growth:
    """Gaps by size from v_R, block after block (r, any), and w_R (r,); `first` is M, `scale` the units of y."""
    r = len(w)
    mean, variance = np.zeros(r + 1), np.zeros(r + 1)
    for v in roots:
        tails = np.cumsum((v * w[:, None])[::-1], axis=0)[::-1]
        np.maximum(mean[:r], np.abs(tails).max(axis=1), out=mean[:r])
        tails = np.cumsum((v * v)[::-1], axis=0)[::-1]
        np.maximum(variance[:r], tails.max(axis=1), out=variance[:r])
    with np.errstate(over="ignore"):
        return Growth(np.arange(first, first + r + 1), mean * scale, variance * scale * scale)


@in_own_arithmetic
def growth_order(
    model: GaussianProcess | Kernel,
    X: ArrayLike,
    y: ArrayLike,
    retained: ArrayLike,
    *,
    rule: str = "vector",
    noise: float | None = None,
    rng: RngLike = None,
) -> IndexArray:
    """The discarded observations in the order a selection rule would add them to the retained subset.

    The rules add one observation at a time to what is retained already, so a subset of M + j is this one and the first
    j of these. Not so "topk-random", whose share of the best follows the size: here its best come first; nor
    "residual-exchange", which gives some up again. O(n^3) in the pool for the rules that use embeddings.

    Parameters
    ----------
    model : GaussianProcess or Kernel
        As in `PosteriorGap`.
    X : array of shape (n, d)
    y : array of shape (n,) or (n, 1)
    retained : array of int, shape (M,)
    rule : str
        A key of `gssbo.selection.RULES`.
    noise : float, optional
        Noise variance, with a kernel.
    rng : None, int or numpy.random.Generator
        Source of the rules that draw.

    Returns
    -------
    ndarray of int, shape (n - M,)

    Raises
    ------
    NotFittedError, ValueError
        As in `PosteriorGap`, and where the rule is unknown.

    Examples
    --------
    >>> kernel = Kernel("matern52", np.array([0.3]), 1.0)
    >>> X = np.array([[0.0], [0.1], [0.5], [0.9], [1.0]])
    >>> growth_order(kernel, X, np.zeros(5), [0], rule="maxmin", noise=0.01)
    array([4, 2, 1, 3])
    """
    pool = points_of(model, X)
    responses = check_vector("y", y, size=len(pool), column=True)
    shared = shared_by(model, noise, columns=pool.shape[1])
    members = check_indices("retained", retained, below=len(pool))
    name = check_choice("rule", rule, RULES)
    generator = as_generator("rng", rng)
    rest = np.setdiff1d(np.arange(len(pool)), members)
    if len(rest) <= 1:
        return rest
    chosen = select(
        Embedding(shared.kernel, shared.noise, pool),
        len(pool) - 1,
        rule=name,
        forced=members,
        y=responses,
        rng=generator,
    )
    return np.concatenate([chosen[len(members) :], np.setdiff1d(rest, chosen)])

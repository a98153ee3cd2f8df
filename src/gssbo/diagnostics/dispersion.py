"""Directional dispersion of a subset: the objective the vector rule pursues."""

from __future__ import annotations

import numpy as np

from gssbo._arithmetic import in_own_arithmetic
from gssbo._typing import ArrayLike
from gssbo._validation import check_indices
from gssbo.diagnostics.shared import points_of, shared_by
from gssbo.embedding import Embedding
from gssbo.gp import GaussianProcess
from gssbo.kernels import Kernel

__all__ = ["directional_dispersion"]


@in_own_arithmetic
def directional_dispersion(
    model: GaussianProcess | Kernel, X: ArrayLike, subset: ArrayLike | None = None, *, noise: float | None = None
) -> float:
    """Variance of the directions of the sensitivity embeddings of a subset, equation 1 of Wei et al., TMLR 2026.

    1 minus the mean cosine over all pairs of the subset, an observation with itself included. That is 1 minus the
    squared length of the mean direction, so it costs O(n M) beside the inverse of the pool, O(n^3).

    Parameters
    ----------
    model : GaussianProcess or Kernel
        Lends kernel and noise, as in `PosteriorGap`.
    X : array of shape (n, d)
        The pool the embeddings belong to.
    subset : array of int, shape (M,), optional
        Distinct positions in the pool; default: all of it.
    noise : float, optional
        Noise variance, with a kernel.

    Returns
    -------
    float
        In [0, 1], without units: 0 where all directions are the same, 1 - 1/M where they are orthogonal, more where
        they are opposed.

    Raises
    ------
    NotFittedError, ValueError
        As in `PosteriorGap`.

    Examples
    --------
    The entry of the precision between neighbours is negative, so their directions are opposed and a cluster counts as
    more dispersed than points that stand apart:

    >>> X = np.array([[0.0], [0.01], [0.02], [0.5], [1.0]])
    >>> kernel = Kernel("matern52", np.array([0.3]), 1.0)
    >>> for subset in ([0, 1, 2], [0, 3, 4]):
    ...     print(round(directional_dispersion(kernel, X, subset, noise=1e-3), 3))
    0.918
    0.758
    """
    pool = points_of(model, X)
    shared = shared_by(model, noise, columns=pool.shape[1])
    members = np.arange(len(pool)) if subset is None else check_indices("subset", subset, below=len(pool))
    if members.size == 0:
        raise ValueError("subset must hold at least one position, got none")
    columns = Embedding(shared.kernel, shared.noise, pool).precision[:, members]
    mean = (columns / np.linalg.norm(columns, axis=0)).mean(axis=1)
    return max(float(1.0 - np.sum(mean * mean)), 0.0)

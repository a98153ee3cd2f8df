"""Selection features of a pool: what a surrogate without a precision of its own is measured by.

Notation
--------
F       features (n, q), one row a member, their mean over the pool taken off
Q       F F^T (n, n): the Gram matrix that stands in the place of P^2 among sensitivity embeddings
C       their cosines, C_ij = Q_ij / (|f_i| |f_j|)

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, appendix: deep
   kernels and Bayesian neural networks choose by features of their own.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gssbo._core import _linalg
from gssbo._typing import FloatArray
from gssbo.factor import mirrored
from gssbo.padded import padded_copy, padded_zeros

__all__ = ["FeatureEmbedding"]


class FeatureEmbedding:
    """Directions of a pool's features, for the rules that need no more than cosines.

    What all features have in common says nothing of how members differ, so their mean is taken off. A member that is
    the mean has no direction: its cosine with all others is 0.

    Parameters
    ----------
    features : ndarray of shape (n, q)

    Examples
    --------
    >>> FeatureEmbedding(np.array([[5.0, 1.0], [7.0, 1.0], [6.0, 2.5], [6.0, -0.5]])).cosines()
    array([[ 1., -1.,  0.,  0.],
           [-1.,  1.,  0.,  0.],
           [ 0.,  0.,  1., -1.],
           [ 0.,  0., -1.,  1.]])
    """

    def __init__(self, features: FloatArray) -> None:
        self.features: FloatArray = features - features.mean(axis=0)

    def __len__(self) -> int:
        return len(self.features)

    @cached_property
    def _Q(self) -> FloatArray:
        """Q, padded (n, ld); by the core, so that it does not depend on the BLAS threads. O(n^2 q)."""
        n, q = self.features.shape
        columns, Q = padded_copy(self.features.T), padded_zeros(n, n)
        _linalg.subtract_product(n, n, q, -columns, columns, Q)
        Q[:, :n] = mirrored(Q[:, :n])
        diagonal = np.diag_indices(n)
        Q[diagonal] = np.where(Q[diagonal] > 0.0, Q[diagonal], 1.0)
        return Q

    def prepare(self) -> None:
        """Compute Q now rather than at the first use, so that a caller can time it."""
        self._Q  # noqa: B018

    def source(self) -> tuple[FloatArray, bool]:
        """What the compiled rules read cosines from: (Q, True), padded."""
        return self._Q, True

    def cosines(self) -> FloatArray:
        """C (n, n)."""
        Q = self._Q[:, : len(self)]
        lengths = np.sqrt(np.diagonal(Q))
        cosines: FloatArray = Q / np.outer(lengths, lengths)
        return cosines

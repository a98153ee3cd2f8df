"""Sensitivity embeddings and response scores of a pool.

Notation
--------
K_y     k(X, X) + noise I over the pool (n, n); P = K_y^-1
s       response-gradient scores dL/dy = -P z (n,), section 4.1 of [1]
g_i     sensitivity embedding ds/dy_i = -P e_i (n,), equation 3
Q       Gram matrix of the embeddings, P^2
C       their cosines, C_ij = Q_ij / (|g_i| |g_j|)

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from gssbo._core import _linalg
from gssbo._typing import FloatArray
from gssbo.kernels import Kernel
from gssbo.precision import PrecisionCache, Workspace, precision_matrix

__all__ = ["Embedding"]


class Embedding:
    """Embeddings of a pool under fixed hyperparameters, computed when first needed.

    Parameters
    ----------
    kernel : Kernel
    noise : float
        Noise variance.
    X : ndarray of shape (n, d)
    cache : PrecisionCache, optional
        Holds P and Q of this very pool; otherwise P is computed by one Cholesky factorization.
    threads : int
        For that; the result does not depend on it.
    workspace : Workspace, optional
        Memory for that; the embeddings hold until it is used again.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.5], [1.0]])
    >>> embedding = Embedding(Kernel("matern52", np.array([0.5]), 1.0), 0.01, X)
    >>> embedding.cosines().round(2)
    array([[ 1.  , -0.82,  0.52],
           [-0.82,  1.  , -0.82],
           [ 0.52, -0.82,  1.  ]])
    """

    def __init__(
        self,
        kernel: Kernel,
        noise: float,
        X: FloatArray,
        cache: PrecisionCache | None = None,
        *,
        threads: int = 1,
        workspace: Workspace | None = None,
    ) -> None:
        self._threads, self._workspace = threads, workspace
        self.kernel = kernel
        self.noise = noise
        self.X = X
        self._cache = cache

    def __len__(self) -> int:
        return len(self.X)

    @cached_property
    def _P(self) -> FloatArray:
        """P padded, of which the upper triangle counts."""
        if self._cache is not None:
            return self._cache.buffers[0]
        return precision_matrix(self.kernel, self.X, self.noise, threads=self._threads, workspace=self._workspace)[0]

    @property
    def precision(self) -> FloatArray:
        """P (n, n)."""
        return self._P[:, : len(self)] if self._cache is None else self._cache.P

    def prepare(self) -> None:
        """Compute P now rather than at the first use, so that a caller can time it."""
        self._P  # noqa: B018

    def source(self) -> tuple[FloatArray, bool]:
        """What the compiled rules read cosines from: (Q, True) when it is cached, else (P, False), padded.

        Only the upper triangle of a cached Q counts.
        """
        if self._cache is not None:
            return self._cache.buffers[1], True
        return self._P, False

    def cosines(self) -> FloatArray:
        """C (n, n)."""
        P = self.precision
        directions = P / np.linalg.norm(P, axis=0)
        cosines: FloatArray = directions.T @ directions
        return cosines

    def scores(self, z: FloatArray) -> FloatArray:
        """Response scores s (n,) of standardised responses z (n,)."""
        s = np.empty(len(self))
        _linalg.symmetric_product(len(self), self._P, z, s)
        return -s

"""The precision of a pool, computed at once or kept up to date as observations come and go.

Notation
--------
K_y     k(X, X) + noise I over the pool (n, n)
P       K_y^-1, the precision; its columns are the (negative) sensitivity embeddings, equation 3 of [1]
Q       P^2, the Gram matrix of the embeddings

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026; section 4.3 for the
   cached refresh, appendix "Selection-pool and embedding-refresh ablation" for what it saves.
"""

from __future__ import annotations

import copy
import logging
from functools import partial
from typing import Any, Self

import numpy as np

from gssbo._core import _gp, _linalg, _precision
from gssbo._parallel import share
from gssbo._typing import FloatArray
from gssbo.factor import mirrored
from gssbo.kernels import Kernel
from gssbo.padded import aligned, padded_copy

__all__ = ["PrecisionCache", "Workspace", "precision_matrix"]

logger = logging.getLogger(__name__)

# Columns of a cache beyond its capacity: rows are read in whole vectors, from anywhere on. With them a row is an odd
# number of cache lines long, as columns are read, too: one whose elements are 8 kB apart lies in a few sets of the
# processor's cache, and a choice from 1,000 observations took half as long again.
BEYOND = 3 * _linalg.PAD // 2

TOLERANCE = 1e-8  # drift, and error of squared lengths
SQUARES = "_K", "_P", "_Q"
BLOCK = 64  # rows that are copied at once


class Workspace:
    """Memory for the factor and the precision of a pool, used again by the next one.

    Fresh memory costs a tenth of an inverse at n = 1,000, as the system hands out every page anew. A copy, or what is
    pickled, starts empty.
    """

    def __init__(self) -> None:
        self._flat = np.empty(0)

    def __getstate__(self) -> dict[str, Any]:
        return {"_flat": np.empty(0)}

    def arrays(self, n: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Two padded (n, ld) arrays and the scratch that threads share, of whatever was there.

        Those of an earlier call are overwritten.
        """
        ld, extra = _linalg.padded(n), _linalg.scratch_size(n)
        if len(self._flat) < 2 * n * ld + extra:
            self._flat = aligned((2 * n * ld + extra) * 9 // 8)
        K, P, scratch = np.split(self._flat[: 2 * n * ld + extra], [n * ld, 2 * n * ld])
        return K.reshape(n, ld), P.reshape(n, ld), scratch


def precision_matrix(
    kernel: Kernel, X: FloatArray, noise: float, *, threads: int = 1, workspace: Workspace | None = None
) -> tuple[FloatArray, float]:
    """Precision of the pool X (n, d) as a padded (n, ld) array with both triangles, and the jitter it took.

    Jitter is added to the diagonal in growing steps only if the Cholesky factorization fails without it. The array is
    the workspace's if there is one: it holds until that is used again.

    Raises
    ------
    numpy.linalg.LinAlgError
        If K_y is not positive definite even with a tenth of the variance on its diagonal, which finite inputs
        and positive hyperparameters do not allow.
    """
    n = len(X)
    K, P, scratch = (Workspace() if workspace is None else workspace).arrays(n)
    for jitter in kernel.jitters(n):
        if len(scratch) > 0:
            status = _share(kernel, X, noise + jitter, K, P, scratch, threads)
        else:
            kernel.padded_gram(X, noise + jitter, full=False, out=K)
            status = _linalg.cholesky(n, K)
        # A pivot that is rounding of the diagonal may as well have come out negative.
        if status == 0 and np.diagonal(K).min() ** 2 > (n + 8) * np.finfo(float).eps * K[0, 0] ** 2:
            break
    if len(scratch) == 0:
        _linalg.inverse(n, K, P)
    return P, jitter


def _share(
    kernel: Kernel, X: FloatArray, noise: float, K: FloatArray, P: FloatArray, scratch: FloatArray, threads: int
) -> int:
    """U and P of a large pool; returns 0, or i + 1 when pivot i is not positive. The bits do not depend on threads."""
    n, d = X.shape
    inputs, stages = np.empty((n + K.shape[1]) * d), np.zeros(_gp.stages_size(n), dtype=np.intp)
    data = kernel.kind, X, kernel.lengthscale, kernel.variance, np.full(n, noise)
    return share(partial(_gp.share_precision, *data, K, P, scratch, inputs, stages), threads)


class PrecisionCache:
    """P and Q of a growing and shrinking pool, for one kernel and noise, by exact O(n^2) block updates.

    Parameters
    ----------
    kernel : Kernel
    noise : float
        Noise variance.
    X : ndarray of shape (n, d)
        The pool; n may be 0.

    Notes
    -----
    Drift is the largest entry of (P K_y - I) v for a vector v of random signs, drawn and measured after each change in
    O(n^2). It sees every column at once and is rarely below the largest entry of P K_y - I. Beyond `TOLERANCE`, and
    four times what a fresh factorization leaves, the pool is factorized anew; so it is where a removal leaves squared
    lengths of embeddings, the diagonal of Q, that are off by more than this share.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0, 1, 6)[:, None]
    >>> cache = PrecisionCache(Kernel("matern52", np.array([0.5]), 1.0), 1e-3, X[:5])
    >>> cache.append(X[5])
    >>> len(cache), cache.residual() < 1e-10
    (6, True)
    """

    def __init__(self, kernel: Kernel, noise: float, X: FloatArray) -> None:
        self.kernel = kernel
        self.noise = noise
        self.n_refactorized = 0
        self.drift = 0.0
        self._fresh_drift, self._fresh_size = 0.0, 1.0  # of what was last factorized
        self._signs = np.random.default_rng(0)
        self._n = 0
        self._X = np.empty((0, X.shape[1]))
        self._K = np.zeros((0, 0))
        self._P = np.zeros((0, 0))
        self._Q = np.zeros((0, 0))
        self._reserve(max(len(X), 1))
        self._X[: len(X)] = X
        self._n = len(X)
        self._factorize()

    def __len__(self) -> int:
        return self._n

    def __getstate__(self) -> dict[str, Any]:
        # Neither spare capacity nor lower triangles, which nobody reads, need be carried about.
        upper = np.triu(np.ones((self._n, self._n), dtype=bool))
        triangles = {name: getattr(self, name)[: self._n, : self._n][upper] for name in SQUARES}
        return {**vars(self), "_X": self.X.copy(), **triangles}

    def __setstate__(self, state: dict[str, Any]) -> None:
        X = state["_X"]
        n = len(X)
        if state["_n"] != n or any(state[name].shape != (n * (n + 1) // 2,) for name in SQUARES):
            raise ValueError(f"the state must hold triangles of {n} observations")
        vars(self).update({name: each for name, each in state.items() if name not in (*SQUARES, "_X")})
        upper = np.triu(np.ones((n, n), dtype=bool))
        for name in SQUARES:
            square = _room(_linalg.padded(n))
            square[:n, :n][upper] = state[name]
            setattr(self, name, square)
        self._X = np.zeros((len(self._P), X.shape[1]))
        self._X[:n] = X

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        n = self._n
        twin = memo[id(self)] = type(self).__new__(type(self))
        rest = {name: each for name, each in vars(self).items() if name not in (*SQUARES, "_X")}
        vars(twin).update(copy.deepcopy(rest, memo))
        for name in SQUARES:
            # Pages that nothing is written to cost nothing.
            m, ours = _linalg.padded(n), getattr(self, name)
            square = np.zeros((m, m + BEYOND))
            for first in range(0, n, BLOCK):  # of rows, as little as may be below the diagonal
                rows = slice(first, min(first + BLOCK, n))
                square[rows, first:n] = ours[rows, first:n]
            setattr(twin, name, square)
        twin._X = np.zeros((len(twin._P), self._X.shape[1]))
        twin._X[:n] = self.X
        return twin

    @property
    def X(self) -> FloatArray:
        """The pool (n, d), a view."""
        return self._X[: self._n]

    @property
    def P(self) -> FloatArray:
        """Precision (n, n), a copy."""
        return mirrored(self._P[: self._n, : self._n])

    @property
    def Q(self) -> FloatArray:
        """Square of the precision (n, n), a copy."""
        return mirrored(self._Q[: self._n, : self._n])

    @property
    def buffers(self) -> tuple[FloatArray, FloatArray]:
        """P and Q as the padded arrays the compiled core takes; the upper triangles of n rows and columns count."""
        return self._P, self._Q

    def matches(self, kernel: Kernel, noise: float) -> bool:
        """Whether the cache holds for these hyperparameters, to the bit."""
        return self.noise == noise and self.kernel.same_as(kernel)

    def append(self, x: FloatArray) -> None:
        """Add an observation at x (d,) behind the others."""
        self._reserve(self._n + 1)
        self._X[self._n] = x
        self._n += 1
        self._insert()

    def remove(self, index: int) -> None:
        """Take an observation out; those behind it move up."""
        self._close(index)
        self._n -= 1
        if self._n > 0:
            self._check(*_precision.remove(self._n, index, self._probe(), self._K, self._P, self._Q))
        else:
            self.drift = 0.0

    def replace(self, index: int, x: FloatArray) -> None:
        """Take an observation out and add one at x (d,) behind the others, for less than the two alone."""
        self._close(index)
        self._X[self._n - 1] = x
        self._insert(index)

    def residual(self) -> float:
        """Largest entry of |P K_y - I| over all n columns; O(n^3), for tests and diagnostics."""
        n = self._n
        if n == 0:
            return 0.0
        K = self.kernel.padded_gram(self.X, self.noise)
        product = np.eye(*K.shape)
        _linalg.subtract_product(n, n, n, padded_copy(self.P), K, product)
        return float(np.abs(product[:, :n]).max())

    def _close(self, index: int) -> None:
        self._X[index : self._n - 1] = self._X[index + 1 : self._n]

    def _insert(self, leaving: int = -1) -> None:
        n = self._n - 1
        k = self.kernel(self.X, self._X[n : n + 1])[:, 0].copy()
        k[n] = self.kernel.variance + self.noise
        conditional, *errors = _precision.insert(n, leaving, k, self._probe(), self._K, self._P, self._Q)
        # The conditional variance of a noisy observation is never below its noise; rounding alone gets there.
        if not conditional >= 0.5 * self.noise or conditional <= 0.0:
            self._factorize()
        else:
            self._check(*errors)

    def _check(self, drift: float, length_error: float) -> None:
        """Start afresh if the drift is too large, or what was taken out left Q as rounding of what it was.

        What a fresh factorization leaves is in proportion to P, so it is less without what made P large: a near twin,
        beside which squared lengths, the diagonal of Q, are huge.
        """
        self.drift = drift
        fresh = self._fresh_drift * min(1.0, self._size / self._fresh_size)
        if not drift <= max(TOLERANCE, 4.0 * fresh) or length_error > TOLERANCE:
            logger.debug("precision cache: drift %.1e on %d observations, factorizing anew", self.drift, self._n)
            self._factorize()

    @property
    def _size(self) -> float:
        """Largest entry of P, which is on its diagonal."""
        return float(np.diagonal(self._P)[: self._n].max())

    def _probe(self) -> FloatArray:
        return self._signs.choice(np.array([-1.0, 1.0]), size=self._n)

    def _measure(self) -> float:
        return _precision.residual(self._n, self._probe(), self._K, self._P)

    def _factorize(self) -> None:
        n = self._n
        self.n_refactorized += 1
        if n == 0:
            self.drift = self._fresh_drift = 0.0
            return
        P, jitter = precision_matrix(self.kernel, self.X, self.noise)
        self._K[:n, :n] = self.kernel.padded_gram(self.X, self.noise + jitter)[:, :n]
        square = np.zeros_like(P)
        _linalg.subtract_product(n, n, n, P, P, square)
        self._P[:n, :n] = P[:, :n]
        self._Q[:n, :n] = -square[:, :n]
        self.drift = self._fresh_drift = self._measure()
        self._fresh_size = self._size

    def _reserve(self, n: int) -> None:
        capacity = len(self._P)
        if n <= capacity:
            return
        capacity = _linalg.padded(max(n, capacity + capacity // 2))
        m = self._n
        for name in SQUARES:
            grown = _room(capacity)
            grown[:m, :m] = getattr(self, name)[:m, :m]
            setattr(self, name, grown)
        X = np.empty((capacity, self._X.shape[1]))
        X[:m] = self._X[:m]
        self._X = X


def _room(capacity: int) -> FloatArray:
    """Zeros for so many observations."""
    zeros = aligned(capacity * (capacity + BEYOND)).reshape(capacity, -1)
    zeros.fill(0.0)
    return zeros

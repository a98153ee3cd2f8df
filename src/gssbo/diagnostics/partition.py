"""A pool split in two under shared hyperparameters: the algebra behind the posterior gap.

Notation
--------
n, M, r     observations in the pool, retained (U) and discarded (R): n = M + r
m           points where posteriors are compared
z           standardised responses, z_U (M,) and z_R (r,)
A, B, C     blocks of K_y: k(U, U) + noise I (M, M), k(U, R) (M, r), k(R, R) + noise I (r, r); noise that is known of
            single observations adds to their diagonal entries
S           Schur complement C - B' A^-1 B (r, r): covariance of the discarded responses given the retained ones
V_A, V_S    upper Cholesky factors, A = V_A' V_A and S = V_S' V_S
W           V_A'^-1 B (M, r), so that S = C - W' W
r_U         z_R - B' A^-1 z_U (r,)
c_U(x)      k(R, x) - B' A^-1 k(U, x) (r,)
w_U, w_R    V_A'^-1 z_U (M,), V_S'^-1 r_U (r,)
v_U, v_R    V_A'^-1 k(U, x) (M,), V_S'^-1 c_U(x) (r,)

In these the identities of theorem 5.1 of [1] are inner products: mean of the subset v_U.w_U, mean gap v_R.w_R, variance
gap v_R.v_R, which rounding cannot make negative. Nothing is inverted, and no two posteriors are subtracted.

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, section 5 and appendix A.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gssbo._core import _linalg
from gssbo._typing import FloatArray, IndexArray
from gssbo.diagnostics.pool import Pool, factorized
from gssbo.factor import backward, forward, mirrored
from gssbo.padded import padded_copy

__all__ = ["Partition", "Pointwise"]

BLOCK = 512  # points treated at once: memory is n times this, whatever m is


class Pointwise(NamedTuple):
    """What holds at m points, each (m,), in units of z."""

    mean: FloatArray  # of the retained subset
    mean_gap: FloatArray
    variance: FloatArray  # of the retained subset
    variance_gap: FloatArray
    cross_norm: FloatArray  # |c_U(x)|


class Partition:
    """Factors of A and S, and what follows from them; in units of z, without checks.

    Parameters
    ----------
    pool : Pool
    retained, discarded : ndarray of int
        U and R; the order of the latter is that of S, r_U and c_U.
    """

    def __init__(self, pool: Pool, retained: IndexArray, discarded: IndexArray) -> None:
        self.kernel = pool.shared.kernel
        self.X_U = np.ascontiguousarray(pool.X[retained])
        self.X_R = np.ascontiguousarray(pool.X[discarded])
        for jitter in self.kernel.jitters(len(pool)):
            if self._factorize(pool, retained, discarded, jitter):
                break
        self.jitter = jitter
        self.noise_U = pool.shared.noise + jitter + pool.known[retained]
        self.noise_R = pool.shared.noise + jitter + pool.known[discarded]
        self.w_U = forward(self._V_A, pool.z[retained])
        self.residual = pool.z[discarded] - _transposed_product(self._W, self.w_U, len(discarded))
        self.w_R = forward(self._V_S, self.residual)

    def _factorize(self, pool: Pool, retained: IndexArray, discarded: IndexArray, jitter: float) -> bool:
        """V_A, W, S and V_S, or False where K_y is not positive definite in doubles."""
        M, r = len(retained), len(discarded)
        self._V_A = pool.covariance(retained, jitter, full=False)
        if not factorized(self._V_A, pool.rounding(retained, jitter)):
            return False
        self._W = padded_copy(self.kernel(self.X_U, self.X_R))
        self._S = pool.covariance(discarded, jitter)
        if r > 0:
            _linalg.solve_transposed(M, r, self._V_A, self._W)
            _linalg.subtract_product(r, r, M, self._W, self._W, self._S)
        self._V_S = self._S.copy()
        return factorized(self._V_S, pool.rounding(discarded, jitter))

    @property
    def S(self) -> FloatArray:
        """Schur complement (r, r)."""
        return mirrored(self._S[:, : len(self.X_R)])

    @cached_property
    def scores(self) -> tuple[FloatArray, FloatArray]:
        """Full-data response scores: s_U (M,) and s_R = -S^-1 r_U (r,)."""
        s_R = -backward(self._V_S, self.w_R)
        s_U = -backward(self._V_A, self.w_U + np.einsum("ij,j->i", self._W[:, : len(s_R)], s_R))
        return s_U, s_R

    @cached_property
    def inverse_norm(self) -> float:
        """|S^-1|, 0 where nothing is discarded; O(r^3).

        The largest eigenvalue of S^-1 loses sqrt(cond S) in rounding, the smallest of S would lose cond S.
        """
        r = len(self.X_R)
        if r == 0:
            return 0.0
        inverse = np.empty_like(self._V_S)
        _linalg.inverse(r, self._V_S, inverse)
        # All of them: LAPACK's search for the largest alone ends in an error on some graded matrices.
        largest = float(np.linalg.eigvalsh(inverse[:, :r])[-1])
        least = float(self.noise_R.min())
        return min(largest, 1.0 / least) if least > 0.0 else largest  # S >= noise I: only rounding says more

    def cross_residual(self, points: FloatArray) -> FloatArray:
        """c_U at points (m, d): (r, m)."""
        return np.hstack([c[:, :count] for count, _, c, _ in self._blocks(points)])

    def roots(self, points: FloatArray) -> Iterator[FloatArray]:
        """v_R, block after block of the points: (r, at most 512)."""
        for count, _, _, v_R in self._blocks(points):
            yield v_R[:, :count]

    def measure(self, points: FloatArray) -> Pointwise:
        """Posterior of the subset and both gaps at points (m, d)."""
        out = Pointwise(*np.empty((5, len(points))))
        start = 0
        for count, v_U, c, v_R in self._blocks(points):
            block = slice(start, start + count)
            start += count
            out.mean[block] = _transposed_product(v_U, self.w_U, count)
            out.mean_gap[block] = _transposed_product(v_R, self.w_R, count)
            gap = _squares(v_R[:, :count])
            out.variance_gap[block] = gap
            # The full-data variance is not negative, so the subset's is at least the gap: rounding alone says less.
            out.variance[block] = np.maximum(self.kernel.variance - _squares(v_U[:, :count]), gap)
            out.cross_norm[block] = np.sqrt(_squares(c[:, :count]))
        return out

    def _blocks(self, points: FloatArray) -> Iterator[tuple[int, FloatArray, FloatArray, FloatArray]]:
        """Number of points in the block, then v_U, c_U and v_R, padded."""
        M, r = len(self.X_U), len(self.X_R)
        for start in range(0, len(points), BLOCK):
            block = np.ascontiguousarray(points[start : start + BLOCK])
            count = len(block)
            v_U = padded_copy(self.kernel(self.X_U, block))
            _linalg.solve_transposed(M, count, self._V_A, v_U)
            c = padded_copy(self.kernel(self.X_R, block))
            v_R = c
            if r > 0:
                _linalg.subtract_product(r, count, M, self._W, v_U, c)
                v_R = c.copy()
                _linalg.solve_transposed(r, count, self._V_S, v_R)
            yield count, v_U, c, v_R


def _transposed_product(A: FloatArray, x: FloatArray, m: int) -> FloatArray:
    """A[:, :m].T @ x."""
    out = np.zeros(m)
    if A.size and m:
        _linalg.product_vector(m, A, x, out)
    return out


def _squares(A: FloatArray) -> FloatArray:
    """Sum of squares of each column."""
    total: FloatArray = np.einsum("ij,ij->j", A, A)
    return total

"""A symmetric positive definite matrix by its Cholesky factor, and products whose bits do not depend on the BLAS.

Notation
--------
A, U    matrix (n, n) and its factor, A = U^T U
b       right-hand side (n,)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from gssbo._core import _linalg
from gssbo._typing import FloatArray
from gssbo.padded import padded_copy, padded_zeros

__all__ = ["Factor", "backward", "first_factor", "forward", "gram", "mirrored", "product", "symmetric"]

PANEL = 96  # columns of a gram that are made at once


class Factor:
    """Cholesky factor of a matrix.

    Parameters
    ----------
    A : ndarray of shape (n, n)
        Symmetric; only the upper triangle is read, and it is left as it is.
    ridge : float
        What is added to the diagonal of A before it is factored.

    Raises
    ------
    numpy.linalg.LinAlgError
        If A + ridge I is not positive definite in doubles.

    Examples
    --------
    >>> factor = Factor(np.array([[4.0, 2.0], [2.0, 5.0]]))
    >>> factor.solve(np.array([8.0, 16.0])), round(float(2.0 * factor.half_log_determinant), 6)
    (array([0.5, 3. ]), 2.772589)
    """

    def __init__(self, A: FloatArray, ridge: float = 0.0) -> None:
        n = len(A)
        self._U = padded_copy(A)
        self._U[np.diag_indices(n)] += ridge
        status = _linalg.cholesky(n, self._U)
        diagonal = self._U.diagonal()
        if status or not np.isfinite(diagonal).all():
            raise np.linalg.LinAlgError("the matrix is not positive definite")
        self.half_log_determinant = float(np.log(diagonal).sum())

    def solve(self, b: FloatArray) -> FloatArray:
        """A^-1 b for b (n,) or (n, m)."""
        return backward(self._U, forward(self._U, b))

    def whiten(self, b: FloatArray) -> FloatArray:
        """U^-T b for b (n,) or (n, m), whose squares sum to b' A^-1 b."""
        return forward(self._U, b)

    def color(self, b: FloatArray) -> FloatArray:
        """U^-1 b for b (n,) or (n, m), of covariance A^-1 where b is white."""
        return backward(self._U, b)


def first_factor(A: FloatArray, additions: Iterable[float]) -> tuple[FloatArray, float]:
    """U (n, ld) of A + addition I, for the first addition with which it is positive definite in doubles, and that one.

    A (n, ld) is padded and left as it is; only its upper triangle is read. The additions are mostly the `jitters` of a
    kernel, which end in an error.

    Examples
    --------
    >>> U, addition = first_factor(padded_copy(np.ones((2, 2))), (0.0, 0.5625))
    >>> addition, U[0, :2].tolist()
    (0.5625, [1.25, 0.8])
    """
    n = len(A)
    diagonal = np.diag_indices(n)
    for addition in additions:
        U = A.copy()
        U[diagonal] += addition
        if _linalg.cholesky(n, U) == 0:
            break
    return U, addition


def forward(U: FloatArray, b: FloatArray) -> FloatArray:
    """U^-T b for b (n,) or (n, m), by a padded factor U (n, ld).

    Examples
    --------
    >>> U = padded_copy(np.array([[2.0, 1.0], [0.0, 2.0]]))
    >>> forward(U, np.array([8.0, 16.0]))
    array([4., 6.])
    """
    return _solved(_linalg.solve_transposed, U, b)


def backward(U: FloatArray, b: FloatArray) -> FloatArray:
    """U^-1 b for b (n,) or (n, m), by a padded factor U (n, ld).

    Examples
    --------
    >>> U = padded_copy(np.array([[2.0, 1.0], [0.0, 2.0]]))
    >>> backward(U, np.array([4.0, 6.0]))
    array([0.5, 3. ])
    """
    return _solved(_linalg.solve, U, b)


def _solved(solve: Callable[[int, int, FloatArray, FloatArray], object], U: FloatArray, b: FloatArray) -> FloatArray:
    columns = b[:, None] if b.ndim == 1 else b
    n, m = columns.shape
    B = padded_copy(columns)
    if n > 0:
        solve(n, m, U, B)
    return B[:, 0].copy() if b.ndim == 1 else B[:, :m].copy()


def gram(A: FloatArray) -> FloatArray:
    """A' A for A (k, n): the bits of `product`, by half of the work.

    Examples
    --------
    >>> gram(np.array([[1.0, 2.0]]))
    array([[1., 2.],
           [2., 4.]])
    """
    n = A.shape[1]
    out = np.empty((n, n))
    for j in range(0, n, PANEL):
        panel = product(A[:, : j + PANEL], A[:, j : j + PANEL])
        out[: j + PANEL, j : j + PANEL] = panel
        out[j : j + PANEL, :j] = panel[:j].T
    return out


def product(A: FloatArray, B: FloatArray) -> FloatArray:
    """A' B for A (k, m) and B (k, n), on one thread.

    Examples
    --------
    >>> product(np.array([[1.0, 2.0]]), np.array([[3.0]]))
    array([[3.],
           [6.]])
    """
    k, m, n = len(A), A.shape[1], B.shape[1]
    out = padded_zeros(m, n)
    _linalg.subtract_product(m, n, k, padded_copy(A), padded_copy(B), out)
    return -out[:, :n]


def mirrored(A: FloatArray) -> FloatArray:
    """The symmetric matrix (n, n) of which A has the upper triangle.

    Examples
    --------
    >>> mirrored(np.array([[2.0, 1.0], [7.0, 3.0]]))
    array([[2., 1.],
           [1., 3.]])
    """
    full: FloatArray = np.triu(A) + np.triu(A, 1).T
    return full


def symmetric(covariance: FloatArray) -> FloatArray:
    """The covariance (n, n) of which only the upper triangle is given, no variance of it below 0.

    Examples
    --------
    >>> symmetric(np.array([[2.0, 1.0], [0.0, -1e-17]]))
    array([[2., 1.],
           [1., 0.]])
    """
    full = mirrored(covariance)
    diagonal = np.diag_indices(len(full))
    full[diagonal] = np.maximum(full[diagonal], 0.0)
    return full

"""Projection on a few points: features whose inner products are what those points tell of a covariance.

Notation
--------
Z           points (m, d); U^T U = k(Z, Z) + jitter I
phi(x)      U^-T k(Z, x) (m,), so that phi(x).phi(x') is Nystrom's approximation of k(x, x')
"""

from __future__ import annotations

import numpy as np

from gssbo._core import _linalg
from gssbo._typing import FloatArray
from gssbo.kernels import Kernel

__all__ = ["product", "projected"]


def projected(kernel: Kernel, Z: FloatArray, U: FloatArray, points: FloatArray) -> FloatArray:
    """Features phi (m, ld) of the points, padded."""
    m, size = len(Z), len(points)
    phi = np.zeros((m, _linalg.padded(size)))
    phi[:, :size] = kernel(Z, points)
    _linalg.solve_transposed(m, size, U, phi)
    return phi


def product(A: FloatArray, B: FloatArray) -> FloatArray:
    """A^T B (p, q) of A (k, p), B (k, q), by the core, so that it does not depend on the BLAS threads."""
    (k, p), q = A.shape, B.shape[1]
    left, right = np.zeros((k, _linalg.padded(p))), np.zeros((k, _linalg.padded(q)))
    left[:, :p], right[:, :q] = -A, B
    out = np.zeros((p, right.shape[1]))
    _linalg.subtract_product(p, q, k, left, right, out)
    return out[:, :q].copy()

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

__all__ = ["projected"]


def projected(kernel: Kernel, Z: FloatArray, U: FloatArray, points: FloatArray) -> FloatArray:
    """Features phi (m, ld) of the points, padded."""
    m, size = len(Z), len(points)
    phi = np.zeros((m, _linalg.padded(size)))
    phi[:, :size] = kernel(Z, points)
    _linalg.solve_transposed(m, size, U, phi)
    return phi

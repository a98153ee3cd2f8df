"""Arrays as the compiled core takes them.

A *padded* matrix of m columns has rows of ld >= m elements, whole vectors of any instruction set, with zeros behind
column m, and begins with a cache line. The core computes the same wherever an array begins, but a vector that straddles
two lines is read twice.
"""

from __future__ import annotations

import numpy as np

from gssbo._core import _linalg
from gssbo._typing import FloatArray

__all__ = ["aligned", "padded_copy", "padded_zeros"]

LINE = 64  # bytes


def aligned(size: int) -> FloatArray:
    """Array (size,) that begins with a cache line; whatever was there is in it.

    Examples
    --------
    >>> aligned(5).ctypes.data % LINE
    0
    """
    memory: FloatArray = np.empty(size + LINE // 8 - 1)
    skipped = -memory.ctypes.data % LINE // 8
    return memory[skipped : skipped + size]


def padded_zeros(n: int, m: int) -> FloatArray:
    """Zeros (n, ld) with room for m columns.

    Examples
    --------
    >>> padded_zeros(2, 3).shape
    (2, 16)
    """
    ld = _linalg.padded(m)
    zeros = aligned(n * ld).reshape(n, ld)
    zeros.fill(0.0)
    return zeros


def padded_copy(A: FloatArray) -> FloatArray:
    """A (n, m) as a padded matrix (n, ld).

    Examples
    --------
    >>> padded_copy(np.ones((1, 2)))[0, :3].tolist()
    [1.0, 1.0, 0.0]
    """
    n, m = A.shape
    copy = padded_zeros(n, m)
    copy[:, :m] = A
    return copy

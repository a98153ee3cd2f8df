"""Arrays as the compiled core takes them.

A *padded* matrix of m columns has rows of ld >= m elements, whole vectors of any instruction set, with zeros behind
column m. The core computes the same wherever an array begins, but a vector that straddles two cache lines is read
twice: large arrays begin with a line, for small ones finding it costs more.
"""

from __future__ import annotations

import numpy as np

from gssbo._core import _linalg
from gssbo._typing import FloatArray

__all__ = ["aligned", "padded_copy", "padded_zeros"]

LINE = 64  # bytes
LARGE = 4096  # elements


def aligned(size: int) -> FloatArray:
    """Array (size,) that begins with a cache line if it is large; whatever was there is in it.

    Examples
    --------
    >>> aligned(5000).ctypes.data % LINE
    0
    """
    if size < LARGE:
        return np.empty(size)
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
    if n * ld < LARGE:
        return np.zeros((n, ld))
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

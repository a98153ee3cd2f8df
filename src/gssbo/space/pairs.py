"""Pairs: columns of the model's cube for a category of very many values, far fewer than there are values.

Notation
--------
k           values
p           columns in each of two halves, p^2 >= k
a, b        of value number a + p b: it has column a of the first half, and column a + b (mod p) of the second
unit        columns (n, 2 p): two of them HEIGHT high, the others 0

No two values share both columns, and those that share one are spread over all: two values are a distance of 1 apart,
as any two of few values are, which have a column each, or seldom, with one column in common, 1 / sqrt(2).
"""

from __future__ import annotations

import math

import numpy as np

from gssbo._typing import FloatArray, IndexArray

__all__ = ["Pairs"]

HALF = 64  # columns in each half, unless there are more values than pairs of them
HEIGHT = 0.5
LOOKED_AT = 1_000_000  # values at points that are looked at together


class Pairs:
    """The columns of k values.

    Examples
    --------
    >>> pairs = Pairs(1_000)
    >>> unit = pairs.encode(np.array([7, 999]))
    >>> unit.shape, pairs.decode(unit), pairs.decode(0.9 * unit + 0.01)
    ((2, 128), array([  7, 999]), array([  7, 999]))
    """

    def __init__(self, k: int) -> None:
        self._k, self._p = k, max(HALF, math.isqrt(k - 1) + 1)
        b, a = np.divmod(np.arange(k), self._p)
        self._columns = a, self._p + (a + b) % self._p

    @property
    def n_columns(self) -> int:
        """2 p."""
        return 2 * self._p

    def encode(self, codes: IndexArray) -> FloatArray:
        """Unit columns (n, 2 p) of the values with these numbers (n,)."""
        unit = np.zeros((len(codes), self.n_columns))
        rows = np.arange(len(codes))
        for columns in self._columns:
            unit[rows, columns[codes]] = HEIGHT
        return unit

    def decode(self, unit: FloatArray) -> IndexArray:
        """Numbers (n,) of the values nearest to unit columns (n, 2 p): those whose two are highest, of equals one."""
        a, second = (np.argmax(half, axis=1) for half in np.hsplit(unit, 2))
        codes: IndexArray = a + self._p * ((second - a) % self._p)
        others = np.flatnonzero(codes >= self._k)  # the highest pair is no value's
        some = max(LOOKED_AT // self._k, 1)
        first, second = self._columns
        for part in np.split(others, range(some, len(others), some)):
            codes[part] = np.argmax(unit[part[:, None], first] + unit[part[:, None], second], axis=1)
        return codes

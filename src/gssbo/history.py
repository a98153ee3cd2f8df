"""The history: every observation told, in order."""

from __future__ import annotations

import numpy as np

from gssbo._typing import FloatArray

__all__ = ["History"]


class History:
    """Append-only table of observations, in arrays that double when full: a tell is O(d), amortised.

    Notation: X user points (n, d), unit the same in the unit cube (n, d), y responses to maximise (n,).

    Examples
    --------
    >>> history = History(1)
    >>> history.append(np.array([[3.0]]), np.array([[0.3]]), np.array([-1.0]))
    >>> len(history), history.y
    (1, array([-1.]))
    """

    def __init__(self, dim: int) -> None:
        self._n = 0
        self._X = np.empty((0, dim))
        self._unit = np.empty((0, dim))
        self._y = np.empty(0)
        self._best = -1

    def __len__(self) -> int:
        return self._n

    @property
    def X(self) -> FloatArray:
        """User points (n, d), a view."""
        return self._X[: self._n]

    @property
    def unit(self) -> FloatArray:
        """Points in the unit cube (n, d), a view."""
        return self._unit[: self._n]

    @property
    def y(self) -> FloatArray:
        """Responses (n,), larger is better, a view."""
        return self._y[: self._n]

    @property
    def best(self) -> int:
        """Index of the largest response, the first of equals; -1 when empty."""
        return self._best

    def append(self, X: FloatArray, unit: FloatArray, y: FloatArray) -> None:
        """Add m observations: X (m, d), unit (m, d), y (m,)."""
        n = self._n + len(y)
        if n > len(self._y):
            capacity = max(n, 2 * len(self._y), 64)
            self._X = _grown(self._X, self._n, capacity)
            self._unit = _grown(self._unit, self._n, capacity)
            self._y = _grown(self._y, self._n, capacity)
        self._X[self._n : n] = X
        self._unit[self._n : n] = unit
        self._y[self._n : n] = y
        leader = self._n + int(np.argmax(y))
        if self._best < 0 or self._y[leader] > self._y[self._best]:
            self._best = leader
        self._n = n


def _grown(array: FloatArray, n: int, capacity: int) -> FloatArray:
    out = np.empty((capacity, *array.shape[1:]))
    out[:n] = array[:n]
    return out

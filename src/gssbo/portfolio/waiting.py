"""Waiting: the points whose values are waited for, those of the call that is under way among them."""

from __future__ import annotations

import numpy as np

from gssbo._typing import FloatArray

__all__ = ["Waiting"]

ROOM = 1_000  # points of a call that there is room for at first


class Waiting:
    """Points (p, D) that are pending, and those that a call adds to them, up to n.

    Examples
    --------
    >>> waiting = Waiting(np.array([[0.0, 0.5]]), 2)
    >>> waiting.add(np.array([1.0, 0.5]))
    >>> np.array([1.0, 0.5]) in waiting, waiting.points, waiting.added
    (True, array([[0. , 0.5],
           [1. , 0.5]]), array([[1. , 0.5]]))
    """

    def __init__(self, pending: FloatArray, n: int) -> None:
        self._first = self._last = len(pending)
        self._points = np.vstack([pending, np.empty((min(n, ROOM), pending.shape[1]))])
        self._keys = {_key(x) for x in pending}  # as comparing a point with thousands takes longer than all else

    def __contains__(self, x: FloatArray) -> bool:
        return _key(x) in self._keys

    @property
    def points(self) -> FloatArray:
        """All of them (p, D), a view."""
        return self._points[: self._last]

    @property
    def added(self) -> FloatArray:
        """Those added (m, D), a copy."""
        return self._points[self._first : self._last].copy()

    def add(self, x: FloatArray) -> None:
        """Add a point (D,)."""
        if self._last == len(self._points):
            self._points = np.vstack([self._points, np.empty_like(self._points)])
        self._points[self._last] = x
        self._last += 1
        self._keys.add(_key(x))


def _key(x: FloatArray) -> bytes:
    return (x + 0.0).tobytes()  # no -0.0

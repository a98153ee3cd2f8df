"""The history: every observation told, in order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gssbo._typing import FloatArray, IndexArray

__all__ = ["History", "evenly"]


class History:
    """Append-only table of observations, in arrays that double when full: a tell is O(d), amortised.

    Notation: X rows of the space (n), unit the same in the model's cube (n, D), y responses to maximise (n,), NaN where
    the evaluation failed.

    Parameters
    ----------
    dim : int
        D.
    rows : ndarray, optional
        An empty table of the space's rows; by default one of `dim` real columns.

    Examples
    --------
    >>> history = History(1)
    >>> history.append(np.array([[3.0], [5.0]]), np.array([[0.3], [0.5]]), np.array([-1.0, np.nan]))
    >>> len(history), history.y, history.n_failed, history.best
    (2, array([-1., nan]), 1, 0)
    """

    def __init__(self, dim: int, rows: NDArray[Any] | None = None) -> None:
        self._n = 0
        self._X = np.empty((0, dim)) if rows is None else rows
        self._unit = np.empty((0, dim))
        self._y = np.empty(0)
        self._prior = np.empty(0, dtype=bool)
        self._noise_std: FloatArray | None = None
        self._best = -1
        self.n_failed = 0
        self._newest: dict[bytes, int] = {}  # index of the newest observation at each point
        self._n_seen = 0

    def __len__(self) -> int:
        return self._n

    def __getstate__(self) -> dict[str, Any]:
        # Neither spare capacity nor what the table says anyway need be carried about.
        state = {**vars(self), "_newest": {}, "_n_seen": 0, "_X": self.X, "_unit": self.unit, "_y": self.y}
        return {**state, "_prior": self.prior, "_noise_std": self.noise_std}

    @property
    def X(self) -> NDArray[Any]:
        """Rows of the space (n), a view."""
        return self._X[: self._n]

    @property
    def unit(self) -> FloatArray:
        """Points in the unit cube (n, D), a view."""
        return self._unit[: self._n]

    @property
    def y(self) -> FloatArray:
        """Responses (n,), larger is better, NaN where the evaluation failed; a view."""
        return self._y[: self._n]

    @property
    def noise_std(self) -> FloatArray | None:
        """Known standard deviations of the noise (n,) in units of y, 0 where it is not; None if nowhere."""
        return None if self._noise_std is None else self._noise_std[: self._n]

    @property
    def prior(self) -> NDArray[np.bool_]:
        """Mask (n,) of the observations that are no evaluations of this run, a view."""
        return self._prior[: self._n]

    @property
    def best(self) -> int:
        """Index of the largest response, the first of equals; -1 when there is none."""
        return self._best

    def append(
        self,
        X: NDArray[Any],
        unit: FloatArray,
        y: FloatArray,
        noise_std: FloatArray | None = None,
        *,
        prior: bool = False,
    ) -> None:
        """Add m observations: rows X (m), unit (m, D), y (m,), known standard deviations of their noise (m,)."""
        n = self._n + len(y)
        self._reserve(n)
        if noise_std is not None and noise_std.any() and self._noise_std is None:
            self._noise_std = np.zeros(len(self._y))
        if self._noise_std is not None:
            if len(self._noise_std) < len(self._y):
                self._noise_std = _grown(self._noise_std, self._n, len(self._y))
            self._noise_std[self._n : n] = 0.0 if noise_std is None else noise_std
        self._X[self._n : n] = X
        self._unit[self._n : n] = unit
        self._y[self._n : n] = y
        self._prior[self._n : n] = prior
        failed = np.isnan(y)
        best, n_failed = self._best, self.n_failed + int(failed.sum())
        if not failed.all():
            leader = self._n + int(np.argmax(np.where(failed, -np.inf, y)))
            if best < 0 or self._y[leader] > self._y[best]:
                best = leader
        # Ctrl-C interrupts no assignments in a row, nor a tracer those of a line: all of this is told, or none.
        self._best, self.n_failed, self._n = best, n_failed, n

    def _reserve(self, n: int) -> None:
        """Make room for n observations; y is the last to grow, as it tells how much there is."""
        if n > len(self._y):
            capacity = max(n, 2 * len(self._y), 64)
            self._X = _grown(self._X, self._n, capacity)
            self._unit = _grown(self._unit, self._n, capacity)
            self._prior = _grown(self._prior, self._n, capacity)
            self._y = _grown(self._y, self._n, capacity)

    def seen(self, rows: NDArray[Any]) -> NDArray[np.bool_]:
        """Mask of the rows that were told, to the bit, failed ones included; O(1) each, amortised."""
        known = self._known()
        return np.array([row.tobytes() in known for row in rows], dtype=bool)

    def newest(self, rows: NDArray[Any]) -> IndexArray:
        """Index (m,) of the newest observation at each of the rows, to the bit; -1 where there is none."""
        known = self._known()
        return np.array([known.get(row.tobytes(), -1) for row in rows], dtype=np.intp)

    @property
    def n_distinct(self) -> int:
        """Distinct points told."""
        return len(self._known())

    @property
    def representatives(self) -> IndexArray | None:
        """Index of the newest observation at each distinct point, ascending, where most are repeats; else None."""
        known = self._known()
        if 2 * len(known) > self._n:
            return None
        return np.sort(np.fromiter(known.values(), dtype=np.intp, count=len(known)))

    def _known(self) -> dict[bytes, int]:
        if self._n_seen < self._n:
            rows = self._X[self._n_seen : self._n]
            self._newest.update((row.tobytes(), i) for i, row in enumerate(rows, start=self._n_seen))
            self._n_seen = self._n
        return self._newest


def evenly(n: int, count: int) -> IndexArray:
    """`count` ascending indices, evenly spread over n; repeated where there are fewer."""
    return np.round(np.linspace(0, n - 1, count)).astype(np.intp)


def _grown(array: NDArray[Any], n: int, capacity: int) -> NDArray[Any]:
    out = np.empty((capacity, *array.shape[1:]), dtype=array.dtype)
    out[:n] = array[:n]
    return out

"""Pending suggestions: asked and not told yet; what became of the others; and points to be suggested first."""

from __future__ import annotations

from collections import deque
from itertools import takewhile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gssbo._typing import FloatArray
from gssbo.space.parameter import SINGLE

__all__ = ["Pending", "Suggestion"]

OPEN, FORGOTTEN = -1, -2  # instead of an index into the history
STALE = 1_000  # observations told since a suggestion was made, after which it is forgotten


class Suggestion(NamedTuple):
    """A suggested point and the number it goes by: `id` counts from 0, `x` is as `ask` gives it."""

    id: int
    x: Any


class Pending:
    """The books of what was asked.

    Parameters
    ----------
    dim : int
        Columns of the model's cube, D.

    Examples
    --------
    >>> pending = Pending(1)
    >>> [pending.add(np.array([x]), np.array([x / 10.0])) for x in (3.0, 5.0)]
    [0, 1]
    >>> pending.settle(0, index=7)
    >>> pending.ids, pending.unit, pending.outcome(0)
    ([1], array([[0.5]]), 7)

    Attributes
    ----------
    queue : deque of ndarray
        Rows of the space to be suggested before any others, in order.
    clock : int
        Observations of this run that are told; suggestions grow old by it.
    """

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._outcomes: list[int] = []
        self._open: dict[int, tuple[NDArray[Any], FloatArray, int]] = {}
        self._forgotten: dict[int, NDArray[Any]] = {}  # rows, as they may be told all the same
        self._by_key: dict[bytes, list[int]] = {}
        self._by_single: dict[bytes, list[int]] = {}  # where there are reals: by their row, these in single precision
        self.queue: deque[NDArray[Any]] = deque()
        self.clock = 0

    def __len__(self) -> int:
        return len(self._open)

    def __contains__(self, number: int) -> bool:
        """Whether the suggestion of this number is pending."""
        return number in self._open

    @property
    def n_asked(self) -> int:
        """Suggestions made so far, pending or not."""
        return len(self._outcomes)

    @property
    def ids(self) -> list[int]:
        """Numbers of the pending ones, in the order they were asked."""
        return list(self._open)

    @property
    def unit(self) -> FloatArray:
        """Points of the pending ones in the model's cube (p, D)."""
        return np.array([unit for _, unit, _ in self._open.values()]).reshape(-1, self._dim)

    @property
    def n_distinct(self) -> int:
        """Distinct points among the pending ones."""
        return len(self._by_key)

    @property
    def distinct(self) -> list[NDArray[Any]]:
        """Rows of the space, each once, of the distinct points among them."""
        return [self._open[numbers[0]][0] for numbers in self._by_key.values()]

    def row(self, number: int) -> NDArray[Any]:
        """Row of the space of a pending suggestion."""
        return self._open[number][0]

    def forgotten(self, number: int) -> NDArray[Any] | None:
        """Row of the space of a suggestion that was forgotten; None where it is lost."""
        return self._forgotten.get(number)

    def seen(self, rows: NDArray[Any]) -> NDArray[np.bool_]:
        """Mask of the rows that are pending, to the bit."""
        return np.array([row.tobytes() in self._by_key for row in rows], dtype=bool)

    def rounded(self, rows: NDArray[Any], unit: FloatArray) -> dict[int, list[int]]:
        """For those of the rows (n,) that are pending but for reals in single precision, their numbers as `matches`.

        Each real is that of the suggestion, or what it is in single precision, PyTorch's usual one, and the unit point
        (n, D) is next to it: far from 0 the whole of a side may be one number in single precision.
        """
        found: dict[int, list[int]] = {}
        if self._by_single:
            singles = _single(rows)
            for k in np.flatnonzero(_have_equal_reals(rows, singles)).tolist():
                told, single = _reals(rows[k]), _reals(singles[k])
                for number in self._by_single.get(singles[k].tobytes(), ()):
                    row, at, _ = self._open[number]
                    if ((told == _reals(row)) | (told == single)).all() and np.abs(unit[k] - at).max() <= SINGLE:
                        found.setdefault(k, []).append(number)
        return found

    def matches(self, row: NDArray[Any]) -> list[int]:
        """Numbers of the pending suggestions of this row, the oldest first."""
        return list(self._by_key.get(row.tobytes(), ()))

    def outcome(self, number: int) -> int:
        """Index into the history of a suggestion told, or OPEN, or FORGOTTEN; an IndexError if it was never asked."""
        if not 0 <= number < len(self._outcomes):
            raise IndexError(number)
        return self._outcomes[number]

    def add(self, row: NDArray[Any], unit: FloatArray) -> int:
        """Enter a suggestion, and return its number."""
        number = len(self._outcomes)
        self._outcomes.append(OPEN)
        self._open[number] = row, unit, self.clock
        self._by_key.setdefault(row.tobytes(), []).append(number)
        if len(_reals(row)):
            self._by_single.setdefault(_single(row).tobytes(), []).append(number)
        return number

    def dequeue(self, row: NDArray[Any]) -> bool:
        """Take a row from the head of the queue, where it is what stands there; return whether it is."""
        found = bool(self.queue) and self.queue[0].tobytes() == row.tobytes()
        if found:
            self.queue.popleft()
        return found

    def skip_to(self, number: int) -> None:
        """Let the next suggestion have this number, where those before it are lost: they count as forgotten."""
        self._outcomes += [FORGOTTEN] * (number - len(self._outcomes))

    def settle(self, number: int, index: int) -> None:
        """Note that a suggestion, pending or forgotten, was told as number `index` of the history."""
        self._close(number)
        self._forgotten.pop(number, None)
        self._outcomes[number] = index

    def forget(self, number: int) -> None:
        """Drop a pending suggestion."""
        if number in self._open:
            self._forgotten[number] = self._open[number][0]
        self._close(number)
        self._outcomes[number] = FORGOTTEN

    def withdraw(self, n_asked: int) -> None:
        """Strike out all but the first so many suggestions, half made ones too, as if they had never been."""
        for number in range(n_asked, len(self._outcomes)):
            self._close(number)
            self._forgotten.pop(number, None)
        del self._outcomes[n_asked:]

    def expire(self) -> None:
        """Forget those made a thousand observations ago: whoever asked does not tell."""
        # Listed first: to look for the first key of a dict again takes a step for each that was taken from before it.
        for number in list(takewhile(lambda number: self.clock - self._open[number][2] > STALE, self._open)):
            self.forget(number)

    def _close(self, number: int) -> None:
        """Take a suggestion out of the books; where Ctrl-C interrupts this, once more completes it."""
        entry = self._open.get(number)
        if entry is not None:
            row = entry[0]
            _remove(self._by_key, row.tobytes(), number)
            _remove(self._by_single, _single(row).tobytes(), number)
            self._open.pop(number, None)


def _single(rows: NDArray[Any]) -> NDArray[Any]:
    """Rows with their reals in single precision; all else stays."""
    kinds = [(name, np.float32 if kind.kind == "f" else kind) for name, kind in _columns(rows.dtype)]
    with np.errstate(over="ignore"):
        return rows.astype(kinds if rows.dtype.names else kinds[0][1])


def _have_equal_reals(rows: NDArray[Any], others: NDArray[Any]) -> NDArray[np.bool_]:
    """Mask of the rows that share a real with the row beside them."""
    if rows.dtype.names is None:
        equal = np.equal(rows, others)
    else:
        reals = [name for name, kind in _columns(rows.dtype) if kind.kind == "f"]
        equal = np.column_stack([np.equal(rows[name], others[name]) for name in reals])
    shared: NDArray[np.bool_] = equal.any(axis=1)
    return shared


def _reals(row: NDArray[Any]) -> NDArray[Any]:
    """The reals of a row."""
    if row.dtype.names is None:
        return row if row.dtype.kind == "f" else row[:0]
    return np.array([row[name] for name, kind in _columns(row.dtype) if kind.kind == "f"])


def _columns(dtype: np.dtype[Any]) -> list[tuple[str, np.dtype[Any]]]:
    """Name and type of each column of a structured type; a plain type is its only one."""
    return [("", dtype)] if dtype.names is None else [(name, dtype[name]) for name in dtype.names]


def _remove(index: dict[bytes, list[int]], key: bytes, number: int) -> None:
    others = [other for other in index.get(key, []) if other != number]
    if others:
        index[key] = others
    else:
        index.pop(key, None)

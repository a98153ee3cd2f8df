"""The books of a run, in rows of its space: what was told, what is pending, and how an entry changes them.

Everything here is maximised; the sign of the user's values flips as an entry is carried out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from gssbo._typing import FloatArray, IndexArray
from gssbo.entry import Entry
from gssbo.history import History
from gssbo.pending import FORGOTTEN, OPEN, Pending
from gssbo.space import Rows, Space

__all__ = ["Books"]


class Books:
    """The history of observations, the suggestions that are pending, and which best observation is feasible.

    Parameters
    ----------
    space : Space
    sign : float
        Of the user's values: 1.0 where larger ones are better, else -1.0.

    Examples
    --------
    >>> books = Books(Space([(0.0, 1.0)]), -1.0)
    >>> books.change(Entry("tell", np.array([[0.25]]), (None,), np.array([3.0]), prior=True))()
    >>> books.history.y, books.n_prior
    (array([-3.]), 1)
    """

    def __init__(self, space: Space, sign: float) -> None:
        self.space, self.sign = space, sign
        self.history = History(space.dim, space.empty())
        self.pending = Pending(space.dim)
        self.reasons: dict[int, str] = {}  # why observations failed, by their index, as far as that was told
        self._n_judged = 0  # observations, where there are constraints
        self._best_feasible: int | None = None  # of those

    @property
    def n_prior(self) -> int:
        """Observations that are no evaluations of this run."""
        return int(np.count_nonzero(self.history.prior))

    def n_evaluated(self, first: int) -> int:
        """How many of the observations from number `first` on are evaluations of this run."""
        prior = self.history.prior[first:]
        return len(prior) - int(np.count_nonzero(prior))

    def known(self, rows: Rows, y: FloatArray) -> NDArray[np.bool_]:
        """Which rows (n) were told with these very values (n,).

        All of the history is looked through only for those that were told with another value last.
        """
        newest = self.history.newest(rows)
        told = newest >= 0
        found = told.copy()
        found[told] = _same(self.history.y[newest[told]], y[told])
        left = told & ~found
        if left.any():
            pairs = set(_pairs(self.history.X, self.history.y))
            found[left] = [pair in pairs for pair in _pairs(rows[left], y[left])]
        return found

    def row_asked(self, number: int) -> Rows | None:
        """What a suggestion stands for: its point, or what was told for it; None where that is lost.

        Raises
        ------
        IndexError
            If it was never asked.
        """
        outcome = self.pending.outcome(number)
        if outcome == FORGOTTEN:
            return self.pending.forgotten(number)
        row: Rows = self.pending.row(number) if outcome == OPEN else self.history.X[outcome]
        return row

    def failure(self, number: int) -> int | None:
        """Index of the evaluation of a suggestion that failed; None where there is no such."""
        if number >= self.pending.n_asked:
            return None
        outcome = self.pending.outcome(number)
        return outcome if outcome >= 0 and np.isnan(self.history.y[outcome]) else None

    def reason(self, number: int) -> str | None:
        """Why the evaluation of a suggestion failed, as far as that was told."""
        index = self.failure(number)
        return None if index is None else self.reasons.get(index)

    def best_feasible(self) -> int | None:
        """Index of the best observation that meets the constraints, the first of equals; None where none does.

        Only what may be it is tried, and once.
        """
        y = self.history.y
        best = -np.inf if self._best_feasible is None else y[self._best_feasible]
        better = self._n_judged + np.flatnonzero(y[self._n_judged :] > best)
        found = self.first_feasible(better[np.argsort(-y[better], kind="stable")])
        # Ctrl-C interrupts no assignments in a row.
        self._best_feasible = self._best_feasible if found is None else found
        self._n_judged = len(y)
        return self._best_feasible

    def first_feasible(self, order: IndexArray) -> int | None:
        """The first observation in this order that meets the constraints; None where none does.

        What was suggested does: more and more are tried at a time, as a constraint may take a millisecond a point.
        """
        first, size = 0, 1
        while first < len(order):
            some = order[first : first + size]
            met = self.space.feasible(self.history.X[some])
            if met.any():
                return int(some[np.argmax(met)])
            first, size = first + size, 2 * size
        return None

    def change(self, entry: Entry) -> Callable[[], None]:
        """What carries an entry out; doing it once more, after half of it or all, changes nothing."""
        first, n_asked = len(self.history), self.pending.n_asked
        n_queued, clock = len(self.pending.queue), self.pending.clock

        def tell() -> None:
            assert entry.rows is not None and entry.y is not None
            if len(self.history) == first:
                units = self.space.to_unit(entry.rows)
                self.history.append(entry.rows, units, self.sign * entry.y, entry.noise_std, prior=entry.prior)
            if entry.reason is not None:
                self.reasons.update(dict.fromkeys(range(first, first + len(entry.y)), entry.reason))
            for k, number in enumerate(entry.ids):
                if number is not None:
                    self.pending.skip_to(number + 1)  # what asked for it is lost
                    self.pending.settle(number, first + k)
            self.pending.clock = clock + (not entry.prior) * len(entry.y)
            self.pending.expire()

        def explain() -> None:
            assert entry.reason is not None
            for number in entry.ids:
                assert number is not None
                index = self.failure(number)
                if index is not None:  # else that it failed is lost
                    self.reasons[index] = entry.reason

        def enqueue() -> None:
            assert entry.rows is not None
            while len(self.pending.queue) > n_queued:
                self.pending.queue.pop()
            self.pending.queue.extend(entry.rows)

        def announce() -> None:
            assert entry.rows is not None
            self.pending.withdraw(n_asked)
            self.pending.skip_to(entry.ids[0] or 0)
            for row, unit in zip(entry.rows, self.space.to_unit(entry.rows), strict=True):
                self.pending.add(row, unit)

        def forget() -> None:
            for number in entry.ids:
                assert number is not None
                self.pending.skip_to(number + 1)
                self.pending.forget(number)

        changes = {"tell": tell, "explain": explain, "enqueue": enqueue, "announce": announce, "forget": forget}
        return changes[entry.kind]


def _same(y: FloatArray, others: FloatArray) -> NDArray[np.bool_]:
    """Which values (n,) are those of others (n,), failures all alike."""
    same: NDArray[np.bool_] = (y == others) | (np.isnan(y) & np.isnan(others))
    return same


def _pairs(rows: Rows, y: FloatArray) -> Iterator[tuple[bytes, float | None]]:
    """Points to the bit with their values, None for failures, as NaN equals nothing."""
    return ((row.tobytes(), None if np.isnan(value) else float(value)) for row, value in zip(rows, y, strict=True))

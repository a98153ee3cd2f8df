"""A statement of the books in the user's terms: what was told, what is pending, what is best."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gssbo._arithmetic import all_in_own_arithmetic, in_own_arithmetic
from gssbo._turns import Turns
from gssbo._typing import FloatArray
from gssbo._validation import check_flag
from gssbo.books import Books
from gssbo.pending import Suggestion
from gssbo.space import Rows, Space

__all__ = ["Failure", "Statement"]


class Failure(NamedTuple):
    """An evaluation that failed: its point, and why."""

    x: Any
    reason: str


@all_in_own_arithmetic
class Statement(Turns):
    """A space, the history of observations in it, and the suggestions that are pending; nothing here changes them.

    Parameters
    ----------
    space : Space
    maximize : bool
        Whether larger values are better.

    Examples
    --------
    >>> statement = Statement(Space([(0, 1)]))
    >>> statement.n_told, statement.best_x, statement.pending
    (0, None, [])
    """

    def __init__(self, space: Space, *, maximize: bool = False) -> None:
        self.space = space
        self._sign = 1.0 if check_flag("maximize", maximize) else -1.0
        self._books = Books(space, self._sign)
        self._history, self._pending = self._books.history, self._books.pending
        self._take_turns()

    @property
    def maximize(self) -> bool:
        """Whether larger values are better."""
        return self._sign > 0.0

    @property
    def n_told(self) -> int:
        """Observations told, failed ones included."""
        return len(self._history)

    @property
    def n_prior(self) -> int:
        """Observations told that are not evaluations of this run: told by `tell_prior`."""
        return self._books.n_prior

    def n_evaluated(self, first: int = 0) -> int:
        """How many of the observations from number `first` on are evaluations of this run."""
        return self._books.n_evaluated(first)

    @property
    def n_failed(self) -> int:
        """Evaluations told that failed."""
        return self._history.n_failed

    @property
    def failures(self) -> list[Failure]:
        """Evaluations that failed, as far as it was told why, in the order they were told."""
        with self._lock:
            reasons = self.reasons
            points = self.space.show(self._history.X[list(reasons)]) if reasons else ()
            return [Failure(*pair) for pair in zip(points, reasons.values(), strict=True)]

    @property
    def reasons(self) -> dict[int, str]:
        """Why evaluations failed, as far as it was told, by their index among the points told."""
        with self._lock:
            return dict(sorted(self._books.reasons.items()))

    @property
    def pending(self) -> list[Suggestion]:
        """Suggestions asked and neither told nor forgotten, in the order they were asked."""
        with self._lock:
            numbers = self._pending.ids
            if not numbers:
                return []
            points = self.space.show(np.stack([self._pending.row(number) for number in numbers]))
            return [Suggestion(*pair) for pair in zip(numbers, points, strict=True)]

    def asked(self, number: int) -> Any:
        """The point of the suggestion of this number, or what was told for it; None where it is not known."""
        with self._lock:
            try:
                row = self._books.row_asked(number)
            except IndexError:  # never asked
                return None
            return None if row is None else self.space.show(np.stack([row]))[0]

    @property
    def queue(self) -> list[Any]:
        """Points to be suggested before any others, in order."""
        with self._lock:
            rows = self._pending.queue
            return list(self.space.show(np.stack(list(rows)))) if rows else []

    @property
    def X(self) -> Any:
        """Points told, in order: an array (n, d), or a list of lists or dicts; a copy."""
        return self.space.show(self._history.X)

    @property
    def rows(self) -> Rows:
        """Points told as rows of the space (n), whatever their form; a copy."""
        rows: Rows = self._history.X.copy()
        return rows

    @property
    def y(self) -> FloatArray:
        """Values told (n,), in order, NaN where an evaluation failed; a copy."""
        return self._sign * self._history.y

    @property
    def best_x(self) -> Any:
        """Point of the best value observed, the first of equals; None before there is one.

        With constraints the best of those that meet them, where any does.
        """
        index = self.best_index
        return None if index is None else self._point(index)

    @property
    def best_index(self) -> int | None:
        """Index of the best point among the points told, counted from 0; None before there is one."""
        feasible = self._feasible_best
        if feasible is not None:
            return feasible
        return self._history.best if self._history.best >= 0 else None

    @property
    def best_y(self) -> float | None:
        """Best value observed, as `best_x`; None before there is one."""
        index = self.best_index
        return None if index is None else self._sign * float(self._history.y[index])

    @property
    def best_is_feasible(self) -> bool:
        """Whether the best point meets the constraints: False only where none told does."""
        return not self.space.constrained or self.best_index == self._feasible_best

    @property
    @in_own_arithmetic
    def _feasible_best(self) -> int | None:
        """Where there are constraints, the best of the observations that meet them, if any does."""
        if not self.space.constrained:
            return None
        with self._lock:
            return self._books.best_feasible()

    def _point(self, index: int) -> Any:
        return self.space.show(self._history.X[index : index + 1])[0]

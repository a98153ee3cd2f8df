"""The ledger: what is asked and told is read here, written to the journal, and carried out in the `books`.

What they hold then is its `statement`.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gssbo._arithmetic import all_in_own_arithmetic
from gssbo._keywords import checked
from gssbo._text import brief
from gssbo._validation import check_flag, check_integer, check_vector, is_array
from gssbo.entry import Entry
from gssbo.journal import Journal
from gssbo.observations import read_observations
from gssbo.pending import Suggestion
from gssbo.space import Space
from gssbo.statement import Statement

__all__ = ["Ledger"]


@all_in_own_arithmetic
class Ledger(Statement):
    """Books that are changed: what is asked, told, enqueued and forgotten goes into them, and into their journal.

    Parameters
    ----------
    space : Space
    maximize : bool
        Whether larger values are better.
    entries : sequence of Entry
        What it begins with.
    journal : Journal, optional
        Where what it is told is written; the entries are there already.

    Examples
    --------
    >>> ledger = Ledger(Space({"n": range(10), "c": ["u", "v"]}))
    >>> ledger.tell([{"n": 3, "c": "u"}, {"n": 4, "c": "v"}, {"n": 5, "c": "v"}], [1.0, 0.5, float("nan")])
    >>> ledger.best_x, ledger.best_y, ledger.n_told, ledger.n_failed
    ({'n': 4, 'c': 'v'}, 0.5, 3, 1)
    """

    def __init__(
        self, space: Space, *, maximize: bool = False, entries: Sequence[Entry] = (), journal: Journal | None = None
    ) -> None:
        super().__init__(space, maximize=maximize)
        self._journal = journal
        self._owed: tuple[int, Callable[[], None]] | None = None  # a change begun, and what was written before it
        self._book(entries)

    def __getstate__(self) -> dict[str, Any]:
        return self._copied({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        twin = memo[id(self)] = type(self).__new__(type(self))
        twin.__setstate__(self._copied(memo))
        return twin

    def __copy__(self) -> Self:
        return copy.deepcopy(self)  # with the history shared, the copy would be told what the journal is not

    def _copied(self, memo: dict[int, Any]) -> dict[str, Any]:
        """What a copy has: all of one moment, whoever tells meanwhile, and no journal, which two would write to."""
        with self._turn():
            self._complete()
            state = {name: value for name, value in vars(self).items() if name != "_lock"} | {"_journal": None}
            return copy.deepcopy(state, memo)

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._take_turns()

    @checked
    def tell(
        self,
        x: Any = None,
        y: Any = None,
        *,
        id: Any = None,
        noise_std: Any = None,
        failed: Any = False,
        reason: Any = None,
    ) -> None:
        """Add one observation or many; never fits.

        Parameters
        ----------
        x : point or points, or Suggestion or list of them
            As `ask` gives them, or from elsewhere: an array of shape (d,) or (n, d), a list or dict of values, a list
            of such points, a data frame with a column a parameter; a number where d is 1 and y is a number. Where the
            parameters have names, named tuples and rows of data frames are read by theirs. A point that is pending
            answers the suggestion. With `id`, what was evaluated instead, or nothing.
        y : float or array of shape (n,) or (n, 1)
            What was observed there; NaN or the infinity that is worst where the evaluation failed.
        id : int or sequence of int, optional
            Numbers of the suggestions that are answered. The same value again changes nothing, with the same
            `noise_std` or none, but for the `reason`.
        noise_std : float or array of shape (n,) or (n, 1), optional
            Known standard deviation of the noise of y, in units of y, beyond what the model finds in all of them.
        failed : bool or array of shape (n,)
            Whether the evaluation failed; y is not needed then.
        reason : str, optional
            Why it failed, for `failures`; of many, all for the same reason. Said again with the `id`, the last counts.

        Raises
        ------
        ValueError
            If a shape, a bound, or a number is wrong, or an id was never asked, told with another value or another
            `noise_std`, or is not that of the suggestion x; nothing is added then, not even the good rows.
        """
        self._tell(x, y, id=id, noise_std=noise_std, failed=failed, reason=reason)

    def tell_prior(
        self,
        x: Any,
        y: Any,
        *,
        noise_std: Any = None,
        reason: Any = None,
        once: bool = False,
        names: tuple[str, str] = ("x", "y"),
    ) -> None:
        """Add observations made before this run: as `tell` does, but they are not counted as evaluations of it.

        Parameters
        ----------
        x : point or points, or none
        y : float or array of shape (n,) or (n, 1)
        noise_std : float or array of shape (n,) or (n, 1), optional
        reason : str, optional
            As for `tell`.
        once : bool
            Whether to leave out what is told already: the same value at the same point.
        names : (str, str)
            What messages call x and y.

        Raises
        ------
        ValueError
            As for `tell`.

        Examples
        --------
        >>> ledger = Ledger(Space([(0, 1)]))
        >>> ledger.tell_prior([[0.1], [0.2]], [3.0, 4.0])
        >>> ledger.tell(0.3, 5.0)
        >>> ledger.n_told, ledger.n_prior
        (3, 2)
        """
        if not (_is_empty(x) and _is_empty(y)):
            self._tell(x, y, prior=True, noise_std=noise_std, reason=reason, once=once, names=names)

    def _tell(
        self,
        x: Any,
        y: Any,
        *,
        prior: bool = False,
        once: bool = False,
        **options: Any,
    ) -> None:
        check_flag("once", once)
        with self._turn():
            self._complete()
            new = read_observations(self._books, x, y, **options)
            if once:
                new = new.where(~self._books.known(new.rows, new.y))
            if len(new.y):
                told = self._sign * new.y
                self._commit(Entry("tell", new.rows, tuple(new.ids), told, new.noise_std, prior, new.reason))
            explained = [number for number in new.retried if self._books.reason(number) != new.reason]
            if new.reason is not None and explained:
                self._commit(Entry("explain", ids=tuple(explained), reason=new.reason))

    def was_told(self, x: Any, y: Any) -> NDArray[np.bool_]:
        """Which of many points were told with these very values.

        Parameters
        ----------
        x : points
            As for `tell`, n of them.
        y : array of shape (n,)
            NaN where the evaluation failed.

        Returns
        -------
        array of bool, shape (n,)

        Raises
        ------
        ValueError
            If a point is not of the space.

        Examples
        --------
        >>> ledger = Ledger(Space([(0, 1)]))
        >>> ledger.tell([[0.1], [0.2]], [3.0, float("nan")])
        >>> ledger.was_told([[0.1], [0.1], [0.2]], [3.0, 4.0, float("nan")])
        array([ True, False,  True])
        """
        with self._turn():
            self._complete()
            rows = self.space.read_many("x", x)
            return self._books.known(rows, self._sign * check_vector("y", y, size=len(rows), finite=False, column=True))

    def _commit(self, entry: Entry) -> None:
        """Write an entry to the journal, if there is one, and carry it out: both, or neither.

        What Ctrl-C, or another signal whose handler raises, interrupts half way is completed first; where that is
        interrupted too, with the next call.
        """
        change, written = self._change(entry), self._written
        try:
            self._owed = written, change
            self._write(entry)
            change()
        except BaseException:
            self._complete()
            raise
        self._owed = None

    def _complete(self) -> None:
        """Carry out what was interrupted, but for what was to be in the journal and is not."""
        if self._owed is not None:
            written, change = self._owed
            if self._journal is None or self._written > written:
                change()
            self._owed = None

    @property
    def _written(self) -> int:
        """Bytes of whole lines in the journal; 0 where there is none."""
        return 0 if self._journal is None else self._journal.position

    def _write(self, entry: Entry) -> None:
        """Write an entry to the journal, if there is one."""
        if self._journal is not None:
            self._journal.append(entry)

    def _change(self, entry: Entry) -> Callable[[], None]:
        return self._books.change(entry)

    def enqueue(self, x: Any, *, once: bool = False, name: str = "x") -> None:
        """Have `ask` suggest these points next, in order, before the design and the model.

        They are suggestions like any others: pending once asked, with ids, counted as evaluations. They are taken as
        they are, told before or not, within the constraints or not.

        Parameters
        ----------
        x : point or points, or none
            As for `tell`.
        once : bool
            Whether to leave out points that are told, pending or enqueued already.
        name : str
            What messages call x.

        Raises
        ------
        ValueError
            If a point is not of the space, or `once` no flag.

        Examples
        --------
        >>> from gssbo import Optimizer
        >>> opt = Optimizer([(-5, 5), (-5, 5)], rng=0)
        >>> opt.enqueue([[0.0, 0.0], [1.0, 2.0]])
        >>> opt.ask(), opt.ask(), len(opt.queue)
        (array([0., 0.]), array([1., 2.]), 0)
        """
        check_flag("once", once)
        if _is_empty(x):
            return
        with self._turn():
            self._complete()
            rows, _ = self.space.read(name, x)
            if once:
                queued = {row.tobytes() for row in self._pending.queue}
                held = self._history.seen(rows) | self._pending.seen(rows)
                rows = rows[~held & [row.tobytes() not in queued for row in rows]]
            if len(rows):
                self._commit(Entry("enqueue", rows))

    def announce(self, x: Any) -> Any:
        """Enter what someone else is evaluating as pending, as if `ask` had suggested it.

        Parameters
        ----------
        x : point or points

        Returns
        -------
        Suggestion, or list of them for several points
            With the ids they may be told by.

        Raises
        ------
        ValueError
            If a point is not of the space; none is entered then.

        Examples
        --------
        >>> ledger = Ledger(Space([(0.0, 1.0)]))
        >>> ledger.announce([[0.25], [0.75]])[1].id, len(ledger.pending)
        (1, 2)
        """
        with self._turn():
            self._complete()
            rows, single = self.space.read("x", x)
            numbers = range(self._pending.n_asked, self._pending.n_asked + len(rows))
            if len(rows):
                self._commit(Entry("announce", rows, tuple(numbers)))
            found = [Suggestion(*pair) for pair in zip(numbers, self.space.show(rows), strict=True)]
        return found[0] if single else found

    def forget(self, x: Any = None, *, id: int | None = None) -> None:
        """Drop a pending suggestion, by its point or its id; without either, drop them all.

        It may still be told later, and counts as not suggested before.

        Raises
        ------
        ValueError
            If it is not pending, or its point and its id are not of the same.
        """
        with self._turn():
            self._complete()
            dropped = self._pending.ids if x is None and id is None else [self._pending_number(x, id)]
            if dropped:
                self._commit(Entry("forget", ids=tuple(dropped)))

    def _pending_number(self, x: Any, id: Any) -> int:
        """Number of the pending suggestion of a point, an id, or both: the oldest of a point's."""
        numbers: list[int] = []
        if isinstance(x, Suggestion):
            numbers = [check_integer("id", x.id, at_least=0)]
        elif x is not None:
            rows, single = self.space.read("x", x)
            if not single and len(rows) != 1:
                raise ValueError(f"x must be one point, got {len(rows)}")
            numbers = self._pending.matches(rows[0])
            numbers = numbers or self._pending.rounded(rows, self.space.to_unit(rows)).get(0, [])
        number = next(iter(numbers), -1) if id is None else check_integer("id", id, at_least=0)
        if number not in self._pending:
            raise ValueError(f"x or id must be of a pending suggestion, got {brief(x if id is None else id)}")
        if x is not None and number not in numbers:
            raise ValueError(f"x and id must be of the same suggestion, got {brief(x)} and {brief(id)}")
        return number

    # ---- its journal

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the journal, if there is one: nothing can be asked or told after that. Once more does nothing."""
        with self._lock:
            if self._journal is not None:
                self._journal.close()

    def _book(self, entries: Sequence[Entry]) -> None:
        """Carry the entries of a journal out, without asking anyone where to look."""
        for entry in entries:
            if entry.kind in ("reseed", "snapshot"):
                continue
            if entry.kind == "ask":  # as if someone else had, but for the queue
                assert entry.rows is not None
                for row in entry.rows:
                    self._pending.dequeue(row)
                entry = replace(entry, kind="announce")
            self._change(entry)()


def _is_empty(values: Any) -> bool:
    """Whether it is a list, an array or a data frame of nothing; a dict is one point."""
    return (isinstance(values, list | tuple) and not values) or (is_array(values) and len(values) == 0)

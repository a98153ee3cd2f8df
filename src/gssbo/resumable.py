"""Taking up a run: suggestions are written to the journal as they are made, and made once more from what it has."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Sequence

import numpy as np

from gssbo._arithmetic import all_in_own_arithmetic
from gssbo._warning import warn
from gssbo.entry import Entry
from gssbo.exceptions import InfeasibleError, JournalError, JournalWarning, SpaceExhausted
from gssbo.modelled import Modelled
from gssbo.resume import set_states
from gssbo.snapshots import Snapshots

__all__ = ["Resumable"]

SILENT = 5.0  # seconds that asking again may take without a word


@all_in_own_arithmetic
class Resumable(Modelled):
    """The part of an `Optimizer` that makes suggestions so that a journal of them is enough to make them again."""

    resumed: bool
    last_ask_seconds: float
    _generators: list[np.random.Generator]
    _snapshots: Snapshots

    @property
    def n_suggested(self) -> int:
        """Suggestions made that were neither enqueued nor of the initial design."""
        return self._proposals.n_suggested

    def _take_up(self, entries: Sequence[Entry]) -> None:
        """Begin where the entries of the journal end."""
        self.resumed = len(entries) > 0
        self.last_ask_seconds = 0.0
        self._iteration_seconds: float | None = None  # of the last model iteration, until the strategy has it
        known = (self.space, self._history, self._pending, self.timings)
        self._snapshots = Snapshots(self._strategy, self._proposals, self._generators, known)
        self._repeat(entries)

    def _repeat(self, entries: Sequence[Entry]) -> None:
        """Carry the entries of a journal out once more, from the newest snapshot on.

        Asking again gives the same suggestions. Where it does not (another version, another machine) the recorded ones
        stand, and nothing is asked again from there on: the model sees what was told when it is next asked.
        """
        spent = sum(entry.seconds or 0.0 for entry in entries)
        found = self._snapshots.restore(entries)
        if found is not None:
            index, (self.last_ask_seconds, self._iteration_seconds) = found
            self._book(entries[:index])
            entries = entries[index + 1 :]
        self._announce_repeating(entries, from_snapshot=found is not None)
        same = True
        for entry in entries:
            if entry.kind == "snapshot":
                continue
            if entry.kind != "ask":
                self._change(entry)()
                continue
            assert entry.rows is not None
            same = same and self._repeats(entry)
            if not same:
                self._pending.skip_to(entry.ids[0] or 0)
                self._proposals.book(entry.rows)
        self._snapshots.resumed()
        self.timings.begin_with(spent)  # not with what repeating took
        if not same:
            self._snapshots.need()
            warn(
                "asking again gave other suggestions than the journal has, which stand: the run goes on from them, but "
                "not as it would have without a break; was it begun with another version, or on another machine?",
                JournalWarning,
            )

    def _announce_repeating(self, entries: Sequence[Entry], *, from_snapshot: bool) -> None:
        """Say what is being done before it is, where that takes a while: what it took the first time."""
        asks = [entry for entry in entries if entry.kind == "ask"]
        seconds = sum(entry.seconds or 0.0 for entry in asks)
        if seconds > SILENT and self._journal is not None:
            n = sum(len(entry.ids) for entry in asks)
            why = "" if from_snapshot else ": it has no snapshot that this build of gssbo can go by"
            warn(
                f"{self._journal.path}: {n:,} suggestions are made once more, in about {seconds:,.0f} seconds{why}",
                JournalWarning,
            )

    def _repeats(self, entry: Entry) -> bool:
        """Ask once more, and return whether that gave what is recorded; if not, nothing is pending that was not."""
        assert entry.rows is not None
        n_asked, n_queued = self._pending.n_asked, len(self._pending.queue)
        n_taken, _, n_suggested = self._proposals.counts
        try:
            numbers = self._ask(len(entry.rows), recorded=entry)
        except (SpaceExhausted, InfeasibleError):
            return False
        rows = [self._pending.row(number) for number in numbers]
        if tuple(numbers) == entry.ids and all(
            a.tobytes() == b.tobytes() for a, b in zip(rows, entry.rows, strict=True)
        ):
            return True
        self._pending.withdraw(n_asked)
        self._pending.queue.extendleft(reversed(rows[: n_queued - len(self._pending.queue)]))
        self._proposals.counts = n_taken, self._proposals.n_modelled, n_suggested  # what was modelled stays so
        return False

    def _ask(self, n: int, *, recorded: Entry | None = None) -> list[int]:
        """Make suggestions; once more, where they are recorded, and then nothing is written.

        Where a search may end without any, nothing is left of one that does: the journal does not know of it.
        """
        start = time.perf_counter()
        back = self._snapshots.bookmark() if self._proposals.may_end else None
        iteration_seconds = self._iteration_seconds
        before = self._proposals.n_modelled
        written = self._written

        def stands() -> bool:
            return self._written > written

        def confirm(numbers: list[int]) -> None:
            if recorded is not None:
                self.last_ask_seconds = recorded.seconds or 0.0
                return
            self.last_ask_seconds = round(time.perf_counter() - start, 6)
            if len(numbers) < n:  # asking for as many as are recorded would draw fewer numbers
                self._snapshots.need()
            if self._journal is not None:
                rows = np.stack([self._pending.row(number) for number in numbers])
                self._write(Entry("ask", rows, tuple(numbers), seconds=self.last_ask_seconds))

        with self.timings.whole():
            if self._iteration_seconds is not None and self.n_told > before:
                self._strategy.record(self._iteration_seconds, self.n_told)
                self._iteration_seconds = None
            try:
                numbers = self._proposals.make(n, confirm, stands)
            except BaseException:
                if back is None or stands():
                    self._snapshots.need()  # what was drawn and learnt for it is, and the journal does not say so
                else:
                    back()
                    self._iteration_seconds = iteration_seconds
                raise
        if self._proposals.n_modelled > before:
            self._iteration_seconds = self.last_ask_seconds
        return numbers

    def _write(self, entry: Entry) -> None:
        written = self._written
        try:
            super()._write(entry)
        finally:  # also where Ctrl-C comes when it is on the disk
            if self._written > written:
                self._snapshots.note(entry)

    def _change(self, entry: Entry) -> Callable[[], None]:
        if entry.kind != "reseed":
            return super()._change(entry)
        assert entry.state is not None
        return functools.partial(set_states, self._generators, entry.state)

    def _keep(self, *, at_end: bool = False) -> None:
        """Put a snapshot into the journal where one is due; it can do without, so no trouble with it is anyone's."""
        journal = self._journal
        if journal is not None and journal.snapshots and journal.writable and self._snapshots.due(at_end=at_end):
            snapshot = self._snapshots.take((self.last_ask_seconds, self._iteration_seconds))
            if snapshot is not None:
                with contextlib.suppress(JournalError):
                    journal.append(snapshot)
                    self._snapshots.kept()

    def close(self) -> None:
        """Close the journal, if there is one: nothing can be asked or told after that. Once more does nothing."""
        with self._lock:
            try:
                self._keep(at_end=True)
            except BaseException:
                self._keep(at_end=True)  # where a suggestion needs it; else none is due any more
                raise
            finally:
                super().close()

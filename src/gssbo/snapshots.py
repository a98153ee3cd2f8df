"""Snapshots: what an optimizer has learnt, in its journal now and then, so that a resume need not ask everything again.

A snapshot is a shortcut, not a record: whatever was asked and told stands in the journal without it. It is of use to
a build of the package whose files that suggestions come of are those of the one that took it; to any other, and where
the file is cut before it, asking again is the way.
So it is where a digest in it, of what it holds and of every entry before it, is not that of what is read: it was
edited, or an entry before it was, or is left out. Why evaluations failed is not in the digest, as no suggestion comes
of it.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gssbo.entry import Entry
from gssbo.journal.generators import set_all, state_of
from gssbo.journal.graph import decode, encode
from gssbo.proposals import Proposals
from gssbo.resume import set_states
from gssbo.strategy import Strategy

__all__ = ["Snapshots", "build"]

LEAST, SHARE = 500, 0.25  # suggestions since the last, and their share of those before
MOST = 5_000  # suggestions since the last, however many before: their entries weigh about what a snapshot does
LEAST_AT_END = 100

# What no suggestion comes of: how they are evaluated, shown and compared. Files of it may change.
BESIDE = frozenset({
    "__main__", "_dask", "_executor", "_flight", "_minimize", "_objective", "_processes", "_run", "_stops", "_workers",
    "cli", "diagnostics", "integrations", "machine", "plot", "problems", "progress", "recorded", "reference",
})  # fmt: skip


class Snapshots:
    """Takes snapshots of a strategy, its proposals and its generators, and brings them back; or bookmarks, for an ask.

    Parameters
    ----------
    strategy : Strategy
    proposals : Proposals
    generators : sequence of numpy.random.Generator
        Made of the seed in the journal's header.
    known : sequence of object
        What the strategy refers to and the journal holds otherwise: space, history, pending suggestions, timings.
    """

    def __init__(
        self,
        strategy: Strategy,
        proposals: Proposals,
        generators: Sequence[np.random.Generator],
        known: Sequence[Any],
    ) -> None:
        self._strategy, self._proposals, self._generators = strategy, proposals, generators
        self._known = [*known, *generators]
        self._n_kept = self._n_resumed = 0  # suggestions at the last snapshot, and when the run was taken up
        self._possible = True
        self._needed = self._owed = False  # by the next suggestion; by one that is in the journal
        self._entries = b""  # digest of them

    def bookmark(self) -> Callable[[], None] | None:
        """What takes strategy, proposals and generators back to where they are now; None where that is not possible."""
        try:
            strategy = copy.deepcopy(vars(self._strategy), {id(each): each for each in self._known})
        except Exception:  # something of the user's own
            return None
        counts, states = self._proposals.counts, [each.bit_generator.state for each in self._generators]

        def back() -> None:
            parts = vars(self._strategy)
            parts.update(strategy)
            for name in parts.keys() - strategy.keys():
                del parts[name]
            self._proposals.counts = counts
            set_states(self._generators, states)

        return back

    def note(self, entry: Entry) -> None:
        """Take note of an entry that the journal was given, each of them once, in their order."""
        self._entries = _behind(self._entries, entry)
        self._owed |= self._needed and entry.kind == "ask"

    def need(self) -> None:
        """Note that the next suggestion will not be that of asking what the journal has: one was broken off, say."""
        self._needed = True

    def due(self, *, at_end: bool) -> bool:
        """Whether a suggestion was made that needs one, or enough of them since the last."""
        n = self._proposals.n_suggested
        if self._owed:
            return self._possible
        if not self._possible or n == self._n_resumed:
            return False
        return n - self._n_kept >= (LEAST_AT_END if at_end else max(LEAST, min(SHARE * self._n_kept, MOST)))

    def take(self, extra: Any) -> Entry | None:
        """An entry with what decides about the next suggestion, and `extra`; None where that cannot be written."""
        parts = {"strategy": vars(self._strategy), "counts": self._proposals.counts, "extra": extra}
        self._n_kept = self._proposals.n_suggested
        try:
            written = encode(parts, self._known)
        except TypeError:  # something of the user's own: a surrogate, say
            self._possible = False
            return None
        state = {"build": build(), "generators": [state_of(each) for each in self._generators], "parts": written}
        return Entry("snapshot", state={"digest": _sealed(self._entries, state), **state})

    def kept(self) -> None:
        """Note that what was taken is in the journal: until then, a suggestion that needs one still does."""
        self._needed = self._owed = False

    def restore(self, entries: Sequence[Entry]) -> tuple[int, Any] | None:
        """Bring back the newest that is of use; return its index and its `extra`, or None with nothing changed.

        The entries are all that the journal has; they are taken note of. What was known when the snapshot was taken is
        yet to be booked.
        """
        self._entries, seals = b"", {}
        for index, entry in enumerate(entries):
            if entry.kind == "snapshot":
                seals[index] = self._entries
            self.note(entry)
        for index, seal in reversed(seals.items()):
            # Whatever is wrong with a file that others can write, asking again is right.
            with contextlib.suppress(Exception):
                state = dict(entries[index].state)
                if state.pop("digest") == _sealed(seal, state) and state["build"] == build():
                    return index, self._restore(decode(state["parts"], self._known), state["generators"])
        return None

    def resumed(self) -> None:
        """Note that everything in the journal is carried out."""
        self._n_resumed = self._proposals.n_suggested

    def _restore(self, parts: dict[str, Any], generators: Sequence[Any]) -> Any:
        """Check everything first, so that nothing is left to go wrong once the first part is changed."""
        strategy, counts, (asked, iteration) = parts["strategy"], parts["counts"], parts["extra"]
        if not vars(self._strategy).keys() <= strategy.keys() or not all(isinstance(name, str) for name in strategy):
            raise ValueError("the snapshot lacks a part of the strategy")
        for name, ours in vars(self._strategy).items():
            if type(ours).__module__.startswith(__package__) and type(strategy[name]) is not type(ours):
                raise ValueError(f"the snapshot's {name} is a {type(strategy[name]).__name__}")
        if len(counts) != 3 or not all(type(count) is int and count >= 0 for count in counts):
            raise ValueError("the snapshot's counts are no numbers")
        if not isinstance(asked, int | float) or not isinstance(iteration, int | float | None):
            raise ValueError("the snapshot's seconds are no numbers")
        set_all(self._generators, generators)
        vars(self._strategy).update(strategy)
        self._proposals.counts = counts
        self._n_kept = self._proposals.n_suggested
        return asked, iteration


def _behind(before: bytes, entry: Entry) -> bytes:
    """Digest of entries and one more; the same whether that was just made or read."""
    if entry.kind in ("snapshot", "explain"):  # compacting leaves others out; no suggestion comes of a reason
        return before
    digest = hashlib.blake2b(before, digest_size=16)
    digest.update(json.dumps([entry.kind, *entry.ids, entry.prior, entry.state]).encode())
    if entry.rows is not None:
        digest.update(entry.rows.tobytes())
    if entry.y is not None:
        digest.update(np.where(np.isnan(entry.y), np.nan, entry.y).tobytes())
    if entry.noise_std is not None:
        digest.update(entry.noise_std.tobytes())
    return digest.digest()


def _sealed(entries: bytes, state: dict[str, Any]) -> str:
    """Digest of a snapshot behind entries whose digest that is."""
    return hashlib.blake2b(entries + json.dumps(state).encode(), digest_size=16).hexdigest()


@functools.cache
def build() -> str:
    """Digest of the files that suggestions come of: what a snapshot holds means the same to the same code alone."""
    return _digest(Path(__file__).parent)


def _digest(root: Path) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for path in sorted(root.rglob("*")):
        place = path.relative_to(root)
        if path.suffix in (".py", ".so", ".pyd") and place.parts[0].removesuffix(".py") not in BESIDE:
            digest.update(place.as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()

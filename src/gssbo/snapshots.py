"""Snapshots: what an optimizer has learnt, in its journal now and then, so that a resume need not ask everything again.

A snapshot is a shortcut, not a record: whatever was asked and told stands in the journal without it. It is of use to
the very build of the package that took it; to any other, and where the file is cut before it, asking again is the way.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gssbo.entry import Entry
from gssbo.journal.generators import set_state, state_of
from gssbo.journal.graph import decode, encode
from gssbo.proposals import Proposals
from gssbo.strategy import Strategy

__all__ = ["Snapshots"]

LEAST, SHARE = 500, 0.25  # suggestions since the last, and their share of those before
LEAST_AT_END = 100


class Snapshots:
    """Takes snapshots of a strategy, its proposals and its generators, and brings them back.

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

    def due(self, *, at_end: bool = False) -> bool:
        """Whether enough was suggested since the last one."""
        n = self._proposals.n_suggested
        if not self._possible or n == self._n_resumed:
            return False
        return n - self._n_kept >= (LEAST_AT_END if at_end else max(LEAST, SHARE * self._n_kept))

    def take(self, extra: Any) -> Entry | None:
        """An entry with what decides about the next suggestion, and `extra`; None where that cannot be written."""
        parts = {"strategy": vars(self._strategy), "counts": self._proposals.counts, "extra": extra}
        self._n_kept = self._proposals.n_suggested
        try:
            written = encode(parts, self._known)
        except TypeError:  # something of the user's own: a surrogate, say
            self._possible = False
            return None
        generators = [state_of(generator) for generator in self._generators]
        return Entry("snapshot", state={"build": build(), "generators": generators, "parts": written})

    def latest(self, entries: Sequence[Entry]) -> tuple[int, Callable[[], Any]] | None:
        """Index of the newest that is of use, and what brings it back and returns its `extra`.

        What was known when it was taken has to be booked before that is called.
        """
        for index in range(len(entries) - 1, -1, -1):
            state = entries[index].state
            if entries[index].kind != "snapshot" or state.get("build") != build():
                continue
            try:
                parts = decode(state["parts"], self._known)
                return index, functools.partial(self._restore, parts, state["generators"])
            except (ValueError, KeyError, TypeError, AttributeError, ImportError, IndexError):
                continue
        return None

    def resumed(self) -> None:
        """Note that everything in the journal is carried out."""
        self._n_resumed = self._proposals.n_suggested

    def _restore(self, parts: dict[str, Any], generators: Sequence[Any]) -> Any:
        for generator, state in zip(self._generators, generators, strict=True):
            set_state(generator, state)
        vars(self._strategy).update(parts["strategy"])
        self._proposals.counts = parts["counts"]
        self._n_kept = self._proposals.n_suggested
        return parts["extra"]


@functools.cache
def build() -> str:
    """Digest of the package's files: what a snapshot holds means the same to the same code alone."""
    digest = hashlib.blake2b(digest_size=16)
    root = Path(__file__).parent
    for path in sorted(root.rglob("*")):
        if path.suffix in (".py", ".so", ".pyd"):
            digest.update(path.relative_to(root).as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()

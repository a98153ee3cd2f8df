"""The numbers of suggestions in a journal: whether its entries agree about them, one after the other."""

from __future__ import annotations

import math

from gssbo.entry import Entry
from gssbo.journal.plain import shown

__all__ = ["Numbering"]

LARGEST_GAP = 1_000_000  # numbers that may be missing where lines were left out: a list is as long as they are many


class Numbering:
    """What was asked, told and forgotten so far.

    Parameters
    ----------
    gaps : bool
        Whether numbers may be missing, as they are where lines were left out.

    Examples
    --------
    >>> numbering = Numbering()
    >>> numbering.enter(Entry("ask", ids=(0, 1)))
    >>> numbering.enter(Entry("tell", ids=(1, None)))
    >>> numbering.enter(Entry("forget", ids=(1,)))
    Traceback (most recent call last):
    ValueError: id must be of a pending suggestion, got 1, which was told
    """

    def __init__(self, *, gaps: bool = False) -> None:
        self._n_asked = 0
        self._told: set[int] = set()
        self._failed: set[int] = set()
        self._forgotten: set[int] = set()
        self._gaps, self._spare = False, 0
        if gaps:
            self.allow_gaps()

    def allow_gaps(self) -> None:
        """Note that a line was left out, which may have had numbers of its own."""
        if not self._gaps:
            self._gaps, self._spare = True, LARGEST_GAP

    def enter(self, entry: Entry) -> None:
        """Go on to the next entry.

        Raises
        ------
        ValueError
            If its numbers do not follow from the entries before; nothing is entered then.
        """
        numbers = [number for number in entry.ids if number is not None]
        if not numbers:
            return
        if len(set(numbers)) < len(numbers):
            raise ValueError(f"id must hold each number once, got {shown(numbers)}")
        if entry.kind in ("ask", "announce"):
            self._ask(numbers)
            return
        if entry.kind == "explain":
            self._explain(numbers)
            return
        if known := self._told.intersection(numbers):
            rule = "a suggestion that was not told before" if entry.kind == "tell" else "a pending suggestion"
            raise ValueError(f"id must be of {rule}, got {shown(min(known))}, which was told")
        if entry.kind == "forget" and (known := self._forgotten.intersection(numbers)):
            raise ValueError(f"id must be of a pending suggestion, got {shown(min(known))}, which was forgotten")
        if (highest := max(numbers)) >= self._n_asked:
            if highest + 1 - self._n_asked > self._spare:
                raise ValueError(f"id must be of a suggestion, got {shown(highest)} where {self._n_asked} were asked")
            self._go_to(highest + 1)
        (self._told if entry.kind == "tell" else self._forgotten).update(numbers)
        if entry.y is not None:
            each = zip(entry.ids, entry.y.tolist(), strict=True)
            self._failed.update(number for number, y in each if number is not None and math.isnan(y))

    def _explain(self, numbers: list[int]) -> None:
        """What failed may be explained; that it did may be in a line that was left out."""
        for number in numbers:
            if number not in self._failed and (number in self._told or not self._gaps):
                raise ValueError(f"id must be of an evaluation that failed, got {shown(number)}")

    def _ask(self, numbers: list[int]) -> None:
        first = numbers[0]
        if not 0 <= first - self._n_asked <= self._spare or numbers != list(range(first, first + len(numbers))):
            raise ValueError(f"id must count on from {self._n_asked}, got {shown(numbers)}")
        self._go_to(first)
        self._n_asked += len(numbers)

    def _go_to(self, number: int) -> None:
        self._spare -= number - self._n_asked
        self._n_asked = number

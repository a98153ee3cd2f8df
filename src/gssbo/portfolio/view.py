"""What a searcher sees of the history, and what every searcher can do.

Notation
--------
X, y        points in the unit cube (n, d) and responses, larger is better (n,)
origin      which searcher suggested each of them, -1 for the design and what was told from outside (n,)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gssbo._typing import FloatArray, IndexArray

__all__ = ["OUTSIDE", "Searcher", "View"]

OUTSIDE = -1


@dataclass(frozen=True)
class View:
    """Observations a suggestion stands on: all of a short history, a part of a long one; `best` is always in it."""

    X: FloatArray
    y: FloatArray
    origin: IndexArray
    rows: IndexArray
    """Indices into the history (n,), ascending."""

    @property
    def best(self) -> int:
        """Index into the view of the largest response, the first of equals."""
        return int(np.argmax(self.y))

    def only(self, keep: NDArray[np.bool_] | IndexArray) -> View:
        """The part that `keep` (mask or indices) points to."""
        return View(self.X[keep], self.y[keep], self.origin[keep], self.rows[keep])


class Searcher(Protocol):
    """One way to look for better points."""

    def suggest(self, view: View, pending: FloatArray, rng: np.random.Generator) -> FloatArray | None:
        """A point (d,) in the unit cube, or None when there is none to be had this way."""
        ...

    def observe(self, view: View, x: FloatArray, y: float) -> float:
        """Learn what a suggestion gave; `view` is what was known before.

        Returns the gain to credit: how far y exceeds the best response of what this searcher builds on.
        """
        ...

    @property
    def explains(self) -> bool:
        """Whether the searcher's model explains most of what it last saw; True before it has seen anything."""
        ...

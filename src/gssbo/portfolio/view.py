"""What a searcher sees of the history, and what every searcher can do.

Notation
--------
X, y        points in the unit cube (n, d) and responses, larger is better (n,)
origin      which searcher suggested each of them, -1 for the design and what was told from outside (n,)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gssbo._typing import FloatArray, IndexArray
from gssbo.responses import known_noise

__all__ = ["OUTSIDE", "Searcher", "View"]

OUTSIDE = -1


@dataclass(frozen=True)
class View:
    """Observations a suggestion stands on: all of a short history, a part of a long one; `best` is always in it."""

    X: FloatArray
    y: FloatArray
    origin: IndexArray
    rows: IndexArray
    """Indices into the history (n,)."""
    noise_std: FloatArray | None = None
    """Known standard deviations of the noise (n,) in units of y, 0 where it is not; None if nowhere."""
    told: FloatArray | None = None
    """Responses as they were told (n,), NaN of what failed, where `y` has others in the place of some; else None."""
    standing: NDArray[np.bool_] | None = None
    """Where most observations are repeats, which (n,) stand for their point; else None."""

    @property
    def best(self) -> int:
        """Index into the view of the largest response, the first of equals."""
        return int(np.argmax(self.y))

    @property
    def one_each(self) -> IndexArray:
        """Ascending indices of what stands for each point, the best and the newest; all where few are repeated."""
        if self.standing is None:
            return np.arange(len(self.y))
        standing = self.standing.copy()
        standing[[self.best, -1]] = True
        return np.flatnonzero(standing)

    @cached_property
    def void(self) -> bool:
        """Whether everything failed."""
        return self.told is not None and bool(np.isnan(self.told).all())

    @property
    def valued(self) -> View:
        """The part that did not fail, with what was told; all of it where everything did.

        The newest of it stands for each point.
        """
        if self.told is None or self.void:
            return self
        keep = ~np.isnan(self.told)
        part = replace(self.only(keep), y=self.told[keep], told=None)
        if part.standing is not None:
            part.standing[:] = False
            part.standing[-1 - np.unique(part.X[::-1], axis=0, return_index=True)[1]] = True
        return part

    @property
    def newest(self) -> int:
        """Index into the history of the newest observation, which tells one view of it from another."""
        return int(self.rows[-1])

    @cached_property
    def stalled(self) -> bool:
        """Whether the newest 10 + 4 d observations gained little over all before.

        At most a thousandth, that is, of what the best before has over the median.
        """
        recent = 10 + 4 * self.X.shape[1]
        if len(self.y) <= 2 * recent:
            return False
        before = float(self.y[:-recent].max())
        return not float(self.y.max()) - before > 1e-3 * (before - float(np.median(self.y)))

    def known_noise(self, scale: FloatArray | float) -> FloatArray | None:
        """Known noise variances (n,) of the responses over a scale (n,) or 1; None where none is known."""
        return None if self.noise_std is None else known_noise(self.noise_std, scale)

    def only(self, keep: NDArray[np.bool_] | IndexArray) -> View:
        """The part that `keep` (mask or indices) points to."""
        noise_std = None if self.noise_std is None else self.noise_std[keep]
        told = None if self.told is None else self.told[keep]
        standing = None if self.standing is None else self.standing[keep]
        return View(self.X[keep], self.y[keep], self.origin[keep], self.rows[keep], noise_std, told, standing)


class Searcher(Protocol):
    """One way to look for better points."""

    def suggest(self, view: View, pending: FloatArray, rng: np.random.Generator) -> FloatArray | None:
        """A point (d,) in the unit cube, or None when there is none to be had this way."""
        ...

    def observe(self, view: View, x: FloatArray, y: float, *, asked: FloatArray) -> float:
        """Learn what a suggestion gave; `view` is what was known before, x the realisable point for `asked`.

        Returns the gain to credit: how far y exceeds the best response of what this searcher builds on.
        """
        ...

    @property
    def explains(self) -> bool:
        """Whether the searcher's model explains most of what it last saw; True before it has seen anything."""
        ...

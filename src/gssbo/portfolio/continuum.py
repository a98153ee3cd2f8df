"""Continuum: candidates, and climbs over them, where all parameters are real."""

from __future__ import annotations

import numpy as np

from gssbo._typing import FloatArray
from gssbo.map_gp import Improvement

__all__ = ["Continuum"]


class Continuum:
    """The points of the unit cube, none of which is worth a look of its own; `Lattice` says what the methods do.

    Parameters
    ----------
    dim : int
        d.
    """

    def __init__(self, dim: int) -> None:
        self._dim = dim

    def anywhere(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Points (n, d) drawn uniformly."""
        return rng.random((n, self._dim))

    def spread(self, candidates: FloatArray, centre: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Candidates (n, d) as they are."""
        return candidates

    def open(self, points: FloatArray, known: FloatArray) -> FloatArray:
        """All of points (n, d): hardly one is known."""
        return points

    def climb(
        self,
        improvement: Improvement,
        start: FloatArray,
        box: tuple[FloatArray, FloatArray],
        known: FloatArray,
        *,
        max_evaluations: int,
        rng: np.random.Generator,
    ) -> tuple[FloatArray, float]:
        """Where a climb from `start` (d,) in the box (low, high) ends, and the improvement there."""
        return improvement.climb(start, box, max_evaluations=max_evaluations)

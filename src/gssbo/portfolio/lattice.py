"""Lattice: candidates, and climbs over them, where some parameters are whole numbers or categories.

A point between values is rounded before it is evaluated, and then seldom the one that a model thought best: here the
model is asked about points that there are, and that nothing is known of yet.

References
----------
1. Garrido-Merchan and Hernandez-Lobato, Dealing with categorical and integer-valued variables in Bayesian optimization
   with Gaussian processes, Neurocomputing 380, 2020.
2. Wan, Nguyen, Ha, Ru, Lu and Osborne, Think global and act local: Bayesian optimisation over high-dimensional
   categorical and mixed search spaces, ICML 2021 (trust regions by the number of categories that differ).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from gssbo._typing import FloatArray, IndexArray
from gssbo.map_gp import Improvement
from gssbo.space import Space
from gssbo.space.parameter import Discrete

__all__ = ["Lattice", "unknown"]

FEW = 12  # values of a parameter that are chosen among; more are steps on a scale
MANY = 256  # values of a parameter from which so many are tried beside those that the model knows
CHANGES = np.array([0.0, 1.0, 2.0, 4.0])  # choices that a candidate makes anew, on average
ROUNDS = 4  # of single changes
ENTRIES, LEAST = 10_000_000, 100  # of the points beside one, and of these at the least


class Lattice:
    """The points of a space, of whose columns some have few values.

    Parameters
    ----------
    space : Space
        Discrete.
    repeats : bool
        Whether what is known may be evaluated again.
    """

    def __init__(self, space: Space, *, repeats: bool = False) -> None:
        self._space, self._repeats = space, repeats
        self._fixed = np.zeros(space.dim, dtype=bool)  # columns that no climb moves
        self._choices: list[tuple[slice, int, int]] = []  # columns of a parameter of few values, its number, how many
        self._steps: list[tuple[int, float]] = []  # column of a parameter of many, and how far one step is
        for i, kind in enumerate(space.kinds):
            columns = space.unit_columns(i)
            if not isinstance(kind, Discrete) or kind.n_columns == 0:
                continue
            count = int(kind.n_values)
            if kind.n_columns > 1 or count <= FEW:
                self._fixed[columns] = True
                self._choices.append((columns, i, count))
            else:
                self._steps.append((columns.start, 1.0 / count))

    def anywhere(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Points (n, D) drawn uniformly."""
        return self._space.place(rng.random((n, self._space.n_draws)))

    def spread(self, candidates: FloatArray, centre: FloatArray, rng: np.random.Generator) -> FloatArray:
        """The points nearest to candidates (n, D), but for some choices made anew, the others as at the centre (D,)."""
        n, count = len(candidates), len(self._choices)
        share = rng.choice(np.append(CHANGES / max(count, 1), 1.0), size=n)
        for columns, number, k in self._choices:
            anew = rng.random(n) < share
            drawn = self._values(number, rng.integers(k, size=n))
            candidates[:, columns] = np.where(anew[:, None], drawn, centre[columns])
        return np.ascontiguousarray(self._space.project(candidates))

    def beside(self, x: FloatArray, rng: np.random.Generator, known: FloatArray) -> FloatArray:
        """Points (n, D) that differ from x (D,) in one choice or by one step: all of them, or some of very many.

        Of a choice among very many those of the known points (m, D), and others at random.
        """
        options = [self._options(columns, number, k, known, rng) for columns, number, k in self._choices]
        counts = [*map(len, options), *(2 for _ in self._steps)]
        most = max(ENTRIES // len(x), LEAST)
        chosen = (
            np.arange(sum(counts)) if sum(counts) <= most else np.sort(rng.choice(sum(counts), most, replace=False))
        )
        found = np.tile(x, (len(chosen), 1))
        edges = np.cumsum([0, *counts])
        rows = [slice(*np.searchsorted(chosen, [start, stop])) for start, stop in pairwise(edges)]
        codes = [chosen[each] - start for each, start in zip(rows, edges, strict=False)]
        for (columns, number, _), option, each, code in zip(self._choices, options, rows, codes, strict=False):
            found[each, columns] = self._values(number, option[code])
        n = len(self._choices)
        for (column, step), each, code in zip(self._steps, rows[n:], codes[n:], strict=True):
            found[each, column] = np.clip(x[column] + np.array([-step, step])[code], 0.0, 1.0)
        points = self._space.project(found)
        return np.ascontiguousarray(points[(points != x).any(axis=1)])

    def _options(self, columns: slice, number: int, k: int, known: FloatArray, rng: np.random.Generator) -> IndexArray:
        """Codes (m,) that a parameter of k values is changed to."""
        if k <= MANY:
            return np.arange(k)
        return np.union1d(self._space.kinds[number].decode(known[:, columns]), rng.integers(k, size=MANY))

    def _values(self, number: int, codes: IndexArray) -> FloatArray:
        """Columns (n, q) of values of a parameter; kept for all k values of one, they would be k^2 numbers."""
        kind = self._space.kinds[number]
        return kind.encode(kind.at(codes))

    def open(self, points: FloatArray, known: FloatArray) -> FloatArray:
        """Those of points (n, D) that may be evaluated: not the known ones (m, D), unless they may be repeated."""
        return points if self._repeats else unknown(points, known)

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
        """Where a climb from `start` (D,) ends, first by single changes and then in the box; the improvement there."""
        x = start
        value = float(improvement.at(x[None, :])[0])
        for _ in range(ROUNDS):
            others = self.open(self.beside(x, rng, improvement.gp.X_train_), known)
            if len(others) == 0:
                break
            scores = improvement.at(others)
            best = int(np.argmax(scores))
            if not scores[best] > value:
                break
            x, value = others[best], float(scores[best])
        if self._fixed.all():
            return x, value
        low, high = box
        within = np.where(self._fixed, x, np.minimum(low, x)), np.where(self._fixed, x, np.maximum(high, x))
        top, height = improvement.climb(x, within, max_evaluations=max_evaluations)
        if not self._steps:
            return top, height
        top = self._space.project(top[None, :])
        height = float(improvement.at(top)[0])
        return (top[0], height) if height > value and len(self.open(top, known)) else (x, value)


def unknown(points: FloatArray, known: FloatArray) -> FloatArray:
    """Those of points (n, D) that are not, to the bit, among the known (m, D)."""
    taken = {row.tobytes() for row in known + 0.0}
    mask = np.array([row.tobytes() not in taken for row in points + 0.0], dtype=bool)
    different: FloatArray = points[mask]
    return different

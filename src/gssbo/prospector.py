"""Prospectors: where feasible points of a space too large to list are looked for.

Where trying finds few, they walk from points that are known. The first of these meet the linear constraints, or are
what a descent of how far the constraints are from being met comes to; and where trying finds none, as it takes longer,
ends of what the linear constraints leave, and what a population comes to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint

from gssbo._typing import FloatArray
from gssbo.evolution import evolve
from gssbo.exceptions import InfeasibleError, SpaceExhausted
from gssbo.history import History
from gssbo.pending import Pending
from gssbo.space import Space
from gssbo.walk import Terrain, descend, steps, walk

__all__ = ["Prospector", "Score", "different"]

BATCH = 1_000  # points at random, for the best of them
STARTS = 64  # feasible points told, the best ones, that are enough to look for others from
ENDS = 8  # of the region of linear constraints, looked for where trying found nothing
APART = 0.25  # how close a point may be to one that is waited for, by the distance to the nearest that is told
SEEDS = 32  # choices of the other parameters for which the real ones are solved for
EQUALITIES = (
    "; equalities between real parameters cannot be met by trying: those of a LinearConstraint are looked for; "
    "else express one parameter through the others, or allow some slack"
)

Score = Callable[[FloatArray], FloatArray]
"""score(U): what the unit points (m, D) promise (m,), larger is better."""

Mask = Callable[[FloatArray], NDArray[np.bool_]]


class Effort(NamedTuple):
    """How much is looked at in a thin region."""

    walks: int  # to points that are scored, of `paces` steps each
    paces: int
    near: int  # points tried around the best that is known
    climbs: int  # times that points are tried around the highest score, `around` each time
    around: int


FREE = Effort(walks=64, paces=8, near=200, climbs=10, around=50)
CALLS = Effort(walks=24, paces=3, near=32, climbs=4, around=24)  # where constraints are the user's functions


class Prospector:
    """Looks for feasible points of a space, from those that are told or pending, or where none is.

    Parameters
    ----------
    space : Space
    history : History
    pending : Pending
    free : callable
        Mask (m,) of the realisable unit points (m, D) that may be suggested, constraints aside.
    """

    def __init__(self, space: Space, history: History, pending: Pending, free: Mask) -> None:
        self._space, self._history, self._pending, self._free = space, history, pending, free
        self._met = np.empty(0, dtype=np.int8)  # whether points told are feasible, 1 or 0; -1 where nobody asked
        self._effort = FREE if all(isinstance(each, LinearConstraint) for each in space.constraints) else CALLS

    def walked(
        self, n: int, found: FloatArray, rng: np.random.Generator, score: Callable[[], Score] | None
    ) -> FloatArray:
        """Those that are found and others, up to n (n, D), that walks from known feasible points come to.

        `score` makes, for each of them, the score that it should have the highest of; else they are spread.
        """
        told, asked = self._told(), self._asked()
        starts = np.vstack([told, asked, found])
        if len(starts) == 0:
            starts = self.first(rng)
        if len(starts) == 0:
            return found
        if score is None:
            others = self._beside(starts, self._spread(n, starts, rng), n, rng)
            return different(np.vstack([found, others]))[:n]
        effort, terrain = self._effort, self._terrain
        best, starts = starts[0], rng.permutation(starts)
        points = walk(starts, effort.walks, terrain, rng, n_steps=effort.paces)
        others = np.vstack([starts, points])
        near = steps(best, others, effort.near, terrain, rng)
        points = different(np.vstack([starts, near, points]))
        while len(found) < n:
            height = score()
            heights = height(points)
            for _ in range(effort.climbs):
                top = points[int(np.argmax(heights))]
                new = steps(top, points, effort.around, terrain, rng)
                points, heights = np.vstack([points, new]), np.append(heights, height(new))
            # From what is waited for, feasible or not.
            distances = _distances(points, np.vstack([self._pending.unit, found]))
            free = self._free(points) & (distances > 0.0)
            apart = free & (distances >= APART * _distances(points, told))
            if not free.any():
                break
            left = np.flatnonzero(apart if apart.any() else free)
            highest = left[int(np.argmax(heights[left]))]
            found = np.vstack([found, points[highest : highest + 1]])
        return found

    def sought(self, n: int, rng: np.random.Generator, *, tried: int) -> FloatArray:
        """Up to n different points (n, D) that may be suggested, by all that takes longer than the `tried` in vain.

        From an end of what the linear constraints leave after the other, or from what a population comes to.

        Raises
        ------
        SpaceExhausted
            If all that are found are told or pending.
        InfeasibleError
            If none is found.
        """
        space = self._space
        starts = np.vstack([self._told(), self._asked()])
        ends = found = starts[:0]
        for row in space.from_unit(space.place(rng.random((ENDS, space.n_draws)))):
            new = space.to_unit(space.linear_extremes(np.stack([row]), rng))
            ends = np.vstack([ends, new])
            if self._meets(new).any():
                starts = np.vstack([starts, new])
                found = self._beside(starts, starts, max(n, len(starts)), rng)
            if len(found):
                return different(found)[:n]
        new = self._evolved(ends, rng, most=tried // 3)
        if len(new):
            starts = np.vstack([starts, new])
            found = self._beside(starts, starts, max(n, len(starts)), rng)
        hopeless = space.has_equality and self._effort is CALLS  # whatever there is beside those that are known
        if len(starts) == 0 or (len(found) == 0 and hopeless):
            raise InfeasibleError(
                f"constraints must leave points to suggest, got none among {tried} tried{self._why(rng)}"
            )
        if len(found) == 0:
            raise SpaceExhausted(
                "nothing is left to suggest: all feasible points that were found are told "
                f"({self._history.n_distinct} distinct) or pending ({len(self._pending)})"
            )
        return different(found)[:n]

    def first(self, rng: np.random.Generator) -> FloatArray:
        """Feasible unit points (m, D) where none is known: by the linear constraints, else one by descent; or none."""
        space = self._space
        rows = space.linear_centres(space.from_unit(space.place(rng.random((SEEDS, space.n_draws)))))
        rows = rows[space.feasible(rows)]
        return space.to_unit(rows) if len(rows) else self._descended(BATCH, rng)

    def _meets(self, U: FloatArray) -> NDArray[np.bool_]:
        return self._space.feasible(self._space.from_unit(U))

    def _miss(self, U: FloatArray) -> FloatArray:
        return self._space.miss(self._space.from_unit(U))

    @property
    def _terrain(self) -> Terrain:
        space = self._space
        project = space.project if len(space.faces[0]) else space.settled
        return Terrain(project, self._meets, space.faces)

    def _told(self) -> FloatArray:
        """Feasible unit points (m, D) that are told, 64 or more if there are so many, the best ones first."""
        history = self._history
        met = np.full(len(history), -1, dtype=np.int8)
        met[: len(self._met)] = self._met
        order = np.argsort(-history.y, kind="stable")
        known = [history.unit[:0]]
        for i in range(0, len(order), STARTS):
            some = order[i : i + STARTS]
            new = some[met[some] < 0]
            met[new] = self._space.feasible(history.X[new])
            known.append(history.unit[some[met[some] > 0]])
            if sum(map(len, known)) >= STARTS:
                break
        self._met = met
        return np.vstack(known)

    def _asked(self) -> FloatArray:
        """Feasible unit points (m, D) that are pending."""
        pending = self._pending.unit
        return pending[self._meets(pending)]

    def _beside(self, starts: FloatArray, walkers: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
        """Points (m, D) that may be suggested, of what n walks of the walkers (s, D) come to, then of the starts."""
        points = np.vstack([walk(walkers, n, self._terrain, rng), starts])
        return points[self._free(points)]

    def _spread(self, n: int, known: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Starts (m, D) of n walks: where descents from anywhere end, then some of the known ones."""
        fresh = [self._descended(1, rng) for _ in range(min(n, STARTS))]
        return np.vstack([*fresh, rng.permutation(known)])

    def _descended(self, n: int, rng: np.random.Generator) -> FloatArray:
        """A feasible unit point (1, D) that is reached from the best of n random ones, or (0, D)."""
        space = self._space
        starts = space.place(rng.random((n, space.n_draws)))
        if space.has_equality:  # what is found meets it by rounding alone
            return starts[:0]
        return descend(starts, self._miss, space.project, rng)

    def _evolved(self, ends: FloatArray, rng: np.random.Generator, *, most: int) -> FloatArray:
        """Feasible unit points (m, D) that a population comes to, from ends (k, D) of linear constraints and others."""
        space = self._space
        if space.has_equality:  # as for a descent
            return ends[:0]
        starts = np.vstack([ends, space.place(rng.random((BATCH, space.n_draws)))])
        found = evolve(starts, self._miss, space.project, rng, most=most)
        met = found[self._meets(found)]
        return met if len(met) else descend(found[:1], self._miss, space.project, rng)

    def _why(self, rng: np.random.Generator) -> str:
        space = self._space
        undefined = space.undefined(space.from_unit(space.place(rng.random((BATCH, space.n_draws)))))
        if undefined is not None:
            return f"; {undefined} is NaN at all of {BATCH} tried again"
        unreachable = space.unreachable
        if unreachable is not None:
            return f"; {unreachable}"
        if space.has_equality:
            return EQUALITIES
        return "; a point that meets them, told, enqueued or given as x0, shows where to look for others"


def different(points: FloatArray) -> FloatArray:
    """Points (m, D) without repeats, in order of their first appearance."""
    first: dict[bytes, int] = {}
    for i, point in enumerate(points):
        first.setdefault(point.tobytes(), i)
    return points[list(first.values())]


def _distances(points: FloatArray, others: FloatArray) -> FloatArray:
    """Distances (m,), the longest side counts, of points (m, D) to the nearest of others (k, D); 1 if there is none."""
    nearest = np.ones(len(points))
    for each in others:
        np.minimum(nearest, np.abs(points - each).max(axis=1), out=nearest)
    return nearest

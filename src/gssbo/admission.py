"""Admission: which points may be suggested, whatever strategy proposes them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint

from gssbo._typing import FloatArray, IndexArray
from gssbo.evolution import evolve
from gssbo.exceptions import InfeasibleError, SpaceExhausted
from gssbo.history import History
from gssbo.pending import Pending
from gssbo.space import LISTED, Rows, Space
from gssbo.walk import Terrain, descend, steps, walk

__all__ = ["Admission", "Score"]

EFFORT = 100_000  # random points tried before a constrained space counts as infeasible
SCARCE = 10 * EFFORT  # points of doubles, of which so many tried may all be told
BATCH = 1_000
NEIGHBOURS = 256
SCORED = 4 * BATCH  # points of a listed space
STARTS = 64  # feasible points told, the best ones, that are enough to look for others from
ENDS = 8  # of the region of linear constraints, looked for where trying found nothing
APART = 0.25  # how close a point may be to one that is waited for, by the distance to the nearest that is told
SEEDS = 32  # choices of the other parameters for which the real ones are solved for

Score = Callable[[FloatArray], FloatArray]
"""score(U): what the unit points (m, D) promise (m,), larger is better."""


class Search(NamedTuple):
    """How much is looked at in a thin region."""

    walks: int  # to points that are scored, of `paces` steps each
    paces: int
    near: int  # points tried around the best that is known
    climbs: int  # times that points are tried around the highest score, `around` each time
    around: int


FREE = Search(walks=64, paces=8, near=200, climbs=10, around=50)
CALLS = Search(walks=24, paces=3, near=32, climbs=4, around=24)  # where constraints are the user's functions


class Admission:
    """Mask of what may be suggested: feasible points that are neither pending nor, unless repeats are allowed, told.

    Where repeats are allowed and every feasible point of a finite space is pending, they may be suggested again; so,
    from `again`, where a search ends without another one, as in a real interval of a few doubles.

    Parameters
    ----------
    space : Space
    history : History
    pending : Pending
    repeats : bool
        Whether points told may be suggested again.

    Examples
    --------
    >>> space = Space({"n": range(3), "c": ["u", "v"]})
    >>> history, pending = History(space.dim, space.empty()), Pending(space.dim)
    >>> rows, _ = space.read("x", [{"n": 0, "c": "u"}, {"n": 0, "c": "v"}, {"n": 2, "c": "v"}])
    >>> history.append(rows, space.to_unit(rows), np.zeros(3))
    >>> admission = Admission(space, history, pending, repeats=False)
    >>> found = admission.some(9, np.random.default_rng(0))
    >>> sorted(tuple(point.values()) for point in space.show(space.from_unit(found)))
    [(1, 'u'), (1, 'v'), (2, 'u')]
    """

    def __init__(self, space: Space, history: History, pending: Pending, *, repeats: bool) -> None:
        self._space, self._history, self._pending = space, history, pending
        self.repeats = repeats
        self._met = np.empty(0, dtype=np.int8)  # whether points told are feasible, 1 or 0; -1 where nobody asked
        self._met_at = np.empty(0, dtype=np.int8)  # the same of the points of a listed space
        self._search = FREE if all(isinstance(each, LinearConstraint) for each in space.constraints) else CALLS

    def __call__(self, U: FloatArray) -> NDArray[np.bool_]:
        """Mask (m,) of realisable unit points (m, D) that may be suggested."""
        mask = self._free(U)
        if self._space.constrained:
            left = np.flatnonzero(mask)
            mask[left] = self._meets(U[left])
        return mask

    def _meets(self, U: FloatArray) -> NDArray[np.bool_]:
        return self._space.feasible(self._space.from_unit(U))

    def _free(self, U: FloatArray) -> NDArray[np.bool_]:
        """Mask (m,) of realisable unit points (m, D) that are neither pending nor told, where that matters."""
        rows = self._space.from_unit(U)
        waited_for = self._pending.seen(rows)
        every = self.repeats and waited_for.any() and self._all_pending()
        mask = np.ones(len(rows), dtype=bool) if every else ~waited_for
        if not self.repeats:
            mask &= ~self._history.seen(rows)
        return mask

    def _all_pending(self) -> bool:
        """Whether every point of the space is pending, of a listed one every feasible point."""
        if not self._space.constrained or self._space.size > LISTED:
            return self._pending.n_distinct >= self._space.size
        rows = self._feasible
        return self._pending.n_distinct >= len(rows) and bool(self._pending.seen(rows).all())

    @functools.cached_property
    def _feasible(self) -> Rows:
        """Rows (m) of a listed space that meet the constraints."""
        indices = np.arange(int(self._space.size))
        return self._space.at(indices[self._meets_at(indices)])

    def _meets_at(self, indices: IndexArray) -> NDArray[np.bool_]:
        """Mask (m,) of the points of a listed space that meet the constraints, which are asked about each once."""
        if len(self._met_at) == 0:
            self._met_at = np.full(int(self._space.size), -1, dtype=np.int8)
        new = indices[self._met_at[indices] < 0]
        self._met_at[new] = self._space.feasible(self._space.at(new))
        mask: NDArray[np.bool_] = self._met_at[indices] > 0
        return mask

    @property
    def may_end(self) -> bool:
        """Whether `some` may find nothing where counting, as in `require_more`, does not say so before."""
        return self._space.constrained or (math.isinf(self._space.size) and self._space.n_doubles < SCARCE)

    def require_more(self) -> None:
        """Raise `SpaceExhausted` if it takes no more than counting to see that nothing is left."""
        if self.repeats or self._space.constrained:
            return
        if self._history.n_distinct + self._pending.n_distinct >= self._space.size:
            pending = self._pending.distinct  # some may be told, too
            told = int(self._history.seen(np.stack(pending)).sum()) if pending else 0
            if self._history.n_distinct + len(pending) - told >= self._space.size:
                self._complain(int(self._space.size))

    def near(self, unit: FloatArray, rng: np.random.Generator) -> FloatArray:
        """The nearest admitted neighbour (1, D) of a unit point (D,) that is refused, or (0, D) if there is none.

        Of 256 tried, at all distances from a thousandth of a side to all of it.
        """
        centre = self._space.project(unit[None, :])
        scales = 10.0 ** rng.uniform(-3.0, 0.0, (NEIGHBOURS, 1))
        others = self._space.project(np.clip(centre + scales * rng.standard_normal((NEIGHBOURS, len(unit))), 0.0, 1.0))
        others = others[self(others)]
        distances = ((others - centre) ** 2).sum(axis=1)
        return others[np.argsort(distances, kind="stable")[:1]]

    def some(self, n: int, rng: np.random.Generator, *, score: Callable[[], Score] | None = None) -> FloatArray:
        """Up to n different admitted unit points (n, D) at random; fewer only where there are no more to be found.

        Up to 100,000 points of a finite space are listed. Elsewhere as many are drawn, then that many of a finite
        space's points are tried in order. Where the constraints leave a thin region, or a score says what to look for,
        points of a space that is not listed are looked for first, from feasible ones that are told or pending, from one
        that meets the linear constraints, or from where a descent of how far the constraints are from being met ends.
        Where all that comes to nothing, ends of the region of the linear constraints are looked for by programming,
        then others by evolution.

        Parameters
        ----------
        n : int
        rng : numpy.random.Generator
        score : callable, optional
            Makes, for each of the n, the score that it should have the highest of where points are looked for.
            Default is points spread over the region.

        Raises
        ------
        SpaceExhausted
            If a finite space holds no point that is neither told nor pending, or none is found where others meet the
            constraints.
        InfeasibleError
            If none of the points tried meets the constraints.
        """
        size = self._space.size
        found = np.empty((0, self._space.dim))
        walks = self._space.thin or (score is not None and self._space.searched)
        if walks:
            found = self._walked(n, found, rng, score)
        elif score is not None and self._space.constrained:
            found = self._promising(n, rng, score)
        for batch in self._batches(n, rng) if len(found) < n else ():
            found = _different(np.vstack([found, batch[self(batch)]]))[:n]
            if len(found) == n:
                return found
        walks = len(found) > 0 if walks else self._space.searched
        if walks and len(found) < n:
            found = self._walked(n, found, rng, score)
        if len(found):
            return found
        if size != math.inf and (size <= LISTED or not self._space.constrained):
            self._complain(int(size))
        others = self._space.place(rng.random((BATCH, self._space.n_draws)))
        feasible = others[self._meets(others)]
        free = feasible[self._free(feasible)]
        if len(free):  # by luck: it is a small region
            return _different(free)[:n]
        if len(feasible):  # a real interval may have just a few doubles
            raise SpaceExhausted(
                f"nothing is left to suggest: all of {EFFORT} points tried are told ({self._history.n_distinct} "
                f"distinct), pending ({len(self._pending)}) or infeasible"
            )
        return self._sought(n, rng)

    def _sought(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Up to n different admitted unit points (n, D), by all that takes longer than to try; raises as `some` does.

        From an end of what the linear constraints leave after the other, or from what a population comes to.
        """
        space, pending = self._space, self._pending.unit
        starts = np.vstack([self._known(), pending[self._meets(pending)]])
        ends = found = starts[:0]
        for row in space.from_unit(space.place(rng.random((ENDS, space.n_draws)))):
            new = space.to_unit(space.linear_extremes(np.stack([row]), rng))
            ends = np.vstack([ends, new])
            if self._meets(new).any():
                starts = np.vstack([starts, new])
                found = self._beside(starts, n, rng)
            if len(found):
                return found
        new = self._evolved(ends, rng)
        if len(new):
            starts = np.vstack([starts, new])
            found = self._beside(starts, n, rng)
        hopeless = space.has_equality and self._search is CALLS  # whatever there is beside those that are known
        if len(starts) == 0 or (len(found) == 0 and hopeless):
            raise InfeasibleError(
                f"constraints must leave points to suggest, got none among {EFFORT} tried{self._why(rng)}"
            )
        if len(found) == 0:
            raise SpaceExhausted(
                "nothing is left to suggest: all feasible points that were found are told "
                f"({self._history.n_distinct} distinct) or pending ({len(self._pending)})"
            )
        return found

    def _beside(self, starts: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
        """Up to n different admitted unit points (n, D): feasible starts (s, D), and what walks from them come to."""
        terrain = Terrain(self._space.project, self._meets, self._space.faces)
        points = np.vstack([walk(starts, max(n, len(starts)), terrain, rng), starts])
        return _different(points[self._free(points)])[:n]

    def _evolved(self, ends: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Feasible unit points (m, D) that a population comes to, from ends (k, D) of linear constraints and others."""
        space = self._space
        if space.has_equality:  # as for a descent
            return ends[:0]
        starts = np.vstack([ends, space.place(rng.random((BATCH, space.n_draws)))])

        def miss(U: FloatArray) -> FloatArray:
            return space.miss(space.from_unit(U))

        found = evolve(starts, miss, space.project, rng, most=EFFORT // 3)
        met = found[self._meets(found)]
        return met if len(met) else descend(found[:1], miss, space.project, rng)

    def again(self, n: int, rng: np.random.Generator) -> Rows:
        """Feasible rows (n) that are pending, in random order and in turn, for where there are no others.

        None where repeats are not allowed, or nothing feasible is pending.
        """
        pending = self._pending.distinct if self.repeats else []
        rows = np.stack(pending) if pending else self._space.empty()
        rows = rows[self._space.feasible(rows)]
        return rows[rng.permutation(np.arange(n) % len(rows))] if len(rows) else rows

    def _walked(
        self, n: int, found: FloatArray, rng: np.random.Generator, score: Callable[[], Score] | None
    ) -> FloatArray:
        """Those that are found and others, up to n (n, D), that walks from known feasible points come to."""
        terrain, search = Terrain(self._space.project, self._meets, self._space.faces), self._search
        told, pending = self._known(), self._pending.unit
        starts = np.vstack([told, pending[self._meets(pending)], found])
        if len(starts) == 0:
            starts = self._first(rng)
        if len(starts) == 0:
            return found
        if score is None:
            spread = self._spread(n, starts, rng)
            points = np.vstack([walk(spread, n, terrain, rng), starts])
            return _different(np.vstack([found, points[self._free(points)]]))[:n]
        starts, best = rng.permutation(starts), starts[0]
        points = walk(starts, search.walks, terrain, rng, n_steps=search.paces)
        others = np.vstack([starts, points])
        near = steps(best, others, search.near, terrain, rng)
        points = _different(np.vstack([starts, near, points]))
        while len(found) < n:
            height = score()
            heights = height(points)
            for _ in range(search.climbs):
                top = points[int(np.argmax(heights))]
                new = steps(top, points, search.around, terrain, rng)
                points, heights = np.vstack([points, new]), np.append(heights, height(new))
            distances = _distances(points, np.vstack([pending, found]))  # from what is waited for
            free = self._free(points) & (distances > 0.0)
            apart = free & (distances >= APART * _distances(points, told))
            if not free.any():
                break
            left = np.flatnonzero(apart if apart.any() else free)
            best = left[int(np.argmax(heights[left]))]
            found = np.vstack([found, points[best : best + 1]])
        return found

    def _promising(self, n: int, rng: np.random.Generator, score: Callable[[], Score]) -> FloatArray:
        """Up to n different admitted unit points (n, D) of a listed space, of the highest scores of many at random.

        They are asked about from the top, as a constraint may be dear.
        """
        space = self._space
        drawn = rng.permutation(int(space.size))
        if len(self._met_at):
            drawn = drawn[self._met_at[drawn] != 0]
        drawn = drawn[:SCORED]
        found = np.empty((0, space.dim))
        while len(found) < n and len(drawn):
            height = score()
            parts = (drawn[i : i + BATCH] for i in range(0, len(drawn), BATCH))
            heights = np.concatenate([height(space.to_unit(space.at(part))) for part in parts])
            ranked = drawn[np.argsort(-heights, kind="stable")]
            for i in range(0, len(ranked), NEIGHBOURS):
                some = ranked[i : i + NEIGHBOURS]
                some = some[self._meets_at(some)]
                units = space.to_unit(space.at(some))
                left = np.flatnonzero(self._free(units))
                if len(left):
                    found = np.vstack([found, units[left[:1]]])
                    drawn = drawn[drawn != some[left[0]]]
                    break
            else:
                break
        return found

    def _first(self, rng: np.random.Generator) -> FloatArray:
        """A feasible unit point (1, D) where none is known, or (0, D)."""
        space = self._space
        rows = space.linear_centres(space.from_unit(space.place(rng.random((SEEDS, space.n_draws)))))
        rows = rows[space.feasible(rows)]
        return space.to_unit(rows) if len(rows) else self._descended(BATCH, rng)

    def _descended(self, n: int, rng: np.random.Generator) -> FloatArray:
        """A feasible unit point (1, D) that is reached from the best of n random ones, or (0, D)."""
        space = self._space
        starts = space.place(rng.random((n, space.n_draws)))
        if space.has_equality:  # what is found meets it by rounding alone
            return starts[:0]
        return descend(starts, lambda U: space.miss(space.from_unit(U)), space.project, rng)

    def _spread(self, n: int, known: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Starts (m, D) of n walks: where descents from anywhere end, then some of the known ones."""
        fresh = [self._descended(1, rng) for _ in range(min(n, STARTS))]
        return np.vstack([*fresh, rng.permutation(known)])

    def _known(self) -> FloatArray:
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

    def _why(self, rng: np.random.Generator) -> str:
        space = self._space
        undefined = space.undefined(space.from_unit(space.place(rng.random((BATCH, space.n_draws)))))
        if undefined is not None:
            return f"; {undefined} is NaN at all of {BATCH} tried again"
        if space.has_equality:
            return (
                "; equalities between real parameters cannot be met by trying: a LinearConstraint of reals alone, none "
                "of them on a logarithm, is met; else express one parameter through the others, or allow some slack"
            )
        return "; a point that meets them, told, enqueued or given as x0, shows where to look for others"

    def _batches(self, n: int, rng: np.random.Generator) -> Iterator[FloatArray]:
        space = self._space
        if space.size <= LISTED:
            order = rng.permutation(int(space.size))
            yield from (space.to_unit(space.at(order[i : i + BATCH])) for i in range(0, len(order), BATCH))
            return
        for count in [n] + [BATCH] * (EFFORT // BATCH):
            yield space.place(rng.random((count, space.n_draws)))
        if space.size != math.inf:
            most = max(EFFORT, self._history.n_distinct + len(self._pending) + n)  # so many cannot all be taken
            for i in range(0, int(min(space.size, most)), BATCH):
                yield space.to_unit(space.at(np.arange(i, int(min(i + BATCH, space.size)))))

    def _complain(self, size: int) -> None:
        feasible = ""
        if self._space.constrained:
            rows = self._space.at(np.arange(size))
            met = int(self._space.feasible(rows).sum())
            if met == 0:
                undefined = self._space.undefined(rows)
                why = "" if undefined is None else f"; {undefined} is NaN at all of them"
                raise InfeasibleError(f"constraints must leave points to suggest, got none of the space's {size}{why}")
            feasible = f"{met} feasible of "
        raise SpaceExhausted(
            f"nothing is left to suggest: all {feasible}{size} points of the space are told "
            f"({self._history.n_distinct} distinct) or pending ({len(self._pending)})"
        )


def _distances(points: FloatArray, others: FloatArray) -> FloatArray:
    """Distances (m,), the longest side counts, of points (m, D) to the nearest of others (k, D); 1 if there is none."""
    nearest = np.ones(len(points))
    for each in others:
        np.minimum(nearest, np.abs(points - each).max(axis=1), out=nearest)
    return nearest


def _different(points: FloatArray) -> FloatArray:
    """Points (m, D) without repeats, in order of their first appearance."""
    first: dict[bytes, int] = {}
    for i, point in enumerate(points):
        first.setdefault(point.tobytes(), i)
    return points[list(first.values())]

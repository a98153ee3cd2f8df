"""Admission: which points may be suggested, whatever strategy proposes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from gssbo._typing import FloatArray, IndexArray
from gssbo.exceptions import InfeasibleError, SpaceExhausted
from gssbo.history import History
from gssbo.listing import Listing
from gssbo.pending import Pending
from gssbo.prospector import Prospector, Score, different
from gssbo.space import LISTED, Rows, Space

__all__ = ["Admission"]

EFFORT = 100_000  # random points tried before a constrained space counts as infeasible
SCARCE = 10 * EFFORT  # points of doubles, of which so many tried may all be told
BATCH = 1_000
NEIGHBOURS = 256
SCORED = 4 * BATCH  # points of a listed space
MANY = 256  # points of one call, from which on they may be most of a listed space
AT_ONCE = 100  # points that are found, for each that has the highest of the same score


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
        self._listing = Listing(space, history, pending)
        self._prospector = Prospector(space, history, pending, self._free)

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
        rows = self._listing.feasible
        return self._pending.n_distinct >= len(rows) and bool(self._pending.seen(rows).all())

    def _free_at(self) -> NDArray[np.bool_]:
        """`_free` of all points of a listed space (size,)."""
        waited_for = self._listing.pending()
        every = self.repeats and waited_for.any() and self._all_pending()
        mask: NDArray[np.bool_] = np.ones(len(waited_for), dtype=bool) if every else ~waited_for
        return mask if self.repeats else mask & ~self._listing.told()

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
        walks_first = self._space.thin or (score is not None and self._space.searched)
        if walks_first:
            found = self._prospector.walked(n, found, rng, score)
        elif score is not None and self._space.constrained:
            found = self._promising(n, rng, score)
        found = self._gathered(found, n, rng)
        if len(found) == n:
            return found
        # Walks that came to nothing have a start now only if one was drawn.
        walks = len(found) > 0 if walks_first else self._space.searched
        if walks and len(found) < n:
            found = self._prospector.walked(n, found, rng, score)
        if len(found):
            return found
        if size != math.inf and (size <= LISTED or not self._space.constrained):
            self._complain(int(size))
        others = self._space.place(rng.random((BATCH, self._space.n_draws)))
        feasible = others[self._meets(others)]
        free = feasible[self._free(feasible)]
        if len(free):  # by luck: it is a small region
            return different(free)[:n]
        if len(feasible):  # a real interval may have just a few doubles
            raise SpaceExhausted(
                f"nothing is left to suggest: all of {EFFORT} points tried are told ({self._history.n_distinct} "
                f"distinct), pending ({len(self._pending)}) or infeasible"
            )
        return self._prospector.sought(n, rng, tried=EFFORT)

    def again(self, n: int, rng: np.random.Generator) -> Rows:
        """Feasible rows (n) that are pending, in random order and in turn, for where there are no others.

        No rows where repeats are not allowed, or nothing feasible is pending.
        """
        pending = self._pending.distinct if self.repeats else []
        rows = np.stack(pending) if pending else self._space.empty()
        rows = rows[self._space.feasible(rows)]
        return rows[rng.permutation(np.arange(n) % len(rows))] if len(rows) else rows

    def asks_for_most(self, n: int) -> bool:
        """Whether n points are so many that less than half of a listed space would be left.

        Then drawing them one by one takes many tries each, and choosing them is to say which few are not taken.
        """
        if n < MANY or self._space.size > LISTED:
            return False
        may_meet = self._listing.may_meet()
        left = int((may_meet & self._free_at()).sum()) - n
        return left < 0.5 * int(may_meet.sum())

    def most(self, n: int, rng: np.random.Generator, height: Score) -> FloatArray:
        """Up to n admitted unit points (n, D) of a listed space, of the highest scores of all, in their order."""
        left = np.flatnonzero(self._listing.may_meet() & self._free_at())
        return self._listing.units(self._first(n, self._ranked(rng.permutation(left), height)))

    def _promising(self, n: int, rng: np.random.Generator, score: Callable[[], Score]) -> FloatArray:
        """Up to n different admitted unit points (n, D) of a listed space, of the highest scores of many at random.

        One at a time has the highest of a score; of many, more and more of them have that of the same.
        """
        drawn = rng.permutation(self._listing.size)
        drawn = drawn[self._listing.may_meet()[drawn]][:SCORED]
        found = drawn[:0]
        while len(found) < n and len(drawn):
            some = min(max(len(found) // AT_ONCE, 1), n - len(found))
            new = self._first(some, self._ranked(drawn, score()))
            if len(new) == 0:
                break
            found = np.append(found, new)
            drawn = drawn[~np.isin(drawn, new)]
        return self._listing.units(found)

    def _ranked(self, indices: IndexArray, height: Score) -> IndexArray:
        """Numbers (m,) of points of a listed space, by their scores."""
        parts = (indices[i : i + BATCH] for i in range(0, len(indices), BATCH))
        heights = np.concatenate([np.empty(0), *(height(self._listing.units(part)) for part in parts)])
        return indices[np.argsort(-heights, kind="stable")]

    def _first(self, n: int, ranked: IndexArray) -> IndexArray:
        """The first n of the points of a listed space with these numbers (m,) that are admitted, or all of them.

        They are asked about from the top, as a constraint may be dear.
        """
        found = ranked[:0]
        for i in range(0, len(ranked), NEIGHBOURS):
            some = ranked[i : i + NEIGHBOURS]
            some = some[self._listing.meets(some)]
            found = np.append(found, some[self._free(self._listing.units(some))])
            if len(found) >= n:
                break
        return found[:n]

    def _gathered(self, found: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
        """Those that are found and different admitted ones of all that are tried, up to n (n, D)."""
        known = {point.tobytes() for point in found}
        gathered = [found]
        for batch in self._batches(n, rng) if len(found) < n else ():
            new = different(batch[self(batch)])
            new = new[[point.tobytes() not in known for point in new]]
            known.update(point.tobytes() for point in new)
            gathered.append(new)
            if len(known) >= n:
                break
        return np.vstack(gathered)[:n]

    def _batches(self, n: int, rng: np.random.Generator) -> Iterator[FloatArray]:
        space = self._space
        if space.size <= LISTED:
            order, free = rng.permutation(self._listing.size), self._free_at()
            for i in range(0, len(order), BATCH):
                part = order[i : i + BATCH]
                if free[part].any():
                    yield self._listing.units(part[free[part]])
            return
        for count in [n] + [BATCH] * (EFFORT // BATCH):
            yield space.place(rng.random((count, space.n_draws)))
        if space.size != math.inf:
            most = max(EFFORT, self._history.n_distinct + len(self._pending) + n)  # so many cannot all be taken
            for i in range(0, int(min(space.size, most)), BATCH):
                yield self._listing.units(np.arange(i, int(min(i + BATCH, space.size))))

    def _complain(self, size: int) -> None:
        feasible = ""
        if self._space.constrained:
            rows = self._space.at(np.arange(size))
            met = int(self._space.feasible(rows).sum())
            if met == 0:
                undefined = self._space.undefined(rows)
                why = self._space.unreachable if undefined is None else f"{undefined} is NaN at all of them"
                raise InfeasibleError(
                    f"constraints must leave points to suggest, got none of the space's {size}"
                    + ("" if why is None else f"; {why}")
                )
            feasible = f"{met} feasible of "
        raise SpaceExhausted(
            f"nothing is left to suggest: all {feasible}{size} points of the space are told "
            f"({self._history.n_distinct} distinct) or pending ({len(self._pending)})"
        )

"""Admission: which points may be suggested, whatever strategy proposes them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from gssbo._typing import FloatArray, IndexArray
from gssbo.exceptions import InfeasibleError, SpaceExhausted
from gssbo.history import History
from gssbo.pending import Pending
from gssbo.space import Rows, Space
from gssbo.walk import steps, walk

__all__ = ["Admission"]

EFFORT = 100_000  # random points tried before a constrained space counts as infeasible
LISTED = 100_000  # points of a finite space up to which it is listed rather than drawn from
BATCH = 1_000
FEW = 5  # batches of random points where others can be looked for from known feasible ones
NEIGHBOURS = 256
STARTS = 64  # feasible points told, the best ones, that are enough to look for others from
NEAR = 1_000  # points tried around the best of them
SEEDS = 32  # choices of the other parameters for which the real ones are solved for

Prefer = Callable[[FloatArray, int], IndexArray]
"""prefer(U, n): indices of n of the unit points (m, D), the first ones to suggest first."""


class Admission:
    """Mask of what may be suggested: feasible points that are neither pending nor, unless repeats are allowed, told.

    Where repeats are allowed and every feasible point of a finite space is pending, they may be suggested again.

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

    def __call__(self, U: FloatArray) -> NDArray[np.bool_]:
        """Mask (m,) of realisable unit points (m, D) that may be suggested."""
        rows = self._space.from_unit(U)
        waited_for = self._pending.seen(rows)
        every = self.repeats and waited_for.any() and self._all_pending()
        mask = np.ones(len(rows), dtype=bool) if every else ~waited_for
        if not self.repeats:
            mask &= ~self._history.seen(rows)
        if self._space.constrained:
            left = np.flatnonzero(mask)
            mask[left] = self._space.feasible(rows[left])
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
        rows = self._space.at(np.arange(int(self._space.size)))
        return rows[self._space.feasible(rows)]

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

    def some(self, n: int, rng: np.random.Generator, *, prefer: Prefer | None = None) -> FloatArray:
        """Up to n different admitted unit points (n, D) at random; fewer only where there are no more to be found.

        Up to 100,000 points of a finite space are listed. Elsewhere as many are drawn, then that many of a finite
        space's points are tried in order. Where that is not enough for the constraints, others are looked for from
        feasible points that are told, pending or just found, or from one that meets the linear constraints; where some
        are told or pending, after 5,000 drawn.

        Parameters
        ----------
        n : int
        rng : numpy.random.Generator
        prefer : callable, optional
            Chooses from points that were looked for so, `prefer(U, n)` n of (m, D), by their indices. Default the
            first ones, which are spread over the region.

        Raises
        ------
        SpaceExhausted
            If a finite space holds no point that is neither told nor pending, or none is found where others meet the
            constraints.
        InfeasibleError
            If none of the points tried meets the constraints.
        """
        found = np.empty((0, self._space.dim))
        size = self._space.size
        walks = size > LISTED and self._space.constrained
        known: FloatArray | None = None
        for k, batch in enumerate(self._batches(n, rng)):
            found = _different(np.vstack([found, batch[self(batch)]]))[:n]
            if len(found) == n:
                return found
            if walks and k == FEW:
                known = self._known()
                if len(known):
                    break
        if walks:
            known = self._known() if known is None else known
            others = self._walked(n - len(found), np.vstack([known, found]), rng)
            if prefer is not None and len(others):
                others = others[prefer(others, n - len(found))]
            found = np.vstack([found, others[: n - len(found)]])
        if len(found):
            return found
        if size != math.inf and (size <= LISTED or not self._space.constrained):
            self._complain(int(size))
        others = self._space.place(rng.random((BATCH, self._space.n_draws)))
        if self._space.feasible(self._space.from_unit(others)).any():
            # A real interval may have just a few doubles.
            raise SpaceExhausted(
                f"nothing is left to suggest: all of {EFFORT} points tried are told ({self._history.n_distinct} "
                f"distinct), pending ({len(self._pending)}) or infeasible"
            )
        raise InfeasibleError(
            f"constraints must leave points to suggest, got none among {EFFORT} tried{self._why(rng)}"
        )

    def _walked(self, n: int, starts: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Admitted points (m, D) that walks from known feasible ones come to, and those around the best of these."""
        space = self._space
        if len(starts) == 0:
            rows = space.linear_centres(space.from_unit(space.place(rng.random((SEEDS, space.n_draws)))))
            starts = space.to_unit(rows[space.feasible(rows)])
        if len(starts) == 0:
            return starts

        def meets(U: FloatArray) -> NDArray[np.bool_]:
            return space.feasible(space.from_unit(U))

        points = walk(starts, n, space.project, meets, rng)
        around = steps(starts[0], np.vstack([starts, points[: len(points) // 2]]), NEAR, space.project, meets, rng)
        points = _different(np.vstack([points, around, starts]))
        return points[self(points)]

    def _known(self) -> FloatArray:
        """Feasible unit points (m, D): of those told 64 or more, the best ones first, and the pending ones."""
        space, history = self._space, self._history
        order = np.argsort(-history.y, kind="stable")
        known: list[FloatArray] = []
        for i in range(0, len(order), BATCH):
            some = order[i : i + BATCH]
            known.append(history.unit[some[space.feasible(history.X[some])]])
            if sum(map(len, known)) >= STARTS:
                break
        pending = self._pending.unit
        return np.vstack([*known, pending[space.feasible(space.from_unit(pending))]])

    def _why(self, rng: np.random.Generator) -> str:
        space = self._space
        undefined = space.undefined(space.from_unit(space.place(rng.random((BATCH, space.n_draws)))))
        if undefined is not None:
            return f"; {undefined} is NaN at all of {BATCH} tried again"
        if space.has_equality:
            return "; equalities between real parameters cannot be met by trying"
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


def _different(points: FloatArray) -> FloatArray:
    """Points (m, D) without repeats, in order of their first appearance."""
    first: dict[bytes, int] = {}
    for i, point in enumerate(points):
        first.setdefault(point.tobytes(), i)
    return points[list(first.values())]

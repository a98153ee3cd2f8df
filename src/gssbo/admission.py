"""Admission: which points may be suggested, whatever strategy proposes them."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from gssbo._typing import FloatArray
from gssbo.exceptions import InfeasibleError, SpaceExhausted
from gssbo.history import History
from gssbo.pending import Pending
from gssbo.space import Space

__all__ = ["Admission"]

EFFORT = 100_000  # random points tried before a constrained space counts as infeasible
LISTED = 100_000  # points of a finite space up to which it is listed rather than drawn from
BATCH = 1_000
NEIGHBOURS = 256


class Admission:
    """Mask of what may be suggested: feasible points that are neither pending nor, unless repeats are allowed, told.

    Where repeats are allowed and every point of a finite space is pending, pending ones may be suggested again.

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
        every = self.repeats and self._pending.n_distinct >= self._space.size
        mask = np.ones(len(rows), dtype=bool) if every else ~self._pending.seen(rows)
        if not self.repeats:
            mask &= ~self._history.seen(rows)
        if self._space.constrained:
            left = np.flatnonzero(mask)
            mask[left] = self._space.feasible(rows[left])
        return mask

    def require_more(self) -> None:
        """Raise `SpaceExhausted` if it takes no more than counting to see that nothing is left."""
        taken = self._history.n_distinct + len(self._pending)
        if not self.repeats and not self._space.constrained and taken >= self._space.size:
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

    def some(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Up to n different admitted unit points (n, D) at random; fewer only where there are no more to be found.

        Up to 100,000 points of a finite space are listed. Elsewhere as many are drawn, then that many of a finite
        space's points are tried in order.

        Raises
        ------
        SpaceExhausted
            If a finite space holds no point that is neither told nor pending.
        InfeasibleError
            If none of the points tried meets the constraints.
        """
        found: list[FloatArray] = []
        keys: set[bytes] = set()
        for batch in self._batches(n, rng):
            for unit in batch[self(batch)]:
                if unit.tobytes() not in keys:
                    keys.add(unit.tobytes())
                    found.append(unit)
                    if len(found) == n:
                        return np.array(found)
        if found:
            return np.array(found)
        size = self._space.size
        if math.isfinite(size) and (size <= LISTED or not self._space.constrained):
            self._complain(int(size))
        raise InfeasibleError(
            f"constraints must leave points to suggest, got none among {EFFORT} tried; equalities between real "
            "parameters cannot be met by trying"
        )

    def _batches(self, n: int, rng: np.random.Generator) -> Iterator[FloatArray]:
        space = self._space
        if space.size <= LISTED:
            order = rng.permutation(int(space.size))
            yield from (space.to_unit(space.at(order[i : i + BATCH])) for i in range(0, len(order), BATCH))
            return
        for count in [n] + [BATCH] * (EFFORT // BATCH):
            yield space.place(rng.random((count, space.n_draws)))
        if math.isfinite(space.size):
            most = max(EFFORT, self._history.n_distinct + len(self._pending) + n)  # so many cannot all be taken
            for i in range(0, int(min(space.size, most)), BATCH):
                yield space.to_unit(space.at(np.arange(i, int(min(i + BATCH, space.size)))))

    def _complain(self, size: int) -> None:
        feasible = ""
        if self._space.constrained:
            met = int(self._space.feasible(self._space.at(np.arange(size))).sum())
            if met == 0:
                raise InfeasibleError(f"constraints must leave points to suggest, got none of the space's {size}")
            feasible = f"{met} feasible of "
        raise SpaceExhausted(
            f"nothing is left to suggest: all {feasible}{size} points of the space are told "
            f"({self._history.n_distinct} distinct) or pending ({len(self._pending)})"
        )

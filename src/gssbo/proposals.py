"""Proposals: where the next suggestions come from. The queue first, the initial design, a strategy, then anywhere.

A strategy may propose any points of the model's cube: they are taken to the nearest realisable ones here, and those
that are told, pending or infeasible give way to a neighbour. A strategy that minds them itself does better.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import TypeAlias

import numpy as np

from gssbo._typing import FloatArray
from gssbo.admission import Admission
from gssbo.design import Design
from gssbo.exceptions import InfeasibleError, SpaceExhausted
from gssbo.history import History
from gssbo.pending import Pending
from gssbo.prospector import Score
from gssbo.space import Rows, Space
from gssbo.strategy import Strategy

__all__ = ["Proposals"]

NothingFound: TypeAlias = SpaceExhausted | InfeasibleError


class Proposals:
    """Makes suggestions and enters them as pending.

    Parameters
    ----------
    space : Space
    history : History
    pending : Pending
    design : Design
        Handed out until as many observations are told as it has points.
    strategy : Strategy
    repeats : bool
        Whether points told may be suggested again.
    rng : numpy.random.Generator
        Source of points that neither design nor strategy could provide.

    Attributes
    ----------
    n_modelled : int
        Observations held when the strategy was last updated.
    n_suggested : int
        Suggestions made that are neither of the queue nor of the design.
    """

    def __init__(
        self,
        space: Space,
        history: History,
        pending: Pending,
        design: Design,
        strategy: Strategy,
        *,
        repeats: bool,
        rng: np.random.Generator,
    ) -> None:
        self._space, self._history, self._pending = space, history, pending
        self._admission = Admission(space, history, pending, repeats=repeats)
        self._design, self._strategy, self._rng = design, strategy, rng
        self.n_modelled = 0
        self.n_suggested = 0

    @property
    def counts(self) -> tuple[int, int, int]:
        """How many points of the design are taken, observations modelled, and suggestions made."""
        return self._design.n_taken, self.n_modelled, self.n_suggested

    @counts.setter
    def counts(self, counts: tuple[int, int, int]) -> None:
        self._design.n_taken, self.n_modelled, self.n_suggested = counts

    @property
    def may_end(self) -> bool:
        """Whether a search may end without a suggestion once the strategy was asked for one."""
        return self._admission.may_end

    def make(self, n: int, confirm: Callable[[list[int]], None], stands: Callable[[], bool]) -> list[int]:
        """Ids of n new pending suggestions; fewer where a finite space has no more, or no more feasible ones show.

        Where repeats are allowed, those that are pending make up for what is missing.

        They stand once `confirm` has returned, which is called with them, or where `stands` says so when Ctrl-C
        interrupts it.

        Raises
        ------
        SpaceExhausted, InfeasibleError
            If there is none at all. Nothing is pending then that was not before, as after any other exception.
        """
        ids: list[int] = []
        n_planned = 0
        n_asked, n_taken, queue = self._pending.n_asked, self._design.n_taken, self._pending.queue
        n_queued, first = len(queue), list(islice(queue, n))
        try:
            ids, missed = self._planned(n)
            n_planned = len(ids)
            self._extend(ids, n, missed)
            confirm(ids)
        except BaseException:
            if stands():
                self.n_suggested += len(ids) - n_planned
            else:
                self._pending.withdraw(n_asked)
                queue.extendleft(reversed(first[: n_queued - len(queue)]))
                self._design.n_taken = n_taken
            raise
        self.n_suggested += len(ids) - n_planned
        return ids

    def book(self, rows: Rows) -> None:
        """Enter rows (n) as pending that were suggested before, without asking anyone where to look."""
        for row, unit in zip(rows, self._space.to_unit(rows), strict=True):
            if not self._pending.dequeue(row):
                if len(self._history) < self._design.size and self._design.n_taken < self._design.size:
                    self._design.n_taken += 1
                else:
                    self.n_suggested += 1
            self._pending.add(row, unit)

    def _planned(self, n: int) -> tuple[list[int], NothingFound | None]:
        """Up to n ids from the queue, then from the design; and why there are no more, if a search ended without one.

        For a point of the design that is not feasible another one, anywhere in the feasible region, so that constraints
        make no smaller design; it is looked for until none was found once.
        """
        ids: list[int] = []
        while len(ids) < n and self._pending.queue:
            ids += self._take(np.stack([self._pending.queue.popleft()]))
        missed: NothingFound | None = None
        while len(ids) < n and len(self._history) < self._design.size:
            point = self._design.take()
            if point is None:
                break
            found = self._enter(point[None, :])
            if not found and self._space.constrained and missed is None:
                try:
                    found = self._enter(self._admission.some(1, self._rng))
                except (SpaceExhausted, InfeasibleError) as error:
                    missed = error
            ids += found
        return ids, missed

    def _extend(self, ids: list[int], n: int, missed: NothingFound | None) -> None:
        """Add to the ids, up to n, what the strategy suggests and then what is found anywhere.

        A search that `missed` is not made again, unless there is a point to look from now.

        Raises
        ------
        SpaceExhausted, InfeasibleError
            If there is nothing and there were no ids before.
        """
        try:
            nobody_knows = missed is not None and not ids and len(self._history) == 0
            if len(ids) < n and not nobody_knows:
                self._admission.require_more()
                ids += self._enter(self._modelled(n - len(ids)), or_beside=True)
            score = self._bound if len(self._history) >= self._design.size else None
            while len(ids) < n:
                if missed is not None and not ids:
                    raise missed
                more = self._enter(self._admission.some(n - len(ids), self._rng, score=score))
                ids += more
                if not (more and self._admission.repeats):
                    break
        except (SpaceExhausted, InfeasibleError):
            ids += self._take(self._admission.again(n - len(ids), self._rng))
            if not ids:
                raise

    def _modelled(self, n: int) -> FloatArray:
        if len(self._history) > 0:
            self._strategy.update(self._history)
            self.n_modelled = len(self._history)
        if len(self._history) > 1 and self._admission.asks_for_most(n):
            return self._admission.most(n, self._rng, self._bound())
        return self._strategy.suggest(self._history, self._pending.unit, n, self._admission)

    def _bound(self) -> Score:
        """A random upper bound of the model, for what lies in a region too thin for the strategy's own candidates."""
        weight = self._rng.exponential()

        def score(units: FloatArray) -> FloatArray:
            if len(self._strategy.retained) == 0:  # it takes no account of what was told so far
                return np.zeros(len(units))
            mean, std = self._strategy.posterior(units)
            bound = mean + weight * std
            return np.where(np.isnan(bound), -np.inf, bound)

        return score

    def _take(self, rows: Rows) -> list[int]:
        """Enter rows (m) of the space, and return their ids."""
        units = self._space.to_unit(rows)
        return [self._pending.add(row, unit) for row, unit in zip(rows, units, strict=True)]

    def _enter(self, units: FloatArray, *, or_beside: bool = False) -> list[int]:
        """Enter those of the unit points (m, D) that are admitted, or else a neighbour of each; return their ids."""
        ids = []
        rows = self._space.from_unit(units)
        for i, admitted in enumerate(self._admission(units)):
            admitted = admitted and not self._pending.matches(rows[i])
            if not admitted and self._admission.repeats:  # all may be pending by now
                admitted = self._admission(units[i : i + 1])[0]
            if admitted:
                ids += self._take(rows[i : i + 1])
            elif or_beside:
                ids += self._enter(self._admission.near(units[i], self._rng))
        return ids

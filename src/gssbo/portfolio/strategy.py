"""The portfolio strategy: searchers with different models of the same history, and suggestions shared by their gains.

Notation
--------
n       observations told; d parameters
M       capacity of the retained subsets

No one model suits all functions: a trend through the best points finds the bowl under ripples, a sum of functions of
one coordinate finds separable optima, a local quadratic follows ill-conditioned valleys to the last digit, and Gaussian
processes on subsets chosen by the residual rule are for everything smooth in between, near the best point and over the
whole box. Each is asked in turn; who gains is asked more often (`credit`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gssbo._parallel import default_threads
from gssbo._typing import FloatArray, IndexArray
from gssbo._validation import check_integer
from gssbo.choice import Admit
from gssbo.gp import GaussianProcess
from gssbo.history import History, evenly
from gssbo.map_gp import MapGaussianProcess
from gssbo.portfolio.additive import Additive
from gssbo.portfolio.apart import apart
from gssbo.portfolio.continuum import Continuum
from gssbo.portfolio.credit import SPREAD, Credit
from gssbo.portfolio.descent import Descent
from gssbo.portfolio.lattice import Lattice
from gssbo.portfolio.prediction import on_basis
from gssbo.portfolio.region import Region
from gssbo.portfolio.substitute import substituted
from gssbo.portfolio.trend import Trend
from gssbo.portfolio.view import OUTSIDE, Searcher, View
from gssbo.portfolio.waiting import Waiting
from gssbo.responses import without_gaps
from gssbo.space import Space
from gssbo.surrogate import Predictor, in_units
from gssbo.timings import Timings

__all__ = ["Portfolio"]

LOCAL, GLOBAL, DESCENT, TREND, ADDITIVE = range(5)
DELAY = 5  # observations times d, at most LONGEST_DELAY, before the local searchers begin
LONGEST_DELAY = 150
STALLED = np.array([0.5, 1.0, 3.0, 1.0, 1.0])  # weights where nothing is gained any more
WEAK = 0.5  # weight of a searcher whose model explains little
MOST = 2000  # observations in a view, where M is not larger than half of them
TEAM, LARGE = 2, 6  # searchers that make the points of one call; from so many points on there are more
TRIES = 3  # searchers asked for a suggestion before one is made at random
LAST_TRIES = 50  # at random
MISSES = 10  # points in a row for which that found none, after which a batch is looked for no further
SAME = 1e-9  # of a side: how far what was told may be from what was suggested


class Issued(NamedTuple):
    """A suggestion that is not told yet: the point as it will be told, who made it, and what that one asked for."""

    x: FloatArray
    searcher: int
    asked: FloatArray


class Portfolio:
    """See the module; `Strategy` for the methods.

    Parameters
    ----------
    space : Space
    size : int
        M.
    n_init : int
        Observations of the initial design.
    threads : int, optional
        For predictions at many points.
    repeats : bool
        Whether points may be suggested again.
    rng : numpy.random.Generator
    timings : Timings
        Charged with the part "acquisition".

    Examples
    --------
    >>> space = Space([(0.0, 1.0)] * 2)
    >>> strategy = Portfolio(space, n_init=6, rng=np.random.default_rng(0), timings=Timings())
    >>> history, none = History(2), np.empty((0, 2))
    >>> X = np.random.default_rng(1).random((6, 2))
    >>> history.append(X, X, -((X - 0.3) ** 2).sum(axis=1))
    >>> for _ in range(30):
    ...     _ = strategy.update(history)
    ...     x = strategy.suggest(history, none, 1, lambda U: np.ones(len(U), dtype=bool))
    ...     history.append(x, x, -((x - 0.3) ** 2).sum(axis=1))
    >>> bool(history.y.max() > -1e-8)
    True
    """

    def __init__(
        self,
        space: Space,
        *,
        size: int = 100,
        n_init: int,
        threads: int | None = None,
        repeats: bool = False,
        rng: np.random.Generator,
        timings: Timings,
    ) -> None:
        dim = space.dim
        self._threads = default_threads() if threads is None else check_integer("threads", threads, at_least=1)
        self._most = max(MOST, 2 * size)
        self._space, self._dim, self._size, self._n_init = space, dim, size, n_init
        self._rng, self._timings = rng, timings
        self._ground = Lattice(space, repeats=repeats) if space.discrete else Continuum(dim)
        local, everywhere = (Region(dim, trust=trust, size=size, ground=self._ground) for trust in (True, False))
        self._global = everywhere
        self._searchers: tuple[Searcher, ...] = (
            local,
            everywhere,
            Descent(dim),
            Trend(dim, (OUTSIDE, GLOBAL, TREND)),
            Additive(dim, DESCENT),
        )
        # Of what is spread whatever the credit; a trend has coefficients by the dimension.
        self._shares = np.array([1.0, 1.0, 1.0, 2.0 + min(max(dim - 20, 0) / 40.0, 2.0), 1.0])
        self._credit = Credit(len(self._searchers))
        self._origin = np.full(0, OUTSIDE, dtype=np.intp)  # one an observation, and spare ones
        self._leaders = np.empty(0, dtype=np.intp)  # of a history longer than a view, the best half of a view
        self._issued: list[Issued] = []
        self._n_modelled = self._n_valued = 0  # observations at the last update, and those of them that have a value
        self._n_learnt = self._n_led = 0  # observations credited, and those that the leaders are the best of
        self._seen: View | None = None  # as of the last update
        self._subset: tuple[MapGaussianProcess, IndexArray] | None = None  # a model of few of it, when asked for
        self._predictor: tuple[Predictor, IndexArray] | None = None  # and what predicts

    # ---- what the optimizer does

    def place(self, draws: FloatArray) -> FloatArray:
        """The points of the space at the draws (n, p)."""
        return self._space.place(draws)

    def update(self, history: History) -> bool:
        """Let the searchers learn what their suggestions gave; return whether anything was told."""
        n = len(history)
        if n == self._n_modelled:
            return False
        with np.errstate(over="ignore", invalid="ignore"):  # gains between responses as large as floats go
            self._learn(history)
        seen, n_valued = self._view(history, n), n - history.n_failed
        # Ctrl-C interrupts no assignments in a row: until all of these are made, the next update goes on from here.
        self._seen, self._subset, self._predictor = seen, None, None
        self._n_modelled, self._n_valued, self._n_learnt = n, n_valued, n
        return True

    def _learn(self, history: History) -> None:
        """Credit the searchers, by what was known when each of their suggestions was told."""
        n = len(history)
        if n > len(self._origin):
            grown = np.full(max(n, 2 * len(self._origin), 64), OUTSIDE, dtype=np.intp)
            grown[: len(self._origin)] = self._origin
            self._origin = grown
        for row in self._answers(history, self._n_learnt).tolist():
            number = self._claim(history.unit[row])
            if number is None or row == 0:
                continue
            self._lead(history, row)
            before = self._before(history, row)
            y = float(without_gaps(np.append(before.y, history.y[row]))[-1])
            issued, learnt = self._issued[number], row + 1
            searcher = issued.searcher
            # In a row, and first: an interrupted update that is repeated credits nothing twice.
            self._origin[row], self._n_learnt = searcher, learnt
            del self._issued[number]
            own = self._searchers[searcher].observe(before, history.unit[row], y, asked=issued.asked)
            self._credit.reward(searcher, gain=y - float(before.y.max()), own=own)
        self._lead(history, n)

    def _answers(self, history: History, first: int) -> IndexArray:
        """Rows from `first` on that may answer a suggestion: all, or of many those at a point that was suggested."""
        rows = np.arange(first, len(history))
        if len(rows) <= 2 * len(self._issued) + 64:
            return rows
        if not self._issued:
            return rows[:0]
        told = history.unit[first:]
        points = np.array([each.x for each in self._issued])
        order = np.argsort(points[:, 0], kind="stable")
        column = points[order, 0]
        near = np.searchsorted(column, told[:, 0] - SAME) < np.searchsorted(column, told[:, 0] + SAME, side="right")
        return rows[near]

    def suggest(self, history: History, pending: FloatArray, n: int, admit: Admit) -> FloatArray:
        """Up to n points from searchers drawn by their credit; random ones before anything was told."""
        view = self._view(history, len(history)) if self._seen is None else self._seen
        waiting = Waiting(pending, n)
        with self._timings.part("acquisition"), np.errstate(over="ignore", invalid="ignore"):
            if self._space.discrete and not _known(view) and not self._space.thin:
                self._draw(n, waiting, admit)
            else:
                self._search(n, view, waiting, admit)
        return waiting.added

    def posterior(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (m,) at (m, d) unit points, in units of the history's y: the subset model's."""
        return in_units(self.subset_model()[0], points)

    def predict(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """`posterior` by the `predictor`."""
        return in_units(self.predictor()[0], points)

    def subset_model(self) -> tuple[MapGaussianProcess, IndexArray]:
        """A model of the subset retained over the whole box, and its indices into the history: nothing that failed.

        Before the first update it is not fitted.
        """
        if self._seen is None:
            return MapGaussianProcess(), np.empty(0, dtype=np.intp)
        if self._subset is None:
            self._subset = self._global.predictor(self._seen)
            self._subset[0].threads = self._threads
        model, rows = self._subset
        return model, rows.copy()

    def predictor(self) -> tuple[Predictor, IndexArray]:
        """The subset's model, or one that has seen more and predicts better; see `Strategy`."""
        gp, rows = self.subset_model()
        if self._seen is None:
            return gp, rows
        if self._predictor is None:
            valued = self._seen.valued
            projection = on_basis(valued, gp, rows, self._size)
            if projection is None:
                self._predictor = gp, rows
            else:
                projection.threads = self._threads
                self._predictor = projection, valued.rows
        model, known = self._predictor
        return model, known.copy()

    def record(self, seconds: float, n: int) -> None:
        """Nothing here depends on time."""

    # ---- what it shows

    @property
    def retained(self) -> IndexArray:
        """Indices into the history of the subset that predicts over the whole box, ascending; a copy."""
        return self.subset_model()[1]

    @property
    def n_retained(self) -> int:
        """How many `retained` holds."""
        return min(self._n_valued or self._n_modelled, self._size)

    @property
    def surrogate(self) -> GaussianProcess:
        """A Gaussian process on the subset retained for the whole box, as of the last update; read only."""
        return self.subset_model()[0]

    @property
    def M(self) -> int | None:
        """Capacity of the retained subsets."""
        return self._size

    @property
    def switched_at(self) -> int | None:
        """Retention begins by itself when there are more than M observations."""
        return self._size + 1 if self._n_modelled > self._size else None

    # ---- how

    def _claim(self, unit: FloatArray) -> int | None:
        """Number, among those issued, of the suggestion that a point that was told answers."""
        for i, each in enumerate(self._issued):
            if np.abs(each.x - unit).max() <= SAME:
                return i
        return None

    def _lead(self, history: History, n: int) -> None:
        """Let the observations before n join the leaders, each once, where there are more than a view holds."""
        if n <= max(self._most, self._n_led):
            return
        rows = np.append(self._leaders, np.arange(self._n_led, n))
        y = np.where(np.isnan(history.y[rows]), -np.inf, history.y[rows])
        leaders = rows[np.sort(np.argsort(-y, kind="stable")[: self._most // 2])]
        self._leaders, self._n_led = leaders, n

    def _view(self, history: History, n: int) -> View:
        """The first n observations; of more than a view holds, half the best, a quarter the newest, others spread.

        Penalties and failures have other values in `y`: see `substituted`.
        """
        rows = np.arange(n)
        if n > self._most:
            newest = np.arange(n - self._most // 4, n)
            rows = np.sort(np.concatenate([self._leaders, newest, evenly(n, self._most // 4)]))
            rows = rows[np.append(True, rows[1:] > rows[:-1])]  # np.unique takes five times as long
        representatives = history.representatives if n == len(history) else None
        if representatives is not None and n > self._most:
            rows = np.union1d(rows, representatives[-(self._most // 2) :])
        noise_std = None if history.noise_std is None else history.noise_std[rows]
        told = history.y[rows]
        y = substituted(told)
        standing = None if representatives is None else np.isin(rows, representatives)
        return View(history.unit[rows], y, self._origin[rows], rows, noise_std, None if y is told else told, standing)

    def _before(self, history: History, row: int) -> View:
        """What was known when a row was told: mostly the view of the last update, which is not made again."""
        seen = self._seen
        if seen is None or row != self._n_modelled or seen.standing is not None:
            return self._view(history, row)
        noise_is_new = seen.noise_std is None and history.noise_std is not None
        return self._view(history, row) if noise_is_new else seen

    def _search(self, n: int, view: View, waiting: Waiting, admit: Admit) -> None:
        """Look for n points, one after the other."""
        team = np.zeros(len(self._searchers), dtype=bool)
        misses = 0
        for _ in range(n):
            x = self._one(view, waiting, admit, team, n)
            if x is not None:
                waiting.add(x)
                misses = 0
            elif (misses := misses + 1) == MISSES:  # the space is as full as points apart from each other make it
                break

    def _draw(self, n: int, waiting: Waiting, admit: Admit) -> None:
        """What `_search` finds of a discrete space in which nothing is known, drawn together.

        Each of n points takes one draw or more, so that no more are drawn, and asked about, than one by one.
        """
        left, vain = n, 0  # points to be looked for, and draws since the last that was found
        while left > 0 and vain < MISSES * LAST_TRIES:
            draws = self._rng.random((min(left, MISSES * LAST_TRIES - vain), self._space.n_draws))
            points = self._space.project(self._space.place(draws))
            for x, admitted in zip(points, admit(points), strict=True):
                if admitted and x not in waiting:
                    waiting.add(x)
                    left, vain = left - 1, 0
                else:
                    vain += 1
                    left -= vain % LAST_TRIES == 0

    def _one(self, view: View, waiting: Waiting, admit: Admit, team: NDArray[np.bool_], n: int) -> FloatArray | None:
        """One point of n. A searcher that makes it joins the team."""
        known = _known(view)
        if known and (x := self._sought(view, waiting, admit, team, n)) is not None:
            return x
        # Under constraints the optimum is often on their boundary, where no point at random is: it is looked for there.
        if self._space.thin or (known and self._space.constrained):
            return None
        return self._drawn(view, waiting, admit, around_best=known)

    def _sought(self, view: View, waiting: Waiting, admit: Admit, team: NDArray[np.bool_], n: int) -> FloatArray | None:
        """What one of a few searchers suggests, if it may be suggested."""
        weights = np.array([1.0 if each.explains else WEAK for each in self._searchers]) * self._shares
        if len(view.y) < self._n_init + min(DELAY * self._dim, LONGEST_DELAY):
            weights[[LOCAL, DESCENT]] = 0.0
        stalled = view.stalled
        if stalled:
            weights *= STALLED
        weights *= _eligible(team, n)
        for _ in range(TRIES):
            searcher = self._credit.choose(weights, self._rng, spread=1.0 if stalled else SPREAD)
            team[searcher] = True
            asked = self._searchers[searcher].suggest(view, waiting.points, self._rng)
            x = self._realised(asked)
            if asked is not None and x is not None and self._free(x, view, waiting, admit):
                told = self._space.to_unit(self._space.from_unit(x[None, :]))[0]
                self._issued = [*self._issued[-1000:], Issued(told, searcher, asked.copy())]
                return x
        return None

    def _drawn(self, view: View, waiting: Waiting, admit: Admit, *, around_best: bool) -> FloatArray | None:
        """A point at random that may be suggested, every other one around the best if that says anything."""
        for _ in range(LAST_TRIES):
            near = self._space.place(self._rng.random((1, self._space.n_draws)))[0]
            if around_best and self._rng.random() < 0.5:
                scale = 10.0 ** self._rng.uniform(-4.0, -0.5)
                best = view.X[view.best]
                near = np.clip(best + scale * self._rng.standard_normal(self._dim), 0.0, 1.0)
                near = self._ground.spread(near[None, :], best, self._rng)[0]
            x = self._realised(near)
            if x is not None and self._free(x, view, waiting, admit):
                return x
        return None

    def _realised(self, x: FloatArray | None) -> FloatArray | None:
        return None if x is None or not np.isfinite(x).all() else self._space.project(x[None, :])[0]

    def _free(self, x: FloatArray, view: View, waiting: Waiting, admit: Admit) -> bool:
        """Whether a point is admitted, and tells something beside those that are known or waited for."""
        if not admit(x[None, :])[0]:
            return False
        if self._space.discrete:
            return x not in waiting
        return apart(x, view.X, waiting.points)


def _known(view: View) -> bool:
    """Whether there is something to go by: where everything failed, no place is better than another."""
    return len(view.y) >= 2 and not view.void


def _eligible(team: NDArray[np.bool_], n: int) -> NDArray[np.bool_]:
    """Who may make a point of n: of few a team of two, of more one of the regions, as models cost, and all others."""
    if n < LARGE:
        return team if team.sum() >= TEAM else np.ones_like(team)
    eligible = np.ones_like(team)
    if team[[LOCAL, GLOBAL]].any():
        eligible[[LOCAL, GLOBAL]] = team[[LOCAL, GLOBAL]]
    return eligible

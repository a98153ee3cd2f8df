"""Region: a Gaussian process on a retained subset, and log expected improvement in a box around the best point.

Notation
--------
M           capacity of the retained subset
l           lengthscales (d); w = l over their geometric mean
L           side of a trust region, in sides of the box: the region is the best point +/- L w / 2
theta       log l (d), log variance, log noise, of largest posterior density

The pool are the observations nearest to the best point in the metric of the lengthscales (a trust region), or the best
and an even spread of the rest (the whole box). The residual rule chooses the retained subset from the pool; responses
are warped and standardised on it.

References
----------
1. Eriksson, Pearce, Gardner, Turner and Poloczek, Scalable global optimization via local Bayesian optimization,
   NeurIPS 2019 (trust regions whose sides follow the lengthscales).
2. Hvarfner, Hellsten and Nardi, Vanilla Bayesian optimization performs great in high dimensions, ICML 2024 (a prior
   of the lengthscales that grows with the square root of d).
3. Regis and Shoemaker, Combining radial basis function surrogates and dynamic coordinate search in high-dimensional
   expensive black-box optimization, Engineering Optimization 45(5), 2013 (masks of coordinates).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from gssbo._typing import FloatArray, IndexArray
from gssbo.fantasy import fantasize
from gssbo.history import evenly
from gssbo.map_gp import MUCH_NOISE, Improvement, MapGaussianProcess
from gssbo.portfolio.continuum import Continuum
from gssbo.portfolio.lattice import Lattice
from gssbo.portfolio.prediction import on_subset
from gssbo.portfolio.subset import residual_subset
from gssbo.portfolio.view import View
from gssbo.portfolio.warp import POWERS, slopes, warp

__all__ = ["Region"]

FIRST, LEAST, MOST = 0.4, 3e-3, 1.6  # sides of a trust region
WIDER, SUCCESS = 1.5, 1e-3  # after an improvement of so large a part of the spread of the best
REFIT = 3  # suggestions a theta stands for
REWARP = 4  # fits a warp stands for
CLIMBS, STEPS = 15, 25  # evaluations of a fit from the last theta, and of the first
N_BASINS, SAME_BASIN = 20, 0.05  # starts of walks to other basins; distance of tops times the square root of d
N_CANDIDATES, N_POLISHED, POLISH = 1000, 2, 15
SPREAD_OUT, ELSEWHERE = 0.5, 0.25  # shares of a stalled search: of a few uniform points the best; in other basins
N_DRAWN = 5  # those few
N_AGAIN, POLISH_AGAIN = 60, 8  # from the same model: for a further suggestion, for a further point of a batch
MOST_PENDING = 100  # points whose values are awaited that count, those nearest to the best point
CLEARLY = 10.0  # nats by which much noise must be likelier
NOISY = 1e-3  # noise variance from which the best point is the one of the best mean


class Region:
    """See the module; `Searcher` for the methods.

    Parameters
    ----------
    dim : int
        d.
    trust : bool
        Whether there is a trust region, or the whole box.
    size : int
        M.
    ground : Continuum or Lattice, optional
        The points that there are; default: a continuum.
    """

    def __init__(self, dim: int, *, trust: bool, size: int = 100, ground: Continuum | Lattice | None = None) -> None:
        self._dim, self._trust, self.size = dim, trust, size
        self._ground = Continuum(dim) if ground is None else ground
        self._side = FIRST
        self._shrink = 0.5 ** (1.0 / max(4.0, 0.5 * min(dim, 20)))
        self.gp = MapGaussianProcess()
        self._theta: FloatArray | None = None
        self._power = 1.0
        self._age = self._n_fits = 0
        self._members: View | None = None  # what the model stands on
        self._z = np.empty(0)  # and their warped responses
        self._newest = -1  # of the view they are from
        self.explains = True

    def observe(self, view: View, x: FloatArray, y: float, *, asked: FloatArray) -> float:
        """Widen the trust region after a success, narrow it after a failure; see `Searcher`."""
        gain = y - float(view.y.max())
        top = min(len(view.y), 4 * self._dim + 10)
        upper = np.partition(view.y, len(view.y) - top)[len(view.y) - top :]
        if gain > SUCCESS * float(upper.max() - np.median(upper)):
            self._side = min(self._side * WIDER, MOST)
        else:
            self._side *= self._shrink
            if self._side < LEAST:
                self._side = FIRST
        return gain

    def suggest(self, view: View, pending: FloatArray, rng: np.random.Generator) -> FloatArray | None:
        """The maximiser of log expected improvement that candidates and a climb from the best of them find."""
        again = view.newest == self._newest if len(view.y) else False
        members = self._members if again else self.fit(view)
        if members is None:
            return None
        improvement, centre = self._improvement(members, pending)
        n = N_AGAIN if again else N_CANDIDATES
        if not self._trust and view.stalled:
            x = self._away(improvement, centre, n, view, rng)
            if x is not None:
                return x
        box = self._box(centre)
        candidates = self._ground.spread(_candidates(centre, box, n, rng), centre, rng)
        candidates = self._ground.open(candidates, view.X)
        if len(candidates) == 0:
            return None
        scores = improvement.at(candidates)
        order = np.argsort(-scores, kind="stable")[: 1 if again else N_POLISHED]
        found: FloatArray = candidates[order[0]]
        value = float(scores[order[0]])
        most = POLISH_AGAIN if again and len(pending) else POLISH
        for i in order:
            x, height = self._ground.climb(improvement, candidates[i], box, view.X, max_evaluations=most, rng=rng)
            if height > value:
                found, value = x, height
        return found

    def _improvement(self, members: View, pending: FloatArray) -> tuple[Improvement, FloatArray]:
        """What is climbed, as if the pending points had the values foreseen for them, and the best point."""
        gp, best = self.gp, int(np.argmax(self._z))
        centre, level = members.X[best], float(self._z[best])
        if gp.noise_ > NOISY or gp.known_noise_.any():
            mean, _ = gp.posterior(np.ascontiguousarray(members.X))
            best = int(np.argmax(mean))
            centre, level = members.X[best], float(mean[best])
        if len(pending):
            if len(pending) > MOST_PENDING:
                near = np.argsort(((pending - centre) ** 2).sum(axis=1), kind="stable")[:MOST_PENDING]
                pending = pending[near]
            fantasy = fantasize(gp, pending)
            assert isinstance(fantasy, MapGaussianProcess)
            gp = fantasy
            level = max(level, float(gp.posterior(np.ascontiguousarray(pending))[0].max()))
        return Improvement(gp, level), centre

    def _away(
        self, improvement: Improvement, centre: FloatArray, n: int, view: View, rng: np.random.Generator
    ) -> FloatArray | None:
        """Now and then a point elsewhere: a model that is sure of what it has not seen is cured by looking there."""
        chance = rng.random()
        if chance < SPREAD_OUT:
            drawn = self._ground.anywhere(N_DRAWN, rng)
            promising: FloatArray = drawn[int(np.argmax(improvement.at(drawn)))]
            return promising
        return self._basin(improvement, centre, n, view, rng) if chance < SPREAD_OUT + ELSEWHERE else None

    def _basin(
        self, improvement: Improvement, centre: FloatArray, n: int, view: View, rng: np.random.Generator
    ) -> FloatArray | None:
        """Where the improvement is largest outside of the best point's basin.

        From there the uphill walk on the mean does not end at the best point.
        """
        cube = np.zeros(self._dim), np.ones(self._dim)
        candidates = self._ground.anywhere(n, rng)
        scores = improvement.at(candidates)
        # So far below the responses, expected improvement is the mean.
        mean = Improvement(improvement.gp, float(improvement.gp.y_train_.min()) - 10.0)
        found, value = None, -np.inf
        for i in np.argsort(-scores, kind="stable")[: min(N_BASINS, max(n // 20, 1))]:
            x, height = self._ground.climb(improvement, candidates[i], cube, view.X, max_evaluations=POLISH, rng=rng)
            if height > value:
                top, _ = mean.climb(x, cube, max_evaluations=4 * POLISH)
                if float(((top - centre) ** 2).sum()) > SAME_BASIN**2 * self._dim:
                    found, value = x, height
        return found

    def fit(self, view: View) -> View | None:
        """Choose the retained subset and fit to it; None where there is nothing to fit."""
        if len(view.y) < 2:
            return None
        members = view.only(self._choose(view))
        X, y = np.ascontiguousarray(members.X), members.y
        if self._theta is None or self._age % REFIT == 0:
            self._search(X, members)
        self._z, _ = warp(y, self._power)
        assert self._theta is not None
        self.gp.set_theta(X, self._z, self._theta, _known(members, self._power))
        self._members, self._newest, self._age = members, view.newest, self._age + 1
        return members

    def predictor(self, view: View) -> tuple[MapGaussianProcess, IndexArray]:
        """What predicts in units of y from a retained subset, and the rows of that; nothing here moves."""
        valued = view.valued
        return on_subset(valued, np.sort(self._choose(valued)), self._theta, self.size)

    # ---- how

    def _choose(self, view: View) -> IndexArray:
        """Indices into the view of what is retained; no point goes before another is there twice."""
        one_each = view.one_each
        if view.standing is None or len(one_each) > self.size:
            return one_each[self._among(view.only(one_each))]
        repeats = np.setdiff1d(np.arange(len(view.y)), one_each)
        room = min(self.size - len(one_each), len(repeats))
        return np.sort(np.concatenate([one_each, repeats[len(repeats) - room :]]))

    def _among(self, view: View) -> IndexArray:
        pool = self._pool(view)
        return pool[self._retain(view.only(pool))] if len(pool) > self.size else pool

    def _weights(self) -> FloatArray:
        if self._theta is None:
            return np.ones(self._dim)
        logs = self._theta[: self._dim]
        weights: FloatArray = np.exp(np.clip(logs - logs.mean(), -4.6, 4.6))
        return weights

    def _pool(self, view: View) -> IndexArray:
        n = len(view.y)
        if self._trust:
            offset = (view.X - view.X[view.best]) / self._weights()
            return np.argsort((offset * offset).sum(axis=1), kind="stable")[: 2 * self.size]
        if n <= 4 * self.size:
            return np.arange(n)
        order = np.argsort(-view.y, kind="stable")
        rest = np.sort(order[2 * self.size :])
        return np.concatenate([order[: 2 * self.size], rest[evenly(len(rest), 2 * self.size)]])

    def _retain(self, pool: View) -> IndexArray:
        if not self.gp.fitted:
            return np.arange(self.size)
        return residual_subset(self.gp, pool, self.size, warp(pool.y, self._power)[0])

    def _search(self, X: FloatArray, members: View) -> None:
        """Theta of largest posterior density; now and then under every warp, of which the likeliest stays."""
        anew = self._n_fits % REWARP == 0
        best, found = -np.inf, (self._power, self._theta)
        for power in POWERS if anew else (self._power,):
            z, J = warp(members.y, power)
            search = partial(self.gp.most_probable, X, z, known=_known(members, power))
            theta, value = search(start=self._theta, max_evaluations=STEPS if self._theta is None else CLIMBS)
            if value + J > best or found[1] is None:
                best, found = value + J, (power, theta)
        if anew:  # a chain of searches that began with little noise may take noise for signal
            z, J = warp(members.y, found[0])
            theta, value = self.gp.most_probable(
                X, z, start=None, noise=MUCH_NOISE, max_evaluations=STEPS, known=_known(members, found[0])
            )
            if value + J > best + CLEARLY:
                found = found[0], theta
        self._power, self._theta = found
        self._n_fits += 1

    def _box(self, centre: FloatArray) -> tuple[FloatArray, FloatArray]:
        if not self._trust:
            return np.zeros(self._dim), np.ones(self._dim)
        half = 0.5 * self._side * self._weights()
        return np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)


def _known(members: View, power: float) -> FloatArray | None:
    """Known noise variances (n,) of the warped responses."""
    if members.noise_std is None:
        return None
    with np.errstate(divide="ignore"):
        return members.known_noise(1.0 / slopes(members.y, power))


def _candidates(centre: FloatArray, box: tuple[FloatArray, FloatArray], n: int, rng: np.random.Generator) -> FloatArray:
    """Half over the box on some twenty coordinates, half around the centre on masks at log-uniform scales."""
    (low, high), d, half = box, len(centre), n // 2
    spread = low + (high - low) * rng.random((half, d))
    wide = np.where(rng.random((half, d)) < min(1.0, 20.0 / d), spread, centre)
    share = np.maximum(rng.choice([0.05, 0.2, 0.5, 1.0], size=(half, 1)), 1.0 / d)
    mask = rng.random((half, d)) < share
    mask[np.arange(half), rng.integers(d, size=half)] = True
    scale = 10.0 ** rng.uniform(-3.0, 0.0, (half, 1))
    near = np.clip(centre + mask * scale * (high - low) * rng.uniform(-1.0, 1.0, (half, d)), low, high)
    return np.ascontiguousarray(np.vstack([wide, near]))

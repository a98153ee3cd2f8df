"""Descent: steps to the minimiser of a local quadratic model, from several starts in turn.

Notation
--------
b, r        base point (d,), the best of this descent, and radius of the trust region
u           (x - b) / r; f = -y; q(u) = g.u + u' H u / 2 models f(x) - f(b)
k(u, v)     u.v + s (u.v)^2 / 2: covariance of q with independent normal coefficients
tau         error of the quadratic form at |u| = 1; it grows as |u|^3, the next term of Taylor's series

The coefficients are the posterior mean given the nearest observations; s and tau are those of largest likelihood, the
variance factor profiled out. With few observations this is a least-norm model, with (d + 1)(d + 2) / 2 and more a
regression. Where nothing more is gained, the descent starts anew from a good observation that no earlier descent came
from or ended near; where all good ones are near those, from far away.

References
----------
1. Powell, The NEWUOA software for unconstrained optimization without derivatives, 2006 (least-norm quadratics).
2. Conn, Scheinberg and Vicente, Introduction to Derivative-Free Optimization, SIAM 2009, chapters 4 to 6.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gssbo._typing import FloatArray
from gssbo.factor import Factor, gram, product
from gssbo.portfolio.ball import Outer, minimize_in_ball
from gssbo.portfolio.view import View

__all__ = ["Descent"]

CURVATURES = (0.1, 10.0)
ERRORS = (1e-10, 1e-7, 1e-4, 1e-2)
ROUNDING = 1e-13  # of a response, relative to the covariance
FIRST, LEAST, MOST = 0.1, 1e-9, 0.5  # radii, in sides of the box
STARTS = 400  # best observations among which another start is looked for
PROMISE = 20.0  # gains as large as the latest that would have to catch up with the best
REMEMBERED = 256  # starts and ends
BASIN = 0.02  # least distance between two starts, times the square root of d
ASIDE = 0.7  # of the radius: how far a point goes that is to tell about the model


class _Place(NamedTuple):
    """Where a descent ended or began."""

    x: FloatArray
    y: float  # what it gave there
    reach: float  # how far from it no other descent begins


class _Step(NamedTuple):
    """A point that was suggested."""

    x: FloatArray
    predicted: float  # gain; 0 where the point is to tell about the model
    length: float  # |u|


class _Quadratic(NamedTuple):
    """q, and what is known of it: the likeliest model of the observations around the base."""

    g: FloatArray
    H: FloatArray | Outer
    curvature: float  # s
    factor: Factor  # of the covariance
    weight: FloatArray  # by which that was scaled (n,)


class Descent:
    """See the module; `Searcher` for the methods.

    Parameters
    ----------
    dim : int
        d.
    """

    def __init__(self, dim: int) -> None:
        self._dim = dim
        self._x: FloatArray | None = None
        self._y = -np.inf
        self._start = np.zeros(dim)
        self._radius = FIRST
        self._places: list[_Place] = []
        self._issued: list[_Step] = []
        self._failures = 0
        self._path: list[float] = []  # the best of this descent after each of its steps
        self._explore = False
        self._newest = -1  # of the view of the latest step
        self.explains = True

    def observe(self, view: View, x: FloatArray, y: float, *, asked: FloatArray) -> float:
        """Move the base and the radius; see `Searcher`."""
        issued = next((each for each in self._issued if np.array_equal(each.x, asked)), None)
        self._issued = self._issued[-8:] if issued is None else []
        best = float(view.y.max()) if len(view.y) else -np.inf
        if issued is not None and np.isfinite(self._y):
            _, predicted, length = issued
            gain = y - self._y
            spread = self._spread(view)
            negligible = 0.0 < predicted <= 1e-10 * spread  # a few of these are enough
            self._failures = 0 if gain > 1e-9 * spread else self._failures + (5 if negligible else 1)
            if predicted > 0.0:
                if gain > 0.7 * predicted and length > 0.9:
                    self._radius = min(2.0 * self._radius, MOST)
                elif gain < 0.1 * predicted:
                    self._explore = True
                    self._radius = max(self._radius * (0.5 if length > 0.5 else max(length, 0.1)), LEAST)
            if gain > 0.0:
                self._x, self._y = x.copy(), y
            self._path = [*self._path[-5 - self._dim :], self._y]
        return y - best

    def suggest(self, view: View, pending: FloatArray, rng: np.random.Generator) -> FloatArray | None:
        """A step of the descent, or a point that tells most about the model where steps failed."""
        if self._issued and len(pending) == 0:  # the last step was refused: it led to a point that is known
            self._issued, self._explore = [], True
            self._failures += 1
        self._choose_base(view)
        assert self._x is not None
        if view.newest == self._newest and len(pending):
            return self._aside(self._x, rng)
        x = self._step(self._x, view, pending, rng)
        self._newest = view.newest
        return x

    # ---- how

    def _step(self, base: FloatArray, view: View, pending: FloatArray, rng: np.random.Generator) -> FloatArray | None:
        """What `suggest` does where this is the first suggestion from a view."""
        radius = self._radius
        offset = view.X - base
        distance = np.sqrt((offset * offset).sum(axis=1))
        near = np.argsort(distance, kind="stable")[: self._n_points()]
        near = near[distance[near] > 1e-7 * radius]
        f = self._y - view.y[near]
        scale = float(np.abs(f).max(initial=0.0))
        if len(near) < 2 or not (np.isfinite(scale) and scale > 0.0):
            return np.clip(base + radius * rng.uniform(-1.0, 1.0, self._dim), 0.0, 1.0)
        U = offset[near] / radius
        model = _fit(U, f / scale, distance[near] / radius)
        if model is None:
            return None
        low, high = -base / radius, (1.0 - base) / radius
        u, decrease = minimize_in_ball(model.g, model.H, 1.0, low, high)
        predicted = decrease * scale
        if self._explore or not predicted > 1e-14 * abs(self._y):
            self._explore = False
            trial, unknown = _telling(model, U, low, high, rng)
            if unknown > 1e-4:
                u, predicted = trial, 0.0
        x: FloatArray = np.clip(base + radius * u, 0.0, 1.0)
        if len(pending) and float(((pending - x) ** 2).sum(axis=1).min()) < (0.1 * radius) ** 2:
            return self._aside(base, rng)
        self._issued.append(_Step(x, predicted, float(np.sqrt((u * u).sum()))))
        return x

    def _aside(self, base: FloatArray, rng: np.random.Generator) -> FloatArray:
        """A point in a random direction, where the step is being evaluated already."""
        direction = rng.standard_normal(self._dim)
        u = ASIDE * direction / np.sqrt((direction * direction).sum())
        x: FloatArray = np.clip(base + self._radius * u, 0.0, 1.0)
        self._issued.append(_Step(x, 0.0, ASIDE))
        return x

    def _n_points(self) -> int:
        d = self._dim
        return min(int(0.65 * (d + 1) * (d + 2)) + 5, max(150, 2 * d + 20))

    def _spread(self, view: View) -> float:
        return float(view.y.max() - np.median(view.y)) if len(view.y) else 0.0

    def _ended_near(self, x: FloatArray, y: float, slack: float) -> bool:
        if not self._places:
            return False
        ends, values, reaches = (np.array(each) for each in zip(*self._places, strict=True))
        near = ((x - ends) ** 2).sum(axis=1) < reaches * reaches
        return bool((near & (y <= values + slack)).any())

    def _choose_base(self, view: View) -> None:
        best, slack = view.best, 1e-9 * self._spread(view)
        x, y = view.X[best], float(view.y[best])
        if self._x is None:
            self._begin(x, y, FIRST)
        elif self._failures > 10 + 2 * self._dim or self._radius <= 10.0 * LEAST or self._hopeless(y):
            reach = max(BASIN * np.sqrt(self._dim), 0.5 * float(np.sqrt(((self._x - self._start) ** 2).sum())))
            began = _Place(self._start, -np.inf, BASIN * float(np.sqrt(self._dim)))
            self._places = [*self._places, _Place(self._x, self._y, reach), began][-REMEMBERED:]
            if self._ended_near(x, y, slack):
                x, y = self._other_start(view)
            self._begin(x, y, FIRST)
        elif y > self._y and not self._ended_near(x, y, slack):
            moved = float(np.sqrt(((x - self._x) ** 2).sum()))
            if moved > 3.0 * self._radius:
                self._begin(x, y, min(0.5 * moved, 0.2))
            else:
                self._x, self._y = x.copy(), y

    def _hopeless(self, best: float) -> bool:
        """Whether steps elsewhere than at the best point gain too little to catch up with it."""
        recent = len(self._path) - (6 + self._dim)
        return recent >= 0 and best > self._y and PROMISE * (self._y - self._path[recent]) < best - self._y

    def _begin(self, x: FloatArray, y: float, radius: float) -> None:
        self._x, self._y, self._start, self._radius = x.copy(), y, x.copy(), radius
        self._failures, self._explore, self._issued, self._path = 0, False, [], []

    def _other_start(self, view: View) -> tuple[FloatArray, float]:
        """A good observation that is far from any better one, away from where descents came from or ended.

        Where all the best are near those, one that is far from them.
        """
        order = np.argsort(-view.y, kind="stable")
        X = view.X[order]
        best = X[:STARTS]
        lonely = np.empty(len(best))  # distance to the nearest better one
        lonely[0] = np.sqrt(self._dim)
        for i in range(1, len(best)):
            lonely[i] = np.sqrt(((X[:i] - X[i]) ** 2).sum(axis=1).min())
        reaches = np.array([place.reach for place in self._places])
        near = (self._from_places(best) < (reaches * reaches)[:, None]).any(axis=0)
        if near.all():
            score = np.sqrt(self._from_places(X).min(axis=0)) * (1.0 - np.arange(len(X)) / len(X))
        else:
            score = np.where(near, -1.0, lonely * (1.0 - np.arange(len(best)) / len(best)))
        start = int(np.argmax(score))
        return X[start], float(view.y[order[start]])

    def _from_places(self, X: FloatArray) -> FloatArray:
        """Squared distances (m, n) of points X (n, d) from the m places where descents ended or began."""
        return np.array([((X - place.x) ** 2).sum(axis=1) for place in self._places])


def _fit(U: FloatArray, f: FloatArray, distance: FloatArray) -> _Quadratic | None:
    """The model of the pair (s, tau) of largest likelihood."""
    n = len(f)
    G = gram(np.ascontiguousarray(U.T))
    error = np.minimum(distance, 1e6) ** 6 + 1e-4
    best, found = -np.inf, None
    for curvature in CURVATURES:
        covariance = G + 0.5 * curvature * G * G
        variance = covariance.diagonal()
        for tau in ERRORS:
            diagonal = variance * (1.0 + ROUNDING) + tau * error
            weight = 1.0 / np.sqrt(diagonal)  # the diagonal spans decades
            A = covariance * weight[:, None]
            A *= weight
            A[np.diag_indices(n)] = 1.0
            try:
                factor = Factor(A)
            except np.linalg.LinAlgError:
                continue
            a = weight * factor.solve(weight * f)
            misfit = float((f * a).sum())
            value = -0.5 * n * np.log(max(misfit, 1e-300)) - factor.half_log_determinant + float(np.log(weight).sum())
            if np.isfinite(value) and value > best:
                best, found = value, (a, curvature, factor, weight)
    if found is None:
        return None
    a, curvature, factor, weight = found
    g = (U * a[:, None]).sum(axis=0)
    if n < U.shape[1]:
        return _Quadratic(g, Outer(U, curvature * a), curvature, factor, weight)
    H = curvature * product(U * a[:, None], U)
    return _Quadratic(g, 0.5 * (H + H.T), curvature, factor, weight)


def _telling(
    model: _Quadratic, U: FloatArray, low: FloatArray, high: FloatArray, rng: np.random.Generator
) -> tuple[FloatArray, float]:
    """Of steps in random directions and along the axes, within the box, the `_least_known`, and its ratio."""
    directions = rng.standard_normal((100, len(low)))
    directions /= np.sqrt((directions * directions).sum(axis=1))[:, None]
    along = np.concatenate([np.minimum(ASIDE, high), np.maximum(-ASIDE, low)])
    return _least_known(np.clip(ASIDE * directions, low, high), along, U, model)


def _least_known(trials: FloatArray, along: FloatArray, U: FloatArray, model: _Quadratic) -> tuple[FloatArray, float]:
    """The trial of largest posterior over prior variance of q, and that ratio.

    Trials are (m, d), and steps along the axes up and down (2 d,), whose products with U take no sums.
    """
    m, d = trials.shape
    C = np.hstack([product(np.ascontiguousarray(U.T), np.ascontiguousarray(trials.T)), np.tile(U, 2) * along])
    V = model.factor.whiten((C + 0.5 * model.curvature * C * C) * model.weight[:, None])
    squares = np.append((trials * trials).sum(axis=1), along * along)
    prior = np.maximum(squares + 0.5 * model.curvature * squares * squares, 1e-300)
    unknown = 1.0 - (V * V).sum(axis=0) / prior
    most = int(np.argmax(unknown))
    u = trials[most] if most < m else np.where(np.arange(d) == (most - m) % d, along[most - m], 0.0)
    return u, float(unknown[most])

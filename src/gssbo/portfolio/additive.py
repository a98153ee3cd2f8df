"""Additive: a sum of functions of one coordinate each, improved coordinate by coordinate around the best point.

Notation
--------
X, z        the elite: the best observations that no descent made (n, d), and their warped responses with the sign
            turned, to be minimised (n,)
l           lengthscale, in sides of the box, the same for all coordinates
k(x, v)     5 + s exp(-|x - v|^2 / (0.18 d)) + sum_j exp(-(x_j - v_j)^2 / (2 l^2)) / d
tau         variance of what the model leaves over
t           values a coordinate may take: a grid, and some at random

Lengthscale, s, tau and warp are those of largest likelihood on a grid, where later fits move by one step. On a random
mask of coordinates around the best point each coordinate takes the value of the lowest confidence bound of its own
change in the sum.

References
----------
1. Duvenaud, Nickisch and Rasmussen, Additive Gaussian processes, NeurIPS 2011.
2. Kandasamy, Schneider and Poczos, High dimensional Bayesian optimisation and bandits via additive models, ICML 2015.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gssbo._typing import FloatArray
from gssbo.columns import still_columns
from gssbo.factor import Factor
from gssbo.kernels import Kernel
from gssbo.portfolio.view import View
from gssbo.portfolio.warp import likeliest_form, warp

__all__ = ["Additive"]

OFFSET = 5.0
LENGTHSCALES = (0.02, 0.05, 0.1, 0.2, 0.4)
SHARED = (0.0, 0.3)  # variance of the part that is not a sum
SHARED_LENGTHSCALE = 0.3  # times the square root of d
LEFT_OVER = (1e-6, 1e-3, 1e-2, 0.1, 1.0)
POWERS = (1.0, 0.5, 0.0)
BETAS = (0.0, 0.5, 1.0, 2.0)
GRID, RANDOM = 129, 32
GRID_AGAIN, RANDOM_AGAIN = 33, 16  # for a further point of a batch, from the same model
ELITE = 300  # observations in the elite
REFIT = 10
AT_ONCE = 24  # values of a coordinate whose bounds are solved for together


class _Form(NamedTuple):
    lengthscale: float
    shared: float
    tau: float
    power: float
    variance: float


class _Fit(NamedTuple):
    """A model of a view."""

    form: _Form
    X: FloatArray  # the elite (n, d), the best first
    factor: Factor  # of its covariance with tau
    weights: FloatArray  # covariance's solution for -z (n,)
    still: NDArray[np.bool_]  # coordinates (d,) in which the elite are equal, where these are many


class Additive:
    """See the module; `Searcher` for the methods.

    Parameters
    ----------
    dim : int
        d.
    foreign : int
        Origin that the elite leaves out, but for the best observation of all.
    """

    def __init__(self, dim: int, foreign: int) -> None:
        self._dim, self._foreign = dim, foreign
        self._share = 0.3  # of the coordinates that change
        self._fit: _Fit | None = None
        self._age = 0  # views since the first
        self._newest = -1  # of the latest of them, which the fit is of

    @property
    def explains(self) -> bool:
        """Whether less than half of the elite's variance is left over."""
        return self._fit is None or self._fit.form.tau < 1.0

    def observe(self, view: View, x: FloatArray, y: float, *, asked: FloatArray) -> float:
        """Change more coordinates after a success, fewer after a failure; see `Searcher`."""
        gain = y - float(view.y.max())
        factor = 1.5 if gain > 0.0 else 0.93
        self._share = float(np.clip(self._share * factor, min(1.5 / self._dim, 1.0), 1.0))
        return gain

    def suggest(self, view: View, pending: FloatArray, rng: np.random.Generator) -> FloatArray | None:
        """The best point with some coordinates moved to where the model expects most."""
        d = self._dim
        again = view.newest == self._newest and self._fit is not None
        fit = self._fit if again else self._model(view)
        if fit is None:
            return None
        best = fit.X[0]
        x: FloatArray = best.copy()
        mask = rng.random(d) < self._share
        if not mask.any():
            mask[rng.integers(d)] = True
        beta = 0.0 if again else float(rng.choice(BETAS))  # a bound takes a solve for each coordinate
        n_grid, n_random = (GRID_AGAIN, RANDOM_AGAIN) if again and len(pending) else (GRID, RANDOM)
        grid, drawn = np.linspace(0.0, 1.0, n_grid), rng.random((int(mask.sum()), n_random))
        for j, some in zip(np.flatnonzero(mask), drawn, strict=True):
            lowest = _lowest_where_equal if fit.still[j] else _lowest
            x[j] = lowest(np.concatenate([grid, some]), fit.X[:, j], best[j], d, fit, beta)
        if np.array_equal(x, best):
            x = np.clip(x + mask * rng.normal(0.0, 0.05, d), 0.0, 1.0)
        return x

    def _model(self, view: View) -> _Fit | None:
        """Fit to the elite of a view; None where that is too small."""
        keep = view.origin != self._foreign
        keep[view.best] = True
        seen = view.only(keep)
        elite = np.argsort(-seen.y, kind="stable")[:ELITE]
        if len(elite) < 4:
            return None
        X, y = np.ascontiguousarray(seen.X[elite]), seen.y[elite]
        covariance = _covariances(X)
        form = None if self._fit is None else self._fit.form
        if form is None or self._age % REFIT == 0:
            form = _largest_likelihood(covariance, y, form)
        factor = Factor(covariance(form.lengthscale, form.shared), form.tau + 1e-9)
        fit = _Fit(form, X, factor, factor.solve(-warp(y, form.power)[0]), _still(X))
        self._fit, self._newest, self._age = fit, view.newest, self._age + 1  # all or none, as Ctrl-C goes
        return fit


def _lowest(values: FloatArray, column: FloatArray, now: float, d: int, fit: _Fit, beta: float) -> float:
    """The value of a coordinate whose change in the sum has the lowest confidence bound."""
    form = fit.form
    kernel = Kernel("rbf", np.array([form.lengthscale]), 1.0 / d)
    here = np.array([[now]])
    points = np.ascontiguousarray(column[:, None])
    change = kernel(points, values[:, None]) - kernel(points, here)  # (n, m)
    mean = (change * fit.weights[:, None]).sum(axis=0)
    if not beta > 0.0:
        return float(values[int(np.argmin(mean))])
    prior = 2.0 / d - 2.0 * kernel(values[:, None], here)[:, 0]

    bound = mean - beta * np.sqrt(np.maximum(prior, 0.0) * form.variance)  # a solve can only raise it
    order, solved = np.argsort(bound, kind="stable"), np.full(len(values), np.inf)
    for some in np.split(order, range(AT_ONCE, len(order), AT_ONCE)):
        if bound[some[0]] > solved.min():
            break
        V = fit.factor.whiten(change[:, some])
        left = np.maximum(prior[some] - (V * V).sum(axis=0), 0.0)
        solved[some] = mean[some] - beta * np.sqrt(left * form.variance)
    return float(values[int(np.argmin(solved))])


def _lowest_where_equal(values: FloatArray, column: FloatArray, now: float, d: int, fit: _Fit, beta: float) -> float:
    """`_lowest` where all entries of the column are equal, as in a category that nobody tried: change is one of all."""
    form = fit.form
    change = (np.exp(-0.5 * ((values - now) / form.lengthscale) ** 2) - 1.0) / d
    bound = change * fit.weights.sum()
    if beta > 0.0:
        ones = fit.factor.whiten(np.ones(len(column)))
        left = np.maximum(-2.0 * change - change**2 * (ones * ones).sum(), 0.0)
        bound = bound - beta * np.sqrt(left * form.variance)
    return float(values[int(np.argmin(bound))])


def _still(X: FloatArray) -> NDArray[np.bool_]:
    """Coordinates (d,) but the first in which all of X (n, d) are equal, where these are many."""
    still = still_columns(X)
    still[0] = False  # a sum begins with one
    return still


def _covariances(X: FloatArray) -> Callable[[float, float], FloatArray]:
    """The covariance of X, its upper triangle, for a lengthscale and s; the terms are computed once."""
    n, d = X.shape
    columns = np.ascontiguousarray(X.T)[:, :, None]
    still = _still(X)
    columns, n_still = columns[~still], int(still.sum())

    @cache
    def additive(lengthscale: float) -> FloatArray:
        kernel = Kernel("rbf", np.array([lengthscale]), 1.0 / d)
        term = kernel.padded_gram(columns[0], 0.0, full=False)
        K = OFFSET + term
        for column in columns[1:]:
            K += kernel.padded_gram(column, 0.0, full=False, out=term)
        K += n_still / d
        return K[:, :n]

    @cache
    def joint(shared: float) -> FloatArray:
        kernel = Kernel("rbf", np.full(d, SHARED_LENGTHSCALE * np.sqrt(d)), shared)
        return kernel.padded_gram(X, 0.0, full=False)[:, :n]

    return lambda lengthscale, shared: additive(lengthscale) + (joint(shared) if shared > 0.0 else 0.0)


def _neighbours(last: _Form | None) -> list[tuple[float, float, float]]:
    """Triples (lengthscale, shared, tau) to try: all of them at first, then those one step from the last."""
    if last is None:
        return list(product(LENGTHSCALES, SHARED, LEFT_OVER))
    now = (last.lengthscale, last.shared, last.tau)
    triples = [now]
    for place, grid in enumerate((LENGTHSCALES, SHARED, LEFT_OVER)):
        at = grid.index(now[place])
        for step in (at - 1, at + 1):
            if 0 <= step < len(grid):
                moved = list(now)
                moved[place] = grid[step]
                triples.append((moved[0], moved[1], moved[2]))
    return sorted(triples)


def _largest_likelihood(covariance: Callable[[float, float], FloatArray], y: FloatArray, last: _Form | None) -> _Form:
    covariances = ((triple, covariance(*triple[:2]), triple[2]) for triple in _neighbours(last))
    found = likeliest_form(covariances, y, POWERS)
    if found is None:
        return last or _Form(LENGTHSCALES[-1], SHARED[0], LEFT_OVER[-1], 1.0, 1.0)
    return _Form(*found[0], *found[1:])

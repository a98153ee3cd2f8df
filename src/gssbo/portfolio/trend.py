"""Trend: the wide quadratic through the best observations, ripples taken as noise.

Notation
--------
c, w        mean (d,) of the best quarter of the elite, and standard deviations (d,) of the elite
u           (x - c) / w
k(u, v)     10 + u.v / d + s Q(u, v): covariance of the trend, Q of squares alone or of all products of two coordinates
tau         variance of what the trend leaves over
R           radius of the ball that is searched, in units of the square root of d

The elite are the best few observations that no local searcher made: clusters around a local optimum would bend the
trend. The suggestion minimises a draw of the trend from its posterior in the ball, so that the next elite tells what
this one leaves open. Form, s, tau and the warp of the responses are those of largest likelihood.

References
----------
1. Thompson, On the likelihood that one unknown probability exceeds another, Biometrika 25, 1933.
2. Box and Wilson, On the experimental attainment of optimum conditions, 1951 (response surfaces).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gssbo._typing import FloatArray
from gssbo.columns import deviations
from gssbo.factor import Factor, gram, product
from gssbo.portfolio.ball import minimize_in_ball
from gssbo.portfolio.view import View
from gssbo.portfolio.warp import likeliest_form, warp

__all__ = ["Trend"]

OFFSET = 10.0
CURVATURES = (0.1, 1.0)
LEFT_OVER = (1e-4, 1e-3, 1e-2, 0.1, 0.5, 1.0, 3.0)
POWERS = (1.0, 0.5, 0.0)
ALL_PRODUCTS = 30  # dimensions up to which products of two coordinates are tried
MOST = 300  # observations in the elite
REFIT = 4  # suggestions a choice of form, s, tau and warp stands for


class _Form(NamedTuple):
    products: bool
    curvature: float
    tau: float
    power: float
    variance: float


class _Fit(NamedTuple):
    """A model of a view."""

    form: _Form
    centre: FloatArray  # c (d,)
    width: FloatArray  # w (d,)
    U: FloatArray  # u of the elite (n, d)
    z: FloatArray  # its warped responses (n,)
    factor: Factor  # of its covariance with tau


class Trend:
    """See the module; `Searcher` for the methods.

    Parameters
    ----------
    dim : int
        d.
    wide : tuple of int
        Origins the elite is taken from, beside the best observation of all.
    """

    def __init__(self, dim: int, wide: tuple[int, ...]) -> None:
        self._dim, self._wide = dim, wide
        self._radius = 1.0
        self._fit: _Fit | None = None
        self._age = 0  # views since the first
        self._newest = -1  # of the latest of them, which the fit is of

    @property
    def explains(self) -> bool:
        """Whether at most half of the elite's variance is left over."""
        return self._fit is None or self._fit.form.tau <= 1.0

    def _own(self, view: View) -> View:
        keep = np.isin(view.origin, self._wide)
        return view.only(keep) if keep.any() else view

    def observe(self, view: View, x: FloatArray, y: float, *, asked: FloatArray) -> float:
        """Widen the ball after a success, narrow it after a failure; see `Searcher`."""
        gain = y - float(self._own(view).y.max())
        self._radius = float(np.clip(self._radius * (1.5 if gain > 0.0 else 0.95), 0.2, 2.0))
        return gain

    def suggest(self, view: View, pending: FloatArray, rng: np.random.Generator) -> FloatArray | None:
        """The minimiser of a posterior draw of the trend."""
        fit = self._fit if view.newest == self._newest else self._model(view)
        if fit is None:
            return None
        g, H = _draw(fit, rng)
        low, high = -fit.centre / fit.width, (1.0 - fit.centre) / fit.width
        u, _ = minimize_in_ball(g, H, self._radius * np.sqrt(self._dim), low, high)
        x: FloatArray = np.clip(fit.centre + fit.width * u, 0.0, 1.0)
        return x

    def _model(self, view: View) -> _Fit | None:
        """Fit to the elite of a view; None where that is too small."""
        keep = np.isin(view.origin, self._wide)
        keep[view.best] = True
        seen = view.only(keep)
        size = min(len(seen.y), max(4 * self._dim + 20, 50), MOST)
        elite = np.argsort(-seen.y, kind="stable")[:size]
        if size < 4:
            return None
        X, y = seen.X[elite], seen.y[elite]
        centre = X[: max(size // 4, 1)].mean(axis=0)
        width = deviations(X)
        U = (X - centre) / width
        G, forms = _covariances(U)
        form = None if self._fit is None else self._fit.form
        if form is None or self._age % REFIT == 0:
            form = _largest_likelihood(G, forms, y)
        factor = Factor(OFFSET + G + form.curvature * forms[form.products], form.tau + 1e-12)
        fit = _Fit(form, centre, width, U, warp(y, form.power)[0], factor)
        self._fit, self._newest, self._age = fit, view.newest, self._age + 1  # all or none, as Ctrl-C goes
        return fit


def _covariances(U: FloatArray) -> tuple[FloatArray, dict[bool, FloatArray]]:
    d = U.shape[1]
    T = np.ascontiguousarray(U.T)
    G = gram(T) / d
    forms = {False: gram(T * T) / d}
    if d <= ALL_PRODUCTS:
        forms[True] = 0.5 * d * G * G
    return G, forms


def _largest_likelihood(G: FloatArray, forms: dict[bool, FloatArray], y: FloatArray) -> _Form:
    covariances = (
        ((products, curvature, tau), A, tau)
        for products, Q in forms.items()
        for curvature in CURVATURES
        for A in [OFFSET + G + curvature * Q]
        for tau in LEFT_OVER
    )
    found = likeliest_form(covariances, y, POWERS)
    return _Form(False, CURVATURES[0], 1.0, 1.0, 1.0) if found is None else _Form(*found[0], *found[1:])


def _draw(fit: _Fit, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Gradient (d,) and Hessian (d, d), or its diagonal (d,) without products, at u = 0 of a draw from the posterior.

    A prior draw, corrected by what it misses.
    """
    form, U = fit.form, fit.U
    n, d = U.shape
    std = np.sqrt(form.variance)
    slope = std * rng.standard_normal(d) / np.sqrt(d)
    offset = std * np.sqrt(OFFSET) * rng.standard_normal()
    if form.products:
        normal = rng.standard_normal((d, d))
        bend = std * np.sqrt(form.curvature / d) * 0.5 * (normal + normal.T)
        bent = (product(np.ascontiguousarray(U.T), bend) * U).sum(axis=1)
    else:
        squares = std * np.sqrt(form.curvature / d) * rng.standard_normal(d)
        bent = (U * U * squares).sum(axis=1)
    noise = std * np.sqrt(form.tau) * rng.standard_normal(n)
    a = fit.factor.solve(-fit.z - offset - (U * slope).sum(axis=1) - bent - noise)
    g = slope + (U * a[:, None]).sum(axis=0) / d
    if form.products:
        return g, 2.0 * bend + form.curvature / d * product(U * a[:, None], U)
    return g, 2.0 * (squares + form.curvature * (U * U * a[:, None]).sum(axis=0) / d)

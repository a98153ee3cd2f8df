"""What predicts over the whole box, in units of y.

Notation
--------
M           capacity of the retained subset
theta       log lengthscales (d), log variance, log noise, of largest posterior density

The searchers' own models will not do: their responses are warped, and those of evaluations that failed are invented.
A retained subset is a model for the search: chosen to be surprising, it makes the function look rough, and knows M
values. Which of several models predicts best is decided by the density they give to observations that none has seen.

References
----------
1. Rasmussen and Williams, Gaussian processes for machine learning, 2006, section 2.7.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from gssbo._typing import FloatArray, IndexArray
from gssbo.map_gp import MUCH_NOISE, MapGaussianProcess
from gssbo.portfolio.subset import residual_subset
from gssbo.portfolio.view import View
from gssbo.projected import ProjectedProcess
from gssbo.responses import standardize, standardize_by

__all__ = ["on_basis", "on_subset"]

STEPS = 25  # evaluations of a search for theta
LEFT_OUT = 300  # observations that decide between models, at the most
ENOUGH, SHARE = 10, 0.2  # at the least, and of all that there are at the most
MEAN_VARIANCE = 10.0  # of the prior of the constant mean, in squared units of z
FITTED = 400  # observations that theta of a projection is fitted on


def on_subset(
    view: View, first: IndexArray, start: FloatArray | None, size: int
) -> tuple[MapGaussianProcess, IndexArray]:
    """A Gaussian process on the residual rule's choice from a view in which nothing failed, and the rows of that.

    The choice is by a first model on `first`, indices into the view of what a searcher retains, with theta from a
    search that begins at `start`: as that choice was made for warped responses, the model may predict badly in units
    of y what it left out. Where there is noise, what has the largest residuals is the noisiest, and theta of a random
    subset predicts better; where noise is all there is, so does that subset itself.
    """
    gp = _fitted(view.only(first), start)
    pool = view.one_each
    if len(pool) <= size:
        return gp, view.rows[first]
    shuffled = np.random.default_rng(0).permutation(pool)
    random = np.sort(shuffled[:size])
    fair = _fitted(view.only(random), start)
    found = []
    for model in (gp, fair):
        chosen = pool[residual_subset(model, view.only(pool), size, view.y[pool])]
        members = view.only(chosen)
        found.append((_fitted(members, gp.theta_) if model is gp else _conditioned(members, fair.theta_), chosen))
    if fair.noise_ > fair.variance_:  # residuals are noise
        found.append((fair, random))
    out = shuffled[~np.isin(shuffled, np.concatenate([chosen for _, chosen in found]))][:LEFT_OUT]
    gp, chosen = max(found, key=lambda each: _log_density(each[0], view.only(out)))  # the first of equals
    return gp, view.rows[chosen]


def on_basis(view: View, gp: MapGaussianProcess, rows: IndexArray, size: int) -> ProjectedProcess | None:
    """The view, in which nothing failed, projected on 2 M of it; None where the model `gp` of `rows` predicts better.

    Thetas are fitted on random observations. Those that decide between them, and with `gp`, are not among these, and
    none of the models that are compared has seen their points.
    """
    shuffled = np.random.default_rng(0).permutation(view.one_each)
    point = np.unique(view.X, axis=0, return_inverse=True)[1].ravel()
    unseen = shuffled[~np.isin(point[shuffled], point[np.isin(view.rows, rows)])]
    out = unseen[: min(LEFT_OUT, int(SHARE * len(shuffled)))]
    if len(out) < ENOUGH:
        return None
    held = np.isin(point, point[out])
    members, known = view.only(np.sort(shuffled[~held[shuffled]][:FITTED])), view.only(~held)
    best, found = _log_density(gp, view.only(out)), None
    for theta, _ in _climbs(members, gp.theta_):
        model = _conditioned(members, theta)
        density = _log_density(_projected(model, known, 2 * size), view.only(out))
        if density > best:
            best, found = density, model
    return None if found is None else _projected(found, view, 2 * size)


def _fitted(members: View, start: FloatArray | None) -> MapGaussianProcess:
    """The model of responses that are not warped, under the most probable of the thetas found."""
    theta, _ = max(_climbs(members, start), key=lambda each: each[1])
    return _conditioned(members, theta)


def _climbs(members: View, start: FloatArray | None) -> list[tuple[FloatArray, float]]:
    """Thetas found from `start` and from the prior's centre with little and with much noise; log densities."""
    X, z, _, known = _data(members)
    climb = partial(MapGaussianProcess().most_probable, X, z, max_evaluations=STEPS, known=known)
    return [climb(start=start), climb(start=None), climb(start=None, noise=MUCH_NOISE)]


def _conditioned(members: View, theta: FloatArray) -> MapGaussianProcess:
    """The model under a theta, with its constant mean by generalised least squares [1].

    A search crowds where it found good values: far from there a model would return to their average.
    """
    X, z, (mean, std), known = _data(members)
    gp = MapGaussianProcess()
    gp.set_theta(X, z, theta, known, scale=(mean, std))
    weights = gp.solve(np.ones(len(z)))
    shift = float((weights * z).sum() / (weights.sum() + 1.0 / MEAN_VARIANCE))
    if np.isfinite(mean + shift * std):  # responses may be as large as floats go
        gp.set_theta(X, z - shift, theta, known, scale=(mean + shift * std, std))
    return gp


def _data(members: View) -> tuple[FloatArray, FloatArray, tuple[float, float], FloatArray | None]:
    """X, standardised responses, what they were standardised by, known noise variances."""
    z, mean, std = standardize(members.y)
    return np.ascontiguousarray(members.X), z, (mean, std), members.known_noise(std)


def _projected(model: MapGaussianProcess, view: View, size: int) -> ProjectedProcess:
    """All of the view projected on `size` points of it that the residual rule chooses, under the model's theta."""
    pool = view.one_each
    if len(pool) > size:
        pool = pool[residual_subset(model, view.only(pool), size, view.y[pool])]
    basis = np.ascontiguousarray(view.X[pool])
    process = ProjectedProcess(model.kernel_, model.noise_, basis, scale=(model.y_mean_, model.y_std_))
    z = standardize_by(view.y, model.y_mean_, model.y_std_)
    process.observe(np.ascontiguousarray(view.X), z, view.known_noise(model.y_std_), rest_is_noise=True)
    return process


def _log_density(model: MapGaussianProcess | ProjectedProcess, others: View) -> float:
    """Mean log density of observations that the model does not stand on; 0 of none."""
    if len(others.y) == 0:
        return 0.0
    mean, std = model.posterior(np.ascontiguousarray(others.X))
    z = standardize_by(others.y, model.y_mean_, model.y_std_)
    variance = np.maximum(std**2 + model.noise_, np.finfo(float).tiny)
    known = others.known_noise(model.y_std_)
    if known is not None:
        variance += known
    with np.errstate(over="ignore"):  # minus infinity of what the model holds impossible
        return float(-0.5 * np.mean(np.log(variance) + (z - mean) ** 2 / variance) - np.log(model.y_std_))

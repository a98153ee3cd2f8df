"""Instances of the problems, each by a seed: BBOB's functions, and formulas with other places and coefficients.

All are minimised over the unit cube, or whole numbers. Of functions whose optimum is not known in closed form it is
what climbs from thousands of points find.

Notation
--------
v       point of the unit cube (d,)
c       place of the optimum (d,)
R       rotation (d, d)
u       v - c, turned or not
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy import optimize

from gssbo.problems import get_problem

Vector = np.ndarray
FIRST_INSTANCE = 51  # of BBOB's functions, for seed 0


class Instance(NamedTuple):
    """A function of the point in the units of the space, the least value, and noise on top of it."""

    value: Callable[[Vector], float]
    optimum: float
    noise: Callable[[Vector, float, np.random.Generator], float] | None = None


def rotation(d: int, rng: np.random.Generator) -> Vector:
    """A rotation (d, d), uniformly."""
    return np.linalg.qr(rng.standard_normal((d, d)))[0]


def place(d: int, rng: np.random.Generator) -> Vector:
    """A place of an optimum, not too close to the faces."""
    return rng.uniform(0.12, 0.88, d)


def least(value: Callable[[Vector], float], d: int, rng: np.random.Generator, *, n: int, climbs: int) -> float:
    """The least value that climbs from the best of n uniform points reach."""
    X = rng.random((n, d))
    y = np.array([value(x) for x in X])
    return min(
        float(optimize.minimize(value, X[i], method="L-BFGS-B", bounds=[(0.0, 1.0)] * d).fun)
        for i in np.argsort(y)[:climbs]
    )


def bbob(number: int, d: int) -> Callable[[int], Instance]:
    """Instances of a function of BBOB."""

    def make(seed: int) -> Instance:
        import ioh

        function = ioh.get_problem(number, FIRST_INSTANCE + seed, d, ioh.ProblemClass.BBOB)
        return Instance(lambda v: float(function(10.0 * v - 5.0)), float(function.optimum.y))

    return make


def textbook(name: str) -> Callable[[int], Instance]:
    """A problem of the package with a reflection and a permutation of its coordinates."""

    def make(seed: int) -> Instance:
        problem, rng = get_problem(name), np.random.default_rng([seed, 11])
        low, high = problem.bounds.T
        order, turned = rng.permutation(problem.dim), rng.random(problem.dim) < 0.5

        def value(v: Vector) -> float:
            return float(problem(low + (high - low) * np.where(turned, 1.0 - v, v)[order]))

        return Instance(value, float(problem.optimum))

    return make


def sparse(seed: int) -> Instance:
    """Five of a hundred coordinates: a curved valley of two, a ripple, a kink and a product."""
    rng = np.random.default_rng([seed, 1])
    chosen, c = rng.permutation(100)[:5], place(5, rng)

    def value(v: Vector) -> float:
        u = v[chosen] - c
        valley = 4.0 * u[0] ** 2 + 20.0 * (u[1] - 2.0 * u[0] ** 2) ** 2
        return float(valley + u[2] ** 2 + 0.2 * (1.0 - np.cos(15.0 * u[2])) + abs(u[3]) + (u[4] + u[3] * u[0]) ** 2)

    return Instance(value, 0.0)


def pairs(seed: int) -> Instance:
    """Fifteen pairs of thirty coordinates, each a rippled, tilted bowl of its own."""
    rng = np.random.default_rng([seed, 2])
    order, c, strength = rng.permutation(30), place(30, rng), rng.uniform(0.3, 2.0, 15)
    tilt = rng.uniform(-0.9, 0.9, 15)

    def value(v: Vector) -> float:
        u = 10.0 * (v - c)[order].reshape(15, 2)
        a, b = u.T
        bowl = a * a + b * b + 2.0 * tilt * a * b + 1.5 * (1.0 - np.cos(1.3 * (a - b)))
        return float((strength * bowl).sum())

    return Instance(value, 0.0)


def bowl(d: int, rng: np.random.Generator, condition: float) -> Callable[[Vector], float]:
    """A rotated, curved bowl, about 1 at the far side, 0 at its bottom."""
    c, R, axes = place(d, rng), rotation(d, rng), np.geomspace(1.0, condition, d)
    axes /= axes.mean() * d / 4.0

    def value(v: Vector) -> float:
        u = R @ (v - c)
        u = u + 0.5 * np.roll(u, 1) ** 2
        return float((axes * u * u).sum())

    return value


def outliers(seed: int) -> Instance:
    """A bowl, and delays: a measurement takes longer by a Pareto variable without a mean."""
    fun = bowl(5, np.random.default_rng([seed, 3]), 20.0)
    return Instance(fun, 0.0, lambda v, f, rng: f + 0.02 * float(rng.pareto(0.9)))


def uneven(seed: int) -> Instance:
    """A bowl with ripples, and normal noise that grows along a coordinate from a thousandth to half a unit."""
    rng = np.random.default_rng([seed, 4])
    fun, j = bowl(5, rng, 10.0), int(rng.integers(5))

    def value(v: Vector) -> float:
        f = fun(v)
        return f + 0.05 * (1.0 - float(np.cos(9.0 * f)))

    return Instance(value, 0.0, lambda v, f, rng: f + 10.0 ** (-3.0 + 2.7 * v[j]) * float(rng.standard_normal()))


def stairs(seed: int) -> Instance:
    """A rotated bowl of which every axis is in steps, flat between them."""
    rng = np.random.default_rng([seed, 5])
    c, R, axes = place(6, rng), rotation(6, rng), np.geomspace(1.0, 30.0, 6)
    return Instance(lambda v: float((axes * np.round(8.0 * (R @ (v - c))) ** 2).sum()) / 64.0, 0.0)


def corner(seed: int) -> Instance:
    """The optimum is a corner of the box of eight, and the way there is curved."""
    rng = np.random.default_rng([seed, 6])
    top, slopes = rng.random(8) < 0.5, rng.uniform(0.3, 3.0, 8)

    def value(v: Vector) -> float:
        u = np.where(top, 1.0 - v, v)  # 0 at the corner
        return float(slopes @ u + 3.0 * ((u[:-1] - u[1:]) ** 2).sum() + 0.3 * (np.sin(7.0 * u) ** 2).sum())

    return Instance(value, 0.0)


def needle(seed: int) -> Instance:
    """A broad basin, and a narrow one that is a quarter deeper, in three dimensions."""
    rng = np.random.default_rng([seed, 7])
    broad = rng.uniform(0.2, 0.8, 3)
    while np.sqrt((((narrow := rng.uniform(0.1, 0.9, 3)) - broad) ** 2).sum()) < 0.4:
        pass

    def value(v: Vector) -> float:
        far, near = ((v - broad) ** 2).sum(), ((v - narrow) ** 2).sum()
        return float(-0.8 * np.exp(-far / (2.0 * 0.3**2)) - np.exp(-near / (2.0 * 0.07**2)))

    return Instance(value, float(optimize.minimize(value, narrow, method="Nelder-Mead", tol=1e-12).fun))


def pieces(seed: int) -> Instance:
    """Twelve Voronoi cells of six dimensions, each a bowl with another bottom and level."""
    rng = np.random.default_rng([seed, 8])
    sites, levels = rng.random((12, 6)), rng.uniform(0.1, 1.0, 12)
    levels[0] = 0.0
    shift = rng.uniform(-0.1, 0.1, (12, 6))
    shift[0] = 0.0

    def value(v: Vector) -> float:
        cell = int(((v - sites) ** 2).sum(axis=1).argmin())
        return float(levels[cell] + 2.0 * ((v - sites[cell] - shift[cell]) ** 2).sum())

    return Instance(value, 0.0)


def angles(seed: int) -> Instance:
    """Six angles, each from 0 to a full turn, that interact in a ring: 0 and 1 are the same place."""
    rng = np.random.default_rng([seed, 9])
    c = rng.random(6)

    def value(v: Vector) -> float:
        u = 2.0 * np.pi * (v - c)
        return float(
            (1.0 - np.cos(u)).sum() + 0.7 * (1.0 - np.cos(u - np.roll(u, 1))).sum() + (np.sin(3 * u) ** 2).sum()
        )

    return Instance(value, 0.0)


def decades(seed: int) -> Instance:
    """Values from 1e-6 to 1e6: a power of ten of the root of a bowl with ripples."""
    fun = bowl(6, np.random.default_rng([seed, 10]), 10.0)

    def value(v: Vector) -> float:
        r = np.sqrt(fun(v))
        return float(10.0 ** (12.0 * min(r, 1.0) + 0.5 * (1.0 - np.cos(20.0 * r)) - 6.0))

    return Instance(value, 1e-6)


@cache
def _process(d: int, lengthscale: float, seed: int) -> Instance:
    """A draw of a Gaussian process with Matern 5/2 kernel, by 2,000 random Fourier features."""
    rng = np.random.default_rng([seed, 12, d])
    scales = lengthscale * np.sqrt(d) * rng.lognormal(0.0, 0.5, d)
    W = rng.standard_normal((2_000, d)) / np.sqrt(rng.chisquare(5.0, (2_000, 1)) / 5.0) / scales
    phases, weights = rng.uniform(0.0, 2.0 * np.pi, 2_000), rng.standard_normal(2_000) * np.sqrt(2.0 / 2_000)
    value = lambda v: float(weights @ np.cos(W @ v + phases))  # noqa: E731
    return Instance(value, least(value, d, rng, n=6_000, climbs=60))


def process(d: int, lengthscale: float) -> Callable[[int], Instance]:
    """Draws of a process."""
    return lambda seed: _process(d, lengthscale, seed)


def whole(seed: int) -> Instance:
    """Eight whole numbers, 0 to 7: a rotated quadratic form around one of them, and a penalty on odd sums."""
    rng = np.random.default_rng([seed, 13])
    c, R, axes = rng.integers(0, 8, 8), rotation(8, rng), np.geomspace(1.0, 30.0, 8)

    def value(x: Vector) -> float:
        u = R @ (x - c)
        return float((axes * u * u).sum() / 8.0 + 2.0 * (int(np.abs(x - c).sum()) % 2))

    return Instance(value, 0.0)


def ordinal(seed: int) -> Instance:
    """Twelve grades of five, whose order means little: a table for each, and one for each pair of neighbours."""
    rng = np.random.default_rng([seed, 14])
    single, double = rng.random((12, 5)), 0.7 * rng.random((12, 5, 5))

    def value(x: Vector) -> float:
        k = x.astype(int)
        return float(single[np.arange(12), k].sum() + double[np.arange(12), k, np.roll(k, 1)].sum())

    best = np.inf  # dynamic programming around the ring: the first grade is given
    for first in range(5):
        cost = np.full(5, np.inf)
        cost[first] = single[0, first]
        for i in range(1, 12):
            cost = (cost[None, :] + double[i]).min(axis=1) + single[i]
        best = min(best, float((cost + double[0, first]).min()))
    return Instance(value, best)

"""Evolution: a point at which nothing is missed, where steps down from one point after the other end in dead ends.

A population of points moves by differences between them, which take on the shape of what they have come to: a narrow
valley, one of several basins, an order of whole numbers. It is dear, and the last that is tried.

Notation
--------
x, F, c     points (s, D); how far each goes; the share of its columns that change

References
----------
1. Storn and Price, Differential evolution, Journal of Global Optimization 1997.
2. Zhang and Sanderson, JADE, IEEE Transactions on Evolutionary Computation 2009 (towards one of the best).
"""

from __future__ import annotations

import numpy as np

from gssbo._typing import FloatArray
from gssbo.walk import Miss, Project

__all__ = ["evolve"]

POPULATION = 60  # at the most
FLAT, STALE = 3, 25  # generations in a row that all miss by the same, or whose best leads no farther, which end it
BEST = 0.2  # share of the population that the others move towards
LEAST_SHARE, MOST_SHARE = 0.1, 0.9  # of the columns, that change: one for what is separable, one for what is not
ANEW = 0.02  # share of the columns that are drawn anew, lest all agree on a wrong one


def evolve(
    starts: FloatArray, miss: Miss, project: Project, rng: np.random.Generator, *, most: int = 30_000
) -> FloatArray:
    """Points (m, D) at which `miss` is 0, or, where it comes to none, the whole population (s, D), the best first.

    Parameters
    ----------
    starts : ndarray of shape (n, D)
        Realisable unit points; the best of them are the population.
    miss : callable
        How far (m,) realisable points are from meeting the constraints.
    project : callable
        The realisable unit points nearest to any.
    rng : numpy.random.Generator
    most : int
        Points tried beside the starts.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> valley = lambda U: np.maximum(np.abs(U[:, 1:] - U[:, :-1] ** 2).sum(axis=1) - 1e-3, 0.0)
    >>> found = evolve(rng.random((100, 6)), valley, lambda U: U, rng)
    >>> len(found) > 0, float(valley(found).max())
    (True, 0.0)
    """
    values = miss(starts)
    kept = np.argsort(values, kind="stable")[:POPULATION]
    x, values = starts[kept], values[kept]
    size, dim = x.shape
    flat = stale = 0
    for _ in range(most // size):
        flat = flat + 1 if (values == values[0]).all() else 0
        if flat == FLAT or stale == STALE or (values == 0.0).any():
            break
        order = np.argsort(values, kind="stable")
        towards = x[order[rng.integers(max(int(BEST * size), 1), size=size)]]
        one, other = x[rng.integers(size, size=(2, size))]
        places = x + rng.uniform(0.2, 1.0, (size, 1)) * (towards - x + one - other)
        changed = rng.random((size, dim)) < rng.choice([LEAST_SHARE, MOST_SHARE], (size, 1))
        changed[np.arange(size), rng.integers(dim, size=size)] = True
        places = np.where(changed, np.clip(places, 0.0, 1.0), x)
        places = project(np.where(rng.random((size, dim)) < ANEW, rng.random((size, dim)), places))
        misses = miss(places)
        better = misses <= values
        stale = 0 if misses.min() < values.min() else stale + 1
        x[better], values[better] = places[better], misses[better]
    ranked = x[np.argsort(values, kind="stable")]
    n_met = int((values == 0.0).sum())
    return ranked[:n_met] if n_met else ranked

"""Walks: other points of a feasible region, however small a part of the cube it is, from points of it that are known.

From a feasible point x, a place on a line through it is drawn between the faces of the cube; where that is infeasible,
the next one is drawn between it and x, on either side, until one is feasible. Lines have random directions, those of a
single column, or those between two points of the walk, which stretch as a thin region does.

Notation
--------
x, v, t     a point, a direction (D,); the places x + t v of the line

References
----------
1. Smith, Efficient Monte Carlo procedures for generating points uniformly distributed over bounded regions,
   Operations Research 1984 (hit and run).
2. Neal, Slice sampling, Annals of Statistics 2003, section 4 (shrinking the interval to what was refused).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gssbo._typing import FloatArray

__all__ = ["steps", "walk"]

CHAINS = 64  # walks at once
STEPS = 40  # of each
SHRINKS = 60  # places tried on a line
LEAST = 1e-9  # of a side: shorter moves than this one are rounding
DECADES = 4.0  # of a line, between the longest and the shortest of the steps

Meets = Callable[[FloatArray], NDArray[np.bool_]]
Project = Callable[[FloatArray], FloatArray]


def walk(starts: FloatArray, n: int, project: Project, meets: Meets, rng: np.random.Generator) -> FloatArray:
    """Points (m, D) of at least n walks of 40 steps, the last steps first; no more than the starts where none leads on.

    Parameters
    ----------
    starts : ndarray of shape (s, D)
        Realisable unit points that meet the constraints.
    n : int
    project : callable
        The realisable unit points nearest to any.
    meets : callable
        Mask of the realisable points that meet the constraints.
    rng : numpy.random.Generator

    Examples
    --------
    >>> corner = lambda U: U.sum(axis=1) <= 1e-6
    >>> found = walk(np.full((1, 3), 1e-7), 10, lambda U: U, corner, np.random.default_rng(0))
    >>> len(found), bool(corner(found).all())
    (2560, True)
    """
    x = starts[rng.integers(len(starts), size=max(n, CHAINS))]
    visited = []
    for _ in range(STEPS):
        x = _moved(x, x, np.ones(len(x)), project, meets, rng)
        visited.append(x)
    return np.vstack(visited[::-1])


def steps(
    x: FloatArray, others: FloatArray, n: int, project: Project, meets: Meets, rng: np.random.Generator
) -> FloatArray:
    """Points (n, D) one step from x (D,), near and far; see `walk`, and directions between others (s, D) too."""
    reach = 10.0 ** (-DECADES * rng.random(n))
    return _moved(np.tile(x, (n, 1)), others, reach, project, meets, rng)


def _moved(
    x: FloatArray, others: FloatArray, reach: FloatArray, project: Project, meets: Meets, rng: np.random.Generator
) -> FloatArray:
    """The points x (m, D), each moved along a line by a share (m,) of it at most, or left where nothing is feasible."""
    v = _directions(len(x), others, rng)
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.stack([-x / v, (1.0 - x) / v])
    low = reach * np.where(v != 0.0, ends.min(axis=0), -np.inf).max(axis=1)
    high = reach * np.where(v != 0.0, ends.max(axis=0), np.inf).min(axis=1)
    length = np.abs(v).max(axis=1)
    moved = x.copy()
    left = np.arange(len(x))
    for _ in range(SHRINKS):
        left = left[(high - low)[left] * length[left] > LEAST]
        if len(left) == 0:
            break
        t = low[left] + rng.random(len(left)) * (high - low)[left]
        places = project(np.clip(x[left] + t[:, None] * v[left], 0.0, 1.0))
        good = meets(places)
        moved[left[good]] = places[good]
        below = t < 0.0
        low[left[below]], high[left[~below]] = t[below], t[~below]
        left = left[~good]
    return moved


def _directions(m: int, others: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Directions (m, D), none of them 0: a third each of all columns, of one, and between two of the others."""
    dim = others.shape[1]
    kind = rng.integers(3, size=m)
    v = rng.standard_normal((m, dim))
    column = rng.integers(dim, size=m)
    pairs = rng.integers(len(others), size=(2, m))
    single = kind == 1
    v[single] *= np.arange(dim) == column[single, None]
    between = others[pairs[0]] - others[pairs[1]]
    apart = (kind == 2) & (np.abs(between).max(axis=1) > LEAST)
    v[apart] = between[apart]
    return v

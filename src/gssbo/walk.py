"""Walks: other points of a feasible region, however small a part of the cube it is, from points of it that are known.

From a feasible point x, a place on a line through it is drawn between the faces of the cube, and those of linear
constraints that are known; where that is infeasible, the next one is drawn between it and x, on either side, until one
is feasible. Lines have random directions, those of a single column, or those between two points of the walk, which
stretch as a thin region does. Where no point is known, one is looked for by steps that bring down how far the
constraints are from being met.

Notation
--------
x, v, t     a point, a direction (D,); the places x + t v of the line
G, l, u     faces: what meets the constraints has l <= G x <= u (k, D), (k,), (k,)

References
----------
1. Smith, Efficient Monte Carlo procedures for generating points uniformly distributed over bounded regions,
   Operations Research 1984 (hit and run).
2. Neal, Slice sampling, Annals of Statistics 2003, section 4 (shrinking the interval to what was refused).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gssbo._typing import FloatArray

__all__ = ["Terrain", "descend", "steps", "walk"]

STEPS = 40  # of a walk
SHRINKS = 60  # places tried on a line
LEAST = 1e-9  # of a side: shorter moves than this one are rounding
ROUNDING = 1e-14  # of the sum of its terms: less is no slope of a face
DECADES = 4.0  # of a line, between the longest and the shortest of the steps
DESCENTS, ROUNDS, TRIALS = 8, 150, 16  # at the most: descents, and rounds of each; points tried in a round
FIRST, SHORTEST = 0.3, 1e-7  # steps of a descent, in sides of the cube
WIDER, NARROWER = 1.5, 0.5  # after a round that led on, or did not
FLAT = 3  # rounds in a row without any difference, which end a descent: there is nothing to go down

Meets = Callable[[FloatArray], NDArray[np.bool_]]
Faces = tuple[FloatArray, FloatArray, FloatArray]
Miss = Callable[[FloatArray], FloatArray]
Project = Callable[[FloatArray], FloatArray]


class Terrain(NamedTuple):
    """What a walk may tread on."""

    project: Project
    """The realisable unit points nearest to any."""
    meets: Meets
    """Mask of the realisable points that meet the constraints."""
    faces: Faces | None = None
    """G, l and u, where they are known."""


def walk(starts: FloatArray, n: int, terrain: Terrain, rng: np.random.Generator, *, n_steps: int = STEPS) -> FloatArray:
    """Points (m, D) of n walks from the starts in turn, the last steps of all first.

    Parameters
    ----------
    starts : ndarray of shape (s, D)
        Realisable unit points that meet the constraints.
    n : int
    terrain : Terrain
    rng : numpy.random.Generator
    n_steps : int
        Of each walk.

    Examples
    --------
    >>> corner = lambda U: U.sum(axis=1) <= 1e-6
    >>> found = walk(np.full((1, 3), 1e-7), 10, Terrain(lambda U: U, corner), np.random.default_rng(0))
    >>> len(found), bool(corner(found).all())
    (400, True)
    """
    x = starts[np.arange(n) % len(starts)]
    visited = []
    for _ in range(n_steps):
        x = _moved(x, np.vstack([x, starts]), np.ones(len(x)), terrain, rng)
        visited.append(x)
    return np.vstack(visited[::-1])


def steps(x: FloatArray, others: FloatArray, n: int, terrain: Terrain, rng: np.random.Generator) -> FloatArray:
    """Points (n, D) one step from x (D,), near and far; see `walk`, and directions between others (s, D) too."""
    reach = 10.0 ** (-DECADES * rng.random(n))
    return _moved(np.tile(x, (n, 1)), others, reach, terrain, rng)


def descend(starts: FloatArray, miss: Miss, project: Project, rng: np.random.Generator) -> FloatArray:
    """A point (1, D) at which `miss` is 0, by steps down from the best starts in turn; (0, D) if there is none.

    Parameters
    ----------
    starts : ndarray of shape (s, D)
        Realisable unit points.
    miss : callable
        How far (m,) realisable points are from meeting the constraints.
    project : callable
        The realisable unit points nearest to any.
    rng : numpy.random.Generator

    Examples
    --------
    >>> ball = lambda U: np.maximum(((U - 0.7) ** 2).sum(axis=1) - 1e-6, 0.0)
    >>> found = descend(np.zeros((1, 5)), ball, lambda U: U, np.random.default_rng(0))
    >>> ball(found)
    array([0.])
    """
    values = miss(starts)
    for start in np.argsort(values, kind="stable")[:DESCENTS]:
        x, value, last, step, flat = starts[start], values[start], np.zeros(starts.shape[1]), FIRST, 0
        for _ in range(ROUNDS):
            if value == 0.0 or step < SHORTEST or flat == FLAT:
                break
            v = step * 2.0 ** rng.uniform(-3.0, 1.0, (TRIALS, 1)) * _directions(TRIALS, x[None, :], rng)
            v[0] = last if last.any() else v[0]
            places = project(np.clip(x + v, 0.0, 1.0))
            misses = miss(places)
            best = int(np.argmin(misses))
            leads_on = misses[best] < value
            flat = flat + 1 if (misses == value).all() else 0
            step *= WIDER if leads_on else NARROWER
            last = WIDER * v[best] if leads_on else np.zeros(len(x))
            if leads_on:
                x, value = places[best], misses[best]
        if value == 0.0:
            return np.stack([x])
    return starts[:0]


def _moved(
    x: FloatArray, others: FloatArray, reach: FloatArray, terrain: Terrain, rng: np.random.Generator
) -> FloatArray:
    """The points x (m, D), each moved along a line by a share (m,) of it at most, or left where nothing is feasible."""
    faces = terrain.faces
    v = _directions(len(x), others, rng, faces)
    low, high = (reach * end for end in _chord(x, v, 0.0, 1.0))
    if faces is not None and len(faces[0]):
        G, lower, upper = faces
        slopes = np.einsum("ij,kj->ik", v, G)
        # Along an equality, what rounding leaves of a slope would end the line where it begins.
        slopes[(lower == upper) & (np.abs(slopes) <= ROUNDING * np.einsum("ij,kj->ik", np.abs(v), np.abs(G)))] = 0.0
        ends = _chord(np.einsum("ij,kj->ik", x, G), slopes, lower, upper)
        low, high = np.maximum(low, ends[0]), np.minimum(high, ends[1])
    length = np.abs(v).max(axis=1)
    moved = x.copy()
    left = np.arange(len(x))
    for _ in range(SHRINKS):
        left = left[(high - low)[left] * length[left] > LEAST]
        if len(left) == 0:
            break
        t = low[left] + rng.random(len(left)) * (high - low)[left]
        places = terrain.project(np.clip(x[left] + t[:, None] * v[left], 0.0, 1.0))
        good = terrain.meets(places)
        moved[left[good]] = places[good]
        below = t < 0.0
        low[left[below]], high[left[~below]] = t[below], t[~below]
        left = left[~good]
    return moved


def _chord(
    x: FloatArray, v: FloatArray, lower: FloatArray | float, upper: FloatArray | float
) -> tuple[FloatArray, FloatArray]:
    """Bounds (m,), (m,) on t, not above and not below 0, between which x + t v (m, k) stay from lower to upper."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ends = np.stack([(lower - x) / v, (upper - x) / v])
    low = np.where(v != 0.0, ends.min(axis=0), -np.inf).max(axis=1)
    high = np.where(v != 0.0, ends.max(axis=0), np.inf).min(axis=1)
    return np.minimum(low, 0.0), np.maximum(high, 0.0)


def _directions(m: int, others: FloatArray, rng: np.random.Generator, faces: Faces | None = None) -> FloatArray:
    """Directions (m, D), none of them 0: a third each of all columns, of one, and between two of the others.

    Half of them go along a face, those of one column with another one; or along all faces that are equalities.
    """
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
    if faces is None or len(faces[0]) == 0:
        return v
    G, lower, upper = faces
    along = rng.random(m) < 0.5
    partner = rng.integers(dim, size=m)
    v[single & along, partner[single & along]] = rng.standard_normal(int((single & along).sum()))
    g = np.where(v != 0.0, G[rng.integers(len(G), size=m)], 0.0)
    share = (v * g).sum(axis=1) / np.maximum((g * g).sum(axis=1), np.finfo(float).tiny)
    u = v - share[:, None] * g
    E = G[lower == upper]
    if len(E) > 1:
        u[~single] = v[~single] - np.einsum("ij,jk->ik", v[~single], np.linalg.pinv(E) @ E)
    along &= np.abs(u).max(axis=1) > LEAST * np.abs(v).max(axis=1)
    v[along] = u[along]
    return v

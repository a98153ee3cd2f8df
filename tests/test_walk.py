"""Walks in small regions, against what is known of the uniform distribution on them."""

import numpy as np
import pytest

from gssbo.space import Space
from gssbo.walk import Terrain, descend, steps, walk


def plain(U):
    return U


@pytest.mark.parametrize(("dim", "side"), [(4, 0.05), (10, 0.05), (10, 1e-6)])
def test_a_walk_spreads_over_a_simplex(dim, side):
    """Of a uniform point, the sum over the side has mean d / (d + 1), and each coordinate 1 / (d + 1)."""

    def meets(U):
        return U.sum(axis=1) <= side

    found = walk(np.full((1, dim), 0.1 * side / dim), 1000, Terrain(plain, meets), np.random.default_rng(0))
    assert meets(found).all() and (found >= 0.0).all()
    last = found[:1000] / side
    assert abs(last.sum(axis=1).mean() - dim / (dim + 1)) < 0.02
    np.testing.assert_allclose(last.mean(axis=0), 1 / (dim + 1), atol=0.02)


def test_a_walk_goes_along_a_thin_layer():
    """A part in 1e6 of the cube, which has 5 directions to go: the coordinates' spread is the cube's own."""
    slope = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])

    def meets(U):
        return np.abs((U * slope).sum(axis=1)) <= 1e-6

    found = walk(np.full((1, 6), 0.5), 300, Terrain(plain, meets), np.random.default_rng(0))[:300]
    assert meets(found).all()
    draws = np.random.default_rng(1).random((200_000, 6))
    thick = draws[np.abs((draws * slope).sum(axis=1)) <= 0.02]
    np.testing.assert_allclose(found.std(axis=0), thick.std(axis=0), rtol=0.25)


def test_faces_that_are_known_save_questions():
    """Of a layer in 1e6 of the cube nearly all places are feasible, and steps go along it."""
    slope, asked = np.array([1.0, 2.0, 1.0, -1.0, -2.0, -1.0]), []

    def meets(U):
        asked.append(len(U))
        return np.abs((U * slope).sum(axis=1)) <= 1e-6 * (1 + 1e-6)

    faces = slope[None, :], np.array([-1e-6]), np.array([1e-6])
    start, rng = np.full((1, 6), 0.5), np.random.default_rng(0)
    found = walk(start, 100, Terrain(plain, meets, faces), rng, n_steps=10)
    assert meets(found).all() and sum(asked[:-1]) < 1.2 * 1000
    assert found[:100].std(axis=0).min() > 0.1
    near = steps(start[0], start, 300, Terrain(plain, meets, faces), rng)
    assert (np.abs(near - 0.5).max(axis=1) > 1e-3).mean() > 0.25


@pytest.mark.parametrize("k", [1, 2, 3])
def test_rounding_stops_no_step_along_equalities(k):
    G = np.random.default_rng(k).uniform(0.1, 1.1, (k, 6))
    level = G @ np.full(6, 0.5)

    def meets(U):
        return (np.abs(np.einsum("ij,kj->ik", U, G) - level) <= 1e-14).all(axis=1)

    start, rng = np.full((1, 6), 0.5), np.random.default_rng(0)
    near = steps(start[0], start, 300, Terrain(plain, meets, (G, level, level)), rng)
    assert meets(near).all()
    assert (np.abs(near - 0.5).max(axis=1) > 1e-6).mean() > 0.3  # half of the directions go along all of them


@pytest.mark.parametrize(("dim", "centre", "radius"), [(2, 0.9, 1e-6), (12, 0.2, 1e-2)])
def test_a_descent_ends_where_nothing_is_missed(dim, centre, radius):
    def miss(U):
        return np.maximum(np.sqrt(((U - centre) ** 2).sum(axis=1)) - radius, 0.0)

    starts = np.random.default_rng(1).random((5, dim))
    found = descend(starts, miss, plain, np.random.default_rng(0))
    assert found.shape == (1, dim) and miss(found)[0] == 0.0


@pytest.mark.parametrize("value", [1.0, np.inf])
def test_a_descent_without_a_slope_ends(value):
    asked = []

    def miss(U):
        asked.extend(U)
        return np.full(len(U), value)

    assert descend(np.full((9, 3), 0.5), miss, plain, np.random.default_rng(0)).shape == (0, 3)
    assert len(asked) < 4_000


def test_a_walk_in_a_mixed_space_stays_realisable():
    space = Space([(0.0, 1.0), range(1000), ["u", "v", "w"]])

    def meets(U):
        points = space.show(space.from_unit(U))
        return np.array([x[0] <= 1e-4 and 500 <= x[1] < 510 and (x[2] != "w" or x[1] == 505) for x in points])

    start = space.to_unit(space.read("x", [[5e-5, 503, "u"]])[0])
    found = walk(start, 200, Terrain(space.project, meets), np.random.default_rng(0))
    assert meets(found).all()
    np.testing.assert_array_equal(space.project(found), found)
    points = space.show(space.from_unit(found))
    assert {(x[1], x[2]) for x in points} == {(n, c) for n in range(500, 510) for c in "uv"} | {(505, "w")}


def test_where_there_is_nowhere_to_go():
    start = np.array([[0.25, 0.75]])

    def meets(U):
        return U.sum(axis=1) == 1.0

    assert np.abs(walk(start, 10, Terrain(plain, meets), np.random.default_rng(0)) - start).max() < 1e-15


def test_steps_are_near_and_far():
    x = np.array([0.01, 0.02, 0.0])

    def meets(U):
        return U.sum(axis=1) <= 0.05

    found = steps(x, x[None, :], 1000, Terrain(plain, meets), np.random.default_rng(0))
    assert meets(found).all()
    lengths = np.abs(found - x).max(axis=1)
    assert (lengths > 0).mean() > 0.9 and 0.3 < (lengths < 1e-3).mean() < 0.7 and (lengths > 0.01).mean() > 0.05

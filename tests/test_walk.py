"""Walks in small regions, against what is known of the uniform distribution on them."""

import numpy as np
import pytest

from gssbo.space import Space
from gssbo.walk import steps, walk


def plain(U):
    return U


@pytest.mark.parametrize(("dim", "side"), [(4, 0.05), (10, 0.05), (10, 1e-6)])
def test_a_walk_spreads_over_a_simplex(dim, side):
    """Of a uniform point, the sum over the side has mean d / (d + 1), and each coordinate 1 / (d + 1)."""

    def meets(U):
        return U.sum(axis=1) <= side

    found = walk(np.full((1, dim), 0.1 * side / dim), 1000, plain, meets, np.random.default_rng(0))
    assert meets(found).all() and (found >= 0.0).all()
    last = found[:1000] / side
    assert abs(last.sum(axis=1).mean() - dim / (dim + 1)) < 0.02
    np.testing.assert_allclose(last.mean(axis=0), 1 / (dim + 1), atol=0.02)


def test_a_walk_goes_along_a_thin_layer():
    """A part in 1e6 of the cube, which has 5 directions to go: the coordinates' spread is the cube's own."""
    slope = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])

    def meets(U):
        return np.abs((U * slope).sum(axis=1)) <= 1e-6

    found = walk(np.full((1, 6), 0.5), 300, plain, meets, np.random.default_rng(0))[:300]
    assert meets(found).all()
    draws = np.random.default_rng(1).random((200_000, 6))
    thick = draws[np.abs((draws * slope).sum(axis=1)) <= 0.02]
    np.testing.assert_allclose(found.std(axis=0), thick.std(axis=0), rtol=0.25)


def test_a_walk_in_a_mixed_space_stays_realisable():
    space = Space([(0.0, 1.0), range(1000), ["u", "v", "w"]])

    def meets(U):
        points = space.show(space.from_unit(U))
        return np.array([x[0] <= 1e-4 and 500 <= x[1] < 510 and (x[2] != "w" or x[1] == 505) for x in points])

    start = space.to_unit(space.read("x", [[5e-5, 503, "u"]])[0])
    found = walk(start, 200, space.project, meets, np.random.default_rng(0))
    assert meets(found).all()
    np.testing.assert_array_equal(space.project(found), found)
    points = space.show(space.from_unit(found))
    assert {(x[1], x[2]) for x in points} == {(n, c) for n in range(500, 510) for c in "uv"} | {(505, "w")}


def test_where_there_is_nowhere_to_go():
    start = np.array([[0.25, 0.75]])

    def meets(U):
        return U.sum(axis=1) == 1.0

    assert np.abs(walk(start, 10, plain, meets, np.random.default_rng(0)) - start).max() < 1e-15


def test_steps_are_near_and_far():
    x = np.array([0.01, 0.02, 0.0])

    def meets(U):
        return U.sum(axis=1) <= 0.05

    found = steps(x, x[None, :], 1000, plain, meets, np.random.default_rng(0))
    assert meets(found).all()
    lengths = np.abs(found - x).max(axis=1)
    assert (lengths > 0).mean() > 0.9 and 0.3 < (lengths < 1e-3).mean() < 0.7 and (lengths > 0.01).mean() > 0.05

"""The map to the unit cube and back never leaves the box."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds

from gssbo import reference as ref
from gssbo.space import Space

EDGES = st.floats(-1e150, 1e150) | st.floats(-1e3, 1e3)
UNIT = st.floats(0.0, 1.0)


@given(st.lists(st.tuples(EDGES, EDGES, UNIT), min_size=1, max_size=6))
def test_from_unit_stays_inside_and_comes_back(rows):
    bounds = np.array([sorted(row[:2]) for row in rows])
    unit = np.array([[row[2] for row in rows]])
    space = Space(bounds)
    points = space.from_unit(unit)
    assert np.all(points >= bounds[:, 0])
    assert np.all(points <= bounds[:, 1])
    space.check_inside("x", points)
    back = space.to_unit(points)
    assert np.all((back >= 0.0) & (back <= 1.0))
    width = bounds[:, 1] - bounds[:, 0]
    # A coordinate is known to a rounding unit of the larger edge.
    slack = 4 * np.finfo(float).eps * np.abs(bounds).max(axis=1) + 5e-324
    free = width > 1e-300
    assert np.all(np.abs(back - unit)[0, free] <= 1e-15 + slack[free] / width[free])
    np.testing.assert_array_equal(back[0, width == 0.0], 0.0)


@given(st.lists(st.tuples(EDGES, EDGES, UNIT), min_size=1, max_size=6))
def test_user_points_come_back_inside(rows):
    bounds = np.array([sorted(row[:2]) for row in rows])
    low, high = bounds.T
    share = np.array([row[2] for row in rows])
    points = np.clip(low * (1 - share) + high * share, low, high)[None, :]
    space = Space(bounds)
    back = space.from_unit(space.to_unit(points))
    assert np.all((back >= low) & (back <= high))
    assert np.all(np.abs(back - points) <= 8 * np.finfo(float).eps * np.abs(bounds).max(axis=1) + 1e-300)


def test_edges_map_to_edges():
    space = Space([(-3.0, 7.0), (0.1, 0.3), (1e-9, 1e9)])
    np.testing.assert_array_equal(space.from_unit(np.array([[0.0] * 3, [1.0] * 3])), space.bounds.T)
    np.testing.assert_array_equal(space.to_unit(space.bounds.T), [[0.0] * 3, [1.0] * 3])


def test_is_the_references_map():
    rng = np.random.default_rng(0)
    bounds = np.sort(rng.uniform(-10, 10, (5, 2)), axis=1)
    space, unit = Space(bounds), rng.random((40, 5))
    points = space.from_unit(unit)
    np.testing.assert_array_equal(points, ref.to_user(unit, bounds))
    np.testing.assert_array_equal(space.to_unit(points), ref.to_unit(points, bounds))


def test_equal_bounds_fix_a_parameter():
    space = Space([(0.0, 2.0), (5.0, 5.0)])
    np.testing.assert_array_equal(space.from_unit(np.array([[0.25, 0.9]])), [[0.5, 5.0]])
    np.testing.assert_array_equal(space.to_unit(np.array([[0.5, 5.0]])), [[0.25, 0.0]])
    with pytest.raises(ValueError, match=r"parameter 1"):
        space.check_inside("x", np.array([[0.5, 5.1]]))


@pytest.mark.parametrize(
    "bounds",
    [
        Bounds([-1.0, 0.0], [1.0, 4.0]),
        Bounds(lb=np.array([-1, 0]), ub=np.array([1, 4])),
        [[-1, 1], [0, 4]],
        ((-1.0, 1.0), (0.0, 4.0)),
        np.array([[-1, 1], [0, 4]], dtype=np.int8),
    ],
)
def test_forms_of_bounds(bounds):
    space = Space(bounds)
    assert space.dim == 2
    np.testing.assert_array_equal(space.low, [-1.0, 0.0])
    np.testing.assert_array_equal(space.high, [1.0, 4.0])
    assert space.bounds.dtype == np.float64


def test_scalar_scipy_bounds():
    np.testing.assert_array_equal(Space(Bounds(0.0, 2.0)).bounds, [[0.0, 2.0]])
    np.testing.assert_array_equal(Space(Bounds(0.0, [2.0, 3.0])).bounds, [[0.0, 2.0], [0.0, 3.0]])


def test_bounds_are_copied():
    bounds = np.array([[0.0, 1.0]])
    space = Space(bounds)
    bounds[:] = 9.0
    np.testing.assert_array_equal(space.bounds, [[0.0, 1.0]])


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ([], "shape"),
        (np.empty((0, 2)), "empty"),
        (None, "shape"),
        (3.0, "shape"),
        ((0.0, 1.0), "shape"),
        ([(0.0, 1.0, 2.0)], r"pairs, shape \(d, 2\), got shape \(1, 3\)"),
        ([(0.0, 1.0), (2.0, 1.0)], r"low <= high, got \(2.0, 1.0\)"),
        ([(0.0, np.inf)], "finite, got inf"),
        ([(np.nan, 1.0)], "finite, got nan"),
        ([(None, 1.0)], "finite"),
        ([(-1e308, 1e308)], "finite high - low"),
        ([(0.0, 1.0), (0.0,)], "real numbers"),
        ("unit", "real numbers"),
        ([("0", "1")], "real numbers"),
        ([(0.0, 1.0 + 1.0j)], "real numbers"),
        (Bounds(), "finite"),
    ],
)
def test_bad_bounds(bounds, message):
    with pytest.raises(ValueError, match=rf"^bounds(\[\d\])? must .*{message}"):
        Space(bounds)


def test_outside_points_are_named():
    space = Space([(0.0, 1.0), (10.0, 20.0)])
    inside = np.array([[0.0, 10.0], [1.0, 20.0]])
    space.check_inside("x", inside)
    space.check_inside("x", np.array([[-1e-10, 10.0], [1.0, 20.0 + 1e-9]]))  # a rounding error
    with pytest.raises(
        ValueError, match=r"^x0 must lie within bounds, got 9.5 for parameter 1 of point 1.*\(10.0, 20.0\)"
    ):
        space.check_inside("x0", np.array([[0.5, 15.0], [0.5, 9.5]]))
    with pytest.raises(ValueError, match=r"parameter 0 of point 0"):
        space.check_inside("x", np.array([[1.0 + 1e-8, 15.0]]))

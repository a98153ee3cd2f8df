"""The map to the model's cube and back: inside the bounds, realisable, uniform, and exact."""

import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds
from scipy.stats import chisquare

from gssbo import Categorical, Integer, Real
from gssbo import reference as ref
from gssbo.space import Space

EDGES = st.floats(-1e150, 1e150) | st.floats(-1e3, 1e3)
UNIT = st.floats(0.0, 1.0)
MIXED = {
    "rate": Real(1e-4, 1.0, log=True),
    "units": Integer(16, 256),
    "depth": Integer(1, 9, step=2),
    "width": Integer(1, 1000, log=True),
    "keep": Real(0.1, 0.7, step=0.2),
    "act": Categorical(["relu", "gelu", None]),
    "bias": bool,
    "fixed": (2.5, 2.5),
    "momentum": (0.0, 1.0),
}


@pytest.fixture
def mixed():
    return Space(MIXED)


# ---- reals


@given(st.lists(st.tuples(EDGES, EDGES, UNIT), min_size=1, max_size=6))
def test_from_unit_stays_inside_and_comes_back(rows):
    rows = [row for row in rows if row[0] != row[1]] or [(0.0, 1.0, 0.5)]
    bounds = np.array([sorted(row[:2]) for row in rows])
    unit = np.array([[row[2] for row in rows]])
    space = Space(bounds)
    points = space.from_unit(unit)
    assert np.all(points >= bounds[:, 0])
    assert np.all(points <= bounds[:, 1])
    space.read("x", points)
    back = space.to_unit(points)
    assert np.all((back >= 0.0) & (back <= 1.0))
    width = bounds[:, 1] - bounds[:, 0]
    # A coordinate is known to a rounding unit of the larger edge.
    slack = 4 * np.finfo(float).eps * np.abs(bounds).max(axis=1) + 5e-324
    wide = width > 1e-300
    assert np.all(np.abs(back - unit)[0, wide] <= 1e-15 + slack[wide] / width[wide])


@given(st.lists(st.tuples(EDGES, EDGES, UNIT), min_size=1, max_size=6))
def test_user_points_come_back_inside(rows):
    bounds = np.array([sorted(row[:2]) for row in rows])
    low, high = bounds.T
    share = np.array([row[2] for row in rows])
    points = np.clip(low * (1 - share) + high * share, low, high)[None, :]
    space = Space(bounds)
    back = space.from_unit(space.to_unit(space.read("x", points)[0]))
    assert np.all((back >= low) & (back <= high))
    assert np.all(np.abs(back - points) <= 8 * np.finfo(float).eps * np.abs(bounds).max(axis=1) + 1e-300)


def test_edges_map_to_edges():
    bounds = np.array([(-3.0, 7.0), (0.1, 0.3), (1e-9, 1e9)])
    space = Space(bounds)
    np.testing.assert_array_equal(space.from_unit(np.array([[0.0] * 3, [1.0] * 3])), bounds.T)
    np.testing.assert_array_equal(space.to_unit(bounds.T), [[0.0] * 3, [1.0] * 3])


def test_is_the_references_map():
    rng = np.random.default_rng(0)
    bounds = np.sort(rng.uniform(-10, 10, (5, 2)), axis=1)
    space, unit = Space(bounds), rng.random((40, 5))
    points = space.from_unit(unit)
    np.testing.assert_array_equal(points, ref.to_user(unit, bounds))
    np.testing.assert_array_equal(space.to_unit(points), ref.to_unit(points, bounds))
    assert space.place(unit) is unit
    assert space.project(unit) is unit


def test_columns_one_by_one_are_the_columns_at_once():
    """A real parameter beside others takes the same steps, to the bit, as one among its like."""
    bounds = [(-0.921, 0.014), (1.0, 15.0), (1e-9, 1e9)]
    unit = np.random.default_rng(0).random((500, 3))
    plain, beside = Space(bounds), Space([*bounds, ["u", "v"]])
    points = plain.from_unit(unit)
    rows = beside.from_unit(np.column_stack([unit, np.zeros(500)]))
    np.testing.assert_array_equal([point[:3] for point in beside.show(rows)], points)
    np.testing.assert_array_equal(beside.to_unit(rows)[:, :3], plain.to_unit(points))


@pytest.mark.parametrize(("low", "high"), [(0.003, 50.0), (1e-6, 1e6), (1e-4, 0.2), (5e-324, 1e-300), (1e-300, 1e300)])
def test_logarithms_reach_their_ends_exactly_and_never_pass_them(low, high):
    space = Space([Real(low, high, log=True)])
    draws = np.concatenate([[0.0, 1.0, 1.0 - 2.0**-53, 2.0**-60], np.random.default_rng(0).random(2000)])
    values = space.from_unit(space.place(draws[:, None]))[:, 0]
    assert (values[0], values[1]) == (low, high)
    assert ((values >= low) & (values <= high)).all()
    np.testing.assert_array_equal(space.to_unit(np.array([[low], [high]])), [[0.0], [1.0]])
    np.testing.assert_allclose(space.to_unit(values[:, None])[:, 0], draws, atol=1e-12 if low > 1e-307 else 1.0)
    middle = space.from_unit(np.array([[0.5]]))[0, 0]
    np.testing.assert_allclose(middle, math.sqrt(low) * math.sqrt(high), rtol=1e-12 if low > 1e-307 else 0.5)


# ---- all kinds


def test_columns_of_the_model(mixed):
    # One column a number, one for two categories, three for three of them, none for what is fixed.
    assert mixed.n_parameters == 9
    assert mixed.dim == 1 + 1 + 1 + 1 + 1 + 3 + 1 + 1
    assert mixed.n_draws == 8
    assert mixed.size == math.inf
    point = {
        "rate": 0.01, "units": 16, "depth": 3, "width": 1000, "keep": 0.7, "act": "gelu", "bias": True, "fixed": 2.5,
        "momentum": 0.25,
    }  # fmt: skip
    width = (math.log(1000) - math.log(0.5)) / (math.log(1000.5) - math.log(0.5))
    expected = [0.5, 0.5 / 241, 1.5 / 5, width, 3.5 / 4, 0.0, math.sqrt(0.5), 0.0, 1.0, 0.25]
    rows, single = mixed.read("x", point)
    assert single
    np.testing.assert_allclose(mixed.to_unit(rows), [expected], rtol=1e-14)
    assert mixed.show(rows) == [point]


@given(st.lists(UNIT, min_size=8, max_size=8), st.lists(UNIT, min_size=10, max_size=10))
def test_realisable_points_come_back_to_the_bit(draws, unit):
    space = Space(MIXED)
    for placed in (space.place(np.array([draws])), space.project(np.array([unit]))):
        rows = space.from_unit(placed)
        again = space.to_unit(rows)
        reals = [0, 9]  # these have rounding of their own
        np.testing.assert_array_equal(np.delete(again, reals), np.delete(placed, reals))
        np.testing.assert_allclose(again, placed, atol=1e-14)
        told, _ = space.read("x", space.show(rows))
        assert told.tobytes() == rows.tobytes()
        assert json.loads(json.dumps(space.show(rows))) == space.show(rows)


def test_values_are_of_built_in_types(mixed):
    point = mixed.show(mixed.from_unit(mixed.place(np.random.default_rng(0).random((1, 8)))))[0]
    assert [type(value) for value in point.values()] == [
        float, int, int, int, float, type(point["act"]), bool, float, float,
    ]  # fmt: skip
    assert point["act"] is None or type(point["act"]) is str


def test_uniform_draws_hit_every_value_equally_often(mixed):
    points = mixed.show(mixed.from_unit(mixed.place(np.random.default_rng(0).random((40_000, 8)))))
    for name, values in (
        ("units", range(16, 257)), ("depth", range(1, 10, 2)), ("keep", [0.1, 0.3, 0.5, 0.7]),
        ("act", ["relu", "gelu", None]), ("bias", [False, True]),
    ):  # fmt: skip
        counts = [sum(point[name] == value for point in points) for value in values]
        assert sum(counts) == 40_000
        assert chisquare(counts).pvalue > 1e-4, name
    widths = np.array([point["width"] for point in points])
    edges = np.exp(np.linspace(math.log(0.5), math.log(1000.5), 4))
    np.testing.assert_allclose(np.histogram(widths, edges)[0] / 40_000, 1 / 3, atol=0.02)


def test_any_two_categories_are_one_side_apart():
    for n in (2, 3, 5):
        space = Space([Categorical(range(n)), (0.0, 1.0)])
        unit = space.to_unit(space.read("x", [[k, 0.5] for k in range(n)])[0])
        distances = np.linalg.norm(unit[:, None] - unit[None], axis=-1)
        np.testing.assert_allclose(distances, 1.0 - np.eye(n), atol=1e-15)


def test_project_takes_the_nearest():
    space = Space([Integer(0, 3), ["a", "b", "c"], (0.0, 1.0)])
    unit = np.array([[0.3, 0.2, 0.6, 0.5, 0.123], [0.0, 0.3, 0.3, 0.1, 1.0], [1.0, 0.0, 0.1, 0.2, 0.0]])
    assert space.show(space.from_unit(unit)) == [[1, "b", 0.123], [0, "a", 1.0], [3, "c", 0.0]]
    projected = space.project(unit)
    np.testing.assert_array_equal(projected[:, 0], [0.375, 0.125, 0.875])
    np.testing.assert_array_equal(projected[:, 4], unit[:, 4])
    np.testing.assert_array_equal(space.project(projected), projected)


def test_every_point_of_a_finite_space_has_a_number():
    space = Space({"n": Integer(3, 7, step=2), "c": ["u", "v"], "k": [5], "s": Real(0.0, 1.0, step=0.5)})
    assert space.size == 3 * 2 * 3
    points = space.show(space.at(np.arange(18)))
    assert points[0] == {"n": 3, "c": "u", "k": 5, "s": 0.0}
    assert points[7] == {"n": 5, "c": "u", "k": 5, "s": 0.5}
    assert len({tuple(point.values()) for point in points}) == 18


# ---- integers that doubles cannot hold


def test_the_numbers_of_points_are_those_they_were_made_of():
    finite = Space(
        [["u", "v", "w"], Integer(-3, 9, step=4), (2.5, 2.5), Integer(1, 6, log=True), Real(0.1, 0.7, step=0.2)]
    )
    numbers = np.random.default_rng(0).permutation(int(finite.size))
    np.testing.assert_array_equal(finite.indices(finite.at(numbers)), numbers)


def test_large_integers_are_exact():
    space = Space([Integer(0, 10**18)])
    for value in (2**53 + 1, 10**18 - 1, 10**18, 0, 1):
        rows, _ = space.read("x", [value])
        assert space.show(rows) == [[value]]
        assert 0.0 <= space.to_unit(rows)[0, 0] <= 1.0
    ends = space.from_unit(space.place(np.array([[0.0], [1.0 - 2.0**-53], [1.0]])))
    assert space.show(ends) == [[0], [10**18], [10**18]]
    signed = Space([Integer(-(2**61), 2**61)])
    ends = signed.from_unit(signed.place(np.array([[0.0], [0.5], [1.0 - 2.0**-53]])))
    assert [value for (value,) in signed.show(ends)][::2] == [-(2**61), 2**61]
    assert abs(signed.show(ends)[1][0]) <= 2**11


def test_logarithms_of_large_integers():
    space = Space([Integer(1, 10**18, log=True)])
    ends = space.from_unit(space.place(np.array([[0.0], [0.5], [1.0 - 2.0**-53], [1.0]])))
    low, middle, high, last = (value for (value,) in space.show(ends))
    assert (low, high, last) == (1, 10**18, 10**18)
    assert 0.5e9 < middle < 1e9


# ---- fixed parameters


def test_fixed_parameters_take_no_part():
    space = Space([(0.0, 1.0), (2.5, 2.5), Integer(1, 1), ["only"], Real(3.0, 3.0, log=True)])
    assert (space.dim, space.n_draws) == (1, 1)
    rows = space.from_unit(np.array([[0.25]]))
    assert space.show(rows) == [[0.25, 2.5, 1, "only", 3.0]]
    np.testing.assert_array_equal(space.to_unit(rows), [[0.25]])
    with pytest.raises(ValueError, match=r"got 5.1 for parameter 1 of point 0, whose bounds are \(2.5, 2.5\)"):
        space.read("x", [0.0, 5.1, 1, "only", 3.0])


def test_constants_alone():
    space = Space([(2.5, 2.5), Integer(1, 1)])
    assert (space.dim, space.n_draws, space.size) == (1, 1, 1)
    rows = space.from_unit(space.place(np.array([[0.7]])))
    assert space.show(rows) == [[2.5, 1]]
    np.testing.assert_array_equal(space.to_unit(rows), [[0.0]])


def test_a_space_of_reals_with_a_fixed_one_is_an_array():
    space = Space(Bounds([0.0, 5.0], [2.0, 5.0]))
    np.testing.assert_array_equal(space.from_unit(np.array([[0.25]])), [[0.5, 5.0]])
    np.testing.assert_array_equal(space.to_unit(np.array([[0.5, 5.0]])), [[0.25]])


# ---- what points look like


def test_forms_of_points():
    assert isinstance(Space([(0, 1), Real(1, 2, log=True)]).show(np.array([[0.5, 1.5]])), np.ndarray)
    listed = Space([(0, 1), range(3)])
    assert listed.show(listed.read("x", [[0.5, 2], (0, 0)])[0]) == [[0.5, 2], [0.0, 0]]
    named = Space({"a": (0, 1), "b": (0, 1)})
    assert named.show(named.read("x", {"b": 0.25, "a": 1})[0]) == [{"a": 1.0, "b": 0.25}]


def test_negative_zero_is_zero():
    for bounds, point in (([(-1, 1)], [-0.0]), ([(-1, 1), ["u", "v"]], [-0.0, "u"])):
        space = Space(bounds)
        rows, _ = space.read("x", point)
        assert rows.tobytes() == space.read("x", [0.0, *point[1:]])[0].tobytes()


def test_told_values_a_rounding_error_outside():
    space = Space([(0.0, 1.0), (10.0, 20.0)])
    space.read("x", np.array([[-1e-10, 10.0], [1.0, 20.0 + 1e-9]]))
    log = Space([Real(1e-3, 50.0, log=True)])
    log.read("x", [[1e-3 * (1 - 1e-9)], [50.0 * (1 + 1e-9)]])
    for outside in (1e-3 * (1 - 1e-7), 50.0 * (1 + 1e-7)):
        with pytest.raises(ValueError, match=r"x must lie within bounds"):
            log.read("x", [outside])


def test_outside_points_are_named():
    space = Space([(0.0, 1.0), (10.0, 20.0)])
    with pytest.raises(
        ValueError, match=r"^x0 must lie within bounds, got 9.5 for parameter 1 of point 1.*\(10.0, 20.0\)"
    ):
        space.read("x0", np.array([[0.5, 15.0], [0.5, 9.5]]))
    with pytest.raises(ValueError, match=r"parameter 0 of point 0"):
        space.read("x", np.array([[1.0 + 1e-8, 15.0]]))


def test_bounds_are_copied():
    bounds = np.array([[0.0, 1.0]])
    space = Space(bounds)
    bounds[:] = 9.0
    np.testing.assert_array_equal(space.from_unit(np.array([[1.0]])), [[1.0]])


def test_survives_pickling(mixed):
    again = pickle.loads(pickle.dumps(mixed))
    unit = mixed.place(np.random.default_rng(0).random((20, 8)))
    assert again.from_unit(unit).tobytes() == mixed.from_unit(unit).tobytes()
    assert repr(again) == repr(mixed)
    assert "act: Categorical(values=('relu', 'gelu', None))" in repr(mixed)


@pytest.mark.parametrize("bounds", [(-2.0, 0.3), (0.2645, 0.7813), (-0.921, 0.014), (1e-300, 3e300), (0.1, 0.7)])
@pytest.mark.parametrize("beside", [[], [range(4)]])
def test_the_ends_of_a_side_are_the_bounds_to_the_bit(bounds, beside):
    """low + (high - low) is less than high in one of six boxes of two decimals."""
    space = Space([bounds, *beside])
    ends = space.show(space.from_unit(np.array([[0.0] * space.dim, [1.0] * space.dim])))
    assert tuple(point[0] for point in ends) == bounds

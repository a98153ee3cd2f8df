"""Input constraints, in SciPy's terms."""

import warnings

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint
from scipy.sparse import csr_array

from gssbo import Integer, Optimizer, Real
from gssbo.space import Space

BOX = [(0.0, 1.0), (0.0, 1.0)]
GRID = np.random.default_rng(0).random((500, 2))


def mask(constraints, bounds=BOX, points=GRID):
    space = Space(bounds, constraints)
    return space.feasible(space.read("x", points)[0]).tolist()


def test_none():
    space = Space(BOX)
    assert not space.constrained
    assert mask(None) == mask([]) == [True] * 500


def test_an_error_of_a_constraint_says_which_it_is_and_at_which_point():
    first, other = NonlinearConstraint(lambda p: p["x"], 0, 6), NonlinearConstraint(lambda x, y: x + y, 0, 6)
    space = Space({"x": (2, 2), "y": (3, 3)}, [first, other])
    with pytest.raises(TypeError, match="missing 1 required positional argument") as caught:
        space.feasible(space.read("x", {"x": 2, "y": 3})[0])
    notes = caught.value.__notes__
    assert notes[0].startswith("gssbo: constraints[1] gets all parameters as one argument") and "fun(**x)" in notes[0]
    assert notes[1] == "gssbo: constraints[1] was called with {'x': 2.0, 'y': 3.0}."


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        (LinearConstraint([[1, 2]], ub=1.0), GRID[:, 0] + 2 * GRID[:, 1] <= 1.0),
        (LinearConstraint([1, 2], -np.inf, 1.0), GRID[:, 0] + 2 * GRID[:, 1] <= 1.0),
        (LinearConstraint(np.eye(2), [0.2, 0.3], 0.9), ((GRID >= [0.2, 0.3]) & (GRID <= 0.9)).all(axis=1)),
        (LinearConstraint(csr_array([[1.0, -1.0]]), lb=0.0), GRID[:, 0] >= GRID[:, 1]),
        (NonlinearConstraint(lambda x: x[0] * x[1], 0.1, 0.4), (np.prod(GRID, 1) >= 0.1) & (np.prod(GRID, 1) <= 0.4)),
        (
            NonlinearConstraint(lambda x: x**2, [0.1, 0.0], [1.0, 0.5]),
            (GRID[:, 0] ** 2 >= 0.1) & (GRID[:, 1] ** 2 <= 0.5),
        ),
        (NonlinearConstraint(lambda x: np.nan, -1.0, 1.0), np.zeros(500, bool)),
    ],
)
def test_what_is_feasible(constraint, expected):
    assert mask(constraint) == mask([constraint]) == expected.tolist()
    other = LinearConstraint([[0, 1]], ub=0.5)
    assert mask([constraint, other]) == (expected & (GRID[:, 1] <= 0.5)).tolist()


def test_functions_see_points_as_they_are_suggested():
    seen = []

    def record(x):
        seen.append(x)
        return 0.0

    for bounds in (BOX, [(0, 1), ["u", "v"]], {"a": (0, 1), "c": ["u", "v"]}):
        space = Space(bounds, NonlinearConstraint(record, -1, 1))
        rows = space.from_unit(np.array([[0.25, 1.0]]))
        space.feasible(rows)
        assert type(seen[-1]) is type(space.show(rows)[0])
        assert list(seen[-1]) == list(space.show(rows)[0])


def test_later_constraints_are_asked_only_about_what_is_left():
    asked = []
    second = NonlinearConstraint(lambda x: asked.append(x[0]) or 1.0, 0.0, 2.0)
    mask([LinearConstraint([[1, 0]], ub=0.5), second])
    assert len(asked) == (GRID[:, 0] <= 0.5).sum()


def test_numbers_among_categories_count():
    bounds = {"n": Integer(0, 10), "flag": bool, "k": [1, 5, 9], "act": ["relu", "gelu"]}
    points = [{"n": 3, "flag": True, "k": 5, "act": "gelu"}, {"n": 3, "flag": False, "k": 5, "act": "gelu"}]
    assert mask(LinearConstraint([[1, 1, 1, 0]], ub=8.0), bounds, points) == [False, True]


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        (3.0, "^constraints must be a LinearConstraint or NonlinearConstraint, or a sequence of them, got 3.0"),
        (np.array(3), r"^constraints must be a LinearConstraint or .* sequence of them, got array\(3\)$"),
        ([lambda x: x], r"^constraints\[0\] must be a LinearConstraint or NonlinearConstraint"),
        (LinearConstraint([[1, 2, 3]], ub=1), r"^constraints\[0\] must have A with 2 columns, got shape \(1, 3\)"),
        (NonlinearConstraint(3, 0, 1), r"^constraints\[0\] must have a callable fun, got 3"),
        (LinearConstraint([1, 1], 2.0, 1.0), r"^constraints\[0\] must have lb <= ub, got lb=\[?2\.\]?, ub=\[?1\.\]?"),
        (LinearConstraint([1, 1], np.nan, 1.0), r"^constraints\[0\] must have lb <= ub, got lb=\[?nan\]?, ub="),
        (LinearConstraint([np.nan, 1], 0.0, 1.0), r"^constraints\[0\] must have finite coefficients, got \[\[nan"),
        (
            LinearConstraint(np.ma.array([[1.0, 2.0]], mask=[[False, True]]), ub=1.0),
            r"^A of constraints\[0\] must have no masked entries",
        ),
        (
            [LinearConstraint([1, 1], ub=1), NonlinearConstraint(sum, 0, [1, -1])],
            r"^constraints\[1\] must have lb <= ub, got lb=0, ub=\[1, -1\]",
        ),
        (NonlinearConstraint(sum, -1, np.nan), r"^constraints\[0\] must have lb <= ub, got lb=-1, ub=nan"),
        (NonlinearConstraint(sum, [0, 0], [1, 1, 1]), r"^constraints\[0\] must have lb and ub of one shape, got"),
        (NonlinearConstraint(sum, "low", 1), r"^lb of constraints\[0\] must be an array of real numbers"),
        (
            {"type": "ineq", "fun": sum},
            r"^constraints must be a LinearConstraint or NonlinearConstraint, not a dict: write "
            r"NonlinearConstraint\(fun, 0, np.inf\) for one of type 'ineq', .* got {'type': 'ineq'",
        ),
        (
            Bounds([0, 0], [1, 1]),
            r"^constraints must be a LinearConstraint or NonlinearConstraint, or a sequence of them, got Bounds",
        ),
        (
            [LinearConstraint([1, 1], ub=1), {"type": "eq", "fun": sum}],
            r"^constraints\[1\] must .* not a dict: .* NonlinearConstraint\(fun, 0, 0\) for 'eq', got {'type': 'eq'",
        ),
    ],
)
def test_bad_constraints(constraints, message):
    with pytest.raises(ValueError, match=message):
        Space(BOX, constraints)


def test_a_coefficient_for_a_word():
    with pytest.raises(
        ValueError, match=r"^constraints\[0\] must have coefficient 0 for categories that are no numbers"
    ):
        Space([(0, 1), ["u", "v"]], LinearConstraint([[1, 1]], ub=1))


@pytest.mark.parametrize("value", ["no", [1.0, 2.0, 3.0], None])
def test_functions_that_return_no_numbers(value):
    space = Space(BOX, NonlinearConstraint(lambda x: value, [0, 0], [1, 1]))
    with pytest.raises(ValueError, match=r"^constraints\[0\] must return numbers that suit its bounds, got "):
        space.feasible(GRID)


def test_values_of_several_shapes_are_each_held_to_the_bounds():
    shapes = {1.0: 0.5, 2.0: [0.5], 3.0: [0.5, 1.5], 4.0: [[0.5, 0.5], [0.5, 0.5]], 5.0: [0.5] * 3}
    space = Space([Integer(1, 5)], NonlinearConstraint(lambda x: shapes[x[0]], [0, 0], [1, 1]))
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 2, 0, 3]):
        expected = [i != 2 for i in order]
        assert space.feasible(space.at(np.array(order))).tolist() == expected
        with pytest.raises(
            ValueError, match=r"^constraints\[0\] must return numbers that suit its bounds, got \[0.5, "
        ):
            space.feasible(space.at(np.array([*order, 4])))


@pytest.mark.parametrize(
    ("bounds", "constraint", "feasible"),
    [
        ([Integer(0, 2), Integer(0, 1)], LinearConstraint([[0.1, 0.2]], ub=0.3), 5),
        ([Real(0, 1, step=0.1)] * 3, LinearConstraint([[1, 1, 1]], ub=0.3), 20),
        ([Real(0, 1, step=0.1)] * 3, LinearConstraint([[1, 1, 1]], 1.0, 1.0), 66),
        ([Real(0, 1, step=0.1)] * 3, LinearConstraint([[-7e8, -7e8, -7e8]], lb=-2.1e8), 20),
        ([Real(0, 1, step=0.1)] * 3, LinearConstraint([[1, 1, 1]], ub=0.3 - 1e-13), 10),
    ],
)
def test_rounding_of_a_sum_decides_nothing(bounds, constraint, feasible):
    """0.1 + 0.2 is above 0.3 by a bit; what is below it by more is not met."""
    space = Space(bounds, constraint)
    assert space.feasible(space.at(np.arange(space.size))).sum() == feasible


def test_a_category_beyond_doubles_is_a_number_for_a_linear_constraint():
    space = [[10**400, -(10**400), 5], (0.0, 1.0)]
    opt = Optimizer(space, n_init=3, rng=0, constraints=LinearConstraint([[0.0, 1.0]], ub=0.5))
    assert all(point[1] <= 0.5 for point in opt.ask(12))
    opt = Optimizer(space, n_init=3, rng=0, constraints=LinearConstraint([[1.0, 0.0]], ub=6.0))
    assert {point[0] for point in opt.ask(12)} == {-(10**400), 5}


@pytest.mark.parametrize("size", [5e-324, 1e-300, 1e300, 1.7e308])
@pytest.mark.parametrize("bounds", [[(0.0, 1.0)] * 3, [(-1e300, 1e300)] * 3, [Integer(0, 60)] * 3], ids=str)
def test_coefficients_of_any_size_are_compared(bounds, size):
    """The first parameter is not to be above the second one, whatever the third: all that the constraint says."""
    constraint = LinearConstraint([[size, -size, 0.0]], ub=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        points = Optimizer(bounds, n_init=6, rng=0, constraints=constraint).ask(6)
        assert all(point[0] <= point[1] for point in points)
        space = Space(bounds, constraint)
        rows, _ = space.read("x", [[bounds[0][1] if type(bounds[0]) is tuple else 60, 0, 0]])
        assert not space.feasible(rows).any() and (space.miss(rows) > 0.0).all()


def test_bounds_far_beyond_what_a_row_comes_to_are_none():
    constraint = LinearConstraint([[1e-100, 1e-100], [-1.0, -1.0]], [-1e300, -1e-3], [1e300, np.inf])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        points = Optimizer([(0.0, 1.0)] * 2, n_init=6, rng=0, constraints=constraint).ask(6)
    assert (points.sum(axis=1) <= 1.001e-3).all()


def test_functions_are_asked_where_linear_constraints_are_met():
    asked = []
    rules = [
        NonlinearConstraint(lambda x: asked.append(x) or x[1], 0, 0.5),
        LinearConstraint([[1.0, 0.0]], ub=0.2),
    ]
    assert mask(rules) == ((GRID[:, 0] <= 0.2) & (GRID[:, 1] <= 0.5)).tolist()
    assert len(asked) == (GRID[:, 0] <= 0.2).sum()


def test_how_far_points_are_from_meeting_the_constraints():
    def late(x):
        if x[0] > 0.5:
            raise ArithmeticError("left out by the first constraint")
        return [x[1], np.nan if x[1] > 0.9 else 0.5]

    space = Space(BOX, [LinearConstraint([[1.0, 0.0]], ub=0.5), NonlinearConstraint(late, 0.0, [0.25, 1.0])])
    points = np.array([[0.1, 0.1], [0.5, 0.25], [0.5, 0.5], [0.5, 0.75], [0.5, 0.95], [0.6, 0.1], [0.9, 0.1]])
    misses = space.miss(points)
    assert misses[:2].tolist() == [0.0, 0.0] and (np.diff(misses[1:]) > 0.0).all()
    assert ((misses == 0.0) == space.feasible(points)).all() and np.isfinite(misses).all()
    assert Space(BOX).miss(points).tolist() == [0.0] * 7


@pytest.mark.parametrize(
    ("bounds", "limit", "thin"),
    [
        ([(0.0, 1.0)] * 2, 0.5, False),
        ([(0.0, 1.0)] * 2, 0.01, True),
        ([(0.0, 1.0), range(1000)], 0.01, True),
        ([range(300)] * 2, 0.01, False),  # listed
    ],
)
def test_a_region_is_thin(bounds, limit, thin):
    assert Space(bounds, LinearConstraint([[1.0, 1.0]], ub=limit)).thin == thin
    assert not Space(bounds).thin


def test_faces_are_those_of_unit_points():
    space = Space([(-2.0, 2.0), (1.0, 3.0)], [LinearConstraint([[1.0, 1.0], [2.0, 0.5]], -0.5, [2.0, np.inf])])
    G, lower, upper = space.faces
    U = np.random.default_rng(0).random((200, 2))
    values = U @ G.T
    expected = ((values >= lower) & (values <= upper)).all(axis=1)
    assert 20 < expected.sum() < 180
    np.testing.assert_array_equal(space.feasible(space.from_unit(U)), expected)
    assert len(Space([Real(0.1, 1.0, log=True), (0.0, 1.0)], LinearConstraint([[1.0, 1.0]], ub=0.5)).faces[0]) == 0


def test_a_function_may_write_into_its_point():
    def spoil(x):
        x[0] = 0.0
        return 0.0

    rules = [NonlinearConstraint(spoil, -1, 1), NonlinearConstraint(lambda x: x[0], -1, 0.1)]
    assert mask(rules) == (GRID[:, 0] <= 0.1).tolist()


@pytest.mark.parametrize("value", [np.array([]), [], 1j, np.ma.masked_array([0.5], mask=True), np.array([1 + 1j])])
def test_no_number_meets_no_constraint(value):
    with pytest.raises(ValueError, match=r"^constraints\[0\] must return numbers that suit its bounds, got "):
        mask(NonlinearConstraint(lambda x: value, 0, 1))

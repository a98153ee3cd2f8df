"""Which points may be suggested, and where the last of them are found."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

from gssbo import Integer, Real
from gssbo.admission import Admission
from gssbo.exceptions import InfeasibleError, SpaceExhausted
from gssbo.prospector import Prospector
from gssbo.space import Space
from tests.admissions import books, found


@pytest.mark.parametrize(
    ("repeats", "expected"), [(False, [False, False, True, False]), (True, [True, False, True, False])]
)
def test_the_mask(repeats, expected):
    space, admission = books(
        [(0.0, 1.0), ["u", "v"]], [[0.25, "u"]], [[0.5, "v"]], repeats=repeats,
        constraints=NonlinearConstraint(lambda x: x[0], 0, 0.8),
    )  # fmt: skip
    points = space.to_unit(space.read("x", [[0.25, "u"], [0.5, "v"], [0.25, "v"], [0.9, "u"]])[0])
    assert admission(points).tolist() == expected


def test_some_of_a_box_are_the_first_draws():
    _, admission = books([(0.0, 1.0)] * 2)
    np.testing.assert_array_equal(admission.some(5, np.random.default_rng(3)), np.random.default_rng(3).random((5, 2)))


def test_the_last_points_of_a_finite_space():
    bounds = [range(20), range(20), range(20)]
    space = Space(bounds)
    points = space.show(space.at(np.random.default_rng(0).permutation(8000)))
    space, admission = books(bounds, points[:7000], points[7000:7997])
    assert sorted(found(space, admission, 100)) == sorted(points[7997:])
    assert found(space, admission, 1)[0] in points[7997:]
    space, admission = books(bounds, points[:7000], points[7000:])
    for attempt in (admission.require_more, lambda: found(space, admission, 1)):
        with pytest.raises(SpaceExhausted, match=r"all 8000 points .* told \(7000 distinct\) or pending \(1000\)"):
            attempt()


def test_the_last_point_of_a_space_too_large_to_list():
    """Where drawing finds nothing, trying in order must: no more can be taken than there are books for."""
    bounds = [range(400), range(300)]
    space = Space(bounds)
    told = [point for point in space.show(space.at(np.arange(120_000))) if point != [399, 299]]
    space, admission = books(bounds, told)
    admission.require_more()
    assert found(space, admission, 3) == [[399, 299]]


def test_constraints_on_a_finite_space():
    bounds = [range(10), range(10)]
    equal = LinearConstraint([[1, 1]], 7, 7)
    space, admission = books(bounds, [[3, 4], [4, 3]], [[0, 7]], constraints=equal)
    assert sorted(found(space, admission, 20)) == [[1, 6], [2, 5], [5, 2], [6, 1], [7, 0]]
    space, admission = books(bounds, [[k, 7 - k] for k in range(8)], constraints=equal)
    with pytest.raises(SpaceExhausted, match=r"all 8 feasible of 100 points of the space are told \(8 distinct\)"):
        admission.some(1, np.random.default_rng(0))
    space, admission = books(bounds, constraints=LinearConstraint([[1, 1]], 30, 40))
    with pytest.raises(InfeasibleError, match=r"^constraints must leave points .* none of the space's 100"):
        admission.some(1, np.random.default_rng(0))


def test_constraints_on_a_box():
    corner = LinearConstraint([[1.0, 1.0]], lb=1.97)  # 0.045 per cent of it
    _, admission = books([(0.0, 1.0)] * 2, constraints=corner)
    points = admission.some(5, np.random.default_rng(0))
    assert len(points) == 5 and (points.sum(axis=1) >= 1.97).all()
    apart = [LinearConstraint([[1.0, 1.0]], lb=1.5), LinearConstraint([[1.0, 1.0]], ub=1.2)]
    _, admission = books([(0.0, 1.0)] * 2, constraints=apart)
    with pytest.raises(InfeasibleError, match=r"none among 100000 tried; a point that meets them"):
        admission.some(1, np.random.default_rng(0))


def test_a_large_finite_space_that_is_infeasible():
    _, admission = books([Integer(0, 10**6), range(10)], constraints=LinearConstraint([[1, 1]], lb=1e9))
    with pytest.raises(InfeasibleError, match=r"none among 100000 tried"):
        admission.some(1, np.random.default_rng(0))


@pytest.mark.parametrize("constraints", [None, LinearConstraint([[1.0]], ub=1.0)])
@pytest.mark.parametrize("bounds", [[(0.3, 0.1 * 3)], [Real(0.3, 0.1 * 3, log=True)]])
def test_an_interval_of_two_doubles(bounds, constraints):
    _, admission = books(bounds, [[0.3]], [[0.1 * 3]], constraints=constraints)
    with pytest.raises(SpaceExhausted, match=r"all of 100000 points tried are told \(1 distinct\), pending \(1\)"):
        admission.some(1, np.random.default_rng(0))


def test_repeats_are_never_exhausted():
    space, admission = books([["u", "v"]], [["u"], ["v"]], repeats=True)
    admission.require_more()
    assert len(found(space, admission, 5)) == 2
    space, admission = books([["u", "v"]], asked=[["u"], ["v"]], repeats=True)
    assert len(found(space, admission, 5)) == 2


def test_a_neighbour_of_a_refused_point():
    bounds = [range(30), ["u", "v", "w"]]
    space, admission = books(bounds, [[n, "v"] for n in range(10, 20)], [[14, "u"], [14, "w"]])
    refused = space.to_unit(space.read("x", [15, "v"])[0])[0]
    assert not admission(refused[None, :])[0]
    found = admission.near(refused, np.random.default_rng(0))
    assert found.shape == (1, space.dim) and admission(found)[0]
    ((n, c),) = space.show(space.from_unit(found))
    # The next free one with the same category is 5 or 6 steps of 1/30 away, another category a whole side.
    assert (n, c) in ((9, "v"), (20, "v"))
    everything = [[n, c] for n in range(30) for c in "uvw"]
    _, admission = books(bounds, everything)
    assert admission.near(refused, np.random.default_rng(0)).shape == (0, space.dim)


def test_a_neighbour_meets_the_constraints():
    _, admission = books([(0.0, 1.0)] * 2, constraints=LinearConstraint([[1.0, 1.0]], ub=0.9))
    for seed in range(20):
        found = admission.near(np.array([0.5, 0.5]), np.random.default_rng(seed))[0]
        assert found.sum() <= 0.9 and np.abs(found - 0.5).max() < 0.2


def test_more_points_than_a_double_can_count(hasty):
    """Few may be suggested, which trying in order finds; or none."""
    bounds = [Integer(0, 2**60)] * 18
    space, admission = books(bounds, constraints=LinearConstraint(np.ones(18), ub=3.0))
    assert [sum(point) <= 3 for point in found(space, admission, 2)] == [True] * 2
    _, admission = books(bounds, constraints=LinearConstraint(np.ones(18), ub=-1.0))
    with pytest.raises(InfeasibleError, match=r"none among 1000 tried"):
        admission.some(1, np.random.default_rng(0))


def test_where_trying_is_enough_nothing_else_is_drawn():
    corner = LinearConstraint([[1.0, 1.0]], lb=1.75)  # 3 per cent of it
    _, admission = books([(0.0, 1.0)] * 2, [[0.99, 0.99]], constraints=corner)
    rng, same = np.random.default_rng(0), np.random.default_rng(0)
    points = admission.some(2, rng)
    tried = same.random((2, 2))
    while (tried.sum(axis=1) >= 1.75).sum() < 2:
        tried = np.vstack([tried, same.random((1000, 2))])
    np.testing.assert_array_equal(points, tried[tried.sum(axis=1) >= 1.75][:2])
    assert rng.random() == same.random()


def test_a_score_is_looked_for_among_listed_points_too():
    """Some 230 of 900 points meet the constraint, 21 of them with the highest score, of which three are taken."""
    space, admission = books(
        [range(30), range(30)], [[20, 0], [0, 20]], [[10, 10]], constraints=LinearConstraint([1, 1], ub=20)
    )
    points = admission.some(5, np.random.default_rng(0), score=lambda: lambda U: U.sum(axis=1))
    shown = space.show(space.from_unit(points))
    assert [sum(point) for point in shown] == [20] * 5
    assert len(set(map(tuple, shown))) == 5 and not {(20, 0), (0, 20), (10, 10)} & set(map(tuple, shown))


def test_of_listed_points_all_that_are_left_are_found():
    """Those of a score first."""
    space, admission = books([range(4), range(4)], [[1, 1]], constraints=LinearConstraint([1, 1], ub=2))
    points = admission.some(9, np.random.default_rng(0), score=lambda: lambda U: U[:, 0])
    assert [point[0] for point in space.show(space.from_unit(points))] == [2, 1, 0, 0, 0]


@pytest.mark.parametrize("constraints", [None, LinearConstraint([1, 1], ub=30)])
def test_most_of_a_listed_space_is_ranked_at_once(constraints):
    """The highest of a score, told and pending ones apart, and after them there is no more than half."""
    space, admission = books([range(30), range(30)], [[20, 0], [29, 0]], [[10, 10]], constraints=constraints)
    assert admission.asks_for_most(500) and not admission.asks_for_most(440)
    points = admission.most(300, np.random.default_rng(0), lambda U: U[:, 0] - 0.001 * U[:, 1])
    shown = list(map(tuple, space.show(space.from_unit(points))))
    expected = [(a, b) for a in range(30)[::-1] for b in range(30) if constraints is None or a + b <= 30]
    assert shown == [point for point in expected if point not in [(20, 0), (29, 0), (10, 10)]][:300]
    left = admission.most(900, np.random.default_rng(0), lambda U: U[:, 0])
    assert len(left) == len(np.unique(left, axis=0)) == len(expected) - 3


def test_few_points_are_never_most_of_a_space():
    _, admission = books([range(20), range(20)], [[a, b] for a in range(20) for b in range(18)])
    assert not admission.asks_for_most(39)
    _, admission = books([Integer(0, 10**6), range(10)])
    assert not admission.asks_for_most(10**6)


def test_many_promising_points_take_few_scores():
    """The first hundred have the highest of a score each."""
    _, admission = books([range(60), range(60)], constraints=LinearConstraint([1, 1], ub=90))
    scores = []
    points = admission.some(2000, np.random.default_rng(0), score=lambda: scores.append(0) or (lambda U: U[:, 0]))
    assert len(points) == len(np.unique(points, axis=0)) == 2000
    assert 100 <= len(scores) < 500


def test_where_no_listed_point_is_feasible_asking_again_says_so_again():
    never = NonlinearConstraint(lambda x: 0.0, 1.0, 2.0)
    _, admission = books([range(4), range(4)], [[1, 1]], constraints=never)
    for _ in range(2):
        with pytest.raises(InfeasibleError, match="none of the space's 16"):
            admission.some(1, np.random.default_rng(0), score=lambda: lambda U: U[:, 0])


def test_a_function_that_is_never_a_number():
    def nowhere(x):
        if x[0] > 0.5:
            raise ArithmeticError("left out by the first constraint")
        return [np.nan, 0.5]

    constraints = [LinearConstraint([[1.0, 0.0]], ub=0.5), NonlinearConstraint(nowhere, 0.0, [1.0, 2.0])]
    _, admission = books([(0.0, 1.0)] * 2, constraints=constraints)
    with pytest.raises(InfeasibleError, match=r"100000 tried; constraints\[1\] is NaN at all of 1000 tried again$"):
        admission.some(1, np.random.default_rng(0))
    _, admission = books([range(5)] * 2, constraints=NonlinearConstraint(lambda x: np.nan, 0.0, 1.0))
    with pytest.raises(InfeasibleError, match=r"none of the space's 25; constraints\[0\] is NaN at all of them$"):
        admission.some(1, np.random.default_rng(0))


def test_what_is_told_and_pending_is_taken_once():
    space, admission = books([range(4)], [[0], [1]], [[0], [0], [1], [2]])
    admission.require_more()
    assert found(space, admission, 5) == [[3]]
    _, admission = books([range(4)], [[0], [1]], [[0], [3], [3], [2]])
    with pytest.raises(SpaceExhausted):
        admission.require_more()


def test_a_point_met_at_the_last_moment_is_taken(monkeypatch):
    """Whether others are feasible is looked at last: where one is, and new, nothing is exhausted."""
    space, admission = books([(0.0, 1.0)], constraints=NonlinearConstraint(lambda x: float(x[0] < 0.005), 0.5, 1.0))
    monkeypatch.setattr(Admission, "_batches", lambda *_: iter(()))
    monkeypatch.setattr(Prospector, "first", lambda *_: np.empty((0, 1)))
    assert space.thin
    ((point,),) = found(space, admission, 1)
    assert point < 0.005

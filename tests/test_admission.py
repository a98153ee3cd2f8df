"""Which points may be suggested, and where the last of them are found."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

import gssbo.admission
from gssbo import Integer, Real
from gssbo.admission import Admission
from gssbo.exceptions import InfeasibleError, SpaceExhausted
from gssbo.history import History
from gssbo.pending import Pending
from gssbo.prospector import Prospector
from gssbo.space import Space


def books(bounds, told=(), asked=(), *, constraints=None, repeats=False):
    space = Space(bounds, constraints)
    history, pending = History(space.dim, space.empty()), Pending(space.dim)
    if len(told):
        rows, _ = space.read("x", told)
        history.append(rows, space.to_unit(rows), np.zeros(len(rows)))
    if len(asked):
        rows, _ = space.read("x", asked)
        for row, unit in zip(rows, space.to_unit(rows), strict=True):
            pending.add(row, unit)
    return space, Admission(space, history, pending, repeats=repeats)


def found(space, admission, n, seed=0):
    return space.show(space.from_unit(admission.some(n, np.random.default_rng(seed))))


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
    _, admission = books([(0.0, 1.0)] * 2, constraints=LinearConstraint([[1.0, 1.0]], lb=3.0))
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


# ---- regions too small for trying


@pytest.fixture
def hasty(monkeypatch):
    """Fewer points are tried, as functions are slow."""
    monkeypatch.setattr(gssbo.admission, "EFFORT", 2_000)


def simplex(dim, total=0.05):
    return LinearConstraint(np.ones(dim), ub=total)


@pytest.mark.parametrize("known", ["told", "pending"])
@pytest.mark.parametrize("dim", [4, 10])
def test_a_small_region_is_searched_from_a_point_that_is_known(hasty, known, dim):
    point = [[0.01 / dim] * dim]
    constraint = NonlinearConstraint(np.sum, -np.inf, 0.05)
    books_of = {"told": (point, ()), "pending": ((), point)}[known]
    _, admission = books([(0.0, 1.0)] * dim, *books_of, constraints=constraint)
    points = admission.some(7, np.random.default_rng(0))
    assert points.shape == (7, dim) and (points.sum(axis=1) <= 0.05).all() and (points >= 0.0).all()
    assert len(np.unique(points, axis=0)) == 7 and not (points == point).all(axis=1).any()
    assert points.std(axis=0).min() > 0.1 * 0.05 / dim
    _, again = books([(0.0, 1.0)] * dim, *books_of, constraints=constraint)
    np.testing.assert_array_equal(again.some(7, np.random.default_rng(0)), points)


def test_more_points_than_a_double_can_count(hasty):
    """Few may be suggested, which trying in order finds; or none."""
    bounds = [Integer(0, 2**60)] * 18
    space, admission = books(bounds, constraints=LinearConstraint(np.ones(18), ub=3.0))
    assert [sum(point) <= 3 for point in found(space, admission, 2)] == [True] * 2
    _, admission = books(bounds, constraints=LinearConstraint(np.ones(18), ub=-1.0))
    with pytest.raises(InfeasibleError, match=r"none among 2000 tried"):
        admission.some(1, np.random.default_rng(0))


def test_points_told_that_are_infeasible_are_no_start(hasty):
    """The best value is told where the constraint forbids, so is a failure; what remains is the worst."""
    bounds, constraint = [(0.0, 1.0)] * 4, NonlinearConstraint(lambda x: float(x.sum() <= 0.05), 0.5, np.inf)
    told = [[0.5] * 4, [0.9, 0.1, 0.0, 0.0]]
    _, admission = books(bounds, told, constraints=constraint)
    with pytest.raises(InfeasibleError, match="among 2000 tried; a point that meets them, told"):
        admission.some(1, np.random.default_rng(0))
    _, admission = books(bounds, [*told, [0.01] * 4], constraints=constraint)
    assert admission.some(1, np.random.default_rng(0)).sum() <= 0.05


def test_a_first_point_of_linear_constraints():
    _, admission = books([(-3.0, 5.0)] * 10, constraints=LinearConstraint(np.ones(10), 41.999, 42.0))
    points = -3.0 + 8.0 * admission.some(3, np.random.default_rng(0))
    assert (np.abs(points.sum(axis=1) - 41.9995) <= 0.0005 + 1e-9).all() and len(np.unique(points, axis=0)) == 3


def test_a_first_point_in_a_mixed_space():
    """The rate is to be within 1e-5 of units / 1000, whatever the activation."""
    bounds = {"rate": Real(1e-4, 1.0, log=True), "units": Integer(1, 500), "act": ["u", "v", "w"], "fixed": (2.0, 2.0)}
    band = LinearConstraint([[1.0, -1e-3, 0.0, 1.0]], 2.0 - 1e-7, 2.0 + 1e-7)
    space, admission = books(bounds, constraints=band)
    points = found(space, admission, 20)
    assert len(points) == 20
    assert all(abs(x["rate"] - x["units"] / 1000) <= 1.01e-7 for x in points)
    assert len({x["act"] for x in points}) > 1 and len({x["rate"] for x in points}) == 20


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


def test_a_choice_among_what_a_search_found():
    _, admission = books([(0.0, 1.0)] * 4, [[0.01] * 4], constraints=simplex(4))
    points = admission.some(3, np.random.default_rng(0), score=lambda: lambda U: U[:, 0])
    assert len(np.unique(points, axis=0)) == 3
    assert (points[:, 0] > 0.03).all() and (points.sum(axis=1) <= 0.05 + 1e-15).all()


def test_a_score_is_looked_for_in_a_large_region_too():
    """It is 1.6 at most, and beyond 1.2 in a part in sixty."""
    limit = NonlinearConstraint(lambda x: x[:2].max(), -np.inf, 0.8)
    _, admission = books([(0.0, 1.0)] * 3, [[0.4, 0.4, 0.4]], constraints=limit)
    points = admission.some(2, np.random.default_rng(0), score=lambda: lambda U: U[:, 0] + U[:, 1] - U[:, 2])
    assert (points[:, :2] <= 0.8).all() and (points[:, 0] + points[:, 1] - points[:, 2] > 1.2).all()


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


def test_where_no_listed_point_is_feasible_asking_again_says_so_again():
    never = NonlinearConstraint(lambda x: 0.0, 1.0, 2.0)
    _, admission = books([range(4), range(4)], [[1, 1]], constraints=never)
    for _ in range(2):
        with pytest.raises(InfeasibleError, match="none of the space's 16"):
            admission.some(1, np.random.default_rng(0), score=lambda: lambda U: U[:, 0])


def test_what_is_waited_for_keeps_its_distance():
    """The last point of a batch is not next to the others: not a few times closer than to what is told."""
    _, admission = books([(0.0, 1.0)] * 4, [[0.01] * 4], [[0.04, 0.0, 0.0, 0.0]], constraints=simplex(4))
    points = admission.some(3, np.random.default_rng(0), score=lambda: lambda U: U[:, 0])
    waited_for = np.vstack([[0.04, 0.0, 0.0, 0.0], points])
    for i in range(1, 4):
        to_told = np.abs(waited_for[i] - 0.01).max()
        assert np.abs(waited_for[:i] - waited_for[i]).max(axis=1).min() >= 0.25 * to_told


@pytest.mark.parametrize("told", [(), [[0.25, 0.75]]], ids=["nothing", "a-point-on-it"])
def test_equalities_between_reals_are_refused(told):
    diagonal = NonlinearConstraint(lambda x: x[0] + x[1] ** 2, 0.8125, 0.8125)
    _, admission = books([(0.0, 1.0)] * 2, told, constraints=diagonal)
    with pytest.raises(
        InfeasibleError,
        match=r"100000 tried; equalities between real parameters cannot be met by trying: .*through the others",
    ):
        admission.some(1, np.random.default_rng(0))


@pytest.mark.parametrize("told", [(), [[0.25, 0.25, 0.25]]], ids=["nothing", "a-point-on-it"])
def test_a_linear_equality_is_met(told):
    mixture = LinearConstraint([[1.0, 1.0, 2.0], [1.0, 0.0, 0.0]], [1.0, 0.0], [1.0, 0.9])
    _, admission = books([(0.0, 1.0)] * 3, told, constraints=mixture)
    points = admission.some(20, np.random.default_rng(0))
    rounding = 6 * np.finfo(float).eps  # (d + 2) of it is what counts as met, and one more the sum here is off by
    np.testing.assert_allclose(points @ [1.0, 1.0, 2.0], 1.0, rtol=0, atol=rounding)
    assert len(np.unique(points, axis=0)) == 20 and points.std(axis=0).min() > 0.1


def test_linear_equalities_that_overlap_are_met():
    A = np.array([[1.0, 1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 2.0, 1.0]])
    _, admission = books([(-1.0, 1.0)] * 5, constraints=LinearConstraint(A, [0.5, 1.0], [0.5, 1.0]))
    points = 2.0 * admission.some(20, np.random.default_rng(0)) - 1.0
    np.testing.assert_allclose(points @ A.T, np.tile([0.5, 1.0], (20, 1)), rtol=0, atol=1e-14)
    assert points.std(axis=0).min() > 0.1


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


class Counting:
    def __init__(self, fun):
        self.fun, self.calls = fun, 0

    def __call__(self, x):
        self.calls += 1
        return self.fun(x)


@pytest.mark.parametrize("score", [None, lambda: lambda U: U[:, 0]], ids=["spread", "scored"])
@pytest.mark.parametrize(
    ("fun", "bounds"),
    [(np.sum, (-np.inf, 0.05)), (lambda x: float(x.sum() <= 0.05), (0.5, np.inf))],
    ids=["a slope", "yes or no"],
)
def test_few_calls_from_a_point_that_is_known(fun, bounds, score):
    counting = Counting(fun)
    _, admission = books([(0.0, 1.0)] * 4, [[0.01] * 4], constraints=NonlinearConstraint(counting, *bounds))
    for seed in range(3):
        before = counting.calls if seed else 300  # to see that it is thin
        points = admission.some(1, np.random.default_rng(seed), score=score)
        assert len(points) == 1 and points.sum() <= 0.05
        assert counting.calls - before < 1_500


@pytest.mark.parametrize(
    ("dim", "fun", "lower", "upper"),
    [
        (20, np.sum, -np.inf, 1.0),  # 4e-19 of the cube
        (3, lambda x: ((x - [0.3, 0.6, 0.8]) ** 2).sum(), -np.inf, 1e-6),
        (2, lambda x: [x[0] ** 2 + x[1] ** 2, x[1] - x[0] ** 3], [0.25, 0.0], [0.2501, 1e-3]),
    ],
    ids=["simplex", "ball", "crossing"],
)
def test_a_first_point_by_descent(dim, fun, lower, upper):
    counting = Counting(fun)
    _, admission = books([(0.0, 1.0)] * dim, constraints=NonlinearConstraint(counting, lower, upper))
    points = admission.some(4, np.random.default_rng(0))
    assert len(points) == 4 and all(((fun(x) >= np.array(lower)) & (fun(x) <= np.array(upper))).all() for x in points)
    assert counting.calls < 10_000


def test_points_of_a_thin_ring_are_all_around_it():
    ring = NonlinearConstraint(lambda x: np.hypot(*(x - 0.5)), 0.3, 0.3005)
    _, admission = books([(0.0, 1.0)] * 2, [[0.8002, 0.5]], constraints=ring)
    points = admission.some(40, np.random.default_rng(0)) - 0.5
    quarters = np.unique(np.sign(points), axis=0, return_counts=True)[1]
    assert len(quarters) == 4 and quarters.min() >= 4


def test_what_is_told_is_asked_about_once():
    counting = Counting(np.sum)
    told = np.random.default_rng(0).random((500, 4))
    constraints = NonlinearConstraint(counting, -np.inf, 0.05)
    _, admission = books([(0.0, 1.0)] * 4, [*told, [0.01] * 4], constraints=constraints)
    admission.some(1, np.random.default_rng(0))
    assert counting.calls > 800
    before = counting.calls
    admission.some(1, np.random.default_rng(0))
    assert counting.calls - before < 500


def test_a_point_met_at_the_last_moment_is_taken(monkeypatch):
    """Whether others are feasible is looked at last: where one is, and new, nothing is exhausted."""
    space, admission = books([(0.0, 1.0)], constraints=NonlinearConstraint(lambda x: float(x[0] < 0.005), 0.5, 1.0))
    monkeypatch.setattr(Admission, "_batches", lambda *_: iter(()))
    monkeypatch.setattr(Prospector, "first", lambda *_: np.empty((0, 1)))
    assert space.thin
    ((point,),) = found(space, admission, 1)
    assert point < 0.005


@pytest.mark.parametrize(("known", "most"), [((), 2_200), ([[0.1] * 3], 700)])
def test_where_there_is_nothing_to_go_down_descents_end_soon(monkeypatch, known, most):
    """A thousand points for the first one, a few rounds from the best of them, and the tries that are left."""
    calls = []

    def says_yes_or_no(x):
        calls.append(x)
        return float(((x - 0.1) ** 2).sum() < 1e-6)

    monkeypatch.setattr(gssbo.admission, "EFFORT", 0)
    space, admission = books([(0.0, 1.0)] * 3, known, constraints=NonlinearConstraint(says_yes_or_no, 0.5, 1.0))
    assert space.thin
    calls.clear()
    if known:
        assert len(found(space, admission, 1)) == 1
    else:
        assert len(admission._prospector.first(np.random.default_rng(0))) == 0
    assert len(calls) < most

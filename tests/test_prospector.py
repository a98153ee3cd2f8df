"""Where the feasible region is too thin for trying: points that are found from others, or from none."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

import gssbo.admission
from gssbo import Integer, Real
from gssbo.exceptions import InfeasibleError
from tests.admissions import books, found


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


def test_points_told_that_are_infeasible_are_no_start(hasty):
    """The best value is told where the constraint forbids, so is a failure; what remains is the worst."""
    bounds, constraint = [(0.0, 1.0)] * 4, NonlinearConstraint(lambda x: float(x.sum() <= 0.05), 0.5, np.inf)
    told = [[0.5] * 4, [0.9, 0.1, 0.0, 0.0]]
    _, admission = books(bounds, told, constraints=constraint)
    with pytest.raises(InfeasibleError, match="among 1000 tried; a point that meets them, told"):
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

"""Suggestions under constraints, and what comes where all that meets them is told or there is nothing."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

from gssbo import Optimizer, minimize
from gssbo.exceptions import InfeasibleError
from tests.mixed import MIXED, cost, settings
from tests.optimizers import few_candidates


@pytest.mark.parametrize(
    "constraint",
    [LinearConstraint([[1.0, 1.0]], ub=0.5), NonlinearConstraint(lambda x: x[0] + x[1], -np.inf, 0.5)],
    ids=["linear", "nonlinear"],
)
def test_suggestions_meet_the_constraints(constraint):
    opt = Optimizer([(0.0, 1.0)] * 2, constraints=constraint, **settings())
    for _ in range(8):
        for x in opt.ask(4):
            assert x[0] + x[1] <= 0.5
            opt.tell(x, -x[0] - 2 * x[1])
    best = opt.best_y
    assert best < -0.95
    opt.tell([0.9, 0.9], -2.7)  # what is told need not meet them, but is no answer
    assert (opt.best_y, opt.result().fun) == (best, best)
    assert opt.best(by="model").x.sum() <= 0.5


def test_where_nothing_meets_the_constraints_the_best_of_all_is_the_best():
    opt = Optimizer([(0.0, 1.0)] * 2, constraints=LinearConstraint([[1.0, 1.0]], ub=0.5), **settings())
    opt.tell([[0.9, 0.9], [0.4, 0.9]], [-2.7, -1.0])
    assert (opt.best_y, opt.best_index) == (-2.7, 0)
    opt.tell([0.1, 0.1], 5.0)
    assert (opt.best_y, opt.best_index, opt.best_x.tolist()) == (5.0, 2, [0.1, 0.1])


@pytest.mark.parametrize("method", ["portfolio", "box"])
def test_constraints_make_no_smaller_design(method):
    rule = LinearConstraint([[1.0] + [0.0] * 3], ub=0.1)
    opt = Optimizer([(0.0, 1.0)] * 4, constraints=rule, method=method, n_init=24, rng=0)
    for _ in range(24):
        x = opt.ask()
        assert x[0] <= 0.1
        opt.tell(x, float(x @ x))
    assert opt.n_suggested == 0
    assert len(np.unique(opt.X, axis=0)) == 24


@pytest.mark.parametrize("told", [0, 3])
@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_what_is_not_there_is_not_looked_for_with_every_point_of_the_design(hasty, method, told):
    calls = []

    def never(x):
        calls.append(1)
        return -1.0

    opt = Optimizer(
        [(0.0, 1.0)] * 2,
        constraints=NonlinearConstraint(never, 0, 1),
        method=method,
        n_init=30,
        rng=0,
        **few_candidates(method),
    )
    for k in range(told):
        opt.tell([k / 10, 0.5], float(k))
    for n in (1, 5):
        calls.clear()
        with pytest.raises(InfeasibleError):
            opt.ask(n)
        assert len(calls) < 10_000  # to look once takes 7,000, for thirty points 210,000
    opt.enqueue([0.5, 0.5])
    assert len(opt.ask(4)) == 1


def test_constraints_in_a_mixed_space():
    def needs_units(x):
        return x["units"] - 100 * (x["act"] == "gelu")

    result = minimize(cost, MIXED, n_evals=40, constraints=NonlinearConstraint(needs_units, 0, np.inf), **settings())
    assert all(x["act"] != "gelu" or x["units"] >= 100 for x in result.x_iters)
    assert result.fun < 1.5


def test_an_equality_among_whole_numbers():
    result = minimize(
        lambda x: abs(x[0] - 3),
        [range(11)] * 2,
        n_evals=30,
        constraints=LinearConstraint([[1, 1]], 10, 10),
        **settings(),
    )
    assert (result.nfev, result.status, result.x) == (11, 3, [3, 7])


@pytest.mark.parametrize("seed", range(4))
def test_linear_equalities_of_any_coefficients(seed):
    rng = np.random.default_rng(seed)
    A = rng.uniform(0.1, 1.1, (1 + seed % 2, 4))
    level = A @ rng.uniform(0.3, 0.7, 4)
    result = minimize(
        lambda x: float(x.sum()), [(0.0, 1.0)] * 4, n_evals=25, constraints=LinearConstraint(A, level, level), rng=seed
    )
    np.testing.assert_allclose(result.x_iters @ A.T, np.tile(level, (25, 1)), rtol=0, atol=1e-14)
    assert len(np.unique(result.x_iters, axis=0)) == 25


@pytest.mark.parametrize("fixed", [(0.25, 0.25), [0.25], ["a word"]], ids=str)
@pytest.mark.parametrize("width", [0.0, 1e-4])
def test_a_fixed_parameter_is_no_concern_of_thin_regions(fixed, width):
    def cost(x):
        return (x[0] - 0.3) ** 2 + (x[2] - 0.3) ** 2

    counts = [1.0, 0.0 if isinstance(fixed, list) else 2.0, 1.0]
    level = 1.0 + counts[1] * 0.25
    result = minimize(
        cost,
        [(0.0, 1.0), fixed, (0.0, 1.0)],
        n_evals=30,
        constraints=LinearConstraint([counts], level, level + width),
        rng=0,
    )
    sums = np.array([x[0] + x[2] for x in result.x_iters])
    assert ((sums >= 1.0 - 1e-14) & (sums <= 1.0 + width + 1e-14)).all()
    assert len({x[0] for x in result.x_iters}) == 30
    assert result.fun < 0.08 + 1e-6


def test_a_space_without_a_feasible_point(hasty):
    opt = Optimizer([(0.0, 1.0)] * 2, constraints=NonlinearConstraint(lambda x: x.sum(), 1.0, 1.0), **settings())
    for told in (False, True):
        if told:
            opt.tell([[0.5, 0.6]] * 9, np.arange(9.0))
        with pytest.raises(InfeasibleError, match="none among 1000 tried"):
            opt.ask(3)
        assert opt.pending == []


def test_a_constraint_that_most_points_meet_is_asked_about_few():
    """To see that the region is not thin takes 30."""
    calls = []
    limit = NonlinearConstraint(lambda x: calls.append(x) or x.sum(), -np.inf, 1.5)
    opt = Optimizer([(0.0, 1.0)] * 2, constraints=limit, n_init=8, rng=0)
    for _ in range(20):
        x = opt.ask()
        opt.tell(x, float(((x - 0.4) ** 2).sum()))
    assert len(calls) < 200


def test_where_nothing_is_feasible_trying_ends_soon(hasty):
    calls = []
    nowhere = NonlinearConstraint(lambda x: calls.append(x) or 0.0, 1.0, 2.0)
    opt = Optimizer([(0.0, 1.0)] * 6, constraints=nowhere, rng=0)
    with pytest.raises(InfeasibleError, match="none among 1000 tried"):
        opt.ask()
    assert len(calls) < 20_000  # a design has 14 points


@pytest.mark.parametrize("value", [1.0, np.nan], ids=["valued", "failed"])
@pytest.mark.parametrize("method", ["portfolio", "box", "turbo", "rembo", "hesbo", "mini-meta"])
def test_only_infeasible_points_are_told(hasty, method, value):
    """There is a message, and once a feasible one is told, there are suggestions.

    The region is in no corner, where what is tried would be moved to from outside.
    """
    constraint = NonlinearConstraint(lambda x: float(np.abs(x - 0.37).sum() <= 0.01), 0.5, np.inf)
    opt = Optimizer([(0.0, 1.0)] * 4, constraints=constraint, method=method, n_init=3, rng=0, **few_candidates(method))
    for k in range(3):
        opt.tell(np.random.default_rng(k).random((3 * k + 1, 4)), [value] * (3 * k + 1))
        with pytest.raises(InfeasibleError, match="among 1000 tried; a point that meets them, told"):
            opt.ask(2)
        assert opt.pending == []
    opt.tell([0.37] * 4, value)
    points = opt.ask(3)
    assert (np.abs(points - 0.37).sum(axis=1) <= 0.01).all() and len(np.unique(points, axis=0)) == 3


def test_what_is_infeasible_and_pending_makes_no_point_come_again():
    opt = Optimizer(
        [range(2), ["a", "b"]], constraints=LinearConstraint([[1, 0]], ub=0), duplicates="allow", n_init=2, rng=0
    )  # fmt: skip
    opt.enqueue([[1, "a"], [1, "b"]])
    assert opt.ask(2) == [[1, "a"], [1, "b"]]
    assert sorted(opt.ask(2)) == [[0, "a"], [0, "b"]]
    assert opt.ask()[0] == 0


def test_points_come_again_once_all_feasible_ones_are_pending():
    opt = Optimizer(
        [range(2), ["a", "b"]], constraints=LinearConstraint([[1, 0]], ub=0), duplicates="allow", n_init=2, rng=0
    )  # fmt: skip
    points = [opt.ask() for _ in range(6)]
    assert {tuple(x) for x in points} == {(0, "a"), (0, "b")}


@pytest.mark.parametrize("method", ["portfolio", "box"])
@pytest.mark.parametrize("constraints", [None, LinearConstraint([[1.0]], ub=2.0), LinearConstraint([[1.0]], ub=1.0)])
def test_the_few_doubles_of_an_interval_come_again(hasty, method, constraints, tmp_path):
    def drive(opt, n):
        points = []
        for _ in range(n):
            points += [x.item() for x in (opt.ask(), *opt.ask(6))]
            opt.tell(points[-1], 1.0)
        return points

    options = {
        "method": method,
        "constraints": constraints,
        "duplicates": "allow",
        "n_init": 6,
        "rng": 0,
    } | few_candidates(method)
    bounds = [(1.0, 1.0 + 3 * np.spacing(1.0))]
    whole = drive(Optimizer(bounds, **options), 4)
    assert set(whole) <= set(1.0 + np.arange(4) * np.spacing(1.0))
    with Optimizer(bounds, journal=tmp_path / "run.jsonl", **options) as opt:
        first = drive(opt, 2)
    with Optimizer(bounds, journal=tmp_path / "run.jsonl", **options) as opt:
        assert first + drive(opt, 2) == whole


def test_the_one_feasible_point_comes_again(hasty):
    rule = NonlinearConstraint(lambda x: x.sum(), 0.75, 0.75)
    opt = Optimizer([(0.0, 3.0)] * 2, constraints=rule, duplicates="allow", n_init=4, rng=0)
    opt.enqueue([[0.65, 0.1], [1.0, 1.0]])
    points = [opt.ask(2), *(opt.ask(2) for _ in range(3))]
    assert all(x.tolist() == [0.65, 0.1] for x in np.vstack(points[1:]))
    avoiding = Optimizer([(0.0, 3.0)] * 2, constraints=rule, n_init=4, rng=0)
    avoiding.enqueue([0.65, 0.1])
    avoiding.ask()
    with pytest.raises(InfeasibleError):
        avoiding.ask()


@pytest.mark.parametrize("n", [1, 5])
def test_where_nothing_is_feasible_not_each_point_of_the_design_is_replaced(hasty, n):
    calls = []
    rule = NonlinearConstraint(lambda x: calls.append(1) or x[0], 2.0, 3.0)
    opt = Optimizer([(0.0, 1.0)] * 2, constraints=rule, n_init=30, rng=0)
    with pytest.raises(InfeasibleError):
        opt.ask(n)
    assert len(calls) < 10_000  # of 1,000 that are tried for one point

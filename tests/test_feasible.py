"""Suggestions under constraints, where a region is small or there is none."""

import warnings

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

import gssbo.admission
import gssbo.space
from gssbo import Categorical, Optimizer, Real, minimize
from gssbo.exceptions import InfeasibleError, SpaceExhausted
from tests.mixed import MIXED, cost, settings


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
        [(0.0, 1.0)] * 2, constraints=NonlinearConstraint(never, 0, 1), method=method, n_init=30, rng=0, **few(method)
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


@pytest.fixture
def hasty(monkeypatch):
    """Fewer points are tried before others are looked for: none would be found in any case."""
    monkeypatch.setattr(gssbo.admission, "EFFORT", 1_000)


def few(method):
    return {} if method == "portfolio" else {"n_candidates": 50}


def below(x):
    """A bowl whose least value under sum(x) <= 0.05 is where the sum is 0.05."""
    return float(((x - np.linspace(0.0, 0.02, len(x))) ** 2).sum() * 1e4 - 100.0 * x[0])


@pytest.mark.parametrize(("method", "n_evals"), [("portfolio", 100), ("box", 50)])
@pytest.mark.parametrize(("dim", "part"), [(4, 0.01), (10, 0.3)])
def test_a_run_goes_on_in_a_small_region(hasty, method, n_evals, dim, part):
    """So many evaluations close the gap between the first point and the least value to a part of it.

    By projection, the least is at max(c - t, 0) with t such that the sum is 0.05, for the unconstrained minimum c.
    """
    centre = np.linspace(0.0, 0.02, dim)
    centre[0] += 0.005
    shifts = np.linspace(0.0, 0.02, 200_001)
    sums = np.maximum(centre[:, None] - shifts, 0.0).sum(axis=0)
    least = below(np.maximum(centre - shifts[np.argmax(sums <= 0.05)], 0.0))
    start = np.full(dim, 0.04 / dim)
    result = minimize(
        below,
        [(0.0, 1.0)] * dim,
        constraints=LinearConstraint(np.ones(dim), ub=0.05),
        x0=[start],
        n_evals=n_evals,
        method=method,
        rng=0,
        n_init=10,
        **few(method),
    )
    assert result.nfev == n_evals and (result.x_iters.sum(axis=1) <= 0.05).all()
    assert least - 1e-4 <= result.fun < least + part * (below(start) - least)


def hyperbola(x):
    return x[0] * x[1] - 25.0, x[0] ** 2 + x[1] ** 2 - 25.0


@pytest.mark.parametrize(
    ("fun", "bounds", "constraint", "least", "tolerance"),
    [
        (  # problem 18 of Hock and Schittkowski: 0.97 of the box is feasible
            lambda x: 0.01 * x[0] ** 2 + x[1] ** 2,
            [(2.0, 50.0), (0.0, 50.0)],
            NonlinearConstraint(hyperbola, 0.0, np.inf),
            5.0,
            1e-3,
        ),
        (lambda x: x.sum(), [(-2.0, 2.0)] * 2, NonlinearConstraint(lambda x: x @ x, -np.inf, 1.0), -np.sqrt(2.0), 1e-5),
        (  # the centre of the face is best
            lambda x: ((x - 0.7) ** 2).sum(),
            [(0.0, 1.0)] * 6,
            LinearConstraint(np.ones(6), ub=2.7),
            6 * 0.25**2,
            1e-3,
        ),
    ],
    ids=["hyperbola", "disc", "half-space"],
)
def test_an_optimum_on_the_boundary_of_a_large_region_is_found(fun, bounds, constraint, least, tolerance):
    result = minimize(fun, bounds, constraints=constraint, n_evals=80, rng=0)
    assert least - 1e-9 <= result.fun < least + tolerance


def test_an_optimum_on_the_boundary_of_whole_numbers_is_found():
    """Of 10,000 points, by trying them all."""
    weights, worth = np.array([3.0, 2.1, 4.2, 1.0]), np.array([5.0, 4.0, 7.0, 2.0])

    def loss(x):
        return -float(worth @ x - 0.08 * worth @ np.square(x))

    points = np.stack(np.meshgrid(*[np.arange(10)] * 4), axis=-1).reshape(-1, 4)
    least = min(map(loss, points[points @ weights <= 30.0]))
    result = minimize(loss, [range(10)] * 4, constraints=LinearConstraint(weights, ub=30.0), n_evals=70, rng=0)
    assert result.fun == least


THIN = {
    "mixture": ([(0.0, 1.0)] * 4, lambda x: x.sum(), (0.995, 1.005), 1000.0),
    "ring": ([(-1.0, 1.0)] * 2, lambda x: np.hypot(*x), (0.7, 0.702), 2000.0),
    "disc": ([(0.0, 1.0)] * 3, lambda x: np.linalg.norm(x - [0.3, 0.6, 0.8]), (-np.inf, 0.02), 1500.0),
}


@pytest.mark.parametrize("method", ["portfolio", "box"])
@pytest.mark.parametrize("region", THIN)
def test_a_thin_region_takes_few_calls(region, method):
    """The best of 35 evaluations is next to the optimum, which is on the boundary; points are infeasible never."""
    bounds, fun, (lower, upper), most = THIN[region]
    calls = []

    def counted(x):
        calls.append(x)
        return fun(x)

    target = np.linspace(0.75, 0.05, len(bounds))

    def loss(x):
        return float(((x - target) ** 2).sum())

    opt = Optimizer(
        bounds, constraints=NonlinearConstraint(counted, lower, upper), method=method, n_init=8, subset_size=30, rng=0
    )
    for _ in range(35):
        x = opt.ask()
        assert lower <= fun(x) <= upper
        opt.tell(x, loss(x))
    least = {
        "mixture": (target.sum() - 1.005) ** 2 / 4,
        "ring": (np.linalg.norm(target) - 0.702) ** 2,
        "disc": (np.linalg.norm(target - np.resize([0.3, 0.6, 0.8], len(bounds))) - 0.02) ** 2,
    }[region]
    assert least - 1e-9 <= opt.best_y < least + 0.1 * (np.median(opt.y[:8]) - least)
    assert len(calls) < 35 * most


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


@pytest.mark.parametrize("method", ["portfolio", "box"])
def test_a_run_in_a_small_region_is_taken_up(hasty, tmp_path, method):
    """Batches of two, half of them told: what is pending counts as known, too."""
    path = tmp_path / "run.jsonl"
    options = {"constraints": LinearConstraint(np.ones(3), ub=0.02), "method": method, "n_init": 4, "rng": 0}
    options |= few(method)

    def drive(opt, n):
        points = []
        for _ in range(n):
            points += list(opt.ask(2))
            opt.tell(points[-1], below(points[-1]))
        return points

    whole = Optimizer([(0.0, 1.0)] * 3, **options)
    whole.tell([[0.9, 0.9, 0.9]], [-100.0])
    expected = drive(whole, 12)
    opt = Optimizer([(0.0, 1.0)] * 3, journal=path, **options)
    opt.tell([[0.9, 0.9, 0.9]], [-100.0])
    first = drive(opt, 6)
    opt.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = Optimizer([(0.0, 1.0)] * 3, journal=path, **options)
    np.testing.assert_array_equal(first + drive(again, 6), expected)
    again.close()
    assert (np.array(expected).sum(axis=1) <= 0.02).all() and len(np.unique(expected, axis=0)) == 24


@pytest.mark.parametrize("value", [1.0, np.nan], ids=["valued", "failed"])
@pytest.mark.parametrize("method", ["portfolio", "box", "turbo", "rembo", "hesbo", "mini-meta"])
def test_only_infeasible_points_are_told(hasty, method, value):
    """There is a message, and once a feasible one is told, there are suggestions.

    The region is in no corner, where what is tried would be moved to from outside.
    """
    constraint = NonlinearConstraint(lambda x: float(np.abs(x - 0.37).sum() <= 0.01), 0.5, np.inf)
    opt = Optimizer([(0.0, 1.0)] * 4, constraints=constraint, method=method, n_init=3, rng=0, **few(method))
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

    options = {"method": method, "constraints": constraints, "duplicates": "allow", "n_init": 6, "rng": 0} | few(method)
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


ORDER = np.eye(30)[1:] - np.eye(30)[:-1]
SINGLE = {
    "a corner": ([(-3.0, 7.0)] * 3, LinearConstraint([[1, 1, 1]], ub=-9.0), 1),
    "inside": ([(0.0, 1.0)] * 2, LinearConstraint([[1, 1], [1, -1]], [1.0, 0.5], [1.0, 0.5]), 1),
    "of whole numbers": ([range(8)] * 30, LinearConstraint(np.ones((1, 30)), 210), 1),
    "of categories": ([Categorical([1, 3, 7, 20])] * 12, LinearConstraint(np.ones((1, 12)), 240), 1),
    "a corner of a function": ([(0.0, 1.0)] * 3, NonlinearConstraint(lambda x: x.sum(), -np.inf, 0.0), 1),
    "an order": ([range(31)] * 30, LinearConstraint(ORDER, 1), 6),  # 31 there are
    "a mixture": ([range(20)] * 4 + [(0.0, 1.0)] * 4, LinearConstraint([[1] * 8], [61.37], [61.37]), 6),
}


@pytest.mark.parametrize("region", SINGLE)
def test_regions_of_a_few_points_are_found_and_exhausted(hasty, region):
    bounds, constraint, n = SINGLE[region]
    opt = Optimizer(bounds, constraints=constraint, n_init=4, rng=0)
    space = gssbo.space.Space(bounds, constraint)
    for _ in range(n):
        x = opt.ask()
        opt.tell(x, float(sum(x)))
        assert space.feasible(space.read("x", x)[0]).all()
    assert len({tuple(x) for x in opt.X}) == n
    if n == 1:
        with pytest.raises(SpaceExhausted, match=r"feasible points that were found are told \(1 distinct\)"):
            opt.ask()


def test_where_walks_leave_an_equality_its_ends_are_found_and_the_reason_is_given(hasty):
    """Only the ends, as a logarithm makes it a curve."""
    equal = LinearConstraint([[1, 1]], 0.7, 0.7)
    opt = Optimizer([Real(1e-3, 1.0, log=True), (0.0, 1.0)], constraints=equal, n_init=2, rng=0)
    with pytest.raises(SpaceExhausted, match=r"are told \(\d distinct\) or pending \(0\); equalities between real"):
        for _ in range(9):
            x = opt.ask()
            opt.tell(x, x.sum())
    assert opt.n_told >= 2 and np.allclose(opt.X.sum(axis=1), 0.7, rtol=1e-14)


def test_one_of_many_basins_of_a_function_is_found():
    def waves(x):
        return float((10.0 * (x - 0.77) ** 2 + 4.0 - 4.0 * np.cos(12.0 * np.pi * (x - 0.77))).sum())

    opt = Optimizer([(0.0, 1.0)] * 4, constraints=NonlinearConstraint(waves, 0.0, 1e-2), n_init=4, rng=0)
    for x in opt.ask(3):
        assert waves(x) <= 1e-2


@pytest.mark.parametrize("n", [1, 5])
def test_where_nothing_is_feasible_not_each_point_of_the_design_is_replaced(hasty, n):
    calls = []
    rule = NonlinearConstraint(lambda x: calls.append(1) or x[0], 2.0, 3.0)
    opt = Optimizer([(0.0, 1.0)] * 2, constraints=rule, n_init=30, rng=0)
    with pytest.raises(InfeasibleError):
        opt.ask(n)
    assert len(calls) < 10_000  # of 1,000 that are tried for one point

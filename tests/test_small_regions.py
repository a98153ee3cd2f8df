"""Runs in regions that are thin, or of which the boundary matters."""

import warnings

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

from gssbo import Categorical, Integer, Optimizer, Real, minimize
from gssbo.exceptions import InfeasibleError, SpaceExhausted
from gssbo.space import Space
from gssbo.space.equalities import Equalities
from tests.optimizers import few_candidates


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
        **few_candidates(method),
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


@pytest.mark.parametrize("method", ["portfolio", "box"])
def test_a_run_in_a_small_region_is_taken_up(hasty, tmp_path, method):
    """Batches of two, half of them told: what is pending counts as known, too."""
    path = tmp_path / "run.jsonl"
    options = {"constraints": LinearConstraint(np.ones(3), ub=0.02), "method": method, "n_init": 4, "rng": 0}
    options |= few_candidates(method)

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
    space = Space(bounds, constraint)
    for _ in range(n):
        x = opt.ask()
        opt.tell(x, float(sum(x)))
        assert space.feasible(space.read("x", x)[0]).all()
    assert len({tuple(x) for x in opt.X}) == n
    if n == 1:
        with pytest.raises(SpaceExhausted, match=r"feasible points that were found are told \(1 distinct\)"):
            opt.ask()


UNEVEN = {
    "a logarithm": ([Real(1e-3, 1.0, log=True), (0.0, 1.0)], [[1, 1]], 0.7, 0.245),
    "logarithms": ([Real(1e-4, 1.0, log=True)] * 4, [[1, 1, 1, 2]], 0.7, 0.07),
    "whole numbers": ([range(20)] * 3 + [(0.0, 1.0)] * 3, [[1, 1, 1, 1, 1, 1]], 30.37, 263.8723),
    "two equalities": (
        [range(20)] * 2 + [(0.0, 1.0)] * 2 + [Real(1e-3, 1.0, log=True)] * 2,
        [[1, 1, 1, 1, 1, 1], [1, -1, 0, 1, 2, -1]],
        [21.3, 0.4],
        166.8433,
    ),
}


@pytest.mark.parametrize("region", UNEVEN)
def test_linear_equalities_of_logarithms_and_whole_numbers_are_met_anywhere(region):
    """Not at the ends alone: the least sum of squares, which is inside, is found but for a seventh."""
    bounds, A, level, least = UNEVEN[region]
    rule = LinearConstraint(A, level, level)
    space = Space(bounds, rule)
    result = minimize(lambda x: float((np.asarray(x) ** 2).sum()), space, n_evals=40, rng=0)
    assert result.nfev == 40 and len({tuple(x) for x in result.x_iters}) == 40
    assert all(space.feasible(space.read("x", x)[0]).all() for x in result.x_iters)
    assert least * 0.999 < result.fun < 1.15 * least


def test_reals_that_cannot_meet_an_equality_come_as_near_as_they_can():
    kinds = [Integer(0, 9), Real(0.0, 0.1), Real(1e-3, 0.1, log=True)]
    sums = Equalities(kinds, (np.ones((1, 3)), np.array([30.0]), np.array([30.0])))
    reals = sums.balanced(np.array([[9.0, 0.05, 0.01], [0.0, 0.0, 1e-3]]))
    np.testing.assert_allclose(reals, 0.1)
    low = Equalities(kinds, (np.ones((1, 3)), np.array([-5.0]), np.array([-5.0])))
    np.testing.assert_allclose(low.balanced(np.array([[9.0, 0.05, 0.01]])), [[0.0, 1e-3]])


@pytest.mark.parametrize(
    ("bounds", "rule", "said"),
    [
        ([(0.0, 1.0), range(3)], LinearConstraint([[1, 1]], 9.0, 9.0), "0 of constraints[0] is between 0 and 3 "),
        ([(0.0, 1.0)] * 2, LinearConstraint([[1, 0], [1, -2]], [0, 4]), "1 of constraints[0] is between -2 and 1 "),
        (
            [(0.0, 1.0)] * 2,
            LinearConstraint([[1e300, 1e300]], ub=-1e299),
            "between 0 and 2e+300 within the bounds, and never -1e+299",
        ),
        ([Categorical([5, 1]), Categorical(["a", "b"])], LinearConstraint([[1, 0]], ub=0.5), "is between 1 and 5 "),
    ],
)
def test_a_row_that_no_point_meets_is_named(bounds, rule, said):
    with pytest.raises(InfeasibleError) as caught:
        Optimizer(bounds, constraints=rule, rng=0).ask()
    assert said in str(caught.value)


def test_one_of_many_basins_of_a_function_is_found():
    def waves(x):
        return float((10.0 * (x - 0.77) ** 2 + 4.0 - 4.0 * np.cos(12.0 * np.pi * (x - 0.77))).sum())

    opt = Optimizer([(0.0, 1.0)] * 4, constraints=NonlinearConstraint(waves, 0.0, 1e-2), n_init=4, rng=0)
    for x in opt.ask(3):
        assert waves(x) <= 1e-2

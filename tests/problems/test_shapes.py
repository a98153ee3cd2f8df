"""Closed-form functions: optima and vectorisation of all; values worked out by hand, boxes beyond the paper's five."""

import numpy as np
import pytest
from scipy.optimize import minimize

from gssbo.problems import get_problem, lowdim
from gssbo.problems.lowdim import branin, shekel
from gssbo.problems.multimodal import ackley, griewank, michalewicz, styblinski_tang
from gssbo.problems.valleys import bent_cigar, discus, ellipsoid, rosenbrock, sharp_ridge

NAMES = [
    "eggholder2", "hartmann6", "levy20", "powell50", "rastrigin100",
    "ackley20", "griewank10", "michalewicz10", "styblinskitang10", "branin2", "shekel4", "rosenbrock10", "ellipsoid10",
    "discus10", "bentcigar10", "sharpridge10",
]  # fmt: skip
SMALL = ["levy1", "levy7", "powell4", "powell7", "rastrigin1", "ackley1", "michalewicz2", "rosenbrock2", "ellipsoid2"]


@pytest.mark.parametrize("name", [*NAMES, *SMALL, "michalewicz100"])
def test_optimum_is_attained_and_not_beaten(name):
    problem = get_problem(name)
    rounding = 1e-12 * max(1.0, abs(problem.optimum))
    assert abs(problem(problem.x_optimum) - problem.optimum) <= rounding
    lower, upper = problem.bounds.T
    rng = np.random.default_rng(0)
    everywhere = lower + (upper - lower) * rng.random((5_000, problem.dim))
    scale = 10.0 ** rng.uniform(-8, -1, (5_000, 1))
    nearby = problem.x_optimum + scale * (upper - lower) * rng.standard_normal((5_000, problem.dim))
    points = np.vstack([everywhere, np.clip(nearby, lower, upper)])
    assert problem(points).min() >= problem.optimum - rounding
    if problem.everywhere:
        outside = lower + (upper - lower) * (4.0 * rng.random((5_000, problem.dim)) - 1.5)
        assert problem(outside).min() >= problem.optimum
    assert problem.optimum_error == 0.0
    assert not problem.stochastic
    assert problem.source


@pytest.mark.parametrize(
    ("function", "point", "value"),
    [
        (ackley, [3.0, 4.0], 20.0 - 20.0 * np.exp(-0.2 * np.sqrt(12.5))),  # whole numbers: no ripple
        (ackley, [0.5], 20.0 - 20.0 * np.exp(-0.1) + np.e - np.exp(-1.0)),
        (griewank, [0.0, np.pi * np.sqrt(2.0), 0.0], 2.0 * np.pi**2 / 4000.0 + 2.0),
        (michalewicz, [np.pi / 2.0, 0.0], -(np.sin(np.pi / 4.0) ** 20)),
        (styblinski_tang, [1.0, 2.0, 0.0], -5.0 + 0.5 * (16.0 - 64.0 + 10.0)),
        (branin, [0.0, 6.0], 20.0 - 10.0 / (8.0 * np.pi)),
        (branin, [np.pi, 2.275], 10.0 / (8.0 * np.pi)),
        (rosenbrock, [-1.0, 1.0], 4.0),
        (rosenbrock, [2.0, 3.0, 9.0], 100.0 + 1.0 + 0.0 + 4.0),
        (ellipsoid, [1.0, 1.0], 1_000_001.0),
        (ellipsoid, [0.0, 1.0, 0.0, 0.0], 100.0),
        (discus, [0.5, 1.0, 2.0], 250_005.0),
        (bent_cigar, [0.5, 1.0, 2.0], 5_000_000.25),
        (sharp_ridge, [-2.0, 0.6, 0.8], 104.0),
    ],
)
def test_known_values(function, point, value):
    assert function(point) == pytest.approx(value, rel=1e-12, abs=1e-12)


def test_shekel_against_the_written_out_sum():
    x = np.random.default_rng(1).random(4) * 10.0
    total = 0.0
    for width, centre in zip(lowdim._SHEKEL_WIDTHS, lowdim._SHEKEL_CENTRES, strict=True):
        total -= 1.0 / (sum((x[j] - centre[j]) ** 2 for j in range(4)) + width)
    assert shekel(x) == pytest.approx(total, rel=1e-13)
    assert lowdim._SHEKEL_WIDTHS.sum() == pytest.approx(3.9)


@pytest.mark.parametrize("name", ["branin2", "shekel4", "michalewicz5", "styblinskitang3"])
def test_optimum_is_what_a_descent_from_nearby_finds(name):
    problem = get_problem(name)
    found = minimize(
        problem,
        problem.x_optimum + 0.01,
        method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-15, "maxiter": 5_000},
    )
    assert found.fun == pytest.approx(problem.optimum, abs=1e-11)
    np.testing.assert_allclose(found.x, problem.x_optimum, atol=2e-6)


@pytest.mark.parametrize(
    ("name", "optimum"),
    [
        ("michalewicz2", -1.8013034), ("michalewicz5", -4.6876582), ("michalewicz10", -9.6601517),
        ("styblinskitang10", -391.66165), ("branin2", 0.39788736), ("shekel4", -10.5364098),
    ],
)  # fmt: skip
def test_published_optima(name, optimum):
    assert get_problem(name).optimum == pytest.approx(optimum, abs=1e-5 if "tang" in name else 6e-8)


@pytest.mark.parametrize("name", [*NAMES, *SMALL])
def test_vectorised_equals_loop(name):
    problem = get_problem(name)
    lower, upper = problem.bounds.T
    X = lower + (upper - lower) * np.random.default_rng(2).random((50, problem.dim))
    together = problem(X)
    one_by_one = [problem(x) for x in X]
    assert together.shape == (50,)
    assert all(type(value) is float for value in one_by_one)
    np.testing.assert_allclose(together, one_by_one, rtol=1e-12)
    assert problem(X[:0]).shape == (0,)


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("ackley20", -32.768, 32.768), ("griewank10", -600.0, 600.0), ("michalewicz10", 0.0, np.pi),
        ("styblinskitang10", -5.0, 5.0), ("shekel4", 0.0, 10.0), ("rosenbrock10", -5.0, 10.0),
        ("ellipsoid10", -5.0, 5.0), ("discus10", -5.0, 5.0), ("bentcigar10", -5.0, 5.0), ("sharpridge10", -5.0, 5.0),
    ],
)  # fmt: skip
def test_boxes(name, low, high):
    problem = get_problem(name)
    assert problem.name == name
    assert (problem.bounds == [low, high]).all()
    assert get_problem("branin").bounds.tolist() == [[-5.0, 10.0], [0.0, 15.0]]

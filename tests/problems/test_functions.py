"""The paper's closed-form functions: optima, values worked out by hand, bounds, dimensions."""

import numpy as np
import pytest
from scipy.optimize import minimize

from gssbo.problems import functions, get_problem
from gssbo.problems.functions import eggholder, hartmann6, levy, powell, rastrigin


def test_hartmann_optimum_is_stationary():
    problem = get_problem("hartmann6")
    found = minimize(
        lambda x: float(hartmann6(x)),
        problem.x_optimum,
        method="Nelder-Mead",
        options={"xatol": 1e-10, "fatol": 1e-15, "maxiter": 5_000},
    )
    assert found.fun == pytest.approx(problem.optimum, abs=1e-12)
    np.testing.assert_allclose(found.x, problem.x_optimum, atol=1e-6)


def test_eggholder_optimum_lies_on_the_upper_edge():
    problem = get_problem("eggholder2")
    t = problem.x_optimum[1] + np.linspace(-1.0, 1.0, 20_001)
    edge = np.column_stack([np.full_like(t, 512.0), t])
    assert eggholder(edge).min() == pytest.approx(problem.optimum, abs=1e-6)
    assert eggholder([511.9, problem.x_optimum[1]]) > problem.optimum


@pytest.mark.parametrize(
    ("function", "point", "value"),
    [
        (eggholder, [0.0, 0.0], -47.0 * np.sin(np.sqrt(47.0))),
        (eggholder, [0.0, -47.0], 0.0),
        (eggholder, [16.0, -39.0], -8.0 * np.sin(4.0) - 16.0 * np.sin(np.sqrt(8.0))),
        (levy, [-3.0], 1.0),  # w = 0: sin(0)^2 + (0 - 1)^2 (1 + 0)
        (levy, [3.0, 1.0], 1.0 + 0.25 * (1.0 + 10.0 * np.cos(1.0) ** 2)),  # w = (1.5, 1)
        (levy, [1.0, 3.0], 0.25),  # w = (1, 1.5)
        (powell, [3.0, -1.0, 0.0, 1.0], 49.0 + 5.0 + 1.0 + 160.0),  # the customary starting point
        (powell, [3.0, -1.0, 0.0, 1.0] * 3, 3 * 215.0),
        (rastrigin, [1.0, -2.0], 5.0),
        (rastrigin, [0.5, 0.0, 0.0], 20.25),
        (hartmann6, [0.0] * 6, -0.00508911288366444),
    ],
)
def test_known_values(function, point, value):
    assert function(point) == pytest.approx(value, rel=1e-12, abs=1e-12)


def test_hartmann_against_the_written_out_sum():
    x = np.random.default_rng(1).random(6)
    total = 0.0
    for i in range(4):
        exponent = sum(
            functions._HARTMANN_RATES[i, j] * (x[j] - functions._HARTMANN_CENTRES[i, j]) ** 2 for j in range(6)
        )
        total -= functions._HARTMANN_WEIGHTS[i] * np.exp(-exponent)
    assert hartmann6(x) == pytest.approx(total, rel=1e-13)


@pytest.mark.parametrize(
    ("name", "dim", "low", "high"),
    [
        ("eggholder2", 2, -512.0, 512.0),
        ("hartmann6", 6, 0.0, 1.0),
        ("levy20", 20, -10.0, 10.0),
        ("powell50", 50, -4.0, 5.0),
        ("rastrigin100", 100, -5.12, 5.12),
    ],
)
def test_boxes(name, dim, low, high):
    problem = get_problem(name)
    assert problem.name == name
    assert problem.dim == dim
    assert problem.bounds.shape == (dim, 2)
    assert (problem.bounds == [low, high]).all()
    assert not problem.bounds.flags.writeable
    assert problem.source


def test_powell50_ignores_its_last_two_coordinates_and_says_so():
    problem = get_problem("powell50")
    x = np.random.default_rng(3).uniform(-4, 5, 50)
    changed = x.copy()
    changed[48:] = 0.0
    assert problem(x) == problem(changed) == powell(x[:48])
    changed[47] += 1.0
    assert problem(x) != problem(changed)
    assert "48 of 50" in problem.source
    assert "coordinates" not in get_problem("powell", dim=8).source

"""Shifted, rotated and noisy problems: where the optimum goes, what a rotation keeps, what a name means."""

import numpy as np
import pytest

from gssbo.problems import Problem, get_problem, noisy, rotated, shifted
from gssbo.problems.moved import HARTMANN_NOISE, random_rotation

MOVED = [
    "levy20-shifted", "powell50-shifted", "rastrigin100-shifted", "ackley20-shifted", "griewank10-shifted",
    "rosenbrock10-shifted", "ellipsoid10-shifted-rotated", "discus10-rotated-shifted", "bentcigar10-shifted3-rotated2",
    "sharpridge10-rotated", "shekel4-shifted", "hartmann6-rotated", "styblinskitang10-shifted",
]  # fmt: skip


@pytest.mark.parametrize("name", MOVED)
def test_optimum_is_attained_and_not_beaten(name):
    problem, plain = get_problem(name), get_problem(name.partition("-")[0])
    assert problem.name == name
    assert problem.optimum == plain.optimum
    assert problem(problem.x_optimum) == pytest.approx(problem.optimum, abs=1e-12)
    lower, upper = problem.bounds.T
    np.testing.assert_array_equal(problem.bounds, plain.bounds)
    rng = np.random.default_rng(0)
    everywhere = lower + (upper - lower) * rng.random((5_000, problem.dim))
    nearby = problem.x_optimum + 10.0 ** rng.uniform(-8, 0, (5_000, 1)) * rng.standard_normal((5_000, problem.dim))
    assert problem(np.vstack([everywhere, nearby])).min() >= problem.optimum - 1e-12
    if "shifted" in name:
        place = (problem.x_optimum - lower) / (upper - lower)
        assert 0.1 <= place.min() < place.max() <= 0.9
        assert np.abs(place - (plain.x_optimum - lower) / (upper - lower)).mean() > 0.1


def test_a_shift_carries_values_along():
    problem, plain = get_problem("griewank3-shifted"), get_problem("griewank3")
    X = np.random.default_rng(1).uniform(-100.0, 100.0, (20, 3))
    np.testing.assert_allclose(problem(X + problem.x_optimum), plain(X), rtol=1e-12)
    assert problem(X[0] + problem.x_optimum) == pytest.approx(plain(X[0]), rel=1e-12)


def test_shifts_are_uniform_less_the_margin():
    places = np.array([(shifted(get_problem("discus10"), seed).x_optimum + 5.0) / 10.0 for seed in range(100)])
    assert places.min() >= 0.1
    assert places.max() <= 0.9
    assert places.mean() == pytest.approx(0.5, abs=0.03)
    assert places.std() == pytest.approx(0.8 / np.sqrt(12.0), rel=0.05)


@pytest.mark.parametrize("dim", [1, 2, 5, 100])
def test_random_rotations_are_orthogonal(dim):
    Q = random_rotation(dim, np.random.default_rng(dim))
    np.testing.assert_allclose(Q @ Q.T, np.eye(dim), atol=1e-13)


def test_random_rotations_are_uniform():
    draws = np.array([random_rotation(3, np.random.default_rng(seed)) for seed in range(3_000)])
    assert np.abs(draws.mean(axis=0)).max() < 0.04  # standard error 0.0105
    np.testing.assert_allclose((draws**2).mean(axis=0), 1.0 / 3.0, atol=0.02)
    assert np.linalg.det(draws).mean() == pytest.approx(0.0, abs=0.08)


def test_a_rotation_keeps_the_distance_to_the_optimum_and_what_depends_on_it_alone():
    bowl = Problem(
        name="bowl", bounds=[(-1.0, 1.0)] * 4, function=lambda X: (X**2).sum(axis=-1), optimum=0.0,
        x_optimum=[0.0] * 4, source="test", everywhere=True,
    )  # fmt: skip
    X = np.random.default_rng(2).uniform(-1.0, 1.0, (20, 4))
    np.testing.assert_allclose(rotated(shifted(bowl))(X), shifted(bowl)(X), rtol=1e-12)


def test_a_rotated_ellipsoid_has_the_curvatures_of_the_plain_one_in_other_directions():
    problem = get_problem("ellipsoid4-shifted-rotated")
    steps = problem.x_optimum + np.eye(4)
    pairs = problem.x_optimum + np.eye(4)[:, None] + np.eye(4)[None]
    single = problem(steps)
    H = np.array([problem(row) for row in pairs]) - single[:, None] - single[None]  # exact: a quadratic form
    np.testing.assert_allclose(
        np.linalg.eigvalsh(H), 2.0 * 10.0 ** np.array([0.0, 2.0, 4.0, 6.0]), rtol=1e-6, atol=1e-4
    )
    assert np.abs(H - np.diag(np.diag(H))).max() > 1e4


# Of three moved functions at (1, 2, 3). Other values would be other functions under the old names.
RECORDED = [13.94462908, 11728090.00417799, 29.19487498]


def test_names_mean_the_same_everywhere():
    found = [
        get_problem(name)([1.0, 2.0, 3.0]) for name in ("ackley3-shifted", "discus3-rotated", "levy3-shifted2-rotated")
    ]
    assert found == pytest.approx(RECORDED, rel=1e-9)
    assert get_problem("levy3-shifted")([1.0] * 3) != get_problem("levy3-shifted1")([1.0] * 3)


@pytest.mark.parametrize("move", [shifted, rotated])
def test_bad_moves(move):
    for name in ("noisyhartmann6", "eggholder2", "michalewicz10", "branin2", "pendulums12"):
        with pytest.raises(ValueError, match="optimum that holds on all"):
            move(get_problem(name))
    for seed in (-1, 0.5, True):
        with pytest.raises(ValueError, match="seed must be"):
            move(get_problem("levy2"), seed)


def test_noise_has_its_deviation_and_its_generator():
    problem, plain = get_problem("noisyhartmann6", rng=5), get_problem("hartmann6")
    x = problem.x_optimum
    noise = problem(np.tile(x, (20_000, 1))) - plain(x)
    assert noise.mean() == pytest.approx(0.0, abs=4.0 * HARTMANN_NOISE / np.sqrt(20_000))
    assert noise.std() == pytest.approx(HARTMANN_NOISE, rel=0.02)
    assert problem.optimum == plain.optimum
    assert "0.1" in problem.source
    again = get_problem("noisyhartmann6", rng=5)
    np.testing.assert_array_equal(again(np.tile(x, (20_000, 1))) - plain(x), noise)
    assert plain.normalizer(20_000).std == pytest.approx(4.0 * HARTMANN_NOISE, rel=0.1)


@pytest.mark.parametrize("std", [0.0, -1.0, np.inf, "1"])
def test_bad_noise(std):
    with pytest.raises(ValueError, match="std must be"):
        noisy(get_problem("levy2"), std)


def test_noise_upon_noise():
    with pytest.raises(ValueError, match="must be deterministic"):
        noisy(get_problem("noisyhartmann6"), 1.0)

"""The problem record and its normaliser."""

import dataclasses
import pickle

import numpy as np
import pytest

from gssbo.problems import Normalizer, Problem, get_problem


def bowl(**changes):
    options = {
        "name": "bowl", "bounds": [(-1.0, 1.0)] * 2, "function": lambda X: (X**2).sum(axis=-1),
        "optimum": 0.0, "x_optimum": [0.0, 0.0], "source": "test",
    }  # fmt: skip
    return Problem(**(options | changes))


def test_record_is_frozen_and_owns_its_arrays():
    bounds = np.array([[-1.0, 1.0], [-2.0, 2.0]])
    problem = bowl(bounds=bounds)
    bounds[0, 0] = 5.0
    assert problem.bounds[0, 0] == -1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.optimum = 1.0
    with pytest.raises(ValueError, match="read-only"):
        problem.x_optimum[0] = 1.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"bounds": [0.0, 1.0]}, r"bounds must have shape \(d, 2\)"),
        ({"bounds": np.empty((0, 2))}, r"bounds must have shape \(d, 2\)"),
        ({"bounds": [(0.0, 1.0), (1.0, 1.0)]}, "lower < upper"),
        ({"bounds": [(0.0, 1.0), (0.0, np.inf)]}, "finite"),
        ({"x_optimum": [0.0]}, "x_optimum must have shape"),
        ({"x_optimum": [0.0, 2.0]}, "within bounds"),
    ],
)
def test_bad_records(changes, message):
    with pytest.raises(ValueError, match=message):
        bowl(**changes)


@pytest.mark.parametrize("x", [[0.0], [[0.0]], np.zeros((2, 3)), np.zeros((1, 1, 2)), 0.0])
def test_bad_shapes(x):
    with pytest.raises(ValueError, match="x must have shape"):
        bowl()(x)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_non_finite_points(bad):
    with pytest.raises(ValueError, match="finite"):
        bowl()([0.0, bad])


def test_regret():
    problem = bowl(optimum=-2.0)
    gap = problem.regret(-1.5)
    assert type(gap) is float
    assert gap == 0.5
    np.testing.assert_array_equal(problem.regret([[-2.0], [3.0]]), [[0.0], [5.0]])


def test_regret_is_negative_by_noise_alone():
    branin = get_problem("branin2")
    assert branin.regret(branin.optimum - 3e-16) == 0.0
    assert branin.regret(branin.optimum - 0.1) == pytest.approx(-0.1)
    noisy = get_problem("noisyhartmann6", rng=0)
    assert noisy.regret(np.nextafter(noisy.optimum, -10.0)) < 0.0


def test_expected_values():
    problem = get_problem("noisyhartmann6", rng=0)
    x = problem.bounds.mean(axis=1)
    assert problem.expected(x) == get_problem("hartmann6")(x) != problem(x)
    assert get_problem("levy3").expected([[2.0] * 3]) == get_problem("levy3")([2.0] * 3)
    with pytest.raises(ValueError, match=r"expected value of 'diabetes' is not known"):
        get_problem("diabetes").expected(x[:4])
    with pytest.raises(ValueError, match="x must have shape"):
        problem.expected(x[:4])


def test_registered_problems_pickle():
    for name in ("levy", "diabetes", "noisyhartmann6", "ackley5-shifted-rotated", "pendulums12"):
        problem = get_problem(name, rng=1)
        again = pickle.loads(pickle.dumps(problem))
        x = problem.bounds.mean(axis=1)
        assert problem(x) == again(x)


# Expected regret a step of uniform random search, raw; standard deviation over the box where it is known.
ANCHORS = {
    "hartmann6": (3.060, 0.385),
    "eggholder2": (3.203 * 298.0, 298.0),
    "levy20": (249.0, None),
    "powell50": (9.2e4, None),
    "rastrigin100": (1853.0, None),
}


@pytest.mark.parametrize("name", ANCHORS)
def test_normalizer_anchors(name):
    regret, std = ANCHORS[name]
    scale = get_problem(name).normalizer()
    assert scale.mean_regret == pytest.approx(regret, rel=0.02)
    assert scale.mean_regret_error < 0.005 * scale.mean_regret
    assert scale.std_error < 0.01 * scale.std
    if std is not None:
        assert scale.std == pytest.approx(std, rel=0.02)


@pytest.mark.parametrize(("name", "ratio"), [("hartmann6", 7.951), ("eggholder2", 3.203)])
def test_normalizer_anchors_in_standard_deviations(name, ratio):
    scale = get_problem(name).normalizer()
    assert scale.mean_regret / scale.std == pytest.approx(ratio, rel=0.02)


def test_normalizer_against_the_rastrigin_integrals():
    d, half = 5, 5.12
    scale = get_problem("rastrigin", dim=d).normalizer(400_000)
    x = np.linspace(-half, half, 2_000_001)
    term = x**2 + 10.0 * (1.0 - np.cos(2.0 * np.pi * x))
    assert abs(scale.mean_regret - d * term.mean()) < 4.0 * scale.mean_regret_error
    assert abs(scale.std - np.sqrt(d) * term.std()) < 4.0 * scale.std_error


def test_standard_errors_are_those_of_repeated_sampling():
    rng = np.random.default_rng(0)
    draws = [Normalizer.from_values(rng.exponential(size=400), optimum=0.0) for _ in range(2_000)]
    for estimate, error in (("mean_regret", "mean_regret_error"), ("std", "std_error")):
        spread = np.std([getattr(draw, estimate) for draw in draws])
        assert np.mean([getattr(draw, error) for draw in draws]) == pytest.approx(spread, rel=0.12)


def test_normalizer_repeats_is_cached_and_does_not_depend_on_the_block_size(monkeypatch):
    first = get_problem("levy", dim=3).normalizer(5_000)
    problem = get_problem("levy", dim=3)
    assert problem.normalizer(5_000) == first
    assert problem.normalizer(5_000) is problem.normalizer(5_000)
    assert problem.normalizer(4_000) != first
    assert first.n_samples == 5_000
    monkeypatch.setattr("gssbo.problems.problem._CHUNK_ENTRIES", 1_000)
    assert get_problem("levy", dim=3).normalizer(5_000) == first


def test_normalizer_leaves_every_generator_alone():
    before = np.random.get_state()[1].copy()
    problem = get_problem("diabetes", rng=4)
    state = problem.rng.bit_generator.state
    problem.normalizer(3)
    assert problem.rng.bit_generator.state == state
    assert (np.random.get_state()[1] == before).all()


@pytest.mark.parametrize(
    ("n_samples", "rule"),
    [(1, "at least 2"), (-3, "at least 2"), (True, "an integer"), (2.5, "an integer"), ("9", "an integer")],
)
def test_normalizer_sample_size(n_samples, rule):
    with pytest.raises(ValueError, match=f"n_samples must be {rule}, got "):
        get_problem("levy").normalizer(n_samples)


def test_from_values_needs_two():
    with pytest.raises(ValueError, match="at least 2"):
        Normalizer.from_values([1.0], optimum=0.0)


def test_a_constant_function_has_no_spread():
    scale = bowl(function=lambda X: np.full(len(X), 3.0)).normalizer(10)
    assert (scale.mean_regret, scale.std, scale.std_error) == (3.0, 0.0, 0.0)

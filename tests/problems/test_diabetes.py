"""The training task: data, split, reproducibility, robustness, and the stored estimates."""

import warnings

import numpy as np
import pytest

from gssbo.problems import get_problem
from gssbo.problems.diabetes import diabetes_split, load_pima, validation_error

GOOD = np.array([32.0, 0.03, 1e-6, 6.0])
MIXED = np.array([[32.0, 0.01, 1e-6, 8.0], [128.0, 1.0, 1.0, 1.0], [77.4, 0.5, 0.5, 3.4]])


def test_data_counts():
    X, y = load_pima()
    assert X.shape == (768, 8)
    assert y.shape == (768,)
    assert (int((y == 1.0).sum()), int((y == 0.0).sum())) == (268, 500)
    assert np.unique(np.column_stack([X, y]), axis=0).shape[0] == 768
    np.testing.assert_array_equal(X[0], [6.0, 148.0, 72.0, 35.0, 0.0, 33.6, 0.627, 50.0])
    np.testing.assert_array_equal((X == 0.0).sum(axis=0), [111, 5, 35, 227, 374, 11, 0, 0])
    np.testing.assert_allclose(X.mean(axis=0)[[0, 1, 7]], [3.84505208, 120.89453125, 33.24088542])


def test_split_is_three_quarters_disjoint_and_scaled_on_the_training_part():
    split = diabetes_split()
    assert split.X_train.shape == (576, 8)
    assert split.X_valid.shape == (192, 8)
    np.testing.assert_allclose(split.X_train.min(axis=0), 0.0)
    np.testing.assert_allclose(split.X_train.max(axis=0), 1.0)
    assert int(split.y_train.sum() + split.y_valid.sum()) == 268
    X, _ = load_pima()
    whole = np.vstack([split.X_train, split.X_valid])
    span = (whole.max(axis=0) - whole.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    back = np.sort(whole, axis=0) / span
    np.testing.assert_allclose(back - back[0], np.sort(X, axis=0) - X.min(axis=0), atol=1e-9)
    assert not any(part.flags.writeable for part in split)


def test_split_is_pinned():
    split = diabetes_split()
    assert int(split.y_valid.sum()) == 67
    assert float(np.arange(192.0) @ split.y_valid) == 5684.0  # the stored estimates belong to this split


def test_record():
    problem = get_problem("diabetes")
    assert (problem.name, problem.dim, problem.stochastic) == ("diabetes", 4, True)
    np.testing.assert_array_equal(problem.bounds, [[32, 128], [1e-6, 1], [1e-6, 1], [1, 8]])
    assert 0.0 < problem.optimum_error < 0.001
    assert problem.regret(0.0) < 0.0


def test_seeded_runs_repeat_and_others_do_not():
    first, second = get_problem("diabetes", rng=5), get_problem("diabetes", rng=5)
    X = np.tile(GOOD, (8, 1))
    np.testing.assert_array_equal(first(X), second(X))
    assert len(set(first(X))) > 1  # repeated evaluations differ
    unseeded, other = get_problem("diabetes")(X), get_problem("diabetes")(X)
    assert not np.array_equal(unseeded, other)


def test_generator_is_taken_over_and_rows_are_evaluated_in_order():
    rng = np.random.default_rng(7)
    problem = get_problem("diabetes", rng=rng)
    assert problem.rng is rng
    singles = [problem(x) for x in MIXED]
    assert all(type(value) is float for value in singles)
    np.testing.assert_array_equal(singles, get_problem("diabetes", rng=7)(MIXED))


def test_values_are_fractions_of_192():
    values = get_problem("diabetes", rng=0)(MIXED)
    np.testing.assert_allclose(values * 192, np.round(values * 192), atol=1e-9)
    assert ((values >= 0.0) & (values <= 1.0)).all()


def test_batch_size_and_hidden_units_are_rounded():
    rounded = get_problem("diabetes", rng=3)(np.tile([64.0, 0.03, 1e-6, 5.0], (5, 1)))
    raw = get_problem("diabetes", rng=3)(np.tile([64.4, 0.03, 1e-6, 4.6], (5, 1)))
    np.testing.assert_array_equal(rounded, raw)


def test_corners_of_the_box_are_quiet_and_finite():
    bounds = get_problem("diabetes").bounds
    corners = np.array(np.meshgrid(*bounds)).reshape(4, -1).T
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        values = get_problem("diabetes", rng=0)(corners)
    assert np.isfinite(values).all()


@pytest.mark.parametrize(
    ("x", "label"),
    [
        ([31.0, 0.1, 0.1, 4.0], "batch size"),
        ([64.0, 0.0, 0.1, 4.0], "learning rate"),
        ([64.0, 0.1, 1.1, 4.0], "weight decay"),
        ([64.0, 0.1, 0.1, 9.0], "hidden units"),
    ],
)
def test_points_outside_the_box(x, label):
    with pytest.raises(ValueError, match=f"{label} must lie in"):
        get_problem("diabetes")(x)
    with pytest.raises(ValueError, match=label):
        validation_error(np.array([x]), np.random.default_rng(0))


def test_rounding_error_at_the_edge_is_forgiven():
    lower, upper = get_problem("diabetes").bounds.T
    assert np.isfinite(get_problem("diabetes")(np.array([lower, upper]) * (1.0 + 1e-15))).all()


def test_training_beats_the_majority_class():
    assert get_problem("diabetes", rng=0)(np.tile(GOOD, (40, 1))).mean() < 67 / 192 - 0.04


def test_stored_optimum_is_the_mean_at_the_stored_point():
    problem = get_problem("diabetes", rng=2024)
    values = problem(np.tile(problem.x_optimum, (400, 1)))
    error = np.hypot(values.std() / 20.0, problem.optimum_error)
    assert abs(values.mean() - problem.optimum) < 4.0 * error
    assert values.min() < problem.optimum  # a single evaluation may have negative regret


def test_stored_scales_agree_with_fresh_ones():
    problem = get_problem("diabetes")
    stored, fresh = problem.normalizer(), problem.normalizer(500)
    assert stored.n_samples > 10_000
    for name in ("mean_regret", "std"):
        error = np.hypot(getattr(stored, f"{name}_error"), getattr(fresh, f"{name}_error"))
        assert abs(getattr(stored, name) - getattr(fresh, name)) < 4.0 * error

"""mini-META: averages weigh as the evaluations they are of, and points are repeated as often as the rule says."""

import numpy as np
import pytest

import gssbo
from gssbo import GaussianProcess
from gssbo import reference as ref
from gssbo.baselines.mini_meta import AveragedProcess, distinct, evaluations_needed

THETA = np.log([0.4, 0.7, 1.3, 0.05])


def fixed(cls, **options):
    scales, variance, noise = ref.unpack(THETA)
    options = {"fit_hyperparameters": False, **options}
    return cls(lengthscale=scales, variance=variance, noise=noise, **options)


def repeated(seed=0):
    """Evaluations of 8 points, 1 to 6 of each, in a random order."""
    rng = np.random.default_rng(seed)
    points, counts = rng.random((8, 2)), rng.integers(1, 7, 8)
    X = rng.permutation(np.repeat(points, counts, axis=0))
    return X, np.sin(5 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(len(X)), rng


def test_the_posterior_is_the_dense_weighted_one():
    """K + noise diag(1 / c) over the distinct points, responses standardised over the averages."""
    X, y, rng = repeated()
    groups = {row.tobytes(): np.flatnonzero((row == X).all(axis=1)) for row in X}
    first = np.array([where[0] for where in groups.values()])
    means = np.array([y[where].mean() for where in groups.values()])
    counts = np.array([len(where) for where in groups.values()])
    z, centre, spread = ref.standardise(means)
    K = ref.kernel_matrix(X[first], X[first], THETA) + np.exp(THETA[-1]) * np.diag(1.0 / counts)
    points = rng.random((40, 2))
    k = ref.kernel_matrix(X[first], points, THETA)
    model = fixed(AveragedProcess).fit(X, y)
    np.testing.assert_array_equal(model.X_train_, X[first])
    np.testing.assert_allclose(model.noise_factors_, 1.0 / counts)
    mean, std = model.predict(points, return_std=True)
    np.testing.assert_allclose(mean, centre + spread * (k.T @ np.linalg.solve(K, z)), atol=1e-10)
    variance = np.exp(THETA[-2]) - np.einsum("ij,ij->j", k, np.linalg.solve(K, k))
    np.testing.assert_allclose(std, spread * np.sqrt(variance), atol=1e-10)
    expected = -0.5 * (z @ np.linalg.solve(K, z) + np.linalg.slogdet(2 * np.pi * K)[1])
    assert model.log_marginal_likelihood_value_ == pytest.approx(expected, rel=1e-11)


def test_the_posterior_is_that_of_all_evaluations():
    X, y, rng = repeated(1)
    points = rng.random((40, 2))
    few = fixed(AveragedProcess, normalize_y=False).fit(X, y).predict(points, return_std=True)
    many = fixed(GaussianProcess, normalize_y=False).fit(X, y).predict(points, return_std=True)
    np.testing.assert_allclose(few, many, atol=1e-9)


def test_without_repetitions_it_is_the_exact_process_to_the_bit():
    rng = np.random.default_rng(2)
    X, y = rng.random((30, 2)), rng.standard_normal(30)
    ours, exact = AveragedProcess(rng=0).fit(X, y), GaussianProcess(rng=0).fit(X, y)
    np.testing.assert_array_equal(ours.theta_, exact.theta_)
    np.testing.assert_array_equal(ours.predict(X), exact.predict(X))


def test_what_is_known_of_the_noise_goes_into_that_of_the_averages():
    """Variances of an average: the sum of those of its evaluations, over their number squared."""
    model = fixed(AveragedProcess, normalize_y=False).fit(
        [[0.1, 0.1], [0.1, 0.1], [0.5, 0.5]], [1.0, 4.0, 2.0], noise_factors=[1.0, 0.5, 3.0], noise_std=[0.3, 0.4, 0.1]
    )
    np.testing.assert_allclose(model.y_train_, [2.5, 2.0])
    np.testing.assert_allclose(model.noise_factors_, [1.5 / 4.0, 3.0])
    np.testing.assert_allclose(model.known_noise_, [0.25 / 4.0, 0.01])


def test_distinct_keeps_the_order_of_first_appearance():
    X, _, _ = repeated(3)
    first, group = distinct(X)
    assert (np.diff(first) > 0).all()
    np.testing.assert_array_equal(X[first][group], X)
    assert len(np.unique(X[first], axis=0)) == len(first) == len(np.unique(X, axis=0))


@pytest.mark.parametrize(
    ("noise", "count"),
    [(0.0, 1), (0.0099, 1), (0.0101, 2), (0.0199, 2), (0.0301, 4), (0.189, 19), (0.2, 20), (9.0, 20)],
)
def test_evaluations_needed(noise, count):
    """The fewest c with sqrt(noise / c) < 0.1, at most 20."""
    assert evaluations_needed(noise) == count


@pytest.mark.parametrize("noise", [1e-3, 0.035, 0.9])
def test_a_suggestion_is_repeated_until_its_noise_is_small(noise):
    surrogate = AveragedProcess(lengthscale=0.3, noise=noise, fit_hyperparameters=False)
    optimizer = gssbo.Optimizer(
        [(0.0, 1.0)] * 2, method="mini-meta", n_init=5, n_candidates=50, surrogate=surrogate, rng=0
    )
    rng = np.random.default_rng(1)
    for _ in range(5 + 3 * evaluations_needed(noise) + 1):
        x = optimizer.ask()
        optimizer.tell(x, np.sum(x) + rng.standard_normal())
    _, runs = np.unique(np.cumsum(np.any(np.diff(optimizer.X[4:], axis=0) != 0.0, axis=1)), return_counts=True)
    assert runs.tolist() == [evaluations_needed(noise)] * 3 + [1]  # none of the design is repeated
    assert len(optimizer.surrogate.X_train_) == 5 + 3
    assert len(optimizer.retained) == 5 + 3 * evaluations_needed(noise)


def test_a_pending_point_is_not_suggested_again_until_it_is_told():
    surrogate = AveragedProcess(lengthscale=0.3, noise=0.035, fit_hyperparameters=False)
    optimizer = gssbo.Optimizer([(0.0, 1.0)], method="mini-meta", n_init=3, n_candidates=50, surrogate=surrogate, rng=0)
    optimizer.tell([[0.1], [0.5], [0.9]], [1.0, 2.0, 0.0])
    first, second = optimizer.ask(), optimizer.ask()
    assert first != second
    optimizer.tell(first, 1.0)
    batch = optimizer.ask(3)
    assert batch[0] == first and len(np.unique(batch)) == 3 and second not in batch
    optimizer.tell(batch, [1.0, 0.9, 0.8])
    optimizer.tell(second, 0.7)
    again = [optimizer.ask() for _ in range(5)]  # four points want more evaluations, the fifth is new
    np.testing.assert_array_equal(np.sort(again[:4], axis=None), np.sort([first, second, *batch[1:]], axis=None))
    assert again[4] not in optimizer.X
    optimizer.tell(again[:4], np.zeros(4))
    assert evaluations_needed(0.035) == 4
    optimizer.tell([first] * 2, [0.0, 0.0])  # told without being asked for: that is five of them now
    assert first not in np.array([optimizer.ask() for _ in range(4)])


def test_failed_evaluations_do_not_count_in_an_average():
    X = [[0.1, 0.1], [0.5, 0.5], [0.1, 0.1], [0.9, 0.1], [0.1, 0.1]]
    model = fixed(AveragedProcess, normalize_y=False)
    model.condition(np.array(X), np.array([np.nan, 2.0, 1.0, np.nan, 4.0]), optimize=False)
    np.testing.assert_allclose(model.noise_factors_, [0.5, 1.0, 1.0])
    assert model.y_train_[0] == 2.5 and model.y_train_[1] == 2.0
    assert model.y_train_[2] < 2.0  # all of it failed: worse than the others

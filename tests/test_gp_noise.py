"""Noise of a Gaussian process: what is known of it, of averages, and none at all."""

import numpy as np
import pytest

from gssbo import GaussianProcess
from gssbo import reference as ref
from tests.gaussian_processes import fixed, setting


def test_duplicates_average():
    X, y = [[0.3], [0.3], [0.3], [0.9]], [1.0, 2.0, 3.0, 2.0]
    gp = GaussianProcess(lengthscale=0.2, noise=1e-3, fit_hyperparameters=False).fit(X, y)
    assert gp.predict([[0.3]])[0] == pytest.approx(2.0, abs=1e-3)
    assert gp.fit_info_["jitter"] == 0.0
    gp = GaussianProcess(rng=0).fit(X, y)
    assert np.isfinite(gp.theta_).all() and np.isfinite(gp.predict(X, return_std=True)).all()


def test_an_average_with_its_noise_factor_stands_for_its_measurements():
    """The posterior of c equal inputs is that of their average at noise / c."""
    X, _, theta, rng = setting(6, 2)
    counts = np.array([1, 4, 2, 1, 7, 3])
    y = rng.standard_normal(counts.sum())
    means = np.array([each.mean() for each in np.split(y, np.cumsum(counts)[:-1])])
    every = fixed("matern52", theta).fit(np.repeat(X, counts, axis=0), y)
    averaged = fixed("matern52", theta).fit(X, means, noise_factors=1.0 / counts)
    points = rng.random((50, 2))
    for a, b in zip(averaged.predict(points, return_std=True), every.predict(points, return_std=True), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10)
    expected = ref.kernel_matrix(X, X, theta) + np.exp(theta[-1]) * np.diag(1.0 / counts)
    np.testing.assert_allclose(averaged.solve(means), np.linalg.solve(expected, means), rtol=1e-9)
    noisy = fixed("matern52", theta).fit(X, means, noise_std=np.linspace(0.0, 2.0, 6))
    assert (noisy.posterior_bound(X)[1] >= noisy.posterior(X)[1]).all()
    bound = averaged.posterior_bound(points)
    assert (bound[0] >= averaged.posterior(points)[0]).all()
    assert (bound[1] >= averaged.posterior(points)[1]).all()
    again = averaged.log_marginal_likelihood(averaged.theta_)
    assert again == pytest.approx(averaged.log_marginal_likelihood_value_, rel=1e-12)


def test_jitter_is_reported():
    X, y = [[0.3], [0.3], [0.9]], [1.0, 1.0, 2.0]
    options = {"lengthscale": 0.2, "variance": 2.0, "fit_hyperparameters": False}
    gp = GaussianProcess(noise=0.0, **options).fit(X, y)
    assert gp.fit_info_["jitter"] == pytest.approx(2e-10)
    assert gp.noise_ == 0.0
    assert gp.predict([[0.3]])[0] == pytest.approx(1.0, abs=1e-6)
    assert GaussianProcess(noise=1e-3, **options).fit(X, y).fit_info_["jitter"] == 0.0


@pytest.mark.parametrize("variance", [0.7, 1.0, 1.3, 2.0, 3.0])
@pytest.mark.parametrize("n", [0, 10, 38])
def test_a_singular_covariance_never_passes_by_luck_of_rounding(variance, n):
    """Two copies of a point without noise: the last pivot is 0 but for rounding, of either sign."""
    rng = np.random.default_rng(0)
    X = np.vstack([[[0.3], [0.3]], rng.random((n, 1))])
    y = np.concatenate([[1.0, 2.0], np.sin(5 * X[2:, 0])])
    gp = GaussianProcess(lengthscale=0.2, variance=variance, noise=0.0, fit_hyperparameters=False).fit(X, y)
    assert gp.fit_info_["jitter"] > 0.0
    assert gp.predict([[0.3]])[0] == pytest.approx(1.5, abs=0.02)
    assert gp.log_marginal_likelihood() == -np.inf


def test_known_noise_is_that_of_the_dense_formula():
    rng = np.random.default_rng(0)
    X, noise_std = rng.random((25, 2)), np.where(rng.random(25) < 0.4, 3.0 * rng.random(25), 0.0)
    y = 50.0 + 8.0 * np.sin(5.0 * X[:, 0]) + noise_std * rng.standard_normal(25)
    gp = GaussianProcess(lengthscale=[0.5, 0.8], variance=1.5, noise=0.01, fit_hyperparameters=False)
    gp.fit(X, y, noise_std=noise_std)
    theta, at = np.log([0.5, 0.8, 1.5, 0.01]), rng.random((9, 2))
    K = ref.kernel_matrix(X, X, theta) + np.diag(0.01 + (noise_std / y.std()) ** 2)
    k = ref.kernel_matrix(X, at, theta)
    mean, std = gp.predict(at, return_std=True)
    np.testing.assert_allclose(mean, y.mean() + k.T @ np.linalg.solve(K, y - y.mean()), rtol=1e-9)
    np.testing.assert_allclose((std / y.std()) ** 2, 1.5 - np.sum(k * np.linalg.solve(K, k), axis=0), rtol=1e-7)
    assert gp.log_marginal_likelihood(theta) == pytest.approx(gp.log_marginal_likelihood_value_, rel=1e-12)
    repeated = gp.fit(X, y, noise_std=np.zeros(25)).predict(at)
    np.testing.assert_array_equal(repeated, gp.fit(X, y).predict(at))


def test_the_fit_finds_the_noise_that_is_left():
    rng = np.random.default_rng(1)
    X = rng.random((150, 1))
    noise_std = np.where(np.arange(150) % 2, 1.0, 0.0)
    y = 3.0 * np.sin(6.0 * X[:, 0]) + noise_std * rng.standard_normal(150) + 0.1 * rng.standard_normal(150)
    told, untold = GaussianProcess(rng=0).fit(X, y, noise_std=noise_std), GaussianProcess(rng=0).fit(X, y)
    assert np.sqrt(told.noise_) * told.y_std_ == pytest.approx(0.1, rel=0.3)
    assert np.sqrt(untold.noise_) * untold.y_std_ == pytest.approx(0.7, rel=0.3)
    at = np.linspace(0.05, 0.95, 50)[:, None]
    errors = [np.abs(gp.predict(at) - 3.0 * np.sin(6.0 * at[:, 0])).mean() for gp in (told, untold)]
    assert errors[0] < 0.5 * errors[1]


@pytest.mark.parametrize("noise_std", [1e6, 1e200])
def test_an_observation_that_says_nothing(noise_std):
    X, y = np.linspace(0.0, 1.0, 12)[:, None], np.sin(6.0 * np.linspace(0.0, 1.0, 12))
    options = {"lengthscale": 0.3, "noise": 1e-6, "fit_hyperparameters": False, "normalize_y": False}
    known = np.zeros(12)
    known[[0, 5]] = noise_std
    keep = np.flatnonzero(known == 0.0)
    got = GaussianProcess(**options).fit(X, y, noise_std=known).predict(X, return_std=True)
    expected = GaussianProcess(**options).fit(X[keep], y[keep]).predict(X, return_std=True)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8)

"""Gaussian-process regression: scikit-learn's numbers, gradients, states and shapes."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

import gssbo._mle
from gssbo import GaussianProcess
from gssbo import reference as ref
from gssbo.responses import standardize
from tests.gaussian_processes import NAMES, data, fixed, same, setting, state
from tests.oracles import SKLEARN

# ---- against scikit-learn


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("d", [1, 2, 6, 20, 50])
@pytest.mark.parametrize("n", [1, 2, 20, 100, 400])
def test_agrees_with_scikit_learn(kernel, d, n):
    """75 settings: likelihood and std relative to themselves, gradient and mean to the largest entry.

    scikit-learn's own jitter is off (`alpha=0`), its theta is (variance, lengthscales, noise); the posterior is
    compared with the noise in `alpha`, since a WhiteKernel would be added to its predicted variances.
    """
    X, y, theta, rng = setting(n, d)
    gp = fixed(kernel, theta).fit(X, y)
    *scales, variance, noise = np.exp(theta)
    signal = ConstantKernel(variance) * SKLEARN[kernel](scales)
    model = GaussianProcessRegressor(signal + WhiteKernel(noise), alpha=0.0, optimizer=None).fit(X, y)
    order = [d, *range(d), d + 1]
    value, gradient = gp.log_marginal_likelihood(eval_gradient=True)
    expected, slope = model.log_marginal_likelihood(theta[order], eval_gradient=True)
    assert value == pytest.approx(expected, rel=1e-9)
    # Not to the bit: the exponentials of theta are NumPy's in one and of the C library in the other.
    assert gp.log_marginal_likelihood_value_ == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(gradient[order], slope, rtol=0, atol=1e-9 * np.abs(slope).max())

    model = GaussianProcessRegressor(signal, alpha=noise, optimizer=None).fit(X, y)
    Q = np.vstack([rng.random((40, d)), X[:5]])
    mean, std = gp.predict(Q, return_std=True)
    expected, spread = model.predict(Q, return_std=True)
    np.testing.assert_allclose(mean, expected, rtol=0, atol=1e-8 * np.abs(expected).max())
    np.testing.assert_allclose(std, spread, rtol=1e-8, atol=0)


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 33, 64, 65, 129, 255, 256, 257, 300])
def test_agrees_with_the_reference_at_block_edges(n):
    X, y, theta, rng = setting(n, 3)
    gp = fixed("matern52", theta).fit(X, y)
    for m in (1, 16, 17, 127, 128, 129):
        Q = rng.random((m, 3))
        mean, std = gp.predict(Q, return_std=True)
        expected, spread = ref.posterior(X, y, Q, theta)
        np.testing.assert_allclose(mean, expected, rtol=0, atol=1e-10 * np.abs(y).max())
        np.testing.assert_allclose(std, spread, rtol=1e-8)
    covariance = gp.predict(Q, return_cov=True)[1]
    np.testing.assert_allclose(covariance, ref.posterior_covariance(X, Q, theta), rtol=0, atol=1e-10)
    assert np.array_equal(covariance, covariance.T)
    np.testing.assert_allclose(np.diag(covariance), std**2, rtol=1e-6)


def test_the_search_does_not_lose_to_scikit_learns():
    X, y = data(40, 3, 1)
    z = ref.standardise(y)[0]
    kernel = ConstantKernel(1.0, (1e-4, 1e4)) * Matern(np.full(3, 0.8), (1e-3, 1e3), nu=2.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of parameters that end at a bound
        model = GaussianProcessRegressor(
            kernel + WhiteKernel(1e-2, (1e-6, 1e1)), alpha=0.0, n_restarts_optimizer=2, random_state=0
        ).fit(X, z)
    gp = GaussianProcess(lengthscale_bounds=(1e-3, 1e3), rng=0).fit(X, y)
    assert gp.fit_info_["status"] == "converged" and gp.fit_info_["n_starts"] == 3
    assert gp.log_marginal_likelihood_value_ >= model.log_marginal_likelihood_value_ - 1e-4


def test_fit_climbs_from_every_start_to_the_end():
    """In a loop the start that leads after a few evaluations goes on alone, though another would end higher."""
    rng = np.random.RandomState(79)
    X = rng.randn(12, 1) * 2.0 - 1.0
    y = np.sin(X[:, 0]) + np.sin(3.0 * X[:, 0]) + 0.1 * np.random.RandomState(2).randn(12)
    thorough, hasty = (GaussianProcess("rbf", n_restarts=2, rng=0) for _ in range(2))
    thorough.fit(X, y)
    hasty.condition(X, y, optimize=True)
    assert hasty.log_marginal_likelihood_value_ < thorough.log_marginal_likelihood_value_ - 1.0
    assert hasty.fit_info_["n_evaluations"] < thorough.fit_info_["n_evaluations"]


# ---- gradients


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("d", [1, 2, 6])
def test_posterior_gradients_by_finite_differences(kernel, d):
    X, y, theta, rng = setting(20, d, 2)
    gp = fixed(kernel, theta, normalize_y=True).fit(X, 1e3 * y + 50.0)
    Q = rng.random((7, d))
    Q[:, 0] += 1.1  # beside the data: Matern 3/2 has a kink in its second derivative at each point of it
    dmean, dstd = gp.predict_gradient(Q)
    step = 1e-3
    for j in range(d):
        e = step * np.eye(d)[j]
        (m0, s0), (m1, s1), (m2, s2), (m3, s3) = (gp.predict(Q + c * e, return_std=True) for c in (-2, -1, 1, 2))
        mean_slope = (m0 - 8 * m1 + 8 * m2 - m3) / (12 * step)
        std_slope = (s0 - 8 * s1 + 8 * s2 - s3) / (12 * step)
        np.testing.assert_allclose(dmean[:, j], mean_slope, rtol=0, atol=1e-7 * np.abs(dmean).max())
        np.testing.assert_allclose(dstd[:, j], std_slope, rtol=0, atol=1e-7 * np.abs(dstd).max())


@pytest.mark.parametrize("kernel", NAMES)
def test_posterior_gradients_at_a_told_point_are_finite(kernel):
    X, y, theta, _ = setting(12, 2)
    for noise in (1e-2, 0.0):
        gp = fixed(kernel, theta)
        gp.noise = noise
        dmean, dstd = gp.fit(X, y).predict_gradient(X)
        assert np.isfinite(dmean).all() and np.isfinite(dstd).all()


@pytest.mark.parametrize("power", [300, 505, 532, 900])
def test_gradients_over_lengthscales_whose_square_is_no_double(power):
    """Where all covariances are the variance, gradients go with the inverse square of the lengthscale."""
    X = np.random.default_rng(0).random((9, 2))
    y, at = np.ldexp(np.sin(5.0 * X[:, 0]) + X[:, 1], 1000), np.array([[0.3, 0.4], [0.5, 0.9]])
    found = []
    for exponent in (60, power):
        gp = GaussianProcess(lengthscale=np.ldexp([1.0, 1.0], exponent), fit_hyperparameters=False).fit(X, y)
        found.append(gp.predict_gradient(at))
    for usual, far in zip(*found, strict=True):
        assert usual.all()
        np.testing.assert_allclose(far, np.ldexp(usual, 2 * (60 - power)), rtol=1e-10, atol=1e-320)


def test_gradients_beyond_doubles_are_infinite():
    X = np.arange(4.0)[:, None] / 3.0
    y = np.array([1.0, -1.0, 1.0, -1.0])
    Q = np.array([[0.1], [0.5]])
    options = {"lengthscale": 0.2, "fit_hyperparameters": False}
    plain = GaussianProcess(**options).fit(X, y).predict_gradient(Q)
    for found, usual in zip(GaussianProcess(**options).fit(X, 1.7e308 * y).predict_gradient(Q), plain, strict=True):
        expected = np.where(np.abs(usual) > 1.06, np.copysign(np.inf, usual), 1.7e308 * np.clip(usual, -1.05, 1.05))
        np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert (np.abs(plain[0]) > 1.06).all()


# ---- states


@pytest.mark.parametrize("warm_start", [False, True])
def test_a_failing_search_keeps_the_last_good_hyperparameters(monkeypatch, warm_start):
    X, y = data()
    gp = GaussianProcess(warm_start=warm_start, rng=0).fit(X, y)
    good = gp.theta_.copy()

    with monkeypatch.context() as patch:
        patch.setattr(gssbo._mle.Climb, "advance", lambda *_, **__: None)
        gp.fit(X[:-1], y[:-1] + 1.0)
    assert gp.fit_info_["status"] == "failed" and "finite" in gp.fit_info_["message"]
    assert np.array_equal(gp.theta_, good)
    assert len(gp.X_train_) == len(X) - 1
    assert np.isfinite(gp.predict(X)).all()
    gp.fit(X, y)  # and recovers
    assert gp.fit_info_["status"] == "converged"


def test_a_first_search_that_fails_keeps_the_start():
    """Three copies of a point with next to no noise: no theta within the bounds gives a likelihood."""
    gp = GaussianProcess(
        "rbf", lengthscale=0.4, variance=2.0, lengthscale_bounds=(0.4, 0.4), variance_bounds=(2.0, 2.0),
        noise_bounds=(1e-30, 1e-30), rng=0,
    )  # fmt: skip
    gp.fit([[0.5]] * 3, [1.0, 2.0, 3.0])
    assert gp.fit_info_["status"] == "failed"
    assert gp.lengthscale_[0] == pytest.approx(0.4) and gp.variance_ == pytest.approx(2.0)
    assert gp.fit_info_["jitter"] > 0.0
    mean, std = gp.predict([[0.5]], return_std=True)
    assert mean[0] == pytest.approx(2.0, abs=1e-4) and np.isfinite(std[0])


def test_constant_responses():
    X, _ = data(8, 2)
    gp = GaussianProcess(rng=0).fit(X, np.full(8, 3.7))
    assert gp.fit_info_["status"] == "constant" and gp.y_std_ == 1.0
    mean, std = gp.predict(np.random.default_rng(0).random((20, 2)), return_std=True)
    assert (mean == 3.7).all() and np.isfinite(std).all() and (std >= 0).all()


def test_constant_responses_leave_hyperparameters_within_bounds():
    gp = GaussianProcess(noise=1e-12, variance=1e9, noise_bounds=(1e-4, 1e-1), rng=0).fit([[0.1], [0.9]], [2.0, 2.0])
    assert gp.noise_ == pytest.approx(1e-4, rel=1e-12)
    assert gp.variance_ == pytest.approx(1e4, rel=1e-12)


@pytest.mark.parametrize("normalize_y", [True, False])
def test_a_single_observation(normalize_y):
    gp = GaussianProcess(normalize_y=normalize_y, rng=0).fit([[0.3, 0.4]], [5.0])
    mean, std = gp.predict([[0.3, 0.4], [0.9, 0.1]], return_std=True)
    assert np.isfinite(mean).all() and (std > 0).all() and std[1] > std[0]
    assert mean[0] == pytest.approx(5.0, abs=0.6)


def test_normalisation_is_undone():
    X, y = data(20, 2)
    Q = np.random.default_rng(1).random((5, 2))
    theta = np.log([0.4, 0.6, 1.2, 1e-2])
    gp = fixed("matern52", theta, normalize_y=True).fit(X, y)
    plain = fixed("matern52", theta).fit(X, (y - y.mean()) / y.std())
    for a, b, scale in zip(
        gp.predict(Q, return_cov=True), plain.predict(Q, return_cov=True), (y.std(), y.var()), strict=True
    ):
        np.testing.assert_allclose(a - (y.mean() if a.ndim == 1 else 0.0), scale * b, rtol=1e-9, atol=1e-12)
    assert plain.y_mean_ == 0.0 and plain.y_std_ == 1.0
    assert gp.y_mean_ == pytest.approx(y.mean()) and gp.y_std_ == pytest.approx(y.std())


def test_standardize():
    y = np.array([1.0, 2.0, 4.0, 9.0])
    z, mean, std = standardize(y)
    np.testing.assert_allclose(z, (y - 4.0) / y.std(), rtol=1e-14)
    assert mean == 4.0 and std == pytest.approx(y.std(), rel=1e-15)
    for exponent in (40, 300, 900, -40, -300, -900):
        scaled = standardize(y * 2.0**exponent)
        assert np.array_equal(scaled[0], z)
        assert scaled[1:] == (mean * 2.0**exponent, std * 2.0**exponent)
    np.testing.assert_allclose(standardize(y / 1024 + 2.0**30)[0], z, rtol=1e-14)  # a small spread on an offset
    assert standardize(np.array([0.1] * 7))[1:] == (0.1, 1.0)
    assert not standardize(np.zeros(3))[0].any()


def test_warm_start_begins_where_the_last_fit_ended():
    X, y = data(40, 2)
    gp = GaussianProcess(warm_start=True, n_restarts=0, rng=0).fit(X, y)
    first, cold = gp.theta_.copy(), gp.fit_info_["n_evaluations"]
    gp.fit(X, y)
    assert gp.fit_info_["n_evaluations"] < cold
    np.testing.assert_allclose(gp.theta_, first, atol=1e-2)
    gp.fit(*data(30, 3))  # another dimension: the old theta does not apply
    assert gp.theta_.shape == (5,)


def test_without_warm_start_a_refit_forgets():
    X, y = data(40, 2)
    gp = GaussianProcess(n_restarts=0).fit(*data(30, 2, 5))
    gp.fit(X, y)
    assert np.array_equal(gp.theta_, GaussianProcess(n_restarts=0).fit(X, y).theta_)


def test_the_same_seed_gives_the_same_fit():
    X, y = data(30, 3)
    np.random.seed(0)
    before = np.random.get_state()[1].copy()
    a, b = (GaussianProcess(rng=7).fit(X, y) for _ in range(2))
    assert same(state(a), state(b))
    assert np.array_equal(a.sample_y(X[:3]), b.sample_y(X[:3]))
    assert np.array_equal(np.random.get_state()[1], before)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda gp: pickle.loads(pickle.dumps(gp))])
def test_copies_are_equal_and_independent(duplicate):
    X, y = data()
    gp = GaussianProcess(rng=3).fit(X, y)
    twin = duplicate(gp)
    before = state(gp)
    assert same(state(twin), before)
    assert np.array_equal(twin.predict(X, return_cov=True)[1], gp.predict(X, return_cov=True)[1])
    assert np.array_equal(twin.sample_y(X[:4], 2), gp.sample_y(X[:4], 2))  # the generator came along
    twin.fit(X[:5], y[:5])
    assert same(state(gp), before)
    assert not duplicate(GaussianProcess()).fitted


def test_hyperparameters_stay_within_bounds():
    X, y = data(30, 2)
    gp = GaussianProcess(lengthscale_bounds=(0.3, 0.5), variance_bounds=(0.9, 1.1), noise_bounds=(0.2, 0.3), rng=0)
    gp.fit(X, y)
    slack = 1e-12
    assert ((gp.lengthscale_ >= 0.3 - slack) & (gp.lengthscale_ <= 0.5 + slack)).all()
    assert 0.9 - slack <= gp.variance_ <= 1.1 + slack and 0.2 - slack <= gp.noise_ <= 0.3 + slack
    np.testing.assert_allclose(np.exp(gp.theta_), [*gp.lengthscale_, gp.variance_, gp.noise_], rtol=1e-14)


def test_likelihood_elsewhere():
    X, y, theta, _ = setting(15, 2)
    gp = fixed("rbf", theta).fit(X, y)
    other = theta + 0.3
    kept = other.copy()
    value, gradient = gp.log_marginal_likelihood(other, eval_gradient=True)
    expected, slope = ref.log_marginal_likelihood(X, y, other, "rbf")
    assert value == pytest.approx(expected, rel=1e-11)
    np.testing.assert_allclose(gradient, slope, rtol=0, atol=1e-10 * np.abs(slope).max())
    assert np.array_equal(other, kept)
    assert gp.log_marginal_likelihood(theta) == pytest.approx(gp.log_marginal_likelihood_value_, rel=1e-12)
    value, gradient = gp.fit(X[[0, 0, 0]], y[:3]).log_marginal_likelihood([0, 0, 0, -np.inf], eval_gradient=True)
    assert value == -np.inf and not gradient.any()


def test_solve_is_the_inverse_applied():
    X, y, theta, rng = setting(33, 2)
    gp = fixed("matern52", theta).fit(X, y)
    v = rng.standard_normal(33)
    np.testing.assert_allclose(gp.solve(v), ref.precision(X, theta) @ v, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(gp.solve(y), gp.alpha_, rtol=1e-9, atol=1e-9)


# ---- draws


def test_draws_have_the_posteriors_moments():
    X, y, theta, rng = setting(12, 2)
    gp = fixed("matern52", theta, normalize_y=True).fit(X, 10.0 * y)
    Q = rng.random((5, 2))
    mean, covariance = gp.predict(Q, return_cov=True)
    count = 40_000
    draws = gp.sample_y(Q, count, rng=0)
    assert draws.shape == (5, count)
    std = np.sqrt(np.diag(covariance))
    assert (np.abs(draws.mean(axis=1) - mean) < 5 * std / np.sqrt(count)).all()
    error = np.sqrt((np.outer(std, std) ** 2 + covariance**2) / count)  # of an entry of a sample covariance
    assert (np.abs(np.cov(draws) - covariance) < 5 * error).all()


def test_draws_repeat_with_a_seed_and_pass_through_noiseless_points():
    X, y, _, _ = setting(6, 1)
    gp = GaussianProcess(lengthscale=0.3, noise=0.0, fit_hyperparameters=False).fit(X, y)
    draws = gp.sample_y(X, 4, rng=5)
    assert np.array_equal(draws, gp.sample_y(X, 4, rng=5))
    assert not np.array_equal(draws, gp.sample_y(X, 4, rng=6))
    np.testing.assert_allclose(draws, np.tile(y[:, None], 4), atol=1e-3)
    assert gp.sample_y(X).shape == (6, 1)


def test_a_warm_start_also_tries_the_constructors_values():
    """A chain of warm starts alone stays in the maximum it once fell into."""
    X = np.linspace(0, 1, 20)[:, None]
    bow, wiggles = X[:, 0] ** 2, np.sin(30 * X[:, 0]) + X[:, 0]
    options = {"lengthscale": 0.1, "warm_start": True, "rng": 0}
    stuck = GaussianProcess(n_restarts=0, **options).fit(X, bow).fit(X, wiggles)
    free = GaussianProcess(n_restarts=1, **options).fit(X, bow).fit(X, wiggles)
    cold = GaussianProcess(n_restarts=0, lengthscale=0.1).fit(X, wiggles)
    assert free.fit_info_["n_starts"] == 2
    assert cold.log_marginal_likelihood_value_ > stuck.log_marginal_likelihood_value_ + 1.0
    assert free.log_marginal_likelihood_value_ >= cold.log_marginal_likelihood_value_ - 1e-6


def test_no_draws_come_from_a_factor_that_failed(monkeypatch):
    gp = GaussianProcess(lengthscale=0.3, noise=1e-6, fit_hyperparameters=False).fit([[0.2], [0.8]], [0.0, 1.0])
    monkeypatch.setattr(GaussianProcess, "posterior_covariance", lambda gp, points: np.array([[1.0, 3.0], [3.0, 1.0]]))
    with pytest.raises(np.linalg.LinAlgError, match="the covariance of 2 points is not positive definite"):
        gp.sample_y([[0.1], [0.5]], rng=0)

"""Acquisition values against high-precision ones, and Thompson draws against the exact posterior."""

import mpmath
import numpy as np
import pytest
from scipy.stats import norm
from threadpoolctl import threadpool_limits

from gssbo import GaussianProcess
from gssbo import reference as ref
from gssbo._core import _acquire
from gssbo.acquisition import (
    ACQUISITIONS,
    ExpectedImprovement,
    LogExpectedImprovement,
    ProbabilityOfImprovement,
    ThompsonSampling,
    UpperConfidenceBound,
)

RNG = np.random.default_rng(0)


class Moments:
    """Stands in for a GP whose posterior is given."""

    def __init__(self, mean, std):
        self.mean, self.std = np.atleast_1d(np.asarray(mean, float)), np.atleast_1d(np.asarray(std, float))

    def posterior(self, candidates):
        return self.mean.copy(), self.std.copy()


def score(acquisition, mean, std, best=0.0):
    gp = Moments(mean, std)
    return acquisition(gp, np.zeros((len(gp.mean), 1)), best, RNG)


def model(kernel="matern52", n=15, d=2, noise=0.05, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    y = np.sin(5 * X[:, 0]) + X[:, -1]
    gp = GaussianProcess(kernel, lengthscale=0.5, variance=1.5, noise=noise, fit_hyperparameters=False).fit(X, y)
    return gp, rng.random((6, d))


def log_h(z):
    """log(phi(z) + z Phi(z)) and its derivative in high precision."""
    z = mpmath.mpf(z)
    density, mass = mpmath.npdf(z), mpmath.erfc(-z / mpmath.sqrt(2)) / 2
    h = density + z * mass
    return mpmath.log(h), mass / h


# Around every change of formula, and far out.
EDGES = [-0.999999, -1.0, -1.000001, -30.0, -999.0, -1000.0, -1001.0, -9999.0, -10001.0, -1e6, 39.9, 40.1, 1e8]


@pytest.mark.parametrize("z", [*np.linspace(-60, 45, 211), *EDGES])
def test_log_h_and_its_derivative(z):
    """1e-11 relative; and absolute, where log h crosses zero."""
    with mpmath.workdps(40):
        expected, slope = map(float, tail(z) if z < -500.0 else log_h(z))
    value, derivative = np.empty(1), np.empty(1)
    _acquire.log_h_values(np.array([z]), value, derivative)
    assert value[0] == pytest.approx(expected, rel=1e-11, abs=1e-13)
    assert derivative[0] == pytest.approx(slope, rel=1e-9, abs=1e-300)


def tail(z):
    """The same for z far below 0: phi(z) / z^2 times an asymptotic series."""
    z = mpmath.mpf(z)
    value = -z * z / 2 - mpmath.log(2 * mpmath.pi) / 2 - 2 * mpmath.log(-z) + mpmath.log1p(-3 / z**2 + 15 / z**4)
    return value, -z - 2 / z + 6 / z**3


@pytest.mark.parametrize("z", [-30.0, -5.0, -1.2, -0.3, 0.0, 0.8, 3.0, 9.0])
def test_log_h_derivative_by_finite_differences(z):
    step = 1e-3
    at = z + step * np.array([-2.0, -1.0, 1.0, 2.0, 0.0])
    value, slope = np.empty(5), np.empty(5)
    _acquire.log_h_values(at, value, slope)
    difference = (value[0] - 8 * value[1] + 8 * value[2] - value[3]) / (12 * step)
    assert slope[4] == pytest.approx(difference, rel=1e-8, abs=1e-9)


def test_ucb():
    mean, std = RNG.standard_normal(50), RNG.random(50)
    np.testing.assert_allclose(score(UpperConfidenceBound(), mean, std), mean + np.sqrt(2) * std, rtol=0, atol=1e-15)
    assert np.array_equal(score(UpperConfidenceBound(0.0), mean, std), mean)
    np.testing.assert_allclose(score(UpperConfidenceBound(9.0), mean, std), ref.ucb(mean, std, sqrt_beta=3.0))


@pytest.mark.parametrize("xi", [0.0, 0.3])
def test_improvements_against_scipy(xi):
    mean, std, best = RNG.standard_normal(200), RNG.uniform(0.05, 2.0, 200), 0.7
    t = (mean - best - xi) / std
    ei = std * (norm.pdf(t) + t * norm.cdf(t))
    kept = t > -5  # SciPy's own formula cancels below
    np.testing.assert_allclose(score(ExpectedImprovement(xi), mean, std, best)[kept], ei[kept], rtol=1e-11)
    np.testing.assert_allclose(score(LogExpectedImprovement(xi), mean, std, best)[kept], np.log(ei)[kept], atol=1e-11)
    np.testing.assert_allclose(score(ProbabilityOfImprovement(xi), mean, std, best), norm.cdf(t), rtol=1e-12)


def test_improvements_far_below_the_incumbent():
    """To 1e-9 relative in 40 digits, down to where doubles end."""
    z = np.concatenate([np.linspace(-37, -1, 73), np.linspace(-1, 8, 20)])
    with mpmath.workdps(40):
        truth = [mpmath.exp(log_h(t)[0]) for t in z]
        mass = [mpmath.erfc(-mpmath.mpf(t) / mpmath.sqrt(2)) / 2 for t in z]
    ei, pi = score(ExpectedImprovement(), z, np.ones_like(z)), score(ProbabilityOfImprovement(0.0), z, np.ones_like(z))
    for value, expected in [*zip(ei, truth, strict=True), *zip(pi, mass, strict=True)]:
        assert abs(value - expected) <= 1e-9 * expected


def test_ei_is_monotone_to_the_last_subnormal():
    """No rounding noise where the two terms of the textbook formula cancel."""
    z = np.linspace(-39.0, -36.0, 3001)
    value = score(ExpectedImprovement(), z, np.ones_like(z))
    assert (value >= 0).all() and (np.diff(value) >= 0).all() and value[-1] > 0


@pytest.mark.parametrize("acquisition", [ExpectedImprovement(), LogExpectedImprovement(), ProbabilityOfImprovement()])
def test_underflow_still_ranks(acquisition):
    mean = np.array([-41.0, -40.0, -60.0, -45.0])
    value = score(acquisition, mean, np.ones(4))
    assert np.array_equal(np.argsort(value), np.argsort(mean))
    value = score(acquisition, np.full(4, -1.0), np.array([1e-3, 1e-2, 0.0, 2e-3]))
    assert not np.isnan(value).any()
    assert value.argmax() == 1 and value.argmin() == 2


@pytest.mark.parametrize(
    "acquisition", [ExpectedImprovement(), LogExpectedImprovement(), ProbabilityOfImprovement(0.0)]
)
def test_no_uncertainty(acquisition):
    value = score(acquisition, [0.3, -0.2, 0.0], [0.0, 0.0, 0.0])
    expected = {
        ExpectedImprovement: [0.3, 0.0, 0.0],
        LogExpectedImprovement: [np.log(0.3), -np.inf, -np.inf],
        ProbabilityOfImprovement: [1.0, 0.0, 0.0],
    }[type(acquisition)]
    assert np.array_equal(value, expected)


@pytest.mark.parametrize("name", ["ucb", "ei", "log_ei", "pi"])
def test_values_on_a_fitted_gp_are_the_references(name):
    gp, Q = model()
    best = float(gp.y_train_.max())
    moments = ref.posterior(gp.X_train_, gp.y_train_, Q, gp.theta_)
    options = {"xi": 0.0} if name == "pi" else {}
    value = ACQUISITIONS[name](**options)(gp, Q, best, RNG)
    np.testing.assert_allclose(value, ref.ACQUISITIONS[name](*moments, best), rtol=1e-9)


@pytest.mark.parametrize("name", sorted(ACQUISITIONS))
def test_a_score_does_not_depend_on_the_other_candidates(name):
    gp, _ = model(n=40)
    Q = np.random.default_rng(1).random((700, 2))
    kept = Q.copy()

    def scores(points):
        return ACQUISITIONS[name]()(gp, points, 0.5, np.random.default_rng(3))

    together = scores(Q)
    assert together.shape == (700,)
    assert np.array_equal(scores(Q[::-1].copy())[::-1], together)
    for i in (0, 15, 16, 127, 511, 512, 699):
        assert scores(Q[i : i + 1])[0] == together[i]
    for m in (1, 17, 513):
        assert np.array_equal(scores(Q[:m]), together[:m])
    assert np.array_equal(Q, kept)


@pytest.mark.parametrize("name", sorted(ACQUISITIONS))
def test_scores_do_not_depend_on_blas_threads(name):
    gp, _ = model(n=60)
    Q = np.random.default_rng(1).random((600, 2))
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            results.append(ACQUISITIONS[name]()(gp, Q, 0.5, np.random.default_rng(3)))
    assert np.array_equal(*results)


# ---- Thompson sampling


@pytest.mark.parametrize("kernel", ["matern52", "matern32", "rbf"])
def test_thompson_draws_have_the_posteriors_moments(kernel):
    """Over many draws, each with features of its own, mean and covariance are the exact posterior's."""
    gp, Q = model(kernel)
    mean, covariance = gp.predict(Q, return_cov=True)
    mean, covariance = (mean - gp.y_mean_) / gp.y_std_, covariance / gp.y_std_**2
    count, rng = 4000, np.random.default_rng(0)
    draws = np.array([ThompsonSampling(256)(gp, Q, 0.0, rng) for _ in range(count)])
    std = np.sqrt(np.diag(covariance))
    assert (np.abs(draws.mean(axis=0) - mean) < 5 * std / np.sqrt(count)).all()
    error = np.sqrt((np.outer(std, std) ** 2 + covariance**2) / count)
    # Few features make a draw a mixture of Gaussians: the same covariance, a little more spread about it.
    assert (np.abs(np.cov(draws.T) - covariance) < 6 * error).all()


def test_thompson_draws_follow_the_data_and_the_seed():
    gp, Q = model(noise=1e-6)
    draw = ThompsonSampling()(gp, gp.X_train_, 0.0, np.random.default_rng(0))
    np.testing.assert_allclose(draw, gp.y_train_, atol=0.02)  # through noiseless observations
    a, b, c = (ThompsonSampling()(gp, Q, 0.0, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert np.array_equal(a, b) and not np.array_equal(a, c)
    assert np.isfinite(a).all()


# ---- construction


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: UpperConfidenceBound(-1.0), "beta must be at least 0"),
        (lambda: ExpectedImprovement(np.nan), "xi must be finite"),
        (lambda: LogExpectedImprovement(-0.1), "xi must be at least 0"),
        (lambda: ProbabilityOfImprovement("x"), "xi must be a real number"),
        (lambda: ThompsonSampling(0), "n_features must be at least 1"),
    ],
)
def test_constructor_errors_name_the_argument(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_names():
    assert set(ACQUISITIONS) == {"ucb", "ei", "log_ei", "pi", "thompson"}

"""B19: gradients where a distance is zero."""

import numpy as np
import pytest

import gssbo

Y = np.array([-0.5, -0.3, 0.8, 0.1, -0.1])
A = np.array([[0.1], [0.1], [0.4], [0.7], [0.7]])
B = np.array([[0.2, 0.6], [0.2, 0.6], [0.2, 0.9], [0.8, 0.6], [0.8, 0.6]])
CASES = {
    "a": (A, [0.3, 1.2, 0.05], -3.46621313, [-0.45910910, -0.73136939, -0.59655466]),
    "b": (B, [0.4, 0.7, 1.5, 0.02], -3.99197605, [0.17085512, -2.00041167, 0.12896629, 0.07997046]),
}


def fit(X, y, parameters, kernel="matern52"):
    *lengthscale, variance, noise = parameters
    return gssbo.GaussianProcess(
        kernel, lengthscale=lengthscale, variance=variance, noise=noise, fit_hyperparameters=False, normalize_y=False
    ).fit(X, y)


@pytest.mark.parametrize("case", CASES)
def test_likelihood_and_gradient(case):
    X, parameters, likelihood, expected = CASES[case]
    value, gradient = fit(X, Y, parameters).log_marginal_likelihood(eval_gradient=True)
    assert value == pytest.approx(likelihood, abs=1e-8)
    np.testing.assert_allclose(gradient, expected, rtol=0, atol=1e-8)


@pytest.mark.parametrize("kernel", ["matern52", "matern32", "rbf"])
@pytest.mark.parametrize("case", CASES)
def test_central_differences(case, kernel):
    X, parameters, *_ = CASES[case]
    gp, theta, step = fit(X, Y, parameters, kernel), np.log(parameters), 1e-4
    gradient = gp.log_marginal_likelihood(eval_gradient=True)[1]
    for j, e in enumerate(step * np.eye(len(theta))):
        slope = (gp.log_marginal_likelihood(theta + e) - gp.log_marginal_likelihood(theta - e)) / (2 * step)
        assert gradient[j] == pytest.approx(slope, abs=1e-6)


def test_slope_of_the_mean_at_a_told_point():
    X = np.linspace(0, 1, 5)[:, None]
    gp = fit(X, np.array([0.2, -0.4, 0.1, 0.9, 0.3]), [0.3, 1.0, 1e-6])
    mean, std = gp.predict([[0.5]], return_std=True)
    assert mean[0] == pytest.approx(0.10000035, abs=1e-8)
    assert std[0] ** 2 == pytest.approx(1.0e-6, rel=1e-3)
    dmean, dstd = gp.predict_gradient([[0.5]])
    assert dmean[0, 0] == pytest.approx(4.08014531, rel=1e-8)
    step = 1e-5
    low, high = gp.predict([[0.5 - step], [0.5 + step]])
    assert dmean[0, 0] == pytest.approx((high - low) / (2 * step), rel=1e-6)
    assert np.isfinite(dstd).all()


@pytest.mark.parametrize("kernel", ["matern52", "matern32", "rbf"])
def test_never_nan(kernel):
    for X, parameters, *_ in CASES.values():
        gp = fit(X, Y, parameters, kernel)
        assert all(np.isfinite(g).all() for g in gp.predict_gradient(X))
        fitted = gssbo.GaussianProcess(kernel, rng=0).fit(X, Y)
        assert np.isfinite(fitted.theta_).all()
        assert np.isfinite(fitted.log_marginal_likelihood(eval_gradient=True)[1]).all()

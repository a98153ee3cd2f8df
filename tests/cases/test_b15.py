"""B15: a hundred parameters, two of which matter."""

import numpy as np
import pytest

import gssbo

X = np.random.default_rng(1).random((40, 100))
Y = np.sin(5 * X[:, 0]) + X[:, 1]
Z = (Y - Y.mean()) / Y.std()
BOUNDS = {"lengthscale_bounds": (1e-2, 1e3), "variance_bounds": (1e-4, 1e4), "noise_bounds": (1e-6, 10.0)}
NOISE_ALONE = -56.7575


def test_a_default_fit_finds_the_two():
    gp = gssbo.GaussianProcess(normalize_y=False, **BOUNDS).fit(X, Z)
    assert gp.log_marginal_likelihood_value_ >= 83.7
    assert set(np.argsort(gp.lengthscale_)[:2]) == {0, 1}
    assert gp.lengthscale_[0] == pytest.approx(0.777, rel=0.02) and gp.lengthscale_[1] == pytest.approx(4.91, rel=0.05)


def test_with_bounds_of_its_own():
    gp = gssbo.GaussianProcess().fit(X, Y)
    assert gp.log_marginal_likelihood_value_ >= NOISE_ALONE + 30
    assert set(np.argsort(gp.lengthscale_)[:2]) == {0, 1}


def test_the_likelihood_is_flat_where_everybody_is_far():
    gp = gssbo.GaussianProcess(normalize_y=False, lengthscale=0.3, **BOUNDS, fit_hyperparameters=False).fit(X, Z)
    value, gradient = gp.log_marginal_likelihood(gp.theta_, eval_gradient=True)
    assert np.abs(gradient[:100]).max() < 1e-8
    assert np.isfinite(value)


@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_the_loop_learns_from_them(method):
    opt = gssbo.Optimizer([(0.0, 1.0)] * 100, n_init=40, rng=0, method=method, threads=1)
    opt.tell(X, Y)
    test = np.random.default_rng(2).random((200, 100))
    truth = np.sin(5 * test[:, 0]) + test[:, 1]
    error = opt.predict(test) - truth
    assert np.sqrt(np.mean(error**2)) < 0.7 * truth.std()

"""B20: five almost planar points, on which an unbounded search drives the noise to nothing."""

import numpy as np
import pytest

import gssbo

pytestmark = pytest.mark.usefixtures("single_thread")

X = np.array([[0.05, 0.7], [0.4, 0.9], [0.45, 0.55], [0.9, 0.4], [0.97, 0.98]])
Y = np.array([1.5, 2.25, 1.6, 1.8, 3.0])


def fit(lengthscale, variance, noise, rng=0, **options):
    gp = gssbo.GaussianProcess(
        lengthscale_bounds=lengthscale, variance_bounds=variance, noise_bounds=noise, n_restarts=10, rng=rng, **options
    )
    return gp.fit(X, Y)


def check(gp):
    assert gp.fit_info_["status"] == "converged"  # a parameter on its bound is not an error
    assert np.isfinite(gp.theta_).all()
    mean, std = gp.predict(X, return_std=True)
    assert (std > 0).all()
    np.testing.assert_allclose(mean, Y, rtol=0, atol=0.01)


def test_wide_bounds():
    gp = fit((1e-3, 1e3), (1e-4, 1e4), (1e-8, 1e1))
    check(gp)
    # The case's own optimum is quoted to seven digits; a search may stop a little below it, never above.
    assert gp.log_marginal_likelihood_value_ == pytest.approx(-4.232347, abs=1e-4)
    assert gp.noise_ == pytest.approx(1e-8, rel=1e-6)
    np.testing.assert_allclose(gp.lengthscale_, [13.2, 6.03], rtol=0.05)
    assert gp.variance_ == pytest.approx(160, rel=0.1)
    assert gp.predict([[1.0, 1.0]])[0] == pytest.approx(3.0721, abs=2e-4)


def test_narrow_bounds():
    gp = fit((5e-3, 20.0), (0.05, 20.0), (1e-6, 1e1))
    check(gp)
    assert gp.log_marginal_likelihood_value_ == pytest.approx(-4.611103, abs=1e-5)
    assert gp.predict([[1.0, 1.0]])[0] == pytest.approx(3.0695, abs=2e-4)


def test_the_default_noise_floor_is_a_normal_number_and_documented():
    gp = gssbo.GaussianProcess(rng=0).fit(X, Y)
    check(gp)
    floor = gp.noise_bounds[0]
    assert floor >= np.finfo(float).tiny
    assert gp.noise_ >= floor * (1 - 1e-12)
    assert "noise floor" in gssbo.GaussianProcess.__doc__


def test_refits_give_the_same_answer():
    bounds = ((5e-3, 20.0), (0.05, 20.0), (1e-6, 1e1))
    first = fit(*bounds, warm_start=True)
    value, mean = first.log_marginal_likelihood_value_, first.predict([[1.0, 1.0]])[0]
    again = first.fit(X, Y)
    assert again.log_marginal_likelihood_value_ == pytest.approx(value, abs=1e-6)
    assert again.predict([[1.0, 1.0]])[0] == pytest.approx(mean, abs=1e-4)
    for seed in range(1, 4):
        other = fit(*bounds, rng=seed)
        assert other.log_marginal_likelihood_value_ == pytest.approx(value, abs=1e-5)

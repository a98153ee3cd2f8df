"""B18: small variances of an ill-conditioned posterior keep their digits."""

import numpy as np
import pytest

import gssbo

X = np.arange(20)[:, None] / 19
QUERY = np.array([[0.0], [10 / 19], [9.5 / 19]])
CASES = [
    (5.0, 100.0, 1e-8, [9.9491785e-9, 8.4664815e-9, 1.0211247e-8]),
    (50.0, 1e4, 1e-6, [5.447192e-7, 1.374809e-7, 1.370629e-7]),
]


def fit(lengthscale, variance, noise):
    gp = gssbo.GaussianProcess(
        lengthscale=lengthscale, variance=variance, noise=noise, fit_hyperparameters=False, normalize_y=False
    )
    return gp.fit(X, np.sin(3 * X[:, 0]))


@pytest.mark.parametrize(("lengthscale", "variance", "noise", "truth"), CASES)
def test_variances_are_within_a_percent(lengthscale, variance, noise, truth):
    gp = fit(lengthscale, variance, noise)
    assert gp.fit_info_["jitter"] == 0.0
    std = gp.predict(QUERY, return_std=True)[1]
    diagonal = np.diag(gp.predict(QUERY, return_cov=True)[1])
    for latent in (std**2, diagonal):
        np.testing.assert_allclose(latent, truth, rtol=0.01)


@pytest.mark.parametrize(("lengthscale", "variance", "noise", "truth"), CASES)
def test_a_told_input_is_never_less_certain_than_its_noise(lengthscale, variance, noise, truth):
    std = fit(lengthscale, variance, noise).predict(X, return_std=True)[1]
    latent = std**2
    # k(x, x) - v.v leaves an absolute rounding error of a few units in the last place of the variance.
    bound = variance * noise / (variance + noise) + 8 * np.spacing(variance)
    assert (latent >= 0).all() and (latent <= bound).all()


@pytest.mark.parametrize("noise", [1e-3, 1e-1])
def test_both_routes_agree_where_it_is_well_conditioned(noise):
    gp = fit(0.2, 1.0, noise)
    Q = np.linspace(-0.2, 1.2, 29)[:, None]
    std, covariance = gp.predict(Q, return_std=True)[1], gp.predict(Q, return_cov=True)[1]
    np.testing.assert_allclose(std**2, np.diag(covariance), rtol=1e-6)

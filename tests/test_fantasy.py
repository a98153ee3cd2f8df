"""Pending points: the mean stays, the deviation shrinks, as if they had been observed at the mean."""

import numpy as np
import pytest

from gssbo import GaussianProcess, fantasy
from gssbo import reference as ref
from gssbo.baselines.imagined import Imagined
from gssbo.fantasy import fantasize

RNG = np.random.default_rng(0)
X, POINTS, QUERY = RNG.random((40, 3)), RNG.random((7, 3)), RNG.random((50, 3))
Y = np.sin(5 * X[:, 0]) + X[:, 1]


@pytest.mark.parametrize("kernel", ["matern52", "matern32", "rbf"])
@pytest.mark.parametrize("noise", [1e-4, 0.1])
def test_is_the_process_conditioned_on_its_mean(kernel, noise):
    theta = np.log([0.4, 0.7, 2.0, 1.3, noise])
    gp = GaussianProcess(kernel, lengthscale=[0.4, 0.7, 2.0], variance=1.3, noise=noise, fit_hyperparameters=False)
    gp.fit(X, Y)
    imagined = fantasize(gp, POINTS)
    z = ref.standardise(Y)[0]
    mean = ref.posterior(X, z, POINTS, theta, kernel)[0]
    expected = ref.posterior(np.vstack([X, POINTS]), np.concatenate([z, mean]), QUERY, theta, kernel)
    np.testing.assert_allclose(imagined.posterior(QUERY)[0], expected[0], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(imagined.posterior(QUERY)[1], expected[1], rtol=1e-7)
    np.testing.assert_allclose(imagined.y_train_[40:], mean, rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(imagined.posterior(QUERY)[0], gp.posterior(QUERY)[0])


def test_one_at_a_time_is_all_at_once():
    """But for rounding: how many rows are worked on together depends on the processor."""
    gp = GaussianProcess(lengthscale=0.5, noise=1e-4, fit_hyperparameters=False).fit(X, Y)
    single = gp
    for point in POINTS:
        single = fantasize(single, point[None, :])
    together = fantasize(gp, POINTS)
    for one, other in zip(single.posterior(QUERY), together.posterior(QUERY), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    assert len(gp.X_train_) == 40


def test_no_points_change_nothing():
    gp = GaussianProcess(rng=0).fit(X, Y)
    np.testing.assert_array_equal(fantasize(gp, POINTS[:0]).posterior(QUERY), gp.posterior(QUERY))


def test_a_point_without_variance_is_passed_over():
    gp = GaussianProcess(lengthscale=0.5, noise=0.0, fit_hyperparameters=False).fit(X, Y)
    imagined = fantasize(gp, np.vstack([X[:5], POINTS[:1], POINTS[:1]]))
    assert len(imagined.X_train_) == 41
    assert np.isfinite(imagined.posterior(QUERY)).all()


def test_other_methods_go_along():
    imagined = fantasize(GaussianProcess(lengthscale=0.5, fit_hyperparameters=False).fit(X, Y), POINTS)
    K = imagined.kernel_(imagined.X_train_) + imagined.noise_ * np.eye(47)
    v = RNG.standard_normal(47)
    np.testing.assert_allclose(imagined.solve(v), np.linalg.solve(K, v), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(
        imagined.alpha_, np.append(np.linalg.solve(K[:40, :40], imagined.y_train_[:40]), [0.0] * 7), atol=1e-8
    )


def test_a_factor_of_the_noise_goes_along():
    gp = GaussianProcess(lengthscale=0.5, noise=0.1, fit_hyperparameters=False)
    gp.fit(X, Y, noise_factors=np.linspace(0.1, 2.0, 40))
    imagined = fantasize(gp, POINTS)
    again = GaussianProcess(lengthscale=0.5, noise=0.1, fit_hyperparameters=False, normalize_y=False)
    again.fit(np.vstack([X, POINTS]), imagined.y_train_, noise_factors=np.append(np.linspace(0.1, 2.0, 40), np.ones(7)))
    np.testing.assert_array_equal(imagined.noise_factors_, again.noise_factors_)
    np.testing.assert_allclose(imagined.posterior(QUERY), again.posterior(QUERY), atol=1e-8)


def test_a_surrogate_without_a_way_is_returned_as_it_is():
    surrogate = object()
    assert fantasize(surrogate, POINTS) is surrogate


def test_nothing_is_imagined_with_a_factor_that_failed():
    class Spent:
        y_mean_, y_std_, noise_ = 0.0, 1.0, 0.0

        def covariance(self, first, second):
            return np.array([[1.0, 3.0], [3.0, 1.0]])

    with pytest.raises(np.linalg.LinAlgError, match="the covariance of 2 points is not positive definite"):
        Imagined(Spent(), np.zeros((2, 1)))


@pytest.mark.parametrize("constant", [False, True])
def test_of_very_many_points_the_oldest_and_the_newest_count(monkeypatch, constant):
    monkeypatch.setattr(fantasy, "MOST", 12)
    monkeypatch.setattr(fantasy, "KEPT", 6)
    gp = GaussianProcess(lengthscale=0.5, noise=1e-4, fit_hyperparameters=False).fit(X, np.ones(40) if constant else Y)
    several = one = fantasize(gp, QUERY[:12])
    assert len(several.X_train_) == 52
    for point in QUERY[12:20]:
        one = fantasize(one, point[None, :])
    expected = [*QUERY[:3], *QUERY[10:13], *QUERY[13:19]]  # twelve again, of which the next leaves the last half out
    expected = [*expected[:3], *expected[-2:], QUERY[19]]
    np.testing.assert_array_equal(one.X_train_, np.vstack([X, *expected]))
    several = fantasize(several, QUERY[12:20])
    np.testing.assert_array_equal(several.X_train_, np.vstack([X, QUERY[:3], QUERY[17:20]]))
    for pending in (one, several):
        again = fantasize(gp, pending.X_train_[40:])
        for left, right in zip(pending.posterior(QUERY), again.posterior(QUERY), strict=True):
            np.testing.assert_array_equal(left, right)
        np.testing.assert_array_equal(pending.posterior(QUERY)[0], gp.posterior(QUERY)[0])
    assert len(gp.X_train_) == 40


def test_one_that_is_fitted_anew_has_imagined_nothing(monkeypatch):
    monkeypatch.setattr(fantasy, "MOST", 12)
    monkeypatch.setattr(fantasy, "KEPT", 6)
    gp = fantasize(GaussianProcess(lengthscale=0.5, fit_hyperparameters=False).fit(X, Y), POINTS)
    again = fantasize(gp.fit(X, Y), QUERY[:10])
    np.testing.assert_array_equal(again.X_train_, np.vstack([X, QUERY[:10]]))

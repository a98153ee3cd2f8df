"""The projected process against the dense formula of `reference`'s kernel, and the exact process as its limit."""

import numpy as np
import pytest

from gssbo import projected
from gssbo import reference as ref
from gssbo.fantasy import fantasize
from gssbo.joint import draw
from gssbo.kernels import Kernel
from gssbo.projected import ProjectedProcess
from tests.gaussian_processes import setting


def process(theta, basis, kernel="matern52", **options):
    scales, variance, noise = ref.unpack(theta)
    return ProjectedProcess(Kernel(kernel, scales, variance), noise, basis, **options)


@pytest.mark.parametrize("kernel", ["matern52", "matern32", "rbf"])
@pytest.mark.parametrize("known", [False, True])
def test_the_posterior_is_the_dense_formula(kernel, known):
    """Mean and variance with Q = K_.Z K_ZZ^-1 K_Z. in the place of k, and k - Q added to the variance."""
    X, z, theta, rng = setting(60, 3)
    Z, points = X[rng.permutation(60)[:20]], np.vstack([rng.random((40, 3)), X[:3]])
    extra = rng.choice([0.0, 0.3, 4.0], 60) if known else np.zeros(60)

    def Q(A, B):
        inner = np.linalg.solve(ref.kernel_matrix(Z, Z, theta, kernel), ref.kernel_matrix(Z, B, theta, kernel))
        return ref.kernel_matrix(A, Z, theta, kernel) @ inner

    inverse = np.linalg.inv(Q(X, X) + np.diag(np.exp(theta[-1]) + extra))
    model = process(theta, Z, kernel)
    model.observe(X, z, extra if known else None)
    mean, std = model.posterior(points)
    np.testing.assert_allclose(mean, Q(points, X) @ inverse @ z, rtol=0, atol=1e-7)
    variance = np.exp(theta[-2]) - np.diag(Q(points, X) @ inverse @ Q(X, points))
    np.testing.assert_allclose(std**2, variance, rtol=0, atol=1e-7)


def test_what_the_basis_does_not_span_may_be_noise():
    """As in FITC: an observation is as noisy as the variance that the basis leaves it."""
    X, z, theta, rng = setting(60, 3)
    known, points = rng.choice([0.0, 0.3], 60), rng.random((40, 3))
    told, reckoned = process(theta, X[:20]), process(theta, X[:20])
    told.observe(X, z, known, rest_is_noise=True)
    reckoned.observe(X, z, known + reckoned.unexplained(X) ** 2)
    for a, b in zip(told.posterior(points), reckoned.posterior(points), strict=True):
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-9)
    plain = process(theta, X[:20])
    plain.observe(X, z, known)
    assert (told.posterior(points)[1] > plain.posterior(points)[1]).all()


def test_the_covariance_is_what_draws_have():
    X, z, theta, rng = setting(60, 3)
    points = np.vstack([rng.random((6, 3)), X[:2]])
    model = process(theta, X[:20])
    model.observe(X, z)
    mean, std = model.posterior(points)
    covariance = model.posterior_covariance(points)
    np.testing.assert_array_equal(covariance, covariance.T)
    np.testing.assert_allclose(np.diag(covariance), std**2, rtol=0, atol=1e-9)
    everything = process(theta, np.vstack([X, points]))  # whose covariance is the exact one
    everything.observe(X, z)
    exact = ref.posterior_covariance(X, points, theta)
    np.testing.assert_allclose(everything.posterior_covariance(points), exact, rtol=0, atol=1e-6)
    draws = draw(model, points, 20_000, np.random.default_rng(0))
    np.testing.assert_allclose(draws.mean(axis=1), mean, atol=0.03)
    np.testing.assert_allclose(np.cov(draws), covariance, atol=0.03)


def test_with_all_in_the_basis_it_is_the_exact_process():
    X, z, theta, rng = setting(60, 3)
    points = rng.random((50, 3))
    model = process(theta, X)
    model.observe(X, z)
    for found, expected in zip(model.posterior(points), ref.posterior(X, z, points, theta), strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7)


def test_before_anything_is_observed_it_is_the_prior():
    X, _, theta, rng = setting(60, 3)
    mean, std = process(theta, X[:20]).posterior(rng.random((5, 3)))
    np.testing.assert_array_equal(mean, 0.0)
    np.testing.assert_allclose(std**2, np.exp(theta[-2]), rtol=1e-9)


def test_observations_may_come_in_parts(monkeypatch):
    X, z, theta, rng = setting(90, 3)
    points = rng.random((40, 3))
    at_once, in_parts, in_blocks = (process(theta, X[:25]) for _ in range(3))
    at_once.observe(X, z)
    in_parts.observe(X[:37], z[:37])
    in_parts.observe(X[37:], z[37:])
    monkeypatch.setattr(projected, "ROWS", 32)
    in_blocks.observe(X, z)
    for other in (in_parts, in_blocks):
        for a, b in zip(other.posterior(points), at_once.posterior(points), strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-9)


def test_repeated_points_and_no_noise_are_survived():
    X, z, theta, rng = setting(60, 3)
    basis = np.vstack([X[:20], X[:20]])
    scales, variance, _ = ref.unpack(theta)
    model = ProjectedProcess(Kernel("rbf", 10.0 * scales, variance), 0.0, basis)
    model.observe(np.vstack([X, X]), np.append(z, z), np.repeat([0.0, 1.0], 60))
    assert model.jitter_ > 0.0
    for values in model.posterior(rng.random((30, 3))):
        assert np.isfinite(values).all()


def test_a_prediction_depends_neither_on_threads_nor_on_its_company():
    X, z, theta, rng = setting(60, 3)
    points = rng.random((1500, 3))
    alone, shared = process(theta, X[:30]), process(theta, X[:30], threads=3)
    alone.observe(X, z)
    shared.observe(X, z)
    for a, b in zip(shared.posterior(points), alone.posterior(points), strict=True):
        np.testing.assert_array_equal(a, b)
    assert alone.posterior(points[:1])[0][0] == pytest.approx(alone.posterior(points)[0][0], rel=1e-12)


def test_pending_points_leave_the_mean_and_shrink_the_deviation():
    X, z, theta, rng = setting(60, 3)
    points, query = rng.random((4, 3)), rng.random((50, 3))
    model = process(theta, X[:20])
    model.observe(X, z)
    before = model.posterior(query)
    imagined = fantasize(model, points)
    np.testing.assert_allclose(imagined.posterior(query)[0], before[0], atol=1e-10)
    assert (imagined.posterior(query)[1] <= before[1] + 1e-12).all()
    assert (imagined.posterior(points)[1] < model.posterior(points)[1]).all()
    for a, b in zip(model.posterior(query), before, strict=True):
        np.testing.assert_array_equal(a, b)


def test_it_says_what_it_is():
    X, _, theta, _ = setting(60, 3)
    assert repr(process(theta, X[:20])) == "ProjectedProcess('matern52', m=20)"

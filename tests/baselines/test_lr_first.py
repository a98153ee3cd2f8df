"""The low-rank process against the dense formula, and the exact process as its limit."""

import numpy as np
import pytest

from gssbo import GaussianProcess
from gssbo import reference as ref
from gssbo.baselines.lr_first import NystromProcess, rank
from gssbo.fantasy import fantasize
from tests.gaussian_processes import setting


def fixed(theta, kernel="matern52", **options):
    scales, variance, noise = ref.unpack(theta)
    options = {"fit_hyperparameters": False, "normalize_y": False, **options}
    return NystromProcess(kernel, lengthscale=scales, variance=variance, noise=noise, **options)


@pytest.mark.parametrize("kernel", ["matern52", "matern32", "rbf"])
@pytest.mark.parametrize("m", [1, 9, 30])
def test_the_posterior_is_the_dense_formula(kernel, m):
    """Mean and variance with Q = K_.m K_mm^-1 K_m. in the place of k, and k - Q added to the variance."""
    X, y, theta, rng = setting(60, 3)
    points = np.vstack([rng.random((40, 3)), X[:3], X[-3:]])

    def k(A, B):
        return ref.kernel_matrix(A, B, theta, kernel)

    def Q(A, B):
        return k(A, X[:m]) @ np.linalg.solve(k(X[:m], X[:m]), k(X[:m], B))

    inverse = np.linalg.inv(Q(X, X) + np.exp(theta[-1]) * np.eye(len(X)))
    mean = Q(points, X) @ inverse @ y
    variance = np.exp(theta[-2]) - np.diag(Q(points, X) @ inverse @ Q(X, points))
    found_mean, found_std = fixed(theta, kernel, size=m).fit(X, y).predict(points, return_std=True)
    np.testing.assert_allclose(found_mean, mean, rtol=0, atol=1e-7)
    np.testing.assert_allclose(found_std**2, variance, rtol=0, atol=1e-7)


def test_known_noise_of_single_observations():
    X, y, theta, rng = setting(60, 3)
    known = rng.choice([0.0, 0.3, 4.0], 60)
    points = rng.random((40, 3))

    def Q(A, B):
        inner = np.linalg.solve(ref.kernel_matrix(X[:15], X[:15], theta), ref.kernel_matrix(X[:15], B, theta))
        return ref.kernel_matrix(A, X[:15], theta) @ inner

    inverse = np.linalg.inv(Q(X, X) + np.exp(theta[-1]) * np.eye(60) + np.diag(known))
    mean, std = fixed(theta, size=15).fit(X, y, noise_std=np.sqrt(known)).predict(points, return_std=True)
    np.testing.assert_allclose(mean, Q(points, X) @ inverse @ y, rtol=0, atol=1e-7)
    variance = np.exp(theta[-2]) - np.diag(Q(points, X) @ inverse @ Q(X, points))
    np.testing.assert_allclose(std**2, variance, rtol=0, atol=1e-7)


def test_it_is_the_exact_process_when_all_are_first():
    X, y, theta, rng = setting(60, 3)
    points = rng.random((50, 3))
    mean, std = fixed(theta, size=60).fit(X, y).predict(points, return_std=True)
    expected_mean, expected_std = ref.posterior(X, y, points, theta)
    np.testing.assert_allclose(mean, expected_mean, rtol=0, atol=1e-8)
    np.testing.assert_allclose(std, expected_std, rtol=0, atol=1e-7)


def test_the_hyperparameters_are_those_of_an_exact_process_on_the_first():
    """On responses standardised over all."""
    X, y, _, _ = setting(60, 3)
    options = {"lengthscale": 0.8, "lengthscale_bounds": (1e-2, 1e2), "n_restarts": 0}
    ours = NystromProcess(size=25, **options).fit(X, y)
    exact = GaussianProcess(normalize_y=False, **options).fit(X[:25], ref.standardise(y)[0][:25])
    np.testing.assert_allclose(ours.theta_, exact.theta_, rtol=1e-12)
    assert (ours.y_mean_, ours.y_std_) == pytest.approx(ref.standardise(y)[1:])


def test_the_rank_is_the_papers():
    """m = max(9, min(100, floor(t / 10) + 9, n / 2)), t counted from the end of the design."""
    for n in range(18, 1100):
        t = max(n - 20 + 1, 0)
        assert rank(n, 20) == max(9, min(100, t // 10 + 9, n // 2))
    assert [rank(n, 20) for n in (1, 5, 9, 10)] == [1, 5, 9, 9]
    assert NystromProcess().fit(*setting(100, 3)[:2]).n_inducing_ == 17
    assert NystromProcess(n_init=50).fit(*setting(100, 3)[:2]).n_inducing_ == 14


def test_duplicates_among_the_first_get_a_jitter():
    X, y, theta, _ = setting(60, 3)
    X[1], y[1] = X[0], y[0]
    model = fixed(theta, size=10).fit(X, y)
    assert model.fit_info_["jitter"] > 0.0
    without = fixed(theta, size=9).fit(np.delete(X, 1, axis=0), np.delete(y, 1))
    points = np.random.default_rng(0).random((30, 3))
    # The same span, and the observation itself once more: near, but not equal.
    np.testing.assert_allclose(model.predict(points), without.predict(points), atol=0.05)


def test_a_prediction_depends_neither_on_threads_nor_on_its_company():
    X, y, theta, rng = setting(60, 3)
    points = rng.random((1500, 3))
    model = fixed(theta).fit(X, y)
    together = model.posterior(points)
    model.threads = 3
    for a, b in zip(model.posterior(points), together, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-13)
    assert model.posterior(points[:1])[0][0] == pytest.approx(together[0][0], rel=1e-13)


def test_pending_points_leave_the_mean_and_shrink_the_deviation():
    """As the model refitted with them, at their means, among what is not first."""
    X, y, theta, rng = setting(60, 3)
    points, query = rng.random((4, 3)), rng.random((50, 3))
    model = fixed(theta, size=20).fit(X, y)
    imagined = fantasize(model, points)
    again = fixed(theta, size=20).fit(np.vstack([X, points]), np.append(y, model.posterior(points)[0]))
    for a, b in zip(imagined.posterior(query), again.posterior(query), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-10)
    np.testing.assert_allclose(imagined.posterior(query)[0], model.posterior(query)[0], atol=1e-10)
    assert (imagined.posterior(query)[1] <= model.posterior(query)[1] + 1e-12).all()
    two = fantasize(fantasize(model, points[:2]), points[2:])
    np.testing.assert_allclose(two.posterior(query)[1], imagined.posterior(query)[1], atol=1e-10)


@pytest.mark.parametrize("options", [{"size": 0}, {"n_init": 0}])
def test_bad_options(options):
    with pytest.raises(ValueError, match=f"^{next(iter(options))} must be at least 1, got 0"):
        NystromProcess(**options)

"""Vecchia's approximation against dense algebra: one conditional at a time, and the exact process as its limit."""

import copy
import time

import numpy as np
import pytest

import gssbo
from gssbo import GaussianProcess
from gssbo import reference as ref
from gssbo._core import _neighbours
from gssbo.baselines.vecchia import Conditionals, VecchiaProcess, max_min_order
from gssbo.fantasy import fantasize
from gssbo.kernels import KERNELS
from gssbo.problems import get_problem

NAMES = sorted(KERNELS)


def setting(n, d, seed=0):
    rng = np.random.default_rng([n, d, seed])
    theta = np.log([*rng.uniform(0.3, 1.0, d) * np.sqrt(d), rng.uniform(0.5, 2.0), 10 ** rng.uniform(-3, -1)])
    return rng.random((n, d)), rng.standard_normal(n), theta, rng


def terms_of(X, z, theta, m, terms=None, kernel="matern52"):
    scales = np.exp(theta[:-2])
    terms = np.arange(len(z)) if terms is None else terms
    return Conditionals.among(KERNELS[kernel], X, z, lengthscale=scales, m=m, terms=terms)


def fixed(theta, kernel="matern52", **options):
    scales, variance, noise = ref.unpack(theta)
    options = {"fit_hyperparameters": False, "normalize_y": False, **options}
    return VecchiaProcess(kernel, lengthscale=scales, variance=variance, noise=noise, **options)


def dense_order(X, scales):
    """Max-min order, by looking at all distances each time."""
    distances = np.sqrt(ref.scaled_squares(X, X, scales).sum(axis=0))
    order = [0]
    while len(order) < len(X):
        nearest = distances[:, order].min(axis=1)
        nearest[order] = -1.0
        order.append(int(np.argmax(nearest)))
    return order


def nearest(X, x, scales, m):
    return np.argsort(ref.scaled_squares(X, x[None], scales).sum(axis=0)[:, 0], kind="stable")[:m]


def dense_conditional(X, z, i, given, theta, kernel):
    """Mean and variance of z_i given z at `given`."""
    if len(given) == 0:
        return 0.0, np.exp(theta[-2]) + np.exp(theta[-1])
    K = ref.noisy_covariance(X[given], theta, kernel)
    k = ref.kernel_matrix(X[given], X[i : i + 1], theta, kernel)[:, 0]
    b = np.linalg.solve(K, k)
    return b @ z[given], np.exp(theta[-2]) + np.exp(theta[-1]) - b @ k


# ---- likelihood


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 3), (17, 2), (65, 6)])
def test_the_likelihood_is_the_exact_one_when_everything_is_given(kernel, n, d):
    X, z, theta, _ = setting(n, d)
    value, gradient = terms_of(X, z, theta, n, kernel=kernel)(theta)
    expected, slope = ref.log_marginal_likelihood(X, z, theta, kernel)
    assert value == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(gradient, slope, rtol=0, atol=1e-9 * np.abs(slope).max())


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("m", [1, 5, 16, 33])
def test_the_likelihood_is_the_sum_of_dense_conditionals(kernel, m):
    X, z, theta, _ = setting(60, 3)
    scales = np.exp(theta[:3])
    order = dense_order(X, scales)
    ordered, responses = X[order], z[order]
    expected = 0.0
    for i in range(60):
        mean, variance = dense_conditional(
            ordered, responses, i, nearest(ordered[:i], ordered[i], scales, m) if i else [], theta, kernel
        )
        expected -= 0.5 * (np.log(2 * np.pi * variance) + (responses[i] - mean) ** 2 / variance)
    assert terms_of(X, z, theta, m, kernel=kernel)(theta)[0] == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize(("n", "d", "m"), [(40, 1, 7), (50, 6, 12), (40, 20, 18)])
def test_the_gradient_by_finite_differences(kernel, n, d, m):
    X, z, theta, _ = setting(n, d, 1)
    likelihood, step = terms_of(X, z, theta, m, kernel=kernel), 1e-3
    gradient = likelihood(theta)[1]
    slope = np.empty_like(theta)
    for j, e in enumerate(step * np.eye(len(theta))):
        a, b, c, f = (likelihood(theta + k * e)[0] for k in (-2, -1, 1, 2))
        slope[j] = (a - 8 * b + 8 * c - f) / (12 * step)
    np.testing.assert_allclose(gradient, slope, rtol=0, atol=1e-7 * max(1.0, np.abs(slope).max()))


def test_parts_weighted_by_their_size_average_to_the_whole():
    X, z, theta, rng = setting(80, 2)
    value, gradient = terms_of(X, z, theta, 9)(theta)
    parts = [terms_of(X, z, theta, 9, np.sort(part))(theta) for part in np.split(rng.permutation(80), 4)]
    assert np.mean([part[0] for part in parts]) == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(np.mean([part[1] for part in parts], axis=0), gradient, rtol=1e-10)


@pytest.mark.parametrize("m", [6, 40])
def test_known_noise_of_single_observations(m):
    """Value and posterior against dense algebra, each noise on the diagonal; the gradient against differences."""
    X, z, theta, rng = setting(40, 2, 2)
    known = rng.choice([0.0, 0.2, 5.0], 40)
    scales = np.exp(theta[:2])
    likelihood = Conditionals.among(2, X, z, lengthscale=scales, m=m, terms=np.arange(40), known=known)
    value, gradient = likelihood(theta)
    order = dense_order(X, scales)
    K = (ref.noisy_covariance(X, theta) + np.diag(known))[np.ix_(order, order)]
    y, expected = z[order], 0.0
    for i in range(40):
        given = nearest(X[order][:i], X[order][i], scales, m) if i else np.empty(0, dtype=int)
        b = np.linalg.solve(K[np.ix_(given, given)], K[given, i])
        s = K[i, i] - b @ K[given, i]
        expected -= 0.5 * (np.log(2 * np.pi * s) + (y[i] - b @ y[given]) ** 2 / s)
    assert value == pytest.approx(expected, rel=1e-11)
    for j, step in enumerate(1e-5 * np.eye(4)):
        slope = (likelihood(theta + step)[0] - likelihood(theta - step)[0]) / 2e-5
        assert gradient[j] == pytest.approx(slope, abs=1e-6 * max(1.0, np.abs(gradient).max()))
    model = fixed(theta, n_neighbours=m).fit(X, z, noise_std=np.sqrt(known))
    K = ref.noisy_covariance(X, theta) + np.diag(known)
    for point in rng.random((20, 2)):
        near = nearest(X, point, scales, m)
        k = ref.kernel_matrix(X[near], point[None], theta)[:, 0]
        w = np.linalg.solve(K[np.ix_(near, near)], k)
        mean, std = model.posterior(point[None])
        assert mean[0] == pytest.approx(w @ z[near], abs=1e-10)
        assert std[0] ** 2 == pytest.approx(np.exp(theta[2]) - w @ k, abs=1e-9)


def test_nan_where_a_block_is_singular():
    X, z, theta, _ = setting(12, 1)
    assert np.isnan(terms_of(np.zeros((12, 1)), z, theta, 12)(np.array([0.0, 0.0, -np.inf]))[0])
    assert np.isfinite(terms_of(X, z, theta, 12)(theta)[0])


# ---- order and neighbours


@pytest.mark.parametrize("d", [1, 2, 6])
def test_the_order_is_max_min(d):
    X, _, theta, _ = setting(70, d)
    scales = np.exp(theta[:d])
    np.testing.assert_array_equal(max_min_order(X, scales), dense_order(X, scales))
    # Lengthscales at which every kernel value is 0, or 1, to rounding.
    for factor in (1e-4, 1e6):
        np.testing.assert_array_equal(max_min_order(X, factor * scales), dense_order(X, scales))


def test_equal_inputs_are_ordered_as_they_came():
    np.testing.assert_array_equal(max_min_order(np.full((5, 2), 0.3), np.ones(2)), np.arange(5))


@pytest.mark.parametrize("m", [1, 4, 20, 90])
def test_neighbours_are_the_nearest_before(m):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.random((40, 2)), rng.integers(0, 4, (50, 2)) / 4.0])  # many equal distances
    scales, terms = np.array([0.5, 2.0]), np.arange(90)
    sets = np.empty((90, m), dtype=np.intp)
    _neighbours.before(X, scales, terms, sets)
    for i in range(90):
        expected = nearest(X[:i], X[i], scales, m) if i else []
        assert set(sets[i][sets[i] >= 0]) == set(expected), i
        assert (sets[i] >= 0).sum() == min(i, m)


def test_the_conditioning_size_grows_with_the_squared_logarithm():
    sizes = [VecchiaProcess().conditioning_size(n) for n in (1, 2, 8, 20, 100, 1000, 10_000)]
    assert sizes == [1, 1, 6, 13, 29, 65, 116]
    assert VecchiaProcess(n_neighbours=7).conditioning_size(5) == 5


# ---- posterior


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize(("n", "d"), [(1, 2), (20, 1), (65, 6), (300, 3)])
def test_the_posterior_is_the_exact_one_when_everything_is_given(kernel, n, d):
    X, z, theta, rng = setting(n, d)
    points = np.vstack([rng.random((40, d)), X[:5]])
    mean, std = fixed(theta, kernel, n_neighbours=n).fit(X, z).predict(points, return_std=True)
    expected_mean, expected_std = ref.posterior(X, z, points, theta, kernel)
    np.testing.assert_allclose(mean, expected_mean, rtol=0, atol=1e-8)
    np.testing.assert_allclose(std, expected_std, rtol=0, atol=1e-7)


@pytest.mark.parametrize("m", [1, 8, 30])
def test_the_posterior_is_the_exact_one_of_the_nearest(m):
    X, z, theta, rng = setting(150, 4)
    points = rng.random((60, 4))
    mean, std = fixed(theta, n_neighbours=m).fit(X, z).predict(points, return_std=True)
    for j, point in enumerate(points):
        near = nearest(X, point, np.exp(theta[:4]), m)
        a, b = ref.posterior(X[near], z[near], point[None], theta)
        assert mean[j] == pytest.approx(a[0], abs=1e-10)
        assert std[j] == pytest.approx(b[0], abs=1e-8)


def test_a_singular_block_gets_a_jitter():
    X = np.array([[0.2], [0.2], [0.2], [0.9]])
    gp = VecchiaProcess(lengthscale=0.3, noise=0.0, fit_hyperparameters=False, normalize_y=False)
    mean, std = gp.fit(X, [1.0, 1.0, 1.0, -1.0]).predict([[0.2], [0.9]], return_std=True)
    np.testing.assert_allclose(mean, [1.0, -1.0], atol=1e-6)
    assert (std < 1e-3).all()


def test_a_prediction_depends_neither_on_threads_nor_on_its_company():
    X, z, theta, rng = setting(200, 3)
    points = rng.random((1500, 3))
    model = fixed(theta).fit(X, z)
    together = model.posterior(points)
    model.threads = 3
    for a, b in zip(model.posterior(points), together, strict=True):
        np.testing.assert_array_equal(a, b)
    alone = np.array([[part[0] for part in model.posterior(points[j : j + 1])] for j in range(0, 1500, 100)])
    np.testing.assert_array_equal(alone.T, np.array(together)[:, ::100])


def test_pending_points_are_observations_of_the_mean():
    X, z, theta, rng = setting(80, 3)
    points, near = rng.random((4, 3)), X[:30] + 0.01
    model = fixed(theta, n_neighbours=12).fit(X, z)
    imagined = fantasize(model, points)
    means = model.posterior(points)[0]
    again = fixed(theta, n_neighbours=12).fit(np.vstack([X, points]), np.append(z, means))
    for a, b in zip(imagined.posterior(near), again.posterior(near), strict=True):
        np.testing.assert_array_equal(a, b)
    assert (imagined.posterior(points)[1] < model.posterior(points)[1]).all()
    assert len(model.X_train_) == 80


# ---- fit


def test_the_fit_is_the_exact_ones_when_everything_is_given():
    X, _, _, rng = setting(40, 2)
    y = np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(40)
    options = {"n_restarts": 2, "lengthscale_bounds": (1e-2, 1e2)}
    exact = GaussianProcess(rng=0, **options).fit(X, y)
    ours = VecchiaProcess(n_neighbours=40, rng=0, **options).fit(X, y)
    assert ours.fit_info_["status"] == "converged"
    reached = exact.log_marginal_likelihood(ours.theta_)
    assert reached == pytest.approx(exact.log_marginal_likelihood_value_, abs=1e-3)
    points = rng.random((50, 2))
    np.testing.assert_allclose(ours.predict(points), exact.predict(points), atol=0.02)


def test_a_fit_on_some_terms_predicts_about_as_well_as_the_exact_one():
    rng = np.random.default_rng(5)
    X, points = rng.random((600, 2)), rng.random((300, 2))

    def f(x):
        return np.sin(6 * x[:, 0]) * np.cos(4 * x[:, 1])

    y = f(X) + 0.05 * rng.standard_normal(600)
    errors = [
        np.sqrt(np.mean((model.fit(X, y).predict(points) - f(points)) ** 2))
        for model in (GaussianProcess(n_restarts=0), VecchiaProcess(n_restarts=0, n_terms=128, rng=0))
    ]
    assert errors[1] < max(1.5 * errors[0], 0.02)  # 0.0083 and 0.0092 when written


def test_the_same_generator_gives_the_same_fit_and_another_other_terms():
    X, _, _, rng = setting(60, 2)
    y = np.sin(5 * X[:, 0]) + 0.2 * rng.standard_normal(60)
    thetas = []
    for seed in (1, 1, 2):
        model = VecchiaProcess(n_terms=20, n_restarts=0)
        model.condition(X, y, optimize=True, rng=np.random.default_rng(seed))
        thetas.append(model.theta_)
    np.testing.assert_array_equal(thetas[0], thetas[1])
    assert not np.array_equal(thetas[0], thetas[2])


def test_constant_responses_and_copies():
    X = np.random.default_rng(0).random((30, 2))
    model = VecchiaProcess(rng=0).fit(X, np.full(30, 7.0))
    assert model.fit_info_["status"] == "constant"
    np.testing.assert_allclose(model.predict(X), 7.0)
    twin = copy.deepcopy(model)
    model.prepare(2)
    assert twin.fitted and not model.fitted


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbours": 0}, "^n_neighbours must be at least 1, got 0"),
        ({"n_terms": 1.5}, "^n_terms must be an integer, got 1.5"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        VecchiaProcess(**options)


@pytest.mark.slow
def test_an_iteration_costs_less_than_the_full_data_processs_at_a_thousand():
    """In processor time, with 1,000 observations of 6 parameters; it was a third when this was written."""
    problem = get_problem("hartmann6")
    X = np.random.default_rng(0).random((1000, 6))
    seconds = {}
    for method in ("vecchia", "gp-ucb"):
        optimizer = gssbo.Optimizer(problem.bounds, method=method, threads=1, rng=0)
        optimizer.tell(X, problem(X))
        start = time.process_time()
        optimizer.ask()
        seconds[method] = time.process_time() - start
    assert seconds["vecchia"] < seconds["gp-ucb"]

"""The oracle itself is right: every part of `gssbo.reference` against independent numbers."""

import ast
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.stats import multivariate_normal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

from gssbo import reference as ref
from tests.oracles import KERNELS, SKLEARN, make_data, sklearn_model


def test_imports_nothing_of_the_package_but_itself():
    files = list(Path(ref.__file__).parent.glob("*.py"))
    assert len(files) > 1
    modules = set()
    for node in chain.from_iterable(ast.walk(ast.parse(path.read_text(encoding="utf-8"))) for path in files):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add("." * node.level + (node.module or ""))
    outside = {name.partition(".")[0] for name in modules if not name.startswith("gssbo.reference.")}
    assert outside == {"collections", "time", "typing", "numpy", "scipy"}


# ---- Gaussian process


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernel_is_sklearns(kernel):
    X, _, theta = make_data()
    Q = make_data(7, seed=1)[0]
    scales, variance, noise = ref.unpack(theta)
    expected = variance * SKLEARN[kernel](scales)(X, Q)
    np.testing.assert_allclose(ref.kernel_matrix(X, Q, theta, kernel), expected, rtol=1e-12)
    K = ref.kernel_matrix(X, X, theta, kernel)
    np.testing.assert_array_equal(np.diag(K), variance)
    np.testing.assert_allclose(ref.noisy_covariance(X, theta, kernel) - K, noise * np.eye(len(X)), atol=1e-15)


@pytest.mark.parametrize("kernel", KERNELS)
def test_likelihood_and_gradient_are_sklearns(kernel):
    X, z, theta = make_data()
    model = sklearn_model(X, z, theta, kernel)
    order = [
        len(theta) - 2,
        *range(len(theta) - 2),
        len(theta) - 1,
    ]  # its order: variance, lengthscales, noise
    value, gradient = model.log_marginal_likelihood(model.kernel_.theta, eval_gradient=True)
    np.testing.assert_allclose(model.kernel_.theta, theta[order], rtol=1e-12)
    got, got_gradient = ref.log_marginal_likelihood(X, z, theta, kernel)
    assert got == pytest.approx(value, rel=1e-9)
    np.testing.assert_allclose(got_gradient[order], gradient, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_likelihood_gradient_by_finite_differences(kernel):
    X, z, theta = make_data()
    args = (lambda t: ref.log_marginal_likelihood(X, z, t, kernel)[0],)
    error = check_grad(*args, lambda t: ref.log_marginal_likelihood(X, z, t, kernel)[1], theta)
    assert error < 1e-5 * np.linalg.norm(ref.log_marginal_likelihood(X, z, theta, kernel)[1])


def test_likelihood_is_the_normal_density():
    X, z, theta = make_data()
    expected = multivariate_normal(cov=ref.noisy_covariance(X, theta)).logpdf(z)
    assert ref.log_marginal_likelihood(X, z, theta)[0] == pytest.approx(expected, rel=1e-12)


def test_likelihood_gradient_is_finite_at_repeated_inputs():
    X = np.array([[0.1], [0.1], [0.4], [0.7], [0.7]])
    value, gradient = ref.log_marginal_likelihood(X, np.array([-0.5, -0.3, 0.8, 0.1, -0.1]), np.log([0.3, 1.2, 0.05]))
    assert value == pytest.approx(-3.46621313, abs=1e-8)
    np.testing.assert_allclose(gradient, [-0.45910910, -0.73136939, -0.59655466], atol=1e-8)


@pytest.mark.parametrize("kernel", KERNELS)
def test_posterior_is_sklearns(kernel):
    X, z, theta = make_data()
    Q = np.vstack([make_data(9, seed=2)[0], X[:2]])
    model = sklearn_model(X, z, theta, kernel)
    mean, covariance = model.predict(Q, return_cov=True)
    noise = ref.unpack(theta)[2]
    got_mean, got_std = ref.posterior(X, z, Q, theta, kernel)
    got_covariance = ref.posterior_covariance(X, Q, theta, kernel)
    np.testing.assert_allclose(got_mean, mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(got_covariance, covariance - noise * np.eye(len(Q)), atol=1e-9)
    np.testing.assert_allclose(got_std**2, np.diag(got_covariance), atol=1e-12)


def test_standardise():
    z, mean, std = ref.standardise(np.array([1.0, 2.0, 6.0]))
    assert (mean, std) == (3.0, pytest.approx(np.sqrt(14 / 3)))
    np.testing.assert_allclose(z * std + mean, [1, 2, 6])
    z, mean, std = ref.standardise(np.full(3, 0.1))  # the rounded mean of three tenths is not a tenth
    assert std == 1
    np.testing.assert_allclose(z, 0, atol=1e-15)


def test_fit_reaches_a_stationary_point_or_a_bound_and_sklearns_likelihood():
    X, z, start = make_data(25, 2)
    got = ref.fit_theta(X, z, start, np.random.default_rng(0), "matern52", 3, None)
    value, gradient = ref.log_marginal_likelihood(X, z, got)
    low, high = np.log([(1e-2, 1e3)] * 2 + [(1e-4, 1e4), (1e-6, 1e1)]).T
    inside = (got > low + 1e-6) & (got < high - 1e-6)
    assert np.max(np.abs(gradient[inside])) < 1e-2
    limits = {"length_scale_bounds": (1e-2, 1e3)}
    covariance = ConstantKernel(1.0, (1e-4, 1e4)) * Matern(np.ones(2), nu=2.5, **limits)
    model = GaussianProcessRegressor(
        covariance + WhiteKernel(0.1, (1e-6, 1e1)), alpha=0.0, n_restarts_optimizer=3, random_state=0
    ).fit(X, z)
    assert value == pytest.approx(model.log_marginal_likelihood_value_, abs=1e-3)


def test_fit_never_returns_worse_than_its_start_and_stays_in_bounds():
    X, z, _ = make_data(12, 2)
    bounds = np.log([(0.3, 0.5), (0.3, 0.5), (0.5, 2.0), (1e-2, 1e-1)])
    start = np.log([0.4, 0.4, 1.0, 0.05])
    got = ref.fit_theta(X, z, start, np.random.default_rng(1), "rbf", 0, bounds)
    assert np.all((got >= bounds[:, 0]) & (got <= bounds[:, 1]))
    gained = ref.log_marginal_likelihood(X, z, got, "rbf")[0]
    assert gained > ref.log_marginal_likelihood(X, z, start, "rbf")[0]


# ---- precision, embeddings, scores


def test_precision_and_embeddings_are_the_inverse():
    X, z, theta = make_data()
    inverse = np.linalg.inv(ref.noisy_covariance(X, theta))
    P = ref.precision(X, theta)
    np.testing.assert_allclose(P, inverse, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(ref.embeddings(P), -inverse.T, rtol=1e-9, atol=1e-9)
    G = ref.embeddings(P)
    unit = G / np.linalg.norm(G, axis=1)[:, None]
    np.testing.assert_allclose(ref.cosines(P), unit @ unit.T, atol=1e-12)
    np.testing.assert_allclose(ref.response_scores(P, z), G @ z, atol=1e-10)  # s_i = g_i . z


def test_scores_are_the_gradient_in_the_responses_and_the_leave_one_out_residuals():
    X, z, theta = make_data()
    s = ref.response_scores(ref.precision(X, theta), z)

    def value(responses):
        return ref.log_marginal_likelihood(X, responses, theta)[0]

    step = 1e-5
    for i in range(len(z)):
        e = step * np.eye(len(z))[i]
        assert s[i] == pytest.approx((value(z + e) - value(z - e)) / (2 * step), rel=1e-5, abs=1e-6)
        rest = np.delete(np.arange(len(z)), i)
        mean, std = ref.posterior(X[rest], z[rest], X[[i]], theta)
        assert s[i] == pytest.approx(-(z[i] - mean[0]) / (std[0] ** 2 + ref.unpack(theta)[2]), rel=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_rank_one_formulas_are_the_dense_inverse(kernel):
    X, _, theta = make_data(12, seed=4)
    K_y = ref.noisy_covariance(X, theta, kernel)

    def dense(index):
        P = np.linalg.inv(K_y[np.ix_(index, index)])
        return P, P @ P

    def close(got, expected):
        for one, other in zip(got, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-8, atol=1e-8 * np.abs(other).max())

    nine = np.arange(9)
    close(ref.append_point(*dense(nine), K_y[nine, 9], K_y[9, 9]), dense(np.arange(10)))
    for i in (0, 4, 8):
        rest = np.delete(nine, i)
        close(ref.remove_point(*dense(nine), i), dense(rest))
        swapped = nine.copy()
        swapped[i] = 11
        close(ref.swap_point(*dense(nine), i, K_y[rest, 11], K_y[11, 11]), dense(swapped))


# ---- posterior gap


@pytest.mark.parametrize("kernel", KERNELS)
def test_posterior_gap_identities(kernel):
    X, z, theta = make_data(24, 2, seed=6)
    Q = np.random.default_rng(7).random((30, 2))
    noise = ref.unpack(theta)[2]
    U = np.array([0, 3, 4, 9, 11, 17, 20, 23])
    K, k = ref.kernel_matrix(X, X, theta, kernel), ref.kernel_matrix(X, Q, theta, kernel)
    gap = ref.posterior_gap(K, k, z, noise, U)
    full, part = ref.posterior(X, z, Q, theta, kernel), ref.posterior(X[U], z[U], Q, theta, kernel)
    np.testing.assert_allclose(ref.mean_gap(gap), full[0] - part[0], atol=1e-8)
    np.testing.assert_allclose(ref.variance_gap(gap), part[1] ** 2 - full[1] ** 2, atol=1e-8)
    assert np.max(np.abs(full[0] - part[0])) > 1e-3 and np.min(ref.variance_gap(gap)) >= 0
    np.testing.assert_allclose(gap["r_U"], -gap["S"] @ gap["s_R"], atol=1e-8)  # Proposition 5.3
    np.testing.assert_allclose(ref.mean_gap(gap), -gap["c_U"].T @ gap["s_R"], atol=1e-8)
    size, widest = np.linalg.norm(gap["c_U"], axis=0), np.linalg.norm(np.linalg.inv(gap["S"]), 2)
    assert widest <= 1 / noise * (1 + 1e-12)
    change = np.abs(ref.ucb(*full) - ref.ucb(*part))  # Corollary 5.4
    assert np.all(change <= size * np.linalg.norm(gap["s_R"]) + np.sqrt(2 * widest) * size + 1e-12)
    assert {key: value.shape for key, value in gap.items()} == {
        "A": (8, 8), "B": (8, 16), "C": (16, 16), "S": (16, 16), "r_U": (16,), "c_U": (16, 30), "s_R": (16,),
    }  # fmt: skip

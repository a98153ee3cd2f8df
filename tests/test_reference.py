"""The oracle itself is right: every part of `gssbo.reference` against independent numbers."""

import ast
import inspect

import numpy as np
import pytest
from scipy.optimize import check_grad
from scipy.stats import multivariate_normal, norm, qmc
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

from gssbo import reference as ref

SKLEARN = {
    "matern52": lambda scales: Matern(scales, nu=2.5),
    "matern32": lambda scales: Matern(scales, nu=1.5),
    "rbf": lambda scales: RBF(scales),
}
KERNELS = sorted(SKLEARN)
RULES = ["vector", "scalar", "random", "kmeans++", "maxmin", "residual", "variance", "residual-ratio", "topk-random"]


def make_data(n=15, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    z = ref.standardise(np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(n))[0]
    theta = np.log([*rng.uniform(0.2, 1.5, d), 1.7, 0.03])
    return X, z, theta


def sklearn_model(X, z, theta, kernel):
    """The same model at the same hyperparameters, with no jitter of scikit-learn's own."""
    scales, variance, noise = ref.unpack(theta)
    covariance = ConstantKernel(variance) * SKLEARN[kernel](scales) + WhiteKernel(noise)
    return GaussianProcessRegressor(covariance, alpha=0.0, optimizer=None).fit(X, z)


def normal_h(t):
    return norm.pdf(t) + t * norm.cdf(t)


def test_imports_nothing_of_the_package():
    modules = set()
    for node in ast.walk(ast.parse(inspect.getsource(ref))):
        if isinstance(node, ast.Import):
            modules |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            modules.add("." if node.level else node.module.split(".")[0])
    assert modules <= {"collections", "time", "typing", "numpy", "scipy"}


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


# ---- selection rules

# Four points worked by hand. P is diagonal plus one pair: columns (1,0,0,0), (0,2,0,0), (0,0,1,1), (0,0,1,2).
# Norms 1, 2, sqrt(2), sqrt(5); only points 2 and 3 are not orthogonal: C_23 = (1 + 2) / sqrt(10) = 0.948683.
HAND_P = np.array([[1.0, 0, 0, 0], [0, 2, 0, 0], [0, 0, 1, 1], [0, 0, 1, 2]])


def test_hand_cosines():
    expected = np.eye(4)
    expected[2, 3] = expected[3, 2] = 3 / np.sqrt(10)
    np.testing.assert_allclose(ref.cosines(HAND_P), expected, atol=1e-15)


@pytest.mark.parametrize(
    ("size", "forced", "expected"),
    [
        (3, (), [0, 1, 2]),  # h = 0 throughout: 0; then 1, 2, 3 tie at 0
        (2, (3,), [3, 0]),  # h = (0, 0, 0.95): 0 and 1 tie
        (3, (3, 1), [3, 1, 0]),  # h_0 = 0 against h_2 = 0.95
        (4, (2, 0), [2, 0, 1, 3]),  # everything: forced, the rest ascending
        (6, (3,), [3, 0, 1, 2]),  # more than there are
    ],
)
def test_hand_vector(size, forced, expected):
    assert ref.select_vector(HAND_P, size, forced).tolist() == expected


def test_hand_vector_takes_opposite_directions_first():
    # Columns at 0, 60 and 120 degrees of one plane, and one apart: C_02 = -1/2 beats the orthogonal point 3.
    angle = np.pi / 3
    V = np.array([[1, 0, 0], [np.cos(angle), np.sin(angle), 0], [np.cos(2 * angle), np.sin(2 * angle), 0], [0, 0, 1]])
    C = V @ V.T
    assert ref.greedy_cosine(C, 2, (0,)).tolist() == [0, 2]
    assert ref.greedy_cosine(C, 3, (0,)).tolist() == [0, 2, 3]  # h_1 = 1/2 + 1/2, h_3 = 0


def test_hand_scalar():
    # Signs + + - +: after 0 the first negative one (h = -1), then h = (., 0, ., 0): 1 before 3.
    assert ref.select_scalar(np.array([2.0, 0.1, -3.0, 1.0]), 3).tolist() == [0, 2, 1]
    # |s| < 1e-12 counts by its size over the floor: v = (1, -1e-4, -0.5, -1), so 3 is the most negative.
    assert ref.select_scalar(np.array([5.0, -1e-16, -5e-13, -1e-3]), 3, (0,)).tolist() == [0, 3, 1]


def test_hand_random():
    rng = np.random.default_rng(3)
    drawn = np.random.default_rng(3).permutation(3)  # of the unforced 0, 1, 3
    assert ref.select_random(4, 3, (2,), rng).tolist() == [2, *np.array([0, 1, 3])[drawn[:2]]]
    before = rng.bit_generator.state
    assert ref.select_random(4, 4, (2,), rng).tolist() == [2, 0, 1, 3]
    assert rng.bit_generator.state == before


@pytest.mark.parametrize(
    ("forced", "uniforms", "expected"),
    [
        # From 3: D = (2, 2, 2 - 6 / sqrt(10)) = (2, 2, 0.1026), cumulative 2, 4, 4.1026.
        ((3,), [0.0], [3, 0]),
        ((3,), [0.48], [3, 0]),  # 0.48 * 4.1026 = 1.969 < 2
        ((3,), [0.49], [3, 1]),  # 2.010 > 2
        ((3,), [0.97], [3, 1]),  # 3.980 < 4
        ((3,), [0.98], [3, 2]),  # 4.021 > 4
        ((3,), [0.49, 0.99], [3, 1, 2]),  # then D = (2, 0.1026) over 0 and 2: 2.0816 > 2
        ((), [0.74, 0.0], [2, 0]),  # floor(0.74 * 4)
        ((), [0.99, 0.97], [3, 1]),
    ],
)
def test_hand_kmeans(forced, uniforms, expected):
    size = len(expected)
    assert ref.select_kmeans(HAND_P, size, forced, np.array(uniforms)).tolist() == expected


def test_hand_topk_random():
    """Of five in nine the best quarter is one; the forced are taken already, whatever their responses."""
    y = np.array([5.0, 1.0, 9.0, 3.0, 8.0, 2.0, 7.0, 8.0, 0.0])
    drawn = np.random.default_rng(4).permutation([0, 1, 3, 5, 6, 7, 8])[:3]
    assert ref.select_topk_random(y, 5, [2], np.random.default_rng(4)).tolist() == [2, 4, *drawn]
    assert ref.select_topk_random(y, 9, [2], np.random.default_rng(4)).tolist() == [2, 0, 1, 3, 4, 5, 6, 7, 8]


def test_kmeans_of_nothing_left_is_the_lowest():
    C = np.ones((4, 4))  # all columns parallel
    assert ref.select_kmeans(C, 3, (2,), np.array([0.99, 0.99])).tolist() == [2, 0, 1]


def test_kmeans_never_draws_what_has_no_weight():
    P = np.eye(5)
    P[:4, :4] = 1  # four parallel columns of norm 2, so D = (0, 0, 0, 2) from 0
    assert ref.select_kmeans(P, 2, (0,), np.array([0.0])).tolist() == [0, 4]


def test_hand_maxmin():
    # On a line at 0, 1, 2.5 and 3: after 0 comes 3, then min(1, 2) at 1 against min(2.5, 0.5) at 2.5.
    K = ref.kernel_matrix(*[np.array([[0.0], [1.0], [2.5], [3.0]])] * 2, np.log([1.0, 2.0, 0.1]))
    assert ref.select_maxmin(K, 2.0, 3).tolist() == [0, 3, 1]
    assert ref.select_maxmin(K, 2.0, 3, (3,)).tolist() == [3, 0, 1]
    assert ref.select_maxmin(K, 2.0, 2, (1,)).tolist() == [1, 3]


def test_rounding_does_not_decide_ties():
    C = np.eye(4)
    C[0, 1:] = [3e-10, 2e-10, 1e-10]  # h after 0, read down column 0
    C[1:, 0] = C[0, 1:]
    assert ref.greedy_cosine(C, 2).tolist() == [0, 1]
    C[3, 0] = -2e-9
    assert ref.greedy_cosine(C, 2).tolist() == [0, 3]
    K = 5e3 - np.array([[0, 4e3, 4e3 + 3e-6], [4e3, 0, 1], [4e3 + 3e-6, 1, 0]]) / 2  # tolerance 1e-9 * 4e3
    assert ref.select_maxmin(K, 5e3, 2).tolist() == [0, 1]
    K[2, 0] -= 1e-5
    assert ref.select_maxmin(K, 5e3, 2).tolist() == [0, 2]


def test_h_update_is_the_brute_force_sum():
    X, _, theta = make_data(18, 2)
    C = ref.cosines(ref.precision(X, theta))
    forced = [4, 17]
    picked = ref.select_vector(ref.precision(X, theta), 12, forced).tolist()
    retained = list(forced)
    while len(retained) < 12:
        sums = {i: sum(C[i, j] for j in retained) for i in range(18) if i not in retained}
        retained.append(min(i for i in sums if sums[i] <= min(sums.values()) + 1e-9))
    assert picked == retained


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_through_the_dispatcher(rule):
    X, z, theta = make_data(16, 2)
    y = 500 + 3 * z  # far from standardised
    picks = ref.select(rule, X, y, theta, 9, [2, 15], np.random.default_rng(5), "matern52")
    assert picks[:2].tolist() == [2, 15]
    assert len(set(picks.tolist())) == 9
    P, draw = ref.precision(X, theta), np.random.default_rng(5)
    direct = {
        "vector": lambda: ref.select_vector(P, 9, [2, 15]),
        "scalar": lambda: ref.select_scalar(-P @ (y - y.mean()) / y.std(), 9, [2, 15]),
        "random": lambda: ref.select_random(16, 9, [2, 15], draw),
        "topk-random": lambda: ref.select_topk_random(y, 9, [2, 15], draw),
        "kmeans++": lambda: ref.select_kmeans(P, 9, [2, 15], draw.random(7)),
        "maxmin": lambda: ref.select_maxmin(ref.kernel_matrix(X, X, theta), np.exp(theta[-2]), 9, [2, 15]),
        **{
            name: lambda name=name: ref.select_pivots(name, ref.noisy_covariance(X, theta), z, 9, [2, 15])
            for name in ("residual", "variance", "residual-ratio")
        },
    }
    np.testing.assert_array_equal(picks, direct[rule]())
    whole = ref.select(rule, X, y, theta, 16, [2, 15], np.random.default_rng(5), "matern52")
    assert whole.tolist() == [2, 15, *(i for i in range(16) if i not in (2, 15))]


def test_unknown_rule():
    X, y, theta = make_data(5, 2)
    with pytest.raises(ValueError, match=r"vector.*'nearest'"):
        ref.select("nearest", X, y, theta, 3, (), np.random.default_rng(0), "matern52")


# ---- acquisitions

# Case B22: log h(t) to high precision.
LOG_H = {
    3: 1.0987396653277,
    0: -0.9189385332047,
    -1: -2.4851210257126,
    -5: -16.744301162661,
    -10: -55.553122036122,
    -20: -206.91783850943,
    -37: -692.64296016327,
    -40: -808.29856835662,
    -100: -5010.1295788002,
}


@pytest.mark.parametrize(("t", "expected"), LOG_H.items())
def test_log_h(t, expected):
    assert float(ref.log_h(np.array(t, dtype=float))) == pytest.approx(expected, rel=1e-12)
    std = np.array([0.25])
    assert ref.log_ei(t * std + 3, std, 3.0)[0] == pytest.approx(expected + np.log(0.25), rel=1e-9)


@pytest.mark.parametrize(("t", "expected"), [(-10, 10.194383033413), (-40, 40.049906657649)])
def test_log_h_slope(t, expected):
    slope = np.diff(ref.log_h(np.array([t - 1e-4, t + 1e-4])))[0] / 2e-4
    assert slope == pytest.approx(expected, rel=1e-7)


def test_log_h_is_smooth_where_its_formulas_meet_and_finite_far_out():
    for t in (-1.0, -1000.0):
        gap = 1e-9
        jump = np.diff(ref.log_h(np.array([t - gap, t + gap])))[0]
        slope = np.diff(ref.log_h(np.array([t + gap, t + 1e-3])))[0] / (1e-3 - gap)
        assert jump == pytest.approx(2 * gap * slope, rel=1e-2, abs=1e-9 * abs(float(ref.log_h(np.array(t)))) * 1e-3)
    far = ref.log_h(np.array([-1e9, -1e6, -1e4, 0, 1e4]))
    assert np.all(np.isfinite(far)) and np.all(np.diff(far) > 0)


def test_log_ei_ranks_where_ei_is_zero():
    mean, std = np.array([-40.0, -41.0]), np.ones(2)
    assert np.all(ref.ei(mean, std, 0.0) == 0)
    assert np.diff(ref.log_ei(mean, std, 0.0))[0] < 0


def test_plain_acquisitions():
    mean, std, best = np.array([0.3, -0.2, 1.5]), np.array([0.5, 1.0, 0.1]), 0.4
    t = (mean - best) / std
    np.testing.assert_allclose(ref.ei(mean, std, best), std * normal_h(t), rtol=1e-12)
    np.testing.assert_allclose(ref.log_ei(mean, std, best), np.log(std * normal_h(t)), rtol=1e-12)
    np.testing.assert_allclose(ref.pi(mean, std, best), norm.cdf(t), rtol=1e-12)
    np.testing.assert_allclose(ref.ucb(mean, std), mean + 1.4142135623730951 * std, rtol=1e-15)
    draws = mean + std * np.random.default_rng(0).standard_normal((200_000, 3))
    np.testing.assert_allclose(ref.ei(mean, std, best), np.maximum(draws - best, 0).mean(axis=0), atol=5e-3)


def test_acquisitions_without_spread():
    # Case B21, for the negative of a function to be minimised with best value 1.
    mean, std = -np.array([0.7, 1.2, 1.0, 0.7, 1.2]), np.array([0, 0, 1e-12, 1e-12, 1e-12])
    expected = [0.3, 0, 3.9894228040143e-13, 0.3, 0]
    np.testing.assert_allclose(ref.ei(mean, std, -1.0), expected, rtol=1e-12)
    logs = ref.log_ei(mean, std, -1.0)
    np.testing.assert_allclose(logs[[0, 2, 3]], np.log(np.array(expected)[[0, 2, 3]]), rtol=1e-12)
    assert logs[4] == pytest.approx(-2.0e22, rel=1e-6) and logs[1] < -1e100
    assert ref.pi(mean, std, -1.0).tolist() == [1, 0, 0.5, 1, 0]


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


# ---- Algorithm 1

BOX = np.array([(-2.0, 3.0), (10.0, 14.0)])
THETA = np.log([0.4, 0.6, 1.0, 1e-3])


def bowl(x):
    return float((x[0] - 0.5) ** 2 + np.cos(x[1]))


def run(**options):
    settings = {"n_init": 5, "subset_size": 9, "theta": THETA, "n_candidates": 60, "rng": 0} | options
    return ref.reference_loop(bowl, BOX, settings.pop("n_evals", 16), **settings)


class Clock:
    """Every iteration takes the next of the given seconds."""

    def __init__(self, seconds):
        self.seconds, self.now, self.calls = seconds, 0.0, 0

    def __call__(self):
        self.calls += 1
        if self.calls % 2 == 0:
            self.now += self.seconds[self.calls // 2 - 1]
        return self.now


@pytest.mark.parametrize("rule", RULES)
def test_loop_repeats_itself(rule):
    one, two, other = run(rule=rule), run(rule=rule), run(rule=rule, rng=1)
    np.testing.assert_array_equal(one.X, two.X)
    np.testing.assert_array_equal(one.y, two.y)
    assert [kept.tolist() for kept in one.retained] == [kept.tolist() for kept in two.retained]
    assert not np.array_equal(one.X, other.X)


def test_loop_first_steps_by_hand():
    got = run(n_evals=7)
    design_rng, _, _, candidate_rng = np.random.default_rng(0).spawn(4)

    U = qmc.LatinHypercube(2, rng=design_rng).random(5)
    np.testing.assert_allclose(got.X[:5], BOX[:, 0] + U * (BOX[:, 1] - BOX[:, 0]))
    for n in (5, 6):
        y = -np.array([bowl(x) for x in got.X[:n]])
        candidates = candidate_rng.random((60, 2))
        X = (got.X[:n] - BOX[:, 0]) / (BOX[:, 1] - BOX[:, 0])
        mean, std = sklearn_model(X, (y - y.mean()) / y.std(), THETA, "matern52").predict(candidates, return_std=True)
        best = candidates[np.argmax(mean + np.sqrt(2) * np.sqrt(std**2 - 1e-3))]
        np.testing.assert_allclose(got.X[n], BOX[:, 0] + best * (BOX[:, 1] - BOX[:, 0]))


def test_loop_retains_what_algorithm_1_says():
    got = run()
    assert [len(kept) for kept in got.retained] == [5, 6, 7, 8, 9, 9, 9, 9, 9, 9, 9]
    assert (got.M, got.switched_at) == (9, 10)
    for n, kept in enumerate(got.retained, start=5):
        assert {0, 1, 2, 3, 4, n - 1} <= set(kept.tolist())
        assert np.all(np.diff(kept) > 0)
    X, y = ref.to_unit(got.X, BOX), -got.y
    for n in (10, 13, 15):
        P = np.linalg.inv(ref.noisy_covariance(X[:n], THETA))
        assert sorted(ref.select_vector(P, 9, [0, 1, 2, 3, 4, n - 1])) == got.retained[n - 5].tolist()
    assert np.ptp(y) > 0


def test_loop_draws_its_selections_from_the_second_stream():
    got, stream = run(rule="random"), np.random.default_rng(0).spawn(4)[1]
    for n in range(10, 16):
        free = np.arange(5, n - 1)
        expected = [0, 1, 2, 3, 4, n - 1, *free[stream.permutation(len(free))[:3]]]
        assert got.retained[n - 5].tolist() == sorted(expected)


@pytest.mark.parametrize(("d", "count"), [(10, 10_000), (11, 5_000), (50, 5_000), (51, 2_000)])
def test_candidates_by_dimension(monkeypatch, d, count):
    seen = []

    def posterior(X, z, Q, theta, kernel):
        seen.append(Q.shape)
        return np.zeros(len(Q)), np.ones(len(Q))

    monkeypatch.setattr(ref, "posterior", posterior)
    ref.reference_loop(np.sum, [(0, 1)] * d, 4, n_init=3, theta=np.zeros(d + 2), rng=0)
    assert seen == [(count, d)]


def test_loop_options_change_what_is_retained():
    window = run(pool=3, n_evals=20)
    assert window.retained[-1].tolist() == [0, 1, 2, 3, 4, 16, 17, 18]  # 8 of M = 9: the pool is smaller
    free = run(rule="random", retain_initial=False, n_evals=24)
    assert any(0 not in kept for kept in free.retained)
    assert all(n - 1 in kept for n, kept in enumerate(free.retained, start=5))
    assert any(n - 1 not in kept for n, kept in enumerate(run(retain_newest=False).retained, start=5))


def test_maximize_mirrors_the_sign():
    up = ref.reference_loop(
        lambda x: -bowl(x),
        BOX,
        16,
        n_init=5,
        subset_size=9,
        theta=THETA,
        n_candidates=60,
        rng=0,
        maximize=True,
    )
    np.testing.assert_array_equal(up.X, run().X)


def test_dynamic_rule_switches_once():
    slow = Clock([1, 1, 1, 1, 1, 3, 9, 9, 9, 9, 9])  # medians of three: 1, 3, then 9 > 4 after the eighth
    got = run(dynamic_factor=4.0, clock=slow)
    assert (got.M, got.switched_at) == (13, 14)  # 5 initial and 8 suggestions, then one more
    assert [len(kept) for kept in got.retained] == [5, 6, 7, 8, 9, 10, 11, 12, 13, 13, 13]
    assert run(dynamic_factor=4.0, clock=Clock([1] * 5 + [3.9] * 6)).M is None
    one_spike = run(dynamic_factor=4.0, clock=Clock([1] * 6 + [50] + [1] * 4))
    assert (one_spike.M, one_spike.switched_at) == (None, None)


def test_fitted_loop_refits_as_asked():
    every = run(theta=None, n_evals=13, n_restarts=0)
    assert all(not np.array_equal(a, b) for a, b in zip(every.theta[:-1], every.theta[1:], strict=True))
    third = run(theta=None, n_evals=13, n_restarts=0, refit=3)
    changed = [not np.array_equal(a, b) for a, b in zip(third.theta[:-1], third.theta[1:], strict=True)]
    assert changed == [False, False, True, False, False, True, False]
    frozen = run(theta=None, n_evals=14, n_restarts=0, refit="frozen")
    assert all(np.array_equal(theta, frozen.theta[4]) for theta in frozen.theta[4:])  # switched at n = 10
    assert not np.array_equal(frozen.theta[3], frozen.theta[4])


def test_a_long_history_before_any_fit_starts_from_an_even_subset():
    got = run(theta=None, n_init=12, subset_size=6, retain_initial=False, n_evals=14, n_restarts=0)
    assert [len(kept) for kept in got.retained] == [6, 6]
    assert ref.bulk_indices(12, 6, np.array([11])).tolist() == [0, 2, 5, 8, 10, 11]


@pytest.mark.parametrize("acquisition", ["ei", "log_ei", "pi"])
def test_other_acquisitions_pick_from_the_same_candidates(acquisition):
    got = run(acquisition=acquisition, n_evals=6)
    candidates = np.random.default_rng(0).spawn(4)[3].random((60, 2))
    y = -got.y[:5]
    z = ref.standardise(y)[0]
    moments = ref.posterior(ref.to_unit(got.X[:5], BOX), z, candidates, THETA)
    best = np.max(z)
    t = (moments[0] - best) / moments[1]
    scores = norm.cdf(t) if acquisition == "pi" else moments[1] * normal_h(t)
    np.testing.assert_array_equal(got.X[5], ref.to_user(candidates[np.argmax(scores)], BOX))


def test_units_round_trip_and_clip():
    x = np.array([[-2.0, 14.0], [0.3, 11.0]])
    np.testing.assert_allclose(ref.to_user(ref.to_unit(x, BOX), BOX), x, rtol=1e-15)
    np.testing.assert_array_equal(ref.to_unit(np.array([-3.0, 20.0]), BOX), [0, 1])
    np.testing.assert_array_equal(ref.to_user(np.array([-0.1, 1.1]), BOX), [-2, 14])

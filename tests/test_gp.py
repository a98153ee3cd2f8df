"""Gaussian-process regression: scikit-learn's numbers, gradients, states and shapes."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel
from threadpoolctl import threadpool_limits

import gssbo._mle
from gssbo import GaussianProcess
from gssbo import reference as ref
from gssbo.exceptions import NotFittedError
from gssbo.kernels import KERNELS
from gssbo.responses import standardize

NAMES = sorted(KERNELS)
SKLEARN = {
    "matern52": lambda scales: Matern(scales, nu=2.5),
    "matern32": lambda scales: Matern(scales, nu=1.5),
    "rbf": lambda scales: RBF(scales),
}


def fixed(kernel, theta, **options):
    """A GaussianProcess whose hyperparameters are exp(theta), on responses as they are."""
    *lengthscale, variance, noise = np.exp(theta)
    options = {"fit_hyperparameters": False, "normalize_y": False, **options}
    return GaussianProcess(kernel, lengthscale=lengthscale, variance=variance, noise=noise, **options)


def setting(n, d, seed=0):
    rng = np.random.default_rng([n, d, seed])
    theta = np.log([*rng.uniform(0.2, 1.0, d) * np.sqrt(d), rng.uniform(0.5, 2.0), 10 ** rng.uniform(-3, -1)])
    X = rng.random((n, d))
    y = np.sin(4 * X).sum(axis=1) + 0.3 * rng.standard_normal(n)
    return X, y, theta, rng


def data(n=25, d=2, seed=0):
    X, y, _, _ = setting(n, d, seed)
    return X, y


def state(gp):
    """Everything a fit leaves behind, copied."""
    kept = {k: v for k, v in vars(gp).items() if k.endswith("_") and k != "kernel_"}
    return copy.deepcopy(kept)


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)


# ---- against scikit-learn


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("d", [1, 2, 6, 20, 50])
@pytest.mark.parametrize("n", [1, 2, 20, 100, 400])
def test_agrees_with_scikit_learn(kernel, d, n):
    """75 settings: likelihood and std relative to themselves, gradient and mean to the largest entry.

    scikit-learn's own jitter is off (`alpha=0`), its theta is (variance, lengthscales, noise); the posterior is
    compared with the noise in `alpha`, since a WhiteKernel would be added to its predicted variances.
    """
    X, y, theta, rng = setting(n, d)
    gp = fixed(kernel, theta).fit(X, y)
    *scales, variance, noise = np.exp(theta)
    signal = ConstantKernel(variance) * SKLEARN[kernel](scales)
    model = GaussianProcessRegressor(signal + WhiteKernel(noise), alpha=0.0, optimizer=None).fit(X, y)
    order = [d, *range(d), d + 1]
    value, gradient = gp.log_marginal_likelihood(eval_gradient=True)
    expected, slope = model.log_marginal_likelihood(theta[order], eval_gradient=True)
    assert value == pytest.approx(expected, rel=1e-9)
    assert gp.log_marginal_likelihood_value_ == value
    np.testing.assert_allclose(gradient[order], slope, rtol=0, atol=1e-9 * np.abs(slope).max())

    model = GaussianProcessRegressor(signal, alpha=noise, optimizer=None).fit(X, y)
    Q = np.vstack([rng.random((40, d)), X[:5]])
    mean, std = gp.predict(Q, return_std=True)
    expected, spread = model.predict(Q, return_std=True)
    np.testing.assert_allclose(mean, expected, rtol=0, atol=1e-8 * np.abs(expected).max())
    np.testing.assert_allclose(std, spread, rtol=1e-8, atol=0)


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 33, 64, 65, 129, 255, 256, 257, 300])
def test_agrees_with_the_reference_at_block_edges(n):
    X, y, theta, rng = setting(n, 3)
    gp = fixed("matern52", theta).fit(X, y)
    for m in (1, 16, 17, 127, 128, 129):
        Q = rng.random((m, 3))
        mean, std = gp.predict(Q, return_std=True)
        expected, spread = ref.posterior(X, y, Q, theta)
        np.testing.assert_allclose(mean, expected, rtol=0, atol=1e-10 * np.abs(y).max())
        np.testing.assert_allclose(std, spread, rtol=1e-8)
    covariance = gp.predict(Q, return_cov=True)[1]
    np.testing.assert_allclose(covariance, ref.posterior_covariance(X, Q, theta), rtol=0, atol=1e-10)
    assert np.array_equal(covariance, covariance.T)
    np.testing.assert_allclose(np.diag(covariance), std**2, rtol=1e-6)


def test_the_search_does_not_lose_to_scikit_learns():
    X, y = data(40, 3, 1)
    z = ref.standardise(y)[0]
    kernel = ConstantKernel(1.0, (1e-4, 1e4)) * Matern(np.full(3, 0.8), (1e-3, 1e3), nu=2.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of parameters that end at a bound
        model = GaussianProcessRegressor(
            kernel + WhiteKernel(1e-2, (1e-6, 1e1)), alpha=0.0, n_restarts_optimizer=2, random_state=0
        ).fit(X, z)
    gp = GaussianProcess(lengthscale_bounds=(1e-3, 1e3), rng=0).fit(X, y)
    assert gp.fit_info_["status"] == "converged" and gp.fit_info_["n_starts"] == 3
    assert gp.log_marginal_likelihood_value_ >= model.log_marginal_likelihood_value_ - 1e-4


def test_fit_climbs_from_every_start_to_the_end():
    """In a loop a restart leads after four evaluations, and the first start, which would end higher, is dropped."""
    rng = np.random.RandomState(8)
    X = rng.randn(12, 1) * 2.0 - 1.0
    y = np.sin(X[:, 0]) + np.sin(3.0 * X[:, 0]) + 0.1 * np.random.RandomState(2).randn(12)
    alone = GaussianProcess("rbf", n_restarts=0, rng=0).fit(X, y).log_marginal_likelihood_value_
    thorough, hasty = (GaussianProcess("rbf", n_restarts=2, rng=0) for _ in range(2))
    assert thorough.fit(X, y).log_marginal_likelihood_value_ >= alone - 1e-9
    hasty.condition(X, y, optimize=True)
    assert hasty.log_marginal_likelihood_value_ < alone - 1.0


# ---- gradients


@pytest.mark.parametrize("kernel", NAMES)
@pytest.mark.parametrize("d", [1, 2, 6])
def test_posterior_gradients_by_finite_differences(kernel, d):
    X, y, theta, rng = setting(20, d, 2)
    gp = fixed(kernel, theta, normalize_y=True).fit(X, 1e3 * y + 50.0)
    Q = rng.random((7, d))
    Q[:, 0] += 1.1  # beside the data: Matern 3/2 has a kink in its second derivative at each point of it
    dmean, dstd = gp.predict_gradient(Q)
    step = 1e-3
    for j in range(d):
        e = step * np.eye(d)[j]
        (m0, s0), (m1, s1), (m2, s2), (m3, s3) = (gp.predict(Q + c * e, return_std=True) for c in (-2, -1, 1, 2))
        mean_slope = (m0 - 8 * m1 + 8 * m2 - m3) / (12 * step)
        std_slope = (s0 - 8 * s1 + 8 * s2 - s3) / (12 * step)
        np.testing.assert_allclose(dmean[:, j], mean_slope, rtol=0, atol=1e-7 * np.abs(dmean).max())
        np.testing.assert_allclose(dstd[:, j], std_slope, rtol=0, atol=1e-7 * np.abs(dstd).max())


@pytest.mark.parametrize("kernel", NAMES)
def test_posterior_gradients_at_a_told_point_are_finite(kernel):
    X, y, theta, _ = setting(12, 2)
    for noise in (1e-2, 0.0):
        gp = fixed(kernel, theta)
        gp.noise = noise
        dmean, dstd = gp.fit(X, y).predict_gradient(X)
        assert np.isfinite(dmean).all() and np.isfinite(dstd).all()


# ---- the same bits


def test_a_prediction_does_not_depend_on_its_block():
    """Nor on how many others are asked for, at n on both sides of the packed routines."""
    for n in (30, 257):
        X, y, theta, rng = setting(n, 3)
        gp = fixed("matern52", theta).fit(X, y)
        Q = rng.random((300, 3))
        mean, std = gp.predict(Q, return_std=True)
        dmean, dstd = gp.predict_gradient(Q)
        order = rng.permutation(300)
        shuffled = gp.predict(Q[order], return_std=True)
        assert np.array_equal(shuffled[0], mean[order]) and np.array_equal(shuffled[1], std[order])
        for i in (0, 1, 7, 15, 16, 127, 128, 255, 299):
            alone = gp.predict(Q[i : i + 1], return_std=True)
            assert alone[0][0] == mean[i] and alone[1][0] == std[i]
            assert np.array_equal(gp.predict_gradient(Q[i : i + 1])[0][0], dmean[i])
            assert np.array_equal(gp.predict_gradient(Q[i : i + 1])[1][0], dstd[i])
        for m in (1, 5, 16, 129):
            assert np.array_equal(gp.predict(Q[:m]), mean[:m])


def test_nothing_depends_on_blas_threads():
    X, y, _, rng = setting(280, 3)
    Q = rng.random((50, 3))
    results = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            gp = GaussianProcess(n_restarts=0, rng=0).fit(X, y)
            mean, covariance = gp.predict(Q, return_cov=True)
            results.append([gp.theta_, gp.alpha_, mean, covariance, *gp.predict_gradient(Q), gp.sample_y(Q, 3, rng=1)])
    assert all(np.array_equal(a, b) for a, b in zip(*results, strict=True))


def everything(X, y, Q):
    gp = GaussianProcess(n_restarts=1, rng=0).fit(X, y)
    mean, std = gp.predict(Q, return_std=True)
    return [gp.theta_, gp.alpha_, mean, std, *gp.predict_gradient(Q), gp.sample_y(Q, 2, rng=0)]


def field(A):
    table = np.zeros(A.shape[0], dtype=[("a", "i4"), ("x", "f8", A.shape[1:])])
    table["x"] = A
    return table["x"]


def wider(A):
    out = np.full((A.shape[0], 2 * A.shape[-1] + 1), np.nan)
    out[:, 1::2] = A
    return out[:, 1::2]


LAYOUTS = {
    "fortran": np.asfortranarray,
    "transposed": lambda A: np.ascontiguousarray(A.T).T,
    "reversed": lambda A: A[::-1, ::-1].copy()[::-1, ::-1],
    "columns of a wider array": wider,
    "structured field": field,
    "big-endian": lambda A: A.astype(">f8"),
    "list": lambda A: A.tolist(),
    "frombuffer": lambda A: np.frombuffer(A.tobytes()).reshape(A.shape),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_memory_layout_changes_no_bit(layout):
    X, y, _, rng = setting(30, 4)
    Q = rng.random((9, 4))
    expected = everything(X, y, Q)
    strided = np.repeat(y, 2)[::2]
    for a, b in zip(everything(LAYOUTS[layout](X), strided, LAYOUTS[layout](Q)), expected, strict=True):
        assert np.array_equal(a, b)


def test_read_only_and_memory_mapped_inputs(tmp_path):
    X, y, _, rng = setting(30, 4)
    Q = rng.random((9, 4))
    expected = everything(X, y, Q)
    maps = []
    for name, array in (("X", X), ("y", y), ("Q", Q)):
        np.save(tmp_path / name, array)
        maps.append(np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    for array in (X, y, Q):
        array.setflags(write=False)
    for inputs in ((X, y, Q), maps):
        assert all(np.array_equal(a, b) for a, b in zip(everything(*inputs), expected, strict=True))


def test_a_transpose_is_read_as_its_rows():
    A = np.array([[1.0, 2.0], [3.0, 4.0]])
    gp = GaussianProcess(fit_hyperparameters=False).fit(A.T, [0.0, 1.0])
    assert np.array_equal(gp.X_train_, [[1.0, 3.0], [2.0, 4.0]])


def test_inputs_stay_and_outputs_are_ones_own():
    X, y, _, rng = setting(20, 2)
    Q = rng.random((6, 2))
    kept = [array.copy() for array in (X, y, Q)]
    gp = GaussianProcess(normalize_y=False, rng=0).fit(X, y)
    outputs = [
        *gp.predict(Q, return_std=True),
        *gp.predict(Q, return_cov=True),
        *gp.predict_gradient(Q),
        gp.sample_y(Q),
        gp.log_marginal_likelihood(eval_gradient=True)[1],
    ]
    mine = [v for v in vars(gp).values() if isinstance(v, np.ndarray)]
    for out in outputs:
        assert out.flags.writeable
        assert not any(np.shares_memory(out, other) for other in (X, y, Q, *mine))
    assert all(np.array_equal(a, b) for a, b in zip((X, y, Q), kept, strict=True))
    expected = gp.predict(Q)
    X[:], y[:] = 0.0, 0.0  # the model keeps its own copies
    assert np.array_equal(gp.predict(Q), expected)
    assert gp.X_train_.any() and gp.y_train_.any()


# ---- errors and states


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kernel": "cubic"}, ["kernel", "'matern52'", "'rbf'", "'cubic'"]),
        ({"lengthscale": -0.5}, ["lengthscale", "positive", "-0.5"]),
        ({"lengthscale": [0.5, np.nan]}, ["lengthscale", "finite", "nan"]),
        ({"lengthscale": "long"}, ["lengthscale", "real", "long"]),
        ({"variance": 0.0}, ["variance", "greater than 0", "0.0"]),
        ({"noise": -1e-3}, ["noise", "at least 0", "-0.001"]),
        ({"noise": np.inf}, ["noise", "finite", "inf"]),
        ({"noise": "x"}, ["noise", "real", "x"]),
        ({"fit_hyperparameters": 1}, ["fit_hyperparameters", "True or False", "1"]),
        ({"normalize_y": None}, ["normalize_y", "True or False", "None"]),
        ({"warm_start": "yes"}, ["warm_start", "True or False", "yes"]),
        ({"n_restarts": -1}, ["n_restarts", "at least 0", "-1"]),
        ({"n_restarts": 1.5}, ["n_restarts", "integer", "1.5"]),
        ({"n_restarts": True}, ["n_restarts", "integer", "True"]),
        ({"lengthscale_bounds": (0.0, 1.0)}, ["lengthscale_bounds", "low <= high", "0.0"]),
        ({"variance_bounds": (2.0, 1.0)}, ["variance_bounds", "low <= high", "2.0, 1.0"]),
        ({"noise_bounds": (0.0, 1.0)}, ["noise_bounds", "low <= high", "0.0"]),
        ({"noise_bounds": (1e-6,)}, ["noise_bounds", "2 entries", "1"]),
        ({"noise_bounds": (1e-6, np.inf)}, ["noise_bounds", "finite", "inf"]),
        ({"rng": -1}, ["rng", "seed", "-1"]),
    ],
)
def test_constructor_errors_name_argument_rule_and_value(options, words):
    with pytest.raises(ValueError) as caught:
        GaussianProcess(**options)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_options_are_keyword_only():
    with pytest.raises(TypeError):
        GaussianProcess("rbf", 0.5)


@pytest.mark.parametrize(
    "call",
    [
        lambda gp: gp.predict([[0.5]]),
        lambda gp: gp.predict_gradient([[0.5]]),
        lambda gp: gp.sample_y([[0.5]]),
        lambda gp: gp.log_marginal_likelihood(),
    ],
)
def test_before_fit(call):
    gp = GaussianProcess()
    with pytest.raises(NotFittedError, match="fit"):
        call(gp)
    assert not gp.fitted


BAD = [
    ([[0.1], [np.nan]], [1.0, 2.0], "X must be finite, got nan at index \\(1, 0\\)"),
    ([[0.1], [0.2]], [1.0, np.inf], "y must be finite, got inf at index \\(1,\\)"),
    ([[0.1], [0.2]], [1.0], "y must have 2 entries, got 1"),
    ([0.1, 0.2], [1.0, 2.0], "X must have shape \\(n, d\\)"),
    ([[0.1], [0.2]], [[1.0], [2.0]], "y must have shape \\(n,\\)"),
    (np.empty((0, 1)), [], "X must not be empty"),
    ([["a"], ["b"]], [1.0, 2.0], "X must be an array of real numbers"),
    ([[1j], [2.0]], [1.0, 2.0], "X must be an array of real numbers"),
]


@pytest.mark.parametrize(("X", "y", "message"), BAD)
def test_bad_data_leaves_the_previous_fit(X, y, message):
    A, b = data(10, 1)
    gp = GaussianProcess(rng=0).fit(A, b)
    before, prediction = state(gp), gp.predict([[0.3]])
    with pytest.raises(ValueError, match=message):
        gp.fit(X, y)
    assert same(state(gp), before)
    assert np.array_equal(gp.predict([[0.3]]), prediction)


def test_a_lengthscale_of_the_wrong_size_leaves_the_previous_fit():
    A, b = data(10, 2)
    gp = GaussianProcess(lengthscale=[0.5, 0.7], rng=0).fit(A, b)
    before = state(gp)
    with pytest.raises(ValueError, match="lengthscale must be one number or one a column of X \\(3\\), got 2"):
        gp.fit(np.ones((4, 3)), np.arange(4.0))
    assert same(state(gp), before)


def test_bad_queries():
    gp = GaussianProcess(rng=0).fit(*data(10, 2))
    with pytest.raises(ValueError, match="X must have 2 columns, got shape \\(1, 3\\)"):
        gp.predict([[0.1, 0.2, 0.3]])
    with pytest.raises(ValueError, match="X must be finite"):
        gp.predict_gradient([[0.1, np.nan]])
    with pytest.raises(ValueError, match="at most one of return_std and return_cov may be True, got True and True"):
        gp.predict([[0.1, 0.2]], return_std=True, return_cov=True)
    with pytest.raises(ValueError, match="n_samples must be at least 1, got 0"):
        gp.sample_y([[0.1, 0.2]], 0)
    with pytest.raises(ValueError, match="theta must have shape \\(4,\\)"):
        gp.log_marginal_likelihood([0.0])
    for theta in ("abc", ["0", "0", "0", "0"], [0.0, 1j, 0.0, 0.0], [[0.0], [0.0, 0.0]]):
        with pytest.raises(ValueError, match=r"^theta must be an array of real numbers, got "):
            gp.log_marginal_likelihood(theta)


@pytest.mark.parametrize("flag", ["no", 1, np.array([True, False])], ids=repr)
def test_what_is_asked_for_is_a_flag(flag):
    X, y = data(10, 2)
    gp = GaussianProcess(rng=0).fit(X, y)
    with pytest.raises(ValueError, match=r"^return_std must be True or False, got "):
        gp.predict(X, return_std=flag)
    with pytest.raises(ValueError, match=r"^return_cov must be True or False, got "):
        gp.predict(X, return_cov=flag)
    with pytest.raises(ValueError, match=r"^eval_gradient must be True or False, got "):
        gp.log_marginal_likelihood(eval_gradient=flag)


def test_columns_spread_over_what_bounds_of_lengthscales_can_be_multiples_of():
    y = [1.0, 3.0, 2.0]
    near = GaussianProcess(rng=0).fit([[0.0], [0.5], [1.0]], y).predict([[0.2]])
    assert GaussianProcess(rng=0).fit([[0.0], [5e299], [1e300]], y).predict([[2e299]]) == pytest.approx(near, rel=1e-6)
    with pytest.raises(
        ValueError, match=r"^X must spread over at most 1e\+300 in each column, got -1e.308 to 1e.308 in col"
    ):
        GaussianProcess(rng=0).fit([[0.0, -1e308], [0.0, 1e308], [1.0, 0.0]], y)


@pytest.mark.parametrize("warm_start", [False, True])
def test_a_failing_search_keeps_the_last_good_hyperparameters(monkeypatch, warm_start):
    X, y = data()
    gp = GaussianProcess(warm_start=warm_start, rng=0).fit(X, y)
    good = gp.theta_.copy()

    with monkeypatch.context() as patch:
        patch.setattr(gssbo._mle.Climb, "advance", lambda *_, **__: None)
        gp.fit(X[:-1], y[:-1] + 1.0)
    assert gp.fit_info_["status"] == "failed" and "finite" in gp.fit_info_["message"]
    assert np.array_equal(gp.theta_, good)
    assert len(gp.X_train_) == len(X) - 1
    assert np.isfinite(gp.predict(X)).all()
    gp.fit(X, y)  # and recovers
    assert gp.fit_info_["status"] == "converged"


def test_a_first_search_that_fails_keeps_the_start():
    """Three copies of a point with next to no noise: no theta within the bounds gives a likelihood."""
    gp = GaussianProcess(
        "rbf", lengthscale=0.4, variance=2.0, lengthscale_bounds=(0.4, 0.4), variance_bounds=(2.0, 2.0),
        noise_bounds=(1e-30, 1e-30), rng=0,
    )  # fmt: skip
    gp.fit([[0.5]] * 3, [1.0, 2.0, 3.0])
    assert gp.fit_info_["status"] == "failed"
    assert gp.lengthscale_[0] == pytest.approx(0.4) and gp.variance_ == pytest.approx(2.0)
    assert gp.fit_info_["jitter"] > 0.0
    mean, std = gp.predict([[0.5]], return_std=True)
    assert mean[0] == pytest.approx(2.0, abs=1e-4) and np.isfinite(std[0])


def test_constant_responses():
    X, _ = data(8, 2)
    gp = GaussianProcess(rng=0).fit(X, np.full(8, 3.7))
    assert gp.fit_info_["status"] == "constant" and gp.y_std_ == 1.0
    mean, std = gp.predict(np.random.default_rng(0).random((20, 2)), return_std=True)
    assert (mean == 3.7).all() and np.isfinite(std).all() and (std >= 0).all()


def test_constant_responses_leave_hyperparameters_within_bounds():
    gp = GaussianProcess(noise=1e-12, variance=1e9, noise_bounds=(1e-4, 1e-1), rng=0).fit([[0.1], [0.9]], [2.0, 2.0])
    assert gp.noise_ == pytest.approx(1e-4, rel=1e-12)
    assert gp.variance_ == pytest.approx(1e4, rel=1e-12)


@pytest.mark.parametrize("normalize_y", [True, False])
def test_a_single_observation(normalize_y):
    gp = GaussianProcess(normalize_y=normalize_y, rng=0).fit([[0.3, 0.4]], [5.0])
    mean, std = gp.predict([[0.3, 0.4], [0.9, 0.1]], return_std=True)
    assert np.isfinite(mean).all() and (std > 0).all() and std[1] > std[0]
    assert mean[0] == pytest.approx(5.0, abs=0.6)


def test_duplicates_average():
    X, y = [[0.3], [0.3], [0.3], [0.9]], [1.0, 2.0, 3.0, 2.0]
    gp = GaussianProcess(lengthscale=0.2, noise=1e-3, fit_hyperparameters=False).fit(X, y)
    assert gp.predict([[0.3]])[0] == pytest.approx(2.0, abs=1e-3)
    assert gp.fit_info_["jitter"] == 0.0
    gp = GaussianProcess(rng=0).fit(X, y)
    assert np.isfinite(gp.theta_).all() and np.isfinite(gp.predict(X, return_std=True)).all()


def test_an_average_with_its_noise_factor_stands_for_its_measurements():
    """The posterior of c equal inputs is that of their average at noise / c."""
    X, _, theta, rng = setting(6, 2)
    counts = np.array([1, 4, 2, 1, 7, 3])
    y = rng.standard_normal(counts.sum())
    means = np.array([each.mean() for each in np.split(y, np.cumsum(counts)[:-1])])
    every = fixed("matern52", theta).fit(np.repeat(X, counts, axis=0), y)
    averaged = fixed("matern52", theta).fit(X, means, noise_factors=1.0 / counts)
    points = rng.random((50, 2))
    for a, b in zip(averaged.predict(points, return_std=True), every.predict(points, return_std=True), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10)
    expected = ref.kernel_matrix(X, X, theta) + np.exp(theta[-1]) * np.diag(1.0 / counts)
    np.testing.assert_allclose(averaged.solve(means), np.linalg.solve(expected, means), rtol=1e-9)
    noisy = fixed("matern52", theta).fit(X, means, noise_std=np.linspace(0.0, 2.0, 6))
    assert (noisy.posterior_bound(X)[1] >= noisy.posterior(X)[1]).all()
    bound = averaged.posterior_bound(points)
    assert (bound[0] >= averaged.posterior(points)[0]).all()
    assert (bound[1] >= averaged.posterior(points)[1]).all()
    again = averaged.log_marginal_likelihood(averaged.theta_)
    assert again == pytest.approx(averaged.log_marginal_likelihood_value_, rel=1e-12)


@pytest.mark.parametrize(
    ("factors", "message"),
    [
        ([1.0, 0.0], "^noise_factors must be positive, got 0.0"),
        ([1.0], "^noise_factors must have 2 entries, got 1"),
        ([1.0, np.nan], "^noise_factors must be finite"),
    ],
)
def test_bad_noise_factors_leave_the_previous_fit(factors, message):
    gp = GaussianProcess(rng=0).fit(*data())
    before = state(gp)
    with pytest.raises(ValueError, match=message):
        gp.fit([[0.0], [1.0]], [0.0, 1.0], noise_factors=factors)
    assert same(before, state(gp))


def test_jitter_is_reported():
    X, y = [[0.3], [0.3], [0.9]], [1.0, 1.0, 2.0]
    options = {"lengthscale": 0.2, "variance": 2.0, "fit_hyperparameters": False}
    gp = GaussianProcess(noise=0.0, **options).fit(X, y)
    assert gp.fit_info_["jitter"] == pytest.approx(2e-10)
    assert gp.noise_ == 0.0
    assert gp.predict([[0.3]])[0] == pytest.approx(1.0, abs=1e-6)
    assert GaussianProcess(noise=1e-3, **options).fit(X, y).fit_info_["jitter"] == 0.0


@pytest.mark.parametrize("variance", [0.7, 1.0, 1.3, 2.0, 3.0])
@pytest.mark.parametrize("n", [0, 10, 38])
def test_a_singular_covariance_never_passes_by_luck_of_rounding(variance, n):
    """Two copies of a point without noise: the last pivot is 0 but for rounding, of either sign."""
    rng = np.random.default_rng(0)
    X = np.vstack([[[0.3], [0.3]], rng.random((n, 1))])
    y = np.concatenate([[1.0, 2.0], np.sin(5 * X[2:, 0])])
    gp = GaussianProcess(lengthscale=0.2, variance=variance, noise=0.0, fit_hyperparameters=False).fit(X, y)
    assert gp.fit_info_["jitter"] > 0.0
    assert gp.predict([[0.3]])[0] == pytest.approx(1.5, abs=0.02)
    assert gp.log_marginal_likelihood() == -np.inf


def test_normalisation_is_undone():
    X, y = data(20, 2)
    Q = np.random.default_rng(1).random((5, 2))
    theta = np.log([0.4, 0.6, 1.2, 1e-2])
    gp = fixed("matern52", theta, normalize_y=True).fit(X, y)
    plain = fixed("matern52", theta).fit(X, (y - y.mean()) / y.std())
    for a, b, scale in zip(
        gp.predict(Q, return_cov=True), plain.predict(Q, return_cov=True), (y.std(), y.var()), strict=True
    ):
        np.testing.assert_allclose(a - (y.mean() if a.ndim == 1 else 0.0), scale * b, rtol=1e-9, atol=1e-12)
    assert plain.y_mean_ == 0.0 and plain.y_std_ == 1.0
    assert gp.y_mean_ == pytest.approx(y.mean()) and gp.y_std_ == pytest.approx(y.std())


def test_standardize():
    y = np.array([1.0, 2.0, 4.0, 9.0])
    z, mean, std = standardize(y)
    np.testing.assert_allclose(z, (y - 4.0) / y.std(), rtol=1e-14)
    assert mean == 4.0 and std == pytest.approx(y.std(), rel=1e-15)
    for exponent in (40, 300, 900, -40, -300, -900):
        scaled = standardize(y * 2.0**exponent)
        assert np.array_equal(scaled[0], z)
        assert scaled[1:] == (mean * 2.0**exponent, std * 2.0**exponent)
    np.testing.assert_allclose(standardize(y / 1024 + 2.0**30)[0], z, rtol=1e-14)  # a small spread on an offset
    assert standardize(np.array([0.1] * 7))[1:] == (0.1, 1.0)
    assert not standardize(np.zeros(3))[0].any()


def test_warm_start_begins_where_the_last_fit_ended():
    X, y = data(40, 2)
    gp = GaussianProcess(warm_start=True, n_restarts=0, rng=0).fit(X, y)
    first, cold = gp.theta_.copy(), gp.fit_info_["n_evaluations"]
    gp.fit(X, y)
    assert gp.fit_info_["n_evaluations"] < cold
    np.testing.assert_allclose(gp.theta_, first, atol=1e-2)
    gp.fit(*data(30, 3))  # another dimension: the old theta does not apply
    assert gp.theta_.shape == (5,)


def test_without_warm_start_a_refit_forgets():
    X, y = data(40, 2)
    gp = GaussianProcess(n_restarts=0).fit(*data(30, 2, 5))
    gp.fit(X, y)
    assert np.array_equal(gp.theta_, GaussianProcess(n_restarts=0).fit(X, y).theta_)


def test_the_same_seed_gives_the_same_fit():
    X, y = data(30, 3)
    np.random.seed(0)
    before = np.random.get_state()[1].copy()
    a, b = (GaussianProcess(rng=7).fit(X, y) for _ in range(2))
    assert same(state(a), state(b))
    assert np.array_equal(a.sample_y(X[:3]), b.sample_y(X[:3]))
    assert np.array_equal(np.random.get_state()[1], before)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda gp: pickle.loads(pickle.dumps(gp))])
def test_copies_are_equal_and_independent(duplicate):
    X, y = data()
    gp = GaussianProcess(rng=3).fit(X, y)
    twin = duplicate(gp)
    before = state(gp)
    assert same(state(twin), before)
    assert np.array_equal(twin.predict(X, return_cov=True)[1], gp.predict(X, return_cov=True)[1])
    assert np.array_equal(twin.sample_y(X[:4], 2), gp.sample_y(X[:4], 2))  # the generator came along
    twin.fit(X[:5], y[:5])
    assert same(state(gp), before)
    assert not duplicate(GaussianProcess()).fitted


def test_hyperparameters_stay_within_bounds():
    X, y = data(30, 2)
    gp = GaussianProcess(lengthscale_bounds=(0.3, 0.5), variance_bounds=(0.9, 1.1), noise_bounds=(0.2, 0.3), rng=0)
    gp.fit(X, y)
    slack = 1e-12
    assert ((gp.lengthscale_ >= 0.3 - slack) & (gp.lengthscale_ <= 0.5 + slack)).all()
    assert 0.9 - slack <= gp.variance_ <= 1.1 + slack and 0.2 - slack <= gp.noise_ <= 0.3 + slack
    np.testing.assert_allclose(np.exp(gp.theta_), [*gp.lengthscale_, gp.variance_, gp.noise_], rtol=1e-14)


def test_likelihood_elsewhere():
    X, y, theta, _ = setting(15, 2)
    gp = fixed("rbf", theta).fit(X, y)
    other = theta + 0.3
    kept = other.copy()
    value, gradient = gp.log_marginal_likelihood(other, eval_gradient=True)
    expected, slope = ref.log_marginal_likelihood(X, y, other, "rbf")
    assert value == pytest.approx(expected, rel=1e-11)
    np.testing.assert_allclose(gradient, slope, rtol=0, atol=1e-10 * np.abs(slope).max())
    assert np.array_equal(other, kept)
    assert gp.log_marginal_likelihood(theta) == pytest.approx(gp.log_marginal_likelihood_value_, rel=1e-12)
    value, gradient = gp.fit(X[[0, 0, 0]], y[:3]).log_marginal_likelihood([0, 0, 0, -np.inf], eval_gradient=True)
    assert value == -np.inf and not gradient.any()


def test_solve_is_the_inverse_applied():
    X, y, theta, rng = setting(33, 2)
    gp = fixed("matern52", theta).fit(X, y)
    v = rng.standard_normal(33)
    np.testing.assert_allclose(gp.solve(v), ref.precision(X, theta) @ v, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(gp.solve(y), gp.alpha_, rtol=1e-9, atol=1e-9)


# ---- draws


def test_draws_have_the_posteriors_moments():
    X, y, theta, rng = setting(12, 2)
    gp = fixed("matern52", theta, normalize_y=True).fit(X, 10.0 * y)
    Q = rng.random((5, 2))
    mean, covariance = gp.predict(Q, return_cov=True)
    count = 40_000
    draws = gp.sample_y(Q, count, rng=0)
    assert draws.shape == (5, count)
    std = np.sqrt(np.diag(covariance))
    assert (np.abs(draws.mean(axis=1) - mean) < 5 * std / np.sqrt(count)).all()
    error = np.sqrt((np.outer(std, std) ** 2 + covariance**2) / count)  # of an entry of a sample covariance
    assert (np.abs(np.cov(draws) - covariance) < 5 * error).all()


def test_draws_repeat_with_a_seed_and_pass_through_noiseless_points():
    X, y, _, _ = setting(6, 1)
    gp = GaussianProcess(lengthscale=0.3, noise=0.0, fit_hyperparameters=False).fit(X, y)
    draws = gp.sample_y(X, 4, rng=5)
    assert np.array_equal(draws, gp.sample_y(X, 4, rng=5))
    assert not np.array_equal(draws, gp.sample_y(X, 4, rng=6))
    np.testing.assert_allclose(draws, np.tile(y[:, None], 4), atol=1e-3)
    assert gp.sample_y(X).shape == (6, 1)


def test_a_warm_start_also_tries_the_constructors_values():
    """A chain of warm starts alone stays in the maximum it once fell into."""
    X = np.linspace(0, 1, 20)[:, None]
    bow, wiggles = X[:, 0] ** 2, np.sin(30 * X[:, 0]) + X[:, 0]
    options = {"lengthscale": 0.1, "warm_start": True, "rng": 0}
    stuck = GaussianProcess(n_restarts=0, **options).fit(X, bow).fit(X, wiggles)
    free = GaussianProcess(n_restarts=1, **options).fit(X, bow).fit(X, wiggles)
    cold = GaussianProcess(n_restarts=0, lengthscale=0.1).fit(X, wiggles)
    assert free.fit_info_["n_starts"] == 2
    assert cold.log_marginal_likelihood_value_ > stuck.log_marginal_likelihood_value_ + 1.0
    assert free.log_marginal_likelihood_value_ >= cold.log_marginal_likelihood_value_ - 1e-6


# ---- known noise


def test_known_noise_is_that_of_the_dense_formula():
    rng = np.random.default_rng(0)
    X, noise_std = rng.random((25, 2)), np.where(rng.random(25) < 0.4, 3.0 * rng.random(25), 0.0)
    y = 50.0 + 8.0 * np.sin(5.0 * X[:, 0]) + noise_std * rng.standard_normal(25)
    gp = GaussianProcess(lengthscale=[0.5, 0.8], variance=1.5, noise=0.01, fit_hyperparameters=False)
    gp.fit(X, y, noise_std=noise_std)
    theta, at = np.log([0.5, 0.8, 1.5, 0.01]), rng.random((9, 2))
    K = ref.kernel_matrix(X, X, theta) + np.diag(0.01 + (noise_std / y.std()) ** 2)
    k = ref.kernel_matrix(X, at, theta)
    mean, std = gp.predict(at, return_std=True)
    np.testing.assert_allclose(mean, y.mean() + k.T @ np.linalg.solve(K, y - y.mean()), rtol=1e-9)
    np.testing.assert_allclose((std / y.std()) ** 2, 1.5 - np.sum(k * np.linalg.solve(K, k), axis=0), rtol=1e-7)
    assert gp.log_marginal_likelihood(theta) == pytest.approx(gp.log_marginal_likelihood_value_, rel=1e-12)
    repeated = gp.fit(X, y, noise_std=np.zeros(25)).predict(at)
    np.testing.assert_array_equal(repeated, gp.fit(X, y).predict(at))


def test_the_fit_finds_the_noise_that_is_left():
    rng = np.random.default_rng(1)
    X = rng.random((150, 1))
    noise_std = np.where(np.arange(150) % 2, 1.0, 0.0)
    y = 3.0 * np.sin(6.0 * X[:, 0]) + noise_std * rng.standard_normal(150) + 0.1 * rng.standard_normal(150)
    told, untold = GaussianProcess(rng=0).fit(X, y, noise_std=noise_std), GaussianProcess(rng=0).fit(X, y)
    assert np.sqrt(told.noise_) * told.y_std_ == pytest.approx(0.1, rel=0.3)
    assert np.sqrt(untold.noise_) * untold.y_std_ == pytest.approx(0.7, rel=0.3)
    at = np.linspace(0.05, 0.95, 50)[:, None]
    errors = [np.abs(gp.predict(at) - 3.0 * np.sin(6.0 * at[:, 0])).mean() for gp in (told, untold)]
    assert errors[0] < 0.5 * errors[1]


@pytest.mark.parametrize("noise_std", [1e6, 1e200])
def test_an_observation_that_says_nothing(noise_std):
    X, y = np.linspace(0.0, 1.0, 12)[:, None], np.sin(6.0 * np.linspace(0.0, 1.0, 12))
    options = {"lengthscale": 0.3, "noise": 1e-6, "fit_hyperparameters": False, "normalize_y": False}
    known = np.zeros(12)
    known[[0, 5]] = noise_std
    keep = np.flatnonzero(known == 0.0)
    got = GaussianProcess(**options).fit(X, y, noise_std=known).predict(X, return_std=True)
    expected = GaussianProcess(**options).fit(X[keep], y[keep]).predict(X, return_std=True)
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("noise_std", [[1.0], [1.0, -1.0, 0.0], [1.0, np.nan, 0.0], "x"])
def test_bad_noise(noise_std):
    with pytest.raises(ValueError, match=r"^noise_std must "):
        GaussianProcess().fit([[0.0], [0.5], [1.0]], [0.0, 1.0, 0.5], noise_std=noise_std)


def test_no_draws_come_from_a_factor_that_failed(monkeypatch):
    gp = GaussianProcess(lengthscale=0.3, noise=1e-6, fit_hyperparameters=False).fit([[0.2], [0.8]], [0.0, 1.0])
    monkeypatch.setattr(GaussianProcess, "posterior_covariance", lambda gp, points: np.array([[1.0, 3.0], [3.0, 1.0]]))
    with pytest.raises(np.linalg.LinAlgError, match="the covariance of 2 points is not positive definite"):
        gp.sample_y([[0.1], [0.5]], rng=0)

"""What a Gaussian process refuses: by name, with the previous fit left as it was."""

import numpy as np
import pytest

from gssbo import GaussianProcess, Optimizer, select_subset
from gssbo.diagnostics import leave_one_out, trust
from gssbo.exceptions import NotFittedError
from tests.gaussian_processes import NAMES, data, fixed, same, setting, state


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
    ([[0.1], [0.2]], [[1.0, 2.0]], "y must have shape \\(n,\\)"),
    ([[0.1], [0.2]], [[1.0, 2.0], [1.0, 2.0]], "y must have shape \\(n,\\)"),
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


@pytest.mark.parametrize("noise_std", [[1.0], [1.0, -1.0, 0.0], [1.0, np.nan, 0.0], "x"])
def test_bad_noise(noise_std):
    with pytest.raises(ValueError, match=r"^noise_std must "):
        GaussianProcess().fit([[0.0], [0.5], [1.0]], [0.0, 1.0, 0.5], noise_std=noise_std)


def test_responses_that_are_not_standardised_have_a_largest_size():
    gp = GaussianProcess(normalize_y=False, rng=0).fit(*data())
    before = state(gp)
    with pytest.raises(
        ValueError, match=r"^y must lie within -1e\+280 and 1e\+280 with normalize_y=False, got -1e\+307$"
    ):
        gp.fit([[0.0], [0.5], [1.0]], [1e306, -1e307, 0.0])
    assert same(before, state(gp))
    X, y, theta, _ = setting(25, 2)
    for size in (1e160, 1e279):
        for kernel in NAMES:
            gp = fixed(kernel, theta).fit(X, size * y)
            unit = fixed(kernel, theta).fit(X, y)
            np.testing.assert_allclose(gp.predict(X) / size, unit.predict(X), rtol=1e-9)
            np.testing.assert_allclose(
                gp.predict_gradient(X)[0] / size, unit.predict_gradient(X)[0], rtol=1e-9, atol=1e-12
            )
            value, gradient = gp.log_marginal_likelihood(theta, eval_gradient=True)
            assert value == -np.inf and not gradient.any()


def test_in_a_loop_they_count_as_that_large():
    X = np.random.default_rng(0).random((12, 2))
    surrogate = GaussianProcess(normalize_y=False)
    opt = Optimizer([(0.0, 1.0)] * 2, surrogate=surrogate, n_init=4, n_candidates=200, rng=0)
    opt.tell(X, 5e307 * np.sin(9.0 * X[:, 0]))
    assert np.isfinite(opt.ask(2)).all() and np.isfinite(opt.predict(X)).all()


@pytest.mark.parametrize("kernel", NAMES)
def test_gradients_over_the_least_lengthscales(kernel):
    """They are scaled as others, and infinite beyond doubles, never NaN."""
    X, y, theta, rng = setting(25, 2)
    Q = rng.random((6, 2))
    near = fixed(kernel, theta).fit(X, y).predict_gradient(Q)
    for power in (-1000, -1010, -1040, 990):
        scale = 2.0**power
        lengthscale = scale * np.exp(theta[:2])
        gp = GaussianProcess(
            kernel, lengthscale=lengthscale, variance=np.exp(theta[2]), noise=np.exp(theta[3]),
            fit_hyperparameters=False, normalize_y=False,
        )  # fmt: skip
        found = gp.fit(scale * X, y).predict_gradient(scale * Q)
        for far, expected in zip(found, near, strict=True):
            assert not np.isnan(far).any()
            if power == -1040:  # inputs have lost bits
                assert np.isinf(far).all() and (np.sign(far) == np.sign(expected)).all()
            else:
                np.testing.assert_allclose(np.ldexp(far, power), expected, rtol=1e-9, atol=1e-11)
    mixed = GaussianProcess(lengthscale=[1e-300, 1.0], fit_hyperparameters=False).fit(
        [[1e200, 0.0], [1e200, 1.0]], [0, 1]
    )
    assert np.isfinite(mixed.predict_gradient([[1e200, 0.5]])).all()


class Frame:
    """A data frame, as far as it matters."""

    def __init__(self, names, X):
        self.columns, self._table, self.iloc = list(names), dict(zip(names, X.T, strict=True)), None

    def __len__(self):
        return len(self._table[self.columns[0]])

    def __getitem__(self, name):
        return self._table[name]

    def __array__(self, dtype=None, copy=None):
        return np.column_stack([self._table[name] for name in self.columns])


def test_columns_of_a_data_frame_are_known_by_their_names():
    X, y = np.random.default_rng(0).random((30, 3)) * [1.0, 10.0, 100.0], np.arange(30.0)
    gp, plain = GaussianProcess(rng=0).fit(Frame("abc", X), y), GaussianProcess(rng=0).fit(X, y)
    assert gp.feature_names_in_ == ("a", "b", "c")
    turned = Frame("cab", X[:, [2, 0, 1]])
    np.testing.assert_array_equal(gp.predict(turned), plain.predict(X))
    np.testing.assert_array_equal(gp.predict_gradient(turned), plain.predict_gradient(X))
    np.testing.assert_array_equal(gp.sample_y(turned, rng=0), plain.sample_y(X, rng=0))
    np.testing.assert_array_equal(select_subset(gp, turned, 9), select_subset(plain, X, 9))
    for diagnose, *rest in ((trust, np.arange(0, 30, 2)), (leave_one_out,)):
        assert repr(diagnose(gp, turned, y, *rest)) == repr(diagnose(plain, X, y, *rest))
    for names, words in (("abd", "missing: 'c'; unknown: 'd'"), ("aab", "missing: 'c'")):
        with pytest.raises(ValueError, match=f"^X must have the keys 'a', 'b', 'c'; {words}"):
            gp.predict(Frame(names, X))


def test_without_names_columns_are_known_by_their_places():
    X, y = np.random.default_rng(0).random((30, 2)), np.arange(30.0)
    gp = GaussianProcess(rng=0).fit(Frame("ab", X), y)
    np.testing.assert_array_equal(gp.predict(X[:, ::-1]), gp.predict(Frame([1, 0], X[:, ::-1])))
    np.testing.assert_array_equal(gp.predict(Frame("ab", X)), gp.fit(X, y).predict(Frame("ba", X)))
    assert gp.feature_names_in_ is None
    gp.fit(Frame("ab", X), y).forget()
    assert gp.feature_names_in_ is None

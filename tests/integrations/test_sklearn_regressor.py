"""The Gaussian process as a regressor of scikit-learn."""

import numpy as np
import pytest

sklearn = pytest.importorskip("sklearn")

from sklearn.datasets import load_diabetes  # noqa: E402
from sklearn.exceptions import NotFittedError  # noqa: E402
from sklearn.gaussian_process import GaussianProcessRegressor as Reference  # noqa: E402
from sklearn.gaussian_process.kernels import ConstantKernel, Matern  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

import gssbo  # noqa: E402
from gssbo.integrations.sklearn import GaussianProcessRegressor  # noqa: E402

pytestmark = pytest.mark.usefixtures("single_thread")


def waves(n, seed=0):
    X = np.random.default_rng(seed).random((n, 2))
    return X, np.sin(6.0 * X[:, 0]) + X[:, 1] ** 2


def test_regressor_is_the_gaussian_process():
    X, y = waves(60)
    ours = GaussianProcessRegressor("matern32", n_restarts=1, random_state=4).fit(X, y)
    gp = gssbo.GaussianProcess("matern32", n_restarts=1, rng=4).fit(X, y)
    points, _ = waves(20, seed=1)
    for options in [{"return_std": True}, {"return_cov": True}]:
        for one, other in zip(ours.predict(points, **options), gp.predict(points, **options), strict=True):
            assert np.array_equal(one, other)
    assert np.array_equal(ours.sample_y(points, 3, random_state=5), gp.sample_y(points, 3, rng=5))
    assert ours.retained_.tolist() == list(range(60))


def test_regressor_agrees_with_scikit_learns_at_the_same_hyperparameters():
    X, y = waves(50)
    ours = GaussianProcessRegressor(
        lengthscale=[0.3, 0.8], variance=1.5, noise=0.02, fit_hyperparameters=False, normalize_y=False
    ).fit(X, y)
    theirs = Reference(ConstantKernel(1.5) * Matern([0.3, 0.8], nu=2.5), alpha=0.02, optimizer=None).fit(X, y)
    points, _ = waves(20, seed=1)
    for options in [{"return_std": True}, {"return_cov": True}]:
        for one, other in zip(ours.predict(points, **options), theirs.predict(points, **options), strict=True):
            assert np.allclose(one, other, rtol=0.0, atol=1e-9)
    assert ours.score(points, waves(20, seed=1)[1]) == pytest.approx(theirs.score(points, waves(20, seed=1)[1]))


def test_many_observations_are_fitted_on_what_the_rule_retains():
    X, y = waves(3000)
    model = GaussianProcessRegressor(subset_size=80, random_state=0).fit(X, y)
    assert len(model.retained_) == 80 == len(model.gp_.X_train_)
    assert np.array_equal(model.gp_.X_train_, X[model.retained_])
    assert (np.diff(model.retained_) > 0).all()
    rng = np.random.default_rng(0)
    gp = gssbo.GaussianProcess(normalize_y=False, rng=rng)
    first = np.sort(rng.permutation(3000)[:500])
    z = (y - y.mean()) / y.std()
    kept = np.sort(gssbo.select_subset(gp.fit(X[first], z[first]), X, 80, y=z, rule="residual"))
    assert np.array_equal(model.retained_, kept)
    np.testing.assert_allclose(model.gp_.theta_, gp.theta_, rtol=1e-5)
    fixed = gssbo.GaussianProcess(
        lengthscale=gp.lengthscale_,
        variance=gp.variance_,
        noise=gp.noise_,
        fit_hyperparameters=False,
        normalize_y=False,
    )
    _, std = fixed.fit(X[kept], z[kept]).predict(X[:9], return_std=True)
    exact = GaussianProcessRegressor(subset_size=80, posterior="exact", random_state=0).fit(X, y)
    assert exact.projection_ is None
    assert np.array_equal(exact.retained_, kept)
    np.testing.assert_allclose(exact.predict(X[:9], return_std=True)[1], y.std() * std, rtol=1e-4)
    points, values = waves(500, seed=1)
    assert 1.0 - model.score(points, values) < 1e-5
    random = GaussianProcessRegressor(subset_size=80, rule="random", random_state=0).fit(X, y)
    assert model.score(points, values) > random.score(points, values)


def test_noise_is_no_reason_to_go_without_the_residual_rule():
    """Its subset holds the largest errors: hyperparameters fitted to it once more were worse than a random subset's."""
    X, y = waves(3000)
    noisy = y + 0.3 * np.random.default_rng(5).standard_normal(3000)
    points, values = waves(500, seed=1)
    errors = {}
    for rule in ("residual", "random"):
        settings = {"subset_size": 100, "rule": rule, "posterior": "exact"}
        models = [GaussianProcessRegressor(**settings, random_state=s).fit(X, noisy) for s in range(3)]
        errors[rule] = np.mean([np.sqrt(np.mean((model.predict(points) - values) ** 2)) for model in models])
    assert errors["residual"] < 0.8 * errors["random"]


def test_a_small_basis_has_hyperparameters_of_more_observations():
    """Fitted to the 40 alone, ten lengthscales explain all of the noise, and the score is below 0."""
    X, y = load_diabetes(return_X_y=True)
    model = GaussianProcessRegressor(subset_size=40, random_state=0)
    assert cross_val_score(model, X, y).mean() > 0.4


@pytest.mark.parametrize("noise", [0.1, 1.0])
def test_all_observations_are_learnt_from(noise):
    X, y = waves(3000)
    noisy = y + noise * np.random.default_rng(5).standard_normal(3000)
    points, values = waves(2000, seed=1)
    errors, within = {}, {}
    for posterior in ("projected", "exact"):
        model = GaussianProcessRegressor(subset_size=100, posterior=posterior, random_state=0).fit(X, noisy)
        mean, std = model.predict(points, return_std=True)
        errors[posterior] = np.sqrt(np.mean((mean - values) ** 2))
        within[posterior] = np.mean(np.abs(values - mean) < 1.96 * std)
    assert errors["projected"] < 0.6 * errors["exact"]
    assert within["projected"] > 0.8


def test_what_is_projected_has_covariances_and_draws():
    X, y = waves(400)
    model = GaussianProcessRegressor(subset_size=50, random_state=0).fit(X, 7.0 * y - 40.0)
    points = waves(8, seed=1)[0]
    mean, std = model.predict(points, return_std=True)
    again, covariance = model.predict(points, return_cov=True)
    assert np.array_equal(mean, again)
    np.testing.assert_allclose(np.diag(covariance), std**2, rtol=1e-6, atol=1e-11 * 7.0**2)
    draws = model.sample_y(points, 4000, random_state=0)
    assert draws.shape == (8, 4000)
    np.testing.assert_allclose(draws.mean(axis=1), mean, atol=5.0 * std.max() / np.sqrt(4000) + 1e-6)
    np.testing.assert_allclose(draws.std(axis=1), std, rtol=0.1, atol=1e-3)
    with pytest.raises(ValueError, match="at most one of return_std and return_cov"):
        model.predict(points, return_std=True, return_cov=True)
    with pytest.raises(ValueError, match="n_samples must be at least 1"):
        model.sample_y(points, 0)


def test_the_noise_of_a_new_observation_can_be_included():
    X, y = waves(300)
    noisy = 10.0 * y + 2.0 * np.random.default_rng(5).standard_normal(300)
    model = GaussianProcessRegressor(random_state=0).fit(X, noisy)
    assert model.noise_std_ == pytest.approx(2.0, rel=0.1)
    mean, std = model.predict(X[:20], return_std=True)
    wide_mean, wide = model.predict(X[:20], return_std=True, include_noise=True)
    assert np.array_equal(mean, wide_mean)
    np.testing.assert_allclose(wide, np.sqrt(std**2 + model.noise_std_**2))
    _, covariance = model.predict(X[:20], return_cov=True)
    _, wide_covariance = model.predict(X[:20], return_cov=True, include_noise=True)
    np.testing.assert_allclose(wide_covariance - covariance, model.noise_std_**2 * np.eye(20), atol=1e-9)
    assert np.array_equal(model.predict(X[:20], include_noise=True), mean)
    points, values = waves(2000, seed=1)
    new = 10.0 * values + 2.0 * np.random.default_rng(6).standard_normal(2000)
    mean, wide = model.predict(points, return_std=True, include_noise=True)
    assert np.mean(np.abs(new - mean) < 1.96 * wide) == pytest.approx(0.95, abs=0.02)
    with pytest.raises(ValueError, match="include_noise must be"):
        model.predict(X, return_std=True, include_noise="yes")


def test_regressor_in_a_pipeline_and_a_grid_search():
    X, y = waves(60)
    pipeline = make_pipeline(StandardScaler(), GaussianProcessRegressor(random_state=0))
    grid = GridSearchCV(pipeline, {"gaussianprocessregressor__kernel": ["matern32", "rbf"]}, cv=3).fit(X * 100.0, y)
    assert grid.best_params_ == {"gaussianprocessregressor__kernel": "rbf"}
    assert grid.best_score_ > 0.999
    _, std = grid.best_estimator_.predict(X * 100.0, return_std=True)
    assert std.shape == (60,)


def test_regressor_says_what_is_wrong():
    X, y = waves(10)
    with pytest.raises(ValueError, match="kernel must be one of"):
        GaussianProcessRegressor("linear").fit(X, y)
    with pytest.raises(ValueError, match="rule must be one of"):
        GaussianProcessRegressor(rule="best").fit(X, y)
    with pytest.raises(ValueError, match="posterior must be one of"):
        GaussianProcessRegressor(posterior="best").fit(X, y)
    with pytest.raises(ValueError, match="subset_size must be at least 2, got 1"):
        GaussianProcessRegressor(subset_size=1).fit(X, y)
    with pytest.raises(NotFittedError):
        GaussianProcessRegressor().predict(X)
    with pytest.raises(NotFittedError):
        GaussianProcessRegressor().sample_y(X)


@pytest.mark.parametrize(
    ("change", "X", "y", "message"),
    [
        ({"rule": "best"}, None, None, "^rule must be"),
        ({"threads": 0}, None, None, "^threads must be"),
        ({"normalize_y": "no"}, None, None, "^normalize_y must be"),
        ({"random_state": "x"}, None, None, "random_state"),
        ({"lengthscale": [1.0, 2.0, 3.0]}, None, None, "^lengthscale must be"),
        ({}, [[1.0], [np.nan]], [1.0, 2.0], "X contains NaN"),
        ({}, [[1.0], [2.0]], ["a", "b"], "^y must be an array of real numbers"),
        ({}, [[1.0], [2.0]], np.array(["a", 1.0], dtype=object), "^y must be an array of real numbers"),
        ({}, [[1.0], [2.0]], np.array([0, 1], dtype="M8[s]"), "^y must be an array of real numbers"),
    ],
)
def test_a_fit_that_is_refused_leaves_the_fitted_model(change, X, y, message):
    inputs, values = waves(30)
    model = GaussianProcessRegressor(random_state=0).fit(inputs, values)
    before, noted = model.predict(inputs[:5]), set(vars(model))
    model.set_params(**change)
    others = np.random.default_rng(0).random((8, 7)) if X is None else X
    with pytest.raises(ValueError, match=message):
        model.fit(others, np.arange(8.0) if y is None else y)
    np.testing.assert_array_equal(model.predict(inputs[:5]), before)
    assert set(vars(model)) == noted

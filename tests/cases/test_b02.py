"""B02: an evaluation that fails is an observation without a value."""

import numpy as np
import pytest

import gssbo

X = np.arange(8)[:, None] / 7
Y = np.where(np.arange(8) == 2, np.nan, (X[:, 0] - 0.3) ** 2)


@pytest.mark.parametrize("method", ["portfolio", "ucb", "ei", "log_ei", "pi", "thompson"])
@pytest.mark.parametrize("failure", [np.nan, np.inf])
def test_a_place_that_fails_is_left_alone(method, failure):
    options = {"method": method} if method == "portfolio" else {"acquisition": method, "n_candidates": 1000}
    opt = gssbo.Optimizer([(0.0, 1.0)], n_init=8, rng=0, **options)
    opt.tell(X, np.where(np.isnan(Y), failure, Y))
    assert (opt.n_told, opt.n_failed) == (8, 1)
    assert (opt.best_x[0], opt.best_y) == (3 / 7, 0.016530612244897956)
    n_bad = 0
    for _ in range(20):
        x = opt.ask()
        bad = abs(x[0] - 2 / 7) < 0.02
        n_bad += bad
        opt.tell(x, failure if bad else (x[0] - 0.3) ** 2)
    assert n_bad <= 3
    mean, std = opt.predict(np.linspace(0, 1, 101)[:, None], return_std=True)
    assert np.isfinite(mean).all() and np.isfinite(std).all()
    assert opt.best_y == np.nanmin(opt.y) < 0.0165
    if method == "portfolio":
        return
    values = opt.y[opt.retained]
    np.testing.assert_allclose([opt.surrogate.y_mean_, opt.surrogate.y_std_], [-np.nanmean(values), np.nanstd(values)])


def test_a_failure_counts_as_one_deviation_below_the_worst():
    """For the search, with mean and deviation of the others; what is predicted is the model of the others."""
    known = Y[~np.isnan(Y)]
    fixed = gssbo.GaussianProcess(lengthscale=0.3, noise=1e-6, fit_hyperparameters=False)
    opt = gssbo.Optimizer([(0.0, 1.0)], n_init=8, surrogate=fixed, rng=0)
    opt.tell(X, Y)
    opt.ask()
    z = (known.mean() - known) / known.std()
    np.testing.assert_allclose(opt.surrogate.y_train_[[0, 1, 3, 4, 5, 6, 7]], z)
    np.testing.assert_allclose(opt.surrogate.y_train_[2], z.min() - 1.0)
    others = gssbo.GaussianProcess(lengthscale=0.3, noise=1e-6, fit_hyperparameters=False)
    others.fit(X[~np.isnan(Y)], known)
    np.testing.assert_allclose(opt.predict(X), others.predict(X), rtol=1e-9)


def test_maximizing():
    opt = gssbo.Optimizer([(0.0, 1.0)], maximize=True, rng=0)
    opt.tell(X, np.where(np.isnan(Y), -np.inf, -Y))
    assert (opt.n_failed, opt.best_x[0], opt.best_y) == (1, 3 / 7, -0.016530612244897956)
    with pytest.raises(ValueError, match=r"^y must be finite, got inf at index \(0,\)"):
        opt.tell([0.5], np.inf)


@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_when_all_fail_the_space_is_still_searched(method):
    opt = gssbo.Optimizer([(0.0, 1.0)], n_init=3, method=method, rng=0)
    for _ in range(12):
        opt.tell(opt.ask(), np.nan)
    points = np.sort(opt.X[:, 0])
    assert opt.best_x is opt.best_y is None and opt.best("model") == (None, None, None)
    assert np.diff(points).max() < 0.5 and np.diff(points).min() > 0.0
    with pytest.raises(ValueError, match="at least one observation that did not fail"):
        opt.predict([[0.5]])
    opt.tell([0.5], 3.0)
    assert opt.best_y == 3.0


@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_a_failure_is_not_suggested_again(method):
    opt = gssbo.Optimizer({"n": range(6)}, n_init=2, method=method, rng=0)
    seen = []
    for _ in range(6):
        seen.append(opt.ask()["n"])
        opt.tell({"n": seen[-1]}, failed=True)
    assert sorted(seen) == list(range(6))
    with pytest.raises(gssbo.exceptions.SpaceExhausted):
        opt.ask()

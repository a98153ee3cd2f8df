"""Noise under the portfolio: known, found, and mistaken for signal."""

import numpy as np
import pytest
from scipy.optimize import rosen

import gssbo
from gssbo import Optimizer


def test_known_noise_is_in_the_models():
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    noise_std = np.where(X[:, 0] > 0.5, 0.5, 0.01)
    y = X.sum(axis=1) + noise_std * rng.standard_normal(60)
    optimizer = Optimizer([(0.0, 1.0)] * 2, method="portfolio", rng=0)
    optimizer.tell(X, y, noise_std=noise_std)
    optimizer.ask()
    _, std = optimizer.predict([[0.25, 0.5], [0.75, 0.5]], return_std=True)
    assert std[1] > 3.0 * std[0]
    for _ in range(30):  # so that both have had their turn
        optimizer.ask()
    for searcher in optimizer._strategy._searchers[:2]:
        assert (searcher.gp.known_noise_ > 0.0).all()


@pytest.mark.parametrize("y", [1.0, 1e-160, 5e-324])
@pytest.mark.parametrize("noise", [1e140, 1e160, 1e300])
def test_an_observation_as_uncertain_as_doubles_go_says_nothing(y, noise):
    X = np.random.default_rng(0).random((10, 2))
    opt = Optimizer([(0.0, 1.0)] * 2, rng=0, n_init=4)
    opt.tell(X, y * X.sum(axis=1), noise_std=[noise] + [0.0] * 9)
    for _ in range(15):
        x = opt.ask()
        opt.tell(x, y * x.sum())
    assert np.isfinite(opt.predict([[0.5, 0.5]])).all() and opt.best(by="model").y is not None


@pytest.mark.parametrize(("d", "n", "noise"), [(2, 80, 0.3), (2, 300, 0.3), (4, 600, 0.3), (2, 300, 0.0)])
def test_predictions_tell_noise_from_signal(d, n, noise):
    """Noise of so much of the values' spread: the model explains the function, and says how well it does."""

    def fun(X):
        return ((X - 0.4) ** 2).sum(axis=1) + 0.5 * np.sin(5.0 * X[:, 0])

    rng = np.random.default_rng(2)
    X, others = rng.random((n, d)), rng.random((500, d))
    values, truth = fun(X), fun(others)
    opt = Optimizer([(0.0, 1.0)] * d, rng=0)
    opt.tell(X, values + noise * values.std() * rng.standard_normal(n))
    mean, std = opt.predict(others, return_std=True)
    assert 1.0 - np.mean((mean - truth) ** 2) / truth.var() > 0.95
    assert np.mean(np.abs(mean - truth) <= 1.96 * std) > 0.9
    best = opt.best(by="model")
    assert fun(best.x[None])[0] < values.min() + 0.1 * values.std()


def test_where_residuals_are_noise_they_choose_nothing():
    """One in six of the values is another one, wherever: what has the largest residuals are just those."""
    rng = np.random.default_rng(0)
    opt = Optimizer([(0.0, 1.0)] * 3, rng=0)
    y = np.where(rng.random(500) < 1.0 / 6.0, 0.65, 0.35)
    opt.tell(rng.random((500, 3)), y)
    assert abs(opt.predict(rng.random((200, 3))).mean() - y.mean()) < 0.03


def test_much_noise_comes_to_be_known_as_noise():
    """From the first fits on, noise is signal here; the search with much noise finds the likelier explanation."""
    rng = np.random.default_rng(0)
    opt = Optimizer([(0.0, 1.0)] * 2, rng=0)
    for _ in range(80):
        x = opt.ask()
        opt.tell(x, float(((x - 0.4) ** 2).sum()) + 0.1 * rng.standard_normal())
    region = opt._strategy._global
    assert np.exp(region._theta[-1]) > 0.05


def test_what_the_model_thinks_best_is_given_the_values_observed():
    """Of functions without noise that is the best observed, though most of it is not retained."""
    for seed in range(3):
        result = gssbo.minimize(rosen, [(-2.0, 2.0)] * 8, n_evals=200, rng=seed)
        assert rosen(result.x_model) <= 1.5 * result.fun

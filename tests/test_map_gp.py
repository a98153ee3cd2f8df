import numpy as np
import pytest
from scipy.optimize import minimize

from gssbo import columns, map_gp
from gssbo._mle import Likelihood
from gssbo.acquisition import LogExpectedImprovement
from gssbo.map_gp import Improvement, MapGaussianProcess


@pytest.fixture
def fitted():
    rng = np.random.default_rng(0)
    X = rng.random((60, 4))
    z = np.sin(4.0 * X).sum(axis=1)
    z = (z - z.mean()) / z.std()
    gp = MapGaussianProcess()
    theta, value = gp.most_probable(X, z, start=None, max_evaluations=500)
    gp.set_theta(X, z, theta)
    return gp, X, z, theta, value


def density(gp, X, theta):
    """The log posterior density, written out; 5, 1.3, 2, 1e-6 and 4 are the prior's."""
    d = X.shape[1]
    centre = np.concatenate([np.log(5.0 * X.std(axis=0) * np.sqrt(d)), [0.0, np.log(1e-6)]])
    width = np.concatenate([np.full(d, 1.3), [2.0, 4.0]])
    return gp.log_marginal_likelihood(theta) - 0.5 * np.sum(((theta - centre) / width) ** 2)


def test_the_value_is_the_log_density(fitted):
    gp, X, _, theta, value = fitted
    assert np.isclose(value, density(gp, X, theta), rtol=1e-9)


def test_no_step_improves_the_density(fitted):
    gp, X, _, theta, value = fitted
    best = minimize(lambda t: -density(gp, X, t), theta, method="Nelder-Mead", options={"maxfev": 2000})
    assert -best.fun <= value + 1e-3


def test_the_prior_is_in_units_of_the_data(fitted):
    gp, X, z, theta, _ = fitted
    shrunk, _ = gp.most_probable(1e-4 * X, z, start=None, max_evaluations=500)
    assert np.allclose(shrunk[:4] - np.log(1e-4), theta[:4], atol=1e-2)


def test_a_climb_ends_where_no_neighbour_is_better(fitted):
    gp, _, z, _, _ = fitted
    box = np.full(4, 0.1), np.full(4, 0.9)
    start = np.full(4, 0.5)
    x, value = Improvement(gp, float(z.max())).climb(start, box, max_evaluations=200)
    score = LogExpectedImprovement()
    rng = np.random.default_rng(1)
    assert np.isclose(score(gp, x[None, :], float(z.max()), rng)[0], value, rtol=1e-7)
    assert value > score(gp, start[None, :], float(z.max()), rng)[0]
    around = np.clip(x + 1e-3 * rng.standard_normal((500, 4)), *box)
    assert score(gp, around, float(z.max()), rng).max() <= value + 1e-6


def test_a_degenerate_box_is_a_point(fitted):
    gp, _, z, _, _ = fitted
    here = np.full(4, 0.3)
    x, value = Improvement(gp, float(z.max())).climb(here, (here, here), max_evaluations=20)
    assert np.array_equal(x, here) and np.isfinite(value)


def test_very_many_inputs_that_nothing_is_known_of_have_the_lengthscales_of_the_prior(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.hstack([np.zeros((40, 8)), rng.random((40, 2)), np.ones((40, 4))])
    z = np.sin(9.0 * X[:, 8]) + X[:, 9]
    z = (z - z.mean()) / z.std()
    climbed = MapGaussianProcess().most_probable(X, z, start=None, max_evaluations=200)
    monkeypatch.setattr(columns, "MANY", 12)
    inputs = []
    monkeypatch.setattr(map_gp, "Likelihood", lambda *data: inputs.append(data[1].shape) or Likelihood(*data))
    searched = MapGaussianProcess().most_probable(X, z, start=None, max_evaluations=200)
    assert inputs == [(40, 2)]
    np.testing.assert_allclose(searched[0], climbed[0], atol=1e-3)
    assert np.isclose(searched[1], climbed[1], rtol=1e-6)
    again = MapGaussianProcess().most_probable(X, z, start=searched[0] + 1.0, max_evaluations=200)
    np.testing.assert_array_equal(again[0][:8], searched[0][:8])
    del inputs[:]
    theta, value = MapGaussianProcess().most_probable(np.ones_like(X), z, start=None, max_evaluations=200)
    assert inputs == [(40, 1)] and np.isfinite([*theta, value]).all()

"""B21: expected improvement where the standard deviation is zero or tiny.

The case minimises with incumbent 1; inside everything is maximised, so means and incumbent change sign.
"""

import numpy as np
import pytest

import gssbo
from gssbo._core import _acquire
from gssbo.acquisition import ExpectedImprovement, LogExpectedImprovement

pytestmark = pytest.mark.usefixtures("single_thread")

MEAN = np.array([0.7, 1.2, 1.0, 0.7, 1.2])
STD = np.array([0.0, 0.0, 1e-12, 1e-12, 1e-12])


class Moments:
    def __init__(self, mean, std):
        self.moments = mean, std

    def posterior(self, candidates):
        return self.moments


def score(acquisition):
    gp = Moments(-MEAN, STD)
    return acquisition(gp, np.zeros((5, 1)), -1.0, np.random.default_rng(0))


def test_expected_improvement():
    np.testing.assert_allclose(score(ExpectedImprovement()), [0.3, 0.0, 3.9894228040143e-13, 0.3, 0.0], rtol=1e-12)


def test_its_logarithm():
    value = score(LogExpectedImprovement())
    assert not np.isnan(value).any()
    np.testing.assert_allclose(value[[0, 2, 3]], np.log([0.3, 3.9894228040143e-13, 0.3]), rtol=1e-12)
    assert value[1] == -np.inf
    assert value[4] == pytest.approx(-2.0e22, rel=1e-9)


def test_gradients_are_never_nan():
    z = np.array([-1e200, -2e11, -1e4, -40.0, 0.0, 40.0, 3e11, 1e200])
    value, slope = np.empty(8), np.empty(8)
    _acquire.log_h_values(z, value, slope)
    assert not np.isnan(value).any() and not np.isnan(slope).any()
    X = np.array([[0.2], [0.5], [0.9]])
    gp = gssbo.GaussianProcess(lengthscale=0.3, noise=0.0, fit_hyperparameters=False).fit(X, [1.0, 2.0, 0.5])
    dmean, dstd = gp.predict_gradient(X)  # the standard deviation is zero here, or next to it
    assert np.isfinite(dmean).all() and np.isfinite(dstd).all()


@pytest.mark.parametrize("acquisition", ["ei", "log_ei", "pi"])
def test_told_points_never_win_in_a_loop(acquisition):
    """Without noise the standard deviation vanishes at told points; the asks stay finite and new."""
    surrogate = gssbo.GaussianProcess(lengthscale=0.3, noise=0.0, fit_hyperparameters=False)
    opt = gssbo.Optimizer([(0.0, 1.0)], n_init=5, acquisition=acquisition, surrogate=surrogate, n_candidates=500, rng=0)
    seen = set()
    for _ in range(20):
        x = opt.ask()
        assert np.isfinite(x).all() and float(x[0]) not in seen
        seen.add(float(x[0]))
        opt.tell(x, (x[0] - 0.3) ** 2)
    assert opt.best_x[0] == pytest.approx(0.3, abs=0.05)

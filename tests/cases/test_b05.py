"""B05: near-duplicates far from the origin, where an expanded square loses the distance."""

import numpy as np
import pytest

import gssbo
from gssbo.kernels import Kernel

pytestmark = pytest.mark.usefixtures("single_thread")

P1, P4 = np.array([29.8685, 25.7599, 22.7885]), np.array([-11.2, 3.4, 5.6])
P2, P5 = P1 + np.array([1e-8, 0.0, -1e-8]), P4 + np.array([0.0, 0.0, 4e-8])
X = np.array([P1, P2, P2, P4, P5])
Y = np.array([1.0, 1.2, 0.9, 3.0, 3.1])
UNIT = (X + 32.0) / 64.0
BOX = [(-32.0, 32.0)] * 3


@pytest.mark.parametrize("name", ["matern52", "matern32", "rbf"])
@pytest.mark.parametrize("points", [UNIT, X])
def test_kernel_matrix(name, points):
    K = Kernel(name, np.full(3, 0.3), 1.7)(points)
    assert np.isfinite(K).all() and np.array_equal(K, K.T)
    assert (np.diag(K) == 1.7).all()
    assert K[0, 1] == pytest.approx(K[0, 0], rel=1e-13)
    assert K.max() <= 1.7


def fixed():
    return gssbo.GaussianProcess(lengthscale=0.3, variance=1.0, noise=1e-4, fit_hyperparameters=False)


def check_values(mean, std):
    np.testing.assert_allclose(mean, [1.033363, 3.049937], rtol=1e-6)
    np.testing.assert_allclose(std**2, [3.2879e-05, 4.9318e-05], rtol=2e-5)  # given to five digits


def test_fixed_hyperparameters():
    gp = fixed().fit(UNIT, Y)
    assert gp.fit_info_["jitter"] == 0.0
    check_values(*gp.predict(UNIT[[0, 3]], return_std=True))


def test_fixed_hyperparameters_through_the_optimizer():
    opt = gssbo.Optimizer(BOX, n_init=5, surrogate=fixed(), rng=0)
    opt.tell(X, Y)
    check_values(*opt.predict(X[[0, 3]], return_std=True))


@pytest.mark.parametrize("kernel", ["matern52", "matern32", "rbf"])
def test_fitted_hyperparameters(kernel):
    opt = gssbo.Optimizer(BOX, n_init=5, surrogate=gssbo.GaussianProcess(kernel), rng=0)
    opt.tell(X, Y)
    for _ in range(3):
        x = opt.ask()
        assert np.isfinite(x).all() and (np.abs(x) <= 32).all()
        opt.tell(x, 2.0)
        mean, std = opt.predict(np.vstack([X, np.zeros(3)]), return_std=True)
        assert np.isfinite(mean).all() and np.isfinite(std).all() and (std >= 0).all()
        assert np.isfinite(opt.surrogate.theta_).all()

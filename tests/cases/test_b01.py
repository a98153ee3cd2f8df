"""B01: every value the same, or only one value."""

import numpy as np
import pytest

import gssbo

pytestmark = pytest.mark.usefixtures("single_thread")

TOLD = [0.05, 0.2, 0.4, 0.6, 0.8, 0.95]


def check_model(opt):
    mean, std = opt.predict(np.linspace(0, 1, 41)[:, None], return_std=True)
    np.testing.assert_allclose(mean, 3.7, rtol=0, atol=1e-9)
    assert np.isfinite(std).all() and (std >= 0).all()
    gp = opt.surrogate
    assert np.isfinite(gp.theta_).all()
    spread = np.ptp(gp.X_train_, axis=0) or 1.0
    slack = 1 + 1e-12
    assert (gp.lengthscale_ >= 1e-3 * spread / slack).all() and (gp.lengthscale_ <= 1e3 * spread * slack).all()
    for value, (low, high) in ((gp.variance_, gp.variance_bounds), (gp.noise_, gp.noise_bounds)):
        assert low / slack <= value <= high * slack


@pytest.mark.parametrize("acquisition", ["ucb", "ei", "log_ei", "pi", "thompson"])
def test_a_single_observation(acquisition):
    opt = gssbo.Optimizer([(0.0, 1.0)], n_init=1, acquisition=acquisition, rng=0)
    opt.tell([0.3], 3.7)
    x = opt.ask()
    assert np.isfinite(x).all() and 0 <= x[0] <= 1 and x[0] != 0.3
    check_model(opt)
    assert opt.best_y == 3.7


@pytest.mark.parametrize("acquisition", ["ucb", "ei", "log_ei", "pi", "thompson"])
def test_a_constant_objective(acquisition):
    opt = gssbo.Optimizer([(0.0, 1.0)], n_init=6, acquisition=acquisition, rng=0)
    opt.tell(np.array(TOLD)[:, None], np.full(6, 3.7))
    seen = list(TOLD)
    for _ in range(10):
        x = opt.ask()
        assert x.shape == (1,) and np.isfinite(x).all() and 0 <= x[0] <= 1
        assert x[0] not in seen
        seen.append(float(x[0]))
        opt.tell(x, 3.7)
        check_model(opt)
    assert opt.best_y == 3.7

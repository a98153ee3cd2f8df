"""B23: several asks without a tell are several points."""

import numpy as np
import pytest

import gssbo
from gssbo.fantasy import fantasize


@pytest.mark.parametrize("method", ["portfolio", "ucb", "ei", "log_ei", "pi", "thompson"])
@pytest.mark.parametrize("at_once", [True, False])
def test_eight_asks_are_spread(method, at_once):
    options = {"method": method} if method == "portfolio" else {"acquisition": method, "n_candidates": 2000}
    opt = gssbo.Optimizer([(0.0, 1.0)] * 2, n_init=10, rng=0, **options)
    X = np.random.default_rng(0).random((10, 2))
    opt.tell(X, np.sum((X - 0.3) ** 2, axis=1))
    points = opt.ask(8) if at_once else np.array([opt.ask() for _ in range(8)])
    distances = np.linalg.norm(points[:, None] - points[None], axis=-1)[np.triu_indices(8, 1)]
    # A portfolio finds the bottom of a bowl exactly, with whoever builds on the others: distinct, but not far apart.
    assert distances.min() > (0.0 if method == "portfolio" else 1e-3)
    if method in ("ucb", "thompson"):  # the others are greedier: the gain is in the valley here
        assert distances.max() > 0.1
    assert [s.id for s in opt.pending] == list(range(8))


def test_a_small_discrete_space():
    opt = gssbo.Optimizer([range(3), range(3)], n_init=3, rng=0)
    told = [[0, 0], [1, 2], [2, 1]]
    opt.tell(told, [1.0, 2.0, 0.5])
    points = [opt.ask() for _ in range(6)]
    assert len({tuple(x) for x in points + told}) == 9


@pytest.mark.parametrize("at_once", [True, False])
def test_48_asks_before_any_tell(at_once):
    opt = gssbo.Optimizer([(0.0, 1.0)] * 2, rng=0)
    points = opt.ask(48) if at_once else np.array([opt.ask() for _ in range(48)])
    assert len(np.unique(points, axis=0)) == 48


def test_a_pending_point_loses_its_variance():
    gp = gssbo.GaussianProcess(lengthscale=0.3, noise=1e-6, fit_hyperparameters=False, normalize_y=False)
    gp.fit([[0.2], [0.8]], [0.0, 0.0])
    middle = np.array([[0.5]])
    np.testing.assert_allclose(gp.posterior(middle)[1] ** 2, 0.51773219, rtol=1e-7)
    np.testing.assert_allclose(fantasize(gp, middle).posterior(middle)[1] ** 2, 1e-6, rtol=1e-4)
    # Asked at 0.5, it is not asked there again.
    opt = gssbo.Optimizer([(0.0, 1.0)], n_init=2, surrogate=gp, acquisition_options={"beta": 100.0}, rng=0)
    opt.tell([[0.2], [0.8]], [0.0, 0.0])
    first, second = opt.ask()[0], opt.ask()[0]
    assert abs(first - second) > 0.1

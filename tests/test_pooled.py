"""The mean of the whole pool with the uncertainty of its projection, each as the process has it that it is from."""

import copy

import numpy as np
import pytest

from gssbo.fantasy import fantasize
from gssbo.gp import GaussianProcess
from gssbo.pooled import PooledProcess
from gssbo.projected import ProjectedProcess


@pytest.fixture(scope="module")
def parts():
    rng = np.random.default_rng(0)
    X = rng.random((700, 3))
    y = np.sin(4.0 * X).sum(axis=1) + 0.01 * rng.standard_normal(700)
    gp = GaussianProcess(lengthscale=[0.4, 0.5, 0.6], noise=1e-3, fit_hyperparameters=False)
    gp.fit(X, y, noise_std=np.where(np.arange(700) % 3, 0.0, 0.1))
    projection = ProjectedProcess(gp.kernel_, gp.noise_, X[:40].copy(), scale=(gp.y_mean_, gp.y_std_))
    projection.observe(X, gp.y_train_, gp.known_noise_)
    return gp, projection


def test_mean_and_deviation_are_those_of_the_parts(parts):
    gp, projection = parts
    process, points = PooledProcess(gp, projection), np.random.default_rng(1).random((1500, 3))
    mean, std = process.posterior(points)
    np.testing.assert_allclose(mean, gp.posterior(points)[0], rtol=0, atol=1e-9)
    np.testing.assert_array_equal(std, projection.posterior(points)[1])
    assert (process.y_mean_, process.y_std_, process.noise_) == (gp.y_mean_, gp.y_std_, gp.noise_)
    assert repr(process) == "PooledProcess('matern52', n=700)"


def test_bounds_hold_and_are_tight_enough_to_drop_most(parts):
    process, points = PooledProcess(*parts), np.random.default_rng(2).random((3000, 3))
    mean, std = process.posterior(points)
    above, wide = process.posterior_bound(points)
    assert (above >= mean).all()
    np.testing.assert_array_equal(wide, std)
    assert np.mean(above + wide >= (mean + std).max()) < 0.1


def test_what_is_imagined_leaves_the_mean_and_narrows_the_rest(parts):
    process, points = PooledProcess(*parts), np.random.default_rng(3).random((200, 3))
    before = process.posterior(points)
    after = fantasize(process, points[:7]).posterior(points)
    np.testing.assert_array_equal(after[0], before[0])
    assert (after[1] <= before[1] + 1e-12).all() and (after[1][:7] < before[1][:7]).all()
    np.testing.assert_array_equal(process.posterior(points)[1], before[1])  # itself it stays


def test_threads_change_nothing(parts):
    points = np.random.default_rng(4).random((2000, 3))
    one, other = PooledProcess(*parts), copy.copy(PooledProcess(*parts))
    other.threads = 4
    for mine, its in zip(one.posterior(points), other.posterior(points), strict=True):
        np.testing.assert_array_equal(mine, its)

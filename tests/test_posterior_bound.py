"""Bounds on the posterior from above: what the choice among candidates drops most of them by."""

import itertools

import numpy as np
import pytest

from gssbo import GaussianProcess
from gssbo.acquisition import ACQUISITIONS
from gssbo.choice import choose

KINDS = ("matern52", "matern32", "rbf")
SLOPE = {"matern52": 5.0**0.5, "matern32": 3.0**0.5, "rbf": 1.0}


def model(X, y, kernel="matern52", **options):
    return GaussianProcess(kernel=kernel, fit_hyperparameters=False, **options).fit(X, y)


def some_points(X, rng, m=200):
    """Uniform ones, those observed, and others close to them."""
    near = [X + 10.0**-k * rng.standard_normal(X.shape) for k in (1, 3, 6)]
    return np.vstack([rng.random((m, X.shape[1])), X, *near])


def bounded(gp, points):
    """The mean, and the bounds, which are above."""
    mean, std = gp.posterior(points)
    above, bound = gp.posterior_bound(points)
    assert (above >= mean).all()
    assert (bound >= std).all()
    return mean, above, bound


@pytest.mark.parametrize("kernel", KINDS)
@pytest.mark.parametrize("d", [1, 2, 7, 50])
def test_bounds_are_above_and_close(kernel, d):
    rng = np.random.default_rng(d)
    for n, scale, noise in itertools.product((1, 2, 3, 4, 45), (0.05, 0.5, 5.0, 50.0), (1e-6, 1e-2)):
        X = rng.random((n, d))
        gp = model(X, rng.standard_normal(n), kernel, lengthscale=scale * d**0.5, noise=noise, variance=1.7)
        points = some_points(X, rng)
        mean, above, bound = bounded(gp, points)
        # Single precision loses a few units of 2^-24, and those of the coordinates grow with them.
        reach = SLOPE[kernel] * 2.0 / scale * 1.5
        lost = 2.0**-24 * (30.0 + (0.5 * d + 7.0) * 2.0 * max(reach, reach**2 * (kernel == "rbf")))
        weight = gp.variance_ * np.abs(gp.alpha_).sum()
        closest = gp.kernel_(points, X).max(axis=1)
        assert (above - mean <= lost * weight * closest / gp.variance_ + 1e-12 * weight).all()
        alone = gp.variance_ - closest**2 / (gp.variance_ + gp.noise_)
        np.testing.assert_allclose(bound**2, alone, rtol=0.0, atol=gp.variance_ * (3e-6 + 3.0 * min(lost, 0.01)))


def test_where_too_much_would_be_lost_the_mean_is_exact():
    X = np.linspace(0.0, 1.0, 40)[:, None]
    points = np.linspace(-0.1, 1.1, 777)[:, None]
    weighty = model(X, (-1.0) ** np.arange(40), "rbf", lengthscale=0.3, noise=1e-10)
    assert weighty.variance_ * np.abs(weighty.alpha_).sum() > 1e7
    far = model(X, np.sin(9.0 * X[:, 0]), lengthscale=1e-8)
    for gp in (weighty, far):
        np.testing.assert_array_equal(gp.posterior_bound(points)[0], gp.posterior(points)[0])
        bounded(gp, points)
    near = model(X, np.sin(9.0 * X[:, 0]), lengthscale=0.3, noise=1e-4)
    assert (near.posterior_bound(points)[0] > near.posterior(points)[0]).all()


@pytest.mark.parametrize("unit", [1e-315, 1e-200, 1e-60, 1e-40, 1.0, 1e40, 1e150])
def test_responses_in_any_unit(unit):
    """What single precision cannot hold is not put into it."""
    rng = np.random.default_rng(3)
    X = rng.random((30, 2))
    y = np.sin(5.0 * X).sum(axis=1)
    gp = model(X, unit * y, normalize_y=False, lengthscale=0.4, variance=1.0, noise=1e-3)
    points = some_points(X, rng)
    mean, above, _ = bounded(gp, points)
    assert np.isfinite(above).all()
    assert (above - mean <= 1e-3 * unit).all()


@pytest.mark.parametrize("variance", [1e-309, 1e-300, 1e-291, 1e-280, 1e-200, 1e200])
def test_variances_of_any_size(variance):
    rng = np.random.default_rng(0)
    X, points = rng.random((20, 2)), 8.0 * rng.random((300, 2))
    y = variance**0.5 * rng.standard_normal(20)
    options = {"normalize_y": False, "variance": variance, "noise": 0.1 * variance}
    for lengthscale in (0.1, 1.0):
        bounded(model(X, y, lengthscale=lengthscale, **options), points)


@pytest.mark.parametrize("unit", [1e-300, 1e-30, 1e30, 1e150])
def test_inputs_in_any_unit(unit):
    rng = np.random.default_rng(4)
    X = rng.random((30, 3))
    points = some_points(X, rng)
    y = np.cos(4.0 * X).sum(axis=1)
    plain = model(X, y, lengthscale=0.4, noise=1e-3).posterior_bound(points)
    scaled = model(unit * X, y, lengthscale=0.4 * unit, noise=1e-3).posterior_bound(unit * points)
    np.testing.assert_allclose(scaled, plain, rtol=1e-5, atol=1e-5)


def test_points_at_any_distance():
    X = np.random.default_rng(5).random((20, 2))
    gp = model(X, X.sum(axis=1), lengthscale=0.3, noise=1e-3)
    points = np.concatenate([np.full((3, 2), far) for far in (1e1, 1e3, 1e8, 1e20, 1e160, 1e300)])
    for each in (points, points[::-1].copy(), -points):
        mean, above, _ = bounded(gp, each)
        np.testing.assert_allclose(above, mean, atol=1e-6)


def test_equal_responses_weigh_nothing():
    gp = model(np.random.default_rng(6).random((9, 4)), np.ones(9))
    points = np.random.default_rng(7).random((300, 4))
    assert not np.any(gp.alpha_)
    _, above, _ = bounded(gp, points)
    assert (np.abs(above) <= 1e-25).all()


@pytest.mark.parametrize("threads", [2, 5])
def test_bounds_hold_with_any_number_of_threads(threads):
    rng = np.random.default_rng(8)
    X, points = rng.random((50, 6)), rng.random((5_000, 6))
    y = np.sin(4.0 * X).sum(axis=1)
    one, more = (model(X, y, lengthscale=0.5, threads=count) for count in (1, threads))
    above, bound = one.posterior_bound(points)
    mean, std = one.posterior(points)
    for found in (more.posterior_bound(points), (above, bound)):
        assert (found[0] >= mean).all()
        assert (found[1] >= std).all()


@pytest.mark.parametrize("name", ["ucb", "ei", "log_ei"])
@pytest.mark.parametrize("kernel", KINDS)
def test_the_choice_is_that_of_exact_scores(name, kernel):
    for seed, (d, noise, scale) in enumerate(itertools.product((1, 3, 20), (1e-6, 1e-2), (0.1, 1.0))):
        rng = np.random.default_rng(seed)
        X = rng.random((40, d))
        y = np.sin(3.0 * X).sum(axis=1)
        gp = model(X, y, kernel, lengthscale=scale * d**0.5, noise=noise)
        acquisition = ACQUISITIONS[name]()
        candidates = np.vstack([rng.random((1_500, d)), X])
        best = float(gp.y_train_.max())
        scores = acquisition(gp, candidates, best, rng)
        chosen = choose(acquisition, gp, candidates, best, rng, lambda U: np.ones(len(U), dtype=bool))
        assert chosen[0] == np.argmax(scores)


def test_scores_that_are_flat_but_for_rounding():
    rng = np.random.default_rng(0)
    for seed in range(20):
        X, candidates = np.random.default_rng(seed).random((20, 2)), rng.random((600, 2))
        gp = model(X, np.ones(20), lengthscale=0.3, noise=1e-4)
        scores = ACQUISITIONS["log_ei"]()(gp, candidates, -50.0, rng)
        chosen = choose(ACQUISITIONS["log_ei"](), gp, candidates, -50.0, rng, lambda U: np.ones(len(U), dtype=bool))
        assert chosen[0] == np.argmax(scores)

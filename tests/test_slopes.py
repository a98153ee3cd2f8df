"""Slopes of the likelihood in many dimensions, where they are found by matrix products."""

import numpy as np
import pytest

from gssbo import reference
from gssbo._core import _kernels
from gssbo._mle import Likelihood

KINDS = _kernels.KINDS
NARROW = 8  # dimensions up to which differences are used


def case(n, d, *, noise=1e-2, scale=0.5, seed=0):
    """X (n, d), z (n,) and theta (d + 2,), lengthscales within a factor of `scale` sqrt(d)."""
    rng = np.random.default_rng(seed)
    lengthscales = scale * np.sqrt(d) * rng.uniform(0.5, 2.0, d)
    return rng.random((n, d)), rng.standard_normal(n), np.log([*lengthscales, rng.uniform(0.5, 2.0), noise])


def require_close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10 * np.abs(expected).max())


def slopes(kernel, X, z, theta, **options):
    value, gradient = Likelihood(KINDS[kernel], X, z, **options)(theta)
    assert np.isfinite(value)
    return gradient


@pytest.mark.parametrize("kernel", sorted(KINDS))
@pytest.mark.parametrize("d", [NARROW, 9, 12, 13, 24, 50])
def test_slopes_are_those_of_the_reference(kernel, d):
    """Sizes around those of tiles (4, 8, 12, 16) and of panels (64)."""
    for n in (2, 3, 5, 17, 63, 64, 65, 130):
        X, z, theta = case(n, d, seed=n)
        _, expected = reference.log_marginal_likelihood(X, z, theta, kernel)
        require_close(slopes(kernel, X, z, theta), expected)


@pytest.mark.parametrize("consistent", [True, False])
@pytest.mark.parametrize("kernel", sorted(KINDS))
def test_products_lose_nothing_that_differences_keep(kernel, consistent):
    """Of 20 coordinates 14 do not differ: the slopes in the others are those that differences give.

    Some inputs are equal and some nearly so. Where their responses differ too, weights reach 1e13.
    """
    X, z, theta = case(80, 6, noise=1e-6, scale=0.2)
    X[40:50] = X[:10]
    X[50:60] = X[:10] + 1e-7
    if consistent:
        z = np.sin(X @ np.arange(6))
    expected = slopes(kernel, X, z, theta)
    wide = np.hstack([X, np.full((80, 14), 0.25)])
    found = slopes(kernel, wide, z, np.concatenate([theta[:6], np.zeros(14), theta[6:]]))
    np.testing.assert_allclose(found[[*range(6), -2, -1]], expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    assert not found[6:20].any()


@pytest.mark.parametrize("scale", [0.1, 0.01, 1e-3, 1e-4, 1e-5])
def test_slopes_of_short_lengthscales(scale):
    """Down to where inputs are so far apart, in lengthscales, that products would cancel."""
    X, z, theta = case(60, 20, scale=scale)
    X[30:] = X[:30] + scale * np.random.default_rng(1).standard_normal((30, 20))
    _, expected = reference.log_marginal_likelihood(X, z, theta)
    require_close(slopes("matern52", X, z, theta), expected)


def test_slopes_far_from_the_origin():
    X, z, theta = case(60, 20)
    _, expected = reference.log_marginal_likelihood(X, z, theta)
    np.testing.assert_allclose(slopes("matern52", X + 2.0**20, z, theta), expected, rtol=1e-7)


def test_one_input_far_from_all_others():
    """Its squares are 1e20; it counts for nothing but itself."""
    X, z, theta = case(60, 20)
    X[7] = 1e10
    _, expected = reference.log_marginal_likelihood(X, z, theta)
    require_close(slopes("matern52", X, z, theta), expected)


@pytest.mark.parametrize("d", [NARROW, 9, 25, 50])
def test_threads_do_not_change_a_bit(d):
    X, z, theta = case(300, d)
    alone = slopes("matern52", X, z, theta)
    for threads in (2, 3, 7):
        assert np.array_equal(slopes("matern52", X, z, theta, threads=threads), alone)

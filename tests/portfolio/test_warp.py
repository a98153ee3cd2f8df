import numpy as np
import pytest
from scipy.stats import multivariate_normal

from gssbo.factor import Factor
from gssbo.portfolio.warp import POWERS, likeliest, slopes, warp


@pytest.mark.parametrize("power", POWERS)
def test_keeps_the_order_and_standardises(power):
    y = np.random.default_rng(0).standard_normal(50) * 10.0 ** np.random.default_rng(1).uniform(-2, 4, 50)
    z, _ = warp(y, power)
    assert np.array_equal(np.argsort(z), np.argsort(y))
    assert np.isclose(z.mean(), 0.0, atol=1e-12) and np.isclose(z.std(), 1.0)


@pytest.mark.parametrize("power", POWERS)
def test_jacobian_is_the_derivative(power):
    """J of one response moved a little, all else equal, against the slope of the warp itself."""
    y = np.array([0.0, -0.5, -1.0, -2.0, -7.0, -30.0])
    z, J = warp(y, power)
    scale = 1.0  # the lower median of the halved gaps 0.25, 0.5, 1, 3.5, 15
    g = -0.5 * y / scale
    slope = (1.0 + g) ** (power - 1.0)
    raw = -np.log1p(g) if power == 0.0 else (1.0 - (1.0 + g) ** power) / power
    assert np.allclose(z, (raw - raw.mean()) / raw.std(), rtol=1e-12)
    assert np.isclose(J, np.log(slope).sum() - len(y) * np.log(raw.std()), rtol=1e-12)


@pytest.mark.parametrize("y", [np.ones(5), np.zeros(3), np.array([4.0])])
def test_equal_responses_say_nothing(y):
    z, J = warp(y, 0.5)
    assert not z.any() and J == 0.0


@pytest.mark.parametrize("factor", [1e300, 1e-300])
def test_scale_does_not_matter(factor):
    y = np.random.default_rng(0).standard_normal(20)
    assert np.allclose(warp(factor * y, 0.25)[0], warp(y, 0.25)[0], rtol=1e-9)


@pytest.mark.parametrize("power", POWERS)
def test_the_least_doubles_are_a_scale(power):
    """Gaps are divided by their median, and slopes by it."""
    y = np.array([0.0, -1e-323, -1e-323, -2e-323, -3e-323, -1.0])
    z, J = warp(y, power)
    assert np.isfinite(z).all() and np.isfinite(J) and (np.diff(z) <= 0.0).all() and z[-1] < z[-2]
    assert (slopes(y, power) >= 0.0).all() and (slopes(y[:-1], power) == np.inf).all()


@pytest.mark.parametrize("power", POWERS)
def test_slopes_are_those_between_close_neighbours(power):
    y = np.random.default_rng(0).standard_normal(30) ** 3
    both = np.sort(np.concatenate([y, y - 1e-7]))
    z, _ = warp(both, power)
    secant = (z[1::2] - z[::2]) / (both[1::2] - both[::2])
    assert np.allclose(slopes(both, power)[::2], secant, rtol=1e-5)
    assert not slopes(np.ones(4), power).any()


@pytest.mark.parametrize("steep", [1.0, 4.0, 12.0])
def test_the_likeliest_is_that_of_the_normal_density(steep):
    """With the variance factor that makes it largest, and J for the warp; constants are left out."""
    x = np.linspace(0.0, 1.0, 12)
    A = np.exp(-8.0 * (x[:, None] - x) ** 2) + 0.01 * np.eye(12)
    y = -np.exp(steep * x)
    warped = [(power, *warp(y, power)) for power in POWERS]
    variances = [float(z @ np.linalg.solve(A, z)) / 12 for _, z, _ in warped]
    densities = [
        multivariate_normal(np.zeros(12), variance * A).logpdf(z) + J
        for variance, (_, z, J) in zip(variances, warped, strict=True)
    ]
    value, power, variance = likeliest(Factor(A), warped)
    best = int(np.argmax(densities))
    assert power == POWERS[best] and np.isclose(variance, variances[best], rtol=1e-8)
    assert np.isclose(value, densities[best] + 6.0 * (np.log(2.0 * np.pi) + 1.0), rtol=1e-9)


def test_where_no_likelihood_is_finite_none_is_the_likeliest():
    assert likeliest(Factor(np.eye(2)), [(1.0, np.full(2, np.nan), 0.0)])[0] == -np.inf

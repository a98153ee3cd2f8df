"""B03: a constant factor on the objective changes nothing but the units."""

import numpy as np
import pytest

import gssbo

pytestmark = pytest.mark.usefixtures("single_thread")

X = np.linspace(0, 1, 9)[:, None]
QUERY = np.linspace(0, 1, 13)[:, None]


def objective(x):
    return float(np.sin(6 * x[0]) + x[0])


def run(factor, acquisition="ucb"):
    opt = gssbo.Optimizer([(0.0, 1.0)], n_init=9, acquisition=acquisition, n_candidates=500, rng=11)
    opt.tell(X, [objective(x) * factor for x in X])
    asks = []
    for _ in range(10):
        asks.append(opt.ask()[0])
        opt.tell(asks[-1:], objective(asks[-1:]) * factor)
    return np.array(asks), *opt.predict(QUERY, return_std=True)


@pytest.fixture(scope="module")
def plain():
    return {name: run(1.0, name) for name in ("ucb", "ei")}


@pytest.mark.parametrize(
    ("acquisition", "exponent"),
    [*[("ucb", e) for e in (40, -40, 300, -300, 600, -600)], ("ei", 40), ("ei", 600), ("ei", -600)],
)
def test_powers_of_two_change_no_bit(plain, acquisition, exponent):
    """Also at 2^600 and 2^-600, where squares overflow and underflow."""
    asks, mean, std = run(2.0**exponent, acquisition)
    expected = plain[acquisition]
    assert np.array_equal(asks, expected[0])
    assert np.array_equal(mean, expected[1] * 2.0**exponent)
    assert np.array_equal(std, expected[2] * 2.0**exponent)


def test_any_other_factor_changes_rounding_only(plain):
    asks, mean, std = run(1e12)
    np.testing.assert_allclose(asks, plain["ucb"][0], rtol=1e-6)
    # The asks are equal; the fitted hyperparameters behind the model are to the search's own tolerance.
    np.testing.assert_allclose(mean, 1e12 * plain["ucb"][1], rtol=1e-4, atol=1e8)
    np.testing.assert_allclose(std, 1e12 * plain["ucb"][2], rtol=1e-2)

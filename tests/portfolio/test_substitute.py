"""What searchers see in the place of penalties and failures."""

import numpy as np
import pytest

from gssbo import Optimizer
from gssbo.portfolio.substitute import substituted

NAN = np.nan
MANY = np.arange(12.0)


@pytest.mark.parametrize("told", [MANY, MANY[:0], np.full(12, 3.0)])
def test_what_is_told_stays_as_it_is(told):
    assert substituted(told) is told


@pytest.mark.parametrize(
    ("told", "seen"),
    [
        ([NAN, NAN], [0.0, 0.0]),
        ([5.0, NAN], [5.0, 4.0]),  # nothing to compare it with: a standard deviation, here 1, below
        ([0.0, -1.0, -9.0, -9.0, -9.0], [0.0, -1.0, -1.0, -1.0, -1.0]),
        ([0.0, -1.0, -2.0, -3.0, -9.0, -9.0, -9.0], [0.0, -1.0, -2.0, -3.0, -2.0, -2.0, -2.0]),
        ([0.0, 0.0, 0.0, 0.0, -1.0, -9.0, -9.0, -9.0], [0.0, 0.0, 0.0, 0.0, -1.0, -1.0, -1.0, -1.0]),  # each once
        ([1e307, 0.0, -1.7e308, -1.7e308, -1.7e308], [1e307, 0.0, 0.0, 0.0, 0.0]),
        ([0.0, -1.0, -9.0, -9.0], [0.0, -1.0, -9.0, -9.0]),  # not often enough
        ([0.0, -1.0, -2.0, -2.0, -2.0], [0.0, -1.0, -2.0, -2.0, -2.0]),  # not far enough
        ([1.0, 1.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0, 0.0]),  # success or none: that is the objective
        ([0.0, -2.0, NAN, -9.0, -9.0, -9.0], [0.0, -2.0, -2.0 - 0.8, -2.0, -2.0, -2.0]),
    ],
)
def test_the_middle_of_what_is_known_stands_for_a_penalty(told, seen):
    np.testing.assert_allclose(substituted(np.array(told)), seen)


def told_before(bad, n=40):
    optimizer = Optimizer([(0.0, 1.0)] * 2, rng=0)
    X = np.random.default_rng(1).random((n, 2))
    optimizer.tell(X, np.where(X[:, 0] < 0.4, bad, ((X - 0.5) ** 2).sum(axis=1)))
    return optimizer


def test_how_large_a_penalty_is_makes_no_difference():
    low, high = told_before(10.0), told_before(1e12)
    for _ in range(12):
        x = low.ask()
        np.testing.assert_array_equal(high.ask(), x)
        y = ((x - 0.5) ** 2).sum()
        low.tell(x, 10.0 if x[0] < 0.4 else y)
        high.tell(x, 1e12 if x[0] < 0.4 else y)


def test_a_penalty_is_a_value_to_the_predictor():
    optimizer = told_before(1e9)
    assert optimizer.predict([[0.1, 0.5]])[0] > 1e8
    assert optimizer.result().func_vals.max() == 1e9

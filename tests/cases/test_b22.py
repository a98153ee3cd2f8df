"""B22: improvement far below the incumbent, where a plain formula is flat."""

import numpy as np

from gssbo._core import _acquire
from gssbo.acquisition import ExpectedImprovement, LogExpectedImprovement
from tests.oracles import LOG_H, LOG_H_SLOPES


class Moments:
    def __init__(self, mean):
        self.mean = np.array(mean, dtype=float)

    def posterior(self, candidates):
        return self.mean, np.ones_like(self.mean)


def log_h(z):
    z = np.array(z, dtype=float)
    value, slope = np.empty_like(z), np.empty_like(z)
    _acquire.log_h_values(z, value, slope)
    return value, slope


def score(acquisition, mean):
    return acquisition(Moments(mean), np.zeros((len(mean), 1)), 0.0, np.random.default_rng(0))


def test_log_h():
    np.testing.assert_allclose(log_h(list(LOG_H))[0], list(LOG_H.values()), rtol=1e-9)


def test_log_ei_is_log_h_at_unit_standard_deviation():
    np.testing.assert_allclose(score(LogExpectedImprovement(), list(LOG_H)), list(LOG_H.values()), rtol=1e-9)


def test_derivative():
    np.testing.assert_allclose(log_h(list(LOG_H_SLOPES))[1], list(LOG_H_SLOPES.values()), rtol=1e-9)


def test_ranking_survives_underflow():
    plain = np.empty(2)
    _acquire.expected_improvement(np.array([-41.0, -40.0]), np.ones(2), 0.0, plain)
    assert not plain.any()
    for acquisition in (ExpectedImprovement(), LogExpectedImprovement()):
        assert score(acquisition, [-41.0, -40.0]).argmax() == 1
        assert score(acquisition, [-40.0, -41.0, -39.5]).argmax() == 2

"""Standardised responses, and what stands in for those that failed."""

import numpy as np
import pytest

from gssbo.responses import standardize, without_gaps

Y = np.array([3.0, np.nan, -1.0, 7.0, np.nan, 2.0])
KNOWN = Y[~np.isnan(Y)]


def test_failures_are_one_deviation_below_the_worst_and_count_for_nothing_else():
    z, mean, std = standardize(Y)
    assert (mean, std) == (KNOWN.mean(), KNOWN.std())
    np.testing.assert_allclose(z[~np.isnan(Y)], (KNOWN - KNOWN.mean()) / KNOWN.std())
    np.testing.assert_allclose(z[np.isnan(Y)], (-1.0 - KNOWN.mean()) / KNOWN.std() - 1.0)
    np.testing.assert_allclose(without_gaps(Y), [3.0, -1.0 - KNOWN.std(), -1.0, 7.0, -1.0 - KNOWN.std(), 2.0])


@pytest.mark.parametrize("exponent", [600, -600])
def test_the_scale_does_not_matter(exponent):
    np.testing.assert_array_equal(standardize(Y * 2.0**exponent)[0], standardize(Y)[0])


def test_all_failed():
    z, mean, std = standardize(np.full(4, np.nan))
    assert z.tolist() == [0.0] * 4 and (mean, std) == (0.0, 1.0)
    assert without_gaps(np.full(2, np.nan)).tolist() == [0.0, 0.0]


def test_equal_ones_and_failures():
    z, mean, std = standardize(np.array([5.0, np.nan, 5.0]))
    assert z.tolist() == [0.0, -1.0, 0.0] and (mean, std) == (5.0, 1.0)
    assert without_gaps(np.array([5.0, np.nan])).tolist() == [5.0, 4.0]


def test_beyond_doubles():
    assert np.isfinite(without_gaps(np.array([1.7e308, -1.7e308, np.nan]))).all()


def test_nothing_failed():
    assert without_gaps(KNOWN) is KNOWN

"""Arrays as the compiled core takes them."""

from __future__ import annotations

import numpy as np
import pytest

from gssbo._core import _gp, _linalg
from gssbo.padded import LARGE, LINE, aligned, padded_copy, padded_zeros


@pytest.mark.parametrize("size", [0, 1, 7, 8, 4096, 20_000, 1_000_000])
def test_a_large_array_begins_with_a_cache_line(size):
    array = aligned(size)
    assert array.shape == (size,) and (size < LARGE or array.ctypes.data % LINE == 0)
    array.fill(1.0)  # all of it may be written


@pytest.mark.parametrize("n,m", [(0, 3), (3, 0), (1, 1), (5, 16), (4, 17), (70, 70)])
def test_a_padded_copy_has_zeros_behind_each_row(n, m):
    A = np.arange(1.0, n * m + 1.0).reshape(n, m)
    padded = padded_copy(A)
    assert padded.shape == padded_zeros(n, m).shape == (n, _linalg.padded(m))
    assert padded.flags.c_contiguous and (padded.size < LARGE or padded.ctypes.data % LINE == 0)
    assert np.array_equal(padded[:, :m], A) and not padded[:, m:].any()


@pytest.mark.parametrize("n,d", [(30, 3), (100, 50), (300, 2)])
def test_a_likelihood_is_the_same_wherever_its_scratch_begins_and_whatever_it_holds(n, d):
    rng = np.random.default_rng(0)
    X, z, theta = rng.random((n, d)), rng.standard_normal(n), np.full(d + 2, -0.5)
    outcomes = set()
    for skipped in range(9):
        work, gradient = np.full(9 + _gp.work_size(n, d), np.nan)[skipped : skipped - 9], np.empty(d + 2)
        value = _gp.log_likelihood(2, X, z, np.ones(n), np.zeros(n), theta, work, gradient)
        outcomes.add((value, *gradient))
    assert len(outcomes) == 1

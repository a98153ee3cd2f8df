"""HeSBO's closed forms: buckets, signs, no clipping, and the way back."""

import numpy as np
import pytest

from gssbo.baselines.hesbo import HashedSubspace


@pytest.fixture
def subspace():
    return HashedSubspace(40, 5, np.random.default_rng(0))


def test_each_parameter_is_its_buckets_coordinate_with_its_sign(subspace):
    W = np.random.default_rng(1).random((20, 5))
    x = 2.0 * subspace.lift(W) - 1.0
    for i in range(40):
        np.testing.assert_allclose(x[:, i], subspace.sign[i] * (2.0 * W[:, subspace.bucket[i]] - 1.0), atol=1e-15)
    # As the matrix with one entry of -1 or 1 a row.
    S = np.zeros((40, 5))
    S[np.arange(40), subspace.bucket] = subspace.sign
    assert (np.abs(S).sum(axis=1) == 1.0).all()
    np.testing.assert_allclose(x, (2.0 * W - 1.0) @ S.T, atol=1e-14)


def test_corners_go_to_corners(subspace):
    corners = np.random.default_rng(2).integers(2, size=(20, 5)).astype(float)
    assert set(np.unique(subspace.lift(corners))) == {0.0, 1.0}
    np.testing.assert_array_equal(subspace.lift(np.full((1, 5), 0.5)), np.full((1, 40), 0.5))


def test_buckets_and_signs_are_uniform():
    subspace = HashedSubspace(20_000, 10, np.random.default_rng(3))
    counts = np.bincount(subspace.bucket, minlength=10)
    assert (
        (counts - 2000) ** 2 / 2000
    ).sum() < 27.9  # chi squared with 9 degrees of freedom exceeds it 1 time in 1,000
    assert set(subspace.sign) == {-1.0, 1.0}
    assert abs(subspace.sign.mean()) < 0.025
    assert abs(np.corrcoef(subspace.sign, subspace.bucket)[0, 1]) < 0.025


def test_the_way_back(subspace):
    W = np.random.default_rng(4).random((30, 5))
    np.testing.assert_allclose(subspace.lower(subspace.lift(W)), W, atol=1e-14)
    X = np.random.default_rng(5).random((10, 40))
    S = np.zeros((40, 5))
    S[np.arange(40), subspace.bucket] = subspace.sign
    y = np.linalg.lstsq(S, (2.0 * X - 1.0).T, rcond=None)[0].T
    np.testing.assert_allclose(subspace.lower(X), (y + 1.0) / 2.0, atol=1e-12)


def test_an_empty_bucket_stays_in_the_middle():
    subspace = HashedSubspace(3, 2, np.random.default_rng(0))
    subspace.bucket = np.zeros(3, dtype=np.intp)
    np.testing.assert_allclose(subspace.lower(subspace.lift(np.array([[0.2, 0.9]]))), [[0.2, 0.5]])

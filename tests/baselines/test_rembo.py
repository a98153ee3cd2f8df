"""REMBO's closed forms: the box, the map, the clipping, and the way back."""

import numpy as np
import pytest

from gssbo.baselines.rembo import LinearSubspace


@pytest.fixture
def subspace():
    return LinearSubspace(40, 5, np.random.default_rng(0))


def test_the_map_is_a_y_clipped_with_y_in_the_box_of_root_d(subspace):
    W = np.random.default_rng(1).random((200, 5))
    y = -np.sqrt(5) + 2 * np.sqrt(5) * W
    expected = np.array([np.clip(subspace.A @ row, -1.0, 1.0) for row in y])
    np.testing.assert_allclose(2.0 * subspace.lift(W) - 1.0, expected, atol=1e-13)
    assert (np.abs(expected) == 1.0).mean() > 0.3 and subspace.lift(W).min() >= 0.0 and subspace.lift(W).max() <= 1.0


def test_the_box_is_root_d_on_each_side(subspace):
    """Corners and centre, on a coordinate whose row is not clipped there."""
    subspace.A[0] = [0.1, 0.0, 0.0, 0.0, 0.0]
    ends = subspace.lift(np.array([[0.0] * 5, [0.5] * 5, [1.0] * 5]))[:, 0]
    np.testing.assert_allclose(2.0 * ends - 1.0, [-0.1 * np.sqrt(5), 0.0, 0.1 * np.sqrt(5)], atol=1e-15)


def test_the_entries_are_standard_normal():
    A = LinearSubspace(2000, 10, np.random.default_rng(3)).A
    assert A.mean() == pytest.approx(0.0, abs=0.03)
    assert A.std() == pytest.approx(1.0, abs=0.03)
    assert np.abs(np.corrcoef(A.T) - np.eye(10)).max() < 0.1


def test_the_way_back_is_least_squares(subspace):
    W = 0.5 + 0.02 * np.random.default_rng(2).standard_normal((50, 5))  # near the centre nothing is clipped
    X = subspace.lift(W)
    assert X.min() > 0.0 and X.max() < 1.0
    np.testing.assert_allclose(subspace.lower(X), W, atol=1e-12)
    X = np.random.default_rng(4).random((30, 40))
    y = np.linalg.lstsq(subspace.A, (2.0 * X - 1.0).T, rcond=None)[0].T
    np.testing.assert_allclose(subspace.lower(X), np.clip((y / np.sqrt(5) + 1.0) / 2.0, 0.0, 1.0), atol=1e-12)

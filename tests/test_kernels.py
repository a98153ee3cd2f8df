"""Kernels: values, Gram matrices, and near-duplicates far from the origin."""

import numpy as np
import pytest

from gssbo import reference as ref
from gssbo._core import _linalg
from gssbo.kernels import KERNELS, Kernel

NAMES = sorted(KERNELS)
SIZES = [*range(1, 41), *range(63, 67), *range(127, 131), *range(255, 259), 300]


def setting(n, d, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, d)), rng.uniform(0.2, 2.0, d), float(rng.uniform(0.3, 3.0))


def expected(name, A, B, lengthscale, variance):
    return ref.kernel_matrix(A, B, np.log([*lengthscale, variance, 1.0]), name)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", SIZES)
def test_gram(name, n):
    X, lengthscale, variance = setting(n, 3, n)
    kernel, truth = Kernel(name, lengthscale, variance), expected(name, X, X, lengthscale, variance)
    K = kernel(X)
    np.testing.assert_allclose(K, truth, rtol=1e-13, atol=0)
    assert np.array_equal(K, K.T)
    assert (np.diag(K) == variance).all()
    padded = kernel.padded_gram(X, 0.25)
    assert padded.shape == (n, _linalg.padded(n)) and not padded[:, n:].any()
    assert (np.diag(padded) == variance + 0.25).all()
    upper = kernel.padded_gram(X, 0.25, full=False)
    assert np.array_equal(np.triu(upper[:, :n]), np.triu(padded[:, :n]))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("d", [1, 2, 6, 20, 50])
def test_cross(name, d):
    for n, m in [(1, 1), (3, 17), (40, 16), (17, 130), (5, 257)]:
        A, lengthscale, variance = setting(n, d, m)
        B = setting(m, d, m + 1)[0]
        K = Kernel(name, lengthscale, variance)(A, B)
        np.testing.assert_allclose(K, expected(name, A, B, lengthscale, variance), rtol=1e-13, atol=0)


@pytest.mark.parametrize("name", NAMES)
def test_gram_and_cross_agree_to_the_bit(name):
    """A covariance computed row by row is the one in the whole matrix."""
    X, lengthscale, variance = setting(70, 4)
    kernel = Kernel(name, lengthscale, variance)
    K = kernel(X)
    # the coordinates are centred on the first point in both
    assert np.array_equal(kernel(X, X)[np.triu_indices(70, 1)], K[np.triu_indices(70, 1)])
    for n in (1, 15, 33, 64):
        assert np.array_equal(kernel(X[:n]), K[:n, :n])


@pytest.mark.parametrize("name", NAMES)
def test_near_duplicates_far_from_the_origin(name):
    """The distance of two points 1e-8 apart at 1e3 is exact here; the expanded square loses it."""
    x = np.array([[1000.0, -2000.0]])
    y = np.array([[1000.0 + 2.0**-26, -2000.0]])
    K = Kernel(name, np.array([2.0**-25, 1.0]), 1.0)(np.vstack([x, y]))
    half = expected(name, np.zeros((1, 1)), np.full((1, 1), 0.5), [1.0], 1.0).item()
    assert K[0, 1] == pytest.approx(half, rel=1e-14)


def test_duplicates_have_the_full_variance():
    X = np.array([[0.1], [0.7], [0.1]])
    for name in NAMES:
        assert Kernel(name, np.array([0.3]), 1.7)(X)[0, 2] == 1.7


def test_same_as_compares_to_the_bit():
    kernel = Kernel("rbf", np.array([0.5, 1.0]), 1.0)
    assert kernel.same_as(Kernel("rbf", np.array([0.5, 1.0]), 1.0))
    for other in (
        Kernel("matern52", np.array([0.5, 1.0]), 1.0),
        Kernel("rbf", np.array([0.5, np.nextafter(1.0, 2.0)]), 1.0),
        Kernel("rbf", np.array([0.5, 1.0]), np.nextafter(1.0, 2.0)),
    ):
        assert not kernel.same_as(other)


def test_jitters_start_at_none_and_grow_to_a_tenth_of_the_variance():
    endless = Kernel("rbf", np.ones(1), 4.0).jitters(7)
    jitters = [next(endless) for _ in range(11)]
    assert jitters[0] == 0.0
    np.testing.assert_allclose(jitters[1:], 4.0 * 10.0 ** np.arange(-10.0, 0.0), rtol=1e-12)
    with pytest.raises(np.linalg.LinAlgError, match=r"the covariance of 7 points is not positive definite.*\(4\)"):
        next(endless)


@pytest.mark.parametrize("columns", [1, 3])
def test_points_have_a_column_for_each_lengthscale(columns):
    kernel = Kernel("rbf", np.ones(2), 1.0)
    right, wrong = np.ones((4, 2)), np.ones((4, columns))
    rule = rf"must have shape \(n, 2\), a column a lengthscale, got shape \(4, {columns}\)$"
    for name, call in (
        ("X", lambda: kernel(wrong)),
        ("X", lambda: kernel.padded_gram(wrong, 0.1)),
        ("A", lambda: kernel(wrong, right)),
        ("B", lambda: kernel(right, wrong)),
    ):
        with pytest.raises(ValueError, match=f"^{name} {rule}"):
            call()
    with pytest.raises(ValueError, match=r"^B must have shape \(n, 2\), .*, got shape \(2,\)$"):
        kernel(right, right[0])


def test_of_no_points_there_are_no_covariances():
    kernel, some, none = Kernel("matern52", np.ones(2), 1.0), np.ones((3, 2)), np.empty((0, 2))
    assert kernel(none).shape == kernel(none, none).shape == (0, 0)
    assert (kernel(none, some).shape, kernel(some, none).shape) == ((0, 3), (3, 0))
    assert len(kernel.padded_gram(none, 0.1)) == 0

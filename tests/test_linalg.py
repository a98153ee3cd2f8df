"""The compiled triangular algebra against NumPy and SciPy, at sizes around every edge of its blocks."""

import numpy as np
import pytest
from scipy.linalg import solve_triangular
from threadpoolctl import threadpool_limits

from gssbo._core import _linalg

# 16: padding; 256: the order from which matrices are packed; 64, 128: rows and depth of a packed block; 384: whole
# blocks of a packed factor and whole strips of any width.
SIZES = [*range(1, 41), *range(63, 67), *range(127, 131), *range(255, 259), 300, *range(383, 387), 397]
FEW = [1, 2, 15, 16, 17, 33, 64, 65, 129, 256, 257, 300, 385]


def pad(A):
    """A copy of A with its columns padded with zeros."""
    A = np.atleast_2d(A)
    out = np.zeros((A.shape[0], _linalg.padded(A.shape[1])))
    out[:, : A.shape[1]] = A
    return out


def positive_definite(n, rng):
    """Symmetric with eigenvalues from about 0.5 to 4."""
    A = rng.standard_normal((n, n)) / np.sqrt(n)
    return A @ A.T + 0.5 * np.eye(n)


def factor(n, rng):
    """Padded upper factor with rubbish below the diagonal, and the clean one."""
    clean = np.linalg.cholesky(positive_definite(n, rng)).T.copy()
    padded = pad(clean)
    padded[:, :n][np.tril_indices(n, -1)] = np.nan
    return padded, clean


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 32, 33, 300])
def test_padded_is_the_next_multiple(n):
    assert _linalg.padded(n) == -(-n // _linalg.PAD) * _linalg.PAD


@pytest.mark.parametrize("n", SIZES)
def test_cholesky(n):
    K = positive_definite(n, np.random.default_rng(n))
    A = pad(K)
    A[:, :n][np.tril_indices(n, -1)] = np.nan  # only the upper triangle may be read
    assert _linalg.cholesky(n, A) == 0
    U = np.triu(A[:, :n])
    np.testing.assert_allclose(U, np.linalg.cholesky(K).T, rtol=0, atol=2e-14)
    np.testing.assert_allclose(U.T @ U, K, rtol=0, atol=2e-14)
    assert not A[:, n:].any()


@pytest.mark.parametrize("n", FEW)
def test_cholesky_on_wide_rows(n):
    """A leading dimension beyond the next multiple gives the same factor to the bit."""
    K = positive_definite(n, np.random.default_rng(n))
    narrow, wide = pad(K), np.zeros((n, _linalg.padded(n) + 3 * _linalg.PAD))
    wide[:, :n] = K
    assert _linalg.cholesky(n, narrow) == _linalg.cholesky(n, wide) == 0
    assert np.array_equal(np.triu(narrow[:, :n]), np.triu(wide[:, :n]))


@pytest.mark.parametrize("n", FEW)
def test_cholesky_names_the_first_bad_pivot(n):
    rng = np.random.default_rng(n)
    for bad in sorted({0, n // 2, n - 1}):
        for value in (-1.0, 0.0, np.nan, np.inf):
            K = positive_definite(n, rng)
            K[bad, bad] = value
            K[bad, bad + 1 :] = K[bad + 1 :, bad] = 0.0  # nothing but this pivot can fail
            assert _linalg.cholesky(n, pad(K)) == bad + 1


def test_cholesky_refuses_a_singular_matrix():
    assert _linalg.cholesky(3, pad(np.ones((3, 3)))) == 2


@pytest.mark.parametrize("n", SIZES)
def test_solves(n):
    rng = np.random.default_rng(n)
    padded, U = factor(n, rng)
    for m in (1, 5, 16, 33):
        B = rng.standard_normal((n, m))
        up, down = pad(B), pad(B)
        _linalg.solve(n, m, padded, up)
        _linalg.solve_transposed(n, m, padded, down)
        np.testing.assert_allclose(up[:, :m], solve_triangular(U, B), rtol=0, atol=1e-12)
        np.testing.assert_allclose(down[:, :m], solve_triangular(U, B, trans="T"), rtol=0, atol=1e-12)
        assert not up[:, m:].any() and not down[:, m:].any()


@pytest.mark.parametrize("n", FEW)
def test_a_column_of_a_solve_is_the_same_alone(n):
    """Its place among other right-hand sides does not change a bit of a solution."""
    rng = np.random.default_rng(n)
    padded, _ = factor(n, rng)
    B = rng.standard_normal((n, 37))
    for routine in (_linalg.solve, _linalg.solve_transposed):
        together = pad(B)
        routine(n, 37, padded, together)
        for j in (0, 3, 15, 16, 31, 36):
            alone = pad(B[:, [j]])
            routine(n, 1, padded, alone)
            assert np.array_equal(alone[:, 0], together[:, j])


@pytest.mark.parametrize("n", SIZES)
def test_inverse(n):
    rng = np.random.default_rng(n)
    padded, U = factor(n, rng)
    P = np.full_like(padded, np.nan)
    _linalg.inverse(n, padded, P)
    np.testing.assert_allclose(P[:, :n], np.linalg.inv(U.T @ U), rtol=0, atol=1e-12)
    assert np.array_equal(P[:, :n], P[:, :n].T)
    assert not P[:, n:].any()


@pytest.mark.parametrize("m", [1, 4, 7, 16, 65, 130, 257])
@pytest.mark.parametrize("k", [1, 3, 64, 129, 260])
@pytest.mark.parametrize("n", [1, 8, 17, 63, 128, 258, 300])
def test_subtract_product(m, n, k):
    rng = np.random.default_rng(m + 1000 * n + k)
    A, B, C = (rng.standard_normal(shape) for shape in ((k, m), (k, n), (m, n)))
    out, left, right = pad(C), pad(A), pad(B)
    _linalg.subtract_product(m, n, k, left, right, out)
    np.testing.assert_allclose(out[:, :n], C - A.T @ B, rtol=0, atol=1e-13 * np.sqrt(k) * 8)
    assert not out[:, n:].any()
    assert np.array_equal(left[:, :m], A) and np.array_equal(right[:, :n], B)


@pytest.mark.parametrize("n", SIZES)
def test_product_vector(n):
    rng = np.random.default_rng(n)
    for k in (1, 3, 4, 5, 33):
        A, x = rng.standard_normal((k, n)), rng.standard_normal(k)
        y = np.full(n, np.nan)
        _linalg.product_vector(n, pad(A), x, y)
        np.testing.assert_allclose(y, A.T @ x, rtol=0, atol=1e-13)


@pytest.mark.parametrize("n", SIZES)
def test_symmetric_product_reads_the_upper_triangle(n):
    rng = np.random.default_rng(n)
    A, x, y = rng.standard_normal((n, n)), rng.standard_normal(n), np.full(n, np.nan)
    A += A.T
    triangle = pad(np.where(np.tri(n, k=-1), np.nan, A))
    _linalg.symmetric_product(n, triangle, x, y)
    np.testing.assert_allclose(y, A @ x, rtol=0, atol=1e-13 * np.sqrt(n) * 8)


def test_results_do_not_depend_on_blas_threads():
    def everything():
        outcome = []
        for n in (40, 129, 300):
            A = pad(positive_definite_by_hand(n))
            assert _linalg.cholesky(n, A) == 0
            P = np.empty_like(A)
            _linalg.inverse(n, A, P)
            B = pad(np.sin(np.arange(n * 20.0)).reshape(n, 20))
            _linalg.solve_transposed(n, 20, A, B)
            outcome += [np.triu(A[:, :n]), P.copy(), B]
        return outcome

    def positive_definite_by_hand(n):  # without the BLAS, whose last bits may depend on its threads
        i = np.arange(n)
        return np.exp(-0.1 * np.abs(np.subtract.outer(i, i))) + 0.1 * np.eye(n)

    with threadpool_limits(1, user_api="blas"):
        one = everything()
    with threadpool_limits(2, user_api="blas"):
        two = everything()
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))

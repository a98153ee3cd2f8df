import numpy as np
import pytest

from gssbo._core import _linalg
from gssbo.factor import Factor, backward, first_factor, forward, gram, mirrored, product
from gssbo.kernels import Kernel


@pytest.fixture
def matrix():
    root = np.random.default_rng(0).standard_normal((30, 23))
    return root.T @ root


@pytest.mark.parametrize("shape", [(23,), (23, 1), (23, 40)])
def test_solves_as_numpy_does(matrix, shape):
    b = np.random.default_rng(1).standard_normal(shape)
    assert np.allclose(Factor(matrix).solve(b), np.linalg.solve(matrix, b), rtol=1e-9)


def test_whitened_squares_sum_to_the_quadratic_form(matrix):
    b = np.random.default_rng(1).standard_normal((23, 3))
    v = Factor(matrix).whiten(b)
    assert np.allclose((v * v).sum(axis=0), np.diag(b.T @ np.linalg.solve(matrix, b)), rtol=1e-9)


def test_determinant(matrix):
    assert np.isclose(2.0 * Factor(matrix).half_log_determinant, np.linalg.slogdet(matrix)[1], rtol=1e-12)


@pytest.mark.parametrize("bad", [-np.eye(3), np.full((3, 3), np.nan), np.diag([1.0, 1.0, -1.0])])
def test_refuses_what_is_not_positive_definite(bad):
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        Factor(bad)


def test_product_is_the_transposed_one():
    rng = np.random.default_rng(2)
    A, B = rng.standard_normal((37, 5)), rng.standard_normal((37, 21))
    assert np.allclose(product(A, B), A.T @ B, rtol=1e-12, atol=1e-12)


def test_a_ridge_is_added_to_the_diagonal_and_the_lower_triangle_is_not_read(matrix):
    upper = np.triu(matrix) + np.tril(np.full_like(matrix, np.e), -1)
    before, b = upper.copy(), np.random.default_rng(1).standard_normal(23)
    factor = Factor(upper, 0.3)
    np.testing.assert_array_equal(factor.solve(b), Factor(matrix + 0.3 * np.eye(23)).solve(b))
    np.testing.assert_array_equal(upper, before)


def test_colouring_what_was_whitened_solves(matrix):
    factor, b = Factor(matrix), np.random.default_rng(1).standard_normal(23)
    assert np.allclose(factor.color(factor.whiten(b)), np.linalg.solve(matrix, b), rtol=1e-9)


@pytest.mark.parametrize("shape", [(23,), (23, 1), (23, 40), (0,), (0, 3)])
def test_triangles_are_solved_with_as_numpy_does(matrix, shape):
    n = shape[0]
    b = np.random.default_rng(1).standard_normal(shape)
    padded = np.zeros((n, _linalg.padded(n)))
    padded[:, :n] = matrix[:n, :n]
    U, _ = first_factor(padded, (0.0,)) if n else (padded, 0.0)
    for found, triangle in ((forward(U, b), np.triu(U[:, :n]).T), (backward(U, b), np.triu(U[:, :n]))):
        np.testing.assert_allclose(found, np.linalg.solve(triangle, b), rtol=1e-9, atol=1e-12)


def test_the_lower_triangle_becomes_the_upper_one(matrix):
    np.testing.assert_array_equal(
        mirrored(np.triu(matrix) + np.tril(np.full_like(matrix, np.nan), -1)), np.triu(matrix) + np.triu(matrix, 1).T
    )


@pytest.mark.parametrize("shape", [(7, 1), (7, 95), (300, 97), (40, 250)])
def test_a_gram_has_the_bits_of_the_product(shape):
    A = np.random.default_rng(3).standard_normal(shape)
    np.testing.assert_array_equal(gram(A), product(A, A))


def test_the_first_addition_that_makes_a_matrix_positive_definite_is_taken():
    A = np.zeros((5, _linalg.padded(5)))
    A[:, :5] = -np.ones((5, 5))
    before = A.copy()
    U, addition = first_factor(A, (0.0, 4.5, 5.5, 6.0))  # the eigenvalues of A are -5 and 0
    assert addition == 5.5
    np.testing.assert_array_equal(A, before)
    upper = np.triu(U[:, :5])
    np.testing.assert_allclose(upper.T @ upper, A[:, :5] + 5.5 * np.eye(5), rtol=1e-12, atol=1e-12)
    with pytest.raises(np.linalg.LinAlgError, match="5 points is not positive definite"):
        first_factor(A, Kernel("rbf", np.ones(1), 1.0).jitters(5))

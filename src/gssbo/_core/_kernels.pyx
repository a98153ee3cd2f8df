"""Stationary kernels with one lengthscale a dimension.

Notation
--------
X, A, B     inputs (n, d), (m, d)
r2          squared distance in units of the lengthscales, sum_k ((x_k - x'_k) / lengthscale_k)^2
k           variance R(r): R = exp(-r2/2); (1 + a) e^-a, a = sqrt(3 r2); (1 + a + a^2/3) e^-a, a = sqrt(5 r2)
radial      variance dR/d(-r2/2), so that dk/dx_k = -radial (x_k - x'_k) / lengthscale_k^2 and
            dk/dlog lengthscale_k = radial ((x_k - x'_k) / lengthscale_k)^2: no division by r, hence no 0/0

Distances are sums of squared differences of centred coordinates, never |a|^2 + |b|^2 - 2ab: nothing cancels for
near-duplicates far from the origin. All lengthscales are positive.
"""
from libc.string cimport memset

from gssbo._core._simd cimport GSSBO_LANES, GSSBO_PAD, allocate, gssbo_release, gssbo_simd, gssbo_simd_table

cdef const gssbo_simd_table *simd = gssbo_simd()

KINDS = {"rbf": 0, "matern32": 1, "matern52": 2}


cdef void upper_gram(
    int kind,
    Py_ssize_t n,
    Py_ssize_t d,
    const double *rows,             # IN (n, d), scaled
    const double *columns,          # IN (d, ld), scaled
    double variance,
    const double *diagonal,         # IN (n,), added to the diagonal
    Py_ssize_t ld,
    double *K,                      # OUT (n, ld), upper triangle; padding zero
    double *radial,                 # OUT (n, ld), upper triangle; may be NULL
    Py_ssize_t part,
    Py_ssize_t parts,
) noexcept nogil:
    """K = k(X, X) + diag(diagonal), of which a part is every so many rows."""
    cdef Py_ssize_t left = part * GSSBO_LANES, i, size
    while left < n:
        size = min(<Py_ssize_t> GSSBO_LANES, n - left)
        simd.distance_rows(size, n - left, d, columns + left, ld, rows + left * d, K + left * ld + left, ld)
        for i in range(left, left + size):
            simd.kernel_values(kind, n - left, variance, K + i * ld + left,
                               NULL if radial == NULL else radial + i * ld + left)
            K[i * ld + i] = variance + diagonal[i]
            if n < ld:
                memset(K + i * ld + n, 0, (ld - n) * sizeof(double))
        left += parts * GSSBO_LANES


def gram(
    int kind,
    const double[:, ::1] X,             # IN (n, d)
    const double[::1] lengthscale,      # IN (d,)
    double variance,
    const double[::1] diagonal,         # IN (n,), added to the diagonal: noise, jitter
    bint full,
    double[:, ::1] K,                   # OUT (n, ld), upper triangle, or both when `full`; padding zero
):
    """K = k(X, X) + diag(diagonal)."""
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], ld = K.shape[1], i, j
    cdef double *columns = allocate((ld + n) * d * sizeof(double))
    cdef double *rows = columns + ld * d
    with nogil:
        simd.scale(n, d, &X[0, 0], &X[0, 0], &lengthscale[0], ld, rows, columns)
        upper_gram(kind, n, d, rows, columns, variance, &diagonal[0], ld, &K[0, 0], NULL, 0, 1)
        if full:
            for i in range(n):
                for j in range(i):
                    K[i, j] = K[j, i]
    gssbo_release(columns)


def cross(
    int kind,
    const double[:, ::1] A,             # IN (n, d)
    const double[:, ::1] B,             # IN (m, d)
    const double[::1] lengthscale,      # IN (d,)
    double variance,
    double[:, ::1] K,                   # OUT (n, ld) with ld >= m padded; padding zero
):
    """K = k(A, B)."""
    cdef Py_ssize_t n = A.shape[0], m = B.shape[0], d = A.shape[1], ld = K.shape[1], i
    cdef double *columns = allocate((ld + max(n, m)) * d * sizeof(double))
    cdef double *rows = columns + ld * d
    with nogil:
        simd.scale(m, d, &B[0, 0], &A[0, 0], &lengthscale[0], ld, rows, columns)
        simd.scale(n, d, &A[0, 0], &A[0, 0], &lengthscale[0], 0, rows, NULL)
        for i in range(n):
            if i % GSSBO_PAD == 0:
                simd.distance_rows(min(<Py_ssize_t> GSSBO_PAD, n - i), m, d, columns, ld, rows + i * d, &K[i, 0], ld)
            simd.kernel_values(kind, m, variance, &K[i, 0], NULL)
            if m < ld:
                memset(&K[i, m], 0, (ld - m) * sizeof(double))
    gssbo_release(columns)

"""Dense triangular algebra on padded row-major matrices.

Notation
--------
A, K    symmetric positive definite (n, n), only the upper triangle is read
U       upper factor, K = U^T U; what stands below its diagonal is scratch
Z       U^-T, lower triangular
P       K^-1 = Z^T Z

A padded matrix is (n, ld) with ld = `padded(n)`; columns from n on are zero and may be overwritten. Everything
runs on one thread with a fixed order of summation: the result does not depend on the BLAS or its threads.
Why not LAPACK: OpenBLAS's potrf, potri, symm and symv return different last bits with one thread and with two, which
a loop of argmax decisions amplifies into a different run, and below n = 200 these routines are faster.
"""
from libc.math cimport log
from libc.stdlib cimport free, malloc

from _simd cimport GSSBO_PAD, gssbo_pack_size, gssbo_simd, gssbo_simd_table

cdef const gssbo_simd_table *simd = gssbo_simd()

PAD = GSSBO_PAD


def simd_name():
    """Name of the instruction set in use: "v4" (AVX-512), "v3" (AVX2) or "baseline"."""
    return simd.name.decode()


def padded(Py_ssize_t n):
    """Smallest leading dimension for n columns."""
    return (n + GSSBO_PAD - 1) // GSSBO_PAD * GSSBO_PAD


cdef double *scratch(Py_ssize_t n) except? NULL:
    cdef Py_ssize_t size = gssbo_pack_size(n)
    if size == 0:
        return NULL
    cdef double *pack = <double *> malloc(size * sizeof(double))
    if pack == NULL:
        raise MemoryError
    return pack


def cholesky(
    Py_ssize_t n,
    double[:, ::1] A,           # INOUT (n, ld), upper triangle -> U
):
    """Factor in place; return 0, or i + 1 when pivot i is not positive."""
    cdef double *pack = scratch(n)
    cdef Py_ssize_t status
    with nogil:
        status = simd.cholesky(n, &A[0, 0], A.shape[1], pack)
    free(pack)
    return status


def log_determinant(
    Py_ssize_t n,
    const double[:, ::1] U,     # IN (n, ld)
):
    """log |U^T U|."""
    cdef double total = 0.0
    cdef Py_ssize_t i
    for i in range(n):
        total += log(U[i, i])
    return 2.0 * total


def solve_transposed(
    Py_ssize_t n,
    Py_ssize_t m,
    const double[:, ::1] U,     # IN (n, ld)
    double[:, ::1] B,           # INOUT (n, ldm) -> U^-T B
):
    """B = solve(U.T, B)."""
    cdef double *pack = scratch(n)
    with nogil:
        simd.solve_transposed(n, m, &U[0, 0], U.shape[1], &B[0, 0], B.shape[1], pack)
    free(pack)


def solve(
    Py_ssize_t n,
    Py_ssize_t m,
    const double[:, ::1] U,     # IN (n, ld)
    double[:, ::1] B,           # INOUT (n, ldm) -> U^-1 B
):
    """B = solve(U, B)."""
    with nogil:
        simd.solve(n, m, &U[0, 0], U.shape[1], &B[0, 0], B.shape[1])


def inverse(
    Py_ssize_t n,
    const double[:, ::1] U,     # IN (n, ld)
    double[:, ::1] Z,           # OUT (n, ld), U^-T
    double[:, ::1] P,           # OUT (n, ld), (U^T U)^-1, both triangles
):
    """P = inv(U.T @ U), through Z = inv(U.T); U and P may not be the same array."""
    cdef double *pack = scratch(n)
    cdef Py_ssize_t i, j
    with nogil:
        simd.invert_factor(n, &U[0, 0], U.shape[1], &Z[0, 0], Z.shape[1], pack)
        simd.gram_of_lower(n, &Z[0, 0], Z.shape[1], &P[0, 0], P.shape[1], pack)
        for i in range(n):
            for j in range(i):
                P[i, j] = P[j, i]
    free(pack)


def subtract_product(
    Py_ssize_t m,
    Py_ssize_t n,
    Py_ssize_t k,
    const double[:, ::1] A,     # IN (k, lda)
    const double[:, ::1] B,     # IN (k, ldb)
    double[:, ::1] C,           # INOUT (m, ldc)
):
    """C -= A[:k, :m].T @ B[:k, :n]."""
    cdef double *pack = scratch(max(m, n, k))
    with nogil:
        simd.subtract_product(m, n, k, &A[0, 0], A.shape[1], &B[0, 0], B.shape[1], &C[0, 0], C.shape[1], pack)
    free(pack)


def product_vector(
    Py_ssize_t n,
    const double[:, ::1] A,     # IN (k, lda)
    const double[::1] x,        # IN (k,)
    double[::1] y,              # OUT (n,)
):
    """y = A[:, :n].T @ x."""
    with nogil:
        simd.product_vector(x.shape[0], n, &A[0, 0], A.shape[1], &x[0], &y[0])

"""Dense triangular algebra on padded row-major matrices.

Notation
--------
A, K    symmetric positive definite (n, n), only the upper triangle is read
U       upper factor, K = U^T U; what stands below its diagonal is scratch
Z       U^-T, lower triangular
P       K^-1 = Z^T Z

A padded matrix is (n, ld) with ld = `padded(n)`; columns from n on are zero and may be overwritten. Every element is
summed in one fixed order: the result does not depend on the BLAS or its threads, nor on ours (_dense).
Why not LAPACK: OpenBLAS's potrf, potri, symm and symv return different last bits with one thread and with two, which
a loop of argmax decisions amplifies into a different run, and below n = 200 these routines are faster.
"""

from gssbo._core._dense cimport mirror
from gssbo._core._simd cimport (
    GSSBO_PAD,
    GSSBO_PRODUCT_SCRATCH,
    GSSBO_RESIDENT,
    allocate,
    gssbo_factor_scratch,
    gssbo_inverse_scratch,
    gssbo_padded,
    gssbo_release,
    gssbo_simd,
    gssbo_simd_table,
)

cdef const gssbo_simd_table *simd = gssbo_simd()

PAD = GSSBO_PAD


def simd_name():
    """Name of the instruction set in use: "v4" (AVX-512), "v3" (AVX2) or "baseline"."""
    return simd.name.decode()


def padded(Py_ssize_t n):
    """Smallest leading dimension for n columns."""
    return gssbo_padded(n)


def cholesky(
    Py_ssize_t n,
    double[:, ::1] A,           # INOUT (n, ld), upper triangle -> U
):
    """Factor in place; return 0, or i + 1 when pivot i is not positive."""
    cdef double *strips = allocate(gssbo_factor_scratch(n) * sizeof(double))
    cdef Py_ssize_t status
    with nogil:
        status = simd.cholesky(n, &A[0, 0], A.shape[1], strips)
    gssbo_release(strips)
    return status


def solve_transposed(
    Py_ssize_t n,
    Py_ssize_t m,
    const double[:, ::1] U,     # IN (n, ld)
    double[:, ::1] B,           # INOUT (n, ldm) -> U^-T B
):
    """B = solve(U.T, B)."""
    cdef double *strips = allocate(gssbo_factor_scratch(n) * sizeof(double))
    with nogil:
        simd.pack_factor(n, &U[0, 0], U.shape[1], strips)
        simd.solve_transposed(n, m, &U[0, 0], U.shape[1], strips, &B[0, 0], B.shape[1])
    gssbo_release(strips)


def solve(
    Py_ssize_t n,
    Py_ssize_t m,
    const double[:, ::1] U,     # IN (n, ld)
    double[:, ::1] B,           # INOUT (n, ldm) -> U^-1 B
):
    """B = solve(U, B)."""
    with nogil:
        simd.solve(n, m, &U[0, 0], U.shape[1], &B[0, 0], B.shape[1])


def scratch_size(Py_ssize_t n):
    """Elements of scratch for a factor and its inverse where threads share them; 0 where n is too small for it."""
    return gssbo_inverse_scratch(n) if n > GSSBO_RESIDENT else 0


def inverse(
    Py_ssize_t n,
    const double[:, ::1] U,     # IN (n, ld)
    double[:, ::1] P,           # OUT (n, ld), (U^T U)^-1, both triangles
):
    """P = inv(U.T @ U)."""
    cdef double *scratch = allocate(gssbo_inverse_scratch(n) * sizeof(double))
    with nogil:
        simd.pack_factor(n, &U[0, 0], U.shape[1], scratch)
        simd.invert(n, &U[0, 0], U.shape[1], &P[0, 0], P.shape[1], scratch)
        mirror(n, &P[0, 0], P.shape[1], 0, 1)
    gssbo_release(scratch)


def subtract_product(
    Py_ssize_t m,
    Py_ssize_t n,
    Py_ssize_t k,
    const double[:, ::1] A,     # IN (k, lda)
    const double[:, ::1] B,     # IN (k, ldb)
    double[:, ::1] C,           # INOUT (m, ldc)
):
    """C -= A[:k, :m].T @ B[:k, :n]."""
    cdef double *pack = allocate(GSSBO_PRODUCT_SCRATCH * sizeof(double))
    with nogil:
        simd.subtract_product(m, n, k, &A[0, 0], A.shape[1], &B[0, 0], B.shape[1], &C[0, 0], C.shape[1], pack)
    gssbo_release(pack)


def product_vector(
    Py_ssize_t n,
    const double[:, ::1] A,     # IN (k, lda)
    const double[::1] x,        # IN (k,)
    double[::1] y,              # OUT (n,)
):
    """y = A[:, :n].T @ x."""
    with nogil:
        simd.product_vector(x.shape[0], n, &A[0, 0], A.shape[1], &x[0], &y[0])


def symmetric_product(
    Py_ssize_t n,
    const double[:, ::1] P,     # IN (n, ld), upper triangle
    const double[::1] x,        # IN (n,)
    double[::1] y,              # OUT (n,)
):
    """y = P[:, :n] @ x."""
    cdef Py_ssize_t padded = gssbo_padded(n), i
    cdef double *wide = allocate(2 * padded * sizeof(double))
    with nogil:
        for i in range(padded):
            wide[i] = x[i] if i < n else 0.0
        simd.symmetric_product(n, &P[0, 0], P.shape[1], wide, wide + padded)
        for i in range(n):
            y[i] = wide[padded + i]
    gssbo_release(wide)

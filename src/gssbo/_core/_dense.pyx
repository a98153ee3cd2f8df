"""Factor and inverse of a large matrix, shared by threads.

Notation
--------
A, U, P     symmetric positive definite (n, ld); its upper factor, A = U^T U; its inverse: to the bit those of `_linalg`
n           above GSSBO_RESIDENT: a smaller matrix is not worth sharing

Each thread calls the same function with the same arguments and comes back when all is done.
"""
from gssbo._core._simd cimport GSSBO_ROWS, gssbo_simd, gssbo_simd_table

cdef const gssbo_simd_table *simd = gssbo_simd()


cdef Py_ssize_t factor_stages(Py_ssize_t n) noexcept nogil:
    """Stages that `factor` goes through, at most."""
    return 3 * ((n + GSSBO_ROWS - 1) // GSSBO_ROWS)


cdef bint factor(
    Py_ssize_t n,
    double *A,                  # INOUT (n, ld), upper triangle -> U
    Py_ssize_t ld,
    double *strips,             # OUT, U as the inverse wants it
    Py_ssize_t *status,         # OUT, shared, 0 at first: i + 1 when pivot i is not positive
    gssbo_stage *stages,        # shared (factor_stages(n),)
) noexcept nogil:
    """Whether A is not positive definite in doubles."""
    cdef Py_ssize_t first = 0, part
    while first < n:
        part = gssbo_claim(stages, PARTS)
        while part >= 0:
            simd.subtract_above(n, A, ld, strips, first, part, PARTS)
            part = gssbo_next(stages, PARTS)
        gssbo_await(stages, PARTS)
        stages += 1
        if gssbo_claim(stages, 1) == 0:
            gssbo_put(status, simd.factor_diagonal(n, A, ld, strips, first))
            gssbo_finish(stages)
        gssbo_await(stages, 1)
        if gssbo_get(status) != 0:
            return True
        stages += 1
        part = gssbo_claim(stages, PARTS)
        while part >= 0:
            simd.divide_rows(n, A, ld, strips, first, part, PARTS)
            part = gssbo_next(stages, PARTS)
        gssbo_await(stages, PARTS)
        stages += 1
        first += GSSBO_ROWS
    return False


cdef void invert(
    Py_ssize_t n,
    const double *U,            # IN (n, ld)
    double *P,                  # OUT (n, ld), both triangles or the upper one
    Py_ssize_t ld,
    double *scratch,            # INOUT, begins with the strips that `factor` left
    bint both,
    gssbo_stage *stages,        # shared (INVERSE_STAGES,)
) noexcept nogil:
    cdef Py_ssize_t stage, part
    for stage in range(3 if both else 2):
        part = gssbo_claim(stages + stage, PARTS)
        while part >= 0:
            if stage == 0:
                simd.invert_factor(n, U, ld, scratch, part, PARTS)
            elif stage == 1:
                simd.square_factor(n, P, ld, scratch, part, PARTS)
            else:
                mirror(n, P, ld, part, PARTS)
            part = gssbo_next(stages + stage, PARTS)
        gssbo_await(stages + stage, PARTS)


cdef void mirror(Py_ssize_t n, double *P, Py_ssize_t ld, Py_ssize_t part, Py_ssize_t parts) noexcept nogil:
    """P[j, i] = P[i, j], in squares that fit the first-level cache."""
    cdef Py_ssize_t i, j, j0, i0 = 32 * part
    while i0 < n:
        for j0 in range(i0, n, 32):
            for j in range(j0, min(j0 + 32, n)):
                for i in range(i0, min(i0 + 32, j)):
                    P[j * ld + i] = P[i * ld + j]
        i0 += 32 * parts

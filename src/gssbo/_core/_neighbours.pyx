"""Nearest neighbours, in units of the lengthscales.

Notation
--------
X           inputs (n, d)
r2          squared distances in units of the lengthscales
m           most neighbours of a point

Neighbours are found by looking at all inputs, with the m nearest so far in a heap: in 6 dimensions and with m in the
tens, a tree of 1,000 inputs would visit most of them anyway. Of equal distances the lower index is nearer.
"""

from gssbo._core._simd cimport allocate, gssbo_padded, gssbo_release, gssbo_simd, gssbo_simd_table

cdef const gssbo_simd_table *simd = gssbo_simd()


cdef inline bint farther(double r, Py_ssize_t i, double than, Py_ssize_t j) noexcept nogil:
    return r > than or (r == than and i > j)


cdef void sift(Py_ssize_t size, double *r2, Py_ssize_t *index, Py_ssize_t hole) noexcept nogil:
    """Sink the entry at `hole` in a heap that has the farthest on top."""
    cdef double r = r2[hole]
    cdef Py_ssize_t i = index[hole], child
    while True:
        child = 2 * hole + 1
        if child >= size:
            break
        if child + 1 < size and farther(r2[child + 1], index[child + 1], r2[child], index[child]):
            child += 1
        if not farther(r2[child], index[child], r, i):
            break
        r2[hole] = r2[child]
        index[hole] = index[child]
        hole = child
    r2[hole] = r
    index[hole] = i


cdef Py_ssize_t keep_nearest(
    Py_ssize_t n,
    const double *r2,               # IN (n,)
    Py_ssize_t m,
    double *kept,                   # OUT (m,), their r2
    Py_ssize_t *index,              # OUT (m,)
) noexcept nogil:
    """How many are kept: the m smallest, the lower index of equals; or all of them."""
    cdef Py_ssize_t size = min(n, m), i
    for i in range(size):
        kept[i] = r2[i]
        index[i] = i
    if size == n:
        return size
    for i in range(size // 2 - 1, -1, -1):
        sift(size, kept, index, i)
    for i in range(size, n):
        if r2[i] < kept[0]:         # an equal one comes later, so it stays out
            kept[0] = r2[i]
            index[0] = i
            sift(size, kept, index, 0)
    return size


cdef void scaled_columns(
    Py_ssize_t n,
    Py_ssize_t d,
    const double *X,                # IN (n, d)
    const double *lengthscale,      # IN (d,)
    Py_ssize_t ld,
    double *columns,                # OUT (d, ld), ((X - X[0]) / lengthscale).T, zeros from n on
) noexcept nogil:
    cdef Py_ssize_t i, k
    for k in range(d):
        for i in range(n):
            columns[k * ld + i] = (X[i * d + k] - X[k]) / lengthscale[k]
        for i in range(n, ld):
            columns[k * ld + i] = 0.0


def before(
    const double[:, ::1] X,             # IN (n, d), in order
    const double[::1] lengthscale,      # IN (d,)
    const Py_ssize_t[::1] terms,        # IN (t,), positions in the order
    Py_ssize_t[:, ::1] sets,            # OUT (t, m); -1 where there are fewer than m
):
    """The m nearest to each term among those before it."""
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], m = sets.shape[1], ld = gssbo_padded(n), t, i, j, k, size
    cdef double *columns = allocate((ld * d + d + ld + m) * sizeof(double))
    cdef double *x = columns + ld * d
    cdef double *r2 = x + d
    cdef double *kept = r2 + ld
    with nogil:
        scaled_columns(n, d, &X[0, 0], &lengthscale[0], ld, columns)
        for t in range(terms.shape[0]):
            i = terms[t]
            for k in range(d):
                x[k] = columns[k * ld + i]
            simd.squared_distances(i, d, columns, ld, x, r2)
            size = keep_nearest(i, r2, m, kept, &sets[t, 0])
            for j in range(size, m):
                sets[t, j] = -1
    gssbo_release(columns)

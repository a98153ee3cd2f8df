"""Selection rules: a retained subset of a pool, forced members first.

Notation
--------
n, size         pool members, retained members
g_i             sensitivity embedding of member i, the i-th column of -P (equation 3 of the paper [1])
C_ij            cosine of g_i and g_j: Q_ij / (|g_i| |g_j|) with Q = P^2, |g_i|^2 = Q_ii
h_i             sum of C_ij over the retained j (the greedy score of section 4.3)
forced          members (f,) retained before any choice; distinct

Every function writes `size` distinct members to `chosen`, forced ones first. Values that differ by less than
TIE count as equal and the lowest member wins: ties come from duplicates and symmetry, and rounding must not
decide them.

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026.
"""
from libc.math cimport INFINITY, fabs, sqrt
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from gssbo._core._simd cimport gssbo_padded, gssbo_simd, gssbo_simd_table

cdef const gssbo_simd_table *simd = gssbo_simd()

cdef double TIE = 1e-9


cdef Py_ssize_t first_free(Py_ssize_t n, const char *retained) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if not retained[i]:
            return i
    return 0


cdef Py_ssize_t first_smallest(Py_ssize_t n, const double *h, const char *retained) noexcept nogil:
    """Lowest free member whose h is within TIE of the smallest; the lowest free one where h overflowed to NaN."""
    cdef double smallest = INFINITY
    cdef Py_ssize_t i
    for i in range(n):
        if not retained[i] and h[i] < smallest:
            smallest = h[i]
    for i in range(n):
        if not retained[i] and h[i] <= smallest + TIE:
            return i
    return first_free(n, retained)


cdef Py_ssize_t first_largest(Py_ssize_t n, const double *value, const char *retained) noexcept nogil:
    """Lowest free member whose value is within TIE (relative, from 1 on) of the largest."""
    cdef double largest = -INFINITY, bound
    cdef Py_ssize_t i
    for i in range(n):
        if not retained[i] and value[i] > largest:
            largest = value[i]
    bound = largest - TIE * max(1.0, fabs(largest))
    for i in range(n):
        if not retained[i] and value[i] >= bound:
            return i
    return first_free(n, retained)


cdef void inverse_norms(Py_ssize_t n, Py_ssize_t ld, const double *source, bint squared,
                        double *inverse) noexcept nogil:
    """1 / |g_i|, from Q when `squared`, else from P."""
    cdef Py_ssize_t i
    for i in range(n):
        inverse[i] = 1.0 / sqrt(source[i * ld + i] if squared
                                else simd.dot(n, source + i * ld, source + i * ld))


cdef void add_cosines(Py_ssize_t n, Py_ssize_t ld, const double *source, bint squared, const double *inverse,
                      Py_ssize_t member, double *work, double *h) noexcept nogil:
    """h += C[:, member]; without Q the column is one symmetric product, P g."""
    cdef Py_ssize_t i
    cdef const double *column = source + member * ld
    if not squared:
        simd.symmetric_product(n, source, ld, column, work)
        column = work
    for i in range(n):
        h[i] += column[i] * inverse[i] * inverse[member]


def greedy_cosine(
    Py_ssize_t n,
    const double[:, ::1] source,        # IN (n, ld), Q when `squared`, else P; both triangles
    bint squared,
    const Py_ssize_t[::1] forced,       # IN (f,)
    Py_ssize_t[::1] chosen,             # OUT (size,)
):
    """Vector rule: repeatedly add the member with the smallest cumulative cosine to the retained ones."""
    cdef Py_ssize_t ld = source.shape[1], size = chosen.shape[0], f = forced.shape[0], i, j, a
    cdef Py_ssize_t padded = gssbo_padded(n)
    cdef double *h = <double *> malloc(3 * padded * sizeof(double) + n)
    if h == NULL:
        raise MemoryError
    cdef double *inverse = h + padded
    cdef double *work = inverse + padded
    cdef char *retained = <char *> (work + padded)
    with nogil:
        memset(retained, 0, n)
        memset(h, 0, n * sizeof(double))
        inverse_norms(n, ld, &source[0, 0], squared, inverse)
        for j in range(f):
            a = forced[j]
            chosen[j] = a
            retained[a] = 1
            if squared:
                add_cosines(n, ld, &source[0, 0], True, inverse, a, work, h)
        if not squared and f > 0:
            # All forced columns at once: h = P (sum_j g_j / |g_j|) / |g_i|; `work` is free until the first pick.
            memset(work, 0, padded * sizeof(double))
            for j in range(f):
                simd.add_scaled(n, inverse[forced[j]], &source[forced[j], 0], work)
            simd.symmetric_product(n, &source[0, 0], ld, work, h)
            for i in range(n):
                h[i] *= inverse[i]
        for j in range(f, size):
            a = first_smallest(n, h, retained)
            chosen[j] = a
            retained[a] = 1
            if j + 1 < size:
                add_cosines(n, ld, &source[0, 0], squared, inverse, a, work, h)
    free(h)


def greedy_sign(
    const double[::1] v,                # IN (n,), normalised scores s_i / max(|s_i|, 1e-12)
    const Py_ssize_t[::1] forced,       # IN (f,)
    Py_ssize_t[::1] chosen,             # OUT (size,)
):
    """Scalar rule: the same loop on C_ij = v_i v_j, hence h_i = v_i sum_j v_j."""
    cdef Py_ssize_t n = v.shape[0], size = chosen.shape[0], f = forced.shape[0], i, j, a
    cdef double *h = <double *> malloc(n * sizeof(double) + n)
    if h == NULL:
        raise MemoryError
    cdef char *retained = <char *> (h + n)
    cdef double total = 0.0
    with nogil:
        memset(retained, 0, n)
        for j in range(size):
            if j < f:
                a = forced[j]
            else:
                for i in range(n):
                    h[i] = v[i] * total
                a = first_smallest(n, h, retained)
            chosen[j] = a
            retained[a] = 1
            total += v[a]
    free(h)


def kmeans_plus_plus(
    Py_ssize_t n,
    const double[:, ::1] source,        # IN (n, ld), Q when `squared`, else P; both triangles
    bint squared,
    const Py_ssize_t[::1] forced,       # IN (f,)
    const double[::1] uniforms,         # IN (size - f,), one in [0, 1) a pick
    Py_ssize_t[::1] chosen,             # OUT (size,)
):
    """k-means++ seeding among the unit embeddings: a pick is drawn with probability proportional to its
    squared distance 2 - 2 C_ij from the nearest retained one."""
    cdef Py_ssize_t ld = source.shape[1], size = chosen.shape[0], f = forced.shape[0], i, j, a
    cdef Py_ssize_t padded = gssbo_padded(n)
    cdef double *distance = <double *> malloc(4 * padded * sizeof(double) + n)
    if distance == NULL:
        raise MemoryError
    cdef double *inverse = distance + padded
    cdef double *work = inverse + padded
    cdef double *cosines = work + padded
    cdef char *retained = <char *> (cosines + padded)
    cdef double total, reached
    with nogil:
        memset(retained, 0, n)
        inverse_norms(n, ld, &source[0, 0], squared, inverse)
        for i in range(n):
            distance[i] = INFINITY
        for j in range(size):
            if j < f:
                a = forced[j]
            elif j == 0:
                a = min(<Py_ssize_t> (uniforms[0] * n), n - 1)
            else:
                total = 0.0
                for i in range(n):
                    if not retained[i]:
                        total += distance[i]
                a = -1
                reached = 0.0
                for i in range(n):
                    if retained[i]:
                        continue
                    if total <= TIE:
                        a = i
                        break
                    reached += distance[i]
                    if distance[i] > 0.0:
                        a = i           # the last one possible, should rounding keep `reached` below u total
                    if reached > uniforms[j - f] * total:
                        a = i
                        break
                if a < 0:
                    a = first_free(n, retained)
            chosen[j] = a
            retained[a] = 1
            memset(cosines, 0, n * sizeof(double))
            add_cosines(n, ld, &source[0, 0], squared, inverse, a, work, cosines)
            for i in range(n):
                distance[i] = max(min(distance[i], 2.0 - 2.0 * cosines[i]), 0.0)
    free(distance)


def farthest_kernel(
    int kind,
    const double[:, ::1] X,             # IN (n, d)
    const double[::1] lengthscale,      # IN (d,)
    double variance,
    const Py_ssize_t[::1] forced,       # IN (f,)
    Py_ssize_t[::1] chosen,             # OUT (size,)
):
    """Max-min rule: repeatedly add the member farthest, in kernel distance, from the nearest retained one."""
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], size = chosen.shape[0], f = forced.shape[0], i, j, k, a
    cdef Py_ssize_t ld = gssbo_padded(n)
    cdef double *columns = <double *> malloc((ld * d + d + ld + n) * sizeof(double) + n)
    if columns == NULL:
        raise MemoryError
    cdef double *x = columns + ld * d
    cdef double *covariance = x + d
    cdef double *distance = covariance + ld
    cdef char *retained = <char *> (distance + n)
    with nogil:
        memset(retained, 0, n)
        for k in range(d):
            for i in range(ld):
                columns[k * ld + i] = (X[i, k] - X[0, k]) / lengthscale[k] if i < n else 0.0
        for i in range(n):
            distance[i] = INFINITY
        for j in range(size):
            if j < f:
                a = forced[j]
            elif j == 0:
                a = 0
            else:
                a = first_largest(n, distance, retained)
            chosen[j] = a
            retained[a] = 1
            for k in range(d):
                x[k] = columns[k * ld + a]
            simd.squared_distances(n, d, columns, ld, x, covariance)
            simd.kernel_values(kind, n, variance, covariance, NULL)
            for i in range(n):
                distance[i] = min(distance[i], 2.0 * (variance - covariance[i]))
    free(columns)

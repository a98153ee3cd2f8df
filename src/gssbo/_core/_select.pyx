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
from libc.float cimport FLT_EPSILON
from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memset

from gssbo._core._simd cimport (
    GSSBO_RESIDENT,
    allocate,
    gssbo_packed_single,
    gssbo_padded,
    gssbo_release,
    gssbo_simd,
    gssbo_simd_table,
)

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


cdef Py_ssize_t first_opposed(Py_ssize_t n, const double *minus_h, const char *retained) noexcept nogil:
    """`first_smallest` of h, given -h (gssbo_padded(n),), which is -infinity where retained and from n on."""
    cdef double bound = simd.largest(gssbo_padded(n), minus_h) - TIE
    cdef Py_ssize_t i
    for i in range(n):
        if minus_h[i] >= bound and not retained[i]:
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
                      Py_ssize_t member, double sign, double *work, double *h) noexcept nogil:
    """h += sign C[:, member], from the upper triangle of Q; without Q the column is one symmetric product, P g."""
    cdef Py_ssize_t i, above = 0
    cdef double factor = sign * inverse[member]
    cdef const double *column = source + member * ld
    if squared:
        above = member
        for i in range(above):
            h[i] += source[i * ld + member] * inverse[i] * factor
    else:
        simd.symmetric_product(n, source, ld, column, work)
        column = work
    for i in range(above, n):
        h[i] += column[i] * inverse[i] * factor


cdef bint screenable(Py_ssize_t n, Py_ssize_t ld, const double *P, Py_ssize_t n_picks) noexcept nogil:
    """Whether P leaves the cache often enough, and nothing of it is lost in single precision but digits."""
    cdef Py_ssize_t i
    if n <= GSSBO_RESIDENT or n_picks < 16:
        return False
    for i in range(n):
        if not 1e-20 < P[i * ld + i] < 1e20:
            return False
    return True


cdef void cumulative_cosines(Py_ssize_t n, Py_ssize_t ld, const double *P, const double *inverse, const double *v,
                             double *h) noexcept nogil:
    """h = P v / |g|, v the sum of the unit embeddings retained (ld,)."""
    cdef Py_ssize_t i
    simd.symmetric_product(n, P, ld, v, h)
    for i in range(n):
        h[i] *= inverse[i]


cdef Py_ssize_t first_smallest_near(Py_ssize_t n, Py_ssize_t ld, const double *P, const double *inverse,
                                    const double *v, const char *retained, double *h, double *error) noexcept nogil:
    """`first_smallest` of the exact cumulative cosines, of which h is within `error`.

    Those that may be within TIE of the smallest are made exact one by one; all of them, h too, where they are many.
    """
    cdef double smallest = INFINITY, lowest = INFINITY
    cdef Py_ssize_t i, n_near = 0
    for i in range(n):
        if not retained[i] and h[i] < smallest:
            smallest = h[i]
    for i in range(n):
        if not retained[i] and h[i] <= smallest + 2.0 * error[0] + TIE:
            n_near += 1
    if n_near > n // 8:
        cumulative_cosines(n, ld, P, inverse, v, h)
        error[0] = 0.0
    if error[0] == 0.0:
        return first_smallest(n, h, retained)
    if n_near == 1:
        for i in range(n):
            if not retained[i] and h[i] == smallest:
                return i
    for i in range(n):
        if not retained[i] and h[i] <= smallest + 2.0 * error[0] + TIE:
            lowest = min(lowest, simd.dot(n, P + i * ld, v) * inverse[i])
    for i in range(n):
        if not retained[i] and h[i] <= smallest + 2.0 * error[0] + TIE:
            if simd.dot(n, P + i * ld, v) * inverse[i] <= lowest + TIE:
                return i
    return first_free(n, retained)


cdef void greedy_screened(
    Py_ssize_t n,
    Py_ssize_t ld,
    const double *P,
    const double *inverse,
    Py_ssize_t f,
    const Py_ssize_t *forced,
    Py_ssize_t size,
    Py_ssize_t *chosen,
    char *retained,
    double *h,
    double *v,                  # scratch (ld,)
    float *packed,              # scratch (gssbo_packed_single(n) + 2 ld,)
) noexcept nogil:
    """Choose with h in single precision, and between those that its error leaves open with exact values.

    A cosine is at most 1, so in single precision a column of them is off by n + 8 roundings at most (Cauchy-Schwarz).
    """
    cdef Py_ssize_t i, j, a
    cdef double error = 0.0, scale
    cdef float *u = packed + gssbo_packed_single(n)
    cdef float *column = u + ld
    simd.pack_single(n, P, ld, packed)
    memset(v, 0, ld * sizeof(double))
    memset(u, 0, ld * sizeof(float))
    for j in range(f):
        chosen[j] = forced[j]
        retained[forced[j]] = 1
        simd.add_scaled(n, inverse[forced[j]], P + forced[j] * ld, v)
    cumulative_cosines(n, ld, P, inverse, v, h)
    for j in range(f, size):
        a = first_smallest_near(n, ld, P, inverse, v, retained, h, &error)
        chosen[j] = a
        retained[a] = 1
        if j + 1 < size:
            scale = inverse[a]
            for i in range(n):
                u[i] = <float> (scale * P[a * ld + i])
            simd.add_scaled(n, scale, P + a * ld, v)
            simd.symmetric_product_single(n, packed, u, column)
            for i in range(n):
                h[i] += column[i] * inverse[i]
            error += (n + 8) * (0.5 * FLT_EPSILON)


cdef void greedy(
    Py_ssize_t n,
    Py_ssize_t ld,
    const double *source,       # (n, ld), Q when `squared`, else P
    bint squared,
    const double *inverse,
    Py_ssize_t f,
    const Py_ssize_t *forced,
    Py_ssize_t size,
    Py_ssize_t *chosen,
    char *retained,
    double *h,                  # scratch (ld,)
    double *work,               # scratch (ld,)
) noexcept nogil:
    """Choose with -h, whose largest is found a vector at a time; it is -infinity where there is none to choose."""
    cdef Py_ssize_t i, j, a
    memset(h, 0, n * sizeof(double))
    memset(work, 0, ld * sizeof(double))
    for j in range(f):
        chosen[j] = forced[j]
        retained[forced[j]] = 1
        if squared:
            add_cosines(n, ld, source, True, inverse, forced[j], -1.0, NULL, h)
        else:
            simd.add_scaled(n, -inverse[forced[j]], source + forced[j] * ld, work)
    if not squared and f > 0:
        cumulative_cosines(n, ld, source, inverse, work, h)     # all at once
    for j in range(f):
        h[forced[j]] = -INFINITY
    for i in range(n, gssbo_padded(n)):
        h[i] = -INFINITY
    for j in range(f, size):
        a = first_opposed(n, h, retained)
        chosen[j] = a
        retained[a] = 1
        h[a] = -INFINITY
        if j + 1 < size:
            add_cosines(n, ld, source, squared, inverse, a, -1.0, work, h)


def greedy_cosine(
    Py_ssize_t n,
    const double[:, ::1] source,        # IN (n, ld), the upper triangle of Q when `squared`, else P
    bint squared,
    const Py_ssize_t[::1] forced,       # IN (f,)
    Py_ssize_t[::1] chosen,             # OUT (size,)
):
    """Vector rule: repeatedly add the member with the smallest cumulative cosine to the retained ones."""
    cdef Py_ssize_t ld = source.shape[1], size = chosen.shape[0], f = forced.shape[0]
    cdef bint screened = not squared and screenable(n, ld, &source[0, 0], size - f)
    cdef Py_ssize_t singles = gssbo_packed_single(n) + 2 * ld if screened else 0
    cdef const Py_ssize_t *first = &forced[0] if f > 0 else NULL
    cdef double *h = allocate(3 * ld * sizeof(double) + singles * sizeof(float) + n)
    cdef double *inverse = h + ld
    cdef double *work = inverse + ld
    cdef float *packed = <float *> (work + ld)
    cdef char *retained = <char *> (packed + singles)
    with nogil:
        memset(retained, 0, n)
        inverse_norms(n, ld, &source[0, 0], squared, inverse)
        if screened:
            greedy_screened(n, ld, &source[0, 0], inverse, f, first, size, &chosen[0], retained, h, work, packed)
        else:
            greedy(n, ld, &source[0, 0], squared, inverse, f, first, size, &chosen[0], retained, h, work)
    gssbo_release(h)


def greedy_sign(
    const double[::1] v,                # IN (n,), normalised scores s_i / max(|s_i|, 1e-12)
    const Py_ssize_t[::1] forced,       # IN (f,)
    Py_ssize_t[::1] chosen,             # OUT (size,)
):
    """Scalar rule: the same loop on C_ij = v_i v_j, hence h_i = v_i sum_j v_j."""
    cdef Py_ssize_t n = v.shape[0], size = chosen.shape[0], f = forced.shape[0], i, j, a
    cdef double *h = allocate(n * sizeof(double) + n)
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
    gssbo_release(h)


def kmeans_plus_plus(
    Py_ssize_t n,
    const double[:, ::1] source,        # IN (n, ld), the upper triangle of Q when `squared`, else P
    bint squared,
    const Py_ssize_t[::1] forced,       # IN (f,)
    const double[::1] uniforms,         # IN (size - f,), one in [0, 1) a pick
    Py_ssize_t[::1] chosen,             # OUT (size,)
):
    """k-means++ seeding among the unit embeddings: a pick is drawn with probability proportional to its
    squared distance 2 - 2 C_ij from the nearest retained one."""
    cdef Py_ssize_t ld = source.shape[1], size = chosen.shape[0], f = forced.shape[0], i, j, a
    cdef Py_ssize_t padded = gssbo_padded(n)
    cdef double *distance = allocate(4 * padded * sizeof(double) + n)
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
            add_cosines(n, ld, &source[0, 0], squared, inverse, a, 1.0, work, cosines)
            for i in range(n):
                distance[i] = max(min(distance[i], 2.0 - 2.0 * cosines[i]), 0.0)
    gssbo_release(distance)


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
    cdef double *columns = allocate((ld * d + d + ld + n) * sizeof(double) + n)
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
    gssbo_release(columns)

"""Exchange: retained members are given up, one at a time, for others that say more.

Notation
--------
n, size     pool members, retained members U
K_y         as in _residual: its diagonal is 1; A = K_y[U] (size, n), P = K_y[U, U]^-1, a = P z[U]
S_i, r_i    conditional variance and residual of response i given the retained ones, n of each
b           P[u] A (n,): the share of retained member u in the prediction of every response

The retained member with the least score given all others, 1 / P_uu and a_u / P_uu in the place of S and r, is given up:
S += b^2 / P_uu, r += b a_u / P_uu. Then the member with the largest score is retained, by one more row of the factor.
Where that is the one given up, nothing is left to gain. What was given up does not come back, so there is an end.
An exchange costs two products of A and a vector: O(n size) time, O(n size) memory for all.

References
----------
1. Fedorov, Theory of Optimal Experiments, Academic Press 1972: exchange of one point of a design for another.
2. Rasmussen and Williams, Gaussian Processes for Machine Learning, MIT Press 2006: equations 5.10 to 5.12, the
   residual of a response given all others.
"""
from libc.float cimport DBL_EPSILON
from libc.math cimport INFINITY, sqrt
from libc.string cimport memcpy, memset

from gssbo._core._residual cimport first_largest, prepare
from gssbo._core._simd cimport (
    allocate,
    gssbo_inverse_scratch,
    gssbo_padded,
    gssbo_release,
    gssbo_simd,
    gssbo_simd_table,
)

cdef const gssbo_simd_table *simd = gssbo_simd()

cdef enum:
    CHUNK = 256     # columns of A that are divided by the factor at once

cdef double TIE = 1e-9

cdef struct Pool:
    int kind
    Py_ssize_t n, ld, d
    double variance, noise      # shares of the diagonal: they add up to 1
    double floor                # of S: what is no more than that is rounding
    const double *form          # of the score: (a S + b r^2) / (c S + e) of a form (a, b, c, e)
    const double *z             # (n,)
    double *columns             # (d, ld), coordinates in units of the lengthscales
    double *x                   # (d,)
    double *S                   # (ld,)
    double *r                   # (ld,)
    double *b                   # (ld,)
    double *scores              # (ld,)
    char *shut                  # (n,), who is retained or was given up


cdef struct Retained:
    Py_ssize_t size, ld
    Py_ssize_t *members         # (size,)
    double *A                   # (size, Pool.ld)
    double *P                   # (size, ld), both triangles
    double *a                   # (ld,)
    double *v                   # (ld,)
    double *w                   # (ld,)


cdef inline double score(const Pool *pool, double S, double r) noexcept nogil:
    return (pool.form[0] * S + pool.form[1] * r * r) / (pool.form[2] * S + pool.form[3])


cdef void covariances(const Pool *pool, Py_ssize_t i, double *row) noexcept nogil:
    """K_y[i]."""
    cdef Py_ssize_t j
    for j in range(pool.d):
        pool.x[j] = pool.columns[j * pool.ld + i]
    simd.squared_distances(pool.ld, pool.d, pool.columns, pool.ld, pool.x, row)
    simd.kernel_values(pool.kind, pool.ld, pool.variance, row, NULL)
    row[i] += pool.noise
    memset(row + pool.n, 0, (pool.ld - pool.n) * sizeof(double))


cdef bint begin(Pool *pool, Retained *U, double *scratch) noexcept nogil:
    """A, P, a, S and r; whether the retained ones determine one another up to rounding.

    `scratch` holds size ld + CHUNK size + gssbo_inverse_scratch(size) elements, with the ld of U.
    """
    cdef Py_ssize_t size = U.size, ld = U.ld, first, width, i, j
    cdef double *factor = scratch
    cdef double *part = factor + size * ld
    cdef double *strips = part + CHUNK * size
    memset(factor, 0, size * ld * sizeof(double))
    for i in range(size):
        covariances(pool, U.members[i], U.A + i * pool.ld)
        for j in range(size):
            factor[i * ld + j] = U.A[i * pool.ld + U.members[j]]
        U.a[i] = pool.z[U.members[i]]
    memset(U.a + size, 0, (ld - size) * sizeof(double))
    if simd.cholesky(size, factor, ld, strips) != 0:
        return True
    for i in range(size):
        if factor[i * ld + i] * factor[i * ld + i] <= pool.floor:
            return True
    simd.substitute(size, factor, ld, U.a)      # c, as in _residual
    first = 0
    while first < pool.ld:
        width = min(<Py_ssize_t> CHUNK, pool.ld - first)
        for i in range(size):
            memcpy(part + i * CHUNK, U.A + i * pool.ld + first, width * sizeof(double))
        simd.solve_transposed(size, width, factor, ld, strips, part, CHUNK)
        simd.downdate(size, width, part, CHUNK, U.a, pool.S + first, pool.r + first, pool.form, pool.floor, NULL, 0)
        first += CHUNK
    simd.invert(size, factor, ld, U.P, ld, strips)
    for i in range(size):
        U.v[i] = pool.z[U.members[i]]
        for j in range(i):
            U.P[i * ld + j] = U.P[j * ld + i]
    simd.product_vector(size, ld, U.P, ld, U.v, U.a)
    return False


cdef Py_ssize_t weakest(const Pool *pool, const Retained *U, Py_ssize_t n_forced) noexcept nogil:
    """Position of the retained member with the least score given all others; -1 where none can be given up."""
    cdef Py_ssize_t i
    cdef double least = INFINITY, precision
    for i in range(n_forced, U.size):
        precision = U.P[i * U.ld + i]
        U.v[i] = score(pool, 1.0 / precision, U.a[i] / precision) if precision > 0.0 else INFINITY
        least = min(least, U.v[i])
    for i in range(n_forced, U.size):
        if U.v[i] < INFINITY and U.v[i] <= least * (1.0 + TIE):
            return i
    return -1


cdef void give_up(Pool *pool, Retained *U, Py_ssize_t i) noexcept nogil:
    """Take the retained member at position i out: its row and column of P, and its element of a, are zero then."""
    cdef Py_ssize_t ld = U.ld, j
    cdef double precision = U.P[i * ld + i], misfit = U.a[i] / precision
    memcpy(U.v, U.P + i * ld, ld * sizeof(double))
    simd.product_vector(U.size, pool.ld, U.A, pool.ld, U.v, pool.b)
    for j in range(pool.n):
        pool.S[j] += pool.b[j] * pool.b[j] / precision
        pool.r[j] += misfit * pool.b[j]
    for j in range(U.size):
        simd.add_scaled(U.size, -U.v[j] / precision, U.v, U.P + j * ld)
        U.P[j * ld + i] = 0.0
        U.a[j] -= misfit * U.v[j]
    memset(U.P + i * ld, 0, ld * sizeof(double))
    U.a[i] = 0.0


cdef Py_ssize_t strongest(const Pool *pool, Py_ssize_t given_up) noexcept nogil:
    """The member with the largest score, of the open ones and the one given up."""
    cdef Py_ssize_t i
    for i in range(pool.ld):
        pool.scores[i] = -INFINITY
    for i in range(pool.n):
        if not pool.shut[i] and pool.S[i] > pool.floor:
            pool.scores[i] = score(pool, pool.S[i], pool.r[i])
    cdef double own = score(pool, pool.S[given_up], pool.r[given_up])
    cdef Py_ssize_t best = first_largest(pool.n, pool.scores)
    return best if best >= 0 and pool.scores[best] > own * (1.0 + TIE) else given_up


cdef void retain(Pool *pool, Retained *U, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """Put member j where position i was given up."""
    cdef Py_ssize_t ld = U.ld, q
    cdef double S = pool.S[j], r = pool.r[j], root = sqrt(S), c = r / root
    cdef double *row = U.A + i * pool.ld
    for q in range(U.size):
        U.v[q] = U.A[q * pool.ld + j]
    simd.product_vector(U.size, ld, U.P, ld, U.v, U.w)
    simd.product_vector(U.size, pool.ld, U.A, pool.ld, U.w, pool.b)
    covariances(pool, j, row)
    for q in range(pool.ld):
        pool.b[q] = (row[q] - pool.b[q]) / root
    simd.downdate(1, pool.ld, pool.b, pool.ld, &c, pool.S, pool.r, pool.form, pool.floor, NULL, 0)
    U.w[i] = -1.0
    for q in range(U.size):
        simd.add_scaled(U.size, U.w[q] / S, U.w, U.P + q * ld)
        U.a[q] -= U.w[q] * r / S
    U.members[i] = j


cdef Py_ssize_t exchange_members(Pool *pool, Retained *U, Py_ssize_t n_forced, Py_ssize_t most,
                                 double *scratch) noexcept nogil:
    """How many were exchanged."""
    cdef Py_ssize_t count = 0, i, j
    if begin(pool, U, scratch):
        return 0
    while count < most:
        i = weakest(pool, U, n_forced)
        if i < 0:
            break
        give_up(pool, U, i)
        j = strongest(pool, U.members[i])
        if j == U.members[i]:
            break
        pool.shut[j] = 1
        retain(pool, U, i, j)
        count += 1
    return count


def exchange(
    int kind,
    const double[:, ::1] X,             # IN (n, d)
    const double[::1] lengthscale,      # IN (d,)
    double variance,
    double noise,
    const double[::1] z,                # IN (n,)
    const double[::1] form,             # IN (4,), of the score, as in _residual
    Py_ssize_t n_forced,                # of the first of `chosen`, which stay
    Py_ssize_t most,                    # exchanges
    Py_ssize_t[::1] chosen,             # INOUT (size,)
):
    """Exchange members of `chosen` for better ones, in place; return how many."""
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], size = chosen.shape[0], i
    cdef Py_ssize_t ld = gssbo_padded(n), lds = gssbo_padded(size)
    cdef Pool pool
    cdef Retained U
    cdef double *start = allocate(
        (ld * (d + size + 4) + lds * (2 * size + 3) + CHUNK * size + gssbo_inverse_scratch(size) + d) * sizeof(double)
        + n)
    pool.kind, pool.n, pool.ld, pool.d = kind, n, ld, d
    pool.variance, pool.noise = variance / (variance + noise), noise / (variance + noise)
    pool.floor = (size + 8) * DBL_EPSILON
    pool.form, pool.z = &form[0], &z[0]
    U.size, U.ld, U.members = size, lds, &chosen[0]
    U.A = start
    pool.columns = U.A + size * ld
    pool.S = pool.columns + d * ld
    pool.r = pool.S + ld
    pool.b = pool.r + ld
    pool.scores = pool.b + ld
    U.P = pool.scores + ld
    U.a = U.P + size * lds
    U.v = U.a + lds
    U.w = U.v + lds
    cdef double *scratch = U.w + lds
    pool.x = scratch + size * lds + CHUNK * size + gssbo_inverse_scratch(size)
    pool.shut = <char *> (pool.x + d)
    with nogil:
        prepare(X, lengthscale, z, ld, pool.columns, pool.S, pool.r)
        memset(pool.shut, 0, n)
        for i in range(size):
            pool.shut[chosen[i]] = 1
        i = exchange_members(&pool, &U, n_forced, most, scratch)
    gssbo_release(start)
    return i

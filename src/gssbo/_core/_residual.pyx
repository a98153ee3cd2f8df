"""Residual rule: the pivots of a partial Cholesky factorization of a pool's covariance are what is retained.

Notation
--------
n, d, size      pool members, input dimensions, retained members
K_y             k(X, X) + noise I (n, n), divided by variance + noise: its diagonal is 1; never formed
k               pivots taken so far; L (k, n) their rows: K_y = L^T L + what is left
S_i             conditional variance of response i given the pivots, as a share of its prior variance: 1 - sum_k L_ki^2
r_i             z_i minus its prediction from the pivots, z_i - sum_k L_ki c_k, with c_k = r_p / sqrt(S_p) at pivot p
score           (a S_i + b r_i^2) / (c S_i + e), the form (a, b, c, e) given: the largest is the next pivot

A row of L needs all earlier rows, so pivots taken one by one read the whole of L each. Here up to BLOCK pivots are
*predicted*, by the same greedy loop on the members with the best scores alone; their rows are made together, strip by
strip; the true scores then say how many of the predictions hold, and the others are dropped. What is chosen is exactly
what the loop over all members chooses. Time O(n size^2), memory O(n (size + d)).

A member whose S is rounding (at most `floor`) is determined by the pivots: it is never one itself, and is retained only
if it is forced or nothing else is left. Scores within TIE of the largest, relative, or within ROUNDING count as equal,
and the lowest member wins.

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026: theorem 5.1, whose bounds
   hold S and r.
2. Wenzel, Santin, Haasdonk, Analysis of target data-dependent greedy kernel algorithms, Constructive Approximation 57,
   2023: S alone and r alone as greedy criteria for interpolation.
"""
from libc.float cimport DBL_EPSILON
from libc.math cimport INFINITY, sqrt
from libc.string cimport memcpy, memset

from gssbo._core._simd cimport allocate, gssbo_padded, gssbo_release, gssbo_simd, gssbo_simd_table

cdef const gssbo_simd_table *simd = gssbo_simd()

cdef enum:
    BLOCK = 16          # pivots predicted at most, and the width of a strip of L: GSSBO_PAD
    CHUNK = 256         # columns whose kernel values are made at once
    LEAST = 32          # members of a short list: n / SHARE, but no fewer and no more than this
    MOST = 128
    SHARE = 16

cdef double TIE = 1e-9
cdef double ROUNDING = 1e-13

cdef struct Pool:
    int kind
    Py_ssize_t n, ld, d, size
    double variance, noise      # shares of the diagonal: they add up to 1
    double floor
    double form[4]
    double *columns             # (d, ld), coordinates in units of the lengthscales
    double *L                   # (ld / BLOCK, size, BLOCK), strips of columns
    double *S                   # (ld,), 0 for who is retained
    double *r                   # (ld,)
    double *next_S              # (ld,), as they will be if all predictions hold
    double *next_r
    double *scores              # (BLOCK + 1, ld), row t: after t more pivots


cdef struct Shortlist:
    Py_ssize_t q, ld
    Py_ssize_t *members         # (q,), ascending unless they are forced ones
    double *columns             # (d, ld)
    double *L                   # (size, ld)
    double *S                   # (ld,)
    double *r
    double *scores
    double *heap                # (q,), and scratch


cdef struct Block:
    Py_ssize_t rows
    Py_ssize_t pivots[BLOCK]
    double c[BLOCK]
    double *coefficients        # (size + BLOCK, BLOCK), column t: the column of L at pivot t, down to sqrt(S)


cdef void prepare(
    const double[:, ::1] X,             # IN (n, d)
    const double[::1] lengthscale,      # IN (d,)
    const double[::1] z,                # IN (n,)
    Py_ssize_t ld,                      # n, padded
    double *columns,                    # OUT (d, ld), coordinates in units of the lengthscales
    double *S,                          # OUT (ld,), S and r before the first pivot
    double *r,                          # OUT (ld,)
) noexcept nogil:
    """What is known of a pool while nothing is retained; zeros for padding."""
    cdef Py_ssize_t n = X.shape[0], i, j
    for j in range(X.shape[1]):
        for i in range(ld):
            columns[j * ld + i] = (X[i, j] - X[0, j]) / lengthscale[j] if i < n else 0.0
    for i in range(ld):
        S[i] = 1.0 if i < n else 0.0
        r[i] = z[i] if i < n else 0.0


cdef Py_ssize_t first_largest(Py_ssize_t n, const double *scores) noexcept nogil:
    """Lowest member whose score is as good as the largest; -1 where none is left."""
    cdef double most = simd.largest(gssbo_padded(n), scores), bound
    cdef Py_ssize_t i
    bound = most - max(TIE * most, ROUNDING)
    if most > -INFINITY:
        for i in range(n):
            if scores[i] >= bound:
                return i
    return -1


cdef void shorten(const Pool *pool, const double *scores, Py_ssize_t first, Shortlist *best) noexcept nogil:
    """List `first` and the members with the best scores, ascending."""
    cdef Py_ssize_t q = 0, i, at, below
    cdef double *heap = best.heap           # the q best so far, the least of them on top
    cdef double value
    for i in range(best.q):
        heap[i] = -INFINITY
    for i in range(pool.n):
        value = scores[i]
        if value > heap[0]:
            at = 0
            while 2 * at + 1 < best.q:
                below = 2 * at + 1
                if below + 1 < best.q and heap[below + 1] < heap[below]:
                    below += 1
                if heap[below] >= value:
                    break
                heap[at] = heap[below]
                at = below
            heap[at] = value
    for i in range(pool.n):
        if i == first or (scores[i] >= heap[0] and q < best.q - (i < first)):
            best.members[q] = i
            q += 1
            if q == best.q:
                break
    best.q = q


cdef void gather(const Pool *pool, Py_ssize_t k, Shortlist *best) noexcept nogil:
    """Copy what the pool knows of the listed members."""
    cdef Py_ssize_t p, i, j, ld = gssbo_padded(best.q)
    cdef const double *strip
    best.ld = ld
    for p in range(ld):
        if p >= best.q:
            best.S[p] = 0.0
            best.r[p] = 0.0
            for j in range(pool.d):
                best.columns[j * ld + p] = 0.0
            for j in range(k):
                best.L[j * ld + p] = 0.0
            best.scores[p] = -INFINITY
            continue
        i = best.members[p]
        best.S[p] = pool.S[i]
        best.r[p] = pool.r[i]
        for j in range(pool.d):
            best.columns[j * ld + p] = pool.columns[j * pool.ld + i]
        strip = pool.L + i // BLOCK * pool.size * BLOCK + i % BLOCK
        for j in range(k):
            best.L[j * ld + p] = strip[j * BLOCK]


cdef void predict(const Pool *pool, Py_ssize_t k, Py_ssize_t wanted, bint in_order, Py_ssize_t first,
                  Shortlist *best, double *x, Block *block) noexcept nogil:
    """Take pivots among the listed members, all of them in their order or by score from `first` on."""
    cdef Py_ssize_t t = 0, p = 0, j, ld = best.ld
    cdef double *row
    cdef double root
    while t < wanted:
        if in_order:
            while p < best.q and best.S[p] <= pool.floor:
                p += 1
            if p == best.q:
                break
        elif t == 0:
            while best.members[p] != first:
                p += 1
        else:
            p = first_largest(best.q, best.scores)
            if p < 0:
                break
        block.pivots[t] = best.members[p]
        root = sqrt(best.S[p])
        block.c[t] = best.r[p] / root
        # row = (k(X, x_p) + noise e_p - L.T @ L[:, p]) / sqrt(S_p)
        for j in range(pool.d):
            x[j] = best.columns[j * ld + p]
        row = best.L + (k + t) * ld
        simd.squared_distances(ld, pool.d, best.columns, ld, x, row)
        simd.kernel_values(pool.kind, ld, pool.variance, row, NULL)
        row[p] += pool.noise
        for j in range(k + t):
            x[j] = best.L[j * ld + p]
            block.coefficients[j * BLOCK + t] = x[j]
        block.coefficients[(k + t) * BLOCK + t] = root
        simd.product_vector(k + t, ld, best.L, ld, x, best.heap)
        for j in range(ld):
            row[j] = (row[j] - best.heap[j]) / root
        simd.downdate(1, ld, row, ld, block.c + t, best.S, best.r, pool.form, pool.floor, best.scores, ld)
        best.S[p] = 0.0
        best.scores[p] = -INFINITY
        t += 1
    block.rows = t


cdef void extend(const Pool *pool, Py_ssize_t k, const Block *block, double *values, double *x) noexcept nogil:
    """Rows of L for all predicted pivots, and what S, r and the scores would be after each of them."""
    cdef Py_ssize_t rows = block.rows, chunk, first, width, s, t, j, ld = pool.ld
    cdef double *strip
    for t in range(rows):
        for j in range(pool.d):
            x[t * pool.d + j] = pool.columns[j * ld + block.pivots[t]]
    memcpy(pool.next_S, pool.S, ld * sizeof(double))
    memcpy(pool.next_r, pool.r, ld * sizeof(double))
    for chunk in range((ld + CHUNK - 1) // CHUNK):
        first = chunk * CHUNK
        width = min(<Py_ssize_t> CHUNK, ld - first)
        for t in range(rows):
            simd.squared_distances(width, pool.d, pool.columns + first, ld, x + t * pool.d, values)
            simd.kernel_values(pool.kind, width, pool.variance, values, NULL)
            j = block.pivots[t] - first
            if 0 <= j < width:
                values[j] += pool.noise
            for s in range(width // BLOCK):
                memcpy(pool.L + (first + s * BLOCK) * pool.size + (k + t) * BLOCK, values + s * BLOCK,
                       BLOCK * sizeof(double))
        for s in range(width // BLOCK):
            j = first + s * BLOCK
            strip = pool.L + j * pool.size
            # rows = solve(U.T, K[pivots] - L[:, pivots].T @ L) with U = L[k:, pivots]
            simd.subtract_product(rows, BLOCK, k, block.coefficients, BLOCK, strip, BLOCK, strip + k * BLOCK, BLOCK,
                                  NULL)
            simd.solve_transposed(rows, BLOCK, block.coefficients + k * BLOCK, BLOCK, NULL, strip + k * BLOCK, BLOCK)
            simd.downdate(rows, BLOCK, strip + k * BLOCK, BLOCK, block.c, pool.next_S + j, pool.next_r + j,
                          pool.form, pool.floor, pool.scores + ld + j, ld)
    for t in range(rows):
        for j in range(t + 1, rows + 1):
            pool.scores[j * ld + block.pivots[t]] = -INFINITY


cdef Py_ssize_t verified(const Pool *pool, const Block *block) noexcept nogil:
    """How many of the predicted pivots the loop over all members would have taken."""
    cdef Py_ssize_t t = 1
    while t < block.rows and first_largest(pool.n, pool.scores + t * pool.ld) == block.pivots[t]:
        t += 1
    return min(t, block.rows)


cdef void accept(Pool *pool, Py_ssize_t k, const Block *block, Py_ssize_t rows) noexcept nogil:
    """Make the first `rows` predicted pivots part of the factor."""
    cdef Py_ssize_t s, t
    if rows == block.rows:
        pool.S, pool.next_S = pool.next_S, pool.S
        pool.r, pool.next_r = pool.next_r, pool.r
    else:
        for s in range(pool.ld // BLOCK):
            simd.downdate(rows, BLOCK, pool.L + (s * pool.size + k) * BLOCK, BLOCK, block.c, pool.S + s * BLOCK,
                          pool.r + s * BLOCK, pool.form, pool.floor, NULL, 0)
    for t in range(rows):
        pool.S[block.pivots[t]] = 0.0


cdef void choose(Pool *pool, Py_ssize_t f, Py_ssize_t listed, Shortlist *best, Block *block, double *values,
                 double *x, char *retained, Py_ssize_t *chosen) noexcept nogil:
    """Fill `chosen`, whose first f members are there."""
    cdef Py_ssize_t taken = 0, k = 0, t, first, rows, wanted = BLOCK // 2
    cdef double *scores = pool.scores
    while taken < f:
        best.q = min(<Py_ssize_t> BLOCK, f - taken)
        for t in range(best.q):
            best.members[t] = chosen[taken + t]
            retained[chosen[taken + t]] = 1
        gather(pool, k, best)
        predict(pool, k, best.q, True, 0, best, x, block)
        if block.rows > 0:
            extend(pool, k, block, values, x)
            accept(pool, k, block, block.rows)
            scores = pool.scores + block.rows * pool.ld
        for t in range(best.q):
            pool.S[best.members[t]] = 0.0
            scores[best.members[t]] = -INFINITY
        taken += best.q
        k += block.rows
    while taken < pool.size:
        first = first_largest(pool.n, scores)
        if first < 0:
            break
        best.q = listed
        shorten(pool, scores, first, best)
        gather(pool, k, best)
        predict(pool, k, min(wanted, pool.size - taken), False, first, best, x, block)
        extend(pool, k, block, values, x)
        rows = verified(pool, block)
        accept(pool, k, block, rows)
        for t in range(rows):
            chosen[taken + t] = block.pivots[t]
            retained[block.pivots[t]] = 1
        scores = pool.scores + rows * pool.ld
        taken += rows
        k += rows
        wanted = min(<Py_ssize_t> BLOCK, 2 * wanted) if rows == block.rows else rows + 1
    for first in range(pool.n):
        if taken == pool.size:
            break
        if not retained[first]:
            chosen[taken] = first
            taken += 1


def pivots(
    int kind,
    const double[:, ::1] X,             # IN (n, d)
    const double[::1] lengthscale,      # IN (d,)
    double variance,
    double noise,
    const double[::1] z,                # IN (n,)
    const double[::1] form,             # IN (4,), of the score
    const Py_ssize_t[::1] forced,       # IN (f,), distinct
    Py_ssize_t[::1] chosen,             # OUT (size,)
):
    """Retain the forced members, then pivots by score."""
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], size = chosen.shape[0], f = forced.shape[0], i, j
    cdef Py_ssize_t ld = gssbo_padded(n), listed = min(n, max(<Py_ssize_t> LEAST, min(<Py_ssize_t> MOST, n // SHARE)))
    cdef Py_ssize_t room = gssbo_padded(max(listed, <Py_ssize_t> BLOCK))
    cdef Pool pool
    cdef Shortlist best
    cdef Block block
    cdef double *start = allocate(
        (ld * (d + size + BLOCK + 5) + room * (d + size + 4) + (size + BLOCK) * BLOCK + CHUNK + BLOCK * d + size)
        * sizeof(double) + n + room * sizeof(Py_ssize_t))
    pool.kind, pool.n, pool.ld, pool.d, pool.size = kind, n, ld, d, size
    pool.variance, pool.noise = variance / (variance + noise), noise / (variance + noise)
    pool.floor = (size + 8) * DBL_EPSILON
    for j in range(4):
        pool.form[j] = form[j]
    pool.columns = start
    pool.L = pool.columns + d * ld
    pool.S = pool.L + size * ld
    pool.r = pool.S + ld
    pool.next_S = pool.r + ld
    pool.next_r = pool.next_S + ld
    pool.scores = pool.next_r + ld
    best.columns = pool.scores + (BLOCK + 1) * ld
    best.L = best.columns + d * room
    best.S = best.L + size * room
    best.r = best.S + room
    best.scores = best.r + room
    best.heap = best.scores + room
    block.coefficients = best.heap + room
    cdef double *values = block.coefficients + (size + BLOCK) * BLOCK
    cdef double *x = values + CHUNK             # (max(BLOCK d, size),)
    best.members = <Py_ssize_t *> (x + BLOCK * d + size)
    cdef char *retained = <char *> (best.members + room)
    with nogil:
        memset(retained, 0, n)
        prepare(X, lengthscale, z, ld, pool.columns, pool.S, pool.r)
        memset(values, 0, BLOCK * sizeof(double))
        for i in range(ld // BLOCK):
            simd.downdate(1, BLOCK, values, BLOCK, values, pool.S + i * BLOCK, pool.r + i * BLOCK, pool.form,
                          pool.floor, pool.scores + i * BLOCK, ld)
        for j in range(f):
            chosen[j] = forced[j]
        choose(&pool, f, listed, &best, &block, values, x, retained, &chosen[0])
    gssbo_release(start)

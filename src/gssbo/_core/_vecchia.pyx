"""Vecchia's approximation of a Gaussian process: every response is given its nearest neighbours alone.

Notation
--------
X, z        inputs (n, d), in the order of the approximation, and responses (n,)
c(i)        conditioning set of i: the m nearest before it, or all of them, in units of the lengthscales
k, K        covariances of i with c(i) (m,), and among c(i) with noise (m, m)
known       known noise variances (n,), beyond the noise that is the same everywhere
b, a        K^-1 k and K^-1 z_c (m,)
e, s        z_i - b.z_c, and variance + noise + known_i - b.k: p(z_i | z_c) is normal with mean b.z_c and variance s
L           sum over i of log p(z_i | z_c), times a weight
u, a'       (-b, 1) and (a, 0) over (c, i): ds = u^T dK_ci u and de = -u^T dK_ci a', no derivative of an inverse needed

Blocks are small, and each is factorized on its own. What a block needs of the kernel (its pairs, each once and row by
row, then its covariances with i) is computed in one sweep over `packed`: row by row it would come in pieces too short
for whole vectors.

References
----------
1. Vecchia, Estimation and model identification for continuous spatial processes, 1988.
2. Katzfuss, Guinness and Lawrence, Scaled Vecchia approximation for fast computer-model emulation, 2022.
3. Jimenez and Katzfuss, Scalable Bayesian optimization using Vecchia approximations of Gaussian processes, 2023.
"""
from libc.float cimport DBL_EPSILON
from libc.math cimport NAN, exp, log
from libc.string cimport memcpy, memset

from gssbo._core._gp cimport factor
from gssbo._core._mle cimport search
from gssbo._core._neighbours cimport keep_nearest, scaled_columns
from gssbo._core._simd cimport (
    GSSBO_LANES,
    GSSBO_PAD,
    allocate,
    gssbo_factor_scratch,
    gssbo_padded,
    gssbo_release,
    gssbo_simd,
    gssbo_simd_table,
)

cdef const gssbo_simd_table *simd = gssbo_simd()

cdef double LOG_2PI = 1.8378770664093454836
cdef double FIRST_JITTER = 1e-10    # of the variance, added to a block that is singular in doubles; then ten times more
cdef enum:
    JITTERS = 10


# Blocks

cdef void gather(
    Py_ssize_t size,
    Py_ssize_t d,
    const double *X,                # IN (n, d)
    const double *centre,           # IN (d,)
    const double *lengthscale,      # IN (d,)
    const Py_ssize_t *index,        # IN (size,)
    Py_ssize_t ld,
    double *rows,                   # OUT (size, d), (X[index] - centre) / lengthscale
    double *columns,                # OUT (d, ld), its transpose, zeros from size on, and GSSBO_PAD more elements
) noexcept nogil:
    cdef Py_ssize_t i, k
    cdef const double *x
    for i in range(size):
        x = X + index[i] * d
        for k in range(d):
            rows[i * d + k] = (x[k] - centre[k]) / lengthscale[k]
            columns[k * ld + i] = rows[i * d + k]
    for k in range(d):
        for i in range(size, ld):
            columns[k * ld + i] = 0.0
    memset(columns + d * ld, 0, GSSBO_PAD * sizeof(double))


cdef Py_ssize_t pairs(Py_ssize_t size) noexcept nogil:
    """Pairs among so many."""
    return size * (size - 1) // 2


cdef Py_ssize_t packed_size(Py_ssize_t size) noexcept nogil:
    """Elements of `packed`: the pairs, the covariances with i, and what whole vectors write past them."""
    return pairs(size) + size + GSSBO_PAD


cdef void pack_distances(
    Py_ssize_t size,
    Py_ssize_t d,
    const double *rows,             # IN (size, d)
    const double *columns,          # IN (d, ld)
    Py_ssize_t ld,
    double *packed,                 # OUT (packed_size(size),), r2 of the pairs
) noexcept nogil:
    """A row is written past its end, and the next one over that."""
    cdef Py_ssize_t i
    for i in range(size - 1):
        simd.squared_distances(size - 1 - i, d, columns + i + 1, ld, rows + i * d, packed)
        packed += size - 1 - i


cdef void unpack(
    Py_ssize_t size,
    const double *packed,           # IN (packed_size(size),)
    const double *diagonal,         # IN (size,)
    Py_ssize_t ld,
    double *K,                      # OUT (size, ld), upper triangle; padding zero
) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(size):
        K[i * ld + i] = diagonal[i]
        memcpy(K + i * ld + i + 1, packed, (size - 1 - i) * sizeof(double))
        memset(K + i * ld + size, 0, (ld - size) * sizeof(double))
        packed += size - 1 - i


cdef void half_solve(Py_ssize_t size, Py_ssize_t ld, const double *U, double *v) noexcept nogil:
    """v = solve(U.T, v)."""
    cdef Py_ssize_t i
    for i in range(size):
        v[i] /= U[i * ld + i]
        simd.add_scaled(size - i - 1, -v[i], U + i * ld + i + 1, v + i + 1)


cdef void other_half(Py_ssize_t size, Py_ssize_t ld, const double *U, double *v) noexcept nogil:
    """v = solve(U, v)."""
    cdef Py_ssize_t i
    for i in range(size - 1, -1, -1):
        v[i] = (v[i] - simd.dot(size - i - 1, U + i * ld + i + 1, v + i + 1)) / U[i * ld + i]


# Posterior

def posterior(
    int kind,
    const double[:, ::1] X,             # IN (n, d)
    const double[::1] z,                # IN (n,)
    const double[::1] known,            # IN (n,)
    const double[::1] lengthscale,      # IN (d,)
    double variance,
    double noise,
    Py_ssize_t m,
    const double[:, ::1] candidates,    # IN (q, d)
    double[::1] mean,                   # OUT (q,)
    double[::1] latent_variance,        # OUT (q,), never negative
):
    """Posterior mean and variance of the latent function, each candidate given its m nearest inputs.

    k = k(X_c, x); v = solve(U.T, k); mean = v . solve(U.T, z_c); variance = k(x, x) - v.v. A block that is not positive
    definite in doubles gets a jitter.
    """
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], q = candidates.shape[0], ldn = gssbo_padded(n)
    cdef Py_ssize_t most = min(m, n), ld = gssbo_padded(most), c, i, k, size, attempt
    cdef double *columns = allocate(
        (ldn * d + ldn + d + most * d + ld * d + GSSBO_PAD + most * ld + 3 * ld + packed_size(most)
         + gssbo_factor_scratch(most)) * sizeof(double) + most * sizeof(Py_ssize_t))
    cdef double *r2 = columns + ldn * d
    cdef double *x = r2 + ldn
    cdef double *rows = x + d
    cdef double *block = rows + most * d
    cdef double *U = block + ld * d + GSSBO_PAD
    cdef double *v = U + most * ld
    cdef double *w = v + ld
    cdef double *diagonal = w + ld
    cdef double *packed = diagonal + ld
    cdef double *strips = packed + packed_size(most)
    cdef Py_ssize_t *index = <Py_ssize_t *> (strips + gssbo_factor_scratch(most))
    cdef double jitter
    with nogil:
        scaled_columns(n, d, &X[0, 0], &lengthscale[0], ldn, columns)
        for c in range(q):
            for k in range(d):
                x[k] = (candidates[c, k] - X[0, k]) / lengthscale[k]
            simd.squared_distances(n, d, columns, ldn, x, r2)
            size = keep_nearest(n, r2, m, v, index)
            gather(size, d, &X[0, 0], &candidates[c, 0], &lengthscale[0], index, ld, rows, block)
            pack_distances(size, d, rows, block, ld, packed)
            memcpy(packed + pairs(size), v, size * sizeof(double))
            simd.kernel_values(kind, pairs(size) + size, variance, packed, NULL)
            memcpy(v, packed + pairs(size), size * sizeof(double))
            for i in range(size):
                w[i] = z[index[i]]
            jitter = 0.0
            for attempt in range(JITTERS + 1):
                for i in range(size):
                    diagonal[i] = variance + noise + jitter + known[index[i]]
                unpack(size, packed, diagonal, ld, U)
                if not factor(size, ld, U, diagonal, strips):
                    break
                jitter = FIRST_JITTER * variance if attempt == 0 else 10.0 * jitter
            half_solve(size, ld, U, v)
            half_solve(size, ld, U, w)
            mean[c] = simd.dot(size, v, w)
            latent_variance[c] = max(variance - simd.dot(size, v, v), 0.0)
    gssbo_release(columns)


# Likelihood

cdef struct Terms:
    int kind
    Py_ssize_t d
    Py_ssize_t m
    Py_ssize_t count
    const double *X             # (n, d)
    const double *z             # (n,)
    const double *known         # (n,)
    const Py_ssize_t *terms     # (count,)
    const Py_ssize_t *sets      # (count, m)
    double weight
    double *work                # (likelihood_work(d, m),)


cdef Py_ssize_t likelihood_work(Py_ssize_t d, Py_ssize_t m) noexcept nogil:
    cdef Py_ssize_t ld = gssbo_padded(m)
    return ((2 + GSSBO_LANES + m + ld) * d + GSSBO_PAD + m * ld + 3 * ld + 2 * packed_size(m)
            + gssbo_factor_scratch(m))


cdef double likelihood(void *data, const double *theta, double *gradient) noexcept nogil:
    """L and its gradient; NaN where a block is not positive definite in doubles."""
    cdef Terms *of = <Terms *> data
    cdef Py_ssize_t d = of.d, m = of.m, ld = gssbo_padded(m), t, i, j, p, q, size, left
    cdef const Py_ssize_t *index
    cdef double *lengthscale = of.work
    cdef double *origin = lengthscale + d
    cdef double *lanes = origin + d
    cdef double *rows = lanes + GSSBO_LANES * d
    cdef double *columns = rows + m * d
    cdef double *U = columns + ld * d + GSSBO_PAD
    cdef double *a = U + m * ld
    cdef double *b = a + ld
    cdef double *weight = b + ld
    cdef double *packed = weight + ld
    cdef double *radial = packed + packed_size(m)
    cdef double *strips = radial + packed_size(m)
    cdef const double *slope
    cdef double variance = exp(theta[d]), noise = exp(theta[d + 1]), value = 0.0
    cdef double e, s, in_s, in_e, first, second, bb, ab, known_bb, known_ab
    for j in range(d):
        lengthscale[j] = exp(theta[j])
        origin[j] = 0.0
    for j in range(d + 2):
        gradient[j] = 0.0
    memset(lanes, 0, GSSBO_LANES * d * sizeof(double))
    for t in range(of.count):
        i = of.terms[t]
        index = of.sets + t * m
        size = 0
        while size < m and index[size] >= 0:
            size += 1
        gather(size, d, of.X, of.X + i * d, lengthscale, index, ld, rows, columns)
        pack_distances(size, d, rows, columns, ld, packed)
        simd.squared_distances(size, d, columns, ld, origin, packed + pairs(size))
        simd.kernel_values(of.kind, pairs(size) + size, variance, packed, radial)
        for j in range(size):
            weight[j] = variance + noise + of.known[index[j]]
        unpack(size, packed, weight, ld, U)
        if size > 0 and factor(size, ld, U, weight, strips):
            return NAN
        for j in range(size):
            a[j] = of.z[index[j]]
            b[j] = packed[pairs(size) + j]
        half_solve(size, ld, U, a)
        half_solve(size, ld, U, b)
        s = variance + noise + of.known[i] - simd.dot(size, b, b)
        if s <= (size + 9) * DBL_EPSILON * (variance + noise + of.known[i]):
            return NAN
        e = of.z[i] - simd.dot(size, a, b)
        value -= 0.5 * (LOG_2PI + log(s) + e * e / s)
        in_s = 0.5 * (e * e / s - 1.0) / s              # dL/ds
        in_e = -e / s                                   # dL/de
        other_half(size, ld, U, a)
        other_half(size, ld, U, b)
        bb = simd.dot(size, b, b)
        ab = simd.dot(size, a, b)
        known_bb = of.known[i]
        known_ab = 0.0
        for j in range(size):
            known_bb += of.known[index[j]] * b[j] * b[j]
            known_ab += of.known[index[j]] * a[j] * b[j]
        gradient[d] += in_s * (s - noise * (1.0 + bb) - known_bb) - in_e * (noise * ab + known_ab)
        gradient[d + 1] += in_s * noise * (1.0 + bb) + in_e * noise * ab
        # Pairs of c(i), each once, then i with each of them; weights of columns up to p and of the padding are zero.
        slope = radial
        for p in range(size):
            left = (p + 1) // GSSBO_LANES * GSSBO_LANES
            memset(weight, 0, (ld - left) * sizeof(double))
            first = 2.0 * in_s * b[p] + in_e * a[p]
            second = in_e * b[p]
            for q in range(p + 1, size):
                weight[q - left] = slope[q - p - 1] * (first * b[q] + second * a[q])
            simd.weighted_squares(size - left, d, columns + left, ld, rows + p * d, weight, lanes)
            slope += size - 1 - p
        memset(weight, 0, ld * sizeof(double))
        for p in range(size):
            weight[p] = -slope[p] * (2.0 * in_s * b[p] + in_e * a[p])
        simd.weighted_squares(size, d, columns, ld, origin, weight, lanes)
    for j in range(d):
        for q in range(GSSBO_LANES):
            gradient[j] += lanes[j * GSSBO_LANES + q]
    for j in range(d + 2):
        gradient[j] *= of.weight
    return of.weight * value


def work_size(Py_ssize_t d, Py_ssize_t m):
    """Elements of scratch for `log_likelihood` and `climb`."""
    return likelihood_work(d, m)


cdef Terms bundle(
    int kind,
    const double[:, ::1] X,
    const double[::1] z,
    const double[::1] known,
    const Py_ssize_t[::1] terms,
    const Py_ssize_t[:, ::1] sets,
    double weight,
    double[::1] work,
) noexcept:
    cdef Terms data
    data.kind, data.d, data.m, data.count = kind, X.shape[1], sets.shape[1], terms.shape[0]
    data.X, data.z, data.known = &X[0, 0], &z[0], &known[0]
    data.terms, data.sets, data.weight, data.work = &terms[0], &sets[0, 0], weight, &work[0]
    return data


def log_likelihood(
    int kind,
    const double[:, ::1] X,             # IN (n, d), in order
    const double[::1] z,                # IN (n,)
    const double[::1] known,            # IN (n,)
    const Py_ssize_t[::1] terms,        # IN (t,)
    const Py_ssize_t[:, ::1] sets,      # IN (t, m)
    double weight,
    const double[::1] theta,            # IN (d + 2,)
    double[::1] work,                   # INOUT (work_size(d, m),)
    double[::1] gradient,               # OUT (d + 2,), dL/dtheta
):
    """L and its gradient; NaN where a block is not positive definite in doubles."""
    cdef Terms data = bundle(kind, X, z, known, terms, sets, weight, work)
    cdef double value
    with nogil:
        value = likelihood(&data, &theta[0], &gradient[0])
    return value


def climb(
    int kind,
    const double[:, ::1] X,             # IN (n, d), in order
    const double[::1] z,                # IN (n,)
    const double[::1] known,            # IN (n,)
    const Py_ssize_t[::1] terms,        # IN (t,)
    const Py_ssize_t[:, ::1] sets,      # IN (t, m)
    double weight,
    const double[::1] low,              # IN (d + 2,)
    const double[::1] high,             # IN (d + 2,)
    const double[::1] reach,            # IN (d + 2,)
    const double[::1] centre,           # IN (d + 2,)
    const double[::1] prior_weight,     # IN (d + 2,)
    double tolerance,
    Py_ssize_t max_evaluations,
    double[::1] work,                   # INOUT (work_size(d, m),)
    double[::1] state,                  # INOUT (_mle.state_size(d, False),), zeros at first
    double[::1] theta,                  # INOUT (d + 2,), start -> best point reached
):
    """`_mle.search` with this likelihood."""
    cdef Terms data = bundle(kind, X, z, known, terms, sets, weight, work)
    return search(likelihood, NULL, &data, low, high, reach, centre, prior_weight, tolerance, max_evaluations, state,
                  theta)

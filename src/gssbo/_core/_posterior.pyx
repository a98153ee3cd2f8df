"""Posterior of a Gaussian process on standardised responses.

Notation
--------
X, alpha, U     inputs (n, d), weights K_y^-1 z (n,) and factor K_y = U^T U, as `_gp.fit` leaves them
k               k(X, x) (n,), for one candidate x
"""
from libc.math cimport fabs, sqrt
from libc.string cimport memset

from gssbo._core._simd cimport (
    GSSBO_MATERN32,
    GSSBO_RBF,
    allocate,
    gssbo_factor_scratch,
    gssbo_padded,
    gssbo_release,
    gssbo_simd,
    gssbo_simd_table,
)

cdef const gssbo_simd_table *simd = gssbo_simd()

cdef enum:
    CHUNK = 128         # candidates scored at once; a multiple of GSSBO_PAD
    GROUP = 4           # observations whose distances to them are found together
    ROW = 144           # their distance in memory: at a power of two the rows of a column would share few cache sets

cdef double LOG2_E = 1.4426950408889634074


def posterior(
    int kind,
    const double[:, ::1] X,             # IN (n, d)
    const double[::1] lengthscale,      # IN (d,)
    double variance,
    const double[:, ::1] U,             # IN (n, ld)
    const double[::1] alpha,            # IN (n,)
    const double[:, ::1] candidates,    # IN (m, d)
    double[::1] mean,                   # OUT (m,)
    double[::1] latent_variance,        # OUT (m,), never negative
):
    """Posterior mean and variance of the latent function, in blocks of CHUNK candidates.

    v = solve(U.T, k(X, x)); mean = alpha.k; variance = k(x, x) - v.v. A triangular solve, not the explicit
    precision, which loses every digit of small variances once K_y is ill-conditioned.
    """
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], m = candidates.shape[0], ld = U.shape[1]
    cdef Py_ssize_t block, first, size, width, i, j
    cdef double *columns = allocate(
        ((n + 2 * CHUNK) * d + (n + 2) * ROW + gssbo_factor_scratch(n)) * sizeof(double))
    cdef double *scaled = columns + CHUNK * d
    cdef double *V = scaled + CHUNK * d
    cdef double *sums = V + n * ROW
    cdef double *squares = sums + ROW
    cdef double *strips = squares + ROW
    cdef double *rows = strips + gssbo_factor_scratch(n)
    cdef double *v
    with nogil:
        for i in range(n):
            for j in range(d):
                rows[i * d + j] = (X[i, j] - X[0, j]) / lengthscale[j]
        simd.pack_factor(n, &U[0, 0], ld, strips)
        for block in range((m + CHUNK - 1) // CHUNK):
            first = block * CHUNK
            size = min(<Py_ssize_t> CHUNK, m - first)
            width = gssbo_padded(size)
            simd.scale(size, d, &candidates[first, 0], &X[0, 0], &lengthscale[0], CHUNK, scaled, columns)
            memset(sums, 0, 2 * ROW * sizeof(double))
            for i in range(n):
                v = V + i * ROW
                if i % GROUP == 0:
                    simd.distance_rows(min(<Py_ssize_t> GROUP, n - i), width, d, columns, CHUNK, rows + i * d, v, ROW)
                simd.kernel_values(kind, width, variance, v, NULL)
                simd.add_scaled(width, alpha[i], v, sums)
            simd.solve_transposed(n, width, &U[0, 0], ld, strips, V, ROW)
            for i in range(n):
                simd.add_squares(width, V + i * ROW, squares)
            for j in range(size):
                mean[first + j] = sums[j]
                latent_variance[first + j] = max(variance - squares[j], 0.0)
    gssbo_release(columns)


cdef double single_factor(int kind) noexcept nogil:
    """What distances are multiplied by where correlations are computed in single precision."""
    return sqrt(0.5 * LOG2_E) if kind == GSSBO_RBF else sqrt(3.0) if kind == GSSBO_MATERN32 else sqrt(5.0)


cdef double single_error(int kind, Py_ssize_t d, double reach) noexcept nogil:
    """Bound on the relative error of the sums that `simd.add_correlations_single` makes, term by term.

    `reach` is the norms of two points together. In units of 2^-24 their distance is off by 2 for the coordinates and
    (d + 1) / 2 for the sum of squares, times the reach; the exponent by 2 more. A correlation changes by no larger part
    than its exponent by. The exponential is off by 13 of itself, the polynomial before it by 6, weights and sums by 5.
    """
    cdef double exponent = 2.0 * reach * reach if kind == GSSBO_RBF else reach
    return 2.0**-24 * (24.0 + (0.5 * d + 6.0) * exponent)


def posterior_bound(
    int kind,
    const double[:, ::1] X,             # IN (n, d)
    const double[::1] lengthscale,      # IN (d,)
    double variance,
    double share,                       # of the square of a covariance that its observation takes off the variance
    const double[::1] alpha,            # IN (n,)
    const double[:, ::1] candidates,    # IN (m, d)
    double tolerance,                   # how much too high the mean may be
    double[::1] mean,                   # OUT (m,), bound from above
    double[::1] std,                    # OUT (m,), bound from above
):
    """The mean, and the standard deviation given the closest observation alone: without the triangular solve.

    In single precision, with a bound on the error, where this is within the tolerance; else the mean is that of
    `posterior` to the bit.
    """
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], m = candidates.shape[0], fours = (n + GROUP - 1) // GROUP
    cdef Py_ssize_t block, first, size, some, i, j, together
    cdef double *columns = allocate(
        ((n + 2 * CHUNK + 1) * d + (GROUP + 2) * CHUNK) * sizeof(double)
        + (GROUP * fours * (d + 1) + CHUNK * (d + 1)) * sizeof(float))
    cdef double *scaled = columns + CHUNK * d
    cdef double *group = scaled + CHUNK * d
    cdef double *sums = group + GROUP * CHUNK
    cdef double *closest = sums + CHUNK
    cdef float *places = <float *> (closest + CHUNK)
    cdef float *largest = places + CHUNK * d
    cdef double *rows = <double *> (largest + CHUNK)
    cdef double *factor = rows + n * d
    cdef float *points = <float *> (factor + d)
    cdef float *weights = points + GROUP * fours * d
    cdef double stretch = single_factor(kind), unit = 0.0, weight = 0.0, norm = 0.0, square, error
    cdef bint plain
    with nogil:
        for j in range(d):
            factor[j] = stretch / lengthscale[j]
        for i in range(n):
            unit = max(unit, fabs(alpha[i]))
            weight += variance * fabs(alpha[i])
            square = 0.0
            for j in range(d):
                rows[i * d + j] = (X[i, j] - X[0, j]) / lengthscale[j]
                square += rows[i * d + j] * rows[i * d + j]
            norm = max(norm, stretch * sqrt(square))
        # Not where a term of the mean may fall below what doubles tell apart.
        plain = variance > 1e-250 and (weight == 0.0 or weight > 1e-250)
        for i in range(GROUP * fours):  # the last once more, with weight 0, to make whole fours
            weights[i] = alpha[i] / unit if i < n and unit > 0.0 else 0.0
            for j in range(d):
                points[i * d + j] = stretch * rows[min(i, n - 1) * d + j]
        for block in range((m + CHUNK - 1) // CHUNK):
            first = block * CHUNK
            size = min(<Py_ssize_t> CHUNK, m - first)
            error = single_error(
                kind, d, norm + simd.scale_single(size, d, &candidates[first, 0], &X[0, 0], factor, CHUNK, places))
            memset(sums, 0, 2 * CHUNK * sizeof(double))
            if plain and error <= 0.01 and error * weight <= tolerance:
                memset(largest, 0, CHUNK * sizeof(float))
                for some in range(fours):
                    i = some * GROUP
                    simd.add_correlations_single(kind, CHUNK, d, places, CHUNK, points + i * d, weights + i, sums,
                                                 largest)
                for j in range(size):
                    # Correlations below 1e-30 may be anything down to 0.
                    sums[j] = unit * variance * sums[j] + weight * (error * (1.0 + 2.0 * error) * largest[j] + 1e-30)
                    closest[j] = variance * max((1.0 - error) * largest[j] - 1e-30, 0.0)
            else:
                simd.scale(size, d, &candidates[first, 0], &X[0, 0], &lengthscale[0], CHUNK, scaled, columns)
                for some in range(fours):
                    i = some * GROUP
                    together = min(<Py_ssize_t> GROUP, n - i)
                    simd.distance_rows(together, CHUNK, d, columns, CHUNK, rows + i * d, group, CHUNK)
                    simd.kernel_values(kind, together * CHUNK, variance, group, NULL)
                    simd.add_rows_and_max(together, CHUNK, &alpha[i], group, CHUNK, sums, closest)
            for j in range(size):
                mean[first + j] = sums[j]
                std[first + j] = sqrt(max(variance - share * closest[j] * closest[j], 0.0))
    gssbo_release(columns)


def posterior_gradient(
    int kind,
    const double[:, ::1] X,             # IN (n, d)
    const double[::1] lengthscale,      # IN (d,)
    double variance,
    const double[:, ::1] U,             # IN (n, ld)
    const double[::1] alpha,            # IN (n,)
    const double[:, ::1] candidates,    # IN (m, d)
    double[:, ::1] dmean,               # OUT (m, d)
    double[:, ::1] dvariance,           # OUT (m, d), of the latent variance
):
    """Gradients of the posterior mean and latent variance in the candidate."""
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], c, i, j
    cdef double *k = allocate(2 * n * sizeof(double))
    cdef double *radial = k + n
    cdef double difference, r2, slope
    with nogil:
        for c in range(candidates.shape[0]):
            for i in range(n):
                r2 = 0.0
                for j in range(d):
                    difference = (candidates[c, j] - X[i, j]) / lengthscale[j]
                    r2 += difference * difference
                k[i] = r2
            simd.kernel_values(kind, n, variance, k, radial)
            # k <- solve(U, solve(U.T, k)) = P k
            for i in range(n):
                k[i] /= U[i, i]
                simd.add_scaled(n - i - 1, -k[i], &U[i, 0] + i + 1, k + i + 1)
            for i in range(n - 1, -1, -1):
                k[i] = (k[i] - simd.dot(n - i - 1, &U[i, 0] + i + 1, k + i + 1)) / U[i, i]
            for j in range(d):
                dmean[c, j] = 0.0
                dvariance[c, j] = 0.0
            for i in range(n):
                for j in range(d):
                    slope = -radial[i] * ((candidates[c, j] - X[i, j]) / lengthscale[j]) / lengthscale[j]
                    dmean[c, j] += alpha[i] * slope
                    dvariance[c, j] -= 2.0 * k[i] * slope
    gssbo_release(k)

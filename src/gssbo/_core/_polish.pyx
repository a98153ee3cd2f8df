"""Search for the maximum of log expected improvement in a box.

Notation
--------
X, U, alpha     inputs (n, d), factor and weights of the Gaussian process, as in `_gp`
x               low + (high - low) u, u in [0, 1]^d: what is searched over
m, s            posterior mean and standard deviation at x; z = (m - best) / s
log EI          log s + log h(z), h as in `_acquire`; its gradient is ds/s + (log h)'(z) (dm - z ds) / s
"""
from libc.math cimport NAN, fmax, log, sqrt
from libc.string cimport memset

from gssbo._core._acquire cimport dlog_h, log_h
from gssbo._core._climb cimport climb, climb_state
from gssbo._core._simd cimport allocate, gssbo_release, gssbo_simd, gssbo_simd_table

cdef const gssbo_simd_table *simd = gssbo_simd()

cdef double TOLERANCE = 2.2e-9
cdef double LEAST_VARIANCE = 1e-14      # relative to the prior's: below it K_y's rounding is all there is

cdef struct Surface:
    int kind
    Py_ssize_t n
    Py_ssize_t d
    Py_ssize_t ld
    const double *X
    const double *lengthscale
    double variance
    const double *U
    const double *alpha
    double best
    const double *low
    const double *high
    double *k           # scratch (n,)
    double *radial      # scratch (n,)
    double *x           # scratch (d,)
    double *dmean       # scratch (d,)


cdef double log_ei(void *context, const double *u, double *gradient) noexcept nogil:
    cdef Surface *on = <Surface *> context
    cdef Py_ssize_t n = on.n, d = on.d, ld = on.ld, i, j
    cdef double difference, r2, slope, mean = 0.0, latent = on.variance, std, z, steepness, width
    cdef double *k = on.k
    for j in range(d):
        on.x[j] = on.low[j] + u[j] * (on.high[j] - on.low[j])
        on.dmean[j] = 0.0
        gradient[j] = 0.0
    for i in range(n):
        r2 = 0.0
        for j in range(d):
            difference = (on.x[j] - on.X[i * d + j]) / on.lengthscale[j]
            r2 += difference * difference
        k[i] = r2
    simd.kernel_values(on.kind, n, on.variance, k, on.radial)
    for i in range(n):
        mean += on.alpha[i] * k[i]
    # k <- solve(U, solve(U.T, k)); the variance from the first of the two
    for i in range(n):
        k[i] /= on.U[i * ld + i]
        latent -= k[i] * k[i]
        simd.add_scaled(n - i - 1, -k[i], on.U + i * ld + i + 1, k + i + 1)
    for i in range(n - 1, -1, -1):
        k[i] = (k[i] - simd.dot(n - i - 1, on.U + i * ld + i + 1, k + i + 1)) / on.U[i * ld + i]
    std = sqrt(fmax(latent, LEAST_VARIANCE * on.variance))
    z = (mean - on.best) / std
    if not -1e150 < z < 1e150:
        return NAN
    for i in range(n):
        for j in range(d):
            slope = -on.radial[i] * ((on.x[j] - on.X[i * d + j]) / on.lengthscale[j]) / on.lengthscale[j]
            on.dmean[j] += on.alpha[i] * slope
            gradient[j] -= k[i] * slope
    steepness = dlog_h(z)
    for j in range(d):
        width = on.high[j] - on.low[j]
        gradient[j] = width * (gradient[j] / std + steepness * (on.dmean[j] - z * gradient[j] / std)) / std
    return log(std) + log_h(z)


def climb_log_ei(
    int kind,
    const double[:, ::1] X,             # IN (n, d)
    const double[::1] lengthscale,      # IN (d,)
    double variance,
    const double[:, ::1] U,             # IN (n, ld)
    const double[::1] alpha,            # IN (n,)
    double best,
    const double[::1] low,              # IN (d,)
    const double[::1] high,             # IN (d,)
    Py_ssize_t max_evaluations,
    double[::1] x,                      # INOUT (d,), start -> best point reached
):
    """Return log EI at the point reached; -inf when it is not finite at the start."""
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], j, n_evaluations
    cdef Surface surface
    cdef double value, width
    cdef double *scratch = allocate((2 * n + 5 * d + climb_state(d, False)) * sizeof(double))
    cdef double *u = scratch + 2 * n + 2 * d
    cdef double *zeros = u + d
    cdef double *ones = zeros + d
    memset(ones + d, 0, climb_state(d, False) * sizeof(double))
    surface.kind, surface.n, surface.d, surface.ld = kind, n, d, U.shape[1]
    surface.X, surface.lengthscale, surface.variance = &X[0, 0], &lengthscale[0], variance
    surface.U, surface.alpha, surface.best = &U[0, 0], &alpha[0], best
    surface.low, surface.high = &low[0], &high[0]
    surface.k, surface.radial, surface.x = scratch, scratch + n, scratch + 2 * n
    surface.dmean = scratch + 2 * n + d
    try:
        for j in range(d):
            width = high[j] - low[j]
            u[j] = (x[j] - low[j]) / width if width > 0.0 else 0.0
            zeros[j], ones[j] = 0.0, 1.0
        climb(&log_ei, NULL, &surface, d, zeros, ones, TOLERANCE, max_evaluations, ones + d, u, &value, &n_evaluations)
        for j in range(d):
            x[j] = min(max(low[j] + u[j] * (high[j] - low[j]), low[j]), high[j])
    finally:
        gssbo_release(scratch)
    return value

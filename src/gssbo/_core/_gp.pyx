"""Gaussian-process regression on standardised responses.

Notation
--------
X, z            inputs (n, d) and responses (n,)
f               noise factors (n,): what the noise is multiplied by for each observation
known           known noise variances (n,), beyond that
K_y             k(X, X) + noise diag(f) + diag(known) (n, n) = U^T U; P = K_y^-1; alpha = P z
theta           log lengthscales (d), log variance, log noise, in this order
L               log p(z | X, theta), equation 2 of the paper [1]
W               alpha alpha^T - P, so that dL/dtheta_k = tr(W dK_y/dtheta_k) / 2

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026.
2. Rasmussen and Williams, Gaussian Processes for Machine Learning, MIT Press 2006: algorithm 2.1, equation 5.9.
"""
from libc.float cimport DBL_EPSILON
from libc.math cimport NAN, exp, log

from gssbo._core._dense cimport (
    INVERSE_STAGES,
    PARTS,
    factor_stages,
    gssbo_await,
    gssbo_claim,
    gssbo_finish,
    gssbo_next,
    gssbo_stage,
)
from gssbo._core._dense cimport factor as share_factor
from gssbo._core._dense cimport invert as share_inverse
from gssbo._core._kernels cimport upper_gram
from gssbo._core._simd cimport (
    GSSBO_LANES,
    allocate,
    gssbo_factor_scratch,
    gssbo_padded,
    gssbo_release,
    gssbo_simd,
    gssbo_simd_table,
)
from gssbo._core._slopes cimport Layout, layout, likelihood_work, slopes, weights_size

cdef const gssbo_simd_table *simd = gssbo_simd()

cdef double LOG_2PI = 1.8378770664093454836


cdef bint singular(Py_ssize_t n, Py_ssize_t ld, const double *U, const double *diagonal) noexcept nogil:
    """Whether a pivot is rounding of K_y's diagonal (n,): it may as well have come out negative."""
    cdef Py_ssize_t i
    for i in range(n):
        if U[i * ld + i] * U[i * ld + i] <= (n + 8) * DBL_EPSILON * diagonal[i]:
            return True
    return False


cdef bint factor(
    Py_ssize_t n,
    Py_ssize_t ld,
    double *K,                      # INOUT (n, ld), K_y -> U
    double *diagonal,               # scratch (n,)
    double *strips,                 # scratch of the factorization
) noexcept nogil:
    """Whether K_y is not positive definite in doubles."""
    cdef Py_ssize_t i
    for i in range(n):
        diagonal[i] = K[i * ld + i]
    return simd.cholesky(n, K, ld, strips) != 0 or singular(n, ld, K, diagonal)


cdef double solve(
    Py_ssize_t n,
    const double *z,                # IN (n,)
    Py_ssize_t ld,
    const double *U,                # IN (n, ld)
    double *alpha,                  # OUT (n,)
) noexcept nogil:
    """L."""
    cdef Py_ssize_t i
    cdef double quadratic = 0.0, half_log_determinant = 0.0
    # alpha = solve(U, solve(U.T, z))
    for i in range(n):
        alpha[i] = z[i]
    simd.substitute(n, U, ld, alpha)
    for i in range(n):
        quadratic += alpha[i] * alpha[i]
        half_log_determinant += log(U[i * ld + i])
    for i in range(n - 1, -1, -1):
        alpha[i] = (alpha[i] - simd.dot(n - i - 1, U + i * ld + i + 1, alpha + i + 1)) / U[i * ld + i]
    return -0.5 * quadratic - half_log_determinant - 0.5 * n * LOG_2PI


def fit(
    int kind,
    const double[:, ::1] X,             # IN (n, d)
    const double[::1] z,                # IN (n,)
    const double[::1] lengthscale,      # IN (d,)
    double variance,
    const double[::1] diagonal,         # IN (n,), noise f + known, and jitter
    double[:, ::1] U,                   # OUT (n, ld)
    double[::1] alpha,                  # OUT (n,)
):
    """Factor K_y and solve for alpha; return L, or NaN when K_y is not positive definite in doubles."""
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], ld = U.shape[1]
    cdef double *columns = allocate(((n + ld) * d + gssbo_factor_scratch(n)) * sizeof(double))
    cdef double *strips = columns + ld * d
    cdef double *rows = strips + gssbo_factor_scratch(n)
    cdef double value
    with nogil:
        simd.scale(n, d, &X[0, 0], &X[0, 0], &lengthscale[0], ld, rows, columns)
        upper_gram(kind, n, d, rows, columns, variance, &diagonal[0], ld, &U[0, 0], NULL, 0, 1)
        value = NAN
        if not factor(n, ld, &U[0, 0], &alpha[0], strips):
            value = solve(n, &z[0], ld, &U[0, 0], &alpha[0])
    gssbo_release(columns)
    return value


cdef void begin(
    Py_ssize_t n,
    Py_ssize_t d,
    const double *X,                # IN (n, d)
    const double *factors,          # IN (n,), f
    const double *known,            # IN (n,)
    const double *theta,            # IN (d + 2,)
    Layout at,
) noexcept nogil:
    cdef Py_ssize_t i
    cdef double noise = exp(theta[d + 1])
    for i in range(d):
        at.lanes[i] = exp(theta[i])
    for i in range(n):
        at.noise[i] = noise * factors[i] + known[i]
    simd.scale(n, d, X, X, at.lanes, gssbo_padded(n), at.rows, at.columns)


cdef void end(
    Py_ssize_t n,
    Py_ssize_t d,
    const double *z,                # IN (n,)
    const double *factors,          # IN (n,), f
    const double *known,            # IN (n,)
    const double *theta,            # IN (d + 2,)
    double *gradient,               # OUT (d + 2,), dL/dtheta
    Layout at,
) noexcept nogil:
    cdef Py_ssize_t ld = gssbo_padded(n), i, j
    cdef double noise = exp(theta[d + 1]), fit_term = 0.0, trace = 0.0, extra = 0.0
    for i in range(n):
        fit_term += at.alpha[i] * z[i]
        trace += (at.alpha[i] * at.alpha[i] - at.P[i * ld + i]) * factors[i]
        extra += (at.alpha[i] * at.alpha[i] - at.P[i * ld + i]) * known[i]
    for i in range(d):
        gradient[i] = 0.0
        for j in range(GSSBO_LANES):
            gradient[i] += at.lanes[i * GSSBO_LANES + j]
    # tr(W K) = tr(W K_y) - noise tr(W diag(f)) - tr(W diag(known)), and tr(W K_y) = alpha.z - n
    gradient[d] = 0.5 * (fit_term - n - noise * trace - extra)
    gradient[d + 1] = 0.5 * noise * trace


cdef double likelihood(
    int kind,
    Py_ssize_t n,
    Py_ssize_t d,
    const double *X,                # IN (n, d)
    const double *z,                # IN (n,)
    const double *factors,          # IN (n,), f
    const double *known,            # IN (n,)
    const double *theta,            # IN (d + 2,)
    double *work,                   # OUT (likelihood_work(n, d),)
    double *gradient,               # OUT (d + 2,), dL/dtheta
) noexcept nogil:
    """L and its gradient; NaN when K_y is not positive definite in doubles."""
    cdef Py_ssize_t ld = gssbo_padded(n)
    cdef Layout at = layout(n, d, work)
    cdef double value
    begin(n, d, X, factors, known, theta, at)
    upper_gram(kind, n, d, at.rows, at.columns, exp(theta[d]), at.noise, ld, at.K, at.radial, 0, 1)
    if factor(n, ld, at.K, at.alpha, at.scratch):
        return NAN
    value = solve(n, z, ld, at.K, at.alpha)
    simd.invert(n, at.K, ld, at.P, ld, at.scratch)
    slopes(n, d, 0, d, at.weight, at)
    end(n, d, z, factors, known, theta, gradient, at)
    return value


def work_size(Py_ssize_t n, Py_ssize_t d):
    """Elements of scratch for `log_likelihood` and `_mle.climb`."""
    return likelihood_work(n, d)


def log_likelihood(
    int kind,
    const double[:, ::1] X,             # IN (n, d)
    const double[::1] z,                # IN (n,)
    const double[::1] factors,          # IN (n,), f
    const double[::1] known,            # IN (n,)
    const double[::1] theta,            # IN (d + 2,)
    double[::1] work,                   # OUT (work_size(n, d),)
    double[::1] gradient,               # OUT (d + 2,), dL/dtheta
):
    """L and its gradient; NaN when K_y is not positive definite in doubles."""
    cdef double value
    with nogil:
        value = likelihood(kind, X.shape[0], X.shape[1], &X[0, 0], &z[0], &factors[0], &known[0], &theta[0], &work[0],
                           &gradient[0])
    return value


def stages_size(Py_ssize_t n):
    """Elements of what the threads share that call one of the functions below."""
    return 1 + (factor_stages(n) + INVERSE_STAGES + 5) * sizeof(gssbo_stage) // sizeof(Py_ssize_t)


def share_likelihood(
    int kind,
    const double[:, ::1] X,             # IN (n, d)
    const double[::1] z,                # IN (n,)
    const double[::1] factors,          # IN (n,), f
    const double[::1] known,            # IN (n,)
    const double[::1] theta,            # IN (d + 2,)
    double[::1] work,                   # OUT (work_size(n, d),)
    double[::1] outcome,                # OUT (d + 3,), L and dL/dtheta
    Py_ssize_t threads,
    Py_ssize_t[::1] shared,             # INOUT (stages_size(n),), zeros
):
    """`log_likelihood`, to the bit, by several threads that call this with the same arguments; n > GSSBO_RESIDENT."""
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], ld = gssbo_padded(n), part, slope_parts = min(threads, d)
    cdef Layout at = layout(n, d, &work[0])
    cdef gssbo_stage *stages = <gssbo_stage *> (&shared[0] + 1)
    cdef double *weight = allocate(weights_size(n) * sizeof(double))
    with nogil:
        if gssbo_claim(stages, 1) == 0:
            begin(n, d, &X[0, 0], &factors[0], &known[0], &theta[0], at)
            gssbo_finish(stages)
        gssbo_await(stages, 1)
        stages += 1
        part = gssbo_claim(stages, PARTS)
        while part >= 0:
            upper_gram(kind, n, d, at.rows, at.columns, exp(theta[d]), at.noise, ld, at.K, at.radial, part, PARTS)
            part = gssbo_next(stages, PARTS)
        gssbo_await(stages, PARTS)
        stages += 1
        if not share_factor(n, at.K, ld, at.scratch, &shared[0], stages):
            stages += factor_stages(n)
            if gssbo_claim(stages, 1) == 0:     # one does this while the others begin with the inverse
                outcome[0] = solve_factored(n, d, &z[0], &theta[0], at)
                gssbo_finish(stages)
            share_inverse(n, at.K, at.P, ld, at.scratch, False, stages + 1)
            gssbo_await(stages, 1)
            stages += 1 + INVERSE_STAGES
            if outcome[0] == outcome[0]:
                part = gssbo_claim(stages, slope_parts)
                while part >= 0:
                    slopes(n, d, d * part // slope_parts, d * (part + 1) // slope_parts, weight, at)
                    part = gssbo_next(stages, slope_parts)
                gssbo_await(stages, slope_parts)
                stages += 1
                if gssbo_claim(stages, 1) == 0:
                    end(n, d, &z[0], &factors[0], &known[0], &theta[0], &outcome[1], at)
                    gssbo_finish(stages)
                gssbo_await(stages, 1)
    gssbo_release(weight)


cdef double solve_factored(
    Py_ssize_t n,
    Py_ssize_t d,
    const double *z,
    const double *theta,
    Layout at,
) noexcept nogil:
    """L, with alpha; NaN where K_y is singular."""
    cdef Py_ssize_t i
    for i in range(n):
        at.alpha[i] = exp(theta[d]) + at.noise[i]
    return NAN if singular(n, gssbo_padded(n), at.K, at.alpha) else solve(n, z, gssbo_padded(n), at.K, at.alpha)


def share_precision(
    int kind,
    const double[:, ::1] X,             # IN (n, d)
    const double[::1] lengthscale,      # IN (d,)
    double variance,
    const double[::1] diagonal,         # IN (n,), noise and jitter
    double[:, ::1] K,                   # OUT (n, ld), K_y -> U
    double[:, ::1] P,                   # OUT (n, ld), K_y^-1, both triangles
    double[::1] scratch,                # OUT (_linalg.scratch_size(n),)
    double[::1] inputs,                 # OUT ((n + ld) d,), scratch
    Py_ssize_t[::1] shared,             # INOUT (stages_size(n),), zeros
):
    """K_y, its factor and inverse, by several threads that call this with the same arguments; n > GSSBO_RESIDENT.

    Return 0, or i + 1 when pivot i is not positive.
    """
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], ld = K.shape[1], part
    cdef double *columns = &inputs[0] + n * d
    cdef gssbo_stage *stages = <gssbo_stage *> (&shared[0] + 1)
    with nogil:
        if gssbo_claim(stages, 1) == 0:
            simd.scale(n, d, &X[0, 0], &X[0, 0], &lengthscale[0], ld, &inputs[0], columns)
            gssbo_finish(stages)
        gssbo_await(stages, 1)
        stages += 1
        part = gssbo_claim(stages, PARTS)
        while part >= 0:
            upper_gram(kind, n, d, &inputs[0], columns, variance, &diagonal[0], ld, &K[0, 0], NULL, part, PARTS)
            part = gssbo_next(stages, PARTS)
        gssbo_await(stages, PARTS)
        stages += 1
        if not share_factor(n, &K[0, 0], ld, &scratch[0], &shared[0], stages):
            share_inverse(n, &K[0, 0], &P[0, 0], ld, &scratch[0], True, stages + factor_stages(n))
    return shared[0]

"""Average information of the exact likelihood: near its negative Hessian, and found without another inverse.

Notation
--------
K_y, P, alpha, L, f, known      as in `_gp`
K_k             dK_y/dtheta_k; g_k = K_k alpha, the columns of G (n, d + 2)
a               inputs in units of the lengthscales, from the first of them on (n, d)
R               radial part of the kernel (n, n), so that (K_k)_ij = R_ij (a_ik - a_jk)^2 for the lengthscales

The observed information g_k^T P g_l - tr(P K_k P K_l) / 2 and the expected one tr(P K_k P K_l) / 2 have the average
M_kl = g_k^T P g_l / 2, in which no trace is left [1]. Terms with second derivatives of K_y, zero in expectation, are
left out.

References
----------
1. Gilmour, Thompson and Cullis, Average information REML: an efficient algorithm for variance parameter estimation in
   linear mixed models, Biometrics 51, 1995.
"""
from libc.math cimport NAN, exp
from libc.string cimport memset

from gssbo._core._dense cimport mirror
from gssbo._core._simd cimport (
    GSSBO_LINE,
    GSSBO_RESIDENT,
    gssbo_aligned,
    gssbo_inverse_scratch,
    gssbo_padded,
    gssbo_simd,
    gssbo_simd_table,
)
from gssbo._core._slopes cimport Layout, layout, likelihood_work, rounding_of_products

cdef const gssbo_simd_table *simd = gssbo_simd()

cdef enum:
    PANEL = 16      # rows of M found together

cdef double ROUNDING = 1e-2     # of a slope, in nats, beyond which products say too little


cdef Py_ssize_t information_work(Py_ssize_t n, Py_ssize_t d) noexcept nogil:
    """Elements of scratch, the likelihood's among them."""
    return likelihood_work(n, d) + GSSBO_LINE + 2 * n * gssbo_padded(2 * d + 1)


cdef void information(
    Py_ssize_t n,
    Py_ssize_t d,
    const double *z,                # IN (n,)
    const double *factors,          # IN (n,), f
    const double *known,            # IN (n,)
    const double *theta,            # IN (d + 2,)
    double *work,                   # INOUT (information_work(n, d),), as `likelihood` at theta left it
    Py_ssize_t ld,
    double *M,                      # OUT (d + 2, ld), its upper triangle; NaN where rounding would be too large
) noexcept nogil:
    cdef Layout at = layout(n, d, work)
    cdef Py_ssize_t p = d + 2, width = gssbo_padded(2 * d + 1), i, k
    cdef double *G = gssbo_aligned(work + likelihood_work(n, d))
    cdef double *sums = G + n * width
    cdef double *pack = at.scratch + gssbo_inverse_scratch(n) // 2 if n > GSSBO_RESIDENT else NULL
    cdef double *g
    cdef double *s
    cdef double noise = exp(theta[d + 1]), a
    if not rounding_of_products(n, d, at) <= ROUNDING:
        for i in range(p):
            M[i * ld + i] = NAN
        return
    # sums = -R [a^2 alpha, a alpha, alpha]
    for i in range(n):
        g = G + i * width
        for k in range(d):
            a = at.rows[i * d + k]
            g[d + k] = a * at.alpha[i]
            g[k] = a * g[d + k]
        g[2 * d] = at.alpha[i]
        memset(g + 2 * d + 1, 0, (width - 2 * d - 1) * sizeof(double))
    memset(sums, 0, n * width * sizeof(double))
    mirror(n, at.radial, gssbo_padded(n), 0, 1)
    simd.subtract_product(n, width, n, at.radial, gssbo_padded(n), G, width, sums, width, pack)
    for i in range(n):
        g, s = G + i * width, sums + i * width
        for k in range(d):
            a = at.rows[i * d + k]
            g[k] = 2.0 * a * s[d + k] - s[k] - a * a * s[2 * d]
        # K alpha = z - (noise f + known) alpha
        g[d + 1] = noise * factors[i] * at.alpha[i]
        g[d] = z[i] - g[d + 1] - known[i] * at.alpha[i]
        memset(g + p, 0, (gssbo_padded(p) - p) * sizeof(double))
    # M = V^T V / 2, V = solve(U.T, G)
    simd.solve_transposed(n, gssbo_padded(p), at.K, gssbo_padded(n), at.scratch, G, width)
    memset(M, 0, p * ld * sizeof(double))
    i = 0
    while i < p:        # nothing left of the panel's first column
        simd.subtract_product(min(<Py_ssize_t> PANEL, p - i), p - i, n, G + i, width, G + i, width, M + i * ld + i, ld,
                              pack)
        i += PANEL
    for i in range(p):
        for k in range(i, p):
            M[i * ld + k] *= -0.5

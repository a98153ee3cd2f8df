"""The scratch of a likelihood, and its gradient in the log lengthscales.

Notation
--------
As in _gp; w_ij is W_ij times the radial part of the kernel at x_i and x_j.
"""
from libc.float cimport DBL_EPSILON
from libc.math cimport fabs, sqrt
from libc.string cimport memset

from gssbo._core._simd cimport (
    GSSBO_LANES,
    GSSBO_LINE,
    gssbo_aligned,
    gssbo_inverse_scratch,
    gssbo_padded,
    gssbo_simd,
    gssbo_simd_table,
)

cdef const gssbo_simd_table *simd = gssbo_simd()

cdef enum:
    COORDINATES = 8     # worked on together; products pay for more
    PANEL = 64          # observations whose weights with all others are at hand

cdef double ROUNDING = 1e-6     # of a slope, in nats: a tenth of what the search for a maximum can tell from zero


cdef Py_ssize_t likelihood_work(Py_ssize_t n, Py_ssize_t d) noexcept nogil:
    """Elements of scratch `likelihood` needs."""
    cdef Py_ssize_t ld = gssbo_padded(n)
    return GSSBO_LINE + 3 * n * ld + (n + ld + GSSBO_LANES) * d + n + ld + weights_size(n) + gssbo_inverse_scratch(n)


cdef Layout layout(Py_ssize_t n, Py_ssize_t d, double *work) noexcept nogil:
    cdef Layout at
    cdef Py_ssize_t ld = gssbo_padded(n)
    at.K = gssbo_aligned(work)
    at.radial = at.K + n * ld
    at.P = at.radial + n * ld
    at.columns = at.P + n * ld
    at.lanes = at.columns + ld * d
    at.alpha = at.lanes + GSSBO_LANES * d
    at.weight = at.alpha + ld
    at.scratch = at.weight + weights_size(n)
    at.rows = at.scratch + gssbo_inverse_scratch(n)
    at.noise = at.rows + n * d
    return at


cdef void slopes(
    Py_ssize_t n,
    Py_ssize_t d,
    Py_ssize_t low,
    Py_ssize_t high,
    double *weight,                 # scratch (weights_size(n),)
    Layout at,
) noexcept nogil:
    """Lanes of dL/dtheta_k, low <= k < high: of lengthscales only."""
    memset(at.lanes + low * GSSBO_LANES, 0, GSSBO_LANES * (high - low) * sizeof(double))
    if d > COORDINATES and rounding_of_products(n, d, at) <= ROUNDING:
        slopes_by_products(n, d, low, high, weight, at)
    else:
        slopes_by_differences(n, d, low, high, weight, at)


cdef double rounding_of_products(Py_ssize_t n, Py_ssize_t d, Layout at) noexcept nogil:
    """What a slope may lose by products: large weights of close inputs that are many lengthscales from the first.

    abs(W_ij) <= abs(alpha_i alpha_j) + sqrt(P_ii P_jj). The mean square of the inputs' norms stands for their squares,
    the radial part at distance 0 for all. In runs on 10 to 50 dimensions slopes lost a twentieth of this, or less.
    """
    cdef Py_ssize_t ld = gssbo_padded(n), i
    cdef double misfit = 0.0, stiffness = 0.0
    for i in range(n):
        misfit += fabs(at.alpha[i])
        stiffness += sqrt(at.P[i * ld + i])
    cdef double square = simd.dot(d * ld, at.columns, at.columns) / n
    return DBL_EPSILON * square * at.radial[0] * (misfit * misfit + stiffness * stiffness)


cdef Py_ssize_t weights_size(Py_ssize_t n) noexcept nogil:
    """Elements of the scratch that weights of pairs take."""
    return (min(n, <Py_ssize_t> PANEL) + 1) * gssbo_padded(n)


cdef void slopes_by_differences(Py_ssize_t n, Py_ssize_t d, Py_ssize_t low, Py_ssize_t high, double *weight,
                                Layout at) noexcept nogil:
    """sum_ij w_ij (x_i - x_j)^2 over pairs i < j, with w_ij = W_ij times the radial part of the kernel."""
    cdef Py_ssize_t ld = gssbo_padded(n), i, k, left
    for i in range(n):
        # Whole vectors: weights of the columns up to i and of the padding are zero.
        left = (i + 1) // GSSBO_LANES * GSSBO_LANES
        memset(weight, 0, (ld - left) * sizeof(double))
        simd.likelihood_weights(n - i - 1, at.alpha[i], at.alpha + i + 1, at.P + i * ld + i + 1,
                                at.radial + i * ld + i + 1, weight + i + 1 - left)
        k = low
        while k < high:
            simd.weighted_squares(n - left, min(<Py_ssize_t> COORDINATES, high - k), at.columns + k * ld + left, ld,
                                  at.rows + i * d + k, weight, at.lanes + k * GSSBO_LANES)
            k += COORDINATES


cdef void slopes_by_products(Py_ssize_t n, Py_ssize_t d, Py_ssize_t low, Py_ssize_t high, double *weight,
                             Layout at) noexcept nogil:
    """The same sum with a third of the operations: -2 sum_ij w_ij x_i x_j over i <= j, with w_ii = -sum_j w_ij / 2."""
    cdef Py_ssize_t ld = gssbo_padded(n), first = 0, size, i, k
    cdef double *totals = weight
    cdef double *w
    memset(totals, 0, ld * sizeof(double))
    while first < n:
        size = min(<Py_ssize_t> PANEL, n - first)
        for i in range(first, first + size):
            w = weight + (i - first + 1) * ld
            memset(w + first, 0, (i - first) * sizeof(double))
            totals[i] += simd.balanced_weights(n - i - 1, at.alpha[i], at.alpha + i + 1, at.P + i * ld + i + 1,
                                               at.radial + i * ld + i + 1, w + i + 1, totals + i + 1)
            w[i] = -0.5 * totals[i]
        simd.weighted_products(size, n - first, high - low, weight + ld + first, ld, at.rows + first * d + low, d,
                               at.lanes + low * GSSBO_LANES)
        first += size
    for k in range(low, high):
        at.lanes[k * GSSBO_LANES] *= -2.0

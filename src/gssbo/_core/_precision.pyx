"""The precision P = K_y^-1 of a pool and its square Q = P^2 (the Gram matrix of the sensitivity embeddings),
updated exactly as observations come and go.

Notation
--------
n           observations that stay
K, P, Q     K_y, P and Q: upper triangles in the leading (n, n) part of (capacity, ld) buffers, ld above capacity +
            GSSBO_LANES; columns from n on are zero, what stands below the diagonal is scratch
k, kappa    covariances (n,) of an observation with those that stay; its own variance plus noise
u, w        P k and P u, over those that stay
s           kappa - k.u, its conditional variance; a = 1/s
v           signs, to measure the drift by

Adding the observation behind the others (block inverse):
    P <- P + a u u^T,               P_n = -a u,             P_nn = a
    Q <- Q + g u^T + u g^T,         Q_n = -(g + b u / 2),   Q_nn = b,   with b = a^2 (u.u + 1) and g = a w + b u / 2
Taking one out is the same statement read backwards: a = P_ii, u = -P_i / a.

What costs is to pass over the triangles, 4 n^2 bytes each. An insertion reads P three times, K and Q once, and writes P
and Q. A removal reads and writes each of the three once, as those behind move up on the way. A replacement is both at
once: an insertion that writes K, too.

An error in u comes back as a |K_y error| in P K_y, and a is as large as 1/noise: left alone, drift grows a thousandfold
beyond that of a fresh inverse within a hundred observations. One step of refinement, u += P (k - K_y u), prevents it.
"""
from libc.math cimport INFINITY
from libc.string cimport memcpy, memset

from gssbo._core._simd cimport (
    GSSBO_LANES,
    allocate,
    gssbo_padded,
    gssbo_release,
    gssbo_simd,
    gssbo_simd_table,
    gssbo_update,
)

cdef const gssbo_simd_table *simd = gssbo_simd()


cdef double *zeros(Py_ssize_t size) except NULL:
    cdef double *memory = allocate(size * sizeof(double))
    memset(memory, 0, size * sizeof(double))
    return memory


cdef struct Leaving:
    Py_ssize_t slot
    double a                    # 0 where none leaves, as u and w
    double *u
    double *w                   # P u once it is out


cdef void put_column(Py_ssize_t n, Py_ssize_t ld, double factor, const double *x, double *A) noexcept nogil:
    """A[:n, n] = factor * x."""
    cdef Py_ssize_t i
    for i in range(n):
        A[i * ld + n] = factor * x[i]


cdef void clear_column(Py_ssize_t n, Py_ssize_t ld, double *A) noexcept nogil:
    """A[:n, n] = 0."""
    cdef Py_ssize_t i
    for i in range(n):
        A[i * ld + n] = 0.0


cdef void see_out(Py_ssize_t n, Py_ssize_t ld, double *K, double *P, double *Q, Leaving *leaving) noexcept nogil:
    """a and u of the observation at a slot of P (n + 1, n + 1); over the columns of the last one none would move up."""
    cdef Py_ssize_t i, slot = leaving.slot
    leaving.a = P[slot * ld + slot]
    for i in range(slot):
        leaving.u[i] = -P[i * ld + slot] / leaving.a
    for i in range(slot, n):
        leaving.u[i] = -P[slot * ld + i + 1] / leaving.a
    if slot == n:
        clear_column(n, ld, K)
        clear_column(n, ld, P)
        clear_column(n, ld, Q)


cdef void product(
    Py_ssize_t n,
    Py_ssize_t ld,
    const double *P,
    bint replaces,
    Leaving *leaving,           # w is set
    const double *x,            # IN (n,)
    double *wide,               # scratch (4, gssbo_padded(n + 1))
    double *y,                  # OUT (n,)
) noexcept nogil:
    """y = P x over those that stay, as if the one leaving were out."""
    cdef Py_ssize_t padded = gssbo_padded(n + 1), slot = leaving.slot
    if not replaces:
        simd.symmetric_product(n, P, ld, x, y)
        return
    spread(n, slot, x, wide)
    spread(n, slot, leaving.u, wide + padded)
    simd.symmetric_products(n + 1, P, ld, wide, wide + padded, wide + 2 * padded, wide + 3 * padded)
    gather(n, slot, wide + 2 * padded, y)
    gather(n, slot, wide + 3 * padded, leaving.w)
    simd.add_scaled(n, -leaving.a * simd.dot(n, leaving.u, x), leaving.u, y)
    simd.add_scaled(n, -leaving.a * simd.dot(n, leaving.u, leaving.u), leaving.u, leaving.w)


cdef void spread(Py_ssize_t n, Py_ssize_t slot, const double *x, double *wide) noexcept nogil:
    """wide (n + 1,) = x (n,) with 0 at the slot."""
    memcpy(wide, x, slot * sizeof(double))
    wide[slot] = 0.0
    memcpy(wide + slot + 1, x + slot, (n - slot) * sizeof(double))


cdef void gather(Py_ssize_t n, Py_ssize_t slot, const double *wide, double *x) noexcept nogil:
    """The reverse."""
    memcpy(x, wide, slot * sizeof(double))
    memcpy(x + slot, wide + slot + 1, (n - slot) * sizeof(double))


cdef double half_change(Py_ssize_t n, double sign, double a, const double *u, const double *w,
                        double *g) noexcept nogil:
    """g of an observation, with that sign; returns b, the squared length of its embedding."""
    cdef double b = a * a * (simd.dot(n, u, u) + 1.0)
    cdef Py_ssize_t j
    for j in range(n):
        g[j] = sign * (a * w[j] + 0.5 * b * u[j])
    return b


def insert(
    Py_ssize_t n,
    Py_ssize_t slot,            # of the observation, one more, that leaves for it; -1 for none
    const double[::1] k,        # IN (n + 1,), kappa at last
    const double[::1] probe,    # IN (n + 1,), v
    double[:, ::1] K,           # INOUT (capacity, ld)
    double[:, ::1] P,           # INOUT (capacity, ld)
    double[:, ::1] Q,           # INOUT (capacity, ld)
):
    """Add an observation behind n others.

    Returns its conditional variance s, the drift max |P K v - v|, infinite where there is a NaN, and `length_error`, 0
    where none has left. When s is not positive P and Q are not updated, and the other two say nothing.
    """
    cdef Py_ssize_t ld = P.shape[1], padded = gssbo_padded(n + 1 + GSSBO_LANES), i
    cdef double *zero = zeros(17 * padded)
    cdef double *covariances = zero + padded
    cdef double *signs = covariances + padded
    cdef double *u = signs + padded
    cdef double *w = u + padded
    cdef double *g = w + padded
    cdef double *residual = g + padded
    cdef double *seen = residual + padded
    cdef double *again = seen + padded
    cdef double *lengths = again + padded
    cdef double *h = lengths + padded
    cdef double *wide = h + padded
    cdef bint replaces = slot >= 0
    cdef Leaving leaving
    cdef gssbo_update by
    cdef double s, a, b, last, drift = INFINITY, error = 0.0
    leaving.slot, leaving.a = slot if replaces else n, 0.0
    leaving.u, leaving.w = wide + 4 * padded, wide + 5 * padded
    with nogil:
        memcpy(covariances, &k[0], n * sizeof(double))
        memcpy(signs, &probe[0], n * sizeof(double))
        if replaces:
            see_out(n, ld, &K[0, 0], &P[0, 0], &Q[0, 0], &leaving)
        product(n, ld, &P[0, 0], replaces, &leaving, covariances, wide, u)
        # u += P @ (k - K @ u); K @ v on the way
        if replaces:
            by = gssbo_update(0.0, zero, u, residual, 0.0, signs, seen, NULL)
            simd.update_symmetric(n, slot, &K[0, 0], ld, &by)
        else:
            simd.symmetric_products(n, &K[0, 0], ld, u, signs, residual, seen)
        for i in range(n):
            residual[i] = k[i] - residual[i]
            K[i, n] = k[i]
        K[n, n] = k[n]
        product(n, ld, &P[0, 0], replaces, &leaving, residual, wide, w)
        simd.add_scaled(n, 1.0, w, u)
        s = k[n] - simd.dot(n, covariances, u)
        if s > 0.0:
            a = 1.0 / s
            simd.add_scaled(n, probe[n], covariances, seen)
            last = simd.dot(n, covariances, signs) + k[n] * probe[n]
            by = gssbo_update(-leaving.a, leaving.u, u, w, a, seen, again, NULL)
            if replaces:
                by.squares = lengths
            simd.update_symmetric(n, leaving.slot, &P[0, 0], ld, &by)
            put_column(n, ld, -a, u, &P[0, 0])
            P[n, n] = a
            again[n] = a * (last - simd.dot(n, u, seen))
            simd.add_scaled(n, -a * last, u, again)
            drift = largest_difference(n + 1, again, &probe[0])
            b = half_change(n, 1.0, a, u, w, g)
            half_change(n, -1.0, leaving.a, leaving.u, leaving.w, h)
            simd.add_symmetric(n, leaving.slot, &Q[0, 0], ld, g, u, h if replaces else NULL, leaving.u)
            for i in range(n):
                Q[i, n] = -g[i] - 0.5 * b * u[i]
            Q[n, n] = b
            if replaces:
                for i in range(n):
                    lengths[i] += P[i, n] * P[i, n]
                error = length_error(n, ld, lengths, &Q[0, 0])
    gssbo_release(zero)
    return s, drift, error


def remove(
    Py_ssize_t n,
    Py_ssize_t slot,            # of the observation, one more, that leaves
    const double[::1] probe,    # IN (n,), v
    double[:, ::1] K,           # INOUT (capacity, ld)
    double[:, ::1] P,           # INOUT (capacity, ld)
    double[:, ::1] Q,           # INOUT (capacity, ld)
):
    """Take an observation out and leave n; those behind it move up.

    Returns the drift max |P K v - v|, infinite where there is a NaN, and `length_error`.
    """
    cdef Py_ssize_t ld = P.shape[1], padded = gssbo_padded(n + GSSBO_LANES)
    cdef double *zero = zeros(8 * padded)
    cdef double *signs = zero + padded
    cdef double *seen = signs + padded
    cdef double *again = seen + padded
    cdef double *lengths = again + padded
    cdef double *h = lengths + padded
    cdef Leaving leaving
    cdef gssbo_update by
    cdef double drift, error
    leaving.slot, leaving.u, leaving.w = slot, h + padded, h + 2 * padded
    with nogil:
        memcpy(signs, &probe[0], n * sizeof(double))
        see_out(n, ld, &K[0, 0], &P[0, 0], &Q[0, 0], &leaving)
        by = gssbo_update(0.0, zero, zero, again, 0.0, signs, seen, NULL)
        simd.update_symmetric(n, slot, &K[0, 0], ld, &by)
        by = gssbo_update(-leaving.a, leaving.u, leaving.u, leaving.w, 0.0, seen, again, lengths)
        simd.update_symmetric(n, slot, &P[0, 0], ld, &by)
        drift = largest_difference(n, again, signs)
        half_change(n, -1.0, leaving.a, leaving.u, leaving.w, h)
        simd.add_symmetric(n, slot, &Q[0, 0], ld, h, leaving.u, NULL, NULL)
        clear_column(n, ld, &K[0, 0])
        clear_column(n, ld, &P[0, 0])
        clear_column(n, ld, &Q[0, 0])
        error = length_error(n, ld, lengths, &Q[0, 0])
    gssbo_release(zero)
    return drift, error


cdef double largest_difference(Py_ssize_t n, const double *x, const double *v) noexcept nogil:
    """max |x - v|, infinite where there is a NaN."""
    cdef double worst = 0.0, difference
    cdef Py_ssize_t j
    for j in range(n):
        difference = abs(x[j] - v[j])
        if not difference <= worst:
            worst = difference if difference == difference else INFINITY
    return worst


cdef double length_error(Py_ssize_t n, Py_ssize_t ld, const double *lengths, const double *Q) noexcept nogil:
    """How far the diagonal of Q is off that of P^2, at most, as a share; infinite where there is a NaN."""
    cdef double worst = 0.0, difference
    cdef Py_ssize_t j
    for j in range(n):
        difference = abs(Q[j * ld + j] - lengths[j]) / lengths[j]
        if not difference <= worst:
            worst = difference if difference == difference else INFINITY
    return worst


def residual(
    Py_ssize_t n,
    const double[::1] v,        # IN (n,)
    const double[:, ::1] K,     # IN (capacity, ld)
    const double[:, ::1] P,     # IN (capacity, ld)
):
    """max |P K v - v|, infinite where there is a NaN."""
    cdef Py_ssize_t padded = gssbo_padded(n)
    cdef double *signs = zeros(3 * padded)
    cdef double *product = signs + padded
    cdef double *e = product + padded
    cdef double worst
    with nogil:
        memcpy(signs, &v[0], n * sizeof(double))
        simd.symmetric_product(n, &K[0, 0], K.shape[1], signs, product)
        simd.symmetric_product(n, &P[0, 0], P.shape[1], product, e)
        worst = largest_difference(n, e, signs)
    gssbo_release(signs)
    return worst

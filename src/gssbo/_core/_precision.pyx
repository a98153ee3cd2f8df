"""The precision P = K_y^-1 of a pool and its square Q = P^2 (the Gram matrix of the sensitivity embeddings),
updated exactly as observations come and go.

Notation
--------
K, P, Q     K_y, P and Q: symmetric, both triangles, in the leading (n, n) part of (capacity, ld) buffers
k           covariances (n,) of the observation in question with the others; 0 in its own slot
kappa       its own variance plus noise
u, w        P k and P u, over the others
s           kappa - k.u, its conditional variance; a = 1/s

Adding the observation at slot i, whose row and column are zero (block inverse):
    P <- P + a u u^T,                               P_i = -a u,                 P_ii = a
    Q <- Q + a (w u^T + u w^T) + a^2 (u.u + 1) u u^T,   Q_i = -a (w + a (u.u + 1) u),   Q_ii = a^2 (u.u + 1)
Taking it out is the same statement read backwards: a = P_ii, u = -P_i / a. Each costs O(n^2).

An error in u comes back as a |K_y error| in P K_y, and a is as large as 1/noise: left alone, drift grows a thousandfold
beyond that of a fresh inverse within a hundred observations. One step of refinement, u += P (k - K_y u), prevents it.
"""
from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memmove, memset

from gssbo._core._simd cimport gssbo_padded, gssbo_simd, gssbo_simd_table

cdef const gssbo_simd_table *simd = gssbo_simd()


cdef void rank_two(
    Py_ssize_t n,
    Py_ssize_t ld,
    Py_ssize_t slot,
    double sign,
    double a,
    double b,                   # a^2 (u.u + 1)
    const double *u,            # IN (n,), 0 at `slot`
    const double *w,            # IN (n,), 0 at `slot`
    double *Q,                  # INOUT (n, ld)
) noexcept nogil:
    """Q += sign (a (w u^T + u w^T) + b u u^T), and Q_j,slot = -(a w_j + b u_j), 0 where it is taken off."""
    cdef Py_ssize_t i
    cdef double *row
    for i in range(n):
        row = Q + i * ld
        if i != slot:
            simd.add_both_scaled(n, sign * a * u[i], w, sign * (a * w[i] + b * u[i]), u, row)
            row[slot] = -(a * w[i] + b * u[i]) if sign > 0.0 else 0.0


cdef void multiply_and_update(
    Py_ssize_t n,
    Py_ssize_t ld,
    Py_ssize_t slot,
    double factor,
    const double *u,            # IN (n,), 0 at `slot`
    const double *v,            # IN (n,)
    double *P,                  # INOUT (n, ld)
    double *w,                  # OUT (n,), 0 at `slot`
    double *product,            # OUT (n,) but for `slot`
) noexcept nogil:
    """w = P u, P += factor u u^T and P_j,slot = -factor u_j, 0 where it is taken off; then P v: in one pass over P."""
    cdef Py_ssize_t i
    cdef double *row
    w[slot] = 0.0
    for i in range(n):
        if i != slot:
            row = P + i * ld
            row[slot] = -factor * u[i] if factor > 0.0 else 0.0
            w[i] = simd.add_between(n, factor * u[i], u, v, row, product + i)


def insert(
    Py_ssize_t n,
    Py_ssize_t slot,
    const double[::1] k,        # IN (n,), 0 at `slot`
    double kappa,
    const double[::1] probe,    # IN (n,), for the drift
    const double[:, ::1] K,     # IN (capacity, ld), K_y with the observation at `slot`
    double[:, ::1] P,           # INOUT (capacity, ld)
    double[:, ::1] Q,           # INOUT (capacity, ld)
):
    """Add an observation at a free slot (row and column are overwritten); n counts it.

    Returns its conditional variance s and the drift max |P K probe - probe|, infinite where there is a NaN; when s is
    not positive nothing has been changed, and the drift says nothing.
    """
    cdef Py_ssize_t ld = P.shape[1], padded = gssbo_padded(n), j
    cdef double *u = <double *> calloc(7 * padded, sizeof(double))
    if u == NULL:
        raise MemoryError
    cdef double *w = u + padded
    cdef double *correction = w + padded
    cdef double *covariances = correction + padded
    cdef double *signs = covariances + padded
    cdef double *seen = signs + padded
    cdef double *again = seen + padded
    cdef double s, a, b, drift = INFINITY
    with nogil:
        memcpy(covariances, &k[0], n * sizeof(double))
        memcpy(signs, &probe[0], n * sizeof(double))
        simd.symmetric_product(n, &P[0, 0], ld, covariances, u)
        u[slot] = 0.0
        # u += P @ (k - K @ u), over the others; K @ probe on the way
        simd.symmetric_products(n, &K[0, 0], K.shape[1], u, signs, w, seen)
        for j in range(n):
            w[j] = k[j] - w[j]
        w[slot] = 0.0
        simd.symmetric_product(n, &P[0, 0], ld, w, correction)
        correction[slot] = 0.0
        for j in range(n):
            u[j] += correction[j]
        s = kappa - simd.dot(n, &k[0], u)
        if s > 0.0:
            a = 1.0 / s
            b = a * a * (simd.dot(n, u, u) + 1.0)
            multiply_and_update(n, ld, slot, a, u, seen, &P[0, 0], w, again)
            rank_two(n, ld, slot, 1.0, a, b, u, w, &Q[0, 0])
            for j in range(n):
                P[slot, j] = -a * u[j]
                Q[slot, j] = -a * w[j] - b * u[j]
            P[slot, slot] = a
            Q[slot, slot] = b
            again[slot] = simd.dot(n, &P[slot, 0], seen)
            drift = largest_difference(n, again, signs)
    free(u)
    return s, drift


cdef double largest_difference(Py_ssize_t n, const double *x, const double *v) noexcept nogil:
    """max |x - v|, infinite where there is a NaN."""
    cdef double worst = 0.0, difference
    cdef Py_ssize_t j
    for j in range(n):
        difference = abs(x[j] - v[j])
        if not difference <= worst:
            worst = difference if difference == difference else INFINITY
    return worst


def clear_slot(
    Py_ssize_t n,
    Py_ssize_t slot,
    double[:, ::1] P,           # INOUT (capacity, ld)
    double[:, ::1] Q,           # INOUT (capacity, ld)
):
    """Take the observation at `slot` out; its row and column become zero."""
    cdef Py_ssize_t ld = P.shape[1], j
    cdef double *u = <double *> malloc(3 * n * sizeof(double))
    if u == NULL:
        raise MemoryError
    cdef double *w = u + n
    cdef double *unused = w + n
    cdef double a = P[slot, slot], b
    with nogil:
        for j in range(n):
            u[j] = -P[slot, j] / a
        u[slot] = 0.0
        b = a * a * (simd.dot(n, u, u) + 1.0)
        multiply_and_update(n, ld, slot, -a, u, u, &P[0, 0], w, unused)
        # w is of P as it was; as it is now it is P u - a (u.u) u
        simd.add_scaled(n, -a * simd.dot(n, u, u), u, w)
        rank_two(n, ld, slot, -1.0, a, b, u, w, &Q[0, 0])
        memset(&P[slot, 0], 0, n * sizeof(double))
        memset(&Q[slot, 0], 0, n * sizeof(double))
    free(u)


def close_slot(
    Py_ssize_t n,
    Py_ssize_t slot,
    double[:, ::1] P,           # INOUT (capacity, ld)
    double[:, ::1] Q,           # INOUT (capacity, ld)
):
    """Shift the rows and columns behind a cleared slot over it, keeping their order."""
    cdef Py_ssize_t i, source
    cdef Py_ssize_t head = slot * sizeof(double), tail = (n - 1 - slot) * sizeof(double)
    with nogil:
        for i in range(n - 1):
            source = i if i < slot else i + 1
            if source != i:
                memmove(&P[i, 0], &P[source, 0], head)
                memmove(&Q[i, 0], &Q[source, 0], head)
            if tail:
                memmove(&P[i, slot], &P[source, slot] + 1, tail)
                memmove(&Q[i, slot], &Q[source, slot] + 1, tail)
            P[i, n - 1] = 0.0
            Q[i, n - 1] = 0.0
        memset(&P[n - 1, 0], 0, n * sizeof(double))
        memset(&Q[n - 1, 0], 0, n * sizeof(double))


def residual(
    Py_ssize_t n,
    const double[::1] v,        # IN (n,)
    const double[:, ::1] K,     # IN (capacity, ld)
    const double[:, ::1] P,     # IN (capacity, ld)
):
    """max |P K v - v|, infinite where there is a NaN."""
    cdef Py_ssize_t padded = gssbo_padded(n)
    cdef double *signs = <double *> calloc(3 * padded, sizeof(double))
    if signs == NULL:
        raise MemoryError
    cdef double *product = signs + padded
    cdef double *e = product + padded
    cdef double worst
    with nogil:
        memcpy(signs, &v[0], n * sizeof(double))
        simd.symmetric_product(n, &K[0, 0], K.shape[1], signs, product)
        simd.symmetric_product(n, &P[0, 0], P.shape[1], product, e)
        worst = largest_difference(n, e, signs)
    free(signs)
    return worst

"""Acquisition values from a posterior mean and standard deviation, for maximisation.

Notation
--------
mean, std   posterior of the latent function (m,)
best        incumbent value f+
z           (mean - best) / std
h(z)        phi(z) + z Phi(z), so that EI = std h(z)
"""
from libc.math cimport INFINITY, erfc, exp, fabs, log, log1p
from scipy.special.cython_special cimport erfcx

cdef double SQRT_HALF = 0.70710678118654752440
cdef double SQRT_HALF_PI = 1.2533141373155002512
cdef double LOG_SQRT_2PI = 0.91893853320467274178
cdef double INV_SQRT_2PI = 0.39894228040143267794


cdef inline double cdf(double z) noexcept nogil:
    return 0.5 * erfc(-z * SQRT_HALF)


cdef double h(double z) noexcept nogil:
    """phi(z) + z Phi(z); for negative z as phi(z) times a factor, so that no two tails cancel."""
    if z > 40.0:
        return z
    if z < -1.0:
        return exp(log_h(z))
    return INV_SQRT_2PI * exp(-0.5 * z * z) + z * cdf(z)


cdef double log_h(double z) noexcept nogil:
    """log h(z) without underflow or cancellation.

    Below -1, h = phi(z) (1 - t), t = |z| sqrt(pi/2) erfcx(|z|/sqrt 2); 1 - t loses eps z^2 relative, so from
    -1e3 on its asymptotic series 1/z^2 - 3/z^4 + 15/z^6 takes over.
    """
    if z > -1.0:
        return log(h(z))
    if z > -1e3:
        return -0.5 * z * z - LOG_SQRT_2PI + log1p(z * SQRT_HALF_PI * erfcx(-z * SQRT_HALF))
    return -0.5 * z * z - LOG_SQRT_2PI - 2.0 * log(-z) + log1p((15.0 / (z * z) - 3.0) / (z * z))


cdef double dlog_h(double z) noexcept nogil:
    """(log h)'(z) = Phi(z) / h(z)."""
    cdef double scaled
    if z > -1.0:
        return cdf(z) / h(z)
    if z > -1e3:
        scaled = SQRT_HALF_PI * erfcx(-z * SQRT_HALF)       # Phi(z) / phi(z)
        return scaled / (1.0 + z * scaled)
    return -z - (2.0 - 6.0 / (z * z)) / z


def log_h_values(
    const double[::1] z,        # IN (m,)
    double[::1] value,          # OUT (m,)
    double[::1] slope,          # OUT (m,)
):
    """log h and its derivative."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(z.shape[0]):
            value[i] = log_h(z[i])
            slope[i] = dlog_h(z[i])


def upper_confidence_bound(
    const double[::1] mean,     # IN (m,)
    const double[::1] std,      # IN (m,)
    double sqrt_beta,
    double[::1] value,          # OUT (m,)
):
    """mean + sqrt_beta std."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(mean.shape[0]):
            value[i] = mean[i] + sqrt_beta * std[i]


def expected_improvement(
    const double[::1] mean,     # IN (m,)
    const double[::1] std,      # IN (m,)
    double best,
    double[::1] value,          # OUT (m,)
):
    """E max(f - best, 0); the improvement itself where std is 0."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(mean.shape[0]):
            if std[i] > 0.0:
                value[i] = max(std[i] * h((mean[i] - best) / std[i]), 0.0)
            else:
                value[i] = max(mean[i] - best, 0.0)


def log_expected_improvement(
    const double[::1] mean,     # IN (m,)
    const double[::1] std,      # IN (m,)
    double best,
    double[::1] value,          # OUT (m,)
):
    """log E max(f - best, 0); -inf where there is neither improvement nor uncertainty."""
    cdef Py_ssize_t i
    cdef double gain
    with nogil:
        for i in range(mean.shape[0]):
            gain = mean[i] - best
            if std[i] > 0.0 and fabs(gain) < 1e150 * std[i]:
                value[i] = log(std[i]) + log_h(gain / std[i])
            else:
                value[i] = log(gain) if gain > 0.0 else -INFINITY


def probability_of_improvement(
    const double[::1] mean,     # IN (m,)
    const double[::1] std,      # IN (m,)
    double best,
    double[::1] value,          # OUT (m,)
):
    """P(f > best); 0 or 1 where std is 0."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(mean.shape[0]):
            if std[i] > 0.0:
                value[i] = cdf((mean[i] - best) / std[i])
            else:
                value[i] = 1.0 if mean[i] > best else 0.0

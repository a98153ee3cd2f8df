"""The scratch of a likelihood and its slopes, for the likelihood (_gp) and its curvature (_information)."""

cdef struct Layout:     # of the scratch of a likelihood
    double *K           # (n, ld)
    double *radial      # (n, ld)
    double *P           # (n, ld)
    double *columns     # (d, ld), scaled inputs
    double *lanes       # (d, GSSBO_LANES)
    double *alpha       # (ld,)
    double *weight      # (weights_size(n),)
    double *scratch     # of the factor and the inverse
    double *rows        # (n, d), scaled inputs
    double *noise       # (n,), on the diagonal of K_y

cdef Py_ssize_t likelihood_work(Py_ssize_t n, Py_ssize_t d) noexcept nogil

cdef Layout layout(Py_ssize_t n, Py_ssize_t d, double *work) noexcept nogil

cdef double rounding_of_products(Py_ssize_t n, Py_ssize_t d, Layout at) noexcept nogil

cdef Py_ssize_t weights_size(Py_ssize_t n) noexcept nogil

cdef void slopes(Py_ssize_t n, Py_ssize_t d, Py_ssize_t low, Py_ssize_t high, double *weight,
                 Layout at) noexcept nogil

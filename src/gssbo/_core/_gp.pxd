"""The likelihood, for the search over its parameters (_mle) and its curvature (_information), and the factorization."""

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

cdef double likelihood(int kind, Py_ssize_t n, Py_ssize_t d, const double *X, const double *z, const double *factors,
                       const double *known, const double *theta, double *work, double *gradient) noexcept nogil

cdef bint factor(Py_ssize_t n, Py_ssize_t ld, double *K, double *diagonal, double *strips) noexcept nogil

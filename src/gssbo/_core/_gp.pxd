"""The likelihood, for the search over its parameters (_mle), and the factorization of K_y (_vecchia)."""

cdef double likelihood(int kind, Py_ssize_t n, Py_ssize_t d, const double *X, const double *z, const double *factors,
                       const double *known, const double *theta, double *work, double *gradient) noexcept nogil

cdef bint factor(Py_ssize_t n, Py_ssize_t ld, double *K, double *diagonal, double *strips) noexcept nogil

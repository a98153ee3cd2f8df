"""The likelihood, for the search over its parameters (_mle)."""

cdef Py_ssize_t likelihood_work(Py_ssize_t n, Py_ssize_t d) noexcept nogil

cdef double likelihood(int kind, Py_ssize_t n, Py_ssize_t d, const double *X, const double *z, const double *known,
                       const double *theta, double *work, double *gradient) noexcept nogil

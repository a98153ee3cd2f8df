"""The likelihood's average information, for the search over its parameters (_mle)."""

cdef Py_ssize_t information_work(Py_ssize_t n, Py_ssize_t d) noexcept nogil

cdef void information(Py_ssize_t n, Py_ssize_t d, const double *z, const double *factors, const double *known,
                      const double *theta, double *work, Py_ssize_t ld, double *M) noexcept nogil

"""The covariance matrix of the observations, for the likelihood and the factorization (_gp)."""

cdef void upper_gram(int kind, Py_ssize_t n, Py_ssize_t d, const double *rows, const double *columns, double variance,
                     const double *diagonal, Py_ssize_t ld, double *K, double *radial, Py_ssize_t part,
                     Py_ssize_t parts) noexcept nogil

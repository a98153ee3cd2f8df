"""The search for neighbours, for what is made of them (_vecchia)."""

cdef Py_ssize_t keep_nearest(Py_ssize_t n, const double *r2, Py_ssize_t m, double *kept,
                             Py_ssize_t *index) noexcept nogil

cdef void scaled_columns(Py_ssize_t n, Py_ssize_t d, const double *X, const double *lengthscale, Py_ssize_t ld,
                         double *columns) noexcept nogil

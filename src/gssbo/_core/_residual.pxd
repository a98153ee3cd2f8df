"""What is known of pool members, and their scores (_residual)."""

cdef Py_ssize_t first_largest(Py_ssize_t n, const double *scores) noexcept nogil
cdef void prepare(
    const double[:, ::1] X, const double[::1] lengthscale, const double[::1] z, Py_ssize_t ld, double *columns,
    double *S, double *r) noexcept nogil

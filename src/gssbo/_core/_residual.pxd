"""Scores of pool members (_residual)."""

cdef Py_ssize_t first_largest(Py_ssize_t n, const double *scores) noexcept nogil

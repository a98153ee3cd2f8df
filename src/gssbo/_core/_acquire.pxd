"""The logarithm of expected improvement in units of the standard deviation, for the search over x (_polish)."""

cdef double log_h(double z) noexcept nogil

cdef double dlog_h(double z) noexcept nogil

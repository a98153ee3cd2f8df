"""Search for the maximum of a function of p bounded parameters (_climb)."""

cdef enum:
    CONVERGED, STALLED, LIMIT, UNUSABLE

# Value at x (p,), with its gradient (p,); not finite where the function has none.
ctypedef double (*function)(void *context, const double *x, double *gradient) noexcept nogil

# Upper triangle of M (p, ld), the negative Hessian or what is near it, at the x of the last evaluation; positive
# semidefinite, not finite where it is not known.
ctypedef void (*curvature_function)(void *context, Py_ssize_t ld, double *M) noexcept nogil

cdef Py_ssize_t climb_state(Py_ssize_t p, bint curved) noexcept nogil

cdef bint climb_started(const double *state) noexcept nogil

cdef int climb(function f, curvature_function curvature, void *context, Py_ssize_t p, const double *low,
               const double *high, double tolerance, Py_ssize_t max_evaluations, double *state, double *x,
               double *value, Py_ssize_t *n_evaluations) except -1

"""The search over hyperparameters, for the likelihoods of other modules."""

# L and its gradient in theta; NaN where it has no value.
ctypedef double (*likelihood_function)(void *data, const double *theta, double *gradient) noexcept nogil

# Upper triangle of M (p, ld) at theta, where L was evaluated last; not finite on its diagonal where it is not known.
ctypedef void (*information_function)(void *data, const double *theta, Py_ssize_t ld, double *M) noexcept nogil

cdef tuple search(likelihood_function L, information_function M, void *data, const double[::1] low,
                  const double[::1] high, const double[::1] reach, const double[::1] centre, const double[::1] weight,
                  double tolerance, Py_ssize_t max_evaluations, double[::1] state, double[::1] theta)

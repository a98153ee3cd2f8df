"""Search for the maximum of a smooth function of bounded parameters.

Notation
--------
x       p parameters, low <= x <= high
f, g    the function and its gradient, with their signs turned: to be minimised
S, Y    the latest differences of x and g (MEMORY, p): what a limited-memory BFGS direction is made of
free    parameters that are not held at a bound their gradient pushes against

A projected limited-memory BFGS method: the two-loop recursion on the free parameters [1, algorithm 7.4], a step along
the projection of that direction onto the bounds [2], sufficient decrease by safeguarded cubic interpolation. It stops
like SciPy's L-BFGS-B, at a relative decrease below `tolerance` or a projected gradient below 1e-5.

Why not SciPy's: its tiny BLAS calls wake OpenBLAS's threads, which made fits of 30 observations up to twelve times
slower with two threads than with one, and its driver costs as much a step as the likelihood of 100 observations.

References
----------
1. Nocedal and Wright, Numerical Optimization, 2nd edition, 2006.
2. Bertsekas, Projected Newton methods for optimization problems with simple constraints, 1982.
"""
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, fabs, fmax, fmin, isfinite, sqrt
from libc.string cimport memcpy

cdef enum:
    MEMORY = 12
    TRIALS = 25         # steps tried along one direction
    HEADER = 4          # of the state: started, f, differences stored, the newest of them

cdef double DECREASE = 1e-4         # sufficient decrease
cdef double PROJECTED_GRADIENT = 1e-5
cdef double LONGEST = 4.0           # of a step, in any one parameter


cdef inline double clip(double value, double low, double high) noexcept nogil:
    return fmin(fmax(value, low), high)


cdef double dot(Py_ssize_t p, const double *x, const double *y, const char *mask) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t i
    for i in range(p):
        if mask[i]:
            total += x[i] * y[i]
    return total


cdef void direction(
    Py_ssize_t p,
    Py_ssize_t stored,
    Py_ssize_t newest,
    const double *S,            # IN (MEMORY, p)
    const double *Y,            # IN (MEMORY, p)
    const double *g,            # IN (p,)
    const char *free_,          # IN (p,)
    double *step,               # OUT (p,), -H g on the free parameters, 0 elsewhere
) noexcept nogil:
    cdef double[MEMORY] a
    cdef double[MEMORY] curvature
    cdef double scale = 1.0, b
    cdef Py_ssize_t i, q, row
    cdef bint scaled = False
    for i in range(p):
        step[i] = -g[i] if free_[i] else 0.0
    for q in range(stored):
        row = (newest - q + MEMORY) % MEMORY
        curvature[row] = dot(p, S + row * p, Y + row * p, free_)
        if curvature[row] <= 0.0:
            continue
        if not scaled:
            scale = curvature[row] / dot(p, Y + row * p, Y + row * p, free_)
            scaled = True
        a[row] = dot(p, S + row * p, step, free_) / curvature[row]
        for i in range(p):
            if free_[i]:
                step[i] -= a[row] * Y[row * p + i]
    for i in range(p):
        step[i] *= scale
    for q in range(stored - 1, -1, -1):
        row = (newest - q + MEMORY) % MEMORY
        if curvature[row] <= 0.0:
            continue
        b = dot(p, Y + row * p, step, free_) / curvature[row]
        for i in range(p):
            if free_[i]:
                step[i] += (a[row] - b) * S[row * p + i]


cdef double shorter(double t, double f, double slope, double f_trial, double slope_trial) noexcept nogil:
    """Minimiser in (0, t) of the cubic through both ends, kept within a tenth and a half of t."""
    cdef double a, b, root, guess = 0.25 * t
    if isfinite(f_trial) and isfinite(slope_trial):
        a = slope + slope_trial - 3.0 * (f_trial - f) / t
        root = a * a - slope * slope_trial
        if root >= 0.0:
            b = sqrt(root)
            guess = t - t * (slope_trial + b - a) / (slope_trial - slope + 2.0 * b)
    if not isfinite(guess):
        guess = 0.25 * t
    return fmin(fmax(guess, 0.1 * t), 0.5 * t)


cdef Py_ssize_t climb_state(Py_ssize_t p) noexcept nogil:
    """Elements of the state of a climb."""
    return HEADER + (4 + 2 * MEMORY) * p + (p + 7) // 8


cdef int climb(
    function f_and_gradient,
    void *context,
    Py_ssize_t p,
    const double *low,              # IN (p,)
    const double *high,             # IN (p,)
    double tolerance,
    Py_ssize_t max_evaluations,
    double *state,                  # INOUT (climb_state(p),), zeros at first
    double *x,                      # INOUT (p,), start -> best point reached
    double *value,                  # OUT
    Py_ssize_t *n_evaluations,      # OUT
) except -1:
    """How the search ended: CONVERGED, STALLED, LIMIT, or UNUSABLE when the value at the start is not finite.

    LIMIT: no further step is begun once `max_evaluations` are spent; called again with the same state and x the search
    goes on. Signals are handled between evaluations.
    """
    cdef Py_ssize_t i, _trial, stored = <Py_ssize_t> state[2], newest = <Py_ssize_t> state[3]
    cdef double *g = state + HEADER
    cdef double *g_trial = g + p
    cdef double *step = g_trial + p
    cdef double *x_trial = step + p
    cdef double *S = x_trial + p
    cdef double *Y = S + MEMORY * p
    cdef char *free_ = <char *> (Y + MEMORY * p)
    cdef double f = state[1], f_trial, t, longest, slope, slope_trial, sy, ss, yy, previous
    cdef bint found, restarted = False
    cdef int status = LIMIT
    n_evaluations[0] = 0
    if state[0] == 0.0:
        with nogil:
            for i in range(p):
                x[i] = clip(x[i], low[i], high[i])
            f = -f_and_gradient(context, x, g)
        n_evaluations[0] = 1
        if not isfinite(f):
            value[0] = -INFINITY
            return UNUSABLE
        for i in range(p):
            g[i] = -g[i]
        state[0] = 1.0
    while n_evaluations[0] < max_evaluations:
        longest = 0.0
        for i in range(p):
            longest = fmax(longest, fabs(clip(x[i] - g[i], low[i], high[i]) - x[i]))
            free_[i] = not ((x[i] <= low[i] and g[i] > 0.0) or (x[i] >= high[i] and g[i] < 0.0))
        if longest <= PROJECTED_GRADIENT:
            status = CONVERGED
            break
        direction(p, stored, newest, S, Y, g, free_, step)
        if not dot(p, g, step, free_) < 0.0:
            stored = 0
            direction(p, 0, newest, S, Y, g, free_, step)
        t = 1.0 if stored else fmin(1.0, 1.0 / sqrt(dot(p, g, g, free_)))
        longest = 0.0
        for i in range(p):
            longest = fmax(longest, fabs(step[i]))
        t = fmin(t, LONGEST / longest)

        found = False
        for _trial in range(TRIALS):
            slope = 0.0
            for i in range(p):
                x_trial[i] = clip(x[i] + t * step[i], low[i], high[i])
                slope += g[i] * (x_trial[i] - x[i])
            with nogil:
                f_trial = -f_and_gradient(context, x_trial, g_trial)
            n_evaluations[0] += 1
            PyErr_CheckSignals()
            slope_trial = 0.0
            for i in range(p):
                g_trial[i] = -g_trial[i]
                slope_trial += g_trial[i] * (x_trial[i] - x[i])
            if isfinite(f_trial) and f_trial <= f + DECREASE * slope:
                found = True
                break
            # Slopes along the path are per unit of t.
            t = shorter(t, f, slope / t, f_trial, slope_trial / t)
        if not found:
            if stored and not restarted:
                stored = 0
                restarted = True
                continue
            status = STALLED
            break
        restarted = False

        newest = (newest + 1) % MEMORY
        sy = 0.0
        ss = 0.0
        yy = 0.0
        for i in range(p):
            S[newest * p + i] = x_trial[i] - x[i]
            Y[newest * p + i] = g_trial[i] - g[i]
            sy += S[newest * p + i] * Y[newest * p + i]
            ss += S[newest * p + i] * S[newest * p + i]
            yy += Y[newest * p + i] * Y[newest * p + i]
            x[i] = x_trial[i]
        if sy > 1e-10 * sqrt(ss * yy):
            stored = min(stored + 1, <Py_ssize_t> MEMORY)
        else:
            newest = (newest + MEMORY - 1) % MEMORY
        memcpy(g, g_trial, p * sizeof(double))
        previous = f
        f = f_trial
        if previous - f <= tolerance * fmax(fmax(fabs(previous), fabs(f)), 1.0):
            status = CONVERGED
            break
    state[1] = f
    state[2] = stored
    state[3] = newest
    value[0] = -f
    return status

"""Search for the hyperparameters of largest likelihood, within bounds.

Notation
--------
theta   log lengthscales (d), log variance, log noise: p = d + 2 parameters, low <= theta <= high
f, g    -L and its gradient, to be minimised
S, Y    the latest differences of theta and g (MEMORY, p): what a limited-memory BFGS direction is made of
free    parameters that are not held at a bound their gradient pushes against

A projected limited-memory BFGS method: the two-loop recursion on the free parameters [1, algorithm 7.4], a step along
the projection of that direction onto the bounds [2], sufficient decrease by safeguarded cubic interpolation. It stops
where SciPy's L-BFGS-B stops: relative decrease below 2.2e-9 or projected gradient below 1e-5.

Why not SciPy's: its tiny BLAS calls wake OpenBLAS's threads, which made fits of 30 observations up to twelve times
slower with two threads than with one, and its driver costs as much a step as the likelihood of 100 observations.

References
----------
1. Nocedal and Wright, Numerical Optimization, 2nd edition, 2006.
2. Bertsekas, Projected Newton methods for optimization problems with simple constraints, 1982.
"""
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, fabs, fmax, fmin, isfinite, sqrt
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from gssbo._core._gp cimport likelihood

cdef enum:
    MEMORY = 12
    TRIALS = 25         # steps tried along one direction

cdef double DECREASE = 1e-4         # sufficient decrease
cdef double RELATIVE_DECREASE = 2.220446049250313e-09
cdef double PROJECTED_GRADIENT = 1e-5
cdef double LONGEST = 4.0           # of a step, in log units of any one parameter

CONVERGED, STALLED, LIMIT, UNUSABLE = range(4)


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


def climb(
    int kind,
    const double[:, ::1] X,             # IN (n, d)
    const double[::1] z,                # IN (n,)
    const double[::1] low,              # IN (d + 2,)
    const double[::1] high,             # IN (d + 2,)
    Py_ssize_t max_evaluations,
    double[::1] work,                   # INOUT (work_size(n, d),), zeros at first
    double[::1] theta,                  # INOUT (d + 2,), start -> best point reached
):
    """Return the likelihood reached, the evaluations it took and how it ended.

    UNUSABLE: the likelihood is not finite at the start. Signals are handled between evaluations.
    """
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], p = d + 2, i, _trial
    cdef Py_ssize_t stored = 0, newest = MEMORY - 1, n_evaluations = 1
    cdef double *g = <double *> malloc((5 + 2 * MEMORY) * p * sizeof(double) + p)
    if g == NULL:
        raise MemoryError
    cdef double *g_trial = g + p
    cdef double *step = g_trial + p
    cdef double *trial_theta = step + p
    cdef double *accepted = trial_theta + p
    cdef double *S = accepted + p
    cdef double *Y = S + MEMORY * p
    cdef char *free_ = <char *> (Y + MEMORY * p)
    cdef double f, f_trial, t, longest, slope, slope_trial, sy, ss, yy, previous
    cdef bint found, restarted = False
    cdef int status = LIMIT
    try:
        with nogil:
            for i in range(p):
                theta[i] = fmin(fmax(theta[i], low[i]), high[i])
            f = -likelihood(kind, n, d, &X[0, 0], &z[0], &theta[0], &work[0], g)
        if not isfinite(f):
            return -INFINITY, n_evaluations, UNUSABLE
        for i in range(p):
            g[i] = -g[i]
        while n_evaluations < max_evaluations:
            longest = 0.0
            for i in range(p):
                longest = fmax(longest, fabs(fmin(fmax(theta[i] - g[i], low[i]), high[i]) - theta[i]))
                free_[i] = not ((theta[i] <= low[i] and g[i] > 0.0) or (theta[i] >= high[i] and g[i] < 0.0))
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
                    trial_theta[i] = fmin(fmax(theta[i] + t * step[i], low[i]), high[i])
                    slope += g[i] * (trial_theta[i] - theta[i])
                with nogil:
                    f_trial = -likelihood(kind, n, d, &X[0, 0], &z[0], trial_theta, &work[0], g_trial)
                n_evaluations += 1
                PyErr_CheckSignals()
                slope_trial = 0.0
                for i in range(p):
                    g_trial[i] = -g_trial[i]
                    slope_trial += g_trial[i] * (trial_theta[i] - theta[i])
                if isfinite(f_trial) and f_trial <= f + DECREASE * slope:
                    found = True
                    break
                if n_evaluations >= max_evaluations:
                    break
                # Slopes along the path are per unit of t.
                t = shorter(t, f, slope / t, f_trial, slope_trial / t)
            if not found:
                if stored and not restarted and n_evaluations < max_evaluations:
                    stored = 0
                    restarted = True
                    continue
                status = STALLED if n_evaluations < max_evaluations else LIMIT
                break
            restarted = False

            newest = (newest + 1) % MEMORY
            sy = 0.0
            ss = 0.0
            yy = 0.0
            for i in range(p):
                S[newest * p + i] = trial_theta[i] - theta[i]
                Y[newest * p + i] = g_trial[i] - g[i]
                sy += S[newest * p + i] * Y[newest * p + i]
                ss += S[newest * p + i] * S[newest * p + i]
                yy += Y[newest * p + i] * Y[newest * p + i]
                theta[i] = trial_theta[i]
            if sy > 1e-10 * sqrt(ss * yy):
                stored = min(stored + 1, <Py_ssize_t> MEMORY)
            else:
                newest = (newest + MEMORY - 1) % MEMORY
            memcpy(g, g_trial, p * sizeof(double))
            previous = f
            f = f_trial
            if previous - f <= RELATIVE_DECREASE * fmax(fmax(fabs(previous), fabs(f)), 1.0):
                status = CONVERGED
                break
        return -f, n_evaluations, status
    finally:
        free(g)

"""Search for the hyperparameters of largest likelihood, within bounds.

Notation
--------
theta   log lengthscales (d), log variance, log noise: p = d + 2 parameters, low <= theta <= high
reach   log of the lengthscale from which on a parameter hardly matters, infinite for variance and noise (p,)
psi     what is searched over: psi = theta - log(1 + exp(2 (theta - reach))) / 2 (p,)
f, g    -L and its gradient in psi, to be minimised
S, Y    the latest differences of psi and g (MEMORY, p): what a limited-memory BFGS direction is made of
free    parameters that are not held at a bound their gradient pushes against

The likelihood has no slope in the logarithm of a long lengthscale: from there a search neither comes back nor gets to
the end. In psi, where exp(-2 psi) = exp(-2 theta) + exp(-2 reach), it has: short lengthscales are searched by their
logarithm, long ones by their inverse square, which enters the kernel linearly. On 60 fits of 100 points in 48
dimensions one climb reached a likelihood higher by 3.5 (median), in half the evaluations.

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
from libc.math cimport INFINITY, exp, expm1, fabs, fmax, fmin, isfinite, log, log1p, sqrt
from libc.string cimport memcpy

from gssbo._core._gp cimport likelihood

cdef enum:
    MEMORY = 12
    TRIALS = 25         # steps tried along one direction
    HEADER = 4          # of the state: started, f, differences stored, the newest of them

cdef double DECREASE = 1e-4         # sufficient decrease
cdef double PROJECTED_GRADIENT = 1e-5
cdef double LONGEST = 4.0           # of a step, in log units of any one parameter
cdef double FARTHEST = 60.0         # exponent of the stretch: beyond it a slope of L is rounding

CONVERGED, STALLED, LIMIT, UNUSABLE = range(4)


cdef inline double soften(double theta, double reach) noexcept nogil:
    """psi of theta."""
    if theta > reach:
        return reach - 0.5 * log1p(exp(2.0 * (reach - theta)))
    return theta - 0.5 * log1p(exp(2.0 * (theta - reach)))


cdef inline double harden(double psi, double reach, double low, double high) noexcept nogil:
    """theta of psi, within its bounds."""
    cdef double shrunk = -expm1(2.0 * (psi - reach))
    return fmin(fmax(psi - 0.5 * log(shrunk) if shrunk > 0.0 else INFINITY, low), high)


cdef inline double stretch(double theta, double reach) noexcept nogil:
    """dtheta / dpsi."""
    return 1.0 + exp(fmin(2.0 * (theta - reach), FARTHEST))


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


def state_size(Py_ssize_t d):
    """Elements of the state of a climb."""
    return HEADER + (6 + 2 * MEMORY) * (d + 2) + (d + 2 + 7) // 8


cdef double height(
    int kind,
    Py_ssize_t n,
    Py_ssize_t d,
    const double *X,
    const double *z,
    const double *low,
    const double *high,
    const double *reach,
    const double *psi,          # IN (p,)
    double *work,
    double *theta,              # OUT (p,)
    double *g,                  # OUT (p,)
) noexcept nogil:
    """f and g at psi."""
    cdef Py_ssize_t i
    cdef double value
    for i in range(d + 2):
        theta[i] = harden(psi[i], reach[i], low[i], high[i])
    value = likelihood(kind, n, d, X, z, theta, work, g)
    for i in range(d + 2):
        g[i] *= -stretch(theta[i], reach[i])
    return -value


def climb(
    int kind,
    const double[:, ::1] X,             # IN (n, d)
    const double[::1] z,                # IN (n,)
    const double[::1] low,              # IN (d + 2,)
    const double[::1] high,             # IN (d + 2,)
    const double[::1] reach,            # IN (d + 2,)
    double tolerance,
    Py_ssize_t max_evaluations,
    double[::1] work,                   # INOUT (work_size(n, d),), zeros at first
    double[::1] state,                  # INOUT (state_size(d),), zeros at first
    double[::1] theta,                  # INOUT (d + 2,), start -> best point reached
):
    """Return the likelihood reached, the evaluations it took and how it ended.

    LIMIT: no further step is begun once `max_evaluations` are spent; called again with the same state the climb goes
    on. UNUSABLE: the likelihood is not finite at the start. Signals are handled between evaluations.
    """
    cdef Py_ssize_t n = X.shape[0], d = X.shape[1], p = d + 2, i, _trial, n_evaluations = 0
    cdef Py_ssize_t stored = <Py_ssize_t> state[2], newest = <Py_ssize_t> state[3]
    cdef double *psi = &state[HEADER]
    cdef double *g = psi + p
    cdef double *g_trial = g + p
    cdef double *step = g_trial + p
    cdef double *psi_trial = step + p
    cdef double *theta_trial = psi_trial + p
    cdef double *S = theta_trial + p
    cdef double *Y = S + MEMORY * p
    cdef char *free_ = <char *> (Y + MEMORY * p)
    cdef double f, f_trial, t, longest, slope, slope_trial, sy, ss, yy, previous, lowest, highest
    cdef bint found, restarted = False
    cdef int status = LIMIT
    if state[0] == 0.0:
        for i in range(p):
            psi[i] = soften(clip(theta[i], low[i], high[i]), reach[i])
        with nogil:
            f = height(kind, n, d, &X[0, 0], &z[0], &low[0], &high[0], &reach[0], psi, &work[0], &theta[0], g)
        n_evaluations = 1
        if not isfinite(f):
            return -INFINITY, n_evaluations, UNUSABLE
        state[0] = 1.0
    else:
        f = state[1]
    while n_evaluations < max_evaluations:
        longest = 0.0
        for i in range(p):
            lowest = soften(low[i], reach[i])
            highest = soften(high[i], reach[i])
            longest = fmax(longest, fabs(clip(psi[i] - g[i], lowest, highest) - psi[i]))
            free_[i] = not ((psi[i] <= lowest and g[i] > 0.0) or (psi[i] >= highest and g[i] < 0.0))
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
                psi_trial[i] = clip(psi[i] + t * step[i], soften(low[i], reach[i]), soften(high[i], reach[i]))
                slope += g[i] * (psi_trial[i] - psi[i])
            with nogil:
                f_trial = height(kind, n, d, &X[0, 0], &z[0], &low[0], &high[0], &reach[0], psi_trial, &work[0],
                                 theta_trial, g_trial)
            n_evaluations += 1
            PyErr_CheckSignals()
            slope_trial = 0.0
            for i in range(p):
                slope_trial += g_trial[i] * (psi_trial[i] - psi[i])
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
            S[newest * p + i] = psi_trial[i] - psi[i]
            Y[newest * p + i] = g_trial[i] - g[i]
            sy += S[newest * p + i] * Y[newest * p + i]
            ss += S[newest * p + i] * S[newest * p + i]
            yy += Y[newest * p + i] * Y[newest * p + i]
            psi[i] = psi_trial[i]
            theta[i] = theta_trial[i]
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
    return -f, n_evaluations, status

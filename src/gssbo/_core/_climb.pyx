"""Search for the maximum of a smooth function of bounded parameters.

Notation
--------
x       p parameters, low <= x <= high
f, g    the function and its gradient, with their signs turned: to be minimised
S, Y    the latest differences of x and g (MEMORY, p): what a limited-memory BFGS direction is made of
M       curvature (p, ld), if it is to be had: positive semidefinite, and near the Hessian of f
U       M + DAMPING diag(M) + FLOOR I = U^T U (p, ld), on the free parameters
free    parameters that are not held at a bound their gradient pushes against

A projected limited-memory BFGS method: the two-loop recursion on the free parameters [1, algorithm 7.4], a step along
the projection of that direction onto the bounds [2], sufficient decrease by safeguarded cubic interpolation. It stops
like SciPy's L-BFGS-B, at a relative decrease below `tolerance` or a projected gradient below 1e-5.

The recursion starts from a multiple of the identity or, where a curvature is to be had, from its damped inverse. That
is found again every few steps, and the differences begin anew.

Why not SciPy's: its tiny BLAS calls wake OpenBLAS's threads, which made fits of 30 observations up to twelve times
slower with two threads than with one, and its driver costs as much a step as the likelihood of 100 observations.

References
----------
1. Nocedal and Wright, Numerical Optimization, 2nd edition, 2006.
2. Bertsekas, Projected Newton methods for optimization problems with simple constraints, 1982.
"""
from cpython.exc cimport PyErr_CheckSignals
from libc.math cimport INFINITY, fabs, fmax, fmin, isfinite, sqrt
from libc.string cimport memcmp, memcpy

from gssbo._core._simd cimport gssbo_padded, gssbo_simd, gssbo_simd_table

cdef const gssbo_simd_table *simd = gssbo_simd()

cdef enum:
    MEMORY = 12
    TRIALS = 25         # steps tried along one direction
    FIRST = 3           # steps before the first curvature
    EVERY = 5           # steps from one curvature to the next

cdef double DECREASE = 1e-4         # sufficient decrease
cdef double PROJECTED_GRADIENT = 1e-5
cdef double LONGEST = 4.0           # of a step, in any one parameter
cdef double LONGEST_CURVED = 1.5    # the same, with a curvature: it holds nearby
cdef double DAMPING = 0.3           # added to the curvature, of its diagonal
cdef double FLOOR = 0.1             # the same, where there is none
cdef double SMALL = 0.05            # decrease of a step after which the curvature is good enough

cdef struct Progress:   # what a search knows between two steps
    bint started
    bint stale          # f may have been evaluated somewhere else after x
    bint curved         # M is known
    double f
    double decrease     # of the last step
    Py_ssize_t stored   # differences
    Py_ssize_t newest   # of them
    Py_ssize_t due      # steps until the next curvature


cdef enum:
    HEADER = 8          # elements of the state that hold a Progress


cdef struct Curvature:  # of f, or of nothing where `find` is NULL
    curvature_function find
    void *context
    Py_ssize_t ld
    double *M
    double *U
    char *free_         # the parameters that U is of


cdef inline double clip(double value, double low, double high) noexcept nogil:
    return fmin(fmax(value, low), high)


cdef double dot(Py_ssize_t p, const double *x, const double *y, const char *mask) noexcept nogil:
    cdef double total = 0.0
    cdef Py_ssize_t i
    for i in range(p):
        if mask[i]:
            total += x[i] * y[i]
    return total


cdef void precondition(Py_ssize_t p, const Curvature *by, double *step) noexcept nogil:
    """step <- solve(U, solve(U.T, step)), zeros for what is not free."""
    cdef Py_ssize_t i
    simd.substitute(p, by.U, by.ld, step)
    for i in range(p - 1, -1, -1):
        step[i] = (step[i] - simd.dot(p - i - 1, by.U + i * by.ld + i + 1, step + i + 1)) / by.U[i * by.ld + i]


cdef void direction(
    Py_ssize_t p,
    Py_ssize_t stored,
    Py_ssize_t newest,
    const double *S,            # IN (MEMORY, p)
    const double *Y,            # IN (MEMORY, p)
    const double *g,            # IN (p,)
    const char *free_,          # IN (p,)
    const Curvature *by,        # IN
    bint curved,                # whether the recursion starts from it
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
    if curved:
        precondition(p, by, step)
    else:
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


cdef bint find_curvature(Py_ssize_t p, const Curvature *of) noexcept nogil:
    """Whether M could be found, at the last evaluation."""
    cdef Py_ssize_t i
    of.find(of.context, of.ld, of.M)
    for i in range(p):
        if not isfinite(of.M[i * of.ld + i]):   # no element of a semidefinite matrix is larger than those
            return False
    return True


cdef bint factor_curvature(Py_ssize_t p, const char *free_, const Curvature *of) noexcept nogil:
    """Whether U could be found, for the parameters that are free now."""
    cdef Py_ssize_t i, j
    for i in range(p):
        for j in range(i, p):
            of.U[i * of.ld + j] = of.M[i * of.ld + j] if free_[i] and free_[j] else 0.0
        of.U[i * of.ld + i] = (1.0 + DAMPING) * of.U[i * of.ld + i] + (FLOOR if free_[i] else 1.0)
    memcpy(of.free_, free_, p)
    return simd.cholesky(p, of.U, of.ld, NULL) == 0


cdef Py_ssize_t climb_state(Py_ssize_t p, bint curved) noexcept nogil:
    """Elements of the state of a climb."""
    return HEADER + (4 + 2 * MEMORY) * p + 2 * ((p + 7) // 8) + (2 * p * gssbo_padded(p) if curved else 0)


cdef bint climb_started(const double *state) noexcept nogil:
    """Whether the search of this state has been called before."""
    return (<const Progress *> state).started


cdef int climb(
    function f_and_gradient,
    curvature_function curvature,   # or NULL
    void *context,
    Py_ssize_t p,
    const double *low,              # IN (p,)
    const double *high,             # IN (p,)
    double tolerance,
    Py_ssize_t max_evaluations,
    double *state,                  # INOUT (climb_state(p, curvature != NULL),), zeros at first
    double *x,                      # INOUT (p,), start -> best point reached
    double *value,                  # OUT
    Py_ssize_t *n_evaluations,      # OUT
) except -1:
    """How the search ended: CONVERGED, STALLED, LIMIT, or UNUSABLE when the value at the start is not finite.

    LIMIT: no further step is begun once `max_evaluations` are spent; called again with the same state and x the search
    goes on. Signals are handled between evaluations.
    """
    cdef Progress at = (<Progress *> state)[0]
    cdef double *g = state + HEADER
    cdef double *g_trial = g + p
    cdef double *step = g_trial + p
    cdef double *x_trial = step + p
    cdef double *S = x_trial + p
    cdef double *Y = S + MEMORY * p
    cdef char *free_ = <char *> (Y + MEMORY * p)
    cdef Curvature M
    M.find, M.context = curvature, context
    M.free_, M.ld = free_ + p, gssbo_padded(p)
    M.M = Y + MEMORY * p + 2 * ((p + 7) // 8)
    M.U = M.M + p * M.ld
    cdef double f_trial, t, longest, slope, slope_trial, sy, ss, yy
    cdef double farthest = LONGEST if curvature == NULL else LONGEST_CURVED
    cdef Py_ssize_t i, _trial
    cdef bint found, restarted = False
    cdef int status = LIMIT
    n_evaluations[0] = 0
    if not at.started:
        with nogil:
            for i in range(p):
                x[i] = clip(x[i], low[i], high[i])
            at.f = -f_and_gradient(context, x, g)
        n_evaluations[0] = 1
        if not isfinite(at.f):
            value[0] = -INFINITY
            return UNUSABLE
        for i in range(p):
            g[i] = -g[i]
        at.started, at.due, at.decrease = True, FIRST, INFINITY
    while n_evaluations[0] < max_evaluations:
        longest = 0.0
        for i in range(p):
            longest = fmax(longest, fabs(clip(x[i] - g[i], low[i], high[i]) - x[i]))
            free_[i] = not ((x[i] <= low[i] and g[i] > 0.0) or (x[i] >= high[i] and g[i] < 0.0))
        if longest <= PROJECTED_GRADIENT:
            status = CONVERGED
            break
        if curvature != NULL and at.due <= 0 and not at.stale and not (at.curved and at.decrease < SMALL):
            with nogil:
                at.curved = find_curvature(p, &M) and factor_curvature(p, free_, &M)
            at.due = EVERY
            if at.curved:
                at.stored = 0
        elif at.curved and memcmp(M.free_, free_, p) != 0:
            at.curved = factor_curvature(p, free_, &M)
        direction(p, at.stored, at.newest, S, Y, g, free_, &M, at.curved, step)
        if not dot(p, g, step, free_) < 0.0:
            at.stored, at.curved = 0, False
            direction(p, 0, at.newest, S, Y, g, free_, &M, False, step)
        t = 1.0 if at.stored or at.curved else fmin(1.0, 1.0 / sqrt(dot(p, g, g, free_)))
        longest = 0.0
        for i in range(p):
            longest = fmax(longest, fabs(step[i]))
        t = fmin(t, farthest / longest)

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
            if isfinite(f_trial) and f_trial <= at.f + DECREASE * slope:
                found = True
                break
            # Slopes along the path are per unit of t.
            t = shorter(t, at.f, slope / t, f_trial, slope_trial / t)
        at.stale = not found
        if not found:
            if (at.stored or at.curved) and not restarted:
                at.stored, at.curved = 0, False
                restarted = True
                continue
            status = STALLED
            break
        restarted = False

        at.newest = (at.newest + 1) % MEMORY
        sy = 0.0
        ss = 0.0
        yy = 0.0
        for i in range(p):
            S[at.newest * p + i] = x_trial[i] - x[i]
            Y[at.newest * p + i] = g_trial[i] - g[i]
            sy += S[at.newest * p + i] * Y[at.newest * p + i]
            ss += S[at.newest * p + i] * S[at.newest * p + i]
            yy += Y[at.newest * p + i] * Y[at.newest * p + i]
            x[i] = x_trial[i]
        if sy > 1e-10 * sqrt(ss * yy):
            at.stored = min(at.stored + 1, <Py_ssize_t> MEMORY)
        else:
            at.newest = (at.newest + MEMORY - 1) % MEMORY
        memcpy(g, g_trial, p * sizeof(double))
        at.decrease = at.f - f_trial
        at.due -= 1
        longest = fmax(fmax(fabs(at.f), fabs(f_trial)), 1.0)
        at.f = f_trial
        if at.decrease <= tolerance * longest:
            status = CONVERGED
            break
    at.stale = True
    (<Progress *> state)[0] = at
    value[0] = -at.f
    return status

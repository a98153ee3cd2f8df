"""Factor and inverse of a large matrix, shared by threads (_dense, team.h)."""

cdef extern from "team.h" nogil:
    ctypedef struct gssbo_stage:
        pass
    Py_ssize_t gssbo_claim(gssbo_stage *stage, Py_ssize_t parts)
    void gssbo_finish(gssbo_stage *stage)
    Py_ssize_t gssbo_next(gssbo_stage *stage, Py_ssize_t parts)
    void gssbo_await(gssbo_stage *stage, Py_ssize_t parts)
    void gssbo_put(Py_ssize_t *word, Py_ssize_t value)
    Py_ssize_t gssbo_get(const Py_ssize_t *word)

cdef enum:
    PARTS = 8       # of a stage: a thread that is slowed down leaves some to the others

cdef Py_ssize_t factor_stages(Py_ssize_t n) noexcept nogil

cdef bint factor(Py_ssize_t n, double *A, Py_ssize_t ld, double *strips, Py_ssize_t *status,
                 gssbo_stage *stages) noexcept nogil

cdef enum:
    INVERSE_STAGES = 3

cdef void invert(Py_ssize_t n, const double *U, double *P, Py_ssize_t ld, double *scratch, bint both,
                 gssbo_stage *stages) noexcept nogil

cdef void mirror(Py_ssize_t n, double *P, Py_ssize_t ld, Py_ssize_t part, Py_ssize_t parts) noexcept nogil

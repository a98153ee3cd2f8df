"""Declarations of the vectorised loops (simd.h)."""

cdef extern from "simd.h" nogil:
    enum: GSSBO_PAD
    enum: GSSBO_RESIDENT
    enum: GSSBO_ROWS
    enum: GSSBO_LINE
    enum: GSSBO_LANES
    enum: GSSBO_RBF
    enum: GSSBO_MATERN32
    enum: GSSBO_PRODUCT_SCRATCH

    ctypedef struct gssbo_update:
        double a
        const double *u
        const double *x
        double *w
        double b
        const double *v
        double *y
        double *squares

    ctypedef struct gssbo_simd_table:
        const char *name
        void (*subtract_product)(Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, const double *A, Py_ssize_t lda,
                                 const double *B, Py_ssize_t ldb, double *C, Py_ssize_t ldc,
                                 double *pack) noexcept nogil
        Py_ssize_t (*cholesky)(Py_ssize_t n, double *A, Py_ssize_t ld, double *strips) noexcept nogil
        void (*pack_factor)(Py_ssize_t n, const double *U, Py_ssize_t ldu, double *strips) noexcept nogil
        void (*solve_transposed)(Py_ssize_t n, Py_ssize_t m, const double *U, Py_ssize_t ldu, const double *strips,
                                 double *B, Py_ssize_t ldb) noexcept nogil
        void (*solve)(Py_ssize_t n, Py_ssize_t m, const double *U, Py_ssize_t ldu, double *B,
                      Py_ssize_t ldb) noexcept nogil
        void (*substitute)(Py_ssize_t n, const double *U, Py_ssize_t ldu, double *y) noexcept nogil
        void (*subtract_above)(Py_ssize_t n, double *A, Py_ssize_t ld, const double *strips, Py_ssize_t first,
                               Py_ssize_t part, Py_ssize_t parts) noexcept nogil
        Py_ssize_t (*factor_diagonal)(Py_ssize_t n, double *A, Py_ssize_t ld, double *strips,
                                      Py_ssize_t first) noexcept nogil
        void (*divide_rows)(Py_ssize_t n, double *A, Py_ssize_t ld, double *strips, Py_ssize_t first, Py_ssize_t part,
                            Py_ssize_t parts) noexcept nogil
        void (*invert)(Py_ssize_t n, const double *U, Py_ssize_t ldu, double *P, Py_ssize_t ldp,
                       double *scratch) noexcept nogil
        void (*invert_factor)(Py_ssize_t n, const double *U, Py_ssize_t ldu, double *scratch, Py_ssize_t part,
                              Py_ssize_t parts) noexcept nogil
        void (*square_factor)(Py_ssize_t n, double *P, Py_ssize_t ldp, const double *scratch, Py_ssize_t part,
                              Py_ssize_t parts) noexcept nogil
        void (*product_vector)(Py_ssize_t k, Py_ssize_t n, const double *A, Py_ssize_t lda, const double *x,
                               double *y) noexcept nogil
        void (*symmetric_product)(Py_ssize_t n, const double *P, Py_ssize_t ldp, const double *x,
                                  double *y) noexcept nogil
        void (*symmetric_products)(Py_ssize_t n, const double *P, Py_ssize_t ldp, const double *x, const double *v,
                                   double *y, double *w) noexcept nogil
        void (*update_symmetric)(Py_ssize_t n, Py_ssize_t gap, double *P, Py_ssize_t ldp,
                                 const gssbo_update *by) noexcept nogil
        void (*add_symmetric)(Py_ssize_t n, Py_ssize_t gap, double *Q, Py_ssize_t ldq, const double *g,
                              const double *u, const double *h, const double *v) noexcept nogil
        void (*pack_single)(Py_ssize_t n, const double *P, Py_ssize_t ldp, float *packed) noexcept nogil
        void (*symmetric_product_single)(Py_ssize_t n, const float *packed, const float *x, float *y) noexcept nogil
        double (*dot)(Py_ssize_t n, const double *x, const double *y) noexcept nogil
        void (*scale)(Py_ssize_t n, Py_ssize_t d, const double *X, const double *centre, const double *lengthscale,
                      Py_ssize_t ld, double *rows, double *columns) noexcept nogil
        void (*squared_distances)(Py_ssize_t n, Py_ssize_t d, const double *XT, Py_ssize_t ldx, const double *x,
                                  double *r2) noexcept nogil
        void (*distance_rows)(Py_ssize_t m, Py_ssize_t n, Py_ssize_t d, const double *XT, Py_ssize_t ldx,
                              const double *X, double *R2, Py_ssize_t ldr) noexcept nogil
        void (*kernel_values)(int kind, Py_ssize_t n, double variance, double *r2, double *radial) noexcept nogil
        void (*weighted_squares)(Py_ssize_t n, Py_ssize_t d, const double *XT, Py_ssize_t ldx, const double *x,
                                 const double *w, double *lanes) noexcept nogil
        void (*likelihood_weights)(Py_ssize_t n, double a, const double *alpha, const double *P,
                                   const double *radial, double *w) noexcept nogil
        double (*balanced_weights)(Py_ssize_t n, double a, const double *alpha, const double *P,
                                   const double *radial, double *w, double *totals) noexcept nogil
        void (*weighted_products)(Py_ssize_t m, Py_ssize_t n, Py_ssize_t d, const double *w, Py_ssize_t ldw,
                                  const double *X, Py_ssize_t ldx, double *lanes) noexcept nogil
        void (*add_scaled)(Py_ssize_t n, double a, const double *x, double *y) noexcept nogil
        void (*add_rows_and_max)(Py_ssize_t rows, Py_ssize_t n, const double *a, const double *X, Py_ssize_t ldx,
                                 double *y, double *largest) noexcept nogil
        double (*scale_single)(Py_ssize_t n, Py_ssize_t d, const double *X, const double *centre,
                               const double *factor, Py_ssize_t ld, float *columns) noexcept nogil
        void (*add_correlations_single)(int kind, Py_ssize_t n, Py_ssize_t d, const float *XT, Py_ssize_t ldx,
                                        const float *X, const float *a, double *y, float *largest) noexcept nogil
        void (*add_squares)(Py_ssize_t n, const double *x, double *y) noexcept nogil
        void (*downdate)(Py_ssize_t rows, Py_ssize_t n, const double *L, Py_ssize_t ldl, const double *c, double *S,
                         double *r, const double *form, double floor, double *scores,
                         Py_ssize_t lds) noexcept nogil
        double (*largest)(Py_ssize_t n, const double *x) noexcept nogil

    void *gssbo_allocate(size_t size) noexcept nogil
    void gssbo_release(void *memory) noexcept nogil
    double *gssbo_aligned(double *memory) noexcept nogil
    Py_ssize_t gssbo_padded(Py_ssize_t n) noexcept nogil
    Py_ssize_t gssbo_factor_scratch(Py_ssize_t n) noexcept nogil
    Py_ssize_t gssbo_inverse_scratch(Py_ssize_t n) noexcept nogil
    Py_ssize_t gssbo_packed_single(Py_ssize_t n) noexcept nogil
    const gssbo_simd_table *gssbo_simd() noexcept nogil

cdef inline double *allocate(size_t size) except? NULL:
    """So many bytes, to be given back by `gssbo_release`, or a MemoryError; NULL for none, which takes no time."""
    cdef double *memory = NULL
    if size > 0:
        memory = <double *> gssbo_allocate(size)
        if memory == NULL:
            raise MemoryError
    return memory

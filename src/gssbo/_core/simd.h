/* The vectorised loops of the core: dense triangular algebra and kernel rows.
 *
 * simd.c is compiled once per instruction set; `gssbo_simd()` returns the best table the processor can run.
 * Everything is single-threaded and sums every element in one fixed order, so a result depends neither on the
 * number of BLAS threads nor on where a candidate stands in its block.
 *
 * Matrices are row-major with a leading dimension `ld` in elements. A *padded* matrix has ld a multiple of
 * GSSBO_PAD and at least the number of columns: loops may then read and write whole vectors past the last
 * column. An upper factor U satisfies K = U^T U; what stands below its diagonal is scratch.
 */
#ifndef GSSBO_SIMD_H
#define GSSBO_SIMD_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#ifdef _WIN32
#include <malloc.h>
#endif

#define GSSBO_PAD 16       /* columns; whole vectors of any instruction set */
#define GSSBO_STRIP 16     /* columns; the widest tile of any instruction set */
#define GSSBO_RESIDENT 256 /* up to this order a matrix stays in the second-level cache: no strips */
#define GSSBO_BLOCK 64
#define GSSBO_DEPTH 128
#define GSSBO_ROWS 128     /* of a factor, made in parts at once */
#define GSSBO_PANEL 240    /* columns of the second operand packed at once: whole tiles of any width */
#define GSSBO_PRODUCT_SCRATCH ((GSSBO_BLOCK + GSSBO_PANEL) * GSSBO_DEPTH)
#define GSSBO_LINE 8       /* doubles in a cache line */
#define GSSBO_LANES 8      /* partial sums kept apart; the widest vector of any instruction set */

enum gssbo_kernel { GSSBO_RBF = 0, GSSBO_MATERN32 = 1, GSSBO_MATERN52 = 2 };

/* What is done to a symmetric P (n, n), in this order. Vectors have n + GSSBO_LANES elements; those that are read are zero
 * from n on. */
typedef struct gssbo_update {
    double a;
    const double *u; /* P += a u u^T */
    const double *x;
    double *w; /* w = P x */
    double b;  /* P += b x x^T */
    const double *v;
    double *y;       /* y = P v */
    double *squares; /* unless NULL, the diagonal of P^2 */
} gssbo_update;

typedef struct gssbo_simd_table {
    const char *name;

    /* C -= A^T B for A (k, m), B (k, n), C (m, n); every ld padded; columns up to the padded n are touched. */
    void (*subtract_product)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const double *A, ptrdiff_t lda,
                             const double *B, ptrdiff_t ldb, double *C, ptrdiff_t ldc, double *pack);

    /* A (n, n) -> U in its upper triangle. Returns 0, or i + 1 when pivot i is not positive.
     * `strips` holds gssbo_factor_scratch(n) elements. */
    ptrdiff_t (*cholesky)(ptrdiff_t n, double *A, ptrdiff_t ld, double *strips);

    /* Copies U into `strips`, gssbo_factor_scratch(n) elements, for solve_transposed. */
    void (*pack_factor)(ptrdiff_t n, const double *U, ptrdiff_t ldu, double *strips);

    /* B (n, m) -> U^-T B, with `strips` packed from U. */
    void (*solve_transposed)(ptrdiff_t n, ptrdiff_t m, const double *U, ptrdiff_t ldu, const double *strips,
                             double *B, ptrdiff_t ldb);

    /* B (n, m) -> U^-1 B. */
    void (*solve)(ptrdiff_t n, ptrdiff_t m, const double *U, ptrdiff_t ldu, double *B, ptrdiff_t ldb);

    /* y (n) -> U^-T y. */
    void (*substitute)(ptrdiff_t n, const double *U, ptrdiff_t ldu, double *y);

    /* The factor for n > GSSBO_RESIDENT, in the strips that `cholesky` makes too: GSSBO_ROWS rows from `first` on, then
     * the next. All parts of a step come before the next step, and no two parts of one touch the same element. */
    void (*subtract_above)(ptrdiff_t n, double *A, ptrdiff_t ld, const double *strips, ptrdiff_t first, ptrdiff_t part,
                           ptrdiff_t parts);
    ptrdiff_t (*factor_diagonal)(ptrdiff_t n, double *A, ptrdiff_t ld, double *strips, ptrdiff_t first);
    void (*divide_rows)(ptrdiff_t n, double *A, ptrdiff_t ld, double *strips, ptrdiff_t first, ptrdiff_t part,
                        ptrdiff_t parts);

    /* Upper triangle of P (n, n) = (U^T U)^-1; `scratch` holds gssbo_inverse_scratch(n) elements and begins with the
     * strips of U, as `cholesky` and `pack_factor` leave them. */
    void (*invert)(ptrdiff_t n, const double *U, ptrdiff_t ldu, double *P, ptrdiff_t ldp, double *scratch);

    /* The two halves of `invert` for n > GSSBO_RESIDENT, part by part: all parts of the first come before any of the
     * second, and no two parts of a half touch the same element. */
    void (*invert_factor)(ptrdiff_t n, const double *U, ptrdiff_t ldu, double *scratch, ptrdiff_t part, ptrdiff_t parts);
    void (*square_factor)(ptrdiff_t n, double *P, ptrdiff_t ldp, const double *scratch, ptrdiff_t part, ptrdiff_t parts);

    /* y (n) = A^T x for A (k, n). */
    void (*product_vector)(ptrdiff_t k, ptrdiff_t n, const double *A, ptrdiff_t lda, const double *x, double *y);

    /* y (n) = P x for a symmetric P (n, n), of which only the upper triangle is read; ld padded, as are x and y,
     * x with zeros from n on. */
    void (*symmetric_product)(ptrdiff_t n, const double *P, ptrdiff_t ldp, const double *x, double *y);

    /* The same for two vectors in one pass over P: y = P x, w = P v. */
    void (*symmetric_products)(ptrdiff_t n, const double *P, ptrdiff_t ldp, const double *x, const double *v, double *y,
                               double *w);

    /* `symmetric_product` in single precision, with half the memory to be read: pack_single puts the upper triangle
     * into `packed`, gssbo_packed_single(n) elements; x with zeros from n on, y padded. */
    void (*pack_single)(ptrdiff_t n, const double *P, ptrdiff_t ldp, float *packed);
    void (*symmetric_product_single)(ptrdiff_t n, const float *packed, const float *x, float *y);

    /* The upper triangle of P (n, n), changed in one pass. Where gap < n, P is (n + 1, n + 1) before that, and its row and
     * column `gap` go: those behind them move up. Whole vectors of a row are read and written, so its columns from n on, or
     * n + 1, are zero, for at least GSSBO_LANES. */
    void (*update_symmetric)(ptrdiff_t n, ptrdiff_t gap, double *P, ptrdiff_t ldp, const gssbo_update *by);

    /* In the same way Q += g u^T + u g^T and, unless h is NULL, Q += h v^T + v h^T. */
    void (*add_symmetric)(ptrdiff_t n, ptrdiff_t gap, double *Q, ptrdiff_t ldq, const double *g, const double *u,
                          const double *h, const double *v);

    double (*dot)(ptrdiff_t n, const double *x, const double *y);

    /* rows (n, d) = (X - centre) / lengthscale, and columns (d, ld), unless NULL, their transpose with zeros from
     * n on. */
    void (*scale)(ptrdiff_t n, ptrdiff_t d, const double *X, const double *centre, const double *lengthscale,
                  ptrdiff_t ld, double *rows, double *columns);

    /* r2[j] = sum_k (XT[k, j] - x[k])^2 for j in [0, n), coordinates in units of the lengthscales; whole vectors, of up
     * to GSSBO_LANES, are read and written. */
    void (*squared_distances)(ptrdiff_t n, ptrdiff_t d, const double *XT, ptrdiff_t ldx, const double *x,
                              double *r2);

    /* The same for the points X (m, d): R2 (m, n). */
    void (*distance_rows)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t d, const double *XT, ptrdiff_t ldx, const double *X,
                          double *R2, ptrdiff_t ldr);

    /* r2 (n) -> k = variance R(r) in place; `radial`, unless NULL, gets variance dR/d(-r^2/2). */
    void (*kernel_values)(int kind, ptrdiff_t n, double variance, double *r2, double *radial);

    /* Lanes that add up to sums[k] += sum_j w[j] (XT[k, j] - x[k])^2, lanes (d, GSSBO_LANES). */
    void (*weighted_squares)(ptrdiff_t n, ptrdiff_t d, const double *XT, ptrdiff_t ldx, const double *x,
                             const double *w, double *lanes);

    /* w[j] = (a alpha[j] - P[j]) radial[j]. */
    void (*likelihood_weights)(ptrdiff_t n, double a, const double *alpha, const double *P, const double *radial,
                               double *w);

    /* The same; totals += w, element by element, and the sum of w is returned. */
    double (*balanced_weights)(ptrdiff_t n, double a, const double *alpha, const double *P, const double *radial,
                               double *w, double *totals);

    /* lanes[k, 0] += sum_ij w[i, j] X[i, k] X[j, k] over i < m and i <= j < n, for the weights w (m, ldw), zero below the
     * diagonal, and X (n, ldx), of which whole vectors are read up to column d: lanes (d, GSSBO_LANES). */
    void (*weighted_products)(ptrdiff_t m, ptrdiff_t n, ptrdiff_t d, const double *w, ptrdiff_t ldw, const double *X,
                              ptrdiff_t ldx, double *lanes);

    /* y += a x. */
    void (*add_scaled)(ptrdiff_t n, double a, const double *x, double *y);

    /* For each of the rows x of X (rows, n) in turn, y += a x and largest = max(largest, x), element by element; n is a
     * multiple of GSSBO_PAD. */
    void (*add_rows_and_max)(ptrdiff_t rows, ptrdiff_t n, const double *a, const double *X, ptrdiff_t ldx, double *y,
                             double *largest);

    /* columns (d, ld), zeros from n on: (X - centre) factor of X (n, d), transposed, in single precision. Returns the
     * largest norm of the n points. */
    double (*scale_single)(ptrdiff_t n, ptrdiff_t d, const double *X, const double *centre, const double *factor,
                           ptrdiff_t ld, float *columns);

    /* `add_rows_and_max` with the correlations R(r) of four points X (4, d) with the columns of XT (d, n), in single
     * precision but for the sums y over fours; n is a multiple of 2 GSSBO_PAD. Distances between coordinates are sqrt(5) r,
     * sqrt(3) r or, for the squared exponential, sqrt(log2(e) / 2) r. */
    void (*add_correlations_single)(int kind, ptrdiff_t n, ptrdiff_t d, const float *XT, ptrdiff_t ldx, const float *X,
                                    const float *a, double *y, float *largest);

    /* y += x^2, element by element. */
    void (*add_squares)(ptrdiff_t n, const double *x, double *y);

    /* For each of the rows l of L (rows, n) in turn, S -= l^2 and r -= c l, and then, unless `scores` is NULL, its row
     * of scores (rows, n): (form[0] S + form[1] r^2) / (form[2] S + form[3]), or -infinity where S is not above the
     * floor. n is a multiple of GSSBO_PAD. */
    void (*downdate)(ptrdiff_t rows, ptrdiff_t n, const double *L, ptrdiff_t ldl, const double *c, double *S,
                     double *r, const double *form, double floor, double *scores, ptrdiff_t lds);

    /* Largest of x (n), n a multiple of GSSBO_PAD; NaN counts for nothing. */
    double (*largest)(ptrdiff_t n, const double *x);
} gssbo_simd_table;

static inline ptrdiff_t gssbo_padded(ptrdiff_t n)
{
    return (n + GSSBO_PAD - 1) / GSSBO_PAD * GSSBO_PAD;
}

/* Memory that begins with a whole cache line, or NULL. A vector that straddles two lines is read twice: a tenth of a
 * likelihood where vectors are as long as lines. */
static inline void *gssbo_allocate(size_t bytes)
{
    const size_t line = GSSBO_LINE * sizeof(double), whole = (bytes + line - 1) / line * line;
#ifdef _WIN32
    return _aligned_malloc(whole, line);
#else
    return aligned_alloc(line, whole);
#endif
}

static inline void gssbo_release(void *memory)
{
#ifdef _WIN32
    _aligned_free(memory);
#else
    free(memory);
#endif
}

/* The first whole line of memory that is somebody else's: up to GSSBO_LINE - 1 elements further. */
static inline double *gssbo_aligned(double *memory)
{
    const uintptr_t line = GSSBO_LINE * sizeof(double);
    return (double *)(((uintptr_t)memory + line - 1) / line * line);
}

static inline ptrdiff_t gssbo_factor_scratch(ptrdiff_t n)
{
    const ptrdiff_t whole = n + GSSBO_STRIP - 1; /* at most, rounded up to strips of any width */
    return n <= GSSBO_RESIDENT ? 0 : gssbo_padded(whole * (whole + GSSBO_STRIP) / 2);
}

static inline ptrdiff_t gssbo_inverse_scratch(ptrdiff_t n)
{
    return n <= GSSBO_RESIDENT ? n * gssbo_padded(n) : 2 * gssbo_factor_scratch(n);
}

static inline ptrdiff_t gssbo_packed_single(ptrdiff_t n)
{
    return gssbo_padded(n) * (gssbo_padded(n) + 36) / 2;
}

const gssbo_simd_table *gssbo_simd(void);

#endif

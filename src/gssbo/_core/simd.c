/* See simd.h. Built once per instruction set, with GSSBO_TABLE naming the table and the compiler flags
 * deciding the vector width W; a tile is MR rows by VECTORS W columns, all accumulators in registers. There must be
 * enough of them to hide the latency of a multiply-add: with AVX2 a tile of three vectors is a fifth faster than of two.
 *
 * The one product form is C -= A^T B with A and B row-major: both operands are then read along rows, so
 * no transposition is ever needed. Cholesky, solves, the inverse factor and the precision are all built on it.
 */
#include "simd.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#if defined(__AVX512F__)
#define W 8
#define MR 8
#define VECTORS 2
#elif defined(__AVX__)
#define W 4
#define MR 4
#define VECTORS 3
#else
#define W 2
#define MR 4
#define VECTORS 2
#endif
#define NR (VECTORS * W) /* a multiple of MR */

#define BLOCK GSSBO_BLOCK
#define DEPTH GSSBO_DEPTH
#define RESIDENT GSSBO_RESIDENT

#if !defined(__GNUC__)
#error "the compiled core needs GCC's vector extensions (GCC or Clang; on Windows clang-cl)"
#endif

typedef double vec __attribute__((vector_size(8 * W)));
typedef double unaligned_vec __attribute__((vector_size(8 * W), aligned(8), may_alias));

static inline vec load(const double *p)
{
    return *(const unaligned_vec *)p;
}

static inline void store(double *p, vec v)
{
    *(unaligned_vec *)p = v;
}

static inline double sum(vec v)
{
    double s = 0.0;
    for (int q = 0; q < W; q++)
        s += v[q];
    return s;
}

static inline ptrdiff_t least(ptrdiff_t a, ptrdiff_t b)
{
    return a < b ? a : b;
}

static inline ptrdiff_t round_up(ptrdiff_t n, ptrdiff_t to)
{
    return (n + to - 1) / to * to;
}

/* ---- tiles: C (rows, vectors W) -= A (k, rows)^T B (k, vectors W), and C = A^T B ----------------------
 *
 * Written out row by row: an array of accumulators would live on the stack. Every element is summed in the order of k,
 * whatever tile it is in.
 */

#define ROWS_1(X) X(0)
#define ROWS_2(X) ROWS_1(X) X(1)
#define ROWS_3(X) ROWS_2(X) X(2)
#define ROWS_4(X) ROWS_3(X) X(3)
#define ROWS_5(X) ROWS_4(X) X(4)
#define ROWS_6(X) ROWS_5(X) X(5)
#define ROWS_7(X) ROWS_6(X) X(6)
#define ROWS_8(X) ROWS_7(X) X(7)

#define LOAD_1(r) vec c##r = load(C + r * ldc);
#define LOAD_2(r) LOAD_1(r) vec d##r = load(C + r * ldc + W);
#define LOAD_3(r) LOAD_2(r) vec e##r = load(C + r * ldc + 2 * W);
#define ZERO_1(r) vec c##r = {0};
#define ZERO_2(r) ZERO_1(r) vec d##r = {0};
#define ZERO_3(r) ZERO_2(r) vec e##r = {0};
#define OPERAND_1 const vec x = load(B);
#define OPERAND_2 OPERAND_1 const vec y = load(B + W);
#define OPERAND_3 OPERAND_2 const vec z = load(B + 2 * W);
#define SUBTRACT_1(r) c##r -= A[r] * x;
#define SUBTRACT_2(r) SUBTRACT_1(r) d##r -= A[r] * y;
#define SUBTRACT_3(r) SUBTRACT_2(r) e##r -= A[r] * z;
#define ADD_1(r) c##r += A[r] * x;
#define ADD_2(r) ADD_1(r) d##r += A[r] * y;
#define ADD_3(r) ADD_2(r) e##r += A[r] * z;
#define STORE_1(r) store(C + r * ldc, c##r);
#define STORE_2(r) STORE_1(r) store(C + r * ldc + W, d##r);
#define STORE_3(r) STORE_2(r) store(C + r * ldc + 2 * W, e##r);

#define DEFINE_TILE(NAME, R, V, BEGIN, UPDATE)                                                               \
    static void NAME##_##R##_##V(ptrdiff_t k, const double *A, ptrdiff_t lda, const double *B,               \
                                 ptrdiff_t ldb, double *C, ptrdiff_t ldc)                                    \
    {                                                                                                        \
        ROWS_##R(BEGIN##_##V)                                                                                \
        for (ptrdiff_t p = 0; p < k; p++, A += lda, B += ldb) {                                              \
            OPERAND_##V                                                                                      \
            ROWS_##R(UPDATE##_##V)                                                                           \
        }                                                                                                    \
        ROWS_##R(STORE_##V)                                                                                  \
    }

#define DEFINE_PAIR(R, V) DEFINE_TILE(less, R, V, LOAD, SUBTRACT) DEFINE_TILE(product, R, V, ZERO, ADD)
#if VECTORS == 3
#define DEFINE_TILES(R) DEFINE_PAIR(R, 1) DEFINE_PAIR(R, 2) DEFINE_PAIR(R, 3)
#define TILES(NAME, R) {NAME##_##R##_1, NAME##_##R##_2, NAME##_##R##_3}
#else
#define DEFINE_TILES(R) DEFINE_PAIR(R, 1) DEFINE_PAIR(R, 2)
#define TILES(NAME, R) {NAME##_##R##_1, NAME##_##R##_2}
#endif

typedef void tile_function(ptrdiff_t, const double *, ptrdiff_t, const double *, ptrdiff_t, double *, ptrdiff_t);

DEFINE_TILES(1)
DEFINE_TILES(2)
DEFINE_TILES(3)
DEFINE_TILES(4)
#if MR == 8
DEFINE_TILES(5)
DEFINE_TILES(6)
DEFINE_TILES(7)
DEFINE_TILES(8)
#define ALL_TILES(NAME)                                                                                      \
    {TILES(NAME, 1), TILES(NAME, 2), TILES(NAME, 3), TILES(NAME, 4),                                         \
     TILES(NAME, 5), TILES(NAME, 6), TILES(NAME, 7), TILES(NAME, 8)}
#else
#define ALL_TILES(NAME) {TILES(NAME, 1), TILES(NAME, 2), TILES(NAME, 3), TILES(NAME, 4)}
#endif
static tile_function *const subtracting[MR][VECTORS] = ALL_TILES(less);
static tile_function *const setting[MR][VECTORS] = ALL_TILES(product);

/* C -= A^T B in the tile at the left of `rows` rows and `columns` columns: at most MR, and whole vectors up to NR. */
static inline void tile(ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t k, const double *A, ptrdiff_t lda,
                        const double *B, ptrdiff_t ldb, double *C, ptrdiff_t ldc)
{
    subtracting[least(MR, rows) - 1][least(NR, columns + W - 1) / W - 1](k, A, lda, B, ldb, C, ldc);
}

/* C = A^T B in the same tile. */
static inline void set_tile(ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t k, const double *A, ptrdiff_t lda,
                            const double *B, ptrdiff_t ldb, double *C, ptrdiff_t ldc)
{
    setting[least(MR, rows) - 1][least(NR, columns + W - 1) / W - 1](k, A, lda, B, ldb, C, ldc);
}

/* Both operands where they stand: for matrices that live in the cache. */
static void product_in_place(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const double *A, ptrdiff_t lda,
                             const double *B, ptrdiff_t ldb, double *C, ptrdiff_t ldc)
{
    for (ptrdiff_t i = 0; i < m; i += MR)
        for (ptrdiff_t j = 0; j < n; j += NR)
            tile(m - i, n - j, k, A + i, lda, B + j, ldb, C + i * ldc + j, ldc);
}

/* Copies (k, n) into strips of `width` columns, each strip contiguous. */
static void pack_strips(ptrdiff_t width, ptrdiff_t n, ptrdiff_t k, const double *A, ptrdiff_t lda, double *out)
{
    for (ptrdiff_t p = 0; p < k; p++)
        for (ptrdiff_t j = 0; j < n; j += width)
            memcpy(out + j * k + p * width, A + p * lda + j, least(width, n - j) * sizeof(double));
}

static void subtract_product(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const double *A, ptrdiff_t lda,
                             const double *B, ptrdiff_t ldb, double *C, ptrdiff_t ldc, double *pack)
{
    if (pack == NULL || k * least(m, n) <= 32 * BLOCK) {
        product_in_place(m, n, k, A, lda, B, ldb, C, ldc);
        return;
    }
    const ptrdiff_t width = GSSBO_PANEL;
    double *const packed_b = pack + BLOCK * DEPTH;
    for (ptrdiff_t p = 0; p < k; p += DEPTH) {
        const ptrdiff_t depth = least(DEPTH, k - p);
        for (ptrdiff_t j0 = 0; j0 < n; j0 += width) {
            const ptrdiff_t columns = least(width, n - j0);
            pack_strips(NR, round_up(columns, W), depth, B + p * ldb + j0, ldb, packed_b);
            for (ptrdiff_t i0 = 0; i0 < m; i0 += BLOCK) {
                const ptrdiff_t rows = least(BLOCK, m - i0);
                pack_strips(MR, rows, depth, A + p * lda + i0, lda, pack);
                for (ptrdiff_t j = 0; j < columns; j += NR)
                    for (ptrdiff_t i = 0; i < rows; i += MR)
                        tile(rows - i, columns - j, depth, pack + i * depth, MR, packed_b + j * depth, NR,
                             C + (i0 + i) * ldc + j0 + j, ldc);
            }
        }
    }
}

/* ---- triangular algebra ------------------------------------------------------------------------------ */

/* target[j] -= factor * source[j], whole vectors. */
static inline void subtract_row(ptrdiff_t n, double factor, const double *source, double *target)
{
    for (ptrdiff_t j = 0; j < n; j += W)
        store(target + j, load(target + j) - factor * load(source + j));
}

static inline void scale_row(ptrdiff_t n, double factor, double *target)
{
    for (ptrdiff_t j = 0; j < n; j += W)
        store(target + j, load(target + j) * factor);
}

/* Divides rows [i, i + rows) of `columns` columns by the diagonal block of U that stands in the same rows. */
static inline void solve_block(ptrdiff_t rows, ptrdiff_t columns, const double *U, ptrdiff_t ldu, double *B,
                               ptrdiff_t ldb)
{
    for (ptrdiff_t r = 0; r < rows; r++) {
        for (ptrdiff_t q = 0; q < r; q++)
            subtract_row(columns, U[q * ldu + r], B + q * ldb, B + r * ldb);
        scale_row(columns, 1.0 / U[r * ldu + r], B + r * ldb);
    }
}

/* Factors the rows [i, i + rows) once all earlier ones have been subtracted from them. */
static ptrdiff_t factor_rows(ptrdiff_t n, double *A, ptrdiff_t ld, ptrdiff_t i, ptrdiff_t rows)
{
    const ptrdiff_t left = i / W * W;
    for (ptrdiff_t r = i; r < i + rows; r++) {
        double *const row = A + r * ld + left;
        for (ptrdiff_t q = i; q < r; q++)
            subtract_row(n - left, A[q * ld + r], A + q * ld + left, row);
        const double pivot = A[r * ld + r];
        if (!(pivot > 0.0) || !isfinite(pivot))
            return r + 1;
        scale_row(n - left, 1.0 / sqrt(pivot), row);
        A[r * ld + r] = sqrt(pivot);
    }
    return 0;
}

/* ---- triangular algebra in strips: for matrices that leave the cache ---------------------------------
 *
 * A strip is NR columns of a triangular matrix, stored row after row without gaps, so that a tile reads both its
 * operands in order. Strips of an upper factor U hold the rows from 0 to their last diagonal element, those of a
 * lower one (Z = U^-T) the rows from their first to the end.
 */

static inline ptrdiff_t upper_strip(ptrdiff_t s)
{
    return NR * NR * (s * (s + 1) / 2);
}

static inline ptrdiff_t lower_strip(ptrdiff_t s, ptrdiff_t n)
{
    return NR * (s * round_up(n, NR) - NR * (s * (s - 1) / 2));
}

static void pack_rows(ptrdiff_t n, const double *U, ptrdiff_t ldu, ptrdiff_t from, ptrdiff_t to, double *strips)
{
    for (ptrdiff_t p = from; p < to; p++)
        for (ptrdiff_t s = p / NR; s * NR < n; s++)
            memcpy(strips + upper_strip(s) + p * NR, U + p * ldu + s * NR, least(NR, ldu - s * NR) * sizeof(double));
}

static void pack_factor(ptrdiff_t n, const double *U, ptrdiff_t ldu, double *strips)
{
    if (n > RESIDENT)
        pack_rows(n, U, ldu, 0, n, strips);
}

#define GROUP 2 /* strips worked on together, so that what the other operand streams in serves all of them */

/* GSSBO_ROWS rows of the factor, from i0 on, are made in three steps. The first: in the strips that the diagonal crosses,
 * what the rows above contribute is subtracted; strips part, part + parts, ... */
static void subtract_above(ptrdiff_t n, double *A, ptrdiff_t ld, const double *strips, ptrdiff_t i0, ptrdiff_t part,
                           ptrdiff_t parts)
{
    const ptrdiff_t end = least(i0 + GSSBO_ROWS, n);
    for (ptrdiff_t s = i0 / NR + part; s * NR < end; s += parts)
        for (ptrdiff_t i = i0; i < least(end, (s + 1) * NR); i += MR)
            tile(end - i, n - s * NR, i0, strips + upper_strip(i / NR) + i % NR, NR, strips + upper_strip(s), NR,
                 A + i * ld + s * NR, ld);
}

/* The second: these strips are factored. Returns 0, or i + 1 when pivot i is not positive. */
static ptrdiff_t factor_diagonal(ptrdiff_t n, double *A, ptrdiff_t ld, double *strips, ptrdiff_t i0)
{
    const ptrdiff_t end = least(i0 + GSSBO_ROWS, n), right = least(round_up(end, NR), n);
    for (ptrdiff_t i = i0; i < end; i += MR) {
        const ptrdiff_t rows = least(MR, end - i);
        for (ptrdiff_t s = i / NR; s * NR < right; s++)
            tile(rows, right - s * NR, i - i0, strips + upper_strip(i / NR) + i0 * NR + i % NR, NR,
                 strips + upper_strip(s) + i0 * NR, NR, A + i * ld + s * NR, ld);
        const ptrdiff_t status = factor_rows(right, A, ld, i, rows);
        if (status)
            return status;
        pack_rows(right, A, ld, i, i + rows, strips);
    }
    return 0;
}

/* The third: the same rows in the other strips, groups of strips part, part + parts, ... */
static void divide_rows(ptrdiff_t n, double *A, ptrdiff_t ld, double *strips, ptrdiff_t i0, ptrdiff_t part,
                        ptrdiff_t parts)
{
    const ptrdiff_t end = least(i0 + GSSBO_ROWS, n), n_strips = (n + NR - 1) / NR;
    for (ptrdiff_t first = (end + NR - 1) / NR + part * GROUP; first < n_strips; first += parts * GROUP)
        for (ptrdiff_t i = i0; i < end; i += MR) {
            const ptrdiff_t rows = least(MR, end - i);
            for (ptrdiff_t s = first; s < least(first + GROUP, n_strips); s++) {
                double *const strip = strips + upper_strip(s), *const target = A + i * ld + s * NR;
                const ptrdiff_t columns = least(NR, n - s * NR);
                tile(rows, columns, i, strips + upper_strip(i / NR) + i % NR, NR, strip, NR, target, ld);
                solve_block(rows, columns, A + i * ld + i, ld, target, ld);
                for (ptrdiff_t r = 0; r < rows; r++)
                    memcpy(strip + (i + r) * NR, target + r * ld, round_up(columns, W) * sizeof(double));
            }
        }
}

static ptrdiff_t cholesky_strips(ptrdiff_t n, double *A, ptrdiff_t ld, double *strips)
{
    for (ptrdiff_t i0 = 0; i0 < n; i0 += GSSBO_ROWS) {
        subtract_above(n, A, ld, strips, i0, 0, 1);
        const ptrdiff_t status = factor_diagonal(n, A, ld, strips, i0);
        if (status)
            return status;
        divide_rows(n, A, ld, strips, i0, 0, 1);
    }
    return 0;
}

static void solve_transposed_strips(ptrdiff_t n, ptrdiff_t m, const double *U, ptrdiff_t ldu, const double *strips,
                                    double *B, ptrdiff_t ldb)
{
    for (ptrdiff_t i0 = 0; i0 < n; i0 += BLOCK) {
        const ptrdiff_t end = least(i0 + BLOCK, n);
        for (ptrdiff_t p = 0; p < i0; p += DEPTH) /* so much of B stays in the first-level cache */
            for (ptrdiff_t j = 0; j < m; j += NR)
                for (ptrdiff_t i = i0; i < end; i += MR)
                    tile(end - i, m - j, least(DEPTH, i0 - p), strips + upper_strip(i / NR) + p * NR + i % NR, NR,
                         B + p * ldb + j, ldb, B + i * ldb + j, ldb);
        for (ptrdiff_t i = i0; i < end; i += MR) {
            const ptrdiff_t rows = least(MR, end - i);
            for (ptrdiff_t j = 0; j < m; j += NR)
                tile(rows, m - j, i - i0, strips + upper_strip(i / NR) + i0 * NR + i % NR, NR, B + i0 * ldb + j, ldb,
                     B + i * ldb + j, ldb);
            solve_block(rows, m, U + i * ldu + i, ldu, B + i * ldb, ldb);
        }
    }
}

/* Groups part, part + parts, ... of the strips of Z = U^-T; `upper` holds the packed factor. */
static void invert_factor(ptrdiff_t n, const double *U, ptrdiff_t ldu, double *scratch, ptrdiff_t part, ptrdiff_t parts)
{
    const double *const upper = scratch;
    double *const lower = scratch + gssbo_factor_scratch(n);
    const ptrdiff_t n_strips = (n + NR - 1) / NR;
    for (ptrdiff_t first = part * GROUP; first < n_strips; first += parts * GROUP) {
        const ptrdiff_t last = least(first + GROUP, n_strips);
        for (ptrdiff_t i = first * NR; i < n; i += MR) {
            const ptrdiff_t rows = least(MR, n - i);
            for (ptrdiff_t s = first; s < last && s * NR <= i; s++) {
                double *const strip = lower + lower_strip(s, n), *const target = strip + (i - s * NR) * NR;
                memset(target, 0, rows * NR * sizeof(double));
                for (ptrdiff_t r = 0; r < rows && i + r < (s + 1) * NR; r++)
                    target[r * NR + i + r - s * NR] = 1.0;
                tile(rows, NR, i - s * NR, upper + upper_strip(i / NR) + s * NR * NR + i % NR, NR, strip, NR, target,
                     NR);
                solve_block(rows, NR, U + i * ldu + i, ldu, target, NR);
            }
        }
    }
}

/* The same groups of strips of P = Z^T Z, down to the diagonal. */
static void square_factor(ptrdiff_t n, double *P, ptrdiff_t ldp, const double *scratch, ptrdiff_t part, ptrdiff_t parts)
{
    const double *const lower = scratch + gssbo_factor_scratch(n);
    const ptrdiff_t n_strips = (n + NR - 1) / NR;
    for (ptrdiff_t first = part * GROUP; first < n_strips; first += parts * GROUP) {
        const ptrdiff_t last = least(first + GROUP, n_strips);
        for (ptrdiff_t i = 0; i < least(last * NR, n); i += MR) {
            const ptrdiff_t a = i / NR;
            const double *const left = lower + lower_strip(a, n) + i % NR;
            for (ptrdiff_t s = first > a ? first : a; s < last; s++)
                set_tile(n - i, ldp - s * NR, n - s * NR, left + (s - a) * NR * NR, NR, lower + lower_strip(s, n), NR,
                         P + i * ldp + s * NR, ldp);
        }
    }
    if (part == 0) /* columns of the padding that no strip covers */
        for (ptrdiff_t i = 0; i < n; i++)
            memset(P + i * ldp + least(n_strips * NR, ldp), 0, (ldp - least(n_strips * NR, ldp)) * sizeof(double));
}

/* ---- triangular algebra in place: for matrices that stay in the cache -------------------------------- */

static ptrdiff_t cholesky_resident(ptrdiff_t n, double *A, ptrdiff_t ld)
{
    for (ptrdiff_t i = 0; i < n; i += MR) {
        const ptrdiff_t rows = least(MR, n - i), left = i / W * W;
        product_in_place(rows, n - left, i, A + i, ld, A + left, ld, A + i * ld + left, ld);
        const ptrdiff_t status = factor_rows(n, A, ld, i, rows);
        if (status)
            return status;
    }
    return 0;
}

static void solve_transposed_resident(ptrdiff_t n, ptrdiff_t m, const double *U, ptrdiff_t ldu, double *B,
                                      ptrdiff_t ldb)
{
    /* A few columns of tiles at a time: that much of B stays close from the first row to the last. */
    for (ptrdiff_t j = 0; j < m; j += GROUP * NR) {
        const ptrdiff_t columns = least(GROUP * NR, m - j);
        for (ptrdiff_t i = 0; i < n; i += MR) {
            const ptrdiff_t rows = least(MR, n - i);
            product_in_place(rows, columns, i, U + i, ldu, B + j, ldb, B + i * ldb + j, ldb);
            solve_block(rows, columns, U + i * ldu + i, ldu, B + i * ldb + j, ldb);
        }
    }
}

static void invert_resident(ptrdiff_t n, const double *U, ptrdiff_t ldu, double *P, ptrdiff_t ldp, double *Z)
{
    const ptrdiff_t ldz = gssbo_padded(n);
    for (ptrdiff_t i = 0; i < n; i++) {
        memset(Z + i * ldz, 0, least(round_up(i + 1, NR), ldz) * sizeof(double)); /* no more of the row is read */
        Z[i * ldz + i] = 1.0;
    }
    for (ptrdiff_t i = 0; i < n; i += MR) {
        const ptrdiff_t rows = least(MR, n - i);
        /* Column block j of Z is zero above row j: the inner dimension starts there. */
        for (ptrdiff_t j = 0; j < i; j += NR)
            tile(rows, i - j, i - j, U + j * ldu + i, ldu, Z + j * ldz + j, ldz, Z + i * ldz + j, ldz);
        solve_block(rows, i + rows, U + i * ldu + i, ldu, Z + i * ldz, ldz);
    }
    for (ptrdiff_t j = 0; j < ldz; j += NR) /* the padding too: there Z is zero */
        for (ptrdiff_t i = 0; i < least(j + NR, n); i += MR) {
            const ptrdiff_t left = i > j ? j + (i - j) / W * W : j; /* none that is all below the diagonal */
            set_tile(n - i, least(j + NR, ldz) - left, n - j, Z + j * ldz + i, ldz, Z + j * ldz + left, ldz,
                     P + i * ldp + left, ldp);
        }
    for (ptrdiff_t i = 0; ldz < ldp && i < n; i++)
        memset(P + i * ldp + ldz, 0, (ldp - ldz) * sizeof(double));
}

static ptrdiff_t cholesky(ptrdiff_t n, double *A, ptrdiff_t ld, double *strips)
{
    return n <= RESIDENT ? cholesky_resident(n, A, ld) : cholesky_strips(n, A, ld, strips);
}

static void solve_transposed(ptrdiff_t n, ptrdiff_t m, const double *U, ptrdiff_t ldu, const double *strips, double *B,
                             ptrdiff_t ldb)
{
    if (n <= RESIDENT)
        solve_transposed_resident(n, m, U, ldu, B, ldb);
    else
        solve_transposed_strips(n, m, U, ldu, strips, B, ldb);
}

static void solve(ptrdiff_t n, ptrdiff_t m, const double *U, ptrdiff_t ldu, double *B, ptrdiff_t ldb)
{
    for (ptrdiff_t i = n - 1; i >= 0; i--) {
        for (ptrdiff_t q = i + 1; q < n; q++)
            subtract_row(m, U[i * ldu + q], B + q * ldb, B + i * ldb);
        scale_row(m, 1.0 / U[i * ldu + i], B + i * ldb);
    }
}

/* Eight rows are subtracted from what follows in one pass over it, each element in the order of the rows. */
static void substitute(ptrdiff_t n, const double *U, ptrdiff_t ldu, double *restrict y)
{
    for (ptrdiff_t i = 0; i < n; i += 8) {
        const ptrdiff_t rows = least(8, n - i);
        const double *const u = U + i * ldu;
        double *const x = y + i;
        for (ptrdiff_t r = 0; r < rows; r++) {
            x[r] /= u[r * ldu + i + r];
            for (ptrdiff_t q = r + 1; q < rows; q++)
                x[q] -= u[r * ldu + i + q] * x[r];
        }
        ptrdiff_t j = i + rows;
        for (; j + W <= n; j += W) {
            vec left = load(y + j);
            for (ptrdiff_t r = 0; r < 8; r++)
                left -= x[r] * load(u + r * ldu + j);
            store(y + j, left);
        }
        for (; j < n; j++)
            for (ptrdiff_t r = 0; r < 8; r++)
                y[j] -= x[r] * u[r * ldu + j];
    }
}

static void invert(ptrdiff_t n, const double *U, ptrdiff_t ldu, double *P, ptrdiff_t ldp, double *scratch)
{
    if (n > RESIDENT) {
        invert_factor(n, U, ldu, scratch, 0, 1);
        square_factor(n, P, ldp, scratch, 0, 1);
        return;
    }
    invert_resident(n, U, ldu, P, ldp, scratch);
}

/* ---- vectors ----------------------------------------------------------------------------------------- */

static void product_vector(ptrdiff_t k, ptrdiff_t n, const double *A, ptrdiff_t lda, const double *x, double *y)
{
    memset(y, 0, n * sizeof(double));
    ptrdiff_t p = 0;
    for (; p + 4 <= k; p += 4) {
        const double *const a = A + p * lda;
        const double x0 = x[p], x1 = x[p + 1], x2 = x[p + 2], x3 = x[p + 3];
        for (ptrdiff_t j = 0; j < n; j++)
            y[j] += ((x0 * a[j] + x1 * a[lda + j]) + x2 * a[2 * lda + j]) + x3 * a[3 * lda + j];
    }
    for (; p < k; p++)
        for (ptrdiff_t j = 0; j < n; j++)
            y[j] += x[p] * A[p * lda + j];
}

/* Rows i to i + 3 serve twice: as rows (dot products with x) and as columns (added to y). */
static void symmetric_product(ptrdiff_t n, const double *P, ptrdiff_t ldp, const double *x, double *y)
{
    const ptrdiff_t end = round_up(n, W);
    memset(y, 0, gssbo_padded(n) * sizeof(double));
    for (ptrdiff_t i = 0; i < n; i += 4) {
        const ptrdiff_t rows = least(4, n - i), right = round_up(i + rows, W);
        const double *const p = P + i * ldp;
        /* The corner on the diagonal, up to the next whole vector. */
        for (ptrdiff_t r = 0; r < rows; r++) {
            y[i + r] += p[r * ldp + i + r] * x[i + r];
            for (ptrdiff_t j = i + r + 1; j < least(right, n); j++) {
                y[i + r] += p[r * ldp + j] * x[j];
                y[j] += p[r * ldp + j] * x[i + r];
            }
        }
        if (rows < 4)
            break; /* nothing is left to the right of the last rows */
        const double x0 = x[i], x1 = x[i + 1], x2 = x[i + 2], x3 = x[i + 3];
        vec a0 = {0}, a1 = {0}, a2 = {0}, a3 = {0};
        for (ptrdiff_t j = right; j < end; j += W) {
            const vec p0 = load(p + j), p1 = load(p + ldp + j), p2 = load(p + 2 * ldp + j), p3 = load(p + 3 * ldp + j);
            const vec xj = load(x + j);
            a0 += p0 * xj;
            a1 += p1 * xj;
            a2 += p2 * xj;
            a3 += p3 * xj;
            store(y + j, load(y + j) + ((p0 * x0 + p1 * x1) + (p2 * x2 + p3 * x3)));
        }
        y[i] += sum(a0);
        y[i + 1] += sum(a1);
        y[i + 2] += sum(a2);
        y[i + 3] += sum(a3);
    }
}

static void symmetric_products(ptrdiff_t n, const double *P, ptrdiff_t ldp, const double *x, const double *v, double *y,
                               double *w)
{
    const ptrdiff_t end = round_up(n, W);
    memset(y, 0, gssbo_padded(n) * sizeof(double));
    memset(w, 0, gssbo_padded(n) * sizeof(double));
    for (ptrdiff_t i = 0; i < n; i += 4) {
        const ptrdiff_t rows = least(4, n - i), right = round_up(i + rows, W);
        const double *const p = P + i * ldp;
        for (ptrdiff_t r = 0; r < rows; r++) {
            y[i + r] += p[r * ldp + i + r] * x[i + r];
            w[i + r] += p[r * ldp + i + r] * v[i + r];
            for (ptrdiff_t j = i + r + 1; j < least(right, n); j++) {
                const double element = p[r * ldp + j];
                y[i + r] += element * x[j];
                y[j] += element * x[i + r];
                w[i + r] += element * v[j];
                w[j] += element * v[i + r];
            }
        }
        if (rows < 4)
            break;
        vec a[4] = {{0}}, b[4] = {{0}};
        for (ptrdiff_t j = right; j < end; j += W) {
            const vec xj = load(x + j), vj = load(v + j);
            vec yj = load(y + j), wj = load(w + j);
            for (int r = 0; r < 4; r++) {
                const vec element = load(p + r * ldp + j);
                a[r] += element * xj;
                b[r] += element * vj;
                yj += element * x[i + r];
                wj += element * v[i + r];
            }
            store(y + j, yj);
            store(w + j, wj);
        }
        for (int r = 0; r < 4; r++) {
            y[i + r] += sum(a[r]);
            w[i + r] += sum(b[r]);
        }
    }
}

/* ---- changes of a symmetric matrix -------------------------------------------------------------------
 *
 * Four rows at a time: memory hands out several streams faster than one or two. Every row goes to its place front to back,
 * after those above it, so nothing is overwritten before it was read. */
#define INLINE static inline __attribute__((always_inline))

/* What becomes of the element p in row i and column j >= i. */
typedef double element_change(const void *by, ptrdiff_t i, ptrdiff_t j, double p);

/* The same for `rows` rows from i on and columns [from, to), right of the diagonal, and in whole vectors up to `more` beyond
 * that are zero. */
typedef void rows_change(const void *by, ptrdiff_t i, int rows, ptrdiff_t from, ptrdiff_t to, ptrdiff_t more,
                         const double *source, double *target, ptrdiff_t ld);

INLINE void change_rows(const void *by, element_change *element, rows_change *change, ptrdiff_t i, int rows, ptrdiff_t n,
                        ptrdiff_t gap, double *A, ptrdiff_t ld)
{
    double *const target = A + i * ld;
    const double *const before = i < gap ? target : target + ld, *const behind = gap < n ? before + 1 : before;
    const ptrdiff_t right = i + rows, split = gap < n && right < gap ? gap : right;
    for (ptrdiff_t r = 0; r < rows; r++)
        for (ptrdiff_t j = i + r; j < right; j++)
            target[r * ld + j] = element(by, i + r, j, (j < gap ? before : behind)[r * ld + j]);
    change(by, i, rows, right, split, 0, before, target, ld);
    change(by, i, rows, split, n, W - 1, behind, target, ld);
}

INLINE void change_symmetric(const void *by, element_change *element, rows_change *change, ptrdiff_t n, ptrdiff_t gap,
                             double *A, ptrdiff_t ld)
{
    for (ptrdiff_t i = 0; i < n;)
        if (i + 4 <= (i < gap && gap < n ? gap : n)) {
            change_rows(by, element, change, i, 4, n, gap, A, ld);
            i += 4;
        } else {
            change_rows(by, element, change, i, 1, n, gap, A, ld);
            i++;
        }
}

/* Off the diagonal an element stands for two. */
INLINE double update_element(const void *how, ptrdiff_t i, ptrdiff_t j, double p)
{
    const gssbo_update *const by = how;
    p += by->a * by->u[i] * by->u[j];
    by->w[i] += p * by->x[j];
    if (j != i)
        by->w[j] += p * by->x[i];
    p += by->b * by->x[i] * by->x[j];
    by->y[i] += p * by->v[j];
    if (j != i)
        by->y[j] += p * by->v[i];
    if (by->squares) {
        by->squares[i] += p * p;
        if (j != i)
            by->squares[j] += p * p;
    }
    return p;
}

INLINE void update_rows(const gssbo_update *by, int squared, ptrdiff_t i, int rows, ptrdiff_t from, ptrdiff_t to,
                        ptrdiff_t more, const double *source, double *target, ptrdiff_t ld)
{
    if (from >= to)
        return;
    double a[4], b[4], x[4], v[4];
    vec w[4] = {{0}}, y[4] = {{0}}, squares[4] = {{0}};
    for (int r = 0; r < rows; r++) {
        x[r] = by->x[i + r];
        v[r] = by->v[i + r];
        a[r] = by->a * by->u[i + r];
        b[r] = by->b * x[r];
    }
    ptrdiff_t j = from;
    for (; j + W <= to + more; j += W) {
        const vec uj = load(by->u + j), xj = load(by->x + j), vj = load(by->v + j);
        vec wj = load(by->w + j), yj = load(by->y + j), sj = {0};
        for (int r = 0; r < rows; r++) {
            vec p = load(source + r * ld + j) + a[r] * uj;
            w[r] += p * xj;
            wj += p * x[r];
            p += b[r] * xj;
            store(target + r * ld + j, p);
            y[r] += p * vj;
            yj += p * v[r];
            if (squared) {
                squares[r] += p * p;
                sj += p * p;
            }
        }
        store(by->w + j, wj);
        store(by->y + j, yj);
        if (squared)
            store(by->squares + j, load(by->squares + j) + sj);
    }
    for (int r = 0; r < rows; r++) {
        by->w[i + r] += sum(w[r]);
        by->y[i + r] += sum(y[r]);
        if (squared)
            by->squares[i + r] += sum(squares[r]);
    }
    for (; j < to; j++)
        for (int r = 0; r < rows; r++)
            target[r * ld + j] = update_element(by, i + r, j, source[r * ld + j]);
}

INLINE void update_plain(const void *by, ptrdiff_t i, int rows, ptrdiff_t from, ptrdiff_t to, ptrdiff_t more,
                         const double *source, double *target, ptrdiff_t ld)
{
    update_rows(by, 0, i, rows, from, to, more, source, target, ld);
}

INLINE void update_squared(const void *by, ptrdiff_t i, int rows, ptrdiff_t from, ptrdiff_t to, ptrdiff_t more,
                           const double *source, double *target, ptrdiff_t ld)
{
    update_rows(by, 1, i, rows, from, to, more, source, target, ld);
}

static void update_symmetric(ptrdiff_t n, ptrdiff_t gap, double *P, ptrdiff_t ldp, const gssbo_update *by)
{
    memset(by->w, 0, (n + W) * sizeof(double));
    memset(by->y, 0, (n + W) * sizeof(double));
    if (by->squares) {
        memset(by->squares, 0, (n + W) * sizeof(double));
        change_symmetric(by, update_element, update_squared, n, gap, P, ldp);
    } else
        change_symmetric(by, update_element, update_plain, n, gap, P, ldp);
}

/* Of one pair of vectors or of two. */
typedef struct {
    const double *g, *u, *h, *v;
} addition;

INLINE double add_one_element(const void *how, ptrdiff_t i, ptrdiff_t j, double p)
{
    const addition *const by = how;
    return p + (by->g[i] * by->u[j] + by->u[i] * by->g[j]);
}

INLINE double add_two_element(const void *how, ptrdiff_t i, ptrdiff_t j, double p)
{
    const addition *const by = how;
    return add_one_element(how, i, j, p) + (by->h[i] * by->v[j] + by->v[i] * by->h[j]);
}

INLINE void add_rows(const addition *by, int two, ptrdiff_t i, int rows, ptrdiff_t from, ptrdiff_t to, ptrdiff_t more,
                     const double *source, double *target, ptrdiff_t ld)
{
    const double *const g = by->g, *const u = by->u, *const h = by->h, *const v = by->v;
    ptrdiff_t j = from;
    for (; j + W <= to + more; j += W) {
        const vec gj = load(g + j), uj = load(u + j), hj = two ? load(h + j) : gj, vj = two ? load(v + j) : uj;
        for (int r = 0; r < rows; r++) {
            vec p = load(source + r * ld + j) + (g[i + r] * uj + u[i + r] * gj);
            if (two)
                p += h[i + r] * vj + v[i + r] * hj;
            store(target + r * ld + j, p);
        }
    }
    for (; j < to; j++)
        for (int r = 0; r < rows; r++)
            target[r * ld + j] = (two ? add_two_element : add_one_element)(by, i + r, j, source[r * ld + j]);
}

INLINE void add_one(const void *by, ptrdiff_t i, int rows, ptrdiff_t from, ptrdiff_t to, ptrdiff_t more,
                    const double *source, double *target, ptrdiff_t ld)
{
    add_rows(by, 0, i, rows, from, to, more, source, target, ld);
}

INLINE void add_two(const void *by, ptrdiff_t i, int rows, ptrdiff_t from, ptrdiff_t to, ptrdiff_t more,
                    const double *source, double *target, ptrdiff_t ld)
{
    add_rows(by, 1, i, rows, from, to, more, source, target, ld);
}

static void add_symmetric(ptrdiff_t n, ptrdiff_t gap, double *Q, ptrdiff_t ldq, const double *g, const double *u,
                          const double *h, const double *v)
{
    const addition by = {g, u, h, v};
    if (h)
        change_symmetric(&by, add_two_element, add_two, n, gap, Q, ldq);
    else
        change_symmetric(&by, add_one_element, add_one, n, gap, Q, ldq);
}

typedef float single __attribute__((vector_size(8 * W)));
typedef float unaligned_single __attribute__((vector_size(8 * W), aligned(4), may_alias));

static inline single load_single(const float *p)
{
    return *(const unaligned_single *)p;
}

/* Four rows at a time, vector by vector, from the one with the diagonal on: a product reads it all in order. Below the
 * diagonal zeros, on it half the value, as a product uses it once for the row and once for the column. */
static void pack_single(ptrdiff_t n, const double *P, ptrdiff_t ldp, float *packed)
{
    const ptrdiff_t width = 2 * W, end = round_up(n, width);
    for (ptrdiff_t i = 0; i < n; i += 4)
        for (ptrdiff_t j = i / width * width; j < end; j += width)
            for (ptrdiff_t r = i; r < i + 4; r++, packed += width) {
                if (r < n && j > r && j + width <= n)
                    for (ptrdiff_t q = 0; q < width; q++)
                        packed[q] = (float)P[r * ldp + j + q];
                else
                    for (ptrdiff_t q = j; q < j + width; q++)
                        packed[q - j] = r >= n || q >= n || q < r ? 0.0f : (float)P[r * ldp + q] * (q > r ? 1.0f : 0.5f);
            }
}

static void symmetric_product_single(ptrdiff_t n, const float *packed, const float *x, float *y)
{
    const ptrdiff_t width = 2 * W, end = round_up(n, width);
    memset(y, 0, gssbo_padded(n) * sizeof(float));
    for (ptrdiff_t i = 0; i < n; i += 4) {
        single a0 = {0}, a1 = {0}, a2 = {0}, a3 = {0};
        for (ptrdiff_t j = i / width * width; j < end; j += width, packed += 4 * width) {
            const single p0 = load_single(packed), p1 = load_single(packed + width),
                         p2 = load_single(packed + 2 * width), p3 = load_single(packed + 3 * width),
                         xj = load_single(x + j);
            a0 += p0 * xj;
            a1 += p1 * xj;
            a2 += p2 * xj;
            a3 += p3 * xj;
            *(unaligned_single *)(y + j) =
                load_single(y + j) + ((p0 * x[i] + p1 * x[i + 1]) + (p2 * x[i + 2] + p3 * x[i + 3]));
        }
        for (int q = 0; q < 2 * W; q++) {
            y[i] += a0[q];
            y[i + 1] += a1[q];
            y[i + 2] += a2[q];
            y[i + 3] += a3[q];
        }
    }
}

static double dot(ptrdiff_t n, const double *x, const double *y)
{
    vec a0 = {0}, a1 = {0}, a2 = {0}, a3 = {0};
    ptrdiff_t j = 0;
    for (; j + 4 * W <= n; j += 4 * W) {
        a0 += load(x + j) * load(y + j);
        a1 += load(x + j + W) * load(y + j + W);
        a2 += load(x + j + 2 * W) * load(y + j + 2 * W);
        a3 += load(x + j + 3 * W) * load(y + j + 3 * W);
    }
    for (; j + W <= n; j += W)
        a0 += load(x + j) * load(y + j);
    double s = sum((a0 + a1) + (a2 + a3));
    for (; j < n; j++)
        s += x[j] * y[j];
    return s;
}

/* ---- kernel rows ------------------------------------------------------------------------------------- */

static void scale(ptrdiff_t n, ptrdiff_t d, const double *X, const double *centre, const double *lengthscale,
                  ptrdiff_t ld, double *restrict rows, double *restrict columns)
{
    for (ptrdiff_t i = 0; i < n; i++)
        for (ptrdiff_t k = 0; k < d; k++)
            rows[i * d + k] = (X[i * d + k] - centre[k]) / lengthscale[k];
    for (ptrdiff_t k = 0; columns && k < d; k++) {
        for (ptrdiff_t i = 0; i < n; i++)
            columns[k * ld + i] = rows[i * d + k];
        for (ptrdiff_t i = n; i < ld; i++)
            columns[k * ld + i] = 0.0;
    }
}

/* STEPS vectors of columns at once: as many independent sums as hide the latency of a multiply-add. */
#define DISTANCES(STEPS)                                                                                     \
    {                                                                                                        \
        vec a[STEPS] = {{0}};                                                                                \
        for (ptrdiff_t k = 0; k < d; k++) {                                                                  \
            const double *const row = XT + k * ldx + j;                                                      \
            for (int q = 0; q < STEPS; q++) {                                                                \
                const vec u = load(row + q * W) - x[k];                                                      \
                a[q] += u * u;                                                                               \
            }                                                                                                \
        }                                                                                                    \
        for (int q = 0; q < STEPS; q++)                                                                      \
            store(r2 + j + q * W, a[q]);                                                                     \
    }

static void squared_distances(ptrdiff_t n, ptrdiff_t d, const double *XT, ptrdiff_t ldx, const double *x, double *r2)
{
    ptrdiff_t j = 0;
    for (; j + 8 * W <= round_up(n, W); j += 8 * W)
        DISTANCES(8)
    for (; j + W < n; j += 2 * W)
        DISTANCES(2)
    if (j < n)
        DISTANCES(1)
}

/* Distances of ROWS points to STEPS vectors of columns, which they share as they are loaded. */
#define SHARED_DISTANCES(ROWS, STEPS)                                                                        \
    {                                                                                                        \
        vec a[ROWS][STEPS] = {{{0}}};                                                                        \
        for (ptrdiff_t k = 0; k < d; k++)                                                                    \
            for (int v = 0; v < STEPS; v++) {                                                                \
                const vec column = load(XT + k * ldx + j + v * W);                                           \
                for (int q = 0; q < ROWS; q++) {                                                             \
                    const vec u = column - X[(i + q) * d + k];                                               \
                    a[q][v] += u * u;                                                                        \
                }                                                                                            \
            }                                                                                                \
        for (int q = 0; q < ROWS; q++)                                                                       \
            for (int v = 0; v < STEPS; v++)                                                                  \
                store(R2 + (i + q) * ldr + j + v * W, a[q][v]);                                              \
    }

/* Every sum is that of squared_distances, to the bit. */
static void distance_rows(ptrdiff_t m, ptrdiff_t n, ptrdiff_t d, const double *XT, ptrdiff_t ldx, const double *X,
                          double *R2, ptrdiff_t ldr)
{
    ptrdiff_t i = 0, j;
#if MR == 8 /* a quarter faster than four rows and two vectors */
    for (; i + 8 <= m; i += 8)
        for (j = 0; j < n; j += W)
            SHARED_DISTANCES(8, 1)
#endif
    for (; i + 4 <= m; i += 4) {
        for (j = 0; j + W < n; j += 2 * W)
            SHARED_DISTANCES(4, 2)
        if (j < n)
            SHARED_DISTANCES(4, 1)
    }
    for (; i < m; i++)
        squared_distances(n, d, XT, ldx, X + i * d, R2 + i * ldr);
}

/* exp(-t) for 0 <= t <= 700, to 1 ulp or so. Round t log2(e) to an integer by adding 1.5 * 2^52, reduce by ln 2 in two
 * parts, minimax polynomial of degree 11 on [-ln2/2, ln2/2] (relative error 3e-18, found by Remez exchange) in a form
 * with short chains of dependent operations, exponent added as bits. */
static inline double exp_negative(double t)
{
    const double shift = 6755399441055744.0;
    const double shifted = shift - t * 1.4426950408889634074;
    const double whole = shifted - shift;
    const double r = (-t - whole * 6.93147180369123816490e-01) - whole * 1.90821492927058770002e-10;
    const double r2 = r * r, r4 = r2 * r2;
    const double low = (0.50000000000000176848 + 0.16666666666666168582 * r)
                       + (0.041666666666492771607 + 0.0083333333335593065177 * r) * r2;
    const double middle = (0.0013888888951223176368 + 0.00019841269432616396403 * r)
                          + (2.4801486522061584515e-05 + 2.7557622580533687457e-06 * r) * r2;
    const double high = 2.7632293106239458733e-07 + 2.4994290557862628792e-08 * r;
    double p = 1.0 + (r + r2 * (low + r4 * (middle + r4 * high)));
    uint64_t exponent, bits;
    memcpy(&exponent, &shifted, sizeof exponent);
    memcpy(&bits, &p, sizeof bits);
    bits += exponent << 52;
    memcpy(&p, &bits, sizeof p);
    return p;
}

/* Beyond 700 every kernel here is below 1e-298 of its variance; the cap also takes in infinite distances. */
static inline double cap(double t)
{
    return t < 700.0 ? t : 700.0;
}

static void kernel_values(int kind, ptrdiff_t n, double variance, double *restrict r2, double *restrict radial)
{
    switch (kind) {
    case GSSBO_RBF:
        for (ptrdiff_t j = 0; j < n; j++)
            r2[j] = variance * exp_negative(cap(0.5 * r2[j]));
        if (radial != NULL)
            memcpy(radial, r2, n * sizeof(double));
        break;
    case GSSBO_MATERN32:
        if (radial != NULL)
            for (ptrdiff_t j = 0; j < n; j++) {
                const double a = cap(sqrt(3.0 * r2[j])), e = variance * exp_negative(a);
                r2[j] = (1.0 + a) * e;
                radial[j] = 3.0 * e;
            }
        else
            for (ptrdiff_t j = 0; j < n; j++) {
                const double a = cap(sqrt(3.0 * r2[j]));
                r2[j] = (1.0 + a) * (variance * exp_negative(a));
            }
        break;
    default:
        if (radial != NULL)
            for (ptrdiff_t j = 0; j < n; j++) {
                const double a = cap(sqrt(5.0 * r2[j])), e = variance * exp_negative(a);
                r2[j] = ((1.0 / 3.0 * a + 1.0) * a + 1.0) * e;
                radial[j] = (5.0 / 3.0) * (1.0 + a) * e;
            }
        else
            for (ptrdiff_t j = 0; j < n; j++) {
                const double a = cap(sqrt(5.0 * r2[j]));
                r2[j] = ((1.0 / 3.0 * a + 1.0) * a + 1.0) * (variance * exp_negative(a));
            }
    }
}

/* STEPS coordinates at once: they share the weights, and as many sums are under way as hide a latency. */
#define WEIGHTED(STEPS)                                                                                      \
    {                                                                                                        \
        vec a[STEPS];                                                                                        \
        for (int q = 0; q < STEPS; q++)                                                                      \
            a[q] = load(lanes + (k + q) * GSSBO_LANES);                                                      \
        for (ptrdiff_t j = 0; j < n; j += W) {                                                               \
            const vec weight = load(w + j);                                                                  \
            for (int q = 0; q < STEPS; q++) {                                                                \
                const vec u = load(XT + (k + q) * ldx + j) - x[k + q];                                       \
                a[q] += weight * (u * u);                                                                    \
            }                                                                                                \
        }                                                                                                    \
        for (int q = 0; q < STEPS; q++)                                                                      \
            store(lanes + (k + q) * GSSBO_LANES, a[q]);                                                      \
    }

static void weighted_squares(ptrdiff_t n, ptrdiff_t d, const double *XT, ptrdiff_t ldx, const double *x,
                             const double *w, double *lanes)
{
    ptrdiff_t k = 0;
    for (; k + 8 <= d; k += 8)
        WEIGHTED(8)
    for (; k + 4 <= d; k += 4)
        WEIGHTED(4)
    for (; k < d; k++)
        WEIGHTED(1)
}

static void likelihood_weights(ptrdiff_t n, double a, const double *restrict alpha, const double *restrict P,
                               const double *restrict radial, double *restrict w)
{
    for (ptrdiff_t j = 0; j < n; j++)
        w[j] = (a * alpha[j] - P[j]) * radial[j];
}

/* Tiles of four observations and a few coordinates, whose inner dimension ends where the weights do. */
static void weighted_products(ptrdiff_t m, ptrdiff_t n, ptrdiff_t d, const double *w, ptrdiff_t ldw, const double *X,
                              ptrdiff_t ldx, double *lanes)
{
    double T[MR * NR], sums[NR];
    for (ptrdiff_t k = 0; k < d; k += NR) {
        const ptrdiff_t columns = least(NR, d - k);
        vec total[VECTORS] = {{0}};
        for (ptrdiff_t j = 0; j < n; j += MR) {
            set_tile(n - j, columns, least(m, j + MR), w + j, ldw, X + k, ldx, T, NR);
            for (ptrdiff_t r = 0; r < least(MR, n - j); r++)
                for (ptrdiff_t v = 0; v * W < columns; v++)
                    total[v] += load(T + r * NR + v * W) * load(X + (j + r) * ldx + k + v * W);
        }
        for (ptrdiff_t v = 0; v * W < columns; v++)
            store(sums + v * W, total[v]);
        for (ptrdiff_t q = 0; q < columns; q++)
            lanes[(k + q) * GSSBO_LANES] += sums[q];
    }
}

static double balanced_weights(ptrdiff_t n, double a, const double *restrict alpha, const double *restrict P,
                               const double *restrict radial, double *restrict w, double *restrict totals)
{
    vec total = {0};
    ptrdiff_t j = 0;
    for (; j + W <= n; j += W) {
        const vec weight = (a * load(alpha + j) - load(P + j)) * load(radial + j);
        store(w + j, weight);
        store(totals + j, load(totals + j) + weight);
        total += weight;
    }
    double s = sum(total);
    for (; j < n; j++) {
        w[j] = (a * alpha[j] - P[j]) * radial[j];
        totals[j] += w[j];
        s += w[j];
    }
    return s;
}

static void add_scaled(ptrdiff_t n, double a, const double *restrict x, double *restrict y)
{
    for (ptrdiff_t j = 0; j < n; j++)
        y[j] += a * x[j];
}

typedef int64_t lanes __attribute__((vector_size(8 * W)));

static void add_rows_and_max(ptrdiff_t rows, ptrdiff_t n, const double *a, const double *X, ptrdiff_t ldx, double *y,
                             double *largest)
{
    for (ptrdiff_t j = 0; j < n; j += W) {
        vec total = load(y + j), most = load(largest + j);
        for (ptrdiff_t t = 0; t < rows; t++) {
            const vec x = load(X + t * ldx + j);
            const lanes more = x > most;
            total += a[t] * x;
            most = (vec)((more & (lanes)x) | (~more & (lanes)most));
        }
        store(y + j, total);
        store(largest + j, most);
    }
}

/* ---- correlations in single precision ---------------------------------------------------------------- */

static inline int32_t bits_of(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float float_of(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Numbers that are not negative are in the order of their bits, of which the smaller is one instruction. */
static inline float cap_single(float t, float most)
{
    return float_of(bits_of(t) < bits_of(most) ? bits_of(t) : bits_of(most));
}

static inline float larger_single(float x, float y)
{
    return float_of(bits_of(x) > bits_of(y) ? bits_of(x) : bits_of(y));
}

/* 2^(-scale t) for 0 <= scale t <= 126: split at the integer next to it; minimax polynomial of degree 5 on
 * [-1/2, 1/2] (relative error 7.3 * 2^-24, found by Remez exchange), the integer added to the exponent. */
static inline float power_single(float scale, float t)
{
    const float shift = 12582912.0f; /* 1.5 * 2^23 */
    const float shifted = shift - scale * t, whole = shifted - shift;
    const float f = -scale * t - whole, f2 = f * f;
    const float low = (0.6931428304f + 0.2402235064f * f) + (0.05557400614f + 0.009666283488f * f) * f2;
    return float_of(bits_of(1.0f + f * (low + 0.0011125508f * (f2 * f2))) + (int32_t)((uint32_t)bits_of(shifted) << 23));
}

/* s -> R in place, for s as add_correlations_single has it. */
static inline void correlations_single(int kind, ptrdiff_t n, float *s)
{
    const float log2_e = 1.44269504f;
    switch (kind) {
    case GSSBO_RBF:
        for (ptrdiff_t j = 0; j < n; j++)
            s[j] = power_single(1.0f, cap_single(s[j], 125.0f));
        break;
    case GSSBO_MATERN32:
        for (ptrdiff_t j = 0; j < n; j++) {
            const float a = sqrtf(cap_single(s[j], 7500.0f));
            s[j] = (1.0f + a) * power_single(log2_e, a);
        }
        break;
    default:
        for (ptrdiff_t j = 0; j < n; j++) {
            const float a = sqrtf(cap_single(s[j], 7500.0f));
            s[j] = ((0.333333333f * a + 1.0f) * a + 1.0f) * power_single(log2_e, a);
        }
    }
}

static double scale_single(ptrdiff_t n, ptrdiff_t d, const double *X, const double *centre, const double *factor,
                           ptrdiff_t ld, float *restrict columns)
{
    double most = 0.0;
    for (ptrdiff_t i = 0; i < n; i += GSSBO_PAD) {
        const ptrdiff_t size = least(GSSBO_PAD, n - i);
        double squares[GSSBO_PAD] = {0};
        for (ptrdiff_t k = 0; k < d; k++)
            for (ptrdiff_t q = 0; q < size; q++) {
                const double x = (X[(i + q) * d + k] - centre[k]) * factor[k];
                columns[k * ld + i + q] = (float)x;
                squares[q] += x * x;
            }
        for (ptrdiff_t q = 0; q < size; q++)
            most = squares[q] > most || isnan(squares[q]) ? squares[q] : most;
    }
    for (ptrdiff_t k = 0; k < d; k++)
        for (ptrdiff_t i = n; i < ld; i++)
            columns[k * ld + i] = 0.0f;
    return sqrt(most);
}

static void add_correlations_single(int kind, ptrdiff_t n, ptrdiff_t d, const float *XT, ptrdiff_t ldx, const float *X,
                                    const float *a, double *y, float *largest)
{
    enum { WIDTH = 2 * W, STEP = 2 * WIDTH };
    float s[4][STEP];
    for (ptrdiff_t j = 0; j < n; j += STEP) {
        single r2[4][2] = {{{0}}};
        for (ptrdiff_t c = 0; c < d; c++) {
            const single left = load_single(XT + c * ldx + j), right = load_single(XT + c * ldx + j + WIDTH);
            for (int q = 0; q < 4; q++) {
                const float x = X[q * d + c];
                const single u = left - x, v = right - x;
                r2[q][0] += u * u;
                r2[q][1] += v * v;
            }
        }
        memcpy(s, r2, sizeof s);
        correlations_single(kind, 4 * STEP, s[0]);
        for (ptrdiff_t q = 0; q < STEP; q++)
            y[j + q] += (double)((a[0] * s[0][q] + a[1] * s[1][q]) + (a[2] * s[2][q] + a[3] * s[3][q]));
        for (int t = 0; t < 4; t++)
            for (ptrdiff_t q = 0; q < STEP; q++)
                largest[j + q] = larger_single(largest[j + q], s[t][q]);
    }
}

static void add_squares(ptrdiff_t n, const double *restrict x, double *restrict y)
{
    for (ptrdiff_t j = 0; j < n; j++)
        y[j] += x[j] * x[j];
}

/* ---- pivoted factor ---------------------------------------------------------------------------------- */

static void downdate(ptrdiff_t rows, ptrdiff_t n, const double *L, ptrdiff_t ldl, const double *c, double *S, double *r,
                     const double *form, double floor, double *scores, ptrdiff_t lds)
{
    const vec nothing = (vec){0} - (double)INFINITY;
    for (ptrdiff_t j = 0; j < n; j += W) {
        vec s = load(S + j), u = load(r + j);
        for (ptrdiff_t t = 0; t < rows; t++) {
            const vec l = load(L + t * ldl + j);
            s -= l * l;
            u -= c[t] * l;
            if (scores != NULL) {
                const vec score = (form[0] * s + form[1] * (u * u)) / (form[2] * s + form[3]);
                const lanes open = s > floor;
                store(scores + t * lds + j, (vec)((open & (lanes)score) | (~open & (lanes)nothing)));
            }
        }
        store(S + j, s);
        store(r + j, u);
    }
}

static double largest(ptrdiff_t n, const double *x)
{
    vec most = (vec){0} - (double)INFINITY;
    for (ptrdiff_t j = 0; j < n; j += W) {
        const vec v = load(x + j);
        const lanes more = v > most;
        most = (vec)((more & (lanes)v) | (~more & (lanes)most));
    }
    double result = most[0];
    for (int q = 1; q < W; q++)
        result = most[q] > result ? most[q] : result;
    return result;
}

const gssbo_simd_table GSSBO_TABLE = {
    .name = GSSBO_NAME,
    .subtract_product = subtract_product,
    .cholesky = cholesky,
    .pack_factor = pack_factor,
    .solve_transposed = solve_transposed,
    .solve = solve,
    .substitute = substitute,
    .subtract_above = subtract_above,
    .factor_diagonal = factor_diagonal,
    .divide_rows = divide_rows,
    .invert = invert,
    .invert_factor = invert_factor,
    .square_factor = square_factor,
    .product_vector = product_vector,
    .symmetric_product = symmetric_product,
    .symmetric_products = symmetric_products,
    .update_symmetric = update_symmetric,
    .add_symmetric = add_symmetric,
    .pack_single = pack_single,
    .symmetric_product_single = symmetric_product_single,
    .dot = dot,
    .scale = scale,
    .squared_distances = squared_distances,
    .distance_rows = distance_rows,
    .kernel_values = kernel_values,
    .weighted_squares = weighted_squares,
    .likelihood_weights = likelihood_weights,
    .balanced_weights = balanced_weights,
    .weighted_products = weighted_products,
    .add_scaled = add_scaled,
    .add_rows_and_max = add_rows_and_max,
    .scale_single = scale_single,
    .add_correlations_single = add_correlations_single,
    .add_squares = add_squares,
    .downdate = downdate,
    .largest = largest,
};

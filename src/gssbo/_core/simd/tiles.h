/* Tiles: C (rows, vectors W) -= A (k, rows)^T B (k, vectors W), and C = A^T B; C = U^-T (C - A^T B) with U (rows, rows).
 *
 * The one product form is C -= A^T B with A and B row-major: both operands are then read along rows, so no transposition
 * is ever needed. Cholesky, solves, the inverse factor and the precision are all built on it.
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

/* A B that begins on the diagonal of a lower triangle has stairs: its v-th vector is zero in the first v W rows, and these
 * are left out. */
#define STEPS(R, V, UPDATE, END)                                                                             \
    for (; p < END; p++, A += lda, B += ldb) {                                                               \
        OPERAND_##V                                                                                          \
        ROWS_##R(UPDATE##_##V)                                                                               \
    }
#define STAIRS_1(R, UPDATE)
#define STAIRS_2(R, UPDATE) STEPS(R, 1, UPDATE, least(k, W))
#define STAIRS_3(R, UPDATE) STAIRS_2(R, UPDATE) STEPS(R, 2, UPDATE, least(k, 2 * W))
#define ALL_STEPS(R, V, UPDATE)                                                                              \
    ptrdiff_t p = 0;                                                                                         \
    if (stairs) {                                                                                            \
        STAIRS_##V(R, UPDATE)                                                                                \
    }                                                                                                        \
    STEPS(R, V, UPDATE, k)

/* C = U^-T C for an upper triangle U (rows, ldu) with the inverse of its diagonal: the rows above are subtracted in their
 * order. */
#define ABOVE_0(X, r)
#define ABOVE_1(X, r) X(0, r)
#define ABOVE_2(X, r) ABOVE_1(X, r) X(1, r)
#define ABOVE_3(X, r) ABOVE_2(X, r) X(2, r)
#define ABOVE_4(X, r) ABOVE_3(X, r) X(3, r)
#define ABOVE_5(X, r) ABOVE_4(X, r) X(4, r)
#define ABOVE_6(X, r) ABOVE_5(X, r) X(5, r)
#define ABOVE_7(X, r) ABOVE_6(X, r) X(6, r)
#define ELIMINATE_1(q, r) c##r -= U[q * ldu + r] * c##q;
#define ELIMINATE_2(q, r) ELIMINATE_1(q, r) d##r -= U[q * ldu + r] * d##q;
#define ELIMINATE_3(q, r) ELIMINATE_2(q, r) e##r -= U[q * ldu + r] * e##q;
#define SCALE_1(r) c##r *= inverse[r];
#define SCALE_2(r) SCALE_1(r) d##r *= inverse[r];
#define SCALE_3(r) SCALE_2(r) e##r *= inverse[r];
#define DIVIDE_1(r) ABOVE_##r(ELIMINATE_1, r) SCALE_1(r)
#define DIVIDE_2(r) ABOVE_##r(ELIMINATE_2, r) SCALE_2(r)
#define DIVIDE_3(r) ABOVE_##r(ELIMINATE_3, r) SCALE_3(r)

#define DEFINE_TILE(NAME, R, V, BEGIN, UPDATE)                                                               \
    static void NAME##_##R##_##V(bool stairs, ptrdiff_t k, const double *A, ptrdiff_t lda, const double *B,  \
                                 ptrdiff_t ldb, double *C, ptrdiff_t ldc)                                    \
    {                                                                                                        \
        ROWS_##R(BEGIN##_##V)                                                                                \
        ALL_STEPS(R, V, UPDATE)                                                                              \
        ROWS_##R(STORE_##V)                                                                                  \
    }

#define DEFINE_DIVIDED_TILE(R, V)                                                                            \
    static void divided_##R##_##V(bool stairs, ptrdiff_t k, const double *A, ptrdiff_t lda, const double *B, \
                                  ptrdiff_t ldb, const double *U, ptrdiff_t ldu, const double *inverse,      \
                                  double *C, ptrdiff_t ldc)                                                  \
    {                                                                                                        \
        ROWS_##R(LOAD_##V)                                                                                   \
        ALL_STEPS(R, V, SUBTRACT)                                                                            \
        ROWS_##R(DIVIDE_##V)                                                                                 \
        ROWS_##R(STORE_##V)                                                                                  \
    }

#define DEFINE_TILES_OF(R, V)                                                                                \
    DEFINE_TILE(less, R, V, LOAD, SUBTRACT) DEFINE_TILE(product, R, V, ZERO, ADD) DEFINE_DIVIDED_TILE(R, V)
#if VECTORS == 3
#define DEFINE_TILES(R) DEFINE_TILES_OF(R, 1) DEFINE_TILES_OF(R, 2) DEFINE_TILES_OF(R, 3)
#define TILES(NAME, R) {NAME##_##R##_1, NAME##_##R##_2, NAME##_##R##_3}
#else
#define DEFINE_TILES(R) DEFINE_TILES_OF(R, 1) DEFINE_TILES_OF(R, 2)
#define TILES(NAME, R) {NAME##_##R##_1, NAME##_##R##_2}
#endif

typedef void tile_function(bool, ptrdiff_t, const double *, ptrdiff_t, const double *, ptrdiff_t, double *, ptrdiff_t);
typedef void divided_tile_function(bool, ptrdiff_t, const double *, ptrdiff_t, const double *, ptrdiff_t, const double *,
                                   ptrdiff_t, const double *, double *, ptrdiff_t);

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
static divided_tile_function *const dividing[MR][VECTORS] = ALL_TILES(divided);

/* C -= A^T B in the tile at the left of `rows` rows and `columns` columns: at most MR, and whole vectors up to NR. */
static inline void tile(ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t k, const double *A, ptrdiff_t lda,
                        const double *B, ptrdiff_t ldb, double *C, ptrdiff_t ldc)
{
    subtracting[least(MR, rows) - 1][least(NR, columns + W - 1) / W - 1](false, k, A, lda, B, ldb, C, ldc);
}

/* C = A^T B in the same tile; B may have stairs. */
static inline void set_tile(bool stairs, ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t k, const double *A, ptrdiff_t lda,
                            const double *B, ptrdiff_t ldb, double *C, ptrdiff_t ldc)
{
    setting[least(MR, rows) - 1][least(NR, columns + W - 1) / W - 1](stairs, k, A, lda, B, ldb, C, ldc);
}

/* C = U^-T (C - A^T B) in the same tile, for the triangle U in its rows. */
static inline void divide_tile(bool stairs, ptrdiff_t rows, ptrdiff_t columns, ptrdiff_t k, const double *A,
                               ptrdiff_t lda, const double *B, ptrdiff_t ldb, const double *U, ptrdiff_t ldu,
                               const double *inverse, double *C, ptrdiff_t ldc)
{
    dividing[least(MR, rows) - 1][least(NR, columns + W - 1) / W - 1](stairs, k, A, lda, B, ldb, U, ldu, inverse, C, ldc);
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

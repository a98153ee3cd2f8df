/* Tiles: C (rows, vectors W) -= A (k, rows)^T B (k, vectors W), and C = A^T B.
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

/* Vectors of one instruction set, and the loops that pass over one or two of them.
 *
 * W doubles a vector; a tile is MR rows by VECTORS W columns, all accumulators in registers. There must be enough of
 * them to hide the latency of a multiply-add: with AVX2 a tile of three vectors is a fifth faster than of two.
 */
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
typedef int64_t lanes __attribute__((vector_size(8 * W)));
typedef float single __attribute__((vector_size(8 * W)));
typedef float unaligned_single __attribute__((vector_size(8 * W), aligned(4), may_alias));

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

static inline single load_single(const float *p)
{
    return *(const unaligned_single *)p;
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

static void add_scaled(ptrdiff_t n, double a, const double *restrict x, double *restrict y)
{
    for (ptrdiff_t j = 0; j < n; j++)
        y[j] += a * x[j];
}

static void add_squares(ptrdiff_t n, const double *restrict x, double *restrict y)
{
    for (ptrdiff_t j = 0; j < n; j++)
        y[j] += x[j] * x[j];
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

/* Products with a symmetric matrix, of which the upper triangle is read, and changes of one. */

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

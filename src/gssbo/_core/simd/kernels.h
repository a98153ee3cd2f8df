/* Rows of kernel values, and the sums over pairs that a likelihood's gradient is made of. */

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

/* Tiles of MR observations and a few coordinates, or of a few coordinates and NR observations where that leaves less of a
 * vector unused; their inner dimension ends where the weights do. */
static void weighted_products(ptrdiff_t m, ptrdiff_t n, ptrdiff_t d, const double *w, ptrdiff_t ldw, const double *X,
                              ptrdiff_t ldx, double *lanes)
{
    double T[MR * NR], sums[NR];
    const ptrdiff_t few = d % W < W / 2 ? d % W : 0;
    for (ptrdiff_t k = 0; k < d - few; k += NR) {
        const ptrdiff_t columns = least(NR, d - few - k);
        vec total[VECTORS] = {{0}};
        for (ptrdiff_t j = 0; j < n; j += MR) {
            set_tile(false, n - j, columns, least(m, j + MR), w + j, ldw, X + k, ldx, T, NR);
            for (ptrdiff_t r = 0; r < least(MR, n - j); r++)
                for (ptrdiff_t v = 0; v * W < columns; v++)
                    total[v] += load(T + r * NR + v * W) * load(X + (j + r) * ldx + k + v * W);
        }
        for (ptrdiff_t v = 0; v * W < columns; v++)
            store(sums + v * W, total[v]);
        for (ptrdiff_t q = 0; q < columns; q++)
            lanes[(k + q) * GSSBO_LANES] += sums[q];
    }
    vec total[W / 2] = {{0}}; /* of which the first element counts: rounded like those above */
    for (ptrdiff_t j = 0; few > 0 && j < n; j += NR) {
        set_tile(false, few, n - j, least(m, j + NR), X + d - few, ldx, w + j, ldw, T, NR);
        for (ptrdiff_t r = 0; r < least(NR, n - j); r++)
            for (ptrdiff_t q = 0; q < few; q++)
                total[q] += load(T + q * NR + r) * X[(j + r) * ldx + d - few + q];
    }
    for (ptrdiff_t q = 0; q < few; q++)
        lanes[(d - few + q) * GSSBO_LANES] += total[q][0];
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

/* Correlations in single precision. */

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

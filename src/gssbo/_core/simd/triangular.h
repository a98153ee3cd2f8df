/* Triangular algebra: the factor, its inverse and its solves. */

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

/* inverse[r] = 1 / U[r, r]. */
static inline void invert_diagonal(ptrdiff_t rows, const double *U, ptrdiff_t ldu, double *inverse)
{
    for (ptrdiff_t r = 0; r < rows; r++)
        inverse[r] = 1.0 / U[r * ldu + r];
}

/* The factor of a square (rows, rows) on the diagonal, and the inverse of its diagonal. Returns 0, or r + 1 when pivot r is
 * not positive. Scalars, not vectors: one pivot waits for the other. */
static inline ptrdiff_t factor_square(ptrdiff_t rows, double *A, ptrdiff_t ld, double *inverse)
{
    double S[MR][MR];
    for (ptrdiff_t r = 0; r < rows; r++)
        for (ptrdiff_t q = r; q < rows; q++)
            S[r][q] = A[r * ld + q];
    for (ptrdiff_t r = 0; r < rows; r++) {
        const double pivot = S[r][r];
        if (!(pivot > 0.0) || !isfinite(pivot))
            return r + 1;
        const double root = sqrt(pivot);
        inverse[r] = 1.0 / root;
        A[r * ld + r] = root;
        for (ptrdiff_t q = r + 1; q < rows; q++)
            A[r * ld + q] = S[r][q] *= inverse[r];
        for (ptrdiff_t q = r + 1; q < rows; q++)
            for (ptrdiff_t c = q; c < rows; c++)
                S[q][c] -= S[r][q] * S[r][c];
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
        double *const U = A + i * ld + i, inverse[MR];
        const ptrdiff_t status = factor_square(rows, U, ld, inverse);
        if (status)
            return i + status;
        for (ptrdiff_t j = i + rows; j < right; j += NR)
            divide_tile(false, rows, right - j, 0, A, ld, A, ld, U, ld, inverse, A + i * ld + j, ld);
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
            double inverse[MR];
            invert_diagonal(rows, A + i * ld + i, ld, inverse);
            for (ptrdiff_t s = first; s < least(first + GROUP, n_strips); s++) {
                double *const strip = strips + upper_strip(s), *const target = A + i * ld + s * NR;
                const ptrdiff_t columns = least(NR, n - s * NR);
                divide_tile(false, rows, columns, i, strips + upper_strip(i / NR) + i % NR, NR, strip, NR,
                            A + i * ld + i, ld, inverse, target, ld);
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
            double inverse[MR];
            invert_diagonal(rows, U + i * ldu + i, ldu, inverse);
            for (ptrdiff_t j = 0; j < m; j += NR)
                divide_tile(false, rows, m - j, i - i0, strips + upper_strip(i / NR) + i0 * NR + i % NR, NR,
                            B + i0 * ldb + j, ldb, U + i * ldu + i, ldu, inverse, B + i * ldb + j, ldb);
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
            double inverse[MR];
            invert_diagonal(rows, U + i * ldu + i, ldu, inverse);
            for (ptrdiff_t s = first; s < last && s * NR <= i; s++) {
                double *const strip = lower + lower_strip(s, n), *const target = strip + (i - s * NR) * NR;
                memset(target, 0, rows * NR * sizeof(double));
                for (ptrdiff_t r = 0; r < rows && i + r < (s + 1) * NR; r++)
                    target[r * NR + i + r - s * NR] = 1.0;
                divide_tile(true, rows, NR, i - s * NR, upper + upper_strip(i / NR) + s * NR * NR + i % NR, NR, strip, NR,
                            U + i * ldu + i, ldu, inverse, target, NR);
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
                set_tile(true, n - i, ldp - s * NR, n - s * NR, left + (s - a) * NR * NR, NR, lower + lower_strip(s, n), NR,
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
        const ptrdiff_t rows = least(MR, n - i), right = least(i + NR, n);
        double *const U = A + i * ld + i, inverse[MR];
        tile(rows, right - i, i, A + i, ld, A + i, ld, U, ld);
        const ptrdiff_t status = factor_square(rows, U, ld, inverse);
        if (status)
            return i + status;
        if (i + rows < right)
            divide_tile(false, rows, right - i - rows, 0, A, ld, A, ld, U, ld, inverse, U + rows, ld);
        for (ptrdiff_t j = right; j < n; j += NR)
            divide_tile(false, rows, n - j, i, A + i, ld, A + j, ld, U, ld, inverse, A + i * ld + j, ld);
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
            double inverse[MR];
            invert_diagonal(rows, U + i * ldu + i, ldu, inverse);
            for (ptrdiff_t q = j; q < j + columns; q += NR)
                divide_tile(false, rows, j + columns - q, i, U + i, ldu, B + q, ldb, U + i * ldu + i, ldu, inverse,
                            B + i * ldb + q, ldb);
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
        double inverse[MR];
        invert_diagonal(rows, U + i * ldu + i, ldu, inverse);
        /* Column block j of Z is zero above row j: the inner dimension starts there. */
        for (ptrdiff_t j = 0; j < i + rows; j += NR)
            divide_tile(true, rows, i + rows - j, i > j ? i - j : 0, U + j * ldu + i, ldu, Z + j * ldz + j, ldz,
                        U + i * ldu + i, ldu, inverse, Z + i * ldz + j, ldz);
    }
    for (ptrdiff_t j = 0; j < ldz; j += NR) /* the padding too: there Z is zero */
        for (ptrdiff_t i = 0; i < least(j + NR, n); i += MR) {
            const ptrdiff_t left = i > j ? j + (i - j) / W * W : j; /* none that is all below the diagonal */
            set_tile(left == j, n - i, least(j + NR, ldz) - left, n - j, Z + j * ldz + i, ldz, Z + j * ldz + left, ldz,
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

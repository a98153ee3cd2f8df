/* The pivoted factor of a pool, a row at a time. */

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

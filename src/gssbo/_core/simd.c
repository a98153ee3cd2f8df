/* See simd.h. Built once per instruction set, with GSSBO_TABLE naming the table and the compiler flags deciding the width
 * of a vector; one translation unit, so that what is small is inlined. */
#include "simd.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "simd/vectors.h"

#include "simd/tiles.h"

#include "simd/correlations.h"
#include "simd/kernels.h"
#include "simd/pivots.h"
#include "simd/symmetric.h"
#include "simd/triangular.h"

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

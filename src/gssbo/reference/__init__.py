"""The whole method in plain NumPy and SciPy, written to be read beside the paper.

Nothing here is fast and nothing here imports the rest of the package: tests use it as the oracle. Section,
equation, theorem and line numbers refer to [1]; "ours" marks a choice that [1] leaves open. Docstrings are
brief on purpose: one statement, the shapes, the place in [1]. The order of [1] is that of `gp`, `embedding`,
`selection`, `acquisition` and `gap`; `loop` has Algorithm 1, the place to begin.

Notation (everything is maximised; inputs live in the unit cube)::

    n, d, m, M   observations, input dimensions, query points (candidates), size of the retained subset
    X, Q         observed inputs (n, d); query inputs (m, d)
    y, z         responses (n,); the same minus their mean, over their standard deviation
    theta        natural log of lengthscales (d), variance, noise, in that order: (d + 2,)
    K, K_y       kernel matrix (n, n); K + noise * I, where noise is a variance
    P            precision, the inverse of K_y (n, n)
    g_i, s_i     sensitivity embedding -P e_i (n,); response score -(P z)_i
    C, h_i       cosines between embeddings (n, n), whose Gram matrix is P^2; sum of C_ij over the retained j
    U, R         retained and discarded observations (Section 5), with the blocks A, B, C, S of K_y

[1] Wei, Wang, Cao, Wang, Allmendinger, Alvarez. Gradient-based Sample Selection for Faster Bayesian
    Optimization. TMLR, 2026.

>>> import numpy as np
>>> theta = np.log([0.5, 0.5, 1.0, 1e-4])
>>> run = reference_loop(lambda x: x @ x, [(-1, 2), (-1, 2)], 14, n_init=5, subset_size=8, theta=theta, rng=0)
>>> run.X.shape, run.M, run.retained[-1].size
((14, 2), 8, 8)
"""

from gssbo.reference.acquisition import ACQUISITIONS, ei, log_ei, log_h, pi, ucb
from gssbo.reference.embedding import (
    append_point,
    cosines,
    embeddings,
    rank_one,
    remove_point,
    response_scores,
    swap_point,
)
from gssbo.reference.gap import mean_gap, posterior_gap, variance_gap
from gssbo.reference.gp import (
    KERNELS,
    fit_theta,
    kernel_matrix,
    log_marginal_likelihood,
    noisy_covariance,
    posterior,
    posterior_covariance,
    precision,
    scaled_squares,
    standardise,
    unpack,
)
from gssbo.reference.loop import (
    Run,
    bulk_indices,
    forced_indices,
    pool_indices,
    reference_loop,
    switch_now,
    to_unit,
    to_user,
)
from gssbo.reference.selection import (
    conditional,
    exchange_members,
    fill,
    greedy_cosine,
    lowest,
    select,
    select_kmeans,
    select_maxmin,
    select_pivots,
    select_random,
    select_scalar,
    select_topk_random,
    select_vector,
    sufficient_size,
)

__all__ = [
    "ACQUISITIONS",
    "KERNELS",
    "Run",
    "append_point",
    "bulk_indices",
    "conditional",
    "cosines",
    "ei",
    "embeddings",
    "exchange_members",
    "fill",
    "fit_theta",
    "forced_indices",
    "greedy_cosine",
    "kernel_matrix",
    "log_ei",
    "log_h",
    "log_marginal_likelihood",
    "lowest",
    "mean_gap",
    "noisy_covariance",
    "pi",
    "pool_indices",
    "posterior",
    "posterior_covariance",
    "posterior_gap",
    "precision",
    "rank_one",
    "reference_loop",
    "remove_point",
    "response_scores",
    "scaled_squares",
    "select",
    "select_kmeans",
    "select_maxmin",
    "select_pivots",
    "select_random",
    "select_scalar",
    "select_topk_random",
    "select_vector",
    "standardise",
    "sufficient_size",
    "swap_point",
    "switch_now",
    "to_unit",
    "to_user",
    "ucb",
    "unpack",
    "variance_gap",
]

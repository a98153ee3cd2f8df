"""The whole method in plain NumPy and SciPy, written to be read beside the paper.

Nothing here is fast and nothing here imports the rest of the package: tests use it as the oracle. Section,
equation, theorem and line numbers refer to [1]; "ours" marks a choice that [1] leaves open. Docstrings are
brief on purpose: one statement, the shapes, the place in [1].

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

>>> theta = np.log([0.5, 0.5, 1.0, 1e-4])
>>> run = reference_loop(lambda x: x @ x, [(-1, 2), (-1, 2)], 14, n_init=5, subset_size=8, theta=theta, rng=0)
>>> run.X.shape, run.M, run.retained[-1].size
((14, 2), 8, 8)
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize
from scipy.special import erfcx, ndtr
from scipy.stats import qmc

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Positions = Sequence[int] | Indices
TIE = 1e-9  # values this close count as equal, and the lowest index wins (ours)

# ---- Gaussian process (Appendix B) -------------------------------------------------------------------------
# name -> (R(r), -R'(r) / r): the correlation, and what turns (x_k - x'_k)^2 / l_k^2 into dR / dlog l_k
R5, R3 = np.sqrt(5), np.sqrt(3)
KERNELS: dict[str, tuple[Callable[[Array], Array], Callable[[Array], Array]]] = {
    "matern52": (
        lambda r: (1 + R5 * r + 5 / 3 * r**2) * np.exp(-R5 * r),
        lambda r: 5 / 3 * (1 + R5 * r) * np.exp(-R5 * r),
    ),
    "matern32": (lambda r: (1 + R3 * r) * np.exp(-R3 * r), lambda r: 3 * np.exp(-R3 * r)),
    "rbf": (lambda r: np.exp(-(r**2) / 2), lambda r: np.exp(-(r**2) / 2)),
}


def unpack(theta: Array) -> tuple[Array, float, float]:
    """Lengthscales (d,), variance, noise from theta (d + 2,)."""
    values = np.exp(theta)
    return values[:-2], float(values[-2]), float(values[-1])


def scaled_squares(X: Array, Q: Array, lengthscales: Array) -> Array:
    """((x_k - q_k) / l_k)^2 for every dimension k, by direct differences, (d, n, m)."""
    return np.stack([(np.subtract.outer(X[:, k], Q[:, k]) / s) ** 2 for k, s in enumerate(lengthscales)])


def kernel_matrix(X: Array, Q: Array, theta: Array, kernel: str = "matern52") -> Array:
    """k(X, Q) = variance * R(r) with r^2 the sum of the scaled squares, (n, m); no noise."""
    lengthscales, variance, _ = unpack(theta)
    return variance * KERNELS[kernel][0](np.sqrt(scaled_squares(X, Q, lengthscales).sum(axis=0)))


def noisy_covariance(X: Array, theta: Array, kernel: str = "matern52") -> Array:
    """K_y = K + noise * I, (n, n) (Section 4.1)."""
    return kernel_matrix(X, X, theta, kernel) + unpack(theta)[2] * np.eye(len(X))


def standardise(y: Array) -> tuple[Array, float, float]:
    """Returns z = (y - mean) / std, mean, std, with n in the denominator; a constant y gets std 1."""
    mean, std = float(np.mean(y)), float(np.std(y)) if np.ptp(y) > 0 else 1.0
    return (y - mean) / std, mean, std


def log_marginal_likelihood(X: Array, z: Array, theta: Array, kernel: str = "matern52") -> tuple[float, Array]:
    """Eq. 2 with zero mean, and its gradient tr((a a' - P) dK_y / dtheta) / 2 with a = P z, (d + 2,)."""
    lengthscales, variance, noise = unpack(theta)
    L = cholesky(noisy_covariance(X, theta, kernel), lower=True)
    P = precision(X, theta, kernel)
    a = P @ z
    value = -0.5 * z @ a - np.sum(np.log(np.diag(L))) - 0.5 * len(z) * np.log(2 * np.pi)
    squares = scaled_squares(X, X, lengthscales)
    slopes = variance * KERNELS[kernel][1](np.sqrt(squares.sum(axis=0))) * squares  # dK_y / dlog l_k
    derivatives = [*slopes, kernel_matrix(X, X, theta, kernel), noise * np.eye(len(X))]
    return float(value), np.array([0.5 * np.sum((np.outer(a, a) - P) * dK) for dK in derivatives])


def posterior(X: Array, z: Array, Q: Array, theta: Array, kernel: str = "matern52") -> tuple[Array, Array]:
    """Latent mean k' K_y^-1 z (m,) and standard deviation (m,) at Q, by triangular solves (Appendix B)."""
    L = cholesky(noisy_covariance(X, theta, kernel), lower=True)
    V = solve_triangular(L, kernel_matrix(X, Q, theta, kernel), lower=True)
    variance = unpack(theta)[1] - np.sum(V**2, axis=0)
    return V.T @ solve_triangular(L, z, lower=True), np.sqrt(np.maximum(variance, 0))


def posterior_covariance(X: Array, Q: Array, theta: Array, kernel: str = "matern52") -> Array:
    """Latent covariance k(Q, Q) - k' K_y^-1 k, (m, m)."""
    L = cholesky(noisy_covariance(X, theta, kernel), lower=True)
    V = solve_triangular(L, kernel_matrix(X, Q, theta, kernel), lower=True)
    return np.asarray(kernel_matrix(Q, Q, theta, kernel) - V.T @ V)


def fit_theta(X: Array, z: Array, start: Any, rng: Any, kernel: str, n_restarts: int, bounds: Any) -> Array:
    """Maximise Eq. 2 by L-BFGS-B from `start` and from uniform draws in the log bounds (d + 2, 2)."""
    d, spread = X.shape[1], np.where(np.ptp(X, axis=0) > 0, np.ptp(X, axis=0), 1)
    start = np.log([*(np.sqrt(d) / 2 * spread), 1.0, 1e-2]) if start is None else start
    bounds = np.log([(1e-2, 1e3)] * d + [(1e-4, 1e4), (1e-6, 1e1)]) if bounds is None else np.asarray(bounds)

    def objective(theta: Array) -> tuple[float, Array]:
        try:
            value, gradient = log_marginal_likelihood(X, z, theta, kernel)
        except np.linalg.LinAlgError:  # K_y is singular to working precision: a wall
            return 1e25, np.zeros_like(theta)
        return -value, -gradient

    low, high = bounds.T
    starts = [np.clip(start, low, high)] + [rng.uniform(low, high) for _ in range(n_restarts)]
    fits = [minimize(objective, first, jac=True, method="L-BFGS-B", bounds=bounds) for first in starts]
    return np.asarray(min(fits, key=lambda fit: float(fit.fun)).x)


# ---- Precision, embeddings, scores (Section 4.1) -----------------------------------------------------------
def precision(X: Array, theta: Array, kernel: str = "matern52") -> Array:
    """P = K_y^-1 over the pool X, (n, n)."""
    L = cholesky(noisy_covariance(X, theta, kernel), lower=True)
    root = solve_triangular(L, np.eye(len(X)), lower=True)
    return np.asarray(root.T @ root)


def embeddings(P: Array) -> Array:
    """Rows g_i = ds / dy_i = -P e_i (Eq. 3; Eq. 4 when P belongs to a pool)."""
    return -P.T


def response_scores(P: Array, z: Array) -> Array:
    """The gradient of Eq. 2 in the responses, s = -P z, (n,)."""
    return -P @ z


def cosines(P: Array) -> Array:
    """C_ij = g_i . g_j / (|g_i| |g_j|): the Gram matrix P^2 over the column norms (the terms of Eq. 1)."""
    norms = np.linalg.norm(P, axis=0)
    return np.asarray((P @ P) / np.outer(norms, norms))


def rank_one(P: Array, P2: Array, w: Array, Pw: Array, s: float) -> tuple[Array, Array]:
    """P + w w' / s and its square, from P, P^2, w and P w."""
    ww = np.outer(w, w)
    return P + ww / s, P2 + (np.outer(Pw, w) + np.outer(w, Pw)) / s + (w @ w) * ww / s**2


def append_point(P: Array, P2: Array, k: Array, k_self: float) -> tuple[Array, Array]:
    """P and P^2 with one more observation, last; k (n,) its covariances, k_self its own K_y entry (C.6)."""
    u = P @ k
    s = float(k_self - k @ u)  # Schur complement; the new P is [[P + u u' / s, -u / s], [-u' / s, 1 / s]]
    return rank_one(np.pad(P, (0, 1)), np.pad(P2, (0, 1)), np.append(-u, 1), np.append(-P @ u, 0), s)


def remove_point(P: Array, P2: Array, i: int) -> tuple[Array, Array]:
    """P and P^2 without observation i: P - p p' / P_ii with p = P e_i, whose row and column i vanish."""
    keep = np.delete(np.arange(len(P)), i)
    P, P2 = rank_one(P, P2, P[:, i], P2[:, i], -float(P[i, i]))
    return P[np.ix_(keep, keep)], P2[np.ix_(keep, keep)]


def swap_point(P: Array, P2: Array, i: int, k: Array, k_self: float) -> tuple[Array, Array]:
    """Another observation in place i; k (n - 1,) its covariances with the ones that stay."""
    P, P2 = append_point(*remove_point(P, P2, i), k, k_self)
    order = np.insert(np.arange(len(P) - 1), i, len(P) - 1)
    return P[np.ix_(order, order)], P2[np.ix_(order, order)]


# ---- Selection rules (Section 4.3, Appendices C.1, C.3, C.5): positions in the pool, forced ones first -----
def lowest(values: Array, free: Indices, tolerance: float = TIE) -> int:
    """The lowest index in `free` (ascending) whose value is within the tolerance of the smallest."""
    return int(free[values[free] <= np.min(values[free]) + tolerance][0])


def fill(n: int, size: int, forced: Positions, pick: Callable[[Indices, Indices], int]) -> Indices:
    """The forced positions in their order, then `pick(chosen, free)` until `size` of n are chosen."""
    chosen = np.array(forced, dtype=np.intp)
    if size >= n:  # nothing to choose: the rest in ascending order
        return np.append(chosen, np.setdiff1d(np.arange(n), chosen))
    while len(chosen) < size:
        chosen = np.append(chosen, pick(chosen, np.setdiff1d(np.arange(n), chosen)))
    return chosen


def greedy_cosine(C: Array, size: int, forced: Positions = ()) -> Indices:
    """Add argmin h until `size` are chosen, with h += C[:, a] after adding a (Section 4.3)."""
    h = C[:, np.array(forced, dtype=np.intp)].sum(axis=1)

    def pick(chosen: Indices, free: Indices) -> int:
        a = lowest(h, free)
        h[:] += C[:, a]
        return a

    return fill(len(C), size, forced, pick)


def select_vector(P: Array, size: int, forced: Positions = ()) -> Indices:
    """The paper's default: the greedy loop on cosines between precision columns."""
    return greedy_cosine(cosines(P), size, forced)


def select_scalar(s: Array, size: int, forced: Positions = ()) -> Indices:
    """Appendix C.3: the same loop on v_i v_j with v_i = s_i / max(|s_i|, 1e-12), which is sign(s_i s_j)."""
    v = s / np.maximum(np.abs(s), 1e-12)
    return greedy_cosine(np.outer(v, v), size, forced)


def select_random(n: int, size: int, forced: Positions, rng: np.random.Generator) -> Indices:
    """RSSBO (Section 6): the first of a permutation of the unforced positions; no draw if size >= n."""
    free = np.setdiff1d(np.arange(n), np.array(forced, dtype=np.intp))
    order = iter(free if size >= n else free[rng.permutation(len(free))])
    return fill(n, size, forced, lambda chosen, _: int(next(order)))


def select_topk_random(y: Array, size: int, forced: Positions, rng: np.random.Generator) -> Indices:
    """The largest responses, a quarter of the subset, then a permutation of the others; no draw if size >= n."""
    free = np.setdiff1d(np.arange(len(y)), np.array(forced, dtype=np.intp))
    if size >= len(y):
        order = iter(free)
    else:
        ranked = sorted(free.tolist(), key=lambda i: -y[i])
        n_top = min(size // 4, size - len(forced))
        order = iter([*ranked[:n_top], *rng.permutation(np.sort(ranked[n_top:]))])
    return fill(len(y), size, forced, lambda chosen, _: int(next(order)))


def select_kmeans(P: Array, size: int, forced: Positions, uniforms: Array) -> Indices:
    """k-means++ (C.5): D^2 sampling with |v_i - v_j|^2 = 2 - 2 C_ij, one uniform for each pick."""
    distance2, draws = np.maximum(2 - 2 * cosines(P), 0), iter(uniforms)

    def pick(chosen: Indices, free: Indices) -> int:
        u = float(next(draws))
        if len(chosen) == 0:
            return int(u * len(P))
        total = np.cumsum(np.min(distance2[np.ix_(free, chosen)], axis=1))
        return int(free[total > u * total[-1]][0]) if total[-1] > TIE else int(free[0])

    return fill(len(P), size, forced, pick)


def select_maxmin(K: Array, variance: float, size: int, forced: Positions = ()) -> Indices:
    """Farthest point first in the kernel's own distance, |k(x_i, .) - k(x_j, .)|^2 = 2 variance - 2 K_ij."""

    def pick(chosen: Indices, free: Indices) -> int:
        if len(chosen) == 0:
            return 0
        nearest = np.min(2 * variance - 2 * K[:, chosen], axis=1)
        return lowest(-nearest, free, TIE * max(1.0, abs(float(np.max(nearest[free])))))

    return fill(len(K), size, forced, pick)


def conditional(K_y: Array, z: Array, U: Positions) -> tuple[Array, Array]:
    """Variance and residual of every response given those in U, (n,) each: diag S and r_U of Theorem 5.1."""
    members = np.array(U, dtype=np.intp)
    B = K_y[members]
    AB = np.linalg.solve(B[:, members], B)
    return np.diag(K_y) - np.sum(AB * B, axis=0), z - AB.T @ z[members]


def select_pivots(rule: str, K_y: Array, z: Array, size: int, forced: Positions = ()) -> Indices:
    """Ours: add the largest (S + r^2) / (S + 0.2), or S ("variance"), or r^2 / S, with S over the constant diagonal.

    Responses that the others determine up to rounding come last and tell nothing.
    """
    K, floor = K_y / K_y[0, 0], (size + 8) * np.finfo(float).eps
    pivots: list[int] = []
    for a in forced:
        if conditional(K, z, pivots)[0][a] > floor:
            pivots.append(int(a))

    def pick(chosen: Indices, free: Indices) -> int:
        S, r = conditional(K, z, pivots)
        undetermined = free[S[free] > floor]
        if len(undetermined) == 0:
            return int(free[0])
        S = np.maximum(S, floor)
        scores = {"residual": (S + r**2) / (S + 0.2), "variance": S, "residual-ratio": r**2 / S}[rule]
        pivots.append(lowest(-scores, undetermined, max(TIE * float(np.max(scores[undetermined])), 1e-13)))
        return pivots[-1]

    return fill(len(K), size, forced, pick)


def select(rule: str, X: Array, y: Array, theta: Array, size: int, forced: Positions, rng: Any, kernel: str) -> Indices:
    """Positions of the pool X (n, d), y (n,) that the named rule keeps; z is standardised on the pool."""
    if rule == "random":
        return select_random(len(X), size, forced, rng)
    if rule == "topk-random":
        return select_topk_random(y, size, forced, rng)
    if rule == "maxmin":
        return select_maxmin(kernel_matrix(X, X, theta, kernel), unpack(theta)[1], size, forced)
    if rule in ("residual", "variance", "residual-ratio"):
        return select_pivots(rule, noisy_covariance(X, theta, kernel), standardise(y)[0], size, forced)
    P = precision(X, theta, kernel)
    if rule == "vector":
        return select_vector(P, size, forced)
    if rule == "scalar":
        return select_scalar(response_scores(P, standardise(y)[0]), size, forced)
    if rule == "kmeans++":
        uniforms = rng.random(size - len(forced) if size < len(X) else 0)
        return select_kmeans(P, size, forced, uniforms)
    names = "'vector', 'scalar', 'random', 'kmeans++', 'maxmin', 'residual', 'variance', 'residual-ratio'"
    raise ValueError(f"rule must be {names} or 'topk-random', got {rule!r}")


# ---- Acquisitions (Appendix B): mean, std (m,) and the incumbent share a scale; t = (mean - best) / std ----
def ucb(mean: Array, std: Array, best: float = 0.0, sqrt_beta: float = 2**0.5) -> Array:
    """Upper confidence bound mean + sqrt(beta) std, sqrt(beta) = sqrt(2) as in C.5; `best` is not used."""
    return np.asarray(mean + sqrt_beta * std)


def ei(mean: Array, std: Array, best: float) -> Array:
    """E[max(f - best, 0)] = (mean - best) Phi(t) + std phi(t); std is floored at 1e-100, here and below."""
    t = (mean - best) / np.maximum(std, 1e-100)
    return np.asarray((mean - best) * ndtr(t) + std * np.exp(-(t**2) / 2) / np.sqrt(2 * np.pi))


def log_h(t: Array) -> Array:
    """Log of phi(t) + t Phi(t): as it stands; phi(t) times 1 + t Phi(t) / phi(t); that factor's series."""
    log_phi = -np.square(t) / 2 - np.log(2 * np.pi) / 2
    near, far, tail = np.maximum(t, -1), np.clip(t, -1e3, -1), np.minimum(t, -1e3)
    plain = np.log(np.exp(-(near**2) / 2) / np.sqrt(2 * np.pi) + near * ndtr(near))
    ratio = np.log1p(far * np.sqrt(np.pi / 2) * erfcx(-far / np.sqrt(2)))
    series = np.log1p(-3 * (1 / tail) ** 2 + 15 * (1 / tail) ** 4) - 2 * np.log(-tail)
    return np.asarray(np.where(t > -1, plain, log_phi + np.where(t > -1e3, ratio, series)))


def log_ei(mean: Array, std: Array, best: float) -> Array:
    """Log of EI, log std + log h(t): finite far below the point where EI underflows."""
    floored = np.maximum(std, 1e-100)
    return np.asarray(np.log(floored) + log_h((mean - best) / floored))


def pi(mean: Array, std: Array, best: float) -> Array:
    """P(f > best) = Phi(t); 0 or 1 where std is 0."""
    return np.where(std > 0, ndtr((mean - best) / np.maximum(std, 1e-100)), np.greater(mean, best))


ACQUISITIONS: dict[str, Callable[..., Array]] = {"ucb": ucb, "ei": ei, "log_ei": log_ei, "pi": pi}


# ---- Posterior gap of a fixed retained subset (Section 5) --------------------------------------------------
def posterior_gap(K: Array, k: Array, z: Array, noise: float, retained: ArrayLike) -> dict[str, Array]:
    """Blocks of Theorem 5.1 from K (n, n), k = k(X, Q) (n, m), z (n,); s_R is Proposition 5.3's."""
    U = np.asarray(retained, dtype=np.intp)
    R = np.setdiff1d(np.arange(len(K)), U)
    K_y = K + noise * np.eye(len(K))
    A, B, C = K_y[np.ix_(U, U)], K_y[np.ix_(U, R)], K_y[np.ix_(R, R)]
    AB = np.linalg.solve(A, B)
    gap = {"A": A, "B": B, "C": C, "S": C - B.T @ AB, "r_U": z[R] - AB.T @ z[U], "c_U": k[R] - AB.T @ k[U]}
    return gap | {"s_R": np.asarray(-np.linalg.solve(K_y, z)[R])}


def mean_gap(gap: dict[str, Array]) -> Array:
    """mu_D(x) - mu_U(x) = c_U' S^-1 r_U, (m,) (Theorem 5.1)."""
    return np.asarray(gap["c_U"].T @ np.linalg.solve(gap["S"], gap["r_U"]))


def variance_gap(gap: dict[str, Array]) -> Array:
    """sigma_U^2(x) - sigma_D^2(x) = c_U' S^-1 c_U >= 0, (m,) (Theorem 5.1)."""
    return np.asarray(np.sum(gap["c_U"] * np.linalg.solve(gap["S"], gap["c_U"]), axis=0))


# ---- Algorithm 1 -------------------------------------------------------------------------------------------
def to_unit(x: Array, bounds: Array) -> Array:
    """User units to the unit cube, clipped; bounds (d, 2)."""
    return np.clip((x - bounds[:, 0]) / (bounds[:, 1] - bounds[:, 0]), 0, 1)


def to_user(u: Array, bounds: Array) -> Array:
    """Unit cube to user units, clipped to the bounds (d, 2)."""
    return np.clip(bounds[:, 0] + u * (bounds[:, 1] - bounds[:, 0]), bounds[:, 0], bounds[:, 1])


def forced_indices(n: int, n_init: int, retain_initial: bool = True, retain_newest: bool = True) -> Indices:
    """F_t (line 12): the initial design, then the newest observation unless it is there already."""
    initial = list(range(min(n_init, n))) if retain_initial else []
    return np.array(initial + [n - 1] * (retain_newest and n - 1 not in initial), dtype=np.intp)


def pool_indices(n: int, pool: int | str, forced: Indices) -> Indices:
    """P_t (line 12), ascending: the "full" history, or the newest `pool` observations and the forced ones."""
    return np.union1d(np.arange(0 if pool == "full" else max(0, n - int(pool)), n), forced)


def bulk_indices(n: int, size: int, forced: Indices) -> Indices:
    """Observations of the first fit when n > M already (ours): the forced ones and evenly spaced others."""
    others = np.setdiff1d(np.arange(n), forced)
    spaced = np.linspace(0, len(others) - 1, size - len(forced)).round().astype(np.intp)
    return np.sort(np.append(forced, others[spaced]))


def switch_now(seconds: Sequence[float], factor: float) -> bool:
    """Line 7, steadied (ours): median of the last three seconds above Z times the mean of the first five."""
    return len(seconds) >= 5 and bool(np.median(seconds[-3:]) > factor * np.mean(seconds[:5]))


class Run(NamedTuple):
    """X (n, d), y (n,) in user units; for each model iteration the retained indices, theta and seconds."""

    X: Array
    y: Array
    retained: list[Indices]
    theta: list[Array]
    seconds: list[float]
    M: int | None  # None until retention begins
    switched_at: int | None  # observations held when it began


def reference_loop(
    fun: Callable[[Array], float],
    bounds: ArrayLike,  # (d, 2)
    n_evals: int,  # the initial design included
    *,
    n_init: int = 20,
    subset_size: int = 100,
    dynamic_factor: float | None = None,  # Z: sets M when given, in place of subset_size
    rule: str = "vector",
    retain_initial: bool = True,
    retain_newest: bool = True,
    pool: int | str = "full",
    theta: ArrayLike | None = None,  # fixed hyperparameters; fitted when None
    refit: int | str = 1,  # every iteration; every k-th; "frozen": no longer after the switch
    n_restarts: int = 2,
    theta_bounds: ArrayLike | None = None,
    kernel: str = "matern52",
    acquisition: str = "ucb",  # the incumbent of the others is the best response told
    n_candidates: int | None = None,
    maximize: bool = False,
    rng: Any = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Run:
    """Algorithm 1. The model update, lines 6 to 19, opens the turn that uses it, not closes the last one."""
    box = np.asarray(bounds, dtype=float)
    d, sign = len(box), 1.0 if maximize else -1.0
    m = n_candidates or (10_000 if d <= 10 else 5_000 if d <= 50 else 2_000)  # Appendix C.5
    design_rng, selection_rng, fit_rng, candidate_rng = np.random.default_rng(rng).spawn(4)
    current: Any = None if theta is None else np.asarray(theta, dtype=float)
    M, switched_at = None if dynamic_factor else subset_size, None
    retained_log: list[Indices] = []
    theta_log: list[Array] = []
    seconds: list[float] = []
    points = list(to_user(qmc.LatinHypercube(d, rng=design_rng).random(n_init), box)[:n_evals])  # line 1
    values = [float(fun(x)) for x in points]
    while len(values) < n_evals:  # line 2
        began = clock()
        X, y = to_unit(np.array(points), box), sign * np.array(values)
        n = len(y)
        forced = forced_indices(n, n_init, retain_initial, retain_newest)
        if M is None and dynamic_factor and switch_now(seconds, dynamic_factor) and n > len(forced):
            M = n  # line 8; retention begins with the next observation
        retained = np.arange(n)
        if M is not None and n > M:
            switched_at = switched_at or n
            if current is None:
                first = bulk_indices(n, M, forced)
                z = standardise(y[first])[0]
                current = fit_theta(X[first], z, None, fit_rng, kernel, n_restarts, theta_bounds)
            ids = pool_indices(n, pool, forced)  # lines 12 to 15
            places = np.searchsorted(ids, forced)
            kept = select(rule, X[ids], y[ids], current, M, places, selection_rng, kernel)
            retained = np.sort(ids[kept])
        z, mean, std = standardise(y[retained])
        due = switched_at is None if refit == "frozen" else len(seconds) % int(refit) == 0
        if theta is None and (current is None or due):  # lines 16 and 18
            current = fit_theta(X[retained], z, current, fit_rng, kernel, n_restarts, theta_bounds)
        candidates = candidate_rng.random((m, d))
        moments = posterior(X[retained], z, candidates, current, kernel)
        scores = ACQUISITIONS[acquisition](*moments, (float(np.max(y)) - mean) / std)
        points.append(to_user(candidates[np.argmax(scores)], box))  # line 3
        retained_log.append(retained)
        theta_log.append(current)
        seconds.append(clock() - began)
        values.append(float(fun(points[-1])))  # line 4
    M = M if switched_at else None
    return Run(np.array(points), np.array(values), retained_log, theta_log, seconds, M, switched_at)

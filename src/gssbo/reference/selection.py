"""Selection rules (Section 4.3, Appendices C.1, C.3, C.5): positions in the pool, the forced ones first."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gssbo.reference.embedding import cosines, response_scores
from gssbo.reference.gp import Array, kernel_matrix, noisy_covariance, precision, standardise, unpack

Indices = NDArray[np.intp]
Positions = Sequence[int] | Indices
TIE = 1e-9  # values this close count as equal, and the lowest index wins (ours)


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


def exchange_members(K_y: Array, z: Array, chosen: Positions, n_forced: int) -> Indices:
    """Ours: give up the least (S + r^2) / (S + 0.2) given all other retained ones for the largest of the rest.

    The first `n_forced` stay, what was given up does not come back, and a quarter of the subset is exchanged at most.
    Nothing is where the retained ones determine one another up to rounding.
    """
    K, U, floor = K_y / K_y[0, 0], [int(a) for a in chosen], (len(chosen) + 8) * np.finfo(float).eps
    given_up: list[int] = []
    try:
        if np.diag(np.linalg.cholesky(K[np.ix_(U, U)])).min() ** 2 <= floor:
            return np.array(U)
    except np.linalg.LinAlgError:
        return np.array(U)
    while len(given_up) < len(U) // 4 and n_forced < len(U):
        P = np.linalg.inv(K[np.ix_(U, U)])
        S, r = 1.0 / np.diag(P), P @ z[U] / np.diag(P)  # of each, given all others
        alone = (S + r**2) / (S + 0.2)
        i = lowest(alone, np.arange(n_forced, len(U)), TIE * float(alone[n_forced:].min()))
        S, r = conditional(K, z, U[:i] + U[i + 1 :])
        scores = (S + r**2) / (np.maximum(S, floor) + 0.2)
        free = np.setdiff1d(np.flatnonzero(floor < S), U + given_up)
        if len(free) == 0 or scores[free].max() <= scores[U[i]] * (1.0 + TIE):
            break
        given_up.append(U[i])
        U[i] = lowest(-scores, free, max(TIE * float(scores[free].max()), 1e-13))
    return np.array(U)


def sufficient_size(
    X: Array, z: Array, theta: Array, order: Positions, most: int, n_forced: int, tolerance: float, kernel: str
) -> int:
    """Ours: fewest of the first pivots in `order` whose mean at 500 points is that of twice as many, within tolerance.

    From the forced ones and 30 more, by a quarter more at a time, up to `most` (or the whole pool) if that is not
    enough; `order` holds twice as many, or the whole pool.
    """
    low, high = X.min(axis=0), X.max(axis=0)
    points = low + np.random.default_rng(0).random((500, X.shape[1])) * (high - low)

    def mean(m: int) -> Array:
        some = np.asarray(order)[:m]
        K_y = noisy_covariance(X[some], theta, kernel)
        return kernel_matrix(points, X[some], theta, kernel) @ np.linalg.solve(K_y, z[some])

    most = min(most, len(X))
    size = min(n_forced + 30, most)
    while size < most and np.abs(mean(min(2 * size, len(X))) - mean(size)).max() > tolerance:
        size = min(-(-5 * size // 4), most)
    return size


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
    if rule == "residual-exchange":
        K_y, z = noisy_covariance(X, theta, kernel), standardise(y)[0]
        return exchange_members(K_y, z, select_pivots("residual", K_y, z, size, forced), len(forced))
    P = precision(X, theta, kernel)
    if rule == "vector":
        return select_vector(P, size, forced)
    if rule == "scalar":
        return select_scalar(response_scores(P, standardise(y)[0]), size, forced)
    if rule == "kmeans++":
        uniforms = rng.random(size - len(forced) if size < len(X) else 0)
        return select_kmeans(P, size, forced, uniforms)
    names = "'vector', 'scalar', 'random', 'kmeans++', 'maxmin', 'residual', 'variance', 'residual-ratio'"
    raise ValueError(f"rule must be {names}, 'residual-exchange' or 'topk-random', got {rule!r}")

"""Sensitivity embeddings, response scores, and updates of the precision that both come from (Section 4.1)."""

import numpy as np

from gssbo.reference.gp import Array


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

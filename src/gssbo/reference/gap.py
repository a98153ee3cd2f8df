"""Posterior gap of a fixed retained subset (Section 5)."""

import numpy as np
from numpy.typing import ArrayLike

from gssbo.reference.gp import Array


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

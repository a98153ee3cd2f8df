"""Gaussian process (Appendix B) and its precision (Section 4.1)."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize

Array = NDArray[np.float64]

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


def precision(X: Array, theta: Array, kernel: str = "matern52") -> Array:
    """P = K_y^-1 over the pool X, (n, n)."""
    L = cholesky(noisy_covariance(X, theta, kernel), lower=True)
    root = solve_triangular(L, np.eye(len(X)), lower=True)
    return np.asarray(root.T @ root)


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

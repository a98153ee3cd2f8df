"""Linear algebra and kernel matrices, beside LAPACK, NumPy and scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotri

from bench.sklearn_path import make_kernel
from bench.workloads.base import Disagreement, Timed, Work, Workload, require_close, timed
from bench.workloads.inputs import uniform
from gssbo import reference
from gssbo._core import _linalg

LAPACK = "LAPACK"


def potrf(K: np.ndarray) -> np.ndarray:
    """Cholesky factor of K (n, n, Fortran order), which it overwrites: lower triangle."""
    factor, status = dpotrf(K, lower=1, overwrite_a=1, clean=0)
    if status:
        raise Disagreement(f"dpotrf returned {status}")
    return factor


def potrf_potri(K: np.ndarray) -> np.ndarray:
    """Inverse of K (n, n, Fortran order), which it overwrites: lower triangle."""
    inverse, status = dpotri(potrf(K), lower=1, overwrite_c=1)
    if status:
        raise Disagreement(f"dpotri returned {status}")
    return inverse


def cholesky(n: int, d: int = 6) -> Workload:
    """Cholesky factorization of a covariance matrix (n, n)."""
    data = uniform(n, d)
    padded = data.kernel.padded_gram(data.X, data.noise)
    dense = np.asfortranarray(padded[:, :n])

    def ours() -> Timed:
        K = padded.copy()
        return Timed(timed(_linalg.cholesky, n, K).seconds, K)

    def check(U: np.ndarray, results: Mapping[str, Any]) -> None:
        for label, L in results.items():
            require_close(f"Cholesky factor, {label}", np.triu(U[:, :n]), np.tril(L).T)

    return Workload(
        name=f"Cholesky, n={n}",
        unit="ms",
        ours=ours,
        references={LAPACK: lambda: timed(potrf, dense.copy(order="F")), "NumPy": lambda: np.linalg.cholesky(dense)},
        check=check,
        work=Work(n**3 / 3, "dpotrf"),
    )


def inverse(n: int, d: int = 6) -> Workload:
    """Cholesky factorization and inverse of a covariance matrix (n, n)."""
    data = uniform(n, d)
    padded = data.kernel.padded_gram(data.X, data.noise)
    dense = np.asfortranarray(padded[:, :n])
    P = np.empty_like(padded)

    def factor_and_invert(K: np.ndarray) -> np.ndarray:
        _linalg.cholesky(n, K)
        _linalg.inverse(n, K, P)
        return P

    def check(ours: np.ndarray, results: Mapping[str, Any]) -> None:
        for label, reference_P in results.items():
            require_close(f"inverse, {label}", np.tril(ours[:, :n]), np.tril(reference_P))

    return Workload(
        name=f"Cholesky and inverse, n={n}",
        unit="ms",
        ours=lambda: timed(factor_and_invert, padded.copy()),
        references={
            LAPACK: lambda: timed(potrf_potri, dense.copy(order="F")),
            "NumPy": lambda: np.linalg.inv(dense),
        },
        check=check,
        work=Work(float(n**3), "dpotrf"),
    )


def gram(n: int, d: int) -> Workload:
    """Covariance matrix (n, n) of n points in d dimensions, noise on its diagonal."""
    data = uniform(n, d)
    kernel, sklearn_kernel = data.kernel, make_kernel(data.theta, d)

    def check(K: np.ndarray, results: Mapping[str, Any]) -> None:
        for label, reference_K in results.items():
            require_close(f"covariance, {label}", K[:, :n], reference_K)

    return Workload(
        name=f"kernel Gram matrix, n={n}, d={d}",
        unit="ms",
        ours=lambda: kernel.padded_gram(data.X, data.noise),
        references={
            "NumPy": lambda: reference.noisy_covariance(data.X, data.theta),
            "scikit-learn": lambda: sklearn_kernel(data.X),
        },
        check=check,
        work=Work(8.0 * n * n, "copy"),  # written once: the floor
    )


def cross(n: int, m: int, d: int) -> Workload:
    """Covariances (n, m) of n points with m others."""
    data, others = uniform(n, d), uniform(m, d, seed=1).X
    kernel, sklearn_kernel = data.kernel, make_kernel(data.theta, d).k1

    def check(K: np.ndarray, results: Mapping[str, Any]) -> None:
        for label, reference_K in results.items():
            require_close(f"covariance, {label}", K, reference_K)

    return Workload(
        name=f"kernel cross matrix, n={n}, m={m}, d={d}",
        unit="ms",
        ours=lambda: kernel(data.X, others),
        references={
            "NumPy": lambda: reference.kernel_matrix(data.X, others, data.theta),
            "scikit-learn": lambda: sklearn_kernel(data.X, others),
        },
        check=check,
        work=Work(8.0 * n * m, "copy"),
    )

"""Vecchia's approximation, beside the exact process and beside NumPy one block at a time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bench.workloads.base import Workload, require_close
from bench.workloads.inputs import Data, uniform
from gssbo import GaussianProcess, reference
from gssbo._mle import Likelihood
from gssbo.baselines.vecchia import Conditionals, VecchiaProcess
from gssbo.kernels import KERNELS

EXACT, NUMPY = "exact process", "NumPy"
TERMS = 256  # of a fit


def _dense_conditional(X: np.ndarray, z: np.ndarray, i: int, given: np.ndarray, theta: np.ndarray) -> float:
    """Log p(z_i | z_given)."""
    _, variance, noise = reference.unpack(theta)
    k = reference.kernel_matrix(X[given], X[i : i + 1], theta)[:, 0]
    b = np.linalg.solve(reference.noisy_covariance(X[given], theta), k)
    s = variance + noise - b @ k
    return float(-0.5 * (np.log(2.0 * np.pi * s) + (z[i] - b @ z[given]) ** 2 / s))


def likelihood(n: int, d: int) -> Workload:
    """The conditionals of a fit with their gradient, and the exact likelihood with its; NumPy has no gradient here."""
    data = uniform(n, d)
    m = VecchiaProcess().conditioning_size(n)
    terms = np.sort(np.random.default_rng(0).choice(n, min(TERMS, n), replace=False)).astype(np.intp)
    scales = reference.unpack(data.theta)[0]
    ours = Conditionals.among(KERNELS["matern52"], data.X, data.z, lengthscale=scales, m=m, terms=terms)
    exact = Likelihood(KERNELS["matern52"], data.X, data.z)

    def numpy() -> float:
        total = 0.0
        for i, given in zip(ours.terms, ours.sets, strict=True):
            total += _dense_conditional(ours.X, ours.z, i, given[given >= 0], data.theta)
        return ours.weight * total

    def check(result: Any, results: Mapping[str, Any]) -> None:
        require_close("likelihood", result[0], results[NUMPY], rtol=1e-9)

    return Workload(
        name=f"Vecchia: {len(terms)} conditionals and gradient, n={n}, m={m}, d={d}",
        unit="ms",
        ours=lambda: ours(data.theta),
        references={EXACT: lambda: exact(data.theta), NUMPY: numpy},
        check=check,
    )


def score(n: int, d: int, count: int) -> Workload:
    """Mean and standard deviation of `count` candidates."""
    data = uniform(n, d)
    ours, exact = (_fixed(cls, data) for cls in (VecchiaProcess, GaussianProcess))
    candidates = np.random.default_rng(1).random((count, d))
    m = ours.conditioning_size(n)
    scales = reference.unpack(data.theta)[0]

    def numpy() -> np.ndarray:
        found = np.empty((2, count))
        for j, x in enumerate(candidates):
            near = np.argsort((((data.X - x) / scales) ** 2).sum(axis=1), kind="stable")[:m]
            mean, std = reference.posterior(data.X[near], data.z[near], x[None], data.theta)
            found[:, j] = mean[0], std[0]
        return found

    def check(result: Any, results: Mapping[str, Any]) -> None:
        require_close("mean and std", result, results[NUMPY], rtol=1e-6, atol=1e-8)

    return Workload(
        name=f"Vecchia: mean and std of {count:,} candidates, n={n}, m={m}, d={d}",
        unit="ms",
        ours=lambda: ours.posterior(candidates),
        references={EXACT: lambda: exact.posterior(candidates), NUMPY: numpy},
        check=check,
    )


def _fixed(cls: Any, data: Data) -> Any:
    scales, variance, noise = reference.unpack(data.theta)
    options = {"lengthscale": scales, "variance": variance, "noise": noise, "fit_hyperparameters": False}
    return cls(**options, normalize_y=False).fit(data.X, data.z)

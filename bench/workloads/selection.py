"""Embeddings and selection over a whole pool, anew or from the cache, beside LAPACK and NumPy."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np

from bench.workloads.base import Target, Work, Workload, require_close, require_equal, timed
from bench.workloads.dense import potrf_potri
from bench.workloads.inputs import Data, uniform
from gssbo import _parallel, reference
from gssbo.embedding import Embedding
from gssbo.precision import PrecisionCache, Workspace, precision_matrix
from gssbo.selection.subset import select

NUMPY, FLOOR, ANEW, VECTOR = "NumPy", "potrf + potri alone", "recomputed", "vector rule, embeddings included"
WORKSPACE = Workspace()
UNUSED = np.random.default_rng(0)  # the vector, scalar and max-min rules draw nothing


def forced_members(n: int, size: int) -> np.ndarray:
    """The first fifth of the subset and the newest observation, as the loop forces them."""
    return np.append(np.arange(max(size // 5, 1)), n - 1)


def choose(data: Data, size: int, cache: PrecisionCache | None = None) -> np.ndarray:
    """Our way, as the loop has it: embeddings of the pool, then the vector rule."""
    embedding = Embedding(
        data.kernel, data.noise, data.X, cache, threads=_parallel.default_threads(), workspace=WORKSPACE
    )
    forced = forced_members(len(data.X), size)
    return select(embedding, size, rule="vector", forced=forced, y=None, rng=UNUSED)


def lapack_floor(data: Data) -> Any:
    """LAPACK's potrf and potri on the pool's covariance, which is given: a callable that times them alone."""
    K = np.asfortranarray(reference.noisy_covariance(data.X, data.theta))
    return lambda: timed(potrf_potri, K.copy(order="F"))


def full_pool(n: int, size: int = 100, d: int = 6) -> Workload:
    """Embeddings of a pool of n and the choice of `size` of them."""
    data = uniform(n, d)

    def check(chosen: np.ndarray, results: Mapping[str, Any]) -> None:
        require_equal("retained subset", chosen, results[NUMPY])
        P = precision_matrix(data.kernel, data.X, data.noise)[0][:, :n]
        require_close("precision", np.tril(P), np.tril(results[FLOOR]))

    return Workload(
        name=f"full-pool embedding and selection, n={n}, M={size}",
        unit="ms",
        ours=lambda: choose(data, size),
        references={
            FLOOR: lapack_floor(data),
            NUMPY: lambda: reference.select_vector(
                reference.precision(data.X, data.theta), size, forced_members(n, size)
            ),
        },
        check=check,
        work=Work(n**3 + 2.0 * n * n * size, "dpotrf"),
        targets=(Target(FLOOR, 1 / 1.4),) if (n, size) == (1000, 100) else (),
    )


def residual(n: int, size: int = 100, d: int = 6, *, exchange: bool = False) -> Workload:
    """The residual rule over a pool of n, or with the exchange, beside the vector rule with the embeddings it needs."""
    data, rule = uniform(n, d), "residual-exchange" if exchange else "residual"
    forced = forced_members(n, size)

    def ours() -> np.ndarray:
        embedding = Embedding(data.kernel, data.noise, data.X, threads=_parallel.default_threads())
        return select(embedding, size, rule=rule, forced=forced, y=data.y, rng=UNUSED)

    def numpy() -> np.ndarray:
        K_y = reference.noisy_covariance(data.X, data.theta)
        chosen = reference.select_pivots("residual", K_y, data.z, size, forced)
        return reference.exchange_members(K_y, data.z, chosen, len(forced)) if exchange else chosen

    return Workload(
        name=f"residual rule{' and exchange' if exchange else ''}, n={n}, M={size}",
        unit="ms",
        ours=ours,
        references={VECTOR: lambda: choose(data, size), NUMPY: numpy},
        check=lambda chosen, results: require_equal("retained subset", chosen, results[NUMPY]),
        work=Work(float(n) * size * size, "dgemm"),
        targets=(Target(VECTOR, 3.0),) if (n, size) == (1000, 100) else (),
    )


class Growing:
    """A pool of n in a precision cache, to which one observation more is appended, time after time."""

    def __init__(self, n: int, d: int) -> None:
        self.n, self.data = n, uniform(n + 1, d)
        self.cache = PrecisionCache(self.data.kernel, self.data.noise, self.data.X[:n])
        self._P = reference.precision(self.data.X[:n], self.data.theta)
        self._P2 = self._P @ self._P

    def before(self) -> None:
        """Have n in it again."""
        if len(self.cache) > self.n:
            self.cache.remove(self.n)

    def append(self) -> None:
        """Our way."""
        self.cache.append(self.data.X[self.n])

    def numpy(self, first: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """P and P^2 of all, or of all but the first, by NumPy."""
        n, data, P, P2 = self.n, self.data, self._P, self._P2
        if first:
            P, P2 = reference.remove_point(P, P2, 0)
        k = reference.kernel_matrix(data.X[first:n], data.X[n:], data.theta)[:, 0]
        return reference.append_point(P, P2, k, data.kernel.variance + data.noise)

    def check(self, _: None, results: Mapping[str, Any]) -> None:
        """Whether the cache holds what NumPy found."""
        for what, ours_is, numpy_is in zip(("P", "Q"), (self.cache.P, self.cache.Q), results[NUMPY], strict=True):
            require_close(what, ours_is, numpy_is, rtol=1e-6, atol=1e-8)


def cached_refresh(n: int, size: int = 100, d: int = 6) -> Workload:
    """Append an observation to a pool of n and choose `size` again, from the precision cache."""
    pool = Growing(n, d)
    data = pool.data

    def ours() -> np.ndarray:
        pool.append()
        return choose(data, size, pool.cache)

    def numpy() -> np.ndarray:
        Q = pool.numpy()[1]
        norms = np.sqrt(np.diagonal(Q))
        return reference.greedy_cosine(Q / np.outer(norms, norms), size, forced_members(n + 1, size))

    def check(chosen: np.ndarray, results: Mapping[str, Any]) -> None:
        for label in (NUMPY, ANEW):
            require_equal(f"retained subset, {label}", chosen, results[label])

    return Workload(
        name=f"cached refresh: append and select, n={n}, M={size}",
        unit="ms",
        ours=ours,
        references={ANEW: lambda: choose(data, size), FLOOR: lapack_floor(data), NUMPY: numpy},
        check=check,
        work=Work(7 * 4.0 * n * n, "copy"),  # triangles: K read, P read twice, P and Q read and written
        targets=(Target(ANEW, 4.0),) if (n, size) == (1000, 100) else (),
        before=pool.before,
    )


def append(n: int, d: int = 6) -> Workload:
    """One observation more in the precision cache, without a choice."""
    pool = Growing(n, d)
    return Workload(
        name=f"precision cache: append, n={n}",
        unit="ms",
        ours=pool.append,
        references={NUMPY: pool.numpy},
        check=pool.check,
        work=Work(7 * 4.0 * n * n, "copy"),
        before=pool.before,
    )


def replace(n: int, d: int = 6) -> Workload:
    """The oldest of a precision cache out and another in, as in a window that moves."""
    pool = Growing(n, d)
    full = pool.cache

    def before() -> None:
        pool.cache = copy.deepcopy(full)

    def ours() -> None:
        pool.cache.replace(0, pool.data.X[n])

    return Workload(
        name=f"precision cache: replace, n={n}",
        unit="ms",
        ours=ours,
        references={NUMPY: lambda: pool.numpy(first=1)},
        check=pool.check,
        work=Work(8 * 4.0 * n * n, "copy"),  # an append that writes K as well
        before=before,
    )


def greedy(rule: str, n: int, size: int = 100, d: int = 6) -> Workload:
    """A selection rule alone, the precision of the pool being there."""
    data = uniform(n, d)
    embedding = Embedding(data.kernel, data.noise, data.X)
    embedding.prepare()
    P = embedding.precision.copy()
    forced = forced_members(n, size)
    uniforms = np.random.default_rng(0).random(size - len(forced))

    def ours() -> np.ndarray:
        rng = np.random.default_rng(0) if rule == "kmeans++" else UNUSED
        return select(embedding, size, rule=rule, forced=forced, y=data.y, rng=rng)

    ways = {
        "vector": lambda: reference.select_vector(P, size, forced),
        "scalar": lambda: reference.select_scalar(reference.response_scores(P, data.z), size, forced),
        "kmeans++": lambda: reference.select_kmeans(P, size, forced, uniforms),
        "maxmin": lambda: reference.select_maxmin(
            reference.kernel_matrix(data.X, data.X, data.theta), data.kernel.variance, size, forced
        ),
    }
    return Workload(
        name=f"rule {rule}, n={n}, M={size}",
        unit="ms",
        ours=ours,
        references={NUMPY: ways[rule]},
        check=lambda chosen, results: require_equal("retained subset", chosen, results[NUMPY]),
    )

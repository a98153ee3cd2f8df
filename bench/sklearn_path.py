"""The optimizer loop on scikit-learn: what the paper's own reference implementation did [1, Appendix C.5].

Every iteration fits an exact `GaussianProcessRegressor` (constant * ARD Matern 5/2 + white noise,
`normalize_y=True`, two restarts, a fresh kernel) on the retained subset. Embeddings come from one Cholesky
factorization and the dense inverse of the pool's covariance, the greedy rule is plain NumPy, and the
suggestion is the best of fresh uniform candidates. Rules, forced points, pool and random streams are those of
`gssbo.reference`.

scikit-learn's `predict(return_std=True)` includes the white noise. UCB wants the latent standard deviation,
so the noise variance is taken out of the square before the root.

Notation: n observations, d dimensions, m candidates, q in the pool; everything is maximised in the unit cube.

References
----------
[1] Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization. TMLR, 2026.

Examples
--------
``python -m bench.sklearn_path --problem hartmann6 --n-evals 60``
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_solve
from scipy.stats import qmc
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, Sum, WhiteKernel

from gssbo import reference
from gssbo.problems import get_problem

PARTS = ("embed", "select", "refit", "acquisition", "other")  # in the order of an iteration


@dataclass
class Result:
    """What a run leaves behind: data in the caller's units, one entry an iteration in the lists."""

    X: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))  # (n, d)
    y: np.ndarray = field(default_factory=lambda: np.empty(0))  # (n,)
    suggestions: list[np.ndarray] = field(default_factory=list)  # each (d,), unit cube
    retained: list[np.ndarray] = field(default_factory=list)
    theta: list[np.ndarray] = field(default_factory=list)  # log lengthscales, variance, noise
    timings: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PARTS, 0.0))  # seconds
    iteration_seconds: list[float] = field(default_factory=list)


def make_kernel(theta: np.ndarray | None, d: int) -> Sum:
    """Constant * ARD Matern 5/2 + white noise at theta (d + 2,), or scikit-learn's start: ones throughout."""
    lengthscales, variance, noise = (np.ones(d), 1.0, 1.0) if theta is None else reference.unpack(theta)
    return ConstantKernel(variance) * Matern(length_scale=lengthscales, nu=2.5) + WhiteKernel(noise)


def theta_of(kernel: Sum) -> np.ndarray:
    """Log lengthscales (d), variance, noise of constant * Matern + white."""
    signal, white = kernel.k1, kernel.k2
    return np.log([*np.atleast_1d(signal.k2.length_scale), signal.k1.constant_value, white.noise_level])


def fit(
    X: np.ndarray,
    y: np.ndarray,
    start: np.ndarray | None,
    rng: np.random.Generator,
    *,
    fixed: bool = False,
    n_restarts: int = 2,
    alpha: float = 1e-10,
) -> GaussianProcessRegressor:
    """Fit on X (n, d), y (n,); `fixed` keeps the hyperparameters at `start` and only factorizes."""
    gp = GaussianProcessRegressor(
        kernel=make_kernel(start, X.shape[1]),
        alpha=alpha,
        normalize_y=True,
        optimizer=None if fixed else "fmin_l_bfgs_b",
        n_restarts_optimizer=n_restarts,
        random_state=int(rng.integers(2**31)),
    )
    with warnings.catch_warnings():  # a hyperparameter on its bound is no failure of the loop
        warnings.simplefilter("ignore", ConvergenceWarning)
        return gp.fit(X, y)


def latent_prediction(gp: GaussianProcessRegressor, Q: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation (m,) at Q (m, d) in units of y (n,), the noise taken out of the latter."""
    mean, std = gp.predict(Q, return_std=True)
    noise = gp.kernel_.k2.noise_level * reference.standardise(y)[2] ** 2
    return mean, np.sqrt(np.maximum(std**2 - noise, 0))


def pool_cosines(theta: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Cosines (q, q) between the precision columns of X (q, d): one Cholesky, the inverse, one product."""
    L = np.linalg.cholesky(make_kernel(theta, X.shape[1])(X))
    P = cho_solve((L, True), np.eye(len(X)))
    V = P / np.linalg.norm(P, axis=0)
    return V.T @ V


def iterate(
    X: ArrayLike,
    y: ArrayLike,
    n_iterations: int,
    *,
    fun: Callable[[np.ndarray], float] | None = None,
    n_init: int = 20,
    subset_size: int = 100,
    rule: str = "vector",
    full_data: bool = False,
    retain_initial: bool = True,
    retain_newest: bool = True,
    pool: int | str = "full",
    n_restarts: int = 2,
    warm_start: bool = False,
    frozen_theta: ArrayLike | None = None,
    initial_theta: ArrayLike | None = None,
    freeze_at_switch: bool = False,
    n_candidates: int | None = None,
    alpha: float = 1e-10,
    seed: int | None = None,
    streams: tuple[np.random.Generator, ...] | None = None,
) -> Result:
    """Run `n_iterations` of the loop on a given history.

    Parameters
    ----------
    X, y : array_like, (n, d) and (n,)
        Unit-cube history, responses to be maximised.
    n_iterations : int
        Model iterations. With `fun`, the first sees the whole history and each suggestion is evaluated and
        told. Without, the history is replayed for a matched slice: the first iteration sees all rows but the
        last `n_iterations - 1`, each later one a row more, and the last sees them all.
    fun : callable, optional
        Function of a unit-cube point (d,), maximised.
    full_data : bool
        Keep every observation (GP-UCB) and skip selection.
    frozen_theta : array_like, (d + 2,), optional
        Log lengthscales, variance and noise that hold throughout.
    initial_theta : array_like, (d + 2,), optional
        The same for the first selection only, in place of a fit on evenly spaced rows.
    freeze_at_switch : bool
        Stop refitting once n exceeds `subset_size`.
    warm_start : bool
        Start each fit at the last hyperparameters instead of ones.
    alpha : float
        Diagonal jitter of the regressor (scikit-learn's default).

    Returns
    -------
    Result
        Data, suggestions, retained indices, hyperparameters and timings. Not timed: the objective, and the
        fit that supplies hyperparameters when the history is longer than `subset_size` from the start.
        Embeddings are timed apart for the vector rule; the other rules count theirs under "select".
    """
    X, y = np.array(X, dtype=float), np.array(y, dtype=float)
    d = X.shape[1]
    m = n_candidates or (10_000 if d <= 10 else 5_000 if d <= 50 else 2_000)
    _, selection_rng, fit_rng, candidate_rng = streams or np.random.default_rng(seed).spawn(4)
    options = {"n_restarts": n_restarts, "alpha": alpha}
    given = initial_theta if frozen_theta is None else frozen_theta
    theta = None if given is None else np.asarray(given, dtype=float)
    first = len(y) if fun is not None else len(y) - n_iterations + 1
    if theta is None and not full_data and first > subset_size:
        rows = reference.bulk_indices(
            first, subset_size, reference.forced_indices(first, n_init, retain_initial, retain_newest)
        )
        theta = theta_of(fit(X[rows], y[rows], None, fit_rng, **options).kernel_)
    result = Result()
    for n in range(first, first + n_iterations):
        marks = [time.perf_counter()]  # after: embed, select, refit, acquisition, end
        retained = np.arange(n)
        switched = not full_data and n > subset_size
        cosines = None
        if switched:
            forced = reference.forced_indices(n, n_init, retain_initial, retain_newest)
            ids = reference.pool_indices(n, pool, forced)
            places = np.searchsorted(ids, forced)
            if rule == "vector":
                cosines = pool_cosines(theta, X[ids])
        marks.append(time.perf_counter())
        if switched:
            if cosines is not None:
                kept = reference.greedy_cosine(cosines, subset_size, places)
            else:
                selection = (rule, X[ids], y[ids], theta, subset_size, places, selection_rng, "matern52")
                kept = reference.select(*selection)
            retained = np.sort(ids[kept])
        marks.append(time.perf_counter())
        fixed = frozen_theta is not None or (freeze_at_switch and switched)
        start = theta if fixed or warm_start else None
        gp = fit(X[retained], y[retained], start, fit_rng, fixed=fixed, **options)
        theta = theta_of(gp.kernel_)
        marks.append(time.perf_counter())
        candidates = candidate_rng.random((m, d))
        mean, std = latent_prediction(gp, candidates, y[retained])
        suggestion = candidates[np.argmax(mean + np.sqrt(2) * std)]
        marks.append(time.perf_counter())
        result.suggestions.append(suggestion)
        result.retained.append(retained)
        result.theta.append(theta)
        marks.append(time.perf_counter())
        for part, seconds in zip(PARTS, np.diff(marks), strict=True):
            result.timings[part] += float(seconds)
        result.iteration_seconds.append(marks[-1] - marks[0])
        if fun is not None:
            X, y = np.vstack([X, suggestion]), np.append(y, float(fun(suggestion)))
    result.X, result.y = X, y
    return result


def run(
    problem_function: Callable[[np.ndarray], float],
    bounds: ArrayLike,
    n_evals: int,
    subset_size: int = 100,
    seed: int | None = None,
    rule: str = "vector",
    full_data: bool = False,
    *,
    n_init: int = 20,
    **options: object,
) -> Result:
    """Minimise over the box `bounds` (d, 2) from a Latin hypercube design; `options` go to `iterate`.

    `n_evals` counts the design. The result is in the caller's units: X within the bounds, y as returned.
    """
    box = np.asarray(bounds, dtype=float)
    streams = tuple(np.random.default_rng(seed).spawn(4))

    def fun(u: np.ndarray) -> float:
        return -float(problem_function(reference.to_user(u, box)))

    design = qmc.LatinHypercube(len(box), rng=streams[0]).random(n_init)[:n_evals]
    X = reference.to_unit(reference.to_user(design, box), box)
    y = np.array([fun(u) for u in design])
    settings = {"subset_size": subset_size, "rule": rule, "full_data": full_data, "n_init": n_init} | options
    result = iterate(X, y, max(n_evals - n_init, 0), fun=fun, streams=streams, **settings)
    result.X, result.y = reference.to_user(result.X, box), -result.y
    return result


def main(argv: list[str] | None = None) -> None:
    """Run one problem of `gssbo.problems` and print the best value and the timing split."""
    parser = argparse.ArgumentParser(prog="python -m bench.sklearn_path", description=__doc__.splitlines()[0])
    parser.add_argument("--problem", default="hartmann6")
    parser.add_argument("--n-evals", type=int, default=60)
    parser.add_argument("--subset-size", type=int, default=40)
    parser.add_argument("--rule", default="vector", choices=("vector", "scalar", "random", "kmeans++", "maxmin"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--full-data", action="store_true", help="keep every observation")
    parser.add_argument("--warm-start", action="store_true", help="start each fit at the last hyperparameters")
    parser.add_argument("--freeze-at-switch", action="store_true", help="no refit once retention has begun")
    args = parser.parse_args(argv)
    problem = get_problem(args.problem, rng=args.seed)
    result = run(
        problem,
        problem.bounds,
        args.n_evals,
        args.subset_size,
        args.seed,
        args.rule,
        args.full_data,
        warm_start=args.warm_start,
        freeze_at_switch=args.freeze_at_switch,
    )
    print(f"{problem.name}: best {np.min(result.y):.6g} after {len(result.y)} evaluations")
    total = sum(result.timings.values())
    for part, seconds in result.timings.items():
        print(f"  {part:<12}{seconds:9.3f} s{100 * seconds / total if total else 0:7.1f} %")
    print(f"  {'total':<12}{total:9.3f} s")


if __name__ == "__main__":
    main()

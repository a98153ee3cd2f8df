"""Whole iterations and single asks of the optimizer, beside the loop on scikit-learn and at growing histories."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import gssbo
from bench import sklearn_path
from bench.workloads.base import Disagreement, Target, Timed, Work, Workload, require_equal, timed
from bench.workloads.inputs import history, unit_box
from gssbo import reference
from gssbo.gp import GaussianProcess
from gssbo.methods import method_options
from gssbo.problems import Problem, get_problem

SKLEARN = "scikit-learn loop"
SKLEARN_FROZEN = "scikit-learn loop, frozen too"
N_INIT = 20

VARIANTS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    # name: method, what differs from it, options of the loop on scikit-learn
    "GSSBO": ("gssbo", {}, {}),
    "GSSBO, frozen and cached": ("gssbo", {"refit": "frozen", "refresh": "cached"}, {"freeze_at_switch": True}),
    "full-data GP-UCB": ("gp-ucb", {}, {"full_data": True}),
}

TARGETS = {
    ("hartmann6", "GSSBO"): 20.0,
    ("powell50", "GSSBO"): 60.0,
    ("hartmann6", "GSSBO, frozen and cached"): 40.0,
    ("hartmann6", "full-data GP-UCB"): 10.0,
}


def _bulk_theta(X: np.ndarray, y: np.ndarray, size: int) -> np.ndarray:
    """Hyperparameters of scikit-learn's fit on the forced and evenly spaced observations."""
    rows = reference.bulk_indices(len(y), size, reference.forced_indices(len(y), N_INIT))
    return sklearn_path.theta_of(sklearn_path.fit(X[rows], y[rows], None, np.random.default_rng(0)).kernel_)


def iteration_name(problem: str, n: int, variant: str) -> str:
    """Name of the workload that `iterations` makes."""
    return f"iteration, {variant}, {problem}, n={n}"


def reference_label(variant: str) -> str:
    """Label of the reference in the same configuration, which the target is about."""
    return SKLEARN_FROZEN if VARIANTS[variant][2].get("freeze_at_switch") else SKLEARN


def iterations(
    problem: str, n: int, count: int, variant: str = "GSSBO", subset_size: int = 100, against: bool = True
) -> Workload:
    """`count` iterations (tell, select, refit, score) from n observations on, on the same history.

    Beside scikit-learn's loop in the same configuration, and, where that is frozen, beside the one that refits;
    `against` False leaves them out.

    The check fixes the hyperparameters, which the two loops otherwise find by different searches, and asks for the
    same retained subset and the same suggestion.
    """
    method, changes, sklearn_options = VARIANTS[variant]
    X, y = history(problem, n + count - 1)
    d = X.shape[1]
    full_data = sklearn_options.get("full_data", False)
    options = method_options(method, None if full_data else subset_size) | changes
    sklearn_options = sklearn_options | {"n_init": N_INIT, "subset_size": subset_size, "seed": 0}
    theta = _bulk_theta(X[:n], y[:n], subset_size if n > subset_size else n)

    prepared = gssbo.Optimizer(unit_box(d), maximize=True, rng=0, **options)
    prepared.tell(X[: n - 1], y[: n - 1])
    prepared.ask()  # the first fit is a cold one, and not of the slice
    box: list[gssbo.Optimizer] = []

    def before() -> None:
        box[:] = [copy.deepcopy(prepared)]

    def ours() -> np.ndarray:
        for i in range(n - 1, n - 1 + count):
            box[0].tell(X[i], y[i])
            suggestion = box[0].ask()
        return suggestion

    def sklearn(**changed: Any) -> np.ndarray:
        # With a start given, nothing of a slice goes untimed.
        start = {"initial_theta": theta} if n > subset_size and not full_data else {}
        return sklearn_path.iterate(X, y, count, **start, **sklearn_options | changed).suggestions[-1]

    label = reference_label(variant)
    references: dict[str, Callable[[], np.ndarray]] = {}
    if against:
        references[label] = sklearn
    if against and label != SKLEARN:
        references[SKLEARN] = functools.partial(sklearn, freeze_at_switch=False)

    def check(_: Any, results: Mapping[str, Any]) -> None:
        lengthscales, variance, noise = reference.unpack(theta)
        fixed = GaussianProcess(lengthscale=lengthscales, variance=variance, noise=noise, fit_hyperparameters=False)
        optimizer = gssbo.Optimizer(unit_box(d), maximize=True, rng=0, **options | {"surrogate": fixed})
        optimizer.tell(X[:n], y[:n])
        suggestion = optimizer.ask()
        other = sklearn_path.iterate(X[:n], y[:n], 1, frozen_theta=theta, **sklearn_options)
        require_equal("retained subset", optimizer.retained, other.retained[0])
        require_equal("suggestion", suggestion, other.suggestions[0])

    ratio = TARGETS.get((problem, variant)) if subset_size == 100 and n >= 100 else None
    return Workload(
        name=iteration_name(problem, n, variant),
        unit="ms",
        ours=ours,
        references=references,
        check=check,
        targets=(Target(label, ratio),) if ratio and against else (),
        before=before,
        per=count,
    )


@functools.lru_cache(maxsize=1)
def _along_runs(
    problem: str, seeds: int, sizes: tuple[int, ...], **options: Any
) -> dict[int, list[tuple[gssbo.Optimizer, np.ndarray]]]:
    """By size n: optimizers of runs of their own with n - 1 told, and the point that they suggest next."""
    fun = get_problem(problem)
    found: dict[int, list[tuple[gssbo.Optimizer, np.ndarray]]] = {n: [] for n in sizes}
    for seed in range(seeds):
        optimizer = gssbo.Optimizer(fun.bounds, rng=seed, **options)
        for n in range(1, max(sizes) + 1):
            x = optimizer.ask()
            if n in found:
                found[n].append((copy.deepcopy(optimizer), x))
            optimizer.tell(x, fun(x))
    return found


def _told(
    prepared: list[tuple[gssbo.Optimizer, np.ndarray]], fun: Problem
) -> tuple[list[gssbo.Optimizer], Callable[[], None]]:
    """Copies of optimizers that are told what they suggested, and what makes them anew before each measurement."""
    ready: list[gssbo.Optimizer] = []

    def before() -> None:
        ready[:] = [copy.deepcopy(optimizer) for optimizer, _ in prepared]
        for optimizer, (_, x) in zip(ready, prepared, strict=True):
            optimizer.tell(x, fun(x))

    return ready, before


def ask(
    n: int, problem: str = "hartmann6", seeds: int = 20, sizes: tuple[int, ...] = (), method: str | None = None
) -> Workload:
    """A suggestion with n observations told, mean over runs of different seeds; the runs go on to the largest size."""
    fun = get_problem(problem)
    prepared = _along_runs(problem, seeds, sizes or (n,), method=method)[n]
    ready, before = _told(prepared, fun)

    return Workload(
        name=f"ask, {method or 'defaults'}, {problem}, n={n}",
        unit="ms",
        ours=lambda: [optimizer.ask() for optimizer in ready],
        references={},
        before=before,
        per=seeds,
    )


def batch(problem: str, n: int = 400, size: int = 16, subset_size: int = 200, seeds: int = 4) -> Workload:
    """A call for several suggestions by the portfolio, beside one for a single one.

    Means over runs of its own, and over a dozen histories of each: who is asked, and what that costs, is drawn.
    """
    fun = get_problem(problem)
    sizes = tuple(range(n, n + 12))
    runs = _along_runs(problem, seeds, sizes, method="portfolio", subset_size=subset_size)
    prepared = [each for n_told in sizes for each in runs[n_told]]
    ready, before = _told(prepared, fun)

    def single() -> Timed:
        before()
        return timed(lambda: [optimizer.ask() for optimizer in ready])

    def check(points: Any, _: Mapping[str, Any]) -> None:
        for each in points:
            if len(np.unique(each, axis=0)) != size:
                raise Disagreement(f"{size} suggestions are not {size} points: {each!r}")

    return Workload(
        name=f"ask({size}), portfolio, M={subset_size}, {problem}, n={n}",
        unit="ms",
        ours=lambda: [optimizer.ask(size) for optimizer in ready],
        references={"ask(1)": single},
        check=check,
        targets=(Target("ask(1)", 1 / 4),) if size == 16 else (),
        before=before,
        per=len(prepared),
    )


def bulk_ask(n: int, problem: str = "hartmann6", count: int = 40, seeds: int = 4, **options: Any) -> Workload:
    """A suggestion after n uniform observations told in bulk, mean over runs and over `count` of them told in turn.

    Every run has been told other points. `options` are keyword arguments of `gssbo.Optimizer`; none is the optimizer
    with all its defaults.
    """
    fun = get_problem(problem)
    bounds = np.asarray(fun.bounds, dtype=float)
    optimizers = [gssbo.Optimizer(fun.bounds, rng=seed, **options) for seed in range(seeds)]
    for seed, optimizer in enumerate(optimizers):
        X = reference.to_user(np.random.default_rng(seed).random((n, fun.dim)), bounds)
        optimizer.tell(X, fun(X))
        optimizer.ask()  # the first model of so many is a cold one

    def ours() -> None:
        for optimizer in optimizers:
            for _ in range(count):
                x = optimizer.ask()
                optimizer.tell(x, fun(x))

    return Workload(
        name=bulk_name(n, problem, **options),
        unit="ms",
        ours=ours,
        references={},
        targets=(Target(seconds=0.06),) if (n, options) == (100_000, RESIDUAL_200) else (),
        per=seeds * count,
    )


RESIDUAL_200: dict[str, Any] = {"method": "box", "rule": "residual", "subset_size": 200}


def bulk_name(n: int, problem: str = "hartmann6", **options: Any) -> str:
    """Name of the workload that `bulk_ask` makes."""
    said = ", ".join(f"{name}={value}" if name != "method" else str(value) for name, value in options.items())
    return f"ask and tell, {said or 'defaults'}, {problem}, {n:,} told in bulk"


def tell(n: int, d: int, chunks: int = 1) -> Workload:
    """Telling n observations of d numbers, in equal chunks."""
    X = np.random.default_rng(0).random((n, d))
    y = X.sum(axis=1)
    box: list[gssbo.Optimizer] = []
    parts = list(zip(np.array_split(X, chunks), np.array_split(y, chunks), strict=True))

    def before() -> None:
        box[:] = [gssbo.Optimizer(unit_box(d), method="box", rng=0)]

    def ours() -> int:
        for points, values in parts:
            box[0].tell(points, values)
        return box[0].n_told

    def check(told: int, _: Mapping[str, Any]) -> None:
        if told != n:
            raise Disagreement(f"{told} observations told, not {n}")

    return Workload(
        name=f"tell {n:,} x {d} in {chunks} {'call' if chunks == 1 else 'chunks'}",
        unit="ms",
        ours=ours,
        references={},
        check=check,
        work=Work(2.0 * 8 * n * (2 * d + 1), "copy"),  # user points, unit points, responses: read and written
        targets=(Target(seconds=2.0 if chunks == 1 else 4.0),) if (n, d) == (100_000, 20) else (),
        before=before,
    )


def _asks(count: int, threads: int) -> np.ndarray:
    fun = get_problem("hartmann6")
    with threadpool_limits(threads):
        optimizer = gssbo.Optimizer(fun.bounds, method="box", rng=0, subset_size=30)
        suggestions = []
        for _ in range(N_INIT + count):
            x = optimizer.ask()
            optimizer.tell(x, fun(x))
            suggestions.append(x)
    return np.array(suggestions)


def threads(count: int = 50) -> Workload:
    """Asks with eight BLAS threads allowed; the reference is the same with one."""
    return Workload(
        name=f"{count} asks, eight BLAS threads allowed",
        unit="ms",
        ours=functools.partial(_asks, count, 8),
        references={"one thread": functools.partial(_asks, count, 1)},
        check=lambda eight, one: require_equal("suggestions", eight, one["one thread"]),
        targets=(Target("one thread", 1 / 1.25),),
        per=count,
    )

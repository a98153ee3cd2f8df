"""Evaluations in parallel: the default beside Optuna's TPE and CMA-ES, as Markdown: ``python -m bench.parallel``.

Needs Optuna (extra `optuna`) and cma. Everybody makes the same number of evaluations of ten problems: one at a time, in
batches of q that are told together, and by q workers that are told and asked one by one as they finish, after times
drawn from an exponential distribution. What is printed is the median over the seeds of the simple regret at the end,
lower is better. CMA-ES has no workers; its populations have q members, or its default if that is more. TPE is
multivariate and takes pending trials for bad ones (`constant_liar`).
"""

from __future__ import annotations

import argparse
import heapq
import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

import gssbo
from gssbo.space import Real

from . import mixed
from .arena.problems import find_problem
from .distributions import distributions
from .markdown import head, line

PROBLEMS = (
    "branin2",
    "hartmann6",
    "noisyhartmann6",
    "levy10-shifted",
    "rosenbrock10-shifted",
    "ellipsoid10-shifted-rotated",
    "styblinskitang10",
    "levy20-shifted",
    "ackley20-shifted",
    "training",
)
MIXED = {"training": -0.0689}  # problems of `mixed`, and about the least value
MODES = {"1": (1, False), "batch 4": (4, False), "batch 16": (16, False), "4": (4, True), "16": (16, True)}
"""By name, how many evaluations at a time, and whether workers are told and asked one by one."""


class Task(NamedTuple):
    """A problem: what is told, its expectation, the space by names, the optimum."""

    told: Callable[[dict[str, Any]], float]
    true: Callable[[dict[str, Any]], float]
    space: dict[str, Any]
    optimum: float


class Loop(Protocol):
    """A method; `tell` may come in any order, and `ask` before earlier points are told."""

    def ask(self, n: int) -> list[tuple[Any, dict[str, Any]]]:
        """N tokens and points."""
        ...

    def tell(self, tokens: list[Any], values: list[float]) -> None:
        """Values of points that were asked for."""
        ...


def task(name: str, seed: int) -> Task:
    """A problem by name; its noise by the seed."""
    if name in MIXED:
        fun, space = mixed.PROBLEMS[name]
        return Task(fun, fun, space, MIXED[name])
    problem = find_problem(name, seed)
    space = {f"x{i}": Real(*bounds) for i, bounds in enumerate(problem.bounds.tolist())}
    vector = lambda x: np.array(list(x.values()))  # noqa: E731
    told = lambda x: float(problem(vector(x)))  # noqa: E731
    true = (lambda x: float(problem.expected(vector(x)))) if problem.stochastic else told
    return Task(told, true, space, problem.optimum)


class Ours:
    """The optimizer with all its defaults."""

    def __init__(self, space: dict[str, Any], q: int, seed: int) -> None:
        self._optimizer = gssbo.Optimizer(space, threads=1, rng=seed)

    def ask(self, n: int) -> list[tuple[Any, dict[str, Any]]]:
        """See `Loop`."""
        return [(each.id, each.x) for each in self._optimizer.ask(n, ids=True)]

    def tell(self, tokens: list[Any], values: list[float]) -> None:
        """See `Loop`."""
        for token, value in zip(tokens, values, strict=True):
            self._optimizer.tell(id=token, y=value)


class TPE:
    """Optuna's multivariate TPE with `constant_liar`."""

    def __init__(self, space: dict[str, Any], q: int, seed: int) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        self._distributions = distributions(space)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            sampler = optuna.samplers.TPESampler(multivariate=True, constant_liar=True, seed=seed)
        self._study = optuna.create_study(sampler=sampler)

    def ask(self, n: int) -> list[tuple[Any, dict[str, Any]]]:
        """See `Loop`."""
        trials = [self._study.ask(self._distributions) for _ in range(n)]
        return [(trial, trial.params) for trial in trials]

    def tell(self, tokens: list[Any], values: list[float]) -> None:
        """See `Loop`."""
        for token, value in zip(tokens, values, strict=True):
            self._study.tell(token, value)


class CMA:
    """CMA-ES from a uniform point, first step 0.2 of a side; it starts anew where it has converged."""

    def __init__(self, space: dict[str, Any], q: int, seed: int) -> None:
        self._sides = np.array([(each.low, each.high) for each in space.values()])
        self._names, self._q, self._seed, self._rng = list(space), q, seed + 1, np.random.default_rng(seed)
        self._waiting: list[Any] = []  # of the generation, not handed out yet
        self._told: list[tuple[Any, float]] = []
        self._begin()

    def _begin(self) -> None:
        import cma

        d = len(self._names)
        options = {"bounds": [0.0, 1.0], "seed": self._seed, "verbose": -9, "verb_log": 0}
        options["popsize"] = max(self._q, 4 + int(3 * np.log(d)))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._search = cma.CMAEvolutionStrategy(self._rng.random(d), 0.2, options)
        self._seed += 1_000

    def ask(self, n: int) -> list[tuple[Any, dict[str, Any]]]:
        """See `Loop`; fewer than n at the end of a generation."""
        if not self._waiting:
            if self._search.stop():
                self._begin()
            self._waiting = self._search.ask()
        units, self._waiting = self._waiting[:n], self._waiting[n:]
        low, high = self._sides.T
        return [(u, dict(zip(self._names, (low + (high - low) * u).tolist(), strict=True))) for u in units]

    def tell(self, tokens: list[Any], values: list[float]) -> None:
        """See `Loop`."""
        self._told += zip(tokens, values, strict=True)
        if not self._waiting:
            self._search.tell(*map(list, zip(*self._told, strict=True)))
            self._told = []


METHODS: dict[str, Callable[[dict[str, Any], int, int], Loop]] = {"gssbo": Ours, "tpe": TPE, "cma": CMA}


def regrets(name: str, method: str, mode: str, n_evals: int, seed: int) -> np.ndarray:
    """Simple regret (n_evals,) after each evaluation, in the order they were told; of the best value told."""
    found, (q, one_by_one) = task(name, seed), MODES[mode]
    loop = METHODS[method](found.space, q, seed)
    told, true = np.empty(n_evals), np.empty(n_evals)
    clock = np.random.default_rng([seed, 2])
    running: list[tuple[float, int, Any, dict[str, Any]]] = []
    now, n_asked, n_told = 0.0, 0, 0
    while n_told < n_evals:
        room = min(q - len(running), n_evals - n_asked)
        asked = loop.ask(room) if room else []
        for token, x in asked:
            heapq.heappush(running, (now + clock.exponential() if one_by_one else now, n_asked, token, x))
            n_asked += 1
        done = [heapq.heappop(running) for _ in range(1 if one_by_one else len(running))]
        now, values = done[-1][0], [found.told(x) for *_, x in done]
        loop.tell([token for _, _, token, _ in done], values)
        told[n_told : n_told + len(done)], true[n_told : n_told + len(done)] = values, [found.true(x) for *_, x in done]
        n_told += len(done)
    incumbents = [int(np.argmin(told[: n + 1])) for n in range(n_evals)]
    return true[incumbents] - found.optimum


def cell(name: str, method: str, mode: str, n_evals: int, seeds: Sequence[int], out: Path | None) -> str:
    """The median as text; a dash where the method has no such mode."""
    _, one_by_one = MODES[mode]
    if method == "cma" and (one_by_one or name in MIXED):  # it has generations, of real parameters
        return "-"
    last = []
    for seed in seeds:
        curve = regrets(name, method, mode, n_evals, seed)
        last.append(curve[-1])
        if out is not None:
            with out.open("a") as file:
                marks = [float(curve[n_evals * part // 4 - 1]) for part in (1, 2, 3, 4)]
                file.write(json.dumps([name, method, mode, seed, marks]) + "\n")
    return f"{np.median(last):.2g}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table as it comes."""
    parser = argparse.ArgumentParser(prog="python -m bench.parallel", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--problem", nargs="+", choices=PROBLEMS, default=list(PROBLEMS), metavar="NAME")
    parser.add_argument("--method", nargs="+", choices=METHODS, default=list(METHODS), metavar="NAME")
    parser.add_argument("--mode", nargs="+", choices=MODES, default=list(MODES), metavar="NAME")
    parser.add_argument("--n-evals", type=int, default=320)
    parser.add_argument("--seeds", type=int, nargs=2, default=(100, 108), metavar=("FIRST", "END"))
    parser.add_argument("--out", type=Path, help="file that JSON lines of the runs are appended to")
    options = parser.parse_args(arguments)
    seeds = range(*options.seeds)
    print(head(["problem", "method", *options.mode], 2), flush=True)
    for name in options.problem:
        for method in options.method:
            cells = [cell(name, method, mode, options.n_evals, seeds, options.out) for mode in options.mode]
            print(line([name, method, *cells]), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

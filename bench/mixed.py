"""Whole numbers and categories: the default beside Optuna's TPE, as Markdown: ``python -m bench.mixed``.

Needs Optuna (extra `optuna`). Seven problems of 3 to 53 parameters; what is printed is the median over the seeds of the
best value after a quarter, half and all of the evaluations, lower is better.

References
----------
1. Oh, Tomczak, Gavves and Welling, Combinatorial Bayesian optimization using the graph Cartesian product, NeurIPS 2019
   (pest control).
2. Ru, Alvi, Nguyen, Osborne and Roberts, Bayesian optimisation over multiple continuous and categorical inputs, ICML
   2020 (functions that categories choose).
3. Bliek, Guijt, Karlsson, Verwer and de Weerdt, Benchmarking surrogate-based optimisation algorithms on expensive
   black-box functions, 2021 (Ackley's function of 50 binary and 3 real parameters).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import gssbo
from gssbo.space import Categorical, Integer, Real

from .distributions import distributions
from .markdown import head, line

Point = dict[str, Any]


def ackley53(x: Point) -> float:
    """Ackley's function of 50 binary and 3 real parameters; 0 at 0."""
    v = np.array([float(value) for value in x.values()])
    return float(20.0 - 20.0 * np.exp(-0.2 * np.sqrt(np.mean(v * v))) + np.e - np.exp(np.mean(np.cos(2.0 * np.pi * v))))


PRICE, DISCOUNT = np.array([0.0, 1.0, 0.8, 0.7, 0.5]), np.array([0.0, 0.2, 0.3, 0.3, 0.0])
TOLERANCE = np.array([0.0, 1.0, 2.5, 2.0, 0.5]) / 7.0  # that a pesticide's use builds up


def pest_control(x: Point, n_simulations: int = 100) -> float:
    """Cost of 25 stages with one of four pesticides or none, and of stages above the threshold [1]; of one seed."""
    rng = np.random.default_rng(7)
    stages, strength = np.array(list(x.values())), np.array([0.0, 2.0, 3.0, 3.0, 5.0]) / 7.0
    pest, cost = rng.beta(1.0, 30.0, n_simulations), 0.0
    for used in stages:
        spread = rng.beta(1.0, 17.0 / 3.0, n_simulations)
        if used:
            following = (1.0 - rng.beta(1.0, strength[used], n_simulations)) * pest
            strength[used] += TOLERANCE[used] / len(stages)
            cost += PRICE[used] * (1.0 - DISCOUNT[used] * np.mean(stages == used))
        else:
            rng.beta(1.0, 1.0, n_simulations)  # as many numbers as elsewhere
            following = spread * (1.0 - pest) + pest
        cost += float(np.mean(pest > 0.1))
        pest = following
    return float(cost)


_apart = np.subtract.outer(np.arange(30), np.arange(30))
PAIRS = np.random.default_rng(3).standard_normal((30, 30)) * np.exp(-(_apart**2) / 100.0)


def quadratic(x: Point) -> float:
    """A binary quadratic form of 30 parameters with random coefficients that fall off with distance."""
    v = np.array([float(value) for value in x.values()])
    return -float(v @ PAIRS @ v)


def whole_levy(x: Point) -> float:
    """Levy's function of ten whole numbers around a shifted optimum; 0."""
    w = 1.0 + (np.array(list(x.values())) - 4.0) / 4.0
    middle = np.sum((w[:-1] - 1.0) ** 2 * (1.0 + 10.0 * np.sin(np.pi * w[:-1] + 1.0) ** 2))
    return float(np.sin(np.pi * w[0]) ** 2 + middle + (w[-1] - 1.0) ** 2 * (1.0 + np.sin(2.0 * np.pi * w[-1]) ** 2))


SHAPES: dict[str, Callable[[float, float], float]] = {
    "rosenbrock": lambda a, b: (100.0 * (b - a * a) ** 2 + (a - 1.0) ** 2) / 300.0,
    "camel": lambda a, b: ((4.0 - 2.1 * a * a + a**4 / 3.0) * a * a + a * b + (4.0 * b * b - 4.0) * b * b) / 10.0,
    "beale": lambda a, b: sum((c - a + a * b**k) ** 2 for k, c in ((1, 1.5), (2, 2.25), (3, 2.625))) / 50.0,
    "sphere": lambda a, b: a * a + b * b,
    "slope": lambda a, b: a + b,
}


def chosen_functions(x: Point) -> float:
    """The sum of two functions of two reals that two categories choose, as in [2]; -2.438."""
    return SHAPES[x["first"]](x["a"], x["b"]) + SHAPES[x["second"]](x["a"], x["b"])


RATES = {"sgd": -1.0, "adam": -3.0, "rmsprop": -3.2, "lamb": -2.5}  # the best, as powers of ten
LOSSES = {"sgd": 0.02, "adam": 0.0, "rmsprop": 0.05, "lamb": 0.03}
EXTRA = {"relu": 0.0, "gelu": -0.05, "tanh": 0.1, "cosine": 0.0, "step": 0.03, "none": 0.1}


def training(x: Point) -> float:
    """A formula in the shape of a training job's loss, of three reals, three whole numbers and three categories."""
    rate, decay = np.log10(x["rate"]), np.log10(x["decay"])
    width, batch = np.log2(x["width"]), np.log2(x["batch"])
    kind = x["optimizer"]
    loss = LOSSES[kind] + EXTRA[x["activation"]] + EXTRA[x["schedule"]]
    loss += (
        0.08 * (rate - RATES[kind] - 0.15 * (batch - 6.0)) ** 2
        + 0.02 * (decay + 4.0 - 0.3 * list(RATES).index(kind)) ** 2
    )
    loss += 0.3 * (x["dropout"] - 0.05 * (x["layers"] - 1.0)) ** 2 + 0.01 * (width - 8.0) ** 2
    loss += 0.01 * (x["layers"] - 4.0) ** 2 + 0.004 * (width - 8.0) * (x["layers"] - 4.0)
    return float(loss + 0.02 * np.sin(6.0 * rate) * np.cos(3.0 * decay))


BITS = {f"bit{i}": Categorical([0, 1]) for i in range(30)}
PROBLEMS: dict[str, tuple[Callable[[Point], float], dict[str, Any]]] = {
    "functions": (
        chosen_functions,
        {
            "first": Categorical(list(SHAPES)[:3]),
            "second": Categorical(list(SHAPES)),
            "a": Real(-2.0, 2.0),
            "b": Real(-2.0, 2.0),
        },
    ),
    "training": (
        training,
        {
            "rate": Real(1e-5, 1.0, log=True),
            "decay": Real(1e-6, 0.1, log=True),
            "dropout": Real(0.0, 0.6),
            "optimizer": Categorical(list(RATES)),
            "activation": Categorical(["relu", "gelu", "tanh"]),
            "schedule": Categorical(["cosine", "step", "none"]),
            "width": Integer(16, 2048, log=True),
            "layers": Integer(1, 12),
            "batch": Integer(8, 512, log=True),
        },
    ),
    "levy-whole": (whole_levy, {f"n{i}": Integer(-10, 10) for i in range(10)}),
    "pest-control": (pest_control, {f"stage{i}": Categorical([0, 1, 2, 3, 4]) for i in range(25)}),
    "quadratic-bits": (quadratic, BITS),
    "quadratic-whole": (quadratic, {name: Integer(0, 1) for name in BITS}),
    "ackley53": (
        ackley53,
        {f"bit{i}": Categorical([0, 1]) for i in range(50)} | {f"real{i}": Real(-1.0, 1.0) for i in range(3)},
    ),
}


def ours(fun: Callable[[Point], float], space: dict[str, Any], n_evals: int, seed: int) -> np.ndarray:
    """Values in turn of the optimizer with all its defaults."""
    optimizer = gssbo.Optimizer(space, rng=seed)
    for _ in range(n_evals):
        x = optimizer.ask()
        optimizer.tell(x, fun(x))
    return np.asarray(optimizer.y)


def tpe(fun: Callable[[Point], float], space: dict[str, Any], n_evals: int, seed: int) -> np.ndarray:
    """The same of Optuna's TPE with all its defaults."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    ranges = distributions(space)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    values = []
    for _ in range(n_evals):
        trial = study.ask(ranges)
        values.append(fun(trial.params))
        study.tell(trial, values[-1])
    return np.array(values)


METHODS = {"gssbo": ours, "tpe": tpe}


def row(problem: str, method: str, n_evals: int, seeds: int) -> str:
    """A line of the table."""
    fun, space = PROBLEMS[problem]
    best = np.minimum.accumulate([METHODS[method](fun, space, n_evals, seed) for seed in range(seeds)], axis=1)
    cells = [f"{np.median(best[:, n - 1]):.4g}" for n in (n_evals // 4, n_evals // 2, n_evals)]
    return line([problem, method, *cells])


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table as it comes."""
    parser = argparse.ArgumentParser(prog="python -m bench.mixed", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--problem", nargs="+", choices=PROBLEMS, default=list(PROBLEMS), metavar="NAME")
    parser.add_argument("--method", nargs="+", choices=METHODS, default=list(METHODS), metavar="NAME")
    parser.add_argument("--n-evals", type=int, default=400)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args(arguments)
    n = options.n_evals
    print(head(["problem", "method", f"best after {n // 4}", f"{n // 2}", f"{n}"], 2), flush=True)
    for problem in options.problem:
        for method in options.method:
            print(row(problem, method, n, options.seeds), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

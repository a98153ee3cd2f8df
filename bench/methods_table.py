"""Print what an iteration of every method costs, as Markdown: ``python -m bench.methods_table``.

Protocol. Hartmann6, settings of `gssbo.methods.METHODS` (for all but the trust region those of the paper: 10,000
candidates, hyperparameters by maximum likelihood with 2 restarts at every iteration), M = 100 where there is a subset.
n observations are told at once: the method's own initial design where everything is kept, so that those that search a
subspace have all of it in theirs, and otherwise a design of 20 and uniform points. One suggestion goes untimed, for its
fit is a cold one; then the median is taken of `--repeats` suggestions, each told before the next. A time is that of
`ask`: fit, selection, candidates; the objective is not in it. mini-META repeats a point only where there is noise, so
that here all its points are distinct. Nothing else should run meanwhile; it takes some minutes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np

import gssbo
from bench.markdown import table
from bench.report import show
from gssbo.machine import describe
from gssbo.methods import METHODS, method_options
from gssbo.problems import get_problem

SIZES = (100, 500, 1_000)
N_INIT = 20
BASIS = "gp-ucb"


def seconds(name: str, n: int, repeats: int, threads: int) -> float:
    """Median seconds of a suggestion of the method with n observations or a few more."""
    problem = get_problem("hartmann6")
    n_init = n if METHODS[name].keeps_all else N_INIT
    options = method_options(name) | {"n_init": n_init, "threads": threads}
    optimizer = gssbo.Optimizer(problem.bounds, rng=0, **options)
    design = np.array([optimizer.ask() for _ in range(n_init)])
    uniform = np.random.default_rng(1).random((n - n_init, problem.dim))
    X = np.vstack([design, uniform])
    optimizer.tell(X, problem(X))
    times = []
    for _ in range(1 + repeats):
        x = optimizer.ask()
        times.append(optimizer.last_ask_seconds)
        optimizer.tell(x, problem(x))
    return float(np.median(times[1:]))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure method by method and print the rows."""
    parser = argparse.ArgumentParser(prog="python -m bench.methods_table", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, metavar="N", help="observations told")
    parser.add_argument("--repeats", type=int, default=5, metavar="K", help="suggestions timed for each size")
    parser.add_argument("--threads", type=int, default=1, metavar="T", help="threads of a suggestion")
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), default=list(METHODS), metavar="NAME")
    options = parser.parse_args(arguments)
    times: dict[str, list[float]] = {}
    for name in options.methods:
        times[name] = []
        for n in options.sizes:
            print(f"{name}, n = {n} ...", file=sys.stderr, flush=True)
            times[name].append(seconds(name, n, options.repeats, options.threads))
    basis = times.get(BASIS)
    rows = [
        [name, *(show(each, "s") for each in found), "" if basis is None else f"{found[-1] / basis[-1]:.2g}"]
        for name, found in times.items()
    ]
    print(table(["method", *(f"n = {n:,}" for n in options.sizes), f"of {BASIS} at the last"], rows))
    facts = describe()
    print(f"\nHartmann6, medians of {options.repeats}, threads: {options.threads}; {facts['cpu']}.")


if __name__ == "__main__":
    main()

"""Whole runs in the paper's protocol, gssbo beside the loop on scikit-learn: in one process, on as many threads.

Usage: ``python -m bench.whole_run --problem hartmann6``. Each goes its own way from its own design, and all that is not
the objective counts. On Hartmann6 it takes some ten minutes, nearly all of them scikit-learn's; the report compares
slices of such runs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence

import numpy as np
from threadpoolctl import threadpool_limits

import gssbo
from bench import sklearn_path
from bench.markdown import head, line
from bench.workloads.loop import N_INIT, VARIANTS
from gssbo.methods import method_options
from gssbo.problems import Problem, get_problem

RUNS = 3  # of ours, with seeds from 0 on; the median counts


def ours(
    problem: Problem, variant: str, n_evals: int, *, subset_size: int, threads: int, seed: int
) -> tuple[float, float]:
    """Seconds without the objective, and the best value."""
    method, changes, _ = VARIANTS[variant]
    options = method_options(method, subset_size) | changes
    optimizer = gssbo.Optimizer(problem.bounds, threads=threads, rng=seed, **options)
    seconds = 0.0
    for _ in range(n_evals):
        begin = time.perf_counter()
        x = optimizer.ask()
        seconds += time.perf_counter() - begin
        y = problem(x)
        begin = time.perf_counter()
        optimizer.tell(x, y)
        seconds += time.perf_counter() - begin
    return seconds, float(optimizer.best_y)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.whole_run", description=__doc__.splitlines()[0])
    parser.add_argument("--problem", default="hartmann6")
    parser.add_argument("--iterations", type=int, default=1_000, help="after the design (default: 1000)")
    parser.add_argument("--subset-size", type=int, default=100)
    parser.add_argument("--threads", type=int, default=1, help="ours and BLAS's (default: 1)")
    options = parser.parse_args(arguments)
    problem = get_problem(options.problem, rng=0)
    n_evals = N_INIT + options.iterations
    lines = [head(["who", "seconds", "ms an iteration", "best value", "times as fast"])]

    def show(who: str, seconds: float, best: float, base: float) -> None:
        each = 1e3 * seconds / options.iterations
        lines.append(line([who, f"{seconds:.1f}", f"{each:.1f}", f"{best:.6g}", f"{base / seconds:.1f}"]))
        print(lines[-1], file=sys.stderr, flush=True)

    with threadpool_limits(limits=options.threads, user_api="blas"):
        found = sklearn_path.run(problem, problem.bounds, n_evals, options.subset_size, seed=0)
        base = sum(found.iteration_seconds)
        show("scikit-learn loop", base, float(found.y.min()), base)
        for variant in ("GSSBO", "GSSBO, frozen and cached"):
            runs = [
                ours(problem, variant, n_evals, subset_size=options.subset_size, threads=options.threads, seed=seed)
                for seed in range(RUNS)
            ]
            seconds, best = (float(np.median(each)) for each in zip(*runs, strict=True))
            show(variant, seconds, best, base)
    print(f"{problem.name}, {options.iterations} iterations, M = {options.subset_size}, {options.threads} thread(s)\n")
    print("\n".join(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Time and results of an Optuna study by sampler, as Markdown: ``python -m bench.optuna_study``.

Everybody gets the same budget of trials of Hartmann6 in memory, one worker, its own defaults, and one thread: the BLAS
is held to one, and so is ours. Optuna's GPSampler, which needs torch and slows down with the cube of the number of
trials, gets two minutes of the processor instead, or is left out where torch is not installed. Seconds are of the whole
study, with what Optuna itself needs for a trial, which the row of RandomSampler shows; the function takes none to speak
of. On a busy machine those of the processor are the ones to read.

    pip install '.[optuna,bench]' torch
    python -m bench.optuna_study > bench/results/optuna.md
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import optuna
from threadpoolctl import threadpool_limits

from bench.markdown import head, line
from gssbo.integrations.optuna import GSSBOSampler
from gssbo.machine import describe
from gssbo.problems import get_problem

PROBLEM = "hartmann6"
MARKS = (100, 300)

Samplers = dict[str, Callable[[int], optuna.samplers.BaseSampler]]


@dataclass
class Record:
    """What a study took and found: values in order, seconds of the wall and of the processor after each trial."""

    values: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)


def samplers() -> Samplers:
    """By name, from a seed; GPSampler only where torch is there."""
    listed: Samplers = {
        "RandomSampler": lambda seed: optuna.samplers.RandomSampler(seed=seed),
        "GSSBOSampler(method='box')": lambda seed: GSSBOSampler(seed=seed, threads=1, method="box"),
        "GSSBOSampler(method='portfolio')": lambda seed: GSSBOSampler(seed=seed, threads=1, method="portfolio"),
        "TPESampler()": lambda seed: optuna.samplers.TPESampler(seed=seed),
    }
    if importlib.util.find_spec("torch") is not None:
        listed["GPSampler()"] = lambda seed: optuna.samplers.GPSampler(seed=seed)
    return listed


def run(sampler: optuna.samplers.BaseSampler, n_trials: int, seconds: float | None) -> Record:
    """A study of so many trials, or of as many as begin within so many seconds of the processor."""
    problem, record = get_problem(PROBLEM), Record()
    study = optuna.create_study(sampler=sampler)

    def objective(trial: optuna.Trial) -> float:
        x = np.array([trial.suggest_float(f"x{i}", *problem.bounds[i]) for i in range(problem.dim)])
        return float(problem(x))

    start, cpu_start = time.perf_counter(), time.process_time()
    for _ in range(n_trials):
        study.optimize(objective, n_trials=1)
        record.wall.append(time.perf_counter() - start)
        record.processor.append(time.process_time() - cpu_start)
        if seconds is not None and record.processor[-1] > seconds:
            break
    record.values = [trial.value for trial in study.get_trials(deepcopy=False)]
    return record


def row(name: str, records: Sequence[Record], optimum: float) -> list[str]:
    """Cells of the table: medians over the seeds."""

    def median(values: Any) -> float:
        return statistics.median(values)

    n = min(len(record.values) for record in records)
    last = min(100, n - 1)
    cells = [
        name,
        f"{n:,}",
        f"{median(record.wall[n - 1] for record in records):.1f}",
        f"{median(record.processor[n - 1] for record in records):.1f}",
        f"{median(1e3 * (r.processor[n - 1] - r.processor[n - 1 - last]) / last for r in records):.1f}",
    ]
    for mark in MARKS:
        regrets = [min(record.values[:mark]) - optimum for record in records]
        cells.append(f"{median(regrets):.2g}" if mark <= n else "")
    return [*cells, f"{median(min(record.values) - optimum for record in records):.2g}"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run all samplers and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=1_000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--gp-seconds", type=float, default=120.0, help="of the processor, for a study of GPSampler")
    chosen = parser.parse_args(arguments)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
    optimum = get_problem(PROBLEM).optimum
    header = ["sampler", "trials", "wall s", "CPU s", "CPU ms a trial at the end"]
    header += [*(f"regret at {n:,}" for n in MARKS), "at the end"]
    print(f"# A study of {chosen.trials:,} trials, {PROBLEM}, {chosen.seeds} seed(s), one thread\n")
    print(head(header), flush=True)
    with threadpool_limits(1):
        for name, make in samplers().items():
            limit = chosen.gp_seconds if name.startswith("GPSampler") else None
            records = [run(make(seed), chosen.trials, limit) for seed in range(chosen.seeds)]
            print(line(row(name, records, optimum)), flush=True)
    found = describe()
    print(
        f"\nOptuna {optuna.__version__}, gssbo {found['gssbo']}, {found['python']}, NumPy {found['numpy']}, "
        f"{found['cpu']}, {found['cores']} cores, load average {os.getloadavg()[1]:.1f} over the last five minutes. "
        "Regret is the best value above the optimum."
    )


if __name__ == "__main__":
    main(sys.argv[1:])

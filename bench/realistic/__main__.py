"""Tasks as users bring them, the default beside other optimizers: ``python -m bench.realistic run``, ``table``.

A run is a line of a file; the table has the median over the seeds of the value at the point that seemed best, lower is
better. That value is without the noise that the optimizers saw.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .. import markdown
from ..searches import Spent
from . import responses, simulators, training
from .rivals import METHODS, applies
from .task import Point, Task

TASKS: dict[str, Task] = {**training.TASKS, **simulators.TASKS, **responses.TASKS}


def play(task: Task, method: str, seed: int) -> dict[str, Any]:
    """What a run found: the value at the point that seemed best, after a quarter, half and all of the evaluations."""
    rng = np.random.default_rng([seed, 7])
    values: list[float] = []
    seen: list[float] = []
    spent = 0.0

    def told(x: Point) -> float:
        nonlocal spent
        if len(seen) == task.n_evals:
            raise Spent
        begin = time.process_time()
        value = task.value(x)
        values.append(value)
        seen.append(value if task.told is None or np.isnan(value) else task.told(value, rng))
        spent += time.process_time() - begin
        return seen[-1]

    begin = time.process_time()
    with contextlib.suppress(Spent):
        METHODS[method](task, told, seed)
    seconds = time.process_time() - begin - spent
    n = task.n_evals
    found = [_chosen(values[:k], seen[:k]) for k in (n // 4, n // 2, n)]
    return {"found": found, "seconds": round(seconds, 2), "failed": int(np.isnan(values).sum())}


def _chosen(values: list[float], seen: list[float]) -> float | None:
    worst = np.where(np.isnan(seen), np.inf, seen)
    return None if np.isinf(worst).all() else values[int(np.argmin(worst))]


def run(options: argparse.Namespace) -> int:
    """Play what the file lacks."""
    done = set()
    if options.out.exists():
        done = {
            (each["task"], each["method"], each["seed"])
            for each in map(json.loads, options.out.read_text().splitlines())
        }
    for name in options.task:
        for method in options.method:
            for seed in range(options.first_seed, options.first_seed + options.seeds):
                label = options.label if options.label and method == "gssbo" else method
                if applies(method, TASKS[name]) and (name, label, seed) not in done:
                    record = {"task": name, "method": label, "seed": seed, **play(TASKS[name], method, seed)}
                    with options.out.open("a") as file:
                        file.write(json.dumps(record) + "\n")
                    print(json.dumps(record), flush=True)
    return 0


def table(options: argparse.Namespace) -> int:
    """Print medians over the seeds, and in brackets the worst of them."""
    runs = [json.loads(line) for path in options.results for line in path.read_text().splitlines()]
    methods = list(dict.fromkeys(each["method"] for each in runs))
    rows = []
    for name in TASKS:
        cells = []
        for method in methods:
            ends = [
                np.inf if each["found"][-1] is None else each["found"][-1]
                for each in runs
                if each["task"] == name and each["method"] == method
            ]
            cells.append(f"{np.median(ends):.4g} ({max(ends):.3g})" if ends else "-")
        rows.append([name, str(TASKS[name].n_evals), *cells])
    print(markdown.table(["task", "n", *methods], rows))
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.realistic", description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("run", help="play what the file lacks")
    one.add_argument("--task", nargs="+", choices=TASKS, default=list(TASKS), metavar="NAME")
    one.add_argument("--method", nargs="+", choices=METHODS, default=list(METHODS), metavar="NAME")
    one.add_argument("--seeds", type=int, default=3)
    one.add_argument("--first-seed", type=int, default=0)
    one.add_argument("--label", help="name of ours in the file")
    one.add_argument("--out", type=Path, required=True)
    one.set_defaults(command=run)
    shown = commands.add_parser("table", help="print medians")
    shown.add_argument("results", nargs="+", type=Path)
    shown.set_defaults(command=table)
    options = parser.parse_args(arguments)
    status: int = options.command(options)
    return status


if __name__ == "__main__":
    raise SystemExit(main())

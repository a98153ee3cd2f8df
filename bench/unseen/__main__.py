"""Kinds of problems that nothing was tuned on: the default beside CMA-ES, differential evolution and Optuna's TPE.

``python -m bench.unseen run --out runs.jsonl`` makes the runs that the file lacks, ``python -m bench.unseen table
runs.jsonl`` prints the table. Needs ioh, cma and Optuna. Each seed has another instance: of BBOB's functions instance
51 + seed, elsewhere another optimum, other rotations, coordinates and coefficients. What counts is the simple regret:
the value without noise, at the point that was told best, above the optimum. Budgets count the initial designs.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from .rivals import METHODS, PACKAGES, Objective, Spent
from .tasks import TASKS

Vector = np.ndarray
FLOOR = 1e-8  # regrets below are equal


def run(name: str, method: str, seed: int) -> dict[str, Any]:
    """One run; the method's seed and the instance's are the same."""
    objective = Objective(TASKS[name], seed)
    begin = time.process_time()
    with contextlib.suppress(Spent):
        METHODS[method](objective, seed)
    n = TASKS[name].n_evals
    regret = objective.regret()
    return {
        "task": name,
        "method": method,
        "seed": seed,
        "regret": {str(k): float(f"{regret[k - 1]:.6g}") for k in (n // 4, n // 2, n)},
        "seconds": round(time.process_time() - begin, 2),
        "version": version(PACKAGES[method]),
    }


def read(files: Sequence[Path]) -> dict[tuple[str, str, int], dict[str, Any]]:
    """Runs by task, method and seed; of equal ones the newest."""
    lines = [json.loads(line) for file in files if file.exists() for line in file.read_text().splitlines()]
    return {(each["task"], each["method"], each["seed"]): each for each in lines}


def table(files: Sequence[Path], share: float = 1.0) -> str:
    """Markdown: median regrets after a share of the evaluations, of the best bold whom no test tells from it."""
    runs = read(files)
    methods = [each for each in METHODS if any(method == each for _, method, _ in runs)]
    lines = [
        f"| problem | n | {' | '.join(methods)} | behind the median | times the best |",
        "|---|--:|" + "--:|" * len(methods) + "---|--:|",
    ]
    ranks: dict[str, list[int]] = {each: [] for each in methods}
    for name, task in TASKS.items():
        at = int(share * task.n_evals)
        found = {
            method: np.maximum(
                [each["regret"][str(at)] for key, each in runs.items() if key[:2] == (name, method)], FLOOR
            )
            for method in methods
        }
        found = {method: values for method, values in found.items() if len(values)}
        if "gssbo" not in found or len(found) < 2:
            continue
        cells = standing(found)
        for method, (rank, _) in cells.items():
            ranks[method].append(rank)
        others = [float(np.median(values)) for method, values in found.items() if method != "gssbo"]
        own = float(np.median(found["gssbo"]))
        shown = " | ".join(cells[method][1] if method in cells else "-" for method in methods)
        behind = "yes" if own > np.median(others) else ""
        lines.append(f"| {name} | {at} | {shown} | {behind} | {own / min(others):.2g} |")
    means = ", ".join(f"{method} {np.mean(each):.2f} ({len(each)})" for method, each in ranks.items() if each)
    return "\n".join(lines) + f"\n\nMean rank (problems): {means}."


def standing(found: dict[str, Vector]) -> dict[str, tuple[int, str]]:
    """Rank and cell of each method, of its regrets."""
    medians = {method: float(np.median(values)) for method, values in found.items()}
    best = min(medians, key=medians.__getitem__)
    ranks = stats.rankdata(list(medians.values()), method="min")
    cells = {}
    for (method, median), rank in zip(medians.items(), ranks, strict=True):
        text = f"{'found' if median <= FLOOR else f'{median:.3g}'} ({int(rank)})"
        tied = method == best or stats.mannwhitneyu(found[method], found[best]).pvalue > 0.05
        cells[method] = int(rank), f"**{text}**" if tied else text
    return cells


def main(arguments: Sequence[str] | None = None) -> int:
    """Run or show."""
    parser = argparse.ArgumentParser(prog="python -m bench.unseen", description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    make = commands.add_parser("run", help="the runs that a file lacks")
    make.add_argument("--out", type=Path, required=True)
    make.add_argument("--task", nargs="+", choices=TASKS, default=list(TASKS), metavar="NAME")
    make.add_argument("--method", nargs="+", choices=METHODS, default=list(METHODS)[:4], metavar="NAME")
    make.add_argument("--seeds", type=int, nargs=2, default=(0, 8), metavar=("FIRST", "END"))
    show = commands.add_parser("table", help="Markdown of files of runs")
    show.add_argument("files", type=Path, nargs="+")
    show.add_argument("--share", type=float, choices=(0.25, 0.5, 1.0), default=1.0, help="share of the evaluations")
    options = parser.parse_args(arguments)
    if options.command == "table":
        print(table(options.files, options.share))
        return 0
    known = read([options.out])
    for method in options.method:
        for name in options.task:
            for seed in range(*options.seeds):
                if (name, method, seed) not in known:
                    found = run(name, method, seed)
                    with options.out.open("a") as file:
                        file.write(json.dumps(found) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

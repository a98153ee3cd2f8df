"""The arena's commands, ``python -m bench.arena run`` and others; see bench/README.md."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..searches import Spent
from . import repeats, rows, versus
from .figure import draw
from .methods import Method, find
from .objective import Objective
from .plan import PLAN, missing
from .problems import bbob_names, find_problem
from .results import FOLDER, append, describe_run, key, load
from .table import document

GROUPS = {"all": rows.PROBLEMS, "paper": rows.PAPER, "shapes": rows.SHAPES, "long": rows.LONG}
GROUPS |= {f"bbob{dim}": bbob_names(dim) for dim in (5, 20)}


def play(name: str, method: Method, problem: str, seed: int, n_evals: int) -> dict[str, Any]:
    """Run a method on a problem until the budget is spent, and return the record.

    Raises
    ------
    RuntimeError
        If the method ends before that.
    """
    objective = Objective(find_problem(problem, seed), n_evals)
    method.load()
    objective.start()
    try:
        method.run(objective, seed)
    except Spent:
        seconds = objective.optimizer_seconds
        return describe_run(name, seed, method, objective, seconds)
    raise RuntimeError(f"{name} ended after {len(objective.told)} of {n_evals} evaluations of {problem}")


def run(options: argparse.Namespace) -> int:
    """Play what the file does not have yet."""
    method = find(options.method, options.options)
    label = options.label or options.method
    path = options.out or FOLDER / f"{label}.jsonl"
    done = set() if options.again or not path.exists() else {key(each) for each in load([path])}
    for problem in options.problem:
        name = find_problem(problem).name
        for seed in options.seeds:
            if (name, label, seed, options.n_evals) not in done:
                note(label, method, name, seed, options.n_evals, path)
    return 0


def note(label: str, method: Method, problem: str, seed: int, n_evals: int, path: Path) -> None:
    """Play, add the record to the file, and print a line."""
    begin = time.perf_counter()
    record = play(label, method, problem, seed, n_evals)
    append(path, record)
    last = str(n_evals)
    print(
        f"{problem} {label} seed {seed}: simple regret {record['simple'][last]:.4g}, optimizer "
        f"{record['seconds'][last]:.1f} s, in all {time.perf_counter() - begin:.1f} s",
        flush=True,
    )


def collect(options: argparse.Namespace) -> int:
    """Play what the plan wants of some methods and the record lacks."""
    runs = load([options.folder]) if options.folder.exists() else []
    done = {key(each) for each in runs}
    for name in options.methods:
        wanted = list(missing(name, done))
        print(f"{name}: {len(wanted)} runs to make", flush=True)
        for problem, seed, n_evals in [] if options.dry else wanted:
            note(name, find(name), problem, seed, n_evals, options.folder / f"{name}.jsonl")
    return 0


def table(options: argparse.Namespace) -> int:
    """Print the tables."""
    runs = load(options.results)
    print("\n".join(document(runs, options.problem, n_evals, options.methods) for n_evals in options.n_evals), end="")
    return 0


def against(options: argparse.Namespace) -> int:
    """Print how cumulative regret stands against that of other methods."""
    print(versus.table(load(options.results), options.problem, options.method, options.others), end="")
    return 0


def repeated(options: argparse.Namespace) -> int:
    """Print whether runs made again have the numbers on record; the exit status is 1 where one has not."""
    found = repeats.compare(load(options.again), load(options.record))
    print(repeats.report(found), end="")
    return 1 if found.changed else 0


def plot(options: argparse.Namespace) -> int:
    """Draw the figure."""
    runs = load(options.results)
    methods = options.methods or sorted({run["method"] for run in runs}, key=lambda name: (name != "gssbo", name))
    present = {run["problem"] for run in runs if run["n_evals"] >= options.n_evals and run["method"] in methods}
    problems = [problem for problem in options.problem if problem in present]
    if not problems:
        print(f"no runs of {options.n_evals} evaluations", file=sys.stderr)
        return 1
    draw(runs, problems, options.n_evals, methods, options.out)
    print(options.out)
    return 0


def problems(text: str) -> list[str]:
    """Split names and groups of problems."""
    return [name for part in text.split(",") for name in GROUPS.get(part, (part,))]


def seeds(text: str) -> list[int]:
    """Read numbers and ranges: ``0-4,7``."""
    found: list[int] = []
    for part in text.split(","):
        low, _, high = part.partition("-")
        found += range(int(low), int(high or low) + 1)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m bench.arena", description=__doc__)
    commands = parser.add_subparsers(required=True)
    groups = f"names, separated by commas, or {', '.join(GROUPS)}"

    one = commands.add_parser("run", help="run a method; runs that the file has already are skipped")
    one.add_argument("--method", required=True, help="see bench/arena/methods.py")
    one.add_argument(
        "--options", type=json.loads, metavar="JSON", help="keyword arguments of gssbo.Optimizer to change"
    )
    one.add_argument("--label", help="name of the method in the file; default: the method")
    one.add_argument("--problem", type=problems, required=True, help=groups)
    one.add_argument("--seeds", type=seeds, default=[0], help="for example 0-9 or 0,3,5 (default: 0)")
    one.add_argument("--n-evals", type=int, default=1_000, help="budget (default: 1000)")
    one.add_argument("--out", type=Path, metavar="FILE", help="default: bench/results/arena/<label>.jsonl")
    one.add_argument("--again", action="store_true", help="run what the file has too; the newest line counts")
    one.set_defaults(command=run)

    planned = list(dict.fromkeys(job.method for job in PLAN))
    rest = commands.add_parser("collect", help="make the runs that the record of the arena lacks, one after the other")
    rest.add_argument("--methods", type=lambda text: text.split(","), default=planned, help="default: all of the plan")
    rest.add_argument("--dry", action="store_true", help="only say how many")
    rest.add_argument("--folder", type=Path, default=FOLDER, help="the record; default: bench/results/arena")
    rest.set_defaults(command=collect)

    for name, command, text in (("table", table, "print Markdown tables"), ("plot", plot, "draw a PNG")):
        show = commands.add_parser(name, help=text)
        show.add_argument("--results", type=Path, nargs="+", default=[FOLDER], help="files or folders of results")
        show.add_argument("--methods", type=lambda text: text.split(","), help="default: all")
        show.add_argument("--problem", type=problems, default=list(rows.PROBLEMS), help=groups)
        if command is table:
            show.add_argument("--n-evals", type=int, nargs="+", default=[1_000], help="after how many evaluations")
        else:
            show.add_argument("--n-evals", type=int, default=1_000, help="evaluations shown (default: 1000)")
            show.add_argument("--out", type=Path, required=True, metavar="PNG")
        show.set_defaults(command=command)

    duel = commands.add_parser("versus", help="compare cumulative regret after the design, with 95 %% intervals")
    duel.add_argument("--results", type=Path, nargs="+", required=True, help="files or folders of results")
    duel.add_argument("--method", required=True)
    duel.add_argument("--others", type=lambda text: text.split(","), required=True, help="methods, separated by commas")
    duel.add_argument("--problem", type=problems, default=list(rows.PAPER), help=groups)
    duel.set_defaults(command=against)

    same = commands.add_parser("repeated", help="say whether runs made again have the numbers on record")
    same.add_argument("again", type=Path, nargs="+", help="files or folders of runs made again")
    same.add_argument("--record", type=Path, nargs="+", default=[FOLDER], help="default: bench/results/arena")
    same.set_defaults(command=repeated)

    options = parser.parse_args(arguments)
    if options.command is run and options.options and not options.label:
        parser.error("--options needs a --label, or the file would hold two methods under one name")
    try:
        return int(options.command(options))
    except (ValueError, ModuleNotFoundError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    sys.exit(main())

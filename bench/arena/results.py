"""Result files: JSON lines, one a run.

======================  ================================================================================================
key                     meaning
======================  ================================================================================================
problem, method, seed   what was run; with `n_evals` they tell runs apart
n_evals                 budget, all of it used
options                 keyword arguments given to the optimizer, where the method is one of gssbo's and not its default
simple                  simple regret at each checkpoint (see `objective` for what that is)
cumulative              cumulative regret at each checkpoint
seconds                 seconds of the processor the optimizer alone had used at each checkpoint
objective_seconds       the objective's seconds, in all
at, best                the curve of simple regret: it became `best[k]` at evaluation `at[k]`, counted from 1
versions                of Python, gssbo and the packages involved
commit                  of the checkout that ran, with ``+`` where files differed from it; null outside a checkout
machine                 processor and instruction set
======================  ================================================================================================
"""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from gssbo.machine import describe

from .methods import Method
from .objective import Objective
from .problems import packages_for
from .rows import CHECKPOINTS

__all__ = ["FOLDER", "append", "describe_run", "key", "load"]

FOLDER = Path(__file__).parents[1] / "results" / "arena"
ROOT = Path(__file__).parents[2]
DIGITS = 6  # significant ones, of regrets at checkpoints
CURVE_DIGITS = 4


def key(run: Mapping[str, Any]) -> tuple[str, str, int, int]:
    """Return what tells a run apart from others."""
    return run["problem"], run["method"], run["seed"], run["n_evals"]


def load(paths: Iterable[Path]) -> list[dict[str, Any]]:
    """Read every run in files and in the ``*.jsonl`` of folders; of runs with the same key the last counts."""
    files = [file for path in paths for file in (sorted(path.glob("*.jsonl")) if path.is_dir() else [path])]
    runs = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines() if line]
    return list({key(run): run for run in runs}.values())


def append(path: Path, run: Mapping[str, Any]) -> None:
    """Add a run to a file, which is made with its folder if need be."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(run, separators=(",", ":")) + "\n")


def describe_run(name: str, seed: int, method: Method, objective: Objective, seconds: float) -> dict[str, Any]:
    """Return the record of a run that has spent its budget; `seconds` are the optimizer's, in all."""
    n = len(objective.told)
    simple, cumulative = objective.simple_regret(), objective.cumulative_regret()
    marks = [mark for mark in CHECKPOINTS if mark < n] + [n]
    changed = np.flatnonzero(np.concatenate([[True], simple[1:] != simple[:-1]]))
    until = [*objective.stamps[1:], seconds]  # what is used before the next evaluation is asked for
    run = {
        "problem": objective.problem.name,
        "method": name,
        "seed": seed,
        "n_evals": n,
        "options": {k: v for k, v in (method.options or {}).items() if isinstance(v, str | int | float | bool)},
        "simple": {str(mark): _round(simple[mark - 1]) for mark in marks},
        "cumulative": {str(mark): _round(cumulative[mark - 1]) for mark in marks},
        "seconds": {str(mark): round(until[mark - 1], 3) for mark in marks},
        "objective_seconds": round(objective.seconds, 3),
        "at": (changed + 1).tolist(),
        "best": [_round(value, CURVE_DIGITS) for value in simple[changed]],
    }
    return run | _circumstances(method.packages + packages_for(objective.problem.name))


@lru_cache
def _circumstances(packages: tuple[str, ...]) -> dict[str, Any]:
    machine = describe()
    versions = {name: machine[name] for name in ("python", "gssbo", "numpy", "scipy")}
    versions |= {package: importlib.metadata.version(package) for package in packages}
    return {
        "versions": versions,
        "commit": _commit(),
        "machine": f"{machine['cpu']}, {machine['instruction_set']}, {machine['usable_cores']} cores",
    }


def _commit() -> str | None:
    def git(*arguments: str) -> str:
        return subprocess.run(
            ["git", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True
        ).stdout.strip()

    try:
        return git("rev-parse", "--short=12", "HEAD") + (
            "+" if git("status", "--porcelain", "src", "bench/arena") else ""
        )
    except (OSError, subprocess.CalledProcessError):
        return None


def _round(value: float, digits: int = DIGITS) -> float:
    return float(f"{value:.{digits}g}")

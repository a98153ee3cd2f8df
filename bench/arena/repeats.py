"""Runs that were made again, held against those on record: equal to the last digit that the files have, or not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .. import markdown
from .results import key

__all__ = ["NUMBERS", "Repeats", "compare", "report"]

Run = Mapping[str, Any]

NUMBERS = ("simple", "cumulative", "at", "best")
"""Keys whose values must be equal, the first two at every checkpoint that both runs have; seconds, versions and
machines differ from run to run."""


class Repeats(NamedTuple):
    """Runs that were made again, by how they compare with the record.

    Attributes
    ----------
    same : list of run
        Those with the numbers on record.
    changed : list of tuple (run, run)
        Those with other numbers, and what is on record.
    new : list of run
        Those that the record lacks.
    """

    same: list[Run]
    changed: list[tuple[Run, Run]]
    new: list[Run]


def compare(again: Iterable[Run], record: Iterable[Run]) -> Repeats:
    """Look each run up in the record, where the last with the same problem, method, seed and budget counts."""
    recorded = {key(run): run for run in record}
    found = Repeats([], [], [])
    for run in again:
        old = recorded.get(key(run))
        if old is None:
            found.new.append(run)
        elif all(_equal(run[name], old[name]) for name in NUMBERS):
            found.same.append(run)
        else:
            found.changed.append((run, old))
    return found


def _equal(value: Any, old: Any) -> bool:
    """Whether two curves are equal, or two mappings at the keys that both have: old records lack some checkpoints."""
    if isinstance(value, Mapping):
        return all(value[mark] == old[mark] for mark in value.keys() & old.keys())
    return bool(value == old)


def report(found: Repeats) -> str:
    """Return a Markdown table that counts them by method and budget, and below it a line for each run that changed."""
    groups = (found.same, [run for run, _ in found.changed], found.new)
    same, changed, new = (Counter((run["method"], run["n_evals"]) for run in group) for group in groups)
    rows = [
        [method, f"{n_evals:,}", *(str(counted[method, n_evals]) for counted in (same, changed, new))]
        for method, n_evals in sorted(same | changed | new)
    ]
    lines = [markdown.table(["method", "evaluations", "the same", "changed", "not on record"], rows)]
    if found.changed:
        lines.append("")
    lines += [f"- {_change(run, old)}" for run, old in found.changed]
    return "\n".join(lines) + "\n"


def _change(run: Run, old: Run) -> str:
    """Say what a run ended with, and with what on record."""
    last = str(run["n_evals"])
    ends = (f"{each['simple'][last]:.6g} (cumulative {each['cumulative'][last]:.6g})" for each in (run, old))
    return f"{run['problem']} {run['method']} seed {run['seed']}: simple regret {' on record '.join(ends)}"

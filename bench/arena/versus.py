"""One method against others over the same seeds: cumulative regret after the design, and whether it is worse.

Notation
--------
R       cumulative regret from the end of the initial design to the end of the run, in units of the objective
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import ttest_ind

from .. import markdown

__all__ = ["Comparison", "compare", "regrets", "table"]

DESIGN = "20"  # the checkpoint at the end of the paper's initial design


class Comparison(NamedTuple):
    """How R of one method stands against that of another.

    Attributes
    ----------
    ratio : float
        Mean R over mean R of the other.
    low, high : float
        95 % interval (Welch) of the difference of the means, this minus the other, in units of the objective.
    """

    ratio: float
    low: float
    high: float

    @property
    def worse(self) -> bool:
        """Whether it is worse beyond the interval."""
        return self.low > 0.0


def regrets(runs: Sequence[Mapping[str, Any]], problem: str, method: str) -> list[float]:
    """R of every run of a method on a problem, by seed; runs without a checkpoint after the design are left out."""
    found = [
        run for run in runs if (run["problem"], run["method"]) == (problem, method) and DESIGN in run["cumulative"]
    ]
    found.sort(key=lambda run: run["seed"])
    return [run["cumulative"][str(run["n_evals"])] - run["cumulative"][DESIGN] for run in found]


def compare(ours: Sequence[float], theirs: Sequence[float]) -> Comparison:
    """Compare two samples of R, each of two or more."""
    interval = ttest_ind(ours, theirs, equal_var=False).confidence_interval(0.95)
    return Comparison(float(np.mean(ours) / np.mean(theirs)), float(interval.low), float(interval.high))


def table(runs: Sequence[Mapping[str, Any]], problems: Sequence[str], method: str, others: Sequence[str]) -> str:
    """Return a Markdown table: mean R of every method, then the ratio to each other one and the interval."""
    rows = []
    for problem in problems:
        ours = regrets(runs, problem, method)
        if len(ours) < 2:
            continue
        cells = [_mean(ours)]
        verdicts = []
        for name in others:
            theirs = regrets(runs, problem, name)
            cells.append(_mean(theirs))
            verdicts.append(_verdict(compare(ours, theirs)) if len(theirs) > 1 else "")
        rows.append([problem, *cells, *verdicts])
    header = ["problem", method, *others, *(f"over {name}'s" for name in others)]
    return f"{markdown.table(header, rows)}\n"


def _mean(values: Sequence[float]) -> str:
    if not values:
        return ""
    spread = f" ± {np.std(values, ddof=1):,.4g}" if len(values) > 1 else ""
    return f"{np.mean(values):,.4g}{spread} ({len(values)})"


def _verdict(found: Comparison) -> str:
    word = "worse" if found.worse else "better" if found.high < 0.0 else "level"
    return f"{found.ratio:.3g}, {word} [{found.low:,.3g}, {found.high:,.3g}]"

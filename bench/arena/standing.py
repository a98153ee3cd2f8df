"""Who stands where: medians over seeds, ties, ranks.

A row is a problem at one budget. Regrets below `FLOOR` count as `FLOOR`: the optimum is found. On a row

- the first is the method with the lowest median simple regret,
- a method is tied with it if a two-sided Mann-Whitney test of its regrets against the first's gives p > 0.05,
- ranks go by median, equal medians sharing the better rank.

With three seeds on each side p cannot fall to 0.05, and such methods always tie: more seeds on one side tell them apart
(three against ten reach 0.007).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import mannwhitneyu

__all__ = ["FLOOR", "P_TIED", "Cell", "Row", "Tally", "rows", "tally"]

FLOOR = 1e-8
P_TIED = 0.05


@dataclass(frozen=True)
class Cell:
    """A method on a row.

    Parameters
    ----------
    simple : tuple of float
        Simple regrets by seed, not floored.
    cumulative, seconds : tuple of float
        Cumulative regrets and seconds of the optimizer by seed.
    """

    simple: tuple[float, ...]
    cumulative: tuple[float, ...]
    seconds: tuple[float, ...]

    @property
    def floored(self) -> np.ndarray:
        """Simple regrets (seeds,), none below the floor."""
        return np.maximum(self.simple, FLOOR)

    @property
    def median(self) -> float:
        """Median simple regret, floored."""
        return float(np.median(self.floored))


@dataclass(frozen=True)
class Row:
    """A problem at one budget: a cell for each method."""

    problem: str
    n_evals: int
    cells: Mapping[str, Cell]

    @property
    def first(self) -> str:
        """The method with the lowest median."""
        return min(self.cells, key=lambda name: self.cells[name].median)

    def tied(self) -> list[str]:
        """Return the first and the methods tied with it."""
        best = self.cells[self.first].floored
        return [name for name, cell in self.cells.items() if p_value(cell.floored, best) > P_TIED]

    def rank(self, name: str) -> int:
        """Rank by median, from 1."""
        return 1 + sum(cell.median < self.cells[name].median for cell in self.cells.values())

    def beats_median_peer(self, name: str, peers: Iterable[str]) -> bool | None:
        """Whether the median regret is at most the median of the peers' medians; None where one side is missing."""
        medians = [self.cells[peer].median for peer in peers if peer in self.cells]
        if name not in self.cells or not medians:
            return None
        return bool(self.cells[name].median <= np.median(medians))


def p_value(a: np.ndarray, b: np.ndarray) -> float:
    """Two-sided p of the Mann-Whitney test; 1 where all values are equal."""
    if np.ptp(np.concatenate([a, b])) == 0.0:
        return 1.0
    return float(mannwhitneyu(a, b).pvalue)


def rows(runs: Iterable[Mapping[str, Any]], problems: Sequence[str], n_evals: int) -> list[Row]:
    """Collect the rows of these problems after so many evaluations, from runs whose record has that checkpoint.

    Of several runs of one problem, method and seed the shortest counts.
    """
    chosen: dict[tuple[str, str, int], Mapping[str, Any]] = {}
    for run in sorted(runs, key=lambda run: -run["n_evals"]):
        if str(n_evals) in run["simple"]:
            chosen[run["problem"], run["method"], run["seed"]] = run
    found = []
    for problem in problems:
        cells = {}
        for method in sorted({m for p, m, _ in chosen if p == problem}):
            mine = [chosen[each] for each in sorted(chosen) if each[:2] == (problem, method)]
            values = ([run[what][str(n_evals)] for run in mine] for what in ("simple", "cumulative", "seconds"))
            cells[method] = Cell(*map(tuple, values))
        if cells:
            found.append(Row(problem, n_evals, cells))
    return found


@dataclass(frozen=True)
class Tally:
    """How a method fares over rows: on how many it has a cell, is first, first or tied, its mean rank."""

    n_rows: int
    first: int
    tied: int
    mean_rank: float


def tally(found: Sequence[Row], name: str) -> Tally:
    """Count over the rows that have the method."""
    mine = [row for row in found if name in row.cells]
    ranks = [row.rank(name) for row in mine]
    return Tally(
        n_rows=len(mine),
        first=sum(rank == 1 for rank in ranks),
        tied=sum(name in row.tied() for row in mine),
        mean_rank=float(np.mean(ranks)) if ranks else float("nan"),
    )

"""Markdown tables of the arena's standing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import markdown
from .standing import FLOOR, P_TIED, Cell, Row, rows, tally

__all__ = ["document"]

OURS = "gssbo"


def document(
    runs: Sequence[Mapping[str, Any]], problems: Sequence[str], n_evals: int, methods: Sequence[str] | None = None
) -> str:
    """Tables of simple regret, cumulative regret and optimizer seconds after so many evaluations, and a tally.

    Parameters
    ----------
    runs : sequence of dict
        Records, as in a result file.
    problems : sequence of str
        Rows, in order.
    n_evals : int
        Checkpoint.
    methods : sequence of str, optional
        Columns; default: all that have a run with this checkpoint.
    """
    kept = [run for run in runs if methods is None or run["method"] in methods]
    found = rows(kept, problems, n_evals)
    if not found:
        return f"No runs with a record after {n_evals:,} evaluations.\n"
    present = {name for row in found for name in row.cells}
    names = [name for name in methods if name in present] if methods else sorted(present, key=lambda n: (n != OURS, n))
    seeds = {name: sorted({len(row.cells[name].simple) for row in found if name in row.cells}) for name in names}
    parts = [
        f"### After {n_evals:,} evaluations",
        "Seeds: " + ", ".join(f"{name} {_range(n)}" for name, n in seeds.items()) + ".",
        "Median simple regret (rank). Bold: first, or tied with the first (two-sided Mann-Whitney test, "
        f"p > {P_TIED:g}). Regrets below {FLOOR:g} count as found.",
        _grid(found, names, _standing),
        _tallies(found, names),
        "Median cumulative regret.",
        _grid(found, names, lambda row, name: _number(np.median(row.cells[name].cumulative))),
        "Median seconds of the optimizer alone (one thread, processor time).",
        _grid(found, names, lambda row, name: _number(np.median(row.cells[name].seconds))),
    ]
    return "\n\n".join(parts) + "\n"


def _range(ascending: Sequence[int]) -> str:
    first, last = ascending[0], ascending[-1]
    return f"{first}" if first == last else f"{first}-{last}"


def _standing(row: Row, name: str) -> str:
    cell: Cell = row.cells[name]
    value = "found" if cell.median <= FLOOR else _number(cell.median)
    text = f"{value} ({row.rank(name)})"
    return f"**{text}**" if name in row.tied() else text


def _tallies(found: Sequence[Row], names: Sequence[str]) -> str:
    lines = []
    for name in names:
        count = tally(found, name)
        others = [other for other in names if other != name]
        holds = [row.beats_median_peer(name, others) for row in found]
        judged = [each for each in holds if each is not None]
        lines.append(
            [
                name,
                *map(str, (count.n_rows, count.first, count.tied)),
                f"{count.mean_rank:.2f}",
                f"{sum(judged)} of {len(judged)}",
            ]
        )
    header = ["method", "rows", "first", "first or tied", "mean rank", "not behind the median of the others"]
    return markdown.table(header, lines)


def _grid(found: Sequence[Row], names: Sequence[str], show: Callable[[Row, str], str]) -> str:
    return markdown.table(
        ["problem", *names],
        ([row.problem, *(show(row, name) if name in row.cells else "" for name in names)] for row in found),
    )


def _number(value: float) -> str:
    """Three significant digits, with an exponent only where needed."""
    if value == 0.0:
        return "0"
    if 1e-3 <= abs(value) < 1e5:
        digits = max(0, 2 - int(np.floor(np.log10(abs(value)))))
        return f"{value:,.{digits}f}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"

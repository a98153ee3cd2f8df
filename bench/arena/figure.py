"""Figures of the arena: simple regret over evaluations, a panel for each problem."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .standing import FLOOR

__all__ = ["chosen", "curve", "draw"]

COLUMNS = 4
COLORS = ("#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf", "#ff7f0e")


def curve(run: Mapping[str, Any], n: np.ndarray) -> np.ndarray:
    """Simple regret of a run after `n` evaluations each, floored; NaN beyond its end."""
    step = np.searchsorted(run["at"], n, side="right") - 1
    values = np.maximum(np.array(run["best"])[step], FLOOR)
    return np.where(n <= run["n_evals"], values, np.nan)


def chosen(runs: Iterable[Mapping[str, Any]], problem: str, method: str, n_evals: int) -> list[Mapping[str, Any]]:
    """One run a seed: the shortest of at least so many evaluations, or else the longest there is."""
    mine = [run for run in runs if (run["problem"], run["method"]) == (problem, method)]

    def preference(run: Mapping[str, Any]) -> tuple[bool, int]:
        short = run["n_evals"] < n_evals
        return short, -run["n_evals"] if short else run["n_evals"]

    seeds = sorted({run["seed"] for run in mine})
    return [min((run for run in mine if run["seed"] == seed), key=preference) for seed in seeds]


def draw(
    runs: Sequence[Mapping[str, Any]], problems: Sequence[str], n_evals: int, methods: Sequence[str], path: Path
) -> None:
    """Write a PNG of the first `n_evals` evaluations: medians and quartiles over the seeds that last as long."""
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator

    n_rows = -(-len(problems) // COLUMNS)
    with matplotlib.rc_context({"font.size": 8, "axes.spines.top": False, "axes.spines.right": False}):
        figure = Figure(figsize=(3.2 * min(COLUMNS, len(problems)), 2.3 * n_rows + 0.4), layout="constrained")
        axes = figure.subplots(n_rows, min(COLUMNS, len(problems)), squeeze=False).ravel()
        for ax in axes[len(problems) :]:
            ax.set_axis_off()
        lines = {}
        for problem, ax in zip(problems, axes, strict=False):
            for color, method in zip(COLORS, methods, strict=False):
                mine = chosen(runs, problem, method, n_evals)
                if not mine:
                    continue
                last = min(n_evals, max(run["n_evals"] for run in mine))
                n = np.unique(np.geomspace(1, last, 300).round().astype(int))
                curves = [curve(run, n) for run in mine if run["n_evals"] >= last]
                low, middle, high = np.percentile(curves, (25, 50, 75), axis=0)
                lines[method] = ax.plot(n, middle, color=color, linewidth=1.3)[0]
                ax.fill_between(n, low, high, color=color, alpha=0.15, linewidth=0)
            ax.set(title=problem, yscale="log", xlim=(0, n_evals))
            ax.yaxis.set_major_locator(LogLocator(numticks=6))
        shown = [method for method in methods if method in lines]
        figure.legend([lines[m] for m in shown], shown, loc="outside upper center", ncols=len(shown), frameon=False)
        figure.supxlabel("evaluations")
        figure.supylabel("simple regret, median and quartiles")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=90)

"""Draw `docs/images/ask-time.svg`: what a suggestion costs against the number of observations held.

Usage: ``python bench/ask_time.py [FILE]``. It takes about two minutes; nothing else should run meanwhile.

Hartmann6. A history of uniform points is told in bulk, one untimed suggestion sets the surrogate up, and the mean over
some more (ask, evaluate, tell) is a point of a curve: five, or forty of the portfolio, whose searchers take turns and
differ. A curve ends at the first point above `LIMIT`.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import gssbo
from gssbo.machine import describe
from gssbo.methods import method_options
from gssbo.problems import get_problem

SIZES = (50, 100, 200, 400, 800, 1600, 3200, 6400, 12800)
LIMIT = 2.0  # seconds
CURVES: dict[str, tuple[dict[str, Any], int, str]] = {
    # options, suggestions timed, colour
    "all observations (exact GP)": (method_options("gp-ucb"), 5, "#777777"),
    "paper's preset: M = 100, chosen from the whole history": (method_options("gssbo", 100), 5, "#c8611a"),
    "box: M = 100, chosen from the newest 400": ({"method": "box"}, 5, "#7a4fb0"),
    "default: portfolio, M = 100": ({}, 40, "#1f5fa8"),
}


def ask_seconds(n: int, options: dict[str, Any], repeats: int) -> float:
    """Return the mean seconds of a suggestion with n observations held."""
    problem = get_problem("hartmann6")
    optimizer = gssbo.Optimizer(problem.bounds, rng=0, **options)
    X = np.random.default_rng(1).random((n, problem.dim))
    optimizer.tell(X, problem(X))
    seconds = []
    for _ in range(1 + repeats):
        x = optimizer.ask()
        seconds.append(optimizer.last_ask_seconds)
        optimizer.tell(x, problem(x))
    return float(np.mean(seconds[1:]))


def main(target: Path) -> None:
    """Measure and draw."""
    figure = Figure(figsize=(7.2, 4.0), layout="constrained")
    axes = figure.add_subplot()
    for label, (options, repeats, color) in CURVES.items():
        measured: list[float] = []
        for n in SIZES:
            measured.append(ask_seconds(n, options, repeats))
            print(f"{label}: n = {n}, {1e3 * measured[-1]:.1f} ms", flush=True)
            if measured[-1] > LIMIT:
                break
        axes.loglog(SIZES[: len(measured)], 1e3 * np.array(measured), "o-", color=color, label=label, markersize=4)
    axes.set(xlabel="observations held", ylabel="milliseconds a suggestion")
    axes.set_title("Hartmann6, one suggestion after many observations", fontsize="medium")
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, fontsize="small")
    facts = describe()
    figure.supxlabel(f"gssbo {facts['gssbo']}, {facts['cpu']}", fontsize="x-small", color="#777777", x=0.99, ha="right")
    target.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(target, metadata={"Date": None} if target.suffix == ".svg" else None)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "images" / "ask-time.svg")

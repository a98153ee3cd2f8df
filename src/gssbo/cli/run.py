"""`gssbo run`: a problem, a method, a budget; progress while it runs, then a report."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

from gssbo.cli.arguments import natural, positive, subset_size
from gssbo.cli.errors import FAILED, INTERRUPTED, fail
from gssbo.cli.listings import methods_table
from gssbo.cli.loop import Run, start
from gssbo.cli.report import VALUE_NAMES, report
from gssbo.cli.summary import summarize
from gssbo.cli.text import paragraph
from gssbo.default_method import DEFAULT, method_for
from gssbo.exceptions import MissingDependencyError
from gssbo.plot import plot_run
from gssbo.problems import PROBLEMS
from gssbo.progress import display_for, make_display

__all__ = ["add_commands"]


def add_commands(commands: Any) -> None:
    """Add `run` to the parser."""
    parser = commands.add_parser(
        "run",
        help="optimize a test problem",
        description="Optimize a test problem and report what was found and what it cost.",
        epilog=f"problems:\n{', '.join(PROBLEMS)}\n\nmethods:\n{methods_table()}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("problem", metavar="PROBLEM", help="see `gssbo problems`")
    parser.add_argument(
        "--n-evals", type=positive, default=1000, metavar="N",
        help="evaluations in total, the initial design included (default: 1000)",
    )  # fmt: skip
    parser.add_argument(
        "--method", metavar="NAME", help=f"see below (default: {DEFAULT}; box for a dynamic subset size)"
    )
    parser.add_argument(
        "--subset-size", type=subset_size, metavar="M",
        help="observations retained (default: 100), or, for the box, 'dynamic': fixed by the first slow iteration here",
    )  # fmt: skip
    parser.add_argument("--dim", type=positive, metavar="D", help="dimension, where the problem allows a choice")
    parser.add_argument("--seed", type=natural, default=0, metavar="S", help="same seed, same run (default: 0)")
    parser.add_argument("--out", type=Path, metavar="DIR", help="write the report as JSON, and a PNG of the run, here")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of the report")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.set_defaults(command=lambda options: _run(parser, options))


def _run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    try:
        run = start(
            options.problem,
            dim=options.dim,
            method=options.method or method_for({"subset_size": options.subset_size}),
            subset_size=options.subset_size,
            seed=options.seed,
            n_evals=options.n_evals,
        )
        if options.out is not None:
            if options.out.exists() and not options.out.is_dir():
                raise ValueError(f"--out must be a folder, got the file {str(options.out)!r}")
            options.out.mkdir(parents=True, exist_ok=True)
    except ValueError as error:
        parser.error(str(error))
    except (OSError, MissingDependencyError) as error:
        fail(parser, error)
    title, budget = run.problem.name, run.n_evals
    with display_for(False, budget) if options.quiet else make_display(title, budget) as show:
        run.go(show)
    summary = summarize(run)
    unwritten = None
    try:
        summary["files"] = [] if options.out is None else [str(path) for path in _write(run, summary, options.out)]
    except OSError as error:  # the run is done: show it before complaining
        summary["files"], unwritten = [], error
    if options.json:
        sys.stdout.write(json.dumps(summary, indent=2) + "\n")
    else:
        sys.stdout.write(f"{report(summary)}\n\n{_files(summary['files'])}\n")
    if unwritten is not None:
        sys.stderr.write(f"gssbo: error: could not write the report to {options.out}: {unwritten}\n")
        return FAILED
    return INTERRUPTED if run.interrupted else 0


def _write(run: Run, summary: dict[str, Any], folder: Path) -> list[Path]:
    """Write the summary with its curves, and a PNG of the curves where matplotlib is there."""
    size = "" if run.subset_size is None else f"-{run.subset_size}"
    stem = folder / f"{run.problem.name}-{run.method}{size}-seed{run.seed}"
    n = len(run.optimizer_seconds)
    curves = {
        "values": run.optimizer.y[:n].tolist(),
        "optimizer_seconds": run.optimizer_seconds,
        "objective_seconds": run.objective_seconds,
    }
    document = stem.with_suffix(".json")
    document.write_text(json.dumps({**summary, "curves": curves}, indent=2) + "\n", encoding="utf-8")
    if n == 0 or not _can_plot():
        return [document]
    figure = plot_run(
        **curves,
        title=f"{run.problem.name}, method {run.method}, seed {run.seed}",
        value_name=VALUE_NAMES.get(run.problem.name, "objective"),
        optimum=run.problem.optimum,
        noisy=run.problem.stochastic,
        n_init=run.optimizer.n_init,
        random_search_step=run.problem.normalizer().mean_regret,
        retention_began_at=run.optimizer.switched_at,
    )
    picture = stem.with_suffix(".png")
    figure.savefig(picture, dpi=150)
    return [document, picture]


def _can_plot() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def _files(written: list[str]) -> str:
    if not written:
        return paragraph("With --out DIR the report is kept as JSON, with a PNG of regret and time." + _missing())
    return f"Written: {', '.join(written)}" + ("" if _can_plot() else f"\n{_missing().strip()}")


def _missing() -> str:
    return "" if _can_plot() else " The PNG needs matplotlib: pip install 'gssbo[plot]'."

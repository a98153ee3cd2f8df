"""`gssbo best`, `gssbo plot`, `gssbo compact`: what a journal holds, and less of it."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from gssbo._typing import FloatArray
from gssbo.cli.errors import add_skip_damaged, fail, journal_warnings
from gssbo.cli.program import cause
from gssbo.cli.text import named, paragraph, plain, written
from gssbo.entry import Entry
from gssbo.exceptions import JournalError, MissingDependencyError
from gssbo.journal import compact, read_journal
from gssbo.journal.record import Record
from gssbo.ledger import Ledger
from gssbo.modelled import Best
from gssbo.optimizer import Optimizer
from gssbo.plot import plot_run
from gssbo.plot.canvas import regrets
from gssbo.recorded import ledger_of

__all__ = ["add_commands"]


def add_commands(commands: Any) -> None:
    """Add `best`, `plot` and `compact` to the parser."""
    best = commands.add_parser("best", help="the best point in a journal", description="Print the best point of a run.")
    best.add_argument("journal", type=Path, metavar="JOURNAL", help="of a run that is over, broken off or going on")
    best.add_argument("--json", action="store_true", help="print one JSON object")
    best.add_argument(
        "--by", choices=("observed", "model"), default="observed",
        help="of noisy values the best is the luckiest: a model fitted to all of them knows better (default: observed)",
    )  # fmt: skip
    add_skip_damaged(best)
    best.set_defaults(command=lambda options: _best(best, options))

    plot = commands.add_parser("plot", help="draw what a journal holds", description="Draw values and time of a run.")
    plot.add_argument("journal", type=Path, metavar="JOURNAL")
    plot.add_argument("--out", type=Path, required=True, metavar="FILE", help="PNG, PDF or SVG by its ending")
    plot.add_argument("--log", action="store_true", help="logarithmic axis of values, which must be above 0")
    plot.add_argument("--optimum", type=float, metavar="Y", help="best value there is: draw how far from it values are")
    add_skip_damaged(plot)
    plot.set_defaults(command=lambda options: _plot(plot, options))

    smaller = commands.add_parser(
        "compact",
        help="make a journal smaller",
        description="Leave out all snapshots but the last; everything asked and told stays.",
    )
    smaller.add_argument("journal", type=Path, metavar="JOURNAL", help="of a run that is not going on")
    add_skip_damaged(smaller)
    smaller.set_defaults(command=lambda options: _compact(smaller, options))


def _compact(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    try:
        with journal_warnings(parser):
            before, after = compact(options.journal, skip_damaged=options.skip_damaged)
    except JournalError as error:
        fail(parser, error)
    sys.stdout.write(f"{before:,} bytes before, {after:,} now\n")
    return 0


def _best(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    try:
        with journal_warnings(parser):
            record = read_journal(options.journal, skip_damaged=options.skip_damaged)
    except JournalError as error:
        fail(parser, error)
    ledger = ledger_of(record)
    if len(record.space.constraints) < len(record.header.get("constraints", [])):
        lost = "a constraint is not in the journal but for its bounds: the best is that of all that meet the others"
        sys.stderr.write(f"{parser.prog}: warning: {lost}\n")
    best = Best(ledger.best_x, ledger.best_y, None) if options.by == "observed" else _best_by_model(record, ledger)
    failures = [cause(failure.reason) for failure in ledger.failures]
    pending = [{"id": suggestion.id, "x": plain(suggestion.x)} for suggestion in ledger.pending]
    if options.json:
        document = {
            "best": None if best.x is None else plain(best.x),
            "value": best.y,
            **({} if best.std is None else {"std": best.std}),
            "n_told": ledger.n_told,
            "n_failed": ledger.n_failed,
            "failures": failures,
            "pending": pending,
        }
        sys.stdout.write(json.dumps(document, default=str) + "\n")
        return 0
    if best.y is None:
        sys.stdout.write(f"no value yet: {ledger.n_told} told, {ledger.n_failed} of them failed\n")
    else:
        point = "\n".join(f"  {name} = {written(value)}" for name, value in named(ledger.space, best.x))
        value = f"value {best.y:.10g}" if best.std is None else f"mean {best.y:.10g} (+/- {best.std:.2g}), by a model"
        sys.stdout.write(f"best {value} of {ledger.n_told} told, {ledger.n_failed} of them failed\n{point}\n")
    if failures:
        sys.stdout.write(paragraph(f"the last failure: {failures[-1]}") + "\n")
    for each in pending:
        sys.stdout.write(f"pending {each['id']}: {json.dumps(each['x'], default=str)}\n")
    return 0


def _best_by_model(record: Record, ledger: Ledger) -> Best:
    """What a model of everything told takes for the best: of the default method, whichever the run's was."""
    optimizer = Optimizer(record.space, maximize=ledger.maximize, rng=0)
    told = [
        (each.rows, each.y, each.noise_std) for each in record.entries if each.rows is not None and each.y is not None
    ]
    if told:
        rows, values, noises = zip(*told, strict=True)
        noise_std = [np.zeros(len(y)) if std is None else std for y, std in zip(values, noises, strict=True)]
        points = record.space.show(np.concatenate(rows))
        optimizer.tell(points, np.concatenate(values), noise_std=np.concatenate(noise_std))
    return optimizer.best("model")


def _ask_seconds(entries: list[Entry], n_told: int) -> FloatArray:
    """Cumulative seconds of the optimizer (n,) when each observation was told."""
    spent, after = 0.0, []
    for entry in entries:
        spent += entry.seconds or 0.0
        if entry.kind == "tell" and entry.y is not None:
            after += [spent] * len(entry.y)
    return np.array(after[:n_told])


def _plot(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    try:
        if not options.out.suffix:
            raise ValueError(f"--out must have an ending, .png, .pdf or .svg, got {options.out}")
        with journal_warnings(parser):
            record = read_journal(options.journal, skip_damaged=options.skip_damaged)
        ledger = ledger_of(record)
        if ledger.n_told == ledger.n_failed:
            raise JournalError(f"{options.journal} holds no value yet")
        values, name = _drawn(ledger, options.optimum)
        if options.log and options.optimum is None and np.nanmin(values) <= 0.0:
            raise ValueError("--log must come with --optimum, unless all values are above 0")
        if options.log and np.nanmax(values) <= 0.0:
            raise ValueError(f"--log must have a value that is not the optimum, got {options.optimum:g} alone")
        figure = plot_run(
            values,
            _ask_seconds(record.entries, ledger.n_told),
            title=options.journal.name,
            value_name=f"{name} (logarithmic)" if options.log else name,
            maximize=ledger.maximize and options.optimum is None,
            n_init=0,
        )
        if options.log:
            figure.axes[0].set_yscale("log")
        figure.savefig(options.out, dpi=150)
    except (JournalError, MissingDependencyError, OSError, ValueError) as error:
        fail(parser, error)
    sys.stdout.write(f"{options.out}\n")
    return 0


def _drawn(ledger: Ledger, optimum: float | None) -> tuple[FloatArray, str]:
    """What is drawn (n,), the values or how far they are from the optimum, NaN where one failed; and its name."""
    if optimum is None:
        return ledger.y, "objective"
    gaps = regrets("--optimum", optimum, ledger.y, maximize=ledger.maximize)
    return gaps, f"objective {'below' if ledger.maximize else 'above'} {optimum:g}"

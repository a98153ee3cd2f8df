"""`gssbo export`: what was told, as a table that other programs read."""

from __future__ import annotations

import argparse
import csv
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from gssbo.cli.errors import add_skip_damaged, fail, journal_warnings
from gssbo.cli.program import cause
from gssbo.cli.table import own_columns
from gssbo.cli.text import labels, named, written
from gssbo.journal import read_journal
from gssbo.journal.record import Record
from gssbo.recorded import ledger_of

__all__ = ["add_commands"]


def add_commands(commands: Any) -> None:
    """Add `export` to the parser."""
    parser = commands.add_parser(
        "export",
        help="write the observations in a journal as CSV",
        description="Write what was told, in order, as CSV with a header; pending suggestions are not in it. "
        "`gssbo tell --from` and `gssbo tune --from` read such a table.",
    )
    parser.add_argument("journal", type=Path, metavar="JOURNAL", help="of a run that is over, broken off or going on")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write there (default: standard output)")
    add_skip_damaged(parser)
    parser.set_defaults(command=lambda options: _export(parser, options))


def _export(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    out: Path | None = options.out
    try:
        with journal_warnings(parser):
            table = list(_table(read_journal(options.journal, skip_damaged=options.skip_damaged)))
        if out is not None:
            if out.exists() and out.samefile(options.journal):
                raise ValueError(f"--out must be another file than the journal, got {out}")
            with out.open("w", encoding="utf-8", errors="backslashreplace", newline="") as file:
                csv.writer(file, lineterminator="\n").writerows(table)
    except (OSError, ValueError) as error:
        fail(parser, error)
    if out is None:
        csv.writer(sys.stdout, lineterminator="\n").writerows(table)
    else:
        sys.stdout.write(f"{out}\n")
    return 0


def _table(record: Record) -> Iterator[list[Any]]:
    """The header, then a line an observation."""
    tells = [entry for entry in record.entries if entry.kind == "tell"]
    noisy = any(entry.noise_std is not None for entry in tells)
    names, reasons = labels(record.space), ledger_of(record).reasons
    own, told_why = own_columns(names), len(reasons) > 0
    last = ("value", "failed", *["reason"] * told_why, *["noise_std"] * noisy, "prior")
    yield [own["number"], *names, *(own[name] for name in last)]
    number = 0
    for entry in tells:
        assert entry.rows is not None and entry.y is not None
        points = record.space.show(entry.rows)
        noise_std: list[Any] = [""] * len(points) if entry.noise_std is None else entry.noise_std.tolist()
        for point, y, std in zip(points, entry.y.tolist(), noise_std, strict=True):
            values = [written(value) for _, value in named(record.space, point)]
            failed, reason = math.isnan(y), cause(reasons.get(number, ""))
            outcome = ["" if failed else y, written(failed), *[reason] * told_why, *[std] * noisy, written(entry.prior)]
            number += 1
            yield [number, *values, *outcome]

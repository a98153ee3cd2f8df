"""`gssbo tell`: observations for a journal, one or a table of them."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path
from typing import Any

from gssbo.cli.errors import add_skip_damaged, fail, note_unread
from gssbo.cli.reading import read_points
from gssbo.cli.table import read_table, tell_table
from gssbo.cli.text import labels
from gssbo.cli.turns import add_wait, continued
from gssbo.ledger import Ledger

__all__ = ["add_commands"]


def add_commands(commands: Any) -> None:
    """Add `tell` to the parser."""
    parser = commands.add_parser(
        "tell",
        help="add observations to a journal",
        description="Add an observation, or a table of them, to the journal of a run that is not going on.",
        epilog="examples: gssbo tell run.jsonl lr=0.01 act=relu --value 0.25; gssbo tell run.jsonl --from old.csv",
    )
    parser.add_argument("journal", type=Path, metavar="JOURNAL")
    parser.add_argument("point", nargs="*", metavar="NAME=VALUE", help="each parameter; or --id, or --from")
    parser.add_argument("--id", type=int, metavar="N", help="number of a pending suggestion, see `gssbo ask`")
    outcome = parser.add_mutually_exclusive_group(required=True)
    outcome.add_argument("--value", type=float, metavar="Y", help="what was observed")
    outcome.add_argument("--failed", action="store_true", help="the evaluation failed")
    outcome.add_argument(
        "--from", type=Path, dest="table", metavar="FILE",
        help="a CSV or TSV table, as `gssbo export` or `gssbo ask` writes it: a column for each parameter and `value`, "
        "empty where the evaluation failed; what the journal has already is left out",
    )  # fmt: skip
    parser.add_argument("--reason", metavar="TEXT", help="with --failed: why, for `gssbo best` and `gssbo export`")
    parser.add_argument(
        "--noise-std", type=float, metavar="S", help="standard deviation of the value's noise, if known"
    )
    parser.add_argument("--prior", action="store_true", help="made before the run: not counted by `tune --n-evals`")
    add_skip_damaged(parser)
    add_wait(parser)
    parser.set_defaults(command=lambda options: _tell(parser, options))


def _tell(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    try:
        with continued(parser, options) as ledger:
            if options.table is None:
                _tell_one(ledger, options)
            else:
                _tell_table(parser, ledger, options)
            best = "no value yet" if ledger.best_y is None else f"best value {ledger.best_y}"
            sys.stdout.write(f"{ledger.n_told} told, {best}\n")
    except ValueError as error:
        fail(parser, error)
    return 0


def _tell_one(ledger: Ledger, options: argparse.Namespace) -> None:
    if options.reason is not None and not options.failed:
        raise ValueError("--reason must come with --failed: it says why")
    value = math.nan if options.failed else options.value
    said = {"noise_std": options.noise_std, "reason": options.reason}
    if options.id is None:
        tell = ledger.tell_prior if options.prior else ledger.tell
        tell(_point(ledger, options.point), value, **said)
    elif options.point:
        raise ValueError("the point must not be given with --id")
    elif options.prior:
        raise ValueError("--prior must not be given with --id: a suggestion is of the run")
    else:
        ledger.tell(id=options.id, y=value, **said)


def _tell_table(parser: argparse.ArgumentParser, ledger: Ledger, options: argparse.Namespace) -> None:
    if options.point or any(each is not None for each in (options.id, options.noise_std, options.reason)):
        raise ValueError("--from must come without a point, --id, --noise-std and --reason: the table says all that")
    asked = {} if options.prior else {"asked": ledger.asked}
    table = read_table(options.table, ledger.space, maximize=ledger.maximize, **asked)
    n_new, n = tell_table(ledger, table, prior=options.prior), len(table.values)
    note_unread(parser, options.table, table.unread)
    known = "" if n_new == n else f"; {n - n_new} were in the journal already"
    waiting = f"; without a value yet: {table.n_waiting}" if table.n_waiting else ""
    sys.stdout.write(f"{n_new} of {n} observations in {options.table} added{known}{waiting}\n")


def _point(ledger: Ledger, words: list[str]) -> Any:
    """A point of the space from NAME=VALUE."""
    names = labels(ledger.space)
    found: dict[str, str] = {}
    for word in words:
        name = max((name for name in names if word.startswith(f"{name}=")), key=len, default=None)  # it may hold one
        if name is None:
            raise ValueError(f"the point must be NAME=VALUE for each of {', '.join(names)}, got {word!r}")
        if name in found:
            raise ValueError(f"the point must have each parameter once, got {name} again in {word!r}")
        found[name] = word[len(name) + 1 :]
    missing = [name for name in names if name not in found]
    if missing:
        raise ValueError(f"the point must have all parameters, missing: {', '.join(missing)}")
    return read_points(ledger.space, [[found[name]] for name in names])[0]

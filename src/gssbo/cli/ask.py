"""`gssbo ask`, `gssbo forget`: suggestions for whoever evaluates them elsewhere, and those that nobody will."""

from __future__ import annotations

import argparse
import csv
import json
import shlex
import sys
from pathlib import Path
from typing import Any

from gssbo.cli.arguments import natural, positive
from gssbo.cli.begin import add_run_options, in_flags, open_run, options_of, space_of_run
from gssbo.cli.errors import FAILED, add_skip_damaged, fail, journal_warnings
from gssbo.cli.table import own_columns
from gssbo.cli.text import labels, named, plain, written
from gssbo.cli.turns import add_wait, continued, in_turn
from gssbo.exceptions import MissingDependencyError, OtherOption, SpaceExhausted
from gssbo.journal.record import read_header
from gssbo.ledger import Ledger
from gssbo.optimizer import Optimizer
from gssbo.pending import Suggestion
from gssbo.recorded import read_ledger

__all__ = ["add_commands"]


def add_commands(commands: Any) -> None:
    """Add `ask` and `forget` to the parser."""
    ask = commands.add_parser(
        "ask",
        help="suggest points to evaluate by hand, or by another program",
        description="Suggest what to evaluate next, and wait for `gssbo tell` to say what came of it.",
        epilog="examples: gssbo ask lab.jsonl --space space.toml -n 4 --out today.csv; gssbo tell lab.jsonl --from "
        "today.csv, once its column `value` is filled in; gssbo ask lab.jsonl; gssbo tell lab.jsonl --id 4 --value 0.3",
    )
    ask.add_argument("journal", type=Path, metavar="JOURNAL", help="of a run that is not going on; begun with --space")
    which = ask.add_mutually_exclusive_group()
    which.add_argument("-n", type=positive, default=1, metavar="N", help="suggestions (default: 1)")
    which.add_argument("--pending", action="store_true", help="suggest nothing, list what is waited for")
    form = ask.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument(
        "--out", type=Path, metavar="FILE", help="write a CSV table with an empty column `value`, for `tell --from`"
    )
    add_run_options(ask)
    add_skip_damaged(ask)
    add_wait(ask)
    ask.set_defaults(command=lambda options: _ask(ask, options))

    forget = commands.add_parser(
        "forget",
        help="wait for suggestions no more",
        description="Drop pending suggestions: they count as never made, and may be told all the same.",
    )
    forget.add_argument("journal", type=Path, metavar="JOURNAL", help="of a run that is not going on")
    forget.add_argument("ids", type=natural, nargs="*", metavar="ID", help="their numbers, see `gssbo ask --pending`")
    forget.add_argument("--all", action="store_true", help="all that are pending")
    add_skip_damaged(forget)
    add_wait(forget)
    forget.set_defaults(command=lambda options: _forget(forget, options))


def _ask(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    try:
        if options.out is not None and options.out.exists():
            raise ValueError(f"--out must be a new file, as values may be filled in there, got {options.out}")
        with journal_warnings(parser):
            ledger, suggestions = _waited_for(options) if options.pending else _suggested(parser, options)
    except OtherOption as error:
        fail(parser, in_flags(options, error))
    except (ValueError, MissingDependencyError) as error:
        fail(parser, error)
    except SpaceExhausted as error:
        sys.stderr.write(f"{parser.prog}: error: {error}\n")
        return FAILED  # there is nothing left
    if not options.pending and len(suggestions) < options.n:
        sys.stderr.write(
            f"{parser.prog}: note: nothing more is left to suggest than {len(suggestions)} of {options.n}\n"
        )
    if options.out is not None:
        try:
            _write_table(options.out, ledger, suggestions)
        except OSError as error:
            fail(parser, ValueError(f"{error}; `gssbo ask {options.journal} --pending` has what was to be written"))
        sys.stdout.write(f"{options.out}\n")
    elif options.json:
        found = [{"id": number, "x": plain(x)} for number, x in suggestions]
        sys.stdout.write(json.dumps({"suggestions": found}, default=str) + "\n")
    else:
        for number, x in suggestions:
            words = (shlex.quote(f"{name}={written(value)}") for name, value in named(ledger.space, x))
            sys.stdout.write(f"{number}: {' '.join(words)}\n")
    return 0


def _waited_for(options: argparse.Namespace) -> tuple[Ledger, list[Suggestion]]:
    ledger = read_ledger(options.journal, skip_damaged=options.skip_damaged)
    return ledger, ledger.pending


def _suggested(parser: argparse.ArgumentParser, options: argparse.Namespace) -> tuple[Ledger, list[Suggestion]]:
    with in_turn(options, lambda: _opened(parser, options)) as optimizer:
        return optimizer, optimizer.ask(options.n, ids=True)


def _opened(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Optimizer:
    """The optimizer of the journal, as it was begun: only what begins a run needs to be said."""
    header = read_header(options.journal)
    return open_run(parser, options, space_of_run(parser, options), None if header is None else options_of(header))


def _write_table(path: Path, ledger: Ledger, suggestions: list[Suggestion]) -> None:
    names = labels(ledger.space)
    own = own_columns(names)
    rows = [[number, *(written(value) for _, value in named(ledger.space, x)), ""] for number, x in suggestions]
    with path.open("x", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([[own["suggestion"], *names, own["value"]], *rows])


def _forget(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    if bool(options.ids) == options.all:
        parser.error("either numbers of pending suggestions must be given, or --all")
    try:
        with continued(parser, options) as ledger:
            pending = [suggestion.id for suggestion in ledger.pending]
            chosen = pending if options.all else list(dict.fromkeys(options.ids))
            if unknown := [number for number in chosen if number not in pending]:
                raise ValueError(
                    f"numbers must be of pending suggestions, got {', '.join(map(str, unknown))}; pending: "
                    f"{', '.join(map(str, pending)) or 'none'}"
                )
            if options.all:
                ledger.forget()  # a line of the journal for all of them
            else:
                for number in chosen:
                    ledger.forget(id=number)
            sys.stdout.write(f"{len(chosen)} forgotten, {len(pending) - len(chosen)} pending\n")
    except ValueError as error:
        fail(parser, error)
    return 0

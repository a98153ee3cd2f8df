"""What a run is begun with on the command line, and taken up again: options that `gssbo tune` and `gssbo ask` share."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from gssbo.cli.arguments import natural, positive
from gssbo.cli.errors import note_unread
from gssbo.cli.space_file import read_space
from gssbo.cli.table import read_table, tell_table
from gssbo.exceptions import JournalError, OtherOption
from gssbo.journal import Journal
from gssbo.journal.header import space_of
from gssbo.journal.record import read_header
from gssbo.methods import METHODS, method_options
from gssbo.optimizer import Optimizer
from gssbo.resume import plain_options
from gssbo.space import Space

__all__ = ["add_run_options", "in_flags", "open_run", "options_of", "space_of_run"]

FLAGS = {  # what the command line calls options
    "duplicates": "--noisy",
    "maximize": "--maximize",
    "method": "--method",
    "n_init": "--n-init",
    "rng": "--seed",
    "subset_size": "--subset-size",
}
MADE_IN_PYTHON = ("surrogate", "strategy")  # a journal has the names of their types alone


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add what says which run it is, and what was known before it."""
    parser.add_argument("--space", type=Path, metavar="TOML", help="a table a parameter; a journal has it already")
    parser.add_argument(
        "--from", type=Path, dest="table", metavar="FILE",
        help="evaluations made before the run, not counted: a CSV or TSV table, as `gssbo tell --from` takes it",
    )  # fmt: skip
    parser.add_argument("--maximize", action="store_true", help="larger is better")
    parser.add_argument("--noisy", action="store_true", help="the same point may be evaluated again")
    parser.add_argument("--n-init", type=positive, metavar="N", help="points of the initial design")
    parser.add_argument("--subset-size", type=positive, metavar="M", help="observations retained (default: 100)")
    parser.add_argument("--method", metavar="NAME", help="see `gssbo methods`")
    parser.add_argument("--seed", type=natural, metavar="S", help="same seed, same suggestions")


def space_of_run(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Space:
    """The space of --space, or else of the journal, with its linear constraints; where there is neither, the end."""
    if options.space is not None:
        return Space(read_space(options.space))
    header = None if options.journal is None else read_header(options.journal)
    if header is None:
        parser.error("--space must be given to begin a run")
    space = space_of(header, str(options.journal))
    if len(space.constraints) < len(header.get("constraints", [])):
        raise JournalError(
            f"{options.journal} must be of a run without constraints that are functions: only Python has those"
        )
    return space


def options_of(header: Mapping[str, Any]) -> dict[str, Any]:
    """Keyword arguments of `gssbo.Optimizer` that a run was begun with, by the header of its journal.

    Those that its method has by itself are left out, and so is what was made in Python.
    """
    begun = header["options"]
    parameters = inspect.signature(Optimizer.__init__).parameters
    usual = {name: each.default for name, each in parameters.items() if name not in MADE_IN_PYTHON}
    method = begun.get("method")
    named = method_options(method) if isinstance(method, str) and method in METHODS else {}
    own = plain_options({name: named.get(name, default) for name, default in usual.items()})
    return {name: then for name, then in begun.items() if name in own and then != own[name]}


def open_run(
    parser: argparse.ArgumentParser, options: argparse.Namespace, space: Space, begun: Mapping[str, Any] | None = None
) -> Optimizer:
    """The optimizer of a run, told what was known before it; `begun` has options that need not be given again."""
    chosen = {**(begun or {}), **_given(options)}
    maximize = bool(chosen.get("maximize", False))
    table = None if options.table is None else read_table(options.table, space, maximize=maximize)
    optimizer = Optimizer(
        space,
        journal=options.journal and Journal(options.journal, skip_damaged=options.skip_damaged),
        rng=options.seed,
        **chosen,
    )
    try:
        if table is not None:
            note_unread(parser, options.table, table.unread)
            tell_table(optimizer, table, prior=True)
    except BaseException:
        optimizer.close()
        raise
    return optimizer


def _given(options: argparse.Namespace) -> dict[str, Any]:
    found = {name: getattr(options, name) for name in ("n_init", "subset_size", "method")}
    found |= {"maximize": options.maximize or None, "duplicates": "allow" if options.noisy else None}
    return {name: value for name, value in found.items() if value is not None}


def in_flags(options: argparse.Namespace, error: OtherOption) -> JournalError:
    """The error as the command line has it; as it is where it has no such option."""
    flag = FLAGS.get(error.name)
    if flag is None:
        return error
    then = _flag(flag, {"allow": True, "avoid": False}.get(str(error.then), error.then))
    now = _flag(flag, getattr(options, flag.removeprefix("--").replace("-", "_")))
    if error.name == "rng":  # a seed is not in the journal, but what it made
        then, now = f"another {flag}", f"{now}; without one, the run goes on with its own"
    return JournalError(f"{options.journal} was begun with {then}, got {now}")


def _flag(flag: str, value: Any) -> str:
    if value is None or value is False:
        return f"no {flag}"
    return flag if value is True else f"{flag} {value}"

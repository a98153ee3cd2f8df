"""How a command says what is wrong: one line on stderr, and exit code 2 where it cannot go on.

The usage is shown by the parser itself, where the arguments are wrong as they stand; a file that is damaged or in use
is nothing that it would help with.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from gssbo.exceptions import JournalWarning
from gssbo.journal.journal import SKIPPING

__all__ = [
    "FAILED",
    "INTERRUPTED",
    "add_skip_damaged",
    "fail",
    "give_output_up",
    "journal_warnings",
    "note_unread",
    "output_may_be_lost",
    "output_of_any_text",
    "somewhere_to_print",
]

FAILED, WRONG, INTERRUPTED = 1, 2, 130  # exit codes, see `gssbo.cli`
OPTION = "--skip-damaged"


def fail(parser: argparse.ArgumentParser, error: Exception) -> NoReturn:
    """End the command of a parser with the message of an error, on one line.

    Raises
    ------
    SystemExit
        With code 2.

    Examples
    --------
    >>> import contextlib, sys
    >>> with contextlib.redirect_stderr(sys.stdout), contextlib.suppress(SystemExit):
    ...     fail(argparse.ArgumentParser("gssbo tune"), ValueError("the space is empty"))
    gssbo tune: error: the space is empty
    """
    message = " ".join(str(error).splitlines()).replace(SKIPPING, OPTION)
    parser.exit(WRONG, f"{parser.prog}: error: {message}\n")


def note_unread(parser: argparse.ArgumentParser, path: Path, columns: list[str]) -> None:
    """Say which columns of a table stand for nothing, if any does."""
    if columns:
        sys.stderr.write(f"{parser.prog}: note: {path}: columns not read: {', '.join(columns)}\n")


def add_skip_damaged(parser: argparse.ArgumentParser) -> None:
    """Add the option to a command that reads a journal."""
    parser.add_argument(OPTION, action="store_true", help="leave out damaged lines of the journal, and say which")


@contextlib.contextmanager
def journal_warnings(parser: argparse.ArgumentParser) -> Iterator[None]:
    """Show warnings of a journal, each once, on a line like that of an error; other warnings as ever."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", JournalWarning)
        show, shown = warnings.showwarning, set[str]()

        def show_once(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if not issubclass(category, JournalWarning):
                show(message, category, *where, **more)
            elif str(message) not in shown:
                shown.add(str(message))
                sys.stderr.write(f"{parser.prog}: warning: {message}\n")

        warnings.showwarning = show_once
        yield


@contextlib.contextmanager
def output_may_be_lost() -> Iterator[None]:
    """Go on where whoever read the output, or the terminal, has gone."""
    try:
        yield
        sys.stdout.flush()
    except OSError:
        give_output_up()


def give_output_up() -> None:
    """Let what is buffered go nowhere: it must not raise at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def somewhere_to_print() -> Iterator[None]:
    """Print to nowhere where stdout or stderr is closed, as by `>&-`; no file of ours takes its place then."""
    with contextlib.ExitStack() as stack:
        for name in ("stdout", "stderr"):
            if getattr(sys, name) is None:
                nowhere = stack.enter_context(open(os.devnull, "w", encoding="utf-8"))
                setattr(sys, name, nowhere)
                stack.callback(setattr, sys, name, None)
        yield


@contextlib.contextmanager
def output_of_any_text() -> Iterator[None]:
    r"""Print what the encoding of stdout lacks as `\xfc` or `\u65e5`, as stderr does: names are the user's."""
    stdout = sys.stdout
    if not isinstance(stdout, io.TextIOWrapper) or stdout.errors != "strict":
        yield
        return
    stdout.reconfigure(errors="backslashreplace")
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # it is flushed; whoever read it may have gone
            stdout.reconfigure(errors="strict")

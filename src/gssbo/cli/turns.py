"""Turns: one program at a time writes a journal, and those that come meanwhile may wait."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import TypeVar

from gssbo._validation import check_real
from gssbo.cli.errors import journal_warnings
from gssbo.exceptions import JournalInUse
from gssbo.ledger import Ledger
from gssbo.recorded import continue_ledger

__all__ = ["add_wait", "continued", "in_turn"]

PAUSE = 0.1  # seconds between two attempts

Opened = TypeVar("Opened")


def add_wait(parser: argparse.ArgumentParser) -> None:
    """Add the option to a command that writes a journal for a moment."""
    parser.add_argument(
        "--wait", type=float, default=0.0, metavar="S", help="seconds to wait while another process writes the journal"
    )


def in_turn(options: argparse.Namespace, opens: Callable[[], Opened]) -> Opened:
    """What opens a journal gives, tried again for as long as --wait says while another process has it.

    Raises
    ------
    JournalInUse
        If it still has it then.
    """
    end = time.monotonic() + check_real("--wait", options.wait, at_least=0.0)
    while True:
        try:
            return opens()
        except JournalInUse:
            left = end - time.monotonic()
            if left <= 0.0:
                raise
            time.sleep(min(left, PAUSE))


def continued(parser: argparse.ArgumentParser, options: argparse.Namespace) -> Ledger:
    """The ledger of a command's journal, when its turn has come, to be told more.

    Raises
    ------
    JournalError
        If it cannot be.
    """
    with journal_warnings(parser):
        return in_turn(options, lambda: continue_ledger(options.journal, skip_damaged=options.skip_damaged))

"""Turns: one program at a time writes a journal, and those that come meanwhile may wait."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import TypeVar

from gssbo._validation import check_real
from gssbo.exceptions import JournalInUse

__all__ = ["add_wait", "in_turn"]

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

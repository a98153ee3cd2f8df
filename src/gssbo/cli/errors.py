"""How a command says that it cannot go on: one line on stderr and exit code 2.

The usage is shown by the parser itself, where the arguments are wrong as they stand; a file that is damaged or in use
is nothing that it would help with.
"""

from __future__ import annotations

import argparse
from typing import NoReturn

__all__ = ["WRONG", "fail"]

WRONG = 2


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
    message = " ".join(str(error).splitlines())
    parser.exit(WRONG, f"{parser.prog}: error: {message}\n")

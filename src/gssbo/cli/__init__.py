"""The command line: `gssbo tune`, `ask`, `tell`, `forget`, `best`, `plot`, `export`, `compact`; and `run`, `problems`.

Beside them `methods` and `info`. Exit codes: 0 done; 1 no value was found, nothing is left to suggest, or what was
found could not be handed over; 2 wrong arguments, or what they name cannot be used; 130 ended by Ctrl-C, and `tune` 143
by SIGTERM, 129 by SIGHUP (what was found until then is printed all the same).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import version

from gssbo.cli import ask, export, info, listings, record, run, tell, tune
from gssbo.cli.arguments import Interleaved, joined
from gssbo.cli.errors import FAILED, INTERRUPTED, give_output_up, output_of_any_text, somewhere_to_print

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name (default: those of the process) and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="gssbo",
        description="Gaussian-process Bayesian optimization on a retained subset of the observations.",
    )
    parser.add_argument("--version", action="version", version=f"gssbo {version('gssbo')}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True, parser_class=Interleaved)
    for module in (tune, ask, tell, record, export, run, listings, info):
        module.add_commands(commands)
    options = parser.parse_args(joined(sys.argv[1:] if arguments is None else arguments))
    try:
        with somewhere_to_print(), output_of_any_text():
            code: int = options.command(options)
            sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        if error.filename is not None:
            raise
        give_output_up()  # whoever read it has gone (`| head`), or its disk is full
        if not isinstance(error, BrokenPipeError):
            sys.stderr.write(f"gssbo: error: the output could not be written ({error})\n")
        return FAILED

"""`gssbo tune`: the best parameters of any program."""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn

from scipy.optimize import OptimizeResult

from gssbo import _stops
from gssbo._run import run
from gssbo.cli.arguments import positive
from gssbo.cli.begin import add_run_options, in_flags, open_run, space_of_run
from gssbo.cli.errors import FAILED, INTERRUPTED, add_skip_damaged, fail, journal_warnings, output_may_be_lost
from gssbo.cli.guard import Guard
from gssbo.cli.program import CannotStart, Program, ProgramFailed, cause
from gssbo.cli.signals import Endings
from gssbo.cli.text import paragraph, written
from gssbo.exceptions import MissingDependencyError, OtherOption

__all__ = ["add_commands"]

HOPELESS = 5  # evaluations that all fail at the start: the command is wrong, not unlucky


def add_commands(commands: Any) -> None:
    """Add `tune` to the parser."""
    parser = commands.add_parser(
        "tune",
        help="find the best parameters of any program",
        description="Run a command for each suggestion and minimise the number that it prints last.",
        epilog="example: gssbo tune 'python train.py --lr {lr}' --space space.toml --n-evals 500 --journal run.jsonl",
    )
    parser.add_argument(
        "program",
        metavar="COMMAND",
        help="{name} stands for a parameter's value, {value_file} for a file to write to",
    )
    parser.add_argument(
        "--n-evals", type=positive, required=True, metavar="N", help="evaluations in all, of earlier calls too"
    )
    parser.add_argument("--journal", type=Path, metavar="FILE", help="keep the run here, and go on where it broke off")
    add_run_options(parser)
    add_skip_damaged(parser)
    parser.add_argument("--workers", type=positive, default=1, metavar="N", help="commands at a time (default: 1)")
    parser.add_argument("--key", metavar="NAME", help="the last line, or the value file, is JSON with this entry")
    parser.add_argument("--command-timeout", type=float, metavar="S", help="seconds after which a command has failed")
    parser.add_argument("--timeout", type=float, metavar="S", help="seconds after which nothing is started any more")
    parser.add_argument("--target", type=float, metavar="Y", help="stop at a value as good as this")
    parser.add_argument("--patience", type=positive, metavar="N", help="stop after so many without an improvement")
    parser.add_argument("--json", action="store_true", help="print the outcome as one JSON object")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    parser.set_defaults(command=lambda options: _tune(parser, options))


def _tune(parser: argparse.ArgumentParser, options: argparse.Namespace) -> int:
    gives_up, result = _GivesUp(), None
    with Endings() as endings:
        try:
            with journal_warnings(parser):
                result = _run(parser, options, gives_up)
        except OtherOption as error:
            fail(parser, in_flags(options, error))
        except (ValueError, MissingDependencyError) as error:
            fail(parser, error)
        except CannotStart as error:
            _give_back(parser, options, error)
        except (KeyboardInterrupt, OSError):  # where there was nothing to interrupt, or the terminal is gone
            if endings.received is None:
                raise
    if endings.received is not None:
        return _end(parser, options, result, endings)
    assert result is not None
    return _report(options, result, hopeless=gives_up.ended)


def _give_back(parser: argparse.ArgumentParser, options: argparse.Namespace, error: CannotStart) -> NoReturn:
    """End a run whose program cannot be started: no point is to blame, so what was to be evaluated stays pending."""
    result: OptimizeResult = error.partial_result  # type: ignore[attr-defined]  # attached by the run
    if result.x is not None:
        _report(options, result, hopeless=False)
    kept = "" if options.journal is None else f"; what was to be evaluated is pending in {options.journal}"
    fail(parser, CannotStart(f"{error}{kept}"))


def _end(
    parser: argparse.ArgumentParser, options: argparse.Namespace, result: OptimizeResult | None, endings: Endings
) -> int:
    """Report what there is of a run that a signal ended; after a hangup, nobody may be there to read it."""
    assert endings.received is not None
    name = endings.received.name
    with output_may_be_lost():
        sys.stderr.write(f"{parser.prog}: ended by {name}; {_where_it_is(options)}\n")
        if result is not None:
            _report(options, result, hopeless=False, by=name)
    return endings.code


def _where_it_is(options: argparse.Namespace) -> str:
    """What a run that is broken off leaves behind: more than what is printed of it, or nothing."""
    if options.journal is None:
        return "without --journal, nothing goes on from here"
    return f"what was told is in {options.journal}, and the same line goes on from there"


def _run(parser: argparse.ArgumentParser, options: argparse.Namespace, gives_up: _GivesUp) -> OptimizeResult:
    space, guard = space_of_run(parser, options), Guard()
    if space.names is None:
        raise ValueError(f"{options.journal} must be of a run whose parameters have names")
    program = Program(options.program, space.names, key=options.key, timeout=options.command_timeout, guard=guard)
    if program.reads_environment and not options.quiet:
        sys.stderr.write(f"{parser.prog}: note: no {{name}} is in the command; it must read GSSBO_PARAMETERS\n")
    # Commands are processes: a thread each will do.
    with (
        open_run(parser, options, space) as optimizer,
        guard,
        ThreadPoolExecutor(options.workers) as executor,
        contextlib.closing(program),
    ):
        return run(
            optimizer,
            program,
            n_evals=options.n_evals,
            catch=ProgramFailed,
            workers=executor,
            timeout=options.timeout,
            target=options.target,
            patience=options.patience,
            callback=gives_up,
            progress=not options.quiet,
        )


class _GivesUp:
    """A callback that ends a call whose first evaluations all fail, whatever those of earlier calls were."""

    def __init__(self) -> None:
        self._n = 0
        self._hopeful = False
        self.ended = False

    def __call__(self, progress: OptimizeResult) -> None:
        self._hopeful |= not math.isnan(progress.fun_last)
        self._n += 1
        # What other workers had in hand by then is told as well, and changes nothing.
        self.ended |= not self._hopeful and self._n >= HOPELESS
        if self.ended:
            raise StopIteration(f"The first {HOPELESS} evaluations all failed.")


def _report(
    options: argparse.Namespace, result: OptimizeResult, *, hopeless: bool, by: str = "the user, Ctrl-C"
) -> int:
    """Print what a run found and what was wrong with it; return the code to exit with."""
    if result.status == _stops.INTERRUPTED:
        result.message = f"Ended by {by}; {_where_it_is(options)}."
    failures = [cause(failure.reason) for failure in result.failures]
    _print_best(result, failures, as_json=options.json)
    if result.x is None or hopeless:
        why = f"; the last one: {failures[-1]}" if failures else f". {result.message}"
        what = "no evaluation gave a value" if result.x is None else "no evaluation of this call gave a value"
        sys.stderr.write(paragraph(f"gssbo: error: {what}{why}") + "\n")
        if hopeless:
            text = (
                f"The first {HOPELESS} evaluations all failed, which ended the run. Put the command right and try again"
            )
            kept = "" if options.journal is None else "; the journal keeps what failed, and a new one begins without it"
            sys.stderr.write(paragraph(f"{text}{kept}.") + "\n")
        return INTERRUPTED if result.status == _stops.INTERRUPTED else FAILED
    if failures and not options.json and result.status != _stops.ERROR:  # else that is what is wrong
        sys.stderr.write(paragraph(f"the last failure: {failures[-1]}") + "\n")
    return 0 if result.success else INTERRUPTED


def _print_best(result: OptimizeResult, failures: list[str], *, as_json: bool) -> None:
    n_prior = len(result.func_vals) - result.nfev
    if as_json:
        document = {
            "best": result.x,
            "value": result.fun,
            "n_evals": result.nfev,
            "n_prior": n_prior,
            "n_failed": result.n_failed,
            "message": result.message,
            "failures": failures,
        }
        sys.stdout.write(json.dumps(document, default=str) + "\n")
    elif result.x is not None:
        best = "\n".join(f"  {name} = {written(value)}" for name, value in result.x.items())
        sys.stdout.write(
            f"best value {result.fun:.10g} of {result.nfev} evaluations"
            f"{f' and {n_prior} made before' if n_prior else ''}, {result.n_failed} of them failed\n{best}\n"
            f"{result.message}\n"
        )

"""Numbers on the command line, read by the parser: a wrong one is an error that names its option."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from gssbo._keywords import likely

__all__ = ["Interleaved", "joined", "natural", "positive", "subset_size"]


class Interleaved(argparse.ArgumentParser):
    """A parser whose options may stand before, between and behind its words; what follows `--` is no option."""

    _reads_options = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Options first and then the words, in two calls of the method of this name."""
        if self._reads_options:
            return super().parse_known_args(args, namespace)
        self._reads_options = True
        try:
            found, others = self.parse_known_intermixed_args(args, namespace)
        finally:
            self._reads_options = False
        self._refuse_slips(others)
        return found, others

    def _refuse_slips(self, words: Iterable[str]) -> None:
        """End the command at an option that it has not, where it is clear which one was meant."""
        ours = {_as_name(option): option for action in self._actions for option in action.option_strings}
        for word in words:
            option = word.partition("=")[0]
            meant = likely(_as_name(option), tuple(ours)) if option.startswith("--") else None
            if meant is not None:
                self.error(f"unrecognized argument {option}: did you mean {ours[meant]}?")


def positive(text: str) -> int:
    """Return an integer of at least 1.

    Raises
    ------
    argparse.ArgumentTypeError
        If the text is none.

    Examples
    --------
    >>> positive("12")
    12
    """
    return _integer(text, at_least=1)


def natural(text: str) -> int:
    """Return an integer of at least 0.

    Raises
    ------
    argparse.ArgumentTypeError
        If the text is none.

    Examples
    --------
    >>> natural("0")
    0
    """
    return _integer(text, at_least=0)


def subset_size(text: str) -> int | str:
    """Return an integer of at least 1, or "dynamic".

    Raises
    ------
    argparse.ArgumentTypeError
        If the text is neither.

    Examples
    --------
    >>> subset_size("dynamic"), subset_size("100")
    ('dynamic', 100)
    """
    if text == "dynamic":
        return text
    try:
        return positive(text)
    except argparse.ArgumentTypeError as error:
        raise argparse.ArgumentTypeError(f"{error}; or 'dynamic'") from None


def joined(arguments: Iterable[str]) -> list[str]:
    """Arguments with negative numbers joined to their options: argparse takes `-1e-3` and `-inf` for options, too.

    Examples
    --------
    >>> joined(["tell", "run.jsonl", "--value", "-1e-3", "--id", "3"])
    ['tell', 'run.jsonl', '--value=-1e-3', '--id', '3']
    """
    found: list[str] = []
    for word in arguments:
        before = found[-1] if found else ""
        if len(before) > 2 and before.startswith("--") and "=" not in before and _is_negative(word):
            found[-1] = f"{before}={word}"
        else:
            found.append(word)
    return found


def _as_name(option: str) -> str:
    return option.lstrip("-").replace("-", "_")


def _is_negative(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.startswith("-")


def _integer(text: str, *, at_least: int) -> int:
    try:
        value = int(text)
    except ValueError:
        value = at_least - 1
    if value < at_least:
        raise argparse.ArgumentTypeError(f"must be an integer of at least {at_least}, got {text!r}")
    return value

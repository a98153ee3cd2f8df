"""Notes on the exceptions of functions that are the user's: what they were called with, and how they are called."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable
from typing import Any

from gssbo._text import brief

__all__ = ["attach", "explain"]


def attach(error: BaseException, note: str, **attributes: Any) -> None:
    """Give an exception a note and attributes, also one that takes none, such as a frozen dataclass.

    Examples
    --------
    >>> error = ValueError("diverged")
    >>> attach(error, "at step 7", step=7)
    >>> error.step, error.__notes__
    (7, ['at step 7'])
    """
    for name, value in attributes.items():
        BaseException.__setattr__(error, name, value)
    with contextlib.suppress(Exception):
        error.add_note(note)


def explain(error: BaseException, name: str, fun: Callable[..., Any], point: Any, *args: Any) -> None:
    """Note with which point a function of that name was called, and how it is called if that is what went wrong.

    Examples
    --------
    >>> error = ZeroDivisionError("division by zero")
    >>> explain(error, "the objective", lambda x: x[0] / x[1], [1.0, 0.0])
    >>> error.__notes__
    ['gssbo: the objective was called with [1.0, 0.0].']
    """
    if isinstance(error, TypeError) and not _may_be_called(fun, 1 + len(args)):
        attach(
            error,
            f"gssbo: {name} gets all parameters as one argument; for a function of each of them write "
            "`lambda x: fun(**x)` where they have names, else `lambda x: fun(*x)`.",
        )
    attach(error, f"gssbo: {name} was called with {brief(point)}.")


def _may_be_called(fun: Callable[..., Any], n: int) -> bool:
    """Whether a function takes n arguments by position, as far as it tells."""
    try:
        inspect.signature(fun).bind(*[None] * n)
    except TypeError:
        return False
    except ValueError:  # of compiled code, which does not tell
        pass
    return True

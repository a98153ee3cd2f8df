"""Floating-point errors as NumPy treats them by default, whatever a user's `numpy.seterr` says.

With `numpy.seterr(all="raise")` the tail of a normal density, which underflows to the 0 that it is, would be an error.
What users call is decorated here, and their own functions, called from within, have their own settings again.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from contextvars import Context, ContextVar, copy_context
from typing import Any, TypeVar, cast

import numpy as np

__all__ = ["all_in_own_arithmetic", "callers_arithmetic", "in_own_arithmetic"]

_caller: ContextVar[Context | None] = ContextVar("_caller", default=None)  # None where nobody has called us

Class = TypeVar("Class", bound=type)
Function = TypeVar("Function", bound=Callable[..., Any])


def in_own_arithmetic(function: Function) -> Function:
    """Decorate a function to treat floating-point errors as NumPy does by default.

    Examples
    --------
    >>> tiny = in_own_arithmetic(lambda: np.exp(np.float64(-1000.0)))
    >>> with np.errstate(all="raise"):
    ...     float(tiny())
    0.0
    """

    @functools.wraps(function)
    def wrapped(*args: Any, **options: Any) -> Any:
        if _caller.get() is not None:
            return function(*args, **options)
        token = _caller.set(copy_context())
        try:
            with np.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
                return function(*args, **options)
        finally:
            _caller.reset(token)

    return cast(Function, wrapped)


def all_in_own_arithmetic(cls: Class) -> Class:
    """Decorate so what a class itself defines for its users: the making, the calling, methods, and cached properties.

    Other properties are left alone: most only look something up, which takes less than changing the settings (8 us).

    Examples
    --------
    >>> @all_in_own_arithmetic
    ... class Tail:
    ...     def height(self):
    ...         return np.exp(np.float64(-1000.0))
    >>> with np.errstate(all="raise"):
    ...     float(Tail().height())
    0.0
    """
    for name, member in list(vars(cls).items()):
        if name.startswith("_") and name not in ("__init__", "__call__"):
            continue
        if isinstance(member, functools.cached_property):
            member.func = in_own_arithmetic(member.func)
        elif callable(member) and not isinstance(member, type):
            setattr(cls, name, in_own_arithmetic(member))
    return cls


@contextlib.contextmanager
def callers_arithmetic() -> Iterator[None]:
    """The settings of whoever called us, for a function of theirs.

    Examples
    --------
    >>> @in_own_arithmetic
    ... def call(function):
    ...     with callers_arithmetic():
    ...         return function()
    >>> with np.errstate(under="raise"):
    ...     call(lambda: np.geterr()["under"])
    'raise'
    """
    caller = _caller.get()
    if caller is None:
        yield
        return
    token = _caller.set(None)
    try:
        with np.errstate(**caller.run(np.geterr)):
            yield
    finally:
        _caller.reset(token)

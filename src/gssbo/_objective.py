"""The objective as a worker sees it: called with a point, it replies with a number, a failure or an error."""

from __future__ import annotations

import contextlib
import math
import pickle
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gssbo._notes import attach, explain
from gssbo._text import brief
from gssbo._validation import as_array, as_float, check_real, is_masked
from gssbo.space.parameter import fresh

__all__ = ["Objective", "Reply"]


class Reply(NamedTuple):
    """What came of an evaluation: its value, NaN where it failed; why it failed; or the error that ends the run.

    And the known standard deviation of its noise.
    """

    value: float
    reason: str | None = None
    error: BaseException | None = None
    noise_std: float | None = None


@dataclass(frozen=True)
class Objective:
    """A function, and what counts as a failure of it.

    Parameters
    ----------
    fun : callable
        Called with a point and `args`.
    args : tuple
    catch : tuple of exception classes
        Those by which an evaluation fails; any other ends the run.
    worst : float
        The infinity of the bad sign.
    travels : bool
        Whether replies go to another process: errors then carry their traceback as a note.
    returns_noise : bool
        Whether the function returns a pair (value, noise_std).

    Examples
    --------
    >>> objective = Objective(lambda x, scale: scale / x, args=(3.0,), catch=(ArithmeticError,))
    >>> objective(2.0)
    Reply(value=1.5, reason=None, error=None, noise_std=None)
    >>> objective(0.0)
    Reply(value=nan, reason='ZeroDivisionError: float division by zero', error=None, noise_std=None)
    """

    fun: Callable[..., Any]
    args: tuple[Any, ...] = ()
    catch: tuple[Any, ...] = ()
    worst: float = math.inf
    travels: bool = False
    returns_noise: bool = False

    def __call__(self, x: Any) -> Reply:
        """Evaluate at a point; `fun` may write into its own copy of it."""
        try:
            try:
                value = self.fun(fresh(x), *self.args)
            except self.catch as error:
                return Reply(math.nan, _text(error))
            number, noise_std = _pair(value, self.worst) if self.returns_noise else (_number(value, self.worst), None)
        except Exception as error:
            explain(error, "the objective", self.fun, x, *self.args)
            return Reply(math.nan, None, _portable(error) if self.travels else error)
        if not math.isfinite(number):
            return Reply(math.nan, f"returned {number}")
        return Reply(number, noise_std=noise_std)


def _pair(value: Any, worst: float) -> tuple[float, float | None]:
    """One number and the standard deviation of its noise, None where it is not known; or one that says it failed."""
    pair = value.tolist() if isinstance(value, np.ndarray) else value
    if isinstance(pair, tuple | list) and len(pair) == 2:
        number, noise_std = _number(pair[0], worst), pair[1]
        known = noise_std is not None and math.isfinite(number)
        return number, check_real("noise_std", noise_std, at_least=0.0) if known else None
    with contextlib.suppress(ValueError):
        number = _number(value, worst)
        if not math.isfinite(number):
            return number, None
    raise ValueError(f"fun must return (value, noise_std), as returns_noise=True says, got {brief(value)}")


def _number(value: Any, worst: float) -> float:
    """One number: finite, or NaN or `worst` for a failed evaluation; True is 1."""
    try:
        array = as_array(value)
        text = isinstance(value, bytearray | memoryview)  # which are arrays to NumPy
        if array.size == 1 and array.dtype.kind in "fiubO" and not text and not is_masked(value):
            number = as_float(array.reshape(()).item())
            if number != -worst:
                return number
    except Exception:  # whatever a type of someone else's does when it is asked for a number
        pass
    is_pair = isinstance(value, tuple) and len(value) == 2
    how = "; a pair (value, noise_std) goes with returns_noise=True" if is_pair else ""
    raise ValueError(f"fun must return one real number, or NaN or {worst} where it failed, got {brief(value)}{how}")


def _text(error: BaseException) -> str:
    try:
        said = str(error)
    except Exception:  # that is not what went wrong
        said = ""
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _portable(error: Exception) -> Exception:
    """The error with its traceback as a note, or one that says the same where it does not survive a pickle."""
    where = "In the worker:\n" + "".join(traceback.format_exception(error))
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(_text(error))
    attach(error, where)
    return error

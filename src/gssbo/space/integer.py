"""Whole-number parameters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from numbers import Rational
from typing import Any, ClassVar

import numpy as np

from gssbo._keywords import with_checked_fields
from gssbo._text import brief
from gssbo._typing import FloatArray, IndexArray
from gssbo._validation import check_flag, check_integer
from gssbo.space.parameter import LAST_DRAW, Column, Discrete, Misfit, builtin, number, refuse, set_all, whole_codes

__all__ = ["Integer"]

LARGEST = np.iinfo(np.int64).max


@with_checked_fields
@dataclass(frozen=True)
class Integer(Discrete):
    """A whole number between `low` and `high`, both included, as a Python int.

    A `range`, or (low, high, int), among bounds is the same; a pair (low, high) is real, whole ends or not.

    Parameters
    ----------
    low, high : int
        Within 64 bits, 64.0 for 64; equal ones fix the parameter.
    log : bool
        Whether the model and the design see its logarithm: for what spans decades. Needs low >= 1.
    step : int
        Only low, low + step, low + 2 step, ... up to `high`. Not with `log`.

    Raises
    ------
    ValueError
        If the ends are reversed or too large, or do not suit `log` or `step`.

    Examples
    --------
    >>> Integer(16, 256, step=16)
    Integer(low=16, high=256, log=False, step=16)
    """

    dtype: ClassVar[str] = "i8"

    low: int
    high: int
    log: bool = field(default=False, kw_only=True)
    step: int = field(default=1, kw_only=True)

    def __post_init__(self) -> None:
        low, high = (check_integer(name, _unfloated(value)) for name, value in (("low", self.low), ("high", self.high)))
        log = check_flag("log", self.log)
        step = check_integer("step", _unfloated(self.step), at_least=1, at_most=int(LARGEST))
        if low > high:
            raise ValueError(f"Integer must have low <= high, got ({low}, {high})")
        if max(abs(low), abs(high), high - low) >= LARGEST:
            raise ValueError(f"Integer must have bounds and a width below 2^63 - 1, got {brief((low, high))}")
        if log and low < 1:
            raise ValueError(f"Integer must have low >= 1 with log=True, got ({low}, {high})")
        if log and step != 1:
            raise ValueError(f"step must be 1 with log=True, got {step}")
        if low < high and step > high - low:
            raise ValueError(f"step must be at most high - low ({high - low}), got {step}")
        set_all(self, low=low, high=high, log=log, step=step)

    @property
    def n_values(self) -> float:
        """How many values there are."""
        return (self.high - self.low) // self.step + 1

    @property
    def largest(self) -> float:
        """The size of the value farthest from 0."""
        return float(max(abs(self.low), abs(self.high)))

    @property
    def limits(self) -> str:
        """What the values are, for messages."""
        return f"bounds are ({self.low}, {self.high})" + (f" in steps of {self.step}" if self.step > 1 else "")

    def store(self, values: Sequence[Any] | Column) -> Column:
        """Stored column (n,) of n user values, 64.0 for 64; a ValueError says which does not fit."""
        if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
            column = values
        else:
            column = np.array([_whole(i, value) for i, value in enumerate(values)], dtype=object)
        refuse(values, (column < self.low) | (column > self.high), "lie within bounds")
        stored: Column = column.astype(np.int64)
        refuse(values, (stored - self.low) % self.step != 0, "lie on the steps")
        return stored

    def codes(self, column: Column) -> IndexArray:
        """Places (n,) of a stored column (n,) among the values, from 0."""
        return (column - self.low) // self.step

    def at(self, codes: IndexArray) -> Column:
        """Stored column (n,) of the values with these codes (n,), from 0."""
        return self.low + np.asarray(codes, dtype=np.int64) * self.step

    def encode(self, column: Column) -> FloatArray:
        """Linear or logarithmic, between half a step below the lowest and half a step above the highest."""
        if not self.log:
            return super().encode(column)
        edge, span = self._log_range
        unit: FloatArray = np.log1p(((column - self.low).astype(np.float64) + 0.5) / edge) / span
        return unit[:, None]

    def _codes_at(self, u: FloatArray) -> IndexArray:
        if not self.log:
            return super()._codes_at(u)
        edge, span = self._log_range
        width = self.high - self.low
        floats = np.rint(np.expm1(np.clip(u, 0.0, 1.0) * span) * edge - 0.5)
        return whole_codes(floats, width, beyond=(floats >= width) | (u >= LAST_DRAW))

    @property
    def _log_range(self) -> tuple[float, float]:
        """Half a step below the lowest, and how much larger the logarithm is half a step above the highest."""
        edge = self.low - 0.5
        return edge, math.log1p((self.high - self.low + 1) / edge)


def _unfloated(value: Any) -> Any:
    """An int for a whole float."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _whole(where: int, value: Any) -> int:
    """Return a user value as an int, exactly, whatever type of number it is; or raise a `Misfit`."""
    value = builtin(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    floating = number(where, value)
    exact: Any = value if isinstance(value, Rational | Decimal | np.floating) else floating
    if math.isfinite(floating) and int(exact) == exact:
        return int(exact)
    raise Misfit(where, value, "be a whole number")

"""Real parameters: an interval, its logarithm, or a grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np

from gssbo._keywords import with_checked_fields
from gssbo._typing import FloatArray, IndexArray
from gssbo._validation import as_doubles, check_flag, check_real
from gssbo.space.parameter import ROUNDING, Column, Discrete, Parameter, number, refuse, set_all, single

__all__ = ["Real", "check_range"]

LONGEST = 1_000_000  # steps from end to end of a real parameter on a grid


def check_range(name: str, low: Any, high: Any, *, log: bool) -> tuple[float, float]:
    """Return the ends of a real interval as floats, or raise a ValueError that names it."""
    ends = check_real(name, low) + 0.0, check_real(name, high) + 0.0  # no -0.0: values are compared by their bits
    if ends[0] > ends[1]:
        raise ValueError(f"{name} must have low <= high, got {ends}")
    if not math.isfinite(ends[1] - ends[0]):
        raise ValueError(f"{name} must have a finite high - low, got {ends}")
    if log and ends[0] <= 0.0:
        raise ValueError(f"{name} must have low > 0 with log=True, got {ends}")
    return ends


@with_checked_fields
@dataclass(frozen=True)
class Real(Parameter):
    """A real number between `low` and `high`, both included.

    A pair (low, high) among bounds is the same, and (low, high, "log-uniform") is one with `log=True`.

    Parameters
    ----------
    low, high : float
        Equal ones fix the parameter. What is told may lie beyond them by a billionth of a side, as rounding has it, or
        be one of them in single precision, and counts as the bound.
    log : bool
        Whether the model and the design see its logarithm: for what spans decades. Needs low > 0.
    step : float, optional
        Only low, low + step, low + 2 step, ... up to `high`; computed in decimal, so that Real(0.1, 0.7, step=0.2) is
        0.1, 0.3, 0.5, 0.7 to the bit. At most 1,000,000 steps. Not with `log`.

    Raises
    ------
    ValueError
        If the ends are not finite, reversed, too far apart for a double, or do not suit `log` or `step`.

    Examples
    --------
    >>> Real(1e-5, 1e-1, log=True)
    Real(low=1e-05, high=0.1, log=True, step=None)
    """

    dtype: ClassVar[str] = "f8"

    low: float
    high: float
    log: bool = field(default=False, kw_only=True)
    step: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        log = check_flag("log", self.log)
        low, high = check_real("low", self.low), check_real("high", self.high)
        low, high = check_range("Real", low, high, log=log)
        set_all(self, low=low, high=high, log=log)
        if self.step is not None:
            step = check_real("step", self.step, above=0.0)
            if log:
                raise ValueError(f"step must not be given with log=True, got {self.step}")
            if (high - low) / step > LONGEST:
                raise ValueError(f"step must be taken at most {LONGEST} times between {low} and {high}, got {step}")
            if low < high and Decimal(repr(step)) > Decimal(repr(high)) - Decimal(repr(low)):
                raise ValueError(f"step must be at most high - low ({high - low}), got {step}")
            set_all(self, step=step)

    def resolved(self) -> Parameter:
        """A `Stepped` one if there is a step."""
        return self if self.step is None else Stepped(self.low, self.high, self.step)

    @property
    def n_values(self) -> float:
        """1 or inf, without a step."""
        return 1 if self.low == self.high else math.inf

    @property
    def largest(self) -> float:
        """The size of the value farthest from 0."""
        return float(max(abs(self.low), abs(self.high)))

    @property
    def limits(self) -> str:
        """What the values are, for messages."""
        return f"bounds are ({self.low}, {self.high})"

    def store(self, values: Sequence[Any] | Column) -> Column:
        """Stored column (n,) of n user values; a ValueError says which is not one of this parameter's."""
        column = _real_column(values)
        slack = ROUNDING * (self.high - self.low)
        low, high = self.low - slack, self.high + slack
        if self.log:  # a side is measured in the logarithm here
            spread = 1.0 + ROUNDING * self._log_range[1]
            low, high = self.low / spread, self.high * spread
        outside = (column < low) | (column > high)
        if outside.any():
            side = self.high - self.low
            outside &= ~(single(column, self.low, side) | single(column, self.high, side))
        refuse(values, outside, "lie within bounds")
        return np.clip(column, self.low, self.high) + 0.0

    def encode(self, column: Column) -> FloatArray:
        """Columns (n, n_columns) of the unit cube, which the model sees, of a stored column (n,)."""
        start, span = self._log_range
        if span > 0.0:
            unit = (np.log(np.clip(column, self.low, self.high)) - start) / span
            unit = np.where(column >= self.high, 1.0, np.where(column <= self.low, 0.0, unit))
        else:
            unit = (column - self.low) / (self.high - self.low)
        clipped: FloatArray = np.clip(unit, 0.0, 1.0)[:, None]
        return clipped

    def decode(self, unit: FloatArray) -> Column:
        """Stored column (n,) of the values nearest to columns (n, n_columns) of the unit cube."""
        u = unit[:, 0]
        start, span = self._log_range
        values = np.exp(start + u * span) if span > 0.0 else self.low + u * (self.high - self.low)
        inside = np.clip(values, self.low, self.high)
        return np.where(u >= 1.0, self.high, np.where(u <= 0.0, self.low, inside))

    def place(self, draws: FloatArray) -> FloatArray:
        """Columns (n, n_columns) of the unit cube at draws (n,) in [0, 1]; uniform draws give uniform values."""
        return draws[:, None]

    def at(self, codes: IndexArray) -> Column:
        """The fixed value."""
        return np.full(len(codes), self.low)

    @property
    def _log_range(self) -> tuple[float, float]:
        """Logarithm of `low`, and how much larger that of `high` is; 0 without `log`, or where doubles do not tell."""
        return (math.log(self.low), math.log(self.high) - math.log(self.low)) if self.log else (0.0, 0.0)


@dataclass(frozen=True)
class Stepped(Discrete):
    """A `Real` with a step."""

    dtype: ClassVar[str] = "f8"

    low: float
    high: float
    step: float

    def __post_init__(self) -> None:
        low, high, step = (Decimal(repr(value)) for value in (self.low, self.high, self.step))
        values = np.array([float(low + k * step) for k in range(int((high - low) // step) + 1)])
        if not (np.diff(values) > 0.0).all():
            raise ValueError(f"step must tell values apart at {self.low}, got {self.step}")
        object.__setattr__(self, "_values", values)

    _values: FloatArray = field(init=False, repr=False, compare=False)

    @property
    def n_values(self) -> float:
        """How many values there are."""
        return len(self._values)

    @property
    def largest(self) -> float:
        """The size of the value farthest from 0."""
        return float(max(abs(self.low), abs(self.high)))

    @property
    def limits(self) -> str:
        """What the values are, for messages."""
        return f"bounds are ({self.low}, {self.high}) in steps of {self.step}"

    def store(self, values: Sequence[Any] | Column) -> Column:
        """The nearest value of the grid, which must be near."""
        column = _real_column(values)
        slack = ROUNDING * self.step
        stored = self._values[self.codes(column)]
        off = np.abs(stored - column) > slack + 4.0 * np.spacing(np.abs(stored))
        off &= ~single(column, stored, self.step)
        refuse(values, off & ((column < self.low - slack) | (column > self.high + slack)), "lie within bounds")
        refuse(values, off, "lie on the steps")
        return stored

    def codes(self, column: Column) -> IndexArray:
        """The nearest."""
        floats = np.rint((column - self.low) / self.step)
        return np.clip(floats, 0, self.n_values - 1).astype(np.int64)

    def at(self, codes: IndexArray) -> Column:
        """Stored column (n,) of the values with these codes (n,), from 0."""
        return self._values[codes]


def _real_column(values: Sequence[Any] | Column) -> FloatArray:
    """Float column of user values, or a `Misfit` at the first that is no finite real number."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "fiu":
        column = as_doubles(values)
    else:
        column = np.array([number(i, value) for i, value in enumerate(values)], dtype=np.float64)
    refuse(values, ~np.isfinite(column), "be finite")
    return column + 0.0  # no -0.0: values are compared by their bits

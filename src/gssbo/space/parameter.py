"""What a parameter is: the values it may take, how they are stored, and how the model sees them.

Notation
--------
stored      a column (n,) of values as the history keeps them: float64, int64, or the number of a category
code        0, 1, ..., n_values - 1: the place of a value of a discrete parameter among its values
unit        the columns (n, n_columns) of the model's unit cube that stand for a parameter
draw        a number in [0, 1], one for each parameter that is free: uniform draws give uniform values

A real parameter is one column. So is an integer, at the centre of its share of the unit interval: uniform draws hit
every integer equally often, and the model sees nothing but integers.

A category is one of k columns ("one-hot"), 1 / sqrt(2) high: any two categories are a distance of 1 apart, as two ends
of a side are, so none is nearer to one than to another, and renaming or reordering them changes nothing. Each column
has its own lengthscale, so a fit can set one category apart from all others. Two categories need one column, 0 or 1,
and a parameter of a single value none. More than 256 share 128 columns, or as many as two square roots of their
number, in which nearly all are a distance of 1 apart (`gssbo.space.pairs`): 10,000 columns would take a second or two
a suggestion, and 80 kB an observation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import date, timedelta
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gssbo._text import brief
from gssbo._typing import FloatArray, IndexArray
from gssbo._validation import as_float, is_masked

__all__ = [
    "Column",
    "Discrete",
    "Misfit",
    "Parameter",
    "builtin",
    "fresh",
    "number",
    "refuse",
    "set_all",
    "single",
    "whole_codes",
]

Column = NDArray[Any]

ROUNDING = 1e-9  # of a side: how far outside its bounds a told coordinate may stand, to admit a round trip
SINGLE = 1e-4  # of a side or a step: how far off a value in single precision may stand for the value it rounds
LAST_DRAW = 1.0 - 2.0**-53  # the largest number a generator's `random` returns


class Misfit(ValueError):
    """A value that a parameter cannot take; `where` is its position in the column."""

    def __init__(self, where: int, value: Any, rule: str) -> None:
        super().__init__(f"position {where} must {rule}, got {brief(value)}")
        self.where, self.value, self.rule = where, value, rule


class Parameter(ABC):
    """One parameter of a space; `Real`, `Integer` and `Categorical` are the kinds there are."""

    dtype: ClassVar[str]

    @property
    @abstractmethod
    def n_values(self) -> float:
        """How many values there are; inf for an interval."""

    @property
    def n_columns(self) -> int:
        """Columns of the model's cube; none where the value is fixed."""
        return int(self.n_values > 1)

    @property
    @abstractmethod
    def limits(self) -> str:
        """What the values are, for messages."""

    @property
    @abstractmethod
    def largest(self) -> float:
        """The size of the value farthest from 0; NaN where not all are numbers."""

    def resolved(self) -> Parameter:
        """The parameter that does the work: itself, unless another kind stands behind it."""
        return self

    @abstractmethod
    def store(self, values: Sequence[Any] | Column) -> Column:
        """Stored column of user values; raises `Misfit` at the first that is not one of this parameter's."""

    def show(self, column: Column) -> list[Any]:
        """User values, of built-in types, of a stored column (n,)."""
        values: list[Any] = column.tolist()
        return values

    @abstractmethod
    def encode(self, column: Column) -> FloatArray:
        """Unit columns (n, n_columns) of a stored column."""

    @abstractmethod
    def decode(self, unit: FloatArray) -> Column:
        """Stored column of the values nearest to unit columns (n, n_columns)."""

    @abstractmethod
    def place(self, draws: FloatArray) -> FloatArray:
        """Unit columns (n, n_columns) of the values at draws (n,)."""

    @abstractmethod
    def at(self, codes: IndexArray) -> Column:
        """Stored column of the values with these codes."""

    def numbers(self, column: Column) -> FloatArray:
        """The values as floats, for linear constraints; NaN for what is no number."""
        return column.astype(np.float64)


class Discrete(Parameter):
    """A parameter whose values can be counted."""

    @abstractmethod
    def codes(self, column: Column) -> IndexArray:
        """Codes (n,) of a stored column."""

    def encode(self, column: Column) -> FloatArray:
        """The centre of the value's share of the unit interval."""
        unit: FloatArray = ((self.codes(column).astype(np.float64) + 0.5) / self.n_values)[:, None]
        return unit

    def decode(self, unit: FloatArray) -> Column:
        """The value in whose share the number lies."""
        return self.at(self._codes_at(unit[:, 0]))

    def place(self, draws: FloatArray) -> FloatArray:
        """Columns (n, n_columns) of the unit cube at draws (n,) in [0, 1]; uniform draws give uniform values."""
        return self.encode(self.at(self._codes_at(draws)))

    def _codes_at(self, u: FloatArray) -> IndexArray:
        """Equal shares of the unit interval; where doubles cannot tell all of them apart, the last is in reach."""
        last = int(self.n_values) - 1
        width = self.n_values if self.n_values < 2.0**52 else self.n_values / LAST_DRAW
        floats = np.floor(u * width)
        return whole_codes(floats, last, beyond=floats >= float(last))


def whole_codes(floats: FloatArray, last: int, *, beyond: NDArray[np.bool_]) -> IndexArray:
    """Codes (n,) of whole floats (n,) from 0 to the last one, which those beyond have: it may be no double."""
    codes: IndexArray = np.where(beyond, 0.0, np.maximum(floats, 0.0)).astype(np.int64)
    codes[beyond] = last
    return codes


def set_all(parameter: Parameter, **values: Any) -> None:
    """Set fields of a frozen dataclass while it is made."""
    for name, value in values.items():
        object.__setattr__(parameter, name, value)


def builtin(value: Any) -> Any:
    """Return NumPy scalars, and arrays and tensors without a dimension, as built-in ones, anything else as it is.

    As it is, too, a time of NumPy that no built-in type holds: in nanoseconds, say, or a number of months; and what is
    masked, whatever is behind the mask.
    """
    shape = getattr(value, "shape", None)
    if not isinstance(shape, tuple) or shape or not hasattr(value, "item") or is_masked(value):
        return value
    plain = value.item()
    if getattr(getattr(value, "dtype", None), "kind", None) in ("m", "M") and not isinstance(plain, date | timedelta):
        return value[()]
    return plain


def fresh(value: Any) -> Any:
    """A copy of what can be changed in place, lists, dicts, sets and arrays, inside one another and inside tuples too.

    Anything else is the very object, as it is where there is nothing to copy in a tuple.

    Examples
    --------
    >>> inside = object()
    >>> value = {"a": [1, inside]}
    >>> copied = fresh(value)
    >>> copied == value, copied["a"] is value["a"], copied["a"][1] is inside
    (True, False, True)
    """
    kind = type(value)
    if kind is list:
        return [fresh(item) for item in value]
    if kind is dict:
        return {key: fresh(item) for key, item in value.items()}
    if kind is set or kind is np.ndarray:
        return value.copy()
    if kind is tuple:
        copied = tuple(fresh(item) for item in value)
        return copied if any(new is not old for new, old in zip(copied, value, strict=True)) else value
    return value


def number(where: int, value: Any) -> float:
    """Return a user value as a float, or raise a `Misfit`."""
    if not isinstance(value := builtin(value), bool):
        try:
            return as_float(value)
        except Exception:  # whatever a type of someone else's does when it is asked for a number
            pass
    raise Misfit(where, value, "be a real number")


def single(column: FloatArray, values: FloatArray | float, side: float) -> NDArray[np.bool_]:
    """Mask (n,) of a column that has the values, (n,) or one, as single precision does: PyTorch's usual one."""
    with np.errstate(over="ignore"):
        rounded = np.asarray(values).astype(np.float32).astype(np.float64)
    near = np.minimum(SINGLE * side, 2.0**-24 * np.abs(values))  # the second leaves out what rounds to 0
    mask: NDArray[np.bool_] = (column == rounded) & (np.abs(column - values) <= near)
    return mask


def refuse(values: Sequence[Any] | Column, bad: NDArray[np.bool_], rule: str) -> None:
    """Raise a `Misfit` at the first bad value."""
    if bad.any():
        where = int(np.argmax(bad))
        raise Misfit(where, builtin(values[where]), rule)

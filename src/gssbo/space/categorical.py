"""Categorical parameters: values without an order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real as RealNumber
from typing import Any, ClassVar

import numpy as np

from gssbo._typing import FloatArray, IndexArray
from gssbo.space.parameter import Column, Discrete, Misfit, builtin, set_all

__all__ = ["Categorical"]


@dataclass(frozen=True)
class Categorical(Discrete):
    """One of several values without an order.

    Parameters
    ----------
    values : sequence
        Distinct: text, numbers, booleans, None, tuples. NumPy scalars become built-in ones. A suggestion holds the very
        object given here.

    Raises
    ------
    ValueError
        If there is no value, or two are equal (True and 1 are).

    Examples
    --------
    >>> Categorical(["relu", "gelu"])
    Categorical(values=('relu', 'gelu'))
    """

    dtype: ClassVar[str] = "i8"

    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        given: Any = self.values
        if isinstance(given, str | bytes) or not isinstance(given, Sequence | np.ndarray):
            raise ValueError(f"values must be a list or tuple of values, got {given!r}")
        values = tuple(builtin(value) for value in given)
        if not values:
            raise ValueError(f"values must not be empty, got {given!r}")
        for i, value in enumerate(values):
            if not same(value, value):
                raise ValueError(f"values must be equal to themselves, got {value!r}")
            if any(same(value, other) for other in values[:i]):
                raise ValueError(f"values must be distinct, got {value!r} twice")
        set_all(self, values=values)

    @property
    def n_values(self) -> float:
        """See `Parameter`."""
        return len(self.values)

    @property
    def n_columns(self) -> int:
        """One a category, but one for two and none for one."""
        return len(self.values) if len(self.values) > 2 else len(self.values) - 1

    @property
    def limits(self) -> str:
        """For messages."""
        return f"values are {', '.join(map(repr, self.values))}"

    def store(self, values: Sequence[Any] | Column) -> Column:
        """See `Parameter`."""
        return np.array([self._code(i, builtin(value)) for i, value in enumerate(values)], dtype=np.int64)

    def _code(self, where: int, value: Any) -> int:
        for code, known in enumerate(self.values):
            if same(value, known):
                return code
        raise Misfit(where, value, "be one of the values")

    def show(self, column: Column) -> list[Any]:
        """See `Parameter`."""
        return [self.values[code] for code in column.tolist()]

    def codes(self, column: Column) -> IndexArray:
        """See `Discrete`."""
        return column

    def at(self, codes: IndexArray) -> Column:
        """See `Parameter`."""
        return np.asarray(codes, dtype=np.int64)

    def encode(self, column: Column) -> FloatArray:
        """See the top of this module."""
        if len(self.values) == 2:
            return column.astype(np.float64)[:, None]
        unit = np.zeros((len(column), len(self.values)))
        unit[np.arange(len(column)), column] = math.sqrt(0.5)
        return unit

    def decode(self, unit: FloatArray) -> Column:
        """The category of the highest column, the first of equals."""
        if len(self.values) == 2:
            codes: Column = (unit[:, 0] >= 0.5).astype(np.int64)
            return codes
        return np.asarray(np.argmax(unit, axis=1), dtype=np.int64)

    @property
    def numeric(self) -> bool:
        """See `Parameter`."""
        return all(isinstance(value, RealNumber) for value in self.values)

    def numbers(self, column: Column) -> FloatArray:
        """The categories that are numbers; NaN for the others."""
        values = [float(value) if isinstance(value, RealNumber) else math.nan for value in self.values]
        return np.array(values)[column]


def same(one: Any, other: Any) -> bool:
    """Whether two categories are equal, whatever their types do when compared."""
    try:
        return bool(one == other)
    except (TypeError, ValueError):
        return False

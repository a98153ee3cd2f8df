"""Categorical parameters: values without an order."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from numbers import Real as RealNumber
from typing import Any, ClassVar

import numpy as np

from gssbo._keywords import with_checked_fields
from gssbo._text import brief, listed
from gssbo._typing import FloatArray, IndexArray
from gssbo.space.pairs import Pairs
from gssbo.space.parameter import Column, Discrete, Misfit, builtin, fresh, set_all

__all__ = ["Categorical"]

MANY = 256  # values, of which each has a column of its own


@with_checked_fields
@dataclass(frozen=True)
class Categorical(Discrete):
    """One of several values without an order: any two are equally far apart, so renaming or reordering changes nothing.

    Of more than 256 nearly all are so, and their order says which are nearer.

    A list of values among bounds is the same.

    Parameters
    ----------
    values : sequence
        Distinct: text, numbers, NaN too, booleans, None, tuples, lists. NumPy scalars become built-in ones. A
        suggestion holds the very object given here, but a copy of its own of lists, dicts and sets, which an objective
        may change.

        To choose between numbers that have an order, `Integer` or `Real` with a step let the model know of it.

    Raises
    ------
    ValueError
        If there is no value, or two are equal (True and 1 are).

    Examples
    --------
    >>> Categorical(["relu", "gelu"])
    Categorical(values=('relu', 'gelu'))

    Beside other parameters, and as a list among them:

    >>> from gssbo import minimize
    >>> cost = {"relu": 2.0, "gelu": 1.0, "tanh": 3.0}
    >>> space = {"act": Categorical(["relu", "gelu", "tanh"]), "bias": [True, False]}
    >>> minimize(lambda x: cost[x["act"]] + x["bias"], space, n_evals=6, rng=0).x
    {'act': 'gelu', 'bias': False}
    """

    dtype: ClassVar[str] = "i8"

    values: tuple[Any, ...]
    _numbers: dict[Any, int] = field(init=False, repr=False, compare=False)  # of those that have a hash

    def __post_init__(self) -> None:
        given: Any = self.values
        several = isinstance(given, Sequence | np.ndarray) and not isinstance(given, str | bytes)
        if not several or getattr(given, "shape", None) == ():
            raise ValueError(f"values must be a list or tuple of values, got {brief(given)}")
        values = tuple(fresh(builtin(value)) for value in given)
        if not values:
            raise ValueError(f"values must not be empty, got {brief(given)}")
        set_all(self, values=values, _numbers=_distinct(values))

    @property
    def n_values(self) -> float:
        """How many values there are."""
        return len(self.values)

    @property
    def n_columns(self) -> int:
        """Columns of the model's cube: one a category, none for one, one for two, and fewer for more than 256."""
        k = len(self.values)
        return self._pairs.n_columns if k > MANY else k if k > 2 else k - 1

    @property
    def limits(self) -> str:
        """What the values are, for messages."""
        return f"values are {listed(self.values)}"

    def store(self, values: Sequence[Any] | Column) -> Column:
        """Numbers (n,), from 0, of n categories; a ValueError says which is none."""
        return np.array([self._code(i, builtin(value)) for i, value in enumerate(values)], dtype=np.int64)

    def _code(self, where: int, value: Any) -> int:
        number = _number(self._numbers, value)
        if number is not None:
            return number
        for code, known in enumerate(self.values):
            if _same(value, known):
                return code
        raise Misfit(where, value, "be one of the values")

    def show(self, column: Column) -> list[Any]:
        """The categories with the numbers in a stored column (n,), the very objects given, or copies of lists."""
        shown = [self.values[code] for code in column.tolist()]
        return [fresh(value) for value in shown] if self._changeable else shown

    @cached_property
    def _changeable(self) -> bool:
        """Whether there is a category that can be changed in place."""
        return any(fresh(value) is not value for value in self.values)

    def codes(self, column: Column) -> IndexArray:
        """The stored column (n,) itself: categories are stored by their numbers, from 0."""
        return column

    def at(self, codes: IndexArray) -> Column:
        """Stored column (n,) of the categories with these numbers (n,)."""
        return np.asarray(codes, dtype=np.int64)

    def encode(self, column: Column) -> FloatArray:
        """Columns (n, n_columns) of the unit cube: one a category, 1 / sqrt(2) high; 0 or 1 where there are two.

        Those of very many are `Pairs`.
        """
        if len(self.values) > MANY:
            return self._pairs.encode(column)
        if len(self.values) == 2:
            return column.astype(np.float64)[:, None]
        unit = np.zeros((len(column), len(self.values)))
        unit[np.arange(len(column)), column] = math.sqrt(0.5)
        return unit

    def decode(self, unit: FloatArray) -> Column:
        """The category of the highest column, the first of equals; of very many the nearest."""
        if len(self.values) > MANY:
            return self._pairs.decode(unit)
        if len(self.values) == 2:
            codes: Column = (unit[:, 0] >= 0.5).astype(np.int64)
            return codes
        return np.asarray(np.argmax(unit, axis=1), dtype=np.int64)

    @cached_property
    def _pairs(self) -> Pairs:
        return Pairs(len(self.values))

    @property
    def largest(self) -> float:
        """The size of the value farthest from 0; NaN where not all are numbers."""
        return max(abs(_float(value)) for value in self.values) if all(map(_is_real, self.values)) else math.nan

    def numbers(self, column: Column) -> FloatArray:
        """The categories that are numbers; NaN for the others."""
        return self._floats[column]

    @cached_property
    def _floats(self) -> FloatArray:
        return np.array([_float(value) if _is_real(value) else math.nan for value in self.values])


def _distinct(values: tuple[Any, ...]) -> dict[Any, int]:
    """The numbers of the values that have a hash; a ValueError says which value is none, or there twice."""
    numbers: dict[Any, int] = {}
    others: list[Any] = []
    for i, value in enumerate(values):
        if not _same(value, fresh(value)):
            raise ValueError(f"values must be equal to themselves, got {brief(value)}")
        hashed = _has_hash(value) and not _holds_nan(value)  # each NaN has a hash of its own
        if _number(numbers, value) is not None or any(_same(value, one) for one in (others if hashed else values[:i])):
            first = brief(next((one for one in values[:i] if _same(value, one)), value))
            again = " twice" if first == brief(value) else f", which equals {first}"
            raise ValueError(f"values must be distinct, got {brief(value)}{again}")
        if hashed:
            numbers[value] = i
        else:
            others.append(value)
    return numbers


def _has_hash(value: Any) -> bool:
    try:
        hash(value)
    except Exception:
        return False
    return True


def _number(numbers: dict[Any, int], value: Any) -> int | None:
    """What a value is known by; None where it is not, has no hash, or cannot be compared."""
    try:
        return numbers.get(value)
    except Exception:
        return None


def _is_real(value: Any) -> bool:
    """Whether it is a number; NaN is none, and a time passes for a whole one."""
    return not _is_nan(value) and isinstance(value, RealNumber) and not isinstance(value, np.timedelta64)


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number beyond doubles: nothing times infinity would be no number
        return sys.float_info.max if value > 0 else -sys.float_info.max


def _same(one: Any, other: Any) -> bool:
    """Whether two categories are equal, whatever their types do when compared; NaN is, inside lists and tuples too."""
    for kind in (list, tuple):
        if isinstance(one, kind) and isinstance(other, kind):
            return len(one) == len(other) and all(map(_same, one, other))
    try:
        return bool(one == other) or (_is_nan(one) and _is_nan(other))
    except Exception:  # of arrays, tensors and frames there are several
        return False


def _holds_nan(value: Any) -> bool:
    """Whether it is NaN, or a tuple with one in it."""
    return any(map(_holds_nan, value)) if isinstance(value, tuple) else _is_nan(value)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)

"""Forms of bounds: everything a user may write a space as, read into parameters.

The form decides how suggestions come back: as an array where every parameter is real and none has a name, as a list of
built-in values where there are others, as a dict where they have names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from itertools import pairwise
from numbers import Real as RealNumber
from typing import Any, NamedTuple

import numpy as np

from gssbo._text import brief
from gssbo._validation import check_matrix, check_unmasked
from gssbo._warning import warn
from gssbo.space.categorical import Categorical
from gssbo.space.integer import Integer
from gssbo.space.parameter import Parameter, builtin
from gssbo.space.real import Real, check_range

__all__ = ["Form", "read_bounds"]

PRIORS = {"uniform": False, "log-uniform": True}  # scikit-optimize's words for log=
ALMOST = {"log", "log10", "loguniform", "log-uniform", "linear", "lin", "uniform"}
FIXED = RealNumber | Decimal | str | bytes | None  # what may be meant as the value of a parameter
NO_RANGE = complex | date | time | timedelta | np.datetime64 | np.timedelta64  # though pairs of them look like one
APART = "; lower ends and upper ends apart are scipy.optimize.Bounds(low, high)"
MANY = 8  # numbers in order: as categories, fewer cost little
DISTRIBUTION = (
    "; of a distribution write the ends: Real(low, high), with log=True for loguniform, or Integer for randint"
)
KINDS = "a pair (low, high), a Real, Integer or Categorical, a range, bool, or a list of values"


class Form(NamedTuple):
    """Parameters, and their names where they have any."""

    parameters: tuple[Parameter, ...]
    names: tuple[str, ...] | None = None


def read_bounds(bounds: Any) -> Form:
    """Read bounds in any form; a ValueError names the parameter at fault."""
    if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
        return _from_table(_scipy_table(bounds))
    if isinstance(bounds, Mapping):
        return _from_mapping(bounds)
    if bounds is None or isinstance(bounds, int | float | str | bytes):
        raise ValueError(
            f"bounds must have an entry a parameter, as a list, a dict or an array (d, 2), got {brief(bounds)}"
        )
    if isinstance(bounds, Iterator):
        bounds = list(bounds)
    if isinstance(bounds, np.ndarray) or not isinstance(bounds, Sequence):
        return _from_table(bounds)
    if len(bounds) == 0:
        raise ValueError(f"bounds must not be empty, got {brief(bounds)}")
    if all(_is_pair_of_numbers(item) for item in bounds):
        return _from_table([[builtin(end) for end in item] for item in bounds])
    if all(map(_is_number, bounds)):
        raise ValueError(
            f"bounds must have an entry a parameter, such as a pair (low, high), got {brief(bounds[0])}; one parameter "
            "is [(low, high)], and a point to begin with goes to x0"
        )
    try:
        return Form(tuple(_parameter(f"bounds[{i}]", item) for i, item in enumerate(bounds)))
    except ValueError as error:
        if not _are_lower_and_upper(bounds):
            raise
        raise ValueError(f"{error}{APART}") from None


def _scipy_table(bounds: Any) -> Any:
    lower, upper = np.atleast_1d(bounds.lb), np.atleast_1d(bounds.ub)
    try:
        return np.column_stack(np.broadcast_arrays(lower, upper))
    except ValueError as error:
        raise ValueError(
            f"bounds must have as many lower as upper bounds, got lb of shape {lower.shape} and ub of {upper.shape}"
        ) from error


def _from_table(bounds: Any) -> Form:
    table = check_matrix("bounds", bounds)
    if table.shape[1] != 2:
        apart = APART if len(table) == 2 else ""
        raise ValueError(f"bounds must be (low, high) pairs, shape (d, 2), got shape {table.shape}{apart}")
    return Form(tuple(_real(f"bounds[{i}]", low, high) for i, (low, high) in enumerate(table.tolist())))


def _from_mapping(bounds: Mapping[Any, Any]) -> Form:
    if not bounds:
        raise ValueError(f"bounds must not be empty, got {brief(bounds)}")
    for name in bounds:
        if not isinstance(name, str):
            raise ValueError(f"bounds must have text as names, got {name!r}")
    return Form(tuple(_parameter(f"bounds[{name!r}]", item) for name, item in bounds.items()), tuple(bounds))


def _real(where: str, low: Any, high: Any, log: bool = False) -> Real:
    return Real(*check_range(where, low, high, log=log), log=log)


def _parameter(where: str, item: Any) -> Parameter:
    """One parameter, written in any way.

    A pair of numbers is an interval of reals, whole numbers or not, as in SciPy; scikit-optimize, whose rules the lists
    of values follow, takes two whole numbers for an integer.
    """
    if isinstance(item, Parameter):
        return item
    if item is bool:
        return Categorical((False, True))
    if isinstance(item, range):
        if not item:
            raise ValueError(f"{where} must not be empty, got {brief(item)}")
        low, high = sorted((item[0], item[-1]))  # its length may be more than `len` can say
        return _named(where, Integer, low, high, step=abs(item.step) if low < high else 1)
    if not isinstance(item, list | tuple | np.ndarray) or (isinstance(item, np.ndarray) and item.ndim == 0):
        plain = builtin(item)
        fixed = f"; a list of one value, [{plain!r}], fixes it" if isinstance(plain, FIXED) else ""
        ends = DISTRIBUTION if hasattr(item, "dist") and hasattr(item, "support") else ""
        raise ValueError(f"{where} must be {KINDS}, got {brief(item)}{fixed}{ends}")
    check_unmasked(where, item)
    if isinstance(item, np.ndarray) and item.dtype.kind not in "mM":  # `tolist` makes numbers of some times
        values = item.tolist()
    else:
        values = [builtin(value) for value in item]
    if len(values) == 3 and _is_number(values[0]) and _is_number(values[1]):
        if values[2] is int:  # (low, high, type), as in bayes_opt
            return _named(where, Integer, values[0], values[1])
        if values[2] is float:
            return _real(where, values[0], values[1])
        if isinstance(values[2], str) and values[2] in PRIORS:
            return _real(where, values[0], values[1], log=PRIORS[values[2]])
    if len(values) == 2 and values[0] is None and values[1] is None:
        raise ValueError(f"{where} must have finite ends, got {brief(item)}")
    _refuse_half_a_range(where, item, values)
    if len(values) == 2 and any(map(_is_number, values)) and not any(isinstance(v, str | bytes | bool) for v in values):
        return _pair(where, values)
    parameter = _named(where, Categorical, values)
    _warn_of_order(where, values)
    return parameter


def _pair(where: str, values: list[Any]) -> Real:
    """A range of two values of which one at least is a number; where the other is none, it was meant otherwise."""
    try:
        return _real(where, *values)
    except ValueError as error:
        if all(map(_is_number, values)):
            raise
        raise ValueError(f"{error}; to choose between the two, write Categorical({brief(values)})") from None


def _warn_of_order(where: str, values: list[Any]) -> None:
    """Warn of many numbers in order that go for categories: a grid, as of `numpy.linspace`, loses it unnoticed."""
    if len(values) < MANY or not all(map(_is_number, values)):
        return
    if all(a < b for a, b in pairwise(values)) or all(a > b for a, b in pairwise(values)):
        warn(
            f"{where} is read as {len(values)} categories, any two equally far apart, though it has numbers in order: "
            "a range, a Real or Integer with step= or log=True, or an index into them lets the model know of it; "
            "Categorical(values) says that none is meant",
            UserWarning,
        )


def _refuse_half_a_range(where: str, item: Any, values: list[Any]) -> None:
    """Raise a ValueError for what was meant as a range, and would go for three categories or two.

    That is a tuple of numbers and text, such as ends that were read from a file as text; two numbers before a word that
    is nearly one of the priors; and a tuple of other than two numbers, or of dates or complex ones.
    """
    two = len(values) == 2 and any(map(_is_number, values))
    countable = all(_is_number(value) or isinstance(value, NO_RANGE) for value in values)
    if isinstance(item, tuple) and values and countable and not two:
        raise ValueError(
            f"{where} must be real numbers as a pair (low, high), or a list or Categorical for values, got "
            f"{brief(item)}"
        )
    texts = [value for value in values if isinstance(value, str)]
    if not texts or not any(map(_is_number, values)):
        return
    misspelt = len(values) == 3 and texts == values[2:] and texts[0].lower().strip("-_ ").replace("_", "-") in ALMOST
    if isinstance(item, tuple) or misspelt:
        raise ValueError(
            f"{where} must be a range of numbers, with {' or '.join(map(repr, PRIORS))} behind it at most or as "
            f"Real(..., log=True), or a list of values, of which text and numbers are categories, got {brief(item)}"
        )


def _named(where: str, kind: type[Integer] | type[Categorical], *values: Any, **options: Any) -> Parameter:
    try:
        return kind(*values, **options)
    except ValueError as error:
        raise ValueError(f"{where} must be {KINDS}: {error}") from error


def _is_number(value: Any) -> bool:
    return isinstance(value := builtin(value), RealNumber | Decimal) and not isinstance(value, bool | np.timedelta64)


def _are_lower_and_upper(bounds: Sequence[Any]) -> bool:
    """Whether it is two lists of numbers, equally long."""
    listed = len(bounds) == 2 and all(isinstance(item, list | tuple | np.ndarray) for item in bounds)
    return listed and len(bounds[0]) == len(bounds[1]) and all(_is_number(end) for item in bounds for end in item)


def _is_pair_of_numbers(item: Any) -> bool:
    if isinstance(item, np.ndarray):
        return item.shape == (2,) and item.dtype.kind in "fiu"
    return isinstance(item, list | tuple) and len(item) == 2 and all(map(_is_number, item))

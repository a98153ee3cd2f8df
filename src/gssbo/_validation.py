"""Checks of user input: each names the argument, the rule and the value it got, and returns the clean value."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gssbo._text import brief
from gssbo._typing import FloatArray, IndexArray

__all__ = [
    "as_array",
    "as_doubles",
    "as_float",
    "as_generator",
    "check_array",
    "check_choice",
    "check_flag",
    "check_flags",
    "check_indices",
    "check_integer",
    "check_interval",
    "check_matrix",
    "check_noise_std",
    "check_real",
    "check_unmasked",
    "check_vector",
    "is_array",
    "is_masked",
    "spawn_generators",
]

Number = TypeVar("Number", int, float)
Value = TypeVar("Value")


def check_array(name: str, value: Any) -> FloatArray:
    """Return a C-contiguous float64 copy of any shape; what is no number is refused, in arrays of objects too."""
    check_unmasked(name, value)
    found: FloatArray | None = None
    try:
        array = as_array(value)
        if array.dtype == object:
            found = np.array([as_float(item) for item in array.flat], dtype=np.float64).reshape(array.shape)
        elif array.dtype.kind in "fiub":
            found = as_doubles(array)
    except (TypeError, ValueError, OverflowError, RuntimeError) as error:  # the last of a tensor with a gradient
        raise ValueError(f"{name} must be an array of real numbers, got {brief(value)}: {error}") from error
    if found is None:
        raise ValueError(f"{name} must be an array of real numbers, got {brief(value)} of dtype {array.dtype}")
    if found.ndim > 1 and isinstance(value, list | tuple) and np.isnan(found).any() and _holds_masked(value):
        raise _masked(name, value)  # which NumPy makes NaN of
    return found


def as_doubles(numbers: NDArray[Any]) -> FloatArray:
    """Return a C-contiguous float64 copy of real numbers of any type; those beyond doubles are infinite."""
    with np.errstate(over="ignore"):
        return np.array(numbers, dtype=np.float64, order="C")


def check_unmasked(name: str, value: Any) -> None:
    """Raise a ValueError for masked entries, also those of a list."""
    if is_masked(value) or (isinstance(value, list | tuple) and any(map(is_masked, value))):
        raise _masked(name, value)


def _holds_masked(value: Any) -> bool:
    """Whether something is masked in lists inside one another; takes as long as to make an array of them."""
    return any(map(_holds_masked, value)) if isinstance(value, list | tuple) else is_masked(value)


def _masked(name: str, value: Any) -> ValueError:
    return ValueError(f"{name} must have no masked entries, got {brief(value)}")


def is_masked(value: Any) -> bool:
    """Whether it is a masked number of NumPy's, or an array with masked entries; nullable ones of pandas are not."""
    if not isinstance(value, np.ma.MaskedArray):
        return False
    mask = np.ma.getmask(value)
    return bool((np.ma.flatten_mask(mask) if mask.dtype.names else mask).any())  # of records there is one a field


def is_array(value: Any) -> bool:
    """Whether it is an array of one dimension or more, of any package; what has a shape alone may be a category."""
    return hasattr(value, "__array__") and len(getattr(value, "shape", ())) > 0


def as_array(value: Any) -> NDArray[Any]:
    """`numpy.asarray`, and one number of a tensor that refuses it: it has a gradient, or is on another device."""
    try:
        return np.asarray(value)
    except (TypeError, RuntimeError):
        with contextlib.suppress(Exception):
            return np.full(value.shape, as_float(value.item()))
        raise


def as_float(value: Any) -> float:
    """`float`, but a TypeError for text and what NumPy takes for numbers: complex ones, times, and what is masked.

    The missing value of pandas is NaN.

    Examples
    --------
    >>> as_float(np.complex128(1.0))
    Traceback (most recent call last):
    TypeError: it must be a real number, not complex128
    """
    if type(value).__name__ == "NAType":  # which is no float, whatever it is compared with
        return np.nan
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    text = isinstance(value, str | bytes | bytearray | memoryview)
    if text or kind in ("c", "m", "M", "U", "S") or is_masked(value):
        raise TypeError(f"it must be a real number, not {type(value).__name__}")
    return float(value)


def check_matrix(name: str, value: Any, *, columns: int | None = None) -> FloatArray:
    """Return a C-contiguous float64 copy of shape (n, d) with n, d >= 1 and finite entries."""
    array = check_array(name, value)
    if array.ndim != 2:
        raise ValueError(f"{name} must have shape (n, d), got shape {array.shape}")
    if 0 in array.shape:
        raise ValueError(f"{name} must not be empty, got shape {array.shape}")
    if columns is not None and array.shape[1] != columns:
        raise ValueError(f"{name} must have {columns} columns, got shape {array.shape}")
    _check_finite(name, array)
    return array


def check_vector(
    name: str, value: Any, *, size: int | None = None, finite: bool = True, column: bool = False
) -> FloatArray:
    """Return a C-contiguous float64 copy of shape (n,), with finite entries unless told otherwise.

    With `column` the shape (size, 1) will do, too: what others hand about as the values of so many points.
    """
    array = check_array(name, value)
    if column and array.shape == (size, 1):
        array = array.reshape(-1)
    if array.ndim != 1:
        raise ValueError(f"{name} must have shape (n,), got shape {array.shape}")
    if size is not None and array.shape[0] != size:
        raise ValueError(f"{name} must have {size} entries, got {array.shape[0]}")
    if finite:
        _check_finite(name, array)
    return array


def check_noise_std(value: Any, *, size: int) -> FloatArray:
    """Return known standard deviations of noise, at least 0, as a float64 copy of shape (n,)."""
    array = check_vector("noise_std", value, size=size, column=True)
    if (array < 0.0).any():
        raise ValueError(f"noise_std must be at least 0, got {array.min()}")
    return array


def _check_finite(name: str, array: FloatArray) -> None:
    """Raise a ValueError that points at the first entry that is NaN or infinite."""
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name} must be finite, got {array[where]} at index {where}")


def check_real(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
) -> float:
    """Return a finite float within the limits; booleans and text are refused."""
    check_unmasked(name, value)
    if isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be a real number, got {brief(value)}")
    try:
        number = as_float(value)
    except Exception as error:  # whatever a type of someone else's does when it is asked for a number
        raise ValueError(f"{name} must be a real number, got {brief(value)}") from error
    if not np.isfinite(number):
        raise ValueError(f"{name} must be finite, got {number}")
    if above is not None and not number > above:
        raise ValueError(f"{name} must be greater than {above}, got {number}")
    return _within(name, number, at_least, at_most)


def check_integer(name: str, value: Any, *, at_least: int | None = None, at_most: int | None = None) -> int:
    """Return an int within the limits; booleans and fractional numbers are refused."""
    if isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be an integer, got {brief(value)}")
    try:
        number = operator.index(value)
    except TypeError as error:
        raise ValueError(f"{name} must be an integer, got {brief(value)}") from error
    return _within(name, number, at_least, at_most)


def _within(name: str, number: Number, at_least: float | None, at_most: float | None) -> Number:
    if at_least is not None and number < at_least:
        raise ValueError(f"{name} must be at least {at_least}, got {number}")
    if at_most is not None and number > at_most:
        raise ValueError(f"{name} must be at most {at_most}, got {number}")
    return number


def check_flags(name: str, value: Any, *, size: int) -> NDArray[np.bool_]:
    """Return an array of one bool, of shape (), or of `size` of them; nullable ones, too, where none is missing."""
    check_unmasked(name, value)
    try:
        flags = np.asarray(value)
    except ValueError:  # lists of several lengths
        flags = np.empty(0)
    if flags.dtype == object and all(isinstance(flag, bool | np.bool_) for flag in flags.flat):
        flags = flags.astype(np.bool_)
    if flags.dtype != np.bool_ or flags.shape not in ((), (size,)):
        raise ValueError(f"{name} must be True or False, or one of them a point ({size}), got {brief(value)}")
    return flags


def check_flag(name: str, value: Any) -> bool:
    """Return a bool; anything but True and False is refused."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {brief(value)}")
    return bool(value)


def check_choice(name: str, value: Any, choices: Iterable[Value]) -> Value:
    """Return `value` if it is one of `choices`; the error lists them."""
    options = list(choices)
    for option in options:
        if isinstance(value, str) and value == option:
            return option
    raise ValueError(f"{name} must be one of {', '.join(map(repr, options))}, got {brief(value)}")


def check_interval(name: str, value: Any, *, above: float = -np.inf) -> tuple[float, float]:
    """Return (low, high) with above < low <= high, both finite."""
    pair = check_vector(name, value, size=2)
    low, high = float(pair[0]), float(pair[1])
    if not above < low <= high:
        raise ValueError(f"{name} must satisfy {above} < low <= high, got ({low}, {high})")
    return low, high


def check_indices(name: str, value: Any, *, below: int) -> IndexArray:
    """Return distinct indices in [0, below) as a 1-D integer array."""
    check_unmasked(name, value)
    try:
        array = np.asarray(value)
    except ValueError:  # lists of several lengths
        array = np.array(np.nan)
    if array.size == 0:
        return np.empty(0, dtype=np.intp)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be a 1-D array of integers, got {brief(value)}")
    if array.min() < 0 or array.max() >= below:
        raise ValueError(f"{name} must lie in [0, {below}), got {brief(array.tolist())}")
    if np.unique(array).size != array.size:
        raise ValueError(f"{name} must be distinct, got {brief(array.tolist())}")
    return np.ascontiguousarray(array, dtype=np.intp)


def as_generator(name: str, rng: Any) -> np.random.Generator:
    """`numpy.random.default_rng`, with an error that names the argument."""
    try:
        if isinstance(rng, str):
            raise TypeError("a seed is no text")
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be None, a seed >= 0 or a numpy Generator, got {brief(rng)}") from error


def spawn_generators(name: str, rng: Any, count: int) -> list[np.random.Generator]:
    """Independent generators from one, with an error that names the argument."""
    generator = as_generator(name, rng)
    try:
        return generator.spawn(count)
    except TypeError as error:  # legacy seeding keeps no seed sequence
        raise ValueError(
            f"{name} must be None, a seed >= 0 or a numpy Generator that can spawn others, got {brief(rng)}"
        ) from error

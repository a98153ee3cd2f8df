"""Points as users write them: arrays, lists, dicts, tables, one or many; read into columns, a parameter each."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gssbo._text import brief, listed
from gssbo._validation import check_array, check_matrix, check_unmasked, is_array

__all__ = ["by_name", "column_names", "read_array", "read_columns"]


def read_array(name: str, value: Any, d: int) -> tuple[Any, bool]:
    """Return points of d real parameters as a float64 copy (n, d), and whether it was one point."""
    points = check_array(name, value)
    single = points.ndim <= 1
    if single:
        if not (points.shape == (d,) or (d == 1 and points.ndim == 0)):
            raise ValueError(f"{name} must have shape ({d},) or (n, {d}), got shape {points.shape}")
        points = points.reshape(1, d)
    return check_matrix(name, points, columns=d), single


def read_columns(
    name: str, value: Any, d: int, names: tuple[str, ...] | None, *, is_point: Callable[[list[Any]], bool]
) -> tuple[list[Any], bool]:
    """Return d columns of user values, and whether it was one point.

    One point is a dict of values, or a list of d of them; many are a list of such, a dict or a data frame of columns,
    or an array of d columns. A lone value is a point where d is 1. What has a name for each value is read by those,
    where the parameters have names, else in its order, unless it is a dict. `is_point` says of d lists or dicts that
    they are values, not columns or points.
    """
    check_unmasked(name, value)
    value = _unwrapped(value, names)
    if (keys := column_names(value)) is not None:
        if len(set(keys)) < len(keys):
            raise ValueError(f"{name} must have each column once, got {keys}")
        table = {key: list(value[key]) for key in keys}
        if names is not None and all(isinstance(key, str) for key in keys):
            return by_name(name, table, d, names), False
        return list(table.values()) if len(table) == d else _wrong(name, len(table), d), False
    if isinstance(value, Mapping):
        row = by_name(name, value, d, names)
        if not is_point(row) and all(_is_column(item) for item in row):
            columns = [list(item) for item in row]
            if len({len(column) for column in columns}) > 1:
                raise ValueError(f"{name} must have columns of one length, got {[len(column) for column in columns]}")
            return columns, False
        return [[item] for item in row], True
    if isinstance(value, np.ndarray) and value.ndim == 2:
        return list(value.T) if value.shape[1] == d else _wrong(name, value.shape[1], d), False
    if isinstance(value, str | bytes) or not isinstance(value, Sequence | np.ndarray):
        return ([[value]] if d == 1 else _wrong(name, brief(value), d)), True
    items = list(value) if not (isinstance(value, np.ndarray) and value.ndim == 0) else [value.item()]
    if len(items) == d and is_point(items):
        return [[item] for item in items], True
    items = [_unwrapped(item, names) for item in items]
    if items and all(isinstance(item, Mapping) for item in items):
        return [list(column) for column in zip(*(by_name(name, item, d, names) for item in items), strict=True)], False
    lengths = [len(item) if isinstance(item, tuple) or _is_column(item) else -1 for item in items]
    if items and all(length == d for length in lengths):
        return [list(column) for column in zip(*items, strict=True)], False
    if len(items) == d:
        return [[item] for item in items], True
    if items and min(lengths) >= 0:
        wrong = next(i for i, length in enumerate(lengths) if length != d)
        _wrong(name, f"{lengths[wrong]} in point {wrong}", d)
    return _wrong(name, len(items), d), True


def _unwrapped(item: Any, names: tuple[str, ...] | None) -> Any:
    """A named tuple, a pandas Series, a record or records of NumPy as a dict, or a list where there are no names.

    A subclass of NumPy's arrays, which may have other rows and sums, as an array; an array of another package as a
    list, and anything else as it is.
    """
    if isinstance(item, tuple) and hasattr(item, "_asdict"):
        return item if names is None else item._asdict()
    if isinstance(item, np.ndarray | np.void) and item.dtype.names:
        if names is None:
            return item.tolist()
        columns = item.tolist() if item.ndim == 0 else [item[key].tolist() for key in item.dtype.names]
        return dict(zip(item.dtype.names, columns, strict=True))
    if isinstance(item, np.ndarray):
        return np.asarray(item)
    if isinstance(item, memoryview | array):
        return item.tolist()
    if hasattr(item, "iloc") and hasattr(item, "items") and not hasattr(item, "columns"):
        row = dict(item.items())
        return list(item) if names is None or not all(isinstance(key, str) for key in row) else row
    foreign = is_array(item) and not hasattr(item, "columns")
    return list(item) if foreign and len(item.shape) == 1 else item


def column_names(value: Any) -> list[Any] | None:
    """Names of the columns of a data frame, of pandas, Polars or alike; None of anything else."""
    parts = ("__len__", "__getitem__", "columns")  # a lazy frame lacks the first
    if isinstance(value, Mapping) or not all(hasattr(value, part) for part in parts):
        return None
    keys = list(value.columns)
    return keys if hasattr(value, "iloc") or all(isinstance(key, str) for key in keys) else None


def _is_column(item: Any) -> bool:
    return isinstance(item, list) or is_array(item) or hasattr(item, "iloc")


def by_name(name: str, point: Mapping[Any, Any], d: int, names: tuple[str, ...] | None) -> list[Any]:
    """The values of a dict in the order of the parameters."""
    if names is None:
        raise ValueError(
            f"{name} must be a list of {d} values, one a parameter (they have no names), got {brief(point)}"
        )
    missing = [key for key in names if key not in point]
    if missing or len(point) > len(names):
        unknown = [key for key in point if key not in names]
        found = [f"{what}: {listed(keys)}" for what, keys in (("missing", missing), ("unknown", unknown)) if keys]
        raise ValueError(f"{name} must have the keys {listed(names)}; {'; '.join(found)}")
    return [point[key] for key in names]


def _wrong(name: str, found: int | str, d: int) -> Any:
    """Raise the error of a point of another length."""
    raise ValueError(f"{name} must have {d} values, one a parameter, or be a list of such points, got {found}")

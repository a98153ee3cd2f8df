"""Values of a space as JSON has them, and back."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from scipy.optimize import LinearConstraint, NonlinearConstraint

from gssbo.exceptions import JournalError
from gssbo.space import Categorical, Integer, Parameter, Real, Rows, Space

__all__ = [
    "RowCodec",
    "Unread",
    "describe_constraint",
    "describe_parameter",
    "plain_number",
    "plain_value",
    "real_number",
]


class Unread(str):
    """The repr of a category that JSON does not have, where a journal is read without the space it was begun with."""

    __slots__ = ()


def plain_value(value: Any) -> Any:
    """A category as JSON has it: text, numbers, booleans and None as they are, a tuple as one, others by their repr.

    Examples
    --------
    >>> plain_value("relu"), plain_value((1, 2.5)), plain_value(print)
    ('relu', {'tuple': [1, 2.5]}, {'repr': '<built-in function print>'})
    """
    if isinstance(value, Unread):
        return {"repr": str(value)}
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return plain_number(value)
    if isinstance(value, tuple):
        return {"tuple": [plain_value(each) for each in value]}
    return {"repr": repr(value)}


def plain_number(value: float) -> Any:
    """A float as strict JSON has it: infinities by name, NaN as null."""
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else str(value)


def real_number(value: Any) -> float:
    """Return the float that `plain_number` wrote."""
    return math.nan if value is None else float(value)


def describe_parameter(parameter: Parameter) -> dict[str, Any]:
    """What a parameter is, in JSON's terms.

    Examples
    --------
    >>> describe_parameter(Integer(1, 9, log=True))
    {'kind': 'Integer', 'low': 1, 'high': 9, 'log': True, 'step': 1}
    """
    match parameter:
        case Real() | Integer():
            return {
                "kind": type(parameter).__name__,
                "low": parameter.low,
                "high": parameter.high,
                "log": parameter.log,
                "step": parameter.step,
            }
        case Categorical():
            return {"kind": "Categorical", "values": [plain_value(value) for value in parameter.values]}
    raise JournalError(f"a journal holds Real, Integer and Categorical parameters, got {parameter!r}")


def describe_constraint(constraint: LinearConstraint | NonlinearConstraint) -> dict[str, Any]:
    """What a constraint is, in JSON's terms: of a function no more than the bounds of its values.

    Examples
    --------
    >>> describe_constraint(LinearConstraint([[1.0, 2.0]], ub=3.0))
    {'kind': 'LinearConstraint', 'lb': '-inf', 'ub': 3.0, 'A': [[1.0, 2.0]]}
    """
    described = {
        "kind": type(constraint).__name__,
        "lb": _plain_array(constraint.lb),
        "ub": _plain_array(constraint.ub),
    }
    if isinstance(constraint, LinearConstraint):
        described["A"] = _plain_array(getattr(constraint.A, "toarray", lambda: constraint.A)())
    return described


def _plain_array(values: Any) -> Any:
    """Nested lists of an array's floats, or one of them; of arrays of one the float."""
    array = np.asarray(values, dtype=np.float64)
    if array.size == 1 and array.ndim < 2:
        return plain_number(array.item())
    return [_plain_array(each) if np.ndim(each) else plain_number(float(each)) for each in array]


class RowCodec:
    """Rows of a space as lists of values, one a point, and back.

    Raises
    ------
    JournalError
        If two categories of a parameter read alike.

    Examples
    --------
    >>> codec = RowCodec(Space([(0.0, 1.0), ["u", "v"]]))
    >>> rows, _ = codec.space.read("x", [0.5, "v"])
    >>> codec.write(rows), bool(codec.read(codec.write(rows)) == rows)
    ([[0.5, 'v']], True)
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self._categories: dict[int, tuple[list[Any], dict[str, int]]] = {}
        for i, parameter in enumerate(space.parameters):
            if isinstance(parameter, Categorical):
                written = [plain_value(value) for value in parameter.values]
                codes = {json.dumps(value): code for code, value in enumerate(written)}
                if len(codes) < len(written):
                    raise JournalError(f"categories must read differently to be kept in a journal, got {parameter!r}")
                self._categories[i] = written, codes

    def write(self, rows: Rows) -> list[list[Any]]:
        """Lists of values of rows (n)."""
        columns = [self._written(i, column) for i, column in enumerate(self.space.columns(rows))]
        return [list(point) for point in zip(*columns, strict=True)]

    def read(self, points: list[list[Any]]) -> Rows:
        """Rows of n lists of values.

        Raises
        ------
        ValueError, KeyError, TypeError
            If they are no points of the space.
        """
        d = self.space.n_parameters
        if any(len(point) != d for point in points):
            raise ValueError(f"points must have {d} values")
        if not points:
            return self.space.empty()
        columns = [self._stored(i, column) for i, column in enumerate(zip(*points, strict=True))]
        return self.space.rows(columns)

    def _written(self, i: int, column: Any) -> list[Any]:
        values: list[Any] = column.tolist()
        if i in self._categories:
            written = self._categories[i][0]
            return [written[code] for code in values]
        return values

    def _stored(self, i: int, values: tuple[Any, ...]) -> Any:
        if i in self._categories:
            codes = self._categories[i][1]
            return np.array([codes[json.dumps(value)] for value in values], dtype=np.int64)
        kind = self.space.parameters[i].resolved()
        return kind.store(np.array(values, dtype=kind.dtype))

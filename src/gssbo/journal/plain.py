"""Values of a space as JSON has them, and back."""

from __future__ import annotations

import json
import math
import re
import reprlib
from typing import Any, NoReturn

import numpy as np
from scipy.optimize import LinearConstraint, NonlinearConstraint

from gssbo.exceptions import JournalError
from gssbo.space import Categorical, Integer, Parameter, Real, Rows, Space
from gssbo.space.parameter import Misfit

__all__ = [
    "RowCodec",
    "Unread",
    "check_depth",
    "describe_constraint",
    "describe_parameter",
    "parse_json",
    "plain_number",
    "plain_value",
    "shown",
]

DEEPEST = 200  # lists and objects in each other
ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")  # in memory, another one in each process


class Unread(str):
    """The repr of a category that JSON does not have, where a journal is read without the space it was begun with."""

    __slots__ = ()


def plain_value(value: Any) -> Any:
    """A category as JSON has it: text, finite numbers, booleans and None as they are, others say what they are.

    NaN and an infinite number do by their names, a tuple by its values, anything else by its repr.

    Without addresses in memory, and of sets in order, so that another process has the same.

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
        return value if math.isfinite(value) else {"float": str(float(value))}
    if isinstance(value, tuple):
        return {"tuple": [plain_value(each) for each in value]}
    return {"repr": _repr(value)}


def _repr(value: Any) -> str:
    kind = type(value)
    if kind is list:
        return f"[{', '.join(map(_repr, value))}]"
    if kind is tuple:
        return f"({', '.join(map(_repr, value))}{',' if len(value) == 1 else ''})"
    if kind is dict:
        return f"{{{', '.join(f'{_repr(key)}: {_repr(each)}' for key, each in value.items())}}}"
    if kind in (set, frozenset) and value:
        inside = f"{{{', '.join(sorted(map(_repr, value)))}}}"
        return inside if kind is set else f"frozenset({inside})"
    return ADDRESS.sub("", repr(value))


def plain_number(value: float) -> Any:
    """A float as strict JSON has it: infinities by name, NaN as null."""
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else str(value)


def parse_json(text: bytes) -> Any:
    """What strict JSON says.

    Raises
    ------
    ValueError
        If it is none, or holds a number that JSON does not have, or is nested too deeply.

    Examples
    --------
    >>> parse_json(b'{"tell": [[0.5]]}')
    {'tell': [[0.5]]}
    """
    try:
        return _DECODER.decode(text.decode())
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def check_depth(value: Any) -> None:
    """Raise a ValueError if a value of JSON is nested more deeply than what goes through it can follow.

    Examples
    --------
    >>> check_depth(parse_json(b"[" * 300 + b"]" * 300))
    Traceback (most recent call last):
    ValueError: it is nested too deeply
    """
    level = [value]
    for _ in range(DEEPEST):
        level = [
            inner
            for outer in level
            if isinstance(outer, list | dict)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return
    raise ValueError("it is nested too deeply")


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"JSON has no {name}")


_DECODER = json.JSONDecoder(parse_constant=_no_number)


def shown(value: Any) -> str:
    """A value as messages show it, however long or deep it is.

    Examples
    --------
    >>> shown(10**4000)
    '100000000000000000...0000000000000000000'
    """
    return reprlib.repr(value)


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


def _as_read(written: Any) -> Any:
    """A category as one is that was read without the space: a repr is text then."""
    if isinstance(written, dict):
        return {"tuple": list(map(_as_read, written["tuple"]))} if "tuple" in written else written.get("repr", written)
    return written


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
                if len({json.dumps(_as_read(value)) for value in written}) < len(written):
                    raise JournalError(
                        "categories must read differently, addresses in memory apart, to be kept in a journal, got "
                        f"{parameter!r}"
                    )
                self._categories[i] = written, codes

    def write(self, rows: Rows) -> list[list[Any]]:
        """Lists of values of rows (n)."""
        columns = [self._written(i, column) for i, column in enumerate(self.space.columns(rows))]
        return [list(point) for point in zip(*columns, strict=True)]

    def read(self, points: list[Any]) -> Rows:
        """Rows of n lists of values.

        Raises
        ------
        ValueError
            If they are no points of the space; nothing is converted from one type to another but 4 to 4.0.
        """
        d = self.space.n_parameters
        for point in points:
            if type(point) is not list or len(point) != d:
                raise ValueError(f"points must be lists of {d} values, got {shown(point)}")
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
            found = [codes.get(json.dumps(value), -1) for value in values]
            if -1 in found:
                raise self._misfit(i, "be among the categories", values[found.index(-1)])
            return np.array(found, dtype=np.int64)
        kind = self.space.kinds[i]
        allowed, rule = ({int}, "be a whole number") if kind.dtype == "i8" else ({float, int}, "be a number")
        if not allowed.issuperset(map(type, values)):
            raise self._misfit(i, rule, next(value for value in values if type(value) not in allowed))
        try:
            return kind.store(np.array(values, dtype=kind.dtype))
        except OverflowError:
            raise self._misfit(i, "lie within bounds", max(values, key=abs)) from None
        except Misfit as misfit:
            raise self._misfit(i, misfit.rule, misfit.value) from None

    def _misfit(self, i: int, rule: str, value: Any) -> ValueError:
        label = i if self.space.names is None else repr(self.space.names[i])
        return ValueError(f"values of parameter {label} must {rule}, got {shown(value)}")

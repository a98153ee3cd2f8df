"""The first line of a journal: what the run is, so that another is not mistaken for it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.optimize import LinearConstraint

from gssbo._typing import FloatArray
from gssbo.exceptions import JournalError, OtherOption
from gssbo.journal.generators import check_seed
from gssbo.journal.plain import Unread, check_depth, describe_constraint, describe_parameter, parse_json, shown
from gssbo.space import Categorical, Integer, Real, Space

__all__ = ["BEGINNING", "FORMAT", "check_header", "describe_run", "parse_header", "space_of"]

FORMAT = 1
BEGINNING = f'{{"gssbo":{FORMAT},"version":"'.encode()  # the first bytes of every journal
MARK = b"\xef\xbb\xbf"  # that some editors put before UTF-8
N_GENERATORS = 4
# Options that earlier versions did not have, and what they did.
ADDED = {"fit_on": "retained", "posterior": "exact", "gap_tolerance": None}
NUMERIC = {"kind", "low", "high", "log", "step"}


def describe_run(space: Space, options: Mapping[str, Any], rng: list[dict[str, Any]], version: str) -> dict[str, Any]:
    """Header of a run in a space, with these options and states of its generators."""
    names = [None] * space.n_parameters if space.names is None else space.names
    return {
        "gssbo": FORMAT,
        "version": version,
        "space": [
            ({} if name is None else {"name": name}) | describe_parameter(parameter)
            for name, parameter in zip(names, space.parameters, strict=True)
        ],
        "constraints": [describe_constraint(each) for each in space.constraints],
        "options": dict(options),
        "rng": rng,
    }


def parse_header(line: bytes, path: str) -> dict[str, Any]:
    """Read the first line.

    Raises
    ------
    JournalError
        If it is no header, or of a later format, or what is in it cannot be of a run.
    """
    try:
        header: Any = parse_json(line.removeprefix(MARK))
    except ValueError:
        header = None
    if not isinstance(header, dict) or type(header.get("gssbo")) is not int:
        raise JournalError(f"{path} must be a journal of gssbo, got a first line that is no header")
    if header["gssbo"] != FORMAT:
        raise JournalError(
            f"{path} has format {shown(header['gssbo'])}, and this version of gssbo reads format {FORMAT}"
        )
    try:
        check_depth(header)
        _check_form(header)
    except ValueError as error:
        raise JournalError(f"{path} is damaged in line 1, its header ({error}); nothing was changed") from error
    return header


def _check_form(header: dict[str, Any]) -> None:
    for name, kind in (("version", str), ("space", list), ("options", dict), ("rng", list)):
        if not isinstance(header.get(name), kind):
            raise ValueError(f"{name} must be {FORMS[kind]}, got {shown(header.get(name))}")
    if not header["space"]:
        raise ValueError("space must hold parameters, got []")
    for i, found in enumerate(header["space"]):
        try:
            _check_parameter(found)
        except ValueError as error:
            raise ValueError(f"space[{i}]: {error}") from None
    names = [found["name"] for found in header["space"] if "name" in found]
    if names and len(set(names)) < len(header["space"]):
        raise ValueError(f"names must be one a parameter, all different, got {shown(names)}")
    constraints = header.get("constraints", [])  # none in the first versions
    if not isinstance(constraints, list) or not all(
        isinstance(each, dict) and isinstance(each.get("kind"), str) for each in constraints
    ):
        raise ValueError(f"constraints must be a list of objects with a kind, got {shown(constraints)}")
    for name, flag in (
        ("maximize", header["options"].get("maximize", False)),
        ("left_out", header.get("left_out", False)),
    ):
        if type(flag) is not bool:
            raise ValueError(f"{name} must be true or false, got {shown(flag)}")
    if len(header["rng"]) != N_GENERATORS:
        raise ValueError(f"rng must hold {N_GENERATORS} generators, got {len(header['rng'])}")
    for i, found in enumerate(header["rng"]):
        try:
            check_seed(found)
        except ValueError as error:
            raise ValueError(f"rng[{i}]: {error}") from None


FORMS = {str: "text", list: "a list", dict: "an object"}


def _check_parameter(found: Any) -> None:
    if not isinstance(found, dict) or found.get("kind") not in ("Real", "Integer", "Categorical"):
        raise ValueError(f"a parameter has a kind, Real, Integer or Categorical, got {shown(found)}")
    if not isinstance(found.get("name", ""), str):
        raise ValueError(f"name must be text, got {shown(found['name'])}")
    fields = {"kind", "values"} if found["kind"] == "Categorical" else NUMERIC
    if found.keys() - {"name"} != fields:
        raise ValueError(f"{found['kind']} has {', '.join(sorted(fields))}, got {', '.join(sorted(found))}")
    if found["kind"] != "Categorical":
        _parameter(found)
    elif not isinstance(found["values"], list) or not all(map(_is_category, found["values"])):
        raise ValueError(f"values must be a list of text, numbers, true, false or null, got {shown(found['values'])}")


def _is_category(value: Any) -> bool:
    if not isinstance(value, dict):
        return not isinstance(value, list)
    if value.keys() == {"tuple"}:
        return isinstance(value["tuple"], list) and all(map(_is_category, value["tuple"]))
    if value.keys() == {"float"}:
        return value["float"] in ("inf", "-inf", "nan")
    return value.keys() == {"repr"} and isinstance(value["repr"], str)


def check_header(header: Mapping[str, Any], expected: Mapping[str, Any], path: str) -> None:
    """Raise a JournalError that names what differs between a journal's header and what is expected.

    Of an option it is an `OtherOption`, for whoever calls options by other names.
    """
    ours, theirs = expected["space"], header["space"]
    if len(ours) != len(theirs):
        raise JournalError(f"{path} was begun with {len(theirs)} parameters, got {len(ours)}")
    for i, (now, then) in enumerate(zip(ours, theirs, strict=True)):
        # As JSON has it: 1 and 1.0 differ, and so do two orders of the same categories.
        if json.dumps(now) != json.dumps(then):
            label = _cut(repr(then.get("name", i)))
            raise JournalError(f"{path} was begun with another parameter {label}: {_text(then)}, got {_text(now)}")
    _check_constraints(header.get("constraints"), expected.get("constraints"), path)
    begun = ADDED | header["options"]
    for name in {**begun, **expected["options"]}:
        then, now = begun.get(name), expected["options"].get(name)
        if _meant(now) != _meant(then):
            message = f"{path} was begun with {name}={_cut(repr(then))}, got {_cut(repr(now))}"
            raise OtherOption(message, name, then)


def _meant(option: Any) -> str:
    """An option as JSON, 4 as 4.0: they are the same number, though in a space they are not the same category."""
    if isinstance(option, Mapping):
        return json.dumps({name: _meant(value) for name, value in option.items()}, sort_keys=True)
    return json.dumps(float(option) if type(option) is int and abs(option) < 2**53 else option)


def _check_constraints(then: Any, now: Any, path: str) -> None:
    if then is None or now is None:  # of a version that did not write them down
        return
    if len(then) != len(now):
        raise JournalError(f"{path} was begun with {len(then)} constraints, got {len(now)}")
    for i, (old, new) in enumerate(zip(then, now, strict=True)):
        if json.dumps(old) != json.dumps(new):
            raise JournalError(f"{path} was begun with another constraints[{i}]: {_text(old)}, got {_text(new)}")


def space_of(header: Mapping[str, Any], path: str = "the journal") -> Space:
    """Return the space of a header with its linear constraints; categories that JSON does not have are text there.

    Raises
    ------
    JournalError
        If there is none: of two categories, one is the text that stands for the other.

    Examples
    --------
    >>> header = describe_run(Space({"n": Integer(1, 4), "c": ["u", "v"]}), {}, [], "1.0")
    >>> space_of(header)
    Space(n: Integer(low=1, high=4, log=False, step=1), c: Categorical(values=('u', 'v')))
    """
    names = [each.get("name") for each in header["space"]]
    try:
        parameters = [_parameter(each) for each in header["space"]]
        space = Space(parameters if None in names else dict(zip(names, parameters, strict=True)))
    except ValueError as error:
        raise JournalError(f"{path} has a space that cannot be made here ({error})") from error
    linear = [each for each in header.get("constraints", []) if each["kind"] == "LinearConstraint"]
    with contextlib.suppress(KeyError, TypeError, ValueError):  # of categories that are text here, but were numbers
        return Space(space, [LinearConstraint(*(_array(each[name]) for name in ("A", "lb", "ub"))) for each in linear])
    return space


def _array(value: Any) -> FloatArray:
    """What `describe_constraint` made of an array."""
    return np.array([_array(each) for each in value] if isinstance(value, list) else float(value))


def _parameter(found: Mapping[str, Any]) -> Real | Integer | Categorical:
    if found["kind"] == "Categorical":
        return Categorical(tuple(_category(value) for value in found["values"]))
    options = {"log": found["log"], "step": found["step"]}
    if found["kind"] == "Real":
        return Real(found["low"], found["high"], **options)
    return Integer(found["low"], found["high"], **options)


def _category(value: Any) -> Any:
    match value:
        case {"tuple": values}:
            return tuple(map(_category, values))
        case {"float": name}:
            return float(name)
        case {"repr": text}:
            return Unread(text)
    return value


def _text(parameter: Mapping[str, Any]) -> str:
    inside = ", ".join(f"{key}={value!r}" for key, value in parameter.items() if key not in ("kind", "name"))
    name = f"{_cut(parameter['name'])}: " if "name" in parameter else ""
    return f"{name}{parameter['kind']}({_cut(inside)})"


def _cut(text: str) -> str:
    return text if len(text) <= 400 else f"{text[:400]}..."

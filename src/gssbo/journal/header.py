"""The first line of a journal: what the run is, so that another is not mistaken for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gssbo.exceptions import JournalError
from gssbo.journal.plain import Unread, describe_constraint, describe_parameter
from gssbo.space import Categorical, Integer, Real, Space

__all__ = ["FORMAT", "check_header", "describe_run", "parse_header", "space_of"]

FORMAT = 1


def describe_run(space: Space, options: Mapping[str, Any], rng: list[dict[str, Any]], version: str) -> dict[str, Any]:
    """Header of a run in a space, with these options and states of its generators."""
    names: list[Any] = list(space.names) if space.names is not None else [None] * space.n_parameters
    if len({json.dumps(name) if isinstance(name, str) else repr(name) for name in names}) < len(set(names)):
        raise JournalError(f"names must read differently to be kept in a journal, got {names}")
    return {
        "gssbo": FORMAT,
        "version": version,
        "space": [
            ({} if name is None else {"name": name if isinstance(name, str) else repr(name)})
            | describe_parameter(parameter)
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
        If it is no header, or of a later format.
    """
    try:
        header: Any = json.loads(line)
        known = header["gssbo"]
    except (ValueError, KeyError, TypeError):
        raise JournalError(f"{path} must be a journal of gssbo, got a first line that is no header") from None
    if known != FORMAT:
        raise JournalError(f"{path} has format {known}, and this version of gssbo reads format {FORMAT}")
    return dict(header)


def check_header(header: Mapping[str, Any], expected: Mapping[str, Any], path: str) -> None:
    """Raise a JournalError that names what differs between a journal's header and what is expected."""
    ours, theirs = expected["space"], header["space"]
    if len(ours) != len(theirs):
        raise JournalError(f"{path} was begun with {len(theirs)} parameters, got {len(ours)}")
    for i, (now, then) in enumerate(zip(ours, theirs, strict=True)):
        # As JSON has it: 1 and 1.0 differ, and so do two orders of the same categories.
        if json.dumps(now) != json.dumps(then):
            label = repr(then.get("name", i))
            raise JournalError(f"{path} was begun with another parameter {label}: {_text(then)}, got {_text(now)}")
    _check_constraints(header.get("constraints"), expected.get("constraints"), path)
    for name in {**header["options"], **expected["options"]}:
        then, now = header["options"].get(name), expected["options"].get(name)
        if json.dumps(now) != json.dumps(then):
            raise JournalError(f"{path} was begun with {name}={then!r}, got {now!r}")


def _check_constraints(then: Any, now: Any, path: str) -> None:
    if then is None or now is None:  # of a version that did not write them down
        return
    if len(then) != len(now):
        raise JournalError(f"{path} was begun with {len(then)} constraints, got {len(now)}")
    for i, (old, new) in enumerate(zip(then, now, strict=True)):
        if json.dumps(old) != json.dumps(new):
            raise JournalError(f"{path} was begun with another constraints[{i}]: {_text(old)}, got {_text(new)}")


def space_of(header: Mapping[str, Any]) -> Space:
    """Return the space of a header; categories that JSON does not have stand as text there.

    Examples
    --------
    >>> header = describe_run(Space({"n": Integer(1, 4), "c": ["u", "v"]}), {}, [], "1.0")
    >>> space_of(header)
    Space(n: Integer(low=1, high=4, log=False, step=1), c: Categorical(values=('u', 'v')))
    """
    parameters = [_parameter(each) for each in header["space"]]
    names = [each.get("name") for each in header["space"]]
    return Space(parameters if None in names else dict(zip(names, parameters, strict=True)))


def _parameter(found: Mapping[str, Any]) -> Real | Integer | Categorical:
    if found["kind"] == "Categorical":
        return Categorical(tuple(_category(value) for value in found["values"]))
    options = {"log": found["log"], "step": found["step"]}
    if found["kind"] == "Real":
        return Real(float(found["low"]), float(found["high"]), **options)
    return Integer(found["low"], found["high"], **options)


def _category(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(_category(each) for each in value["tuple"]) if "tuple" in value else Unread(value["repr"])
    return value


def _text(parameter: Mapping[str, Any]) -> str:
    inside = ", ".join(f"{key}={value!r}" for key, value in parameter.items() if key not in ("kind", "name"))
    name = f"{parameter['name']}: " if "name" in parameter else ""
    return f"{name}{parameter['kind']}({inside})"

"""Entries as lines of JSON, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gssbo.entry import KINDS, Entry
from gssbo.journal.plain import RowCodec, check_depth, parse_json, plain_number, shown
from gssbo.space import Rows

__all__ = ["read_line", "read_lines", "write_line"]

NEEDED = {
    "ask": {"id"},
    "announce": {"id"},
    "enqueue": set(),
    "tell": {"y"},
    "explain": {"id", "reason"},
    "forget": {"id"},
    "reseed": {"state"},
    "snapshot": {"state"},
}
MORE = {"ask": {"seconds"}, "tell": {"id", "noise_std", "prior", "reason"}}
WITH_POINTS = ("ask", "announce", "enqueue", "tell")


def write_line(entry: Entry, codec: RowCodec) -> bytes:
    r"""Return an entry as a line.

    Examples
    --------
    >>> from gssbo.space import Space
    >>> codec = RowCodec(Space([(0.0, 1.0)]))
    >>> line = write_line(Entry("tell", np.array([[0.5]]), (3,), y=np.array([2.0])), codec)
    >>> line
    b'{"tell":[[0.5]],"id":[3],"y":[2.0]}\n'
    >>> read_line(line, codec).ids
    (3,)
    """
    fields: dict[str, Any] = {entry.kind: codec.write(entry.rows) if entry.rows is not None else None}
    if entry.ids and any(number is not None for number in entry.ids):
        fields["id"] = entry.ids
    if entry.y is not None:
        fields["y"] = [plain_number(value) for value in entry.y.tolist()]
    if entry.noise_std is not None:
        fields["noise_std"] = entry.noise_std.tolist()
    if entry.prior:
        fields["prior"] = True
    if entry.reason is not None:
        fields["reason"] = entry.reason
    if entry.seconds is not None:
        fields["seconds"] = round(entry.seconds, 6)
    if entry.state is not None:
        fields["state"] = entry.state
    return json.dumps(fields, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def read_line(line: bytes, codec: RowCodec) -> Entry:
    """Return the entry of a line.

    Raises
    ------
    ValueError
        If it is not one that `write_line` writes.
    """
    kind, fields = _parsed(line)
    return _entry(kind, fields, codec.read(fields[kind]) if kind in WITH_POINTS else None)


def read_lines(lines: Sequence[bytes], codec: RowCodec) -> list[Entry]:
    """Return the entries of lines as `read_line` does, with all their points read at once: some ten times as fast.

    Raises
    ------
    ValueError
        If one of them is not one.
    """
    parsed = [_parsed(line) for line in lines]
    points = [fields[kind] for kind, fields in parsed]
    rows = codec.read([point for some in points if some is not None for point in some])
    entries, first = [], 0
    for (kind, fields), some in zip(parsed, points, strict=True):
        last = first + (0 if some is None else len(some))
        entries.append(_entry(kind, fields, None if some is None else rows[first:last]))
        first = last
    return entries


def _parsed(line: bytes) -> tuple[str, dict[str, Any]]:
    """Kind and fields of a line: the right fields, points in a list."""
    fields = parse_json(line)
    if not isinstance(fields, dict):
        raise ValueError("an entry is an object")
    kind = next(iter(fields), "")
    if kind not in KINDS:
        raise ValueError(f"entries are {', '.join(KINDS)}, got {shown(kind)}")
    given = fields.keys() - {kind}
    if missing := NEEDED[kind] - given:
        raise ValueError(f"an entry {kind} has a field {min(missing)}")
    if given != NEEDED[kind] and (unknown := given - NEEDED[kind] - MORE.get(kind, set())):
        raise ValueError(f"an entry {kind} has no field {shown(min(unknown))}")
    points = fields[kind]
    if kind in WITH_POINTS:
        if type(points) is not list or not points:
            raise ValueError(f"an entry {kind} has a list of points, got {shown(points)}")
    elif points is not None:
        raise ValueError(f"an entry {kind} has no points, got {shown(points)}")
    return kind, fields


def _entry(kind: str, fields: dict[str, Any], rows: Rows | None) -> Entry:
    y = noise = seconds = None
    count = None if rows is None else len(rows)
    if "y" in fields:
        y = np.array(_numbers("y", fields["y"], count, failures=True))
    if "noise_std" in fields:
        noise = np.array(_numbers("noise_std", fields["noise_std"], count))
        if noise.min() < 0.0:
            raise ValueError(f"noise_std must be at least 0, got {noise.min()}")
    if "seconds" in fields:
        (seconds,) = _numbers("seconds", [fields["seconds"]], 1)
        if seconds < 0.0:
            raise ValueError(f"seconds must be at least 0, got {seconds}")
    prior = fields.get("prior", False)
    if type(prior) is not bool:
        raise ValueError(f"prior must be true or false, got {shown(prior)}")
    reason = fields.get("reason")
    if "reason" in fields and (type(reason) is not str or (y is not None and not np.isnan(y).all())):
        raise ValueError(f"reason must be text, of evaluations that failed, got {shown(reason)}")
    ids: tuple[int | None, ...] = (None,) * len(y) if y is not None else ()
    if "id" in fields:
        ids = _ids(fields["id"], count, unknown=kind == "tell")
    state = fields.get("state")
    if kind == "snapshot":
        if not isinstance(state, dict):
            raise ValueError(f"state must be an object, got {shown(state)}")
        check_depth(state)
    return Entry(kind, rows, ids, y, noise, prior, reason, seconds, state)


def _numbers(name: str, values: Any, count: int | None, *, failures: bool = False) -> list[float]:
    """Finite numbers, one a point; or null, which is NaN, for a failure."""
    if type(values) is not list or len(values) != count:
        raise ValueError(f"{name} must hold one number a point ({count}), got {shown(values)}")
    allowed = {float, int, type(None)} if failures else {float, int}
    if not allowed.issuperset(map(type, values)):
        wrong = next(value for value in values if type(value) not in allowed)
        raise ValueError(f"{name} must be a number{' or null' if failures else ''}, got {shown(wrong)}")
    try:
        numbers = [math.nan if value is None else float(value) for value in values]
    except OverflowError:
        raise ValueError(f"{name} must be finite, got {shown(values)}") from None
    if math.inf in numbers or -math.inf in numbers:
        raise ValueError(f"{name} must be finite, got {shown(numbers)}")
    return numbers


def _ids(values: Any, count: int | None, *, unknown: bool) -> tuple[int | None, ...]:
    """Numbers of suggestions, one a point where there are points; null, if that may be, where a point answers none."""
    if type(values) is not list or len(values) != (count or len(values) or 1):
        raise ValueError(
            f"id must hold {'some numbers' if count is None else f'one number a point ({count})'}, got {shown(values)}"
        )
    for value in values:
        if not (type(value) is int and value >= 0) and not (unknown and value is None):
            raise ValueError(f"id must be a whole number from 0, got {shown(value)}")
    return tuple(values)

"""Entries as lines of JSON, and back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from gssbo._typing import FloatArray
from gssbo.entry import KINDS, Entry
from gssbo.journal.plain import RowCodec, plain_number, real_number
from gssbo.space import Rows

__all__ = ["read_line", "read_lines", "write_line"]


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
    if entry.seconds is not None:
        fields["seconds"] = round(entry.seconds, 6)
    if entry.state is not None:
        fields["state"] = entry.state
    return json.dumps(fields, separators=(",", ":"), allow_nan=False).encode() + b"\n"


def read_line(line: bytes, codec: RowCodec) -> Entry:
    """Return the entry of a line.

    Raises
    ------
    ValueError, KeyError, TypeError
        If it is not one.
    """
    kind, fields = _parsed(line)
    return _entry(kind, fields, None if fields[kind] is None else codec.read(fields[kind]))


def read_lines(lines: Sequence[bytes], codec: RowCodec) -> list[Entry]:
    """Return the entries of lines as `read_line` does, with all their points read at once: some ten times as fast.

    Raises
    ------
    ValueError, KeyError, TypeError
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
    fields = json.loads(line)
    if not isinstance(fields, dict):
        raise TypeError("an entry is an object")
    kind = next(iter(fields), "")
    if kind not in KINDS:
        raise ValueError(f"entries are {', '.join(KINDS)}, got {kind!r}")
    return kind, fields


def _entry(kind: str, fields: dict[str, Any], rows: Rows | None) -> Entry:
    y = None if "y" not in fields else np.array([real_number(value) for value in fields["y"]])
    count = 0 if rows is None else len(rows)
    ids: tuple[int | None, ...] = tuple(fields.get("id", (None,) * (count if kind == "tell" else 0)))
    noise: FloatArray | None = np.array(fields["noise_std"], dtype=float) if "noise_std" in fields else None
    if kind == "tell" and not (rows is not None and y is not None and len(y) == len(rows) == len(ids)):
        raise ValueError("a tell has a value and an id for each point")
    return Entry(
        kind, rows, ids, y, noise, bool(fields.get("prior", False)), fields.get("seconds"), fields.get("state")
    )

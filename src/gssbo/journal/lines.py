"""Entries as lines of JSON, and back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from gssbo._typing import FloatArray
from gssbo.entry import KINDS, Entry
from gssbo.journal.plain import RowCodec, plain_number, real_number

__all__ = ["read_line", "write_line"]


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
    fields = json.loads(line)
    if not isinstance(fields, dict):
        raise TypeError("an entry is an object")
    kind = next(iter(fields), "")
    if kind not in KINDS:
        raise ValueError(f"entries are {', '.join(KINDS)}, got {kind!r}")
    rows = None if fields[kind] is None else codec.read(fields[kind])
    y = None if "y" not in fields else np.array([real_number(value) for value in fields["y"]])
    count = 0 if rows is None else len(rows)
    ids: tuple[int | None, ...] = tuple(fields.get("id", (None,) * (count if kind == "tell" else 0)))
    noise: FloatArray | None = np.array(fields["noise_std"], dtype=float) if "noise_std" in fields else None
    if kind == "tell" and not (rows is not None and y is not None and len(y) == len(rows) == len(ids)):
        raise ValueError("a tell has a value and an id for each point")
    return Entry(
        kind, rows, ids, y, noise, bool(fields.get("prior", False)), fields.get("seconds"), fields.get("state")
    )

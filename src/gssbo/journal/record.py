"""Reading a journal without taking it up: who only looks needs no lock, and may look while it is written."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from gssbo._validation import check_flag
from gssbo.entry import Entry
from gssbo.exceptions import JournalError
from gssbo.journal.header import space_of
from gssbo.journal.journal import Scan
from gssbo.journal.place import check_path, refuse_special
from gssbo.journal.plain import RowCodec
from gssbo.space import Space

__all__ = ["Record", "read_header", "read_journal"]


class Record(NamedTuple):
    """What a journal holds.

    Attributes
    ----------
    header : dict
    space : Space
        With the linear constraints. Categories that JSON does not have stand as text in it.
    entries : list of Entry
    """

    header: dict[str, Any]
    space: Space
    entries: list[Entry]


def read_journal(path: str | os.PathLike[str], *, skip_damaged: bool = False) -> Record:
    """Read a journal, also one that is being written.

    Raises
    ------
    JournalError
        If there is none, or a line is damaged.
    ValueError
        If `path` is no path, or `skip_damaged` no flag.

    Examples
    --------
    >>> import tempfile, gssbo
    >>> path = os.path.join(tempfile.mkdtemp(), "run.jsonl")
    >>> with gssbo.Optimizer({"a": (0.0, 1.0)}, journal=path) as opt:
    ...     opt.tell({"a": 0.5}, 2.0)
    ...     read_journal(path).entries[0].y
    array([2.])
    """
    path, skip_damaged = check_path("path", path), check_flag("skip_damaged", skip_damaged)
    try:
        refuse_special(path)
        with path.open("rb") as file:
            scan = Scan(path, file, skip_damaged=skip_damaged, growing=not skip_damaged)
    except OSError as error:
        raise JournalError(f"{path} cannot be read ({error})") from error
    if scan.header is None:
        raise JournalError(f"{path} is empty: the run has not begun")
    space = space_of(scan.header, str(path))
    return Record(scan.header, space, scan.entries(RowCodec(space)))


def read_header(path: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The first line of a journal, which says what run it is of; None where no run has begun there.

    Raises
    ------
    JournalError
        If it cannot be read, or is no journal.

    Examples
    --------
    >>> import tempfile, gssbo
    >>> path = os.path.join(tempfile.mkdtemp(), "run.jsonl")
    >>> read_header(path) is None
    True
    >>> with gssbo.Optimizer({"a": (0.0, 1.0)}, n_init=5, journal=path) as opt:
    ...     _ = opt.ask()
    >>> read_header(path)["options"]["n_init"]
    5
    """
    path = check_path("path", path)
    try:
        refuse_special(path)
        with path.open("rb") as file:
            first = file.readline()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise JournalError(f"{path} cannot be read ({error})") from error
    return Scan(path, [first], growing=True).header

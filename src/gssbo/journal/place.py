"""Where a journal may be: in a regular file, or where there is none yet."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path
from typing import Any

from gssbo._text import brief
from gssbo.exceptions import JournalError

__all__ = ["check_path", "refuse_special", "sync_folder"]


def check_path(name: str, value: Any) -> Path:
    """Return a path that a user gave.

    Raises
    ------
    ValueError
        If it is none; the message calls it `name`.

    Examples
    --------
    >>> check_path("path", 5)
    Traceback (most recent call last):
    ValueError: path must be a path, got 5
    """
    try:
        path = Path(os.fspath(value))
    except TypeError:
        raise ValueError(f"{name} must be a path, got {brief(value)}") from None
    if "\0" in str(path):
        raise ValueError(f"{name} must be a path without null characters, got {value!r}")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise ValueError(f"{name} must be a path that this system can write, got {value!r}") from None
    return path


def refuse_special(path: Path) -> None:
    """Refuse a folder, a pipe or a device, which opening might wait for, or change.

    Raises
    ------
    JournalError
        If there is something there that is no regular file.
    OSError
        If the system does not say.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISREG(mode):
        raise JournalError(f"{path} must be a regular file, or none yet, to be a journal")


def sync_folder(folder: Path) -> None:
    """Have new names in a folder on the disk, where folders can be opened; until they are, they may be lost."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

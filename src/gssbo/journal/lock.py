"""A lock against a second writer, which ends with the process that holds it.

The lock is on a file beside the journal, so that replacing the journal does not lose it. It is one of POSIX, or of
Windows: the system lifts it when the process dies, however it dies, and no child inherits it. On a network file system
it is as good as that system's locks.
"""

from __future__ import annotations

import contextlib
import errno
import os
import struct
import sys
import threading
from pathlib import Path

from gssbo.exceptions import JournalInUse

__all__ = ["Lock"]

_held: dict[str, Lock] = {}  # by this process, which the system would not keep from locking twice
_guard = threading.RLock()  # one that nobody holds any more may be released within any line


class Lock:
    """The right to write to a file.

    Parameters
    ----------
    path : Path
        Of the file, or a symbolic link to it; the lock's own has ``.lock`` appended, and goes when the lock does.

    Raises
    ------
    JournalInUse
        If someone has it; the message names the process where the system tells.
    OSError
        If the lock's file cannot be made, or is on a file system without locks.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "run.jsonl"
    >>> lock = Lock(path)
    >>> Lock(path)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    gssbo.exceptions.JournalInUse: ...run.jsonl is being written by this very process
    >>> lock.release()
    """

    def __init__(self, path: Path) -> None:
        self._key = os.path.realpath(path)  # a link is no other journal
        self._path = Path(f"{self._key}.lock")
        self._file = ""
        with _guard:
            if self._key in _held or _name(path) in _held:
                raise JournalInUse(f"{path} is being written by this very process")
            self._descriptor = self._acquire(path)
            _held[self._key] = self

    def include(self, descriptor: int) -> None:
        """Keep others from writing to the open file by another name of it, a hard link.

        On POSIX systems that ends where this process closes the file once more, as one that reads it does.

        Raises
        ------
        JournalError
            If someone does.
        """
        # Windows would keep others from reading, too.
        if sys.platform != "win32" and not _lock(descriptor):
            raise JournalInUse(f"{self._key} is being written by another process, under another name")
        with _guard:
            self._file = _name(descriptor)
            _held[self._file] = self

    def release(self) -> None:
        """Give it up; once more does nothing, but for what Ctrl-C left undone."""
        with _guard:
            try:
                for name in (self._key, self._file):
                    if _held.get(name) is self:
                        del _held[name]
                if self._descriptor >= 0 and sys.platform != "win32":
                    self._remove()
            finally:
                # First, so that once more after Ctrl-C does not close or remove what is someone else's by then.
                descriptor, self._descriptor = self._descriptor, -1
                if descriptor >= 0:
                    os.close(descriptor)
                    if sys.platform == "win32":  # a file that is open is not removed there
                        self._remove()

    def _remove(self) -> None:
        with contextlib.suppress(OSError):
            self._path.unlink()

    def _acquire(self, path: Path) -> int:
        while True:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                if not _lock(descriptor):
                    holder = _holder(descriptor)
                    raise JournalInUse(
                        f"{path} is being written by another process" + (f", number {holder}" if holder else "")
                    )
                # The last holder removed the file between our opening and locking it: a lock on nothing.
                if _same(descriptor, self._path):
                    return descriptor
            except BaseException:
                os.close(descriptor)
                raise
            os.close(descriptor)


def _name(file: Path | int) -> str:
    """What the system knows a file by, whatever its names; nothing where there is none."""
    try:
        status = os.stat(file)
    except OSError:
        return ""
    return f"{status.st_dev}:{status.st_ino}"


def _same(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except OSError:
        return False


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

    def _holder(descriptor: int) -> int | None:
        return None

else:
    import fcntl

    NO_LOCKS = errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP

    def _lock(descriptor: int) -> bool:
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            return False
        except OSError as error:
            if error.errno in NO_LOCKS:
                raise OSError(error.errno, f"the file system has no locks here: {error.strerror}") from None
            raise
        return True

    def _holder(descriptor: int) -> int | None:
        """Number of the process that has the lock, where the system's record of one is laid out as Linux has it."""
        if not sys.platform.startswith("linux") or struct.calcsize("P") != 8:
            return None
        query = struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
        try:
            kind, _, _, _, number = struct.unpack("hhqqi4x", fcntl.fcntl(descriptor, fcntl.F_GETLK, query))
        except OSError:
            return None
        return number if kind != fcntl.F_UNLCK else None

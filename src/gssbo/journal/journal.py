"""A journal: the file, read once and then only added to."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gssbo._validation import check_flag
from gssbo._warning import warn
from gssbo.entry import Entry
from gssbo.exceptions import JournalError, JournalWarning
from gssbo.journal.generators import check_states
from gssbo.journal.header import BEGINNING, check_header, parse_header
from gssbo.journal.lines import read_line, read_lines, write_line
from gssbo.journal.lock import Lock
from gssbo.journal.numbering import Numbering
from gssbo.journal.place import check_path, refuse_special, sync_folder
from gssbo.journal.plain import RowCodec, parse_json

__all__ = ["Journal", "Scan"]

AT_ONCE = 4_096  # lines: together they are read faster, but what JSON makes of them takes ten times their bytes
SKIPPING = "gssbo.journal.Journal(path, skip_damaged=True)"  # how a damaged line is passed, as messages say it


class Journal:
    """A journal file: how it is kept, and what is in it once an optimizer has opened it.

    Parameters
    ----------
    path : str or path-like
        JSON lines; begun where there is no such file, or an empty one.
    sync : bool
        Whether every entry is on the disk (fsync) before the call that made it returns. Without it an entry is with
        the operating system, which outlives a killed process but not a power cut.
    skip_damaged : bool
        Whether damaged lines are left out, with a warning, instead of refused.
    snapshots : bool
        Whether what the optimizer has learnt is kept now and then, and at the end, some 100 kB to 5 MB each; of a
        method that keeps all observations O(n^2), 3 MB for 500 of them and 43 MB for 2,000. Without that, taking up a
        run means asking for every suggestion once more.

    Raises
    ------
    JournalError
        When an optimizer opens it: if it cannot be written, another process writes it, a line is damaged, or it is of
        another space or other options.

    Notes
    -----
    A process that is killed while it writes leaves half a line at the end: that was not told yet, and the next entry
    takes its place. A last line that lacks nothing but its end is whole. Opening and closing a journal changes none of
    its bytes.

    Examples
    --------
    >>> import tempfile, gssbo
    >>> path = Path(tempfile.mkdtemp()) / "run.jsonl"
    >>> with gssbo.Optimizer([(0.0, 1.0)], n_init=3, rng=0, journal=Journal(path, sync=False)) as opt:
    ...     opt.tell([0.25], 1.0)
    >>> with gssbo.Optimizer([(0.0, 1.0)], n_init=3, rng=0, journal=path) as opt:
    ...     opt.n_told, opt.best_y
    (1, 1.0)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        sync: bool = True,
        skip_damaged: bool = False,
        snapshots: bool = True,
    ) -> None:
        self.path = check_path("journal", path)
        self.sync = check_flag("sync", sync)
        self.skip_damaged = check_flag("skip_damaged", skip_damaged)
        self.snapshots = check_flag("snapshots", snapshots)
        self._place = self.path  # once it is open, the whole of it
        self._descriptor = -1  # while it is closed
        self._lock: Lock | None = None
        self._position = 0  # the end of the last whole line
        self._before = b""  # what is to be written before the next entry
        self._pid = 0

    def open(self, codec: RowCodec, header: Mapping[str, Any]) -> tuple[dict[str, Any], list[Entry]]:
        """Read it, or begin it with this header; and keep it open for more.

        Returns
        -------
        dict
            The header of the file.
        list of Entry
            All there are.
        """
        if self._descriptor >= 0:
            raise JournalError(f"{self.path} is open")
        self._codec, self._pid = codec, os.getpid()
        with contextlib.ExitStack() as undo:
            try:
                refuse_special(self.path)
                self._place = self.path.absolute()  # whatever folder the process is in later
                self._lock = Lock(self.path)
                undo.callback(self._lock.release)
                flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0)
                self._descriptor = os.open(self.path, flags, 0o644)
            except OSError as error:
                raise JournalError(f"journal must be a file that can be written, got {self.path} ({error})") from error
            undo.callback(self.close)
            self._lock.include(self._descriptor)
            with open(self._descriptor, "rb", closefd=False) as file:
                scan = Scan(self.path, file, skip_damaged=self.skip_damaged)
            self._position, self._before = scan.end, scan.missing
            if scan.header is None:
                # Written with the first entry, so that a run that never began leaves nothing behind.
                self._before = json.dumps(header, separators=(",", ":"), allow_nan=False).encode() + b"\n"
            else:
                check_header(scan.header, header, str(self.path))
            entries = scan.entries(codec)
            undo.pop_all()
        return dict(header) if scan.header is None else scan.header, entries

    @property
    def position(self) -> int:
        """Bytes of whole lines in the file."""
        return self._position

    @property
    def writable(self) -> bool:
        """Whether it is open, and this process the one that opened it."""
        return self._descriptor >= 0 and os.getpid() == self._pid

    def append(self, entry: Entry) -> None:
        """Put an entry behind the others; it is there when this returns, and not at all when it raises.

        Raises
        ------
        JournalError
            If the journal is closed, or the entry cannot be written.
        """
        if self._descriptor < 0:
            raise JournalError(f"{self.path} is closed: nothing more can be asked or told with it")
        if os.getpid() != self._pid:
            raise JournalError(f"{self.path} belongs to process {self._pid}, of which this one is a copy")
        self._write(self._before + write_line(entry, self._codec))

    def close(self) -> None:
        """Close the file and let others write it; once more does nothing, but for what Ctrl-C left undone."""
        # First, so that whatever interrupts the rest, nothing is written any more, and no descriptor closed twice.
        descriptor, self._descriptor = self._descriptor, -1
        try:
            if descriptor >= 0:
                os.close(descriptor)
        finally:
            if self._lock is not None and os.getpid() == self._pid:
                self._lock.release()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # of one that was never made, or while the interpreter ends
            self.close()

    def _write(self, line: bytes) -> None:
        start = self._position
        self._require_place(start)
        try:
            os.ftruncate(self._descriptor, start)  # what a killed process left of a line
            os.lseek(self._descriptor, start, os.SEEK_SET)
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
            if self.sync:
                os.fsync(self._descriptor)
                if start == 0:
                    sync_folder(Path(os.path.realpath(self._place)).parent)
            self._position, self._before = start + len(line), b""
        except BaseException as error:
            if self._position > start:  # it is there; what a signal's handler raises may be an OSError, too
                raise
            self._take_back(start)
            if isinstance(error, OSError):
                raise JournalError(f"{self.path} could not be written ({error}); the entry is not in it") from error
            raise

    def _require_place(self, length: int) -> None:
        """Raise a JournalError unless the file is still where it was, and as long: else an entry would be lost."""
        try:
            ours = os.fstat(self._descriptor)
            there = os.path.samestat(ours, os.stat(self._place))
        except OSError:  # of the descriptor, where the file system lost the file, or someone closed all there were
            there = False
        if not there:
            raise JournalError(f"{self.path} was removed or replaced while it was open; the entry is not in it")
        if ours.st_size < length:
            raise JournalError(
                f"{self.path} was cut from {length} bytes to {ours.st_size} while it was open; the entry is not in it"
            )

    def _take_back(self, start: int) -> None:
        with contextlib.suppress(OSError):
            os.ftruncate(self._descriptor, start)


class Scan:
    """What the lines of a journal say: the header, whole lines, and where they end.

    Parameters
    ----------
    path : Path
        For messages.
    lines : iterable of bytes
        With their ends, as a file opened for bytes gives them.
    skip_damaged : bool
    growing : bool
        Whether it may be being written: half a line at the end is nothing to warn of then.

    Attributes
    ----------
    header : dict or None
        None where the file is empty, or a first line was never finished.
    end : int
        The end of the last whole line.
    missing : bytes
        What that line lacks: an editor may have taken the end of the last one.

    Raises
    ------
    JournalError
        If they are not those of a journal, or of none that was begun.
    """

    def __init__(
        self, path: Path, lines: Iterable[bytes], *, skip_damaged: bool = False, growing: bool = False
    ) -> None:
        self._path, self._skip, self._left_out = path, skip_damaged, False
        self._lines = list(lines)
        tail = self._lines.pop() if self._lines and not self._lines[-1].endswith(b"\n") else b""
        self.missing = b"\n" if _is_object(tail) else b""
        if self.missing:
            self._lines.append(tail)
        elif tail:
            if not (self._lines or tail.startswith(BEGINNING) or BEGINNING.startswith(tail)):
                raise JournalError(f"{path} must be a journal of gssbo, got a first line that is no header")
            if not growing:
                warn(
                    f"{path} ends in half a line, which is left out: what it was to hold had not been told yet",
                    JournalWarning,
                )
        self.end = sum(map(len, self._lines))
        self.header = parse_header(self._lines[0], str(path)) if self._lines else None

    @property
    def first_line(self) -> bytes:
        """The header as it is to stand before the lines that were read: it says whether there were others."""
        assert self.header is not None
        if not self._left_out:
            return self._lines[0].removesuffix(b"\n")
        return json.dumps(self.header | {"left_out": True}, separators=(",", ":"), allow_nan=False).encode()

    def entries(self, codec: RowCodec) -> list[Entry]:
        """Read them.

        Raises
        ------
        JournalError
            At the first line that is damaged, or says what cannot be after those before, unless such are skipped; the
            message has its number.
        """
        return [entry for _, entry in self.whole(codec)]

    def whole(self, codec: RowCodec) -> Iterator[tuple[bytes, Entry]]:
        """Lines behind the header, without their ends, with what they say; see `entries`."""
        numbering = Numbering(gaps=self.header is not None and self.header.get("left_out", False))
        for first in range(1, len(self._lines), AT_ONCE):
            lines = [line.removesuffix(b"\n") for line in self._lines[first : first + AT_ONCE]]
            together: list[Entry] | None = None  # where one of them is damaged
            with contextlib.suppress(ValueError, RecursionError):
                together = read_lines(lines, codec)
            for k, line in enumerate(lines):
                try:
                    entry = read_line(line, codec) if together is None else together[k]
                    self._check(entry, numbering)
                except (ValueError, RecursionError) as error:
                    self._leave_out(first + k + 1, error)
                    numbering.allow_gaps()
                else:
                    yield line, entry

    def _leave_out(self, number: int, error: Exception) -> None:
        """Note that a line is damaged, counted from 1, or refuse it."""
        if not self._skip:
            raise JournalError(
                f"{self._path} is damaged in line {number} ({error}); nothing was changed. "
                f"{SKIPPING} goes on without that line"
            ) from error
        warn(f"{self._path}: line {number} is damaged and left out", JournalWarning)
        self._left_out = True

    def _check(self, entry: Entry, numbering: Numbering) -> None:
        """Whether an entry can be, in this run and after those before."""
        numbering.enter(entry)
        if entry.kind == "reseed" and self.header is not None:
            check_states(entry.state, self.header["rng"])


def _is_object(line: bytes) -> bool:
    """Whether a line is whole: no part of an object is one."""
    try:
        return isinstance(parse_json(line), dict)
    except ValueError:
        return False

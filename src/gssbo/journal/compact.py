"""Making a journal smaller."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

from gssbo._validation import check_flag
from gssbo.exceptions import JournalError
from gssbo.journal.header import space_of
from gssbo.journal.journal import Scan
from gssbo.journal.lock import Lock
from gssbo.journal.place import check_path, refuse_special, sync_folder
from gssbo.journal.plain import RowCodec

__all__ = ["compact"]


def compact(path: str | os.PathLike[str], *, skip_damaged: bool = False) -> tuple[int, int]:
    """Write a journal anew without what nobody needs any more: all snapshots but the last, and half a line at the end.

    Everything asked and told stays, and a run is taken up as before. The new file takes the place of the old one at
    once, when it is whole and on the disk: whatever happens, one of the two is there.

    Parameters
    ----------
    path : str or path-like
    skip_damaged : bool
        Whether damaged lines are left out, with a warning, instead of refused.

    Returns
    -------
    before, after : int
        Bytes.

    Raises
    ------
    JournalError
        If there is no journal, a line is damaged, a run is writing it, or the new file cannot be written.

    Examples
    --------
    >>> import tempfile, gssbo
    >>> path = Path(tempfile.mkdtemp()) / "run.jsonl"
    >>> for n_evals in (250, 500):
    ...     _ = gssbo.minimize(lambda x: x[0] ** 2, [(-1.0, 1.0)], n_evals=n_evals, rng=0, journal=path)
    >>> before, after = compact(path)
    >>> after < before, gssbo.Optimizer([(-1.0, 1.0)], rng=0, journal=path).n_told
    (True, 500)
    """
    path, skip_damaged = check_path("path", path), check_flag("skip_damaged", skip_damaged)
    real = Path(os.path.realpath(path))  # a link goes on pointing at it
    new: Path | None = None
    try:
        refuse_special(path)
        lock = Lock(path)
    except OSError as error:
        raise JournalError(f"{path} cannot be written ({error})") from error
    try:
        with path.open("rb") as old:
            scan = Scan(path, old, skip_damaged=skip_damaged)
            before = old.tell()
        if scan.header is None:
            raise JournalError(f"{path} is empty: the run has not begun")
        codec = RowCodec(space_of(scan.header, str(path)))
        lines = [(line, entry.kind == "snapshot") for line, entry in scan.whole(codec)]
        last = max((number for number, (_, snapshot) in enumerate(lines) if snapshot), default=-1)
        kept = (line for number, (line, snapshot) in enumerate(lines) if not snapshot or number == last)
        with tempfile.NamedTemporaryFile(dir=real.parent, prefix=f"{real.name}.", suffix=".new", delete=False) as file:
            new = Path(file.name)
            file.write(scan.first_line + b"\n")
            file.writelines(line + b"\n" for line in kept)
            file.flush()
            after = file.tell()
            os.fsync(file.fileno())
        shutil.copymode(real, new)
        new.replace(real)
        new = None
        sync_folder(real.parent)
    except OSError as error:
        raise JournalError(f"{path} could not be written anew ({error}); it is as it was") from error
    finally:
        if new is not None:
            new.unlink(missing_ok=True)
        lock.release()
    return before, after

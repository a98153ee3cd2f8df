"""Recorded ledgers: those that journals hold, to look at or to go on with, without the optimizers that wrote them."""

from __future__ import annotations

import os

from gssbo.exceptions import JournalError
from gssbo.journal import Journal, read_journal
from gssbo.journal.header import space_of
from gssbo.journal.plain import RowCodec
from gssbo.journal.record import Record, read_header
from gssbo.ledger import Ledger

__all__ = ["continue_ledger", "ledger_of", "read_ledger"]


def read_ledger(path: str | os.PathLike[str], *, skip_damaged: bool = False) -> Ledger:
    """The ledger of a journal, also of one that is being written.

    Parameters
    ----------
    path : str or path-like
    skip_damaged : bool
        Whether damaged lines are left out, with a warning, instead of refused.

    Raises
    ------
    JournalError
        If there is none, or a line is damaged.
    """
    return ledger_of(read_journal(path, skip_damaged=skip_damaged))


def ledger_of(record: Record, journal: Journal | None = None) -> Ledger:
    """The ledger of a journal that was read; what it is told is written to `journal`, if that is given."""
    maximize = bool(record.header["options"].get("maximize", False))
    return Ledger(record.space, maximize=maximize, entries=record.entries, journal=journal)


def continue_ledger(path: str | os.PathLike[str], *, skip_damaged: bool = False) -> Ledger:
    """The ledger of a journal of a run that is not going on; what it is told is written there.

    Parameters
    ----------
    path : str or path-like
    skip_damaged : bool
        Whether damaged lines are left out, with a warning, instead of refused.

    Raises
    ------
    JournalError
        If there is none, it is in use, cannot be written, or a line is damaged.

    Examples
    --------
    >>> import tempfile, gssbo
    >>> path = os.path.join(tempfile.mkdtemp(), "run.jsonl")
    >>> with gssbo.Optimizer({"a": (0.0, 1.0)}, n_init=3, rng=0, journal=path) as opt:
    ...     suggestion = opt.ask(ids=True)
    >>> with continue_ledger(path) as ledger:
    ...     ledger.tell(id=suggestion.id, y=2.0)
    >>> read_ledger(path).n_told, len(read_ledger(path).pending)
    (1, 0)
    """
    journal = Journal(path, skip_damaged=skip_damaged)
    header = read_header(path)  # what is behind it is read once, by the journal
    if header is None:
        raise JournalError(f"{path} cannot be read: no run has begun there")
    space = space_of(header, str(path))
    try:
        header, entries = journal.open(RowCodec(space), header)
        return ledger_of(Record(header, space, entries), journal)
    except BaseException:
        journal.close()
        raise

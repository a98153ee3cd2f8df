"""The journal of a run: every change of its books on disk before it counts, and how a run is taken up again.

A journal is a text file of JSON lines. The first is the header: format and version, the space, the options, the state
of the random generators. Every other line is an `Entry`: what was asked, told, forgotten. It is on the disk before the
call that made it returns, so whatever was told is there, however the process ends. `Optimizer(..., journal=path)` and
`minimize(..., journal=path)` begin a run, or take up the one that the file holds: the entries are carried out again,
which gives the same suggestions as an uninterrupted run, to the bit. Snapshots of what was learnt, now and then, save
most of the asking; `compact` leaves all but the last of them out.
"""

from __future__ import annotations

from gssbo.journal.compact import compact
from gssbo.journal.journal import Journal
from gssbo.journal.record import read_journal

__all__ = ["Journal", "compact", "read_journal"]

"""An entry: one change of an optimizer's books, as it is carried out, written to a journal and carried out again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from gssbo._typing import FloatArray
from gssbo.space import Rows

__all__ = ["KINDS", "Entry"]

KINDS = ("ask", "announce", "enqueue", "tell", "explain", "forget", "reseed", "snapshot")


@dataclass(frozen=True, slots=True)
class Entry:
    """What changed.

    Attributes
    ----------
    kind : str
        One of `KINDS`.
    rows : ndarray, optional
        Rows of the space: suggested, announced, enqueued or told.
    ids : tuple of int or None
        Numbers of the suggestions concerned, one a row where there are rows; None where a told row answers none.
    y : ndarray of shape (n,), optional
        What was told, in the user's sign; NaN where an evaluation failed.
    noise_std : ndarray of shape (n,), optional
        Known standard deviations of the noise of y.
    prior : bool
        Whether what was told was observed before this run.
    reason : str, optional
        Why the evaluations that are told failed, or with "explain" those that were told for the suggestions.
    seconds : float, optional
        What an ask took: the dynamic rule for the size of the subset goes by it.
    state : object, optional
        Of the generators after a reseed; or of everything that decides about the next suggestion, in JSON's terms.

    Examples
    --------
    >>> Entry("forget", ids=(3,)).ids
    (3,)
    """

    kind: str
    rows: Rows | None = None
    ids: tuple[int | None, ...] = ()
    y: FloatArray | None = None
    noise_std: FloatArray | None = None
    prior: bool = False
    reason: str | None = None
    seconds: float | None = None
    state: Any = None

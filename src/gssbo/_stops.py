"""When a run ends, and what its status is then."""

from __future__ import annotations

import math
import time
from typing import Any

from gssbo._validation import check_integer, check_real
from gssbo.ledger import Ledger

__all__ = [
    "BUDGET",
    "CALLBACK",
    "ERROR",
    "EXHAUSTED",
    "INFEASIBLE",
    "INTERRUPTED",
    "MESSAGES",
    "NO_VALUE",
    "PATIENCE",
    "TARGET",
    "TIMEOUT",
    "Stops",
]

BUDGET, CALLBACK, INTERRUPTED, EXHAUSTED, TIMEOUT, TARGET, PATIENCE, ERROR = range(8)

MESSAGES = {
    BUDGET: "The budget of evaluations is spent.",
    CALLBACK: "The callback asked to stop.",
    INTERRUPTED: "Interrupted by the user; everything evaluated so far is here.",
    EXHAUSTED: "The space is exhausted: every point of it was evaluated.",
    TIMEOUT: "The time limit is over; everything evaluated so far is here.",
    TARGET: "The target is reached.",
    PATIENCE: "As many evaluations as patience allows brought no improvement.",
    ERROR: "An exception ended the run; everything evaluated before is here.",
}
NO_VALUE = " No evaluation gave a value."  # added where there is no best value, however the run ended
INFEASIBLE = " No point evaluated meets the constraints."  # where the best of all had to stand


class Stops:
    """The limits of a run. All but the time depend on what was told alone: a run that is resumed ends where it would.

    Parameters
    ----------
    n_evals : int
        Evaluations in all.
    timeout : float, optional
        Seconds from now after which no evaluation starts, by a clock that nobody sets; 0 is none at all.
    target : float, optional
        Best observed value, at a point that meets the constraints, at which the run ends.
    patience : int, optional
        Evaluations without an improvement on the best observed value after which it ends.

    Raises
    ------
    ValueError
        If a limit is out of its range.

    Examples
    --------
    >>> from gssbo.space import Space
    >>> ledger = Ledger(Space([(0, 1)]))
    >>> stops = Stops(n_evals=10, patience=3)
    >>> for y in (3.0, 1.0, 2.0, 2.0, 2.0):
    ...     ledger.tell(0.5, y)
    ...     print(stops.left(ledger), stops.met(ledger) == PATIENCE)
    9 False
    8 False
    7 False
    6 False
    5 True
    """

    def __init__(self, *, n_evals: int, timeout: Any = None, target: Any = None, patience: Any = None) -> None:
        self.n_evals = check_integer("n_evals", n_evals, at_least=1)
        unlimited = timeout is None or (isinstance(timeout, float) and timeout == math.inf)
        seconds = math.inf if unlimited else check_real("timeout", timeout, at_least=0.0)
        self._deadline = time.monotonic() + seconds
        self._target = None if target is None else check_real("target", target)
        self._patience = None if patience is None else check_integer("patience", patience, at_least=1)

    def late(self) -> bool:
        """Whether the time is over."""
        return time.monotonic() >= self._deadline

    def left(self, ledger: Ledger) -> int:
        """Evaluations left of the budget."""
        return self.n_evals - ledger.n_evaluated()

    def met(self, ledger: Ledger) -> int | None:
        """TARGET or PATIENCE where what was told meets it, else None."""
        best = ledger.best_y
        sign = 1.0 if ledger.maximize else -1.0
        reached = self._target is not None and best is not None and sign * best >= sign * self._target
        if reached and ledger.best_is_feasible:
            return TARGET
        if self._patience is not None:
            index = ledger.best_index
            if ledger.n_evaluated(0 if index is None else index + 1) >= self._patience:
                return PATIENCE
        return None

"""The buffer: how many observations are retained, which are kept in any case, and which may be chosen.

Notation
--------
n       observations told
M       capacity, the size of the retained subset, or where a tolerance is given its size at most
Z       threshold of the runtime-triggered rule
F       forced set: initial design and newest observation, algorithm 1 of [1]

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, section 4.3.
"""

from __future__ import annotations

import numpy as np

from gssbo._text import brief
from gssbo._typing import IndexArray
from gssbo._validation import check_flag, check_integer, check_real

__all__ = ["Buffer"]

BASELINE = 5  # first model iterations, whose mean time is the yardstick of the dynamic rule
RECENT = 3  # the current time is the median of so many iterations: one interruption does not fix M for ever
WINDOW = 4  # a windowed or rotating pool holds the newest of this many times M
SLICE = 1_000  # older observations that a rotating pool offers at a time


class Buffer:
    """Capacity and pool of the retained subset.

    Parameters
    ----------
    size : int or "dynamic"
        M, or the runtime-triggered rule: the first time the median of three iterations exceeds `factor` times the mean
        of the first five, M becomes the number of observations held and stays.
    factor : float
        Z.
    n_init : int
        Observations of the initial design: the first told.
    retain_initial, retain_newest : bool
        Whether the initial design and the newest observation are forced.
    pool : "auto", "full", "rotating" or int
        All observations; the newest so many beside the forced ones; all up to 4 M, then a window of 4 M ("auto");
        or the newest 4 M, what was retained last, and some 1,000 of the older ones, spread over the whole history and
        others each time, so that every observation comes up again and again ("rotating").

    Examples
    --------
    >>> buffer = Buffer(30, n_init=20, pool=50)
    >>> buffer.switched(30), buffer.switched(31), len(buffer.pool(1000))
    (False, True, 70)

    Attributes
    ----------
    size : int or None
        M; None while the dynamic rule has not fixed it.
    wanted : int or None
        How many are retained: M, or the fewer that are enough.
    """

    def __init__(
        self,
        size: int | str,
        *,
        n_init: int,
        factor: float = 4.0,
        retain_initial: bool = True,
        retain_newest: bool = True,
        pool: str | int = "auto",
    ) -> None:
        self.factor = check_real("dynamic_factor", factor, above=1.0)
        self._n_init = n_init if check_flag("retain_initial", retain_initial) else 0
        self._newest = check_flag("retain_newest", retain_newest)
        self.size: int | None = None
        if isinstance(size, str):
            if size != "dynamic":
                raise ValueError(f"subset_size must be an integer or 'dynamic', got {brief(size)}")
        else:
            self.size = check_integer("subset_size", size, at_least=1)
            if self.size <= self.n_forced:
                raise ValueError(
                    f"subset_size must be larger than the forced set ({self.n_forced}: {self._n_init} of the initial "
                    f"design, {int(self._newest)} newest), got {size}"
                )
        if isinstance(pool, str):
            if pool not in ("auto", "full", "rotating"):
                raise ValueError(f"pool must be 'auto', 'full', 'rotating' or a window size, got {brief(pool)}")
            self._pool: str | int = pool
        else:
            self._pool = check_integer("pool", pool, at_least=1)
            if self.size is not None and self._pool + self._n_init < self.size:
                raise ValueError(
                    f"pool must leave at least subset_size ({self.size}) observations to choose from, got a window of "
                    f"{pool} beside {self._n_init} forced"
                )
        self.wanted = self.size
        self.switched_at: int | None = None
        self._seconds: list[float] = []
        self._turn = 0  # of the rotating pool

    @property
    def n_forced(self) -> int:
        """Size of the forced set once the initial design is complete."""
        return self._n_init + int(self._newest)

    def switched(self, n: int) -> bool:
        """Whether a subset is retained with n observations; remembers the first n at which it was."""
        if self.wanted is None or n <= self.wanted:
            return False
        if self.switched_at is None:
            self.switched_at = n
        return True

    def record(self, seconds: float, n: int) -> None:
        """Note the time of an iteration that ended with n observations; the dynamic rule may fix M = n."""
        if self.size is not None:
            return
        self._seconds.append(seconds)
        if len(self._seconds) < BASELINE or n <= self.n_forced:
            return
        baseline = float(np.mean(self._seconds[:BASELINE]))
        if float(np.median(self._seconds[-RECENT:])) > self.factor * baseline:
            self.size = self.wanted = n

    def forced(self, n: int) -> IndexArray:
        """Indices into the history kept in any case: initial design, then the newest."""
        initial = np.arange(min(self._n_init, n), dtype=np.intp)
        if self._newest and n > len(initial):
            return np.append(initial, n - 1)
        return initial

    def pool(self, n: int, retained: IndexArray | None = None) -> IndexArray:
        """Indices into the history a rule may choose from, ascending; the forced set is among them.

        `retained` is what was retained last; a rotating pool holds it, and moves on with every call.
        """
        if self._pool == "full" or self.size is None:
            return np.arange(n, dtype=np.intp)
        window = WINDOW * self.size if isinstance(self._pool, str) else max(self._pool, self.size - self._n_init)
        older = max(n - window, 0)
        parts = [self.forced(n), np.arange(older, n, dtype=np.intp)]
        if self._pool == "rotating":
            turns = max(-(-older // SLICE), 1)
            parts.append(np.arange(self._turn % turns, older, turns, dtype=np.intp))
            self._turn += 1
            if retained is not None:
                parts.append(retained)
        return np.unique(np.concatenate(parts))

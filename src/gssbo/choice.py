"""The choice among candidates: the best that may be suggested, or several of them at once.

An acquisition that grows with mean and standard deviation is bounded from above: by a mean in single precision with all
that this may lose, by what the closest observation alone says of the standard deviation, and by what it was before
points were pending. So only the candidates whose bound reaches the best exact score are scored exactly; the choice is
that of scoring all of them, for one point, and again for every further one, up to the thousandth: from there on the
model has only a part of what is pending, see `fantasize`, and the bounds have more. On Hartmann 6, Levy 20 and Powell
48, 0.1 to 1 % of the candidates are left.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from gssbo._typing import FloatArray, IndexArray
from gssbo.acquisition import Acquisition, IncreasingAcquisition
from gssbo.fantasy import fantasize
from gssbo.surrogate import Predictor, posterior_bound_of, posterior_of

__all__ = ["Admit", "choose"]

Admit = Callable[[FloatArray], NDArray[np.bool_]]
"""admit(U): mask (m,) of realisable unit points (m, D) that may be suggested."""

FIRST = 64  # candidates scored exactly before any is dropped
ROUNDING = 1e-12  # relative, of a score: it need not grow with the last bits of mean and standard deviation
PROMISING = 256  # candidates asked about together


def choose(
    acquisition: Acquisition,
    gp: Predictor,
    candidates: FloatArray,
    best: float,
    rng: np.random.Generator,
    admit: Admit,
    n: int = 1,
) -> IndexArray:
    """Indices of up to n different candidates, the best first; fewer where no more are admitted.

    Each is taken for pending when the next is chosen. Of equal scores the first wins.

    Parameters
    ----------
    acquisition : Acquisition
    gp : Predictor
        Fitted to responses to be maximised, pending points taken into account.
    candidates : ndarray of shape (m, D)
        Realisable unit points.
    best : float
        Incumbent, in units of the standardised responses.
    rng : numpy.random.Generator
    admit : callable
        Mask of unit points that may be suggested.
    n : int
    """
    field = _Field(acquisition, candidates, best, rng)
    chosen: list[int] = []
    while (winner := field.winner(gp, admit)) >= 0:
        chosen.append(winner)
        if len(chosen) == n:
            break
        field.drop(winner)
        gp = fantasize(gp, candidates[winner : winner + 1])
    return np.array(chosen, dtype=np.intp)


class _Field:
    """The candidates that may still be chosen, their scores, and which of these are exact, not bounds from above."""

    def __init__(self, acquisition: Acquisition, candidates: FloatArray, best: float, rng: np.random.Generator) -> None:
        self._acquisition, self._candidates, self._best, self._rng = acquisition, candidates, best, rng
        m = len(candidates)
        self._scores = np.full(m, np.inf)
        self._bounded = False
        self._exact = np.zeros(m, dtype=bool)
        self._free = np.ones(m, dtype=bool)  # neither refused nor chosen
        self._asked = np.zeros(m, dtype=bool)

    def drop(self, index: int) -> None:
        """Note that a candidate was chosen: its equals may not be, and the scores of the others are bounds now."""
        twins = np.flatnonzero(self._candidates[:, 0] == self._candidates[index, 0])
        self._free[twins] &= (self._candidates[twins] != self._candidates[index]).any(axis=1)
        self._exact[:] = False

    def winner(self, gp: Predictor, admit: Admit) -> int:
        """Index of the highest exact score under `gp` that is admitted; -1 if there is none."""
        while True:
            self._score(gp)
            ranked = np.where(self._free, self._scores, -np.inf)
            first = int(np.argmax(ranked))
            if not self._free[first]:
                left = np.flatnonzero(self._free)
                if len(left) == 0:
                    return -1
                first = int(left[0])  # every score is -inf
            if self._asked[first] or admit(self._candidates[first : first + 1])[0]:
                self._asked[first] = True
                return first
            self._asked[first] = True
            self._free[first] = False
            self._ask(admit, ranked)

    def _ask(self, admit: Admit, ranked: FloatArray) -> None:
        """Ask about more of the highest at once: where one is refused, its neighbours often are."""
        open_ = np.flatnonzero(self._free & ~self._asked)
        if len(open_) > 0:
            top = open_[np.argpartition(-ranked[open_], min(PROMISING, len(open_)) - 1)[:PROMISING]]
            self._free[top] = admit(self._candidates[top])
            self._asked[top] = True

    def _score(self, gp: Predictor) -> None:
        """Make exact the scores of all free candidates that may be the highest."""
        acquisition = self._acquisition
        if not isinstance(acquisition, IncreasingAcquisition):
            if not self._exact.all():
                self._set(slice(None), acquisition(gp, self._candidates, self._best, self._rng))
            return
        if not self._bounded and len(self._candidates) > 2 * PROMISING:
            bounds = acquisition.rank(*posterior_bound_of(gp, self._candidates), self._best)
            bounds += ROUNDING * np.abs(bounds)
            self._scores = np.where(np.isnan(bounds), np.inf, bounds)
        self._bounded = True
        while True:
            known = self._scores[self._free & self._exact]
            reach = self._free & ~self._exact & (self._scores >= known.max(initial=-np.inf))
            some = np.flatnonzero(reach)
            if len(some) == 0:
                return
            if len(known) == 0 and len(some) > FIRST:
                some = some[np.argpartition(-self._scores[some], FIRST - 1)[:FIRST]]
            self._set(some, acquisition.rank(*posterior_of(gp, self._candidates[some]), self._best))

    def _set(self, some: IndexArray | slice, scores: FloatArray) -> None:
        self._scores[some] = np.where(np.isnan(scores), -np.inf, scores)
        self._exact[some] = True

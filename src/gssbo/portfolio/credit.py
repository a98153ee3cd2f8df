"""Credit: how a portfolio's suggestions are shared among its searchers.

Notation
--------
a, b        pseudo-counts of success and failure of a searcher, discounted: its credit
reward      gain of a suggestion over the largest recent one, in [0, 1]

Half of the suggestions are spread over all searchers whatever their credit: what finds the right basin gains nothing
for long. The other half go to the searcher whose draw from Beta(a, b) is largest, as in [1], with old rewards
forgotten, as gains shrink and the best way to make them changes along a run.

References
----------
1. Thompson, On the likelihood that one unknown probability exceeds another, Biometrika 25, 1933.
"""

from __future__ import annotations

import numpy as np

from gssbo._typing import FloatArray

__all__ = ["Credit"]

SPREAD = 0.5
MEMORY = 0.9  # of rewards, each time the searcher is used
DECAY = 0.95  # of the largest gain, each suggestion
PROMISE = 20.0  # gains of this size more would catch up with the best


class Credit:
    """Pseudo-counts of n searchers.

    Examples
    --------
    >>> credit = Credit(2)
    >>> for _ in range(30):
    ...     credit.reward(0, gain=1.0, own=1.0)
    ...     credit.reward(1, gain=-1.0, own=-1.0)
    >>> rng = np.random.default_rng(0)
    >>> sum(credit.choose(np.ones(2), rng) == 0 for _ in range(100)) > 65
    True
    """

    def __init__(self, n: int) -> None:
        self._counts = np.ones((n, 2))
        self._largest = 0.0

    def reward(self, searcher: int, *, gain: float, own: float) -> None:
        """Credit a suggestion.

        Parameters
        ----------
        searcher : int
        gain : float
            Of the response over the best of all before, negative for a loss.
        own : float
            Over the best of what the searcher builds on: at least `gain`.
        """
        self._largest = max(DECAY * self._largest, gain)
        behind = own - gain
        if own <= 0.0:
            share = 0.0
        elif behind > own:
            share = min(1.0, PROMISE * own / behind)
        else:
            share = min(1.0, own / self._largest) if self._largest > 0.0 else 0.0
        counts = self._counts[searcher]
        self._counts[searcher] = 1.0 + MEMORY * (counts - 1.0) + np.array([share, 1.0 - share])

    def choose(self, weights: FloatArray, rng: np.random.Generator, *, spread: float = SPREAD) -> int:
        """A searcher; those of weight 0 are out, and the weights shape the part that is spread."""
        if rng.random() < spread:
            return int(rng.choice(len(weights), p=weights / weights.sum()))
        draws = rng.beta(self._counts[:, 0], self._counts[:, 1])
        return int(np.argmax(np.where(weights > 0.0, draws, -1.0)))

"""Several spaces searched side by side: an optimizer each, which share the candidates by their best scores.

So a parameter that means something for some values of another alone is in the dict of these values, as in
scikit-learn's own searches, and no model wonders about it elsewhere. One space is searched by its optimizer alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gssbo._text import brief
from gssbo._typing import FloatArray
from gssbo._validation import spawn_generators
from gssbo.exceptions import SpaceExhausted
from gssbo.integrations.sklearn.candidate_space import CandidateSpace
from gssbo.optimizer import Optimizer
from gssbo.pending import Suggestion

__all__ = ["Branches", "Candidate"]


class Candidate(NamedTuple):
    """Which space it is of, what its optimizer suggested, and the parameters to set."""

    branch: int
    suggestion: Suggestion
    values: dict[str, Any]


class Branches:
    """The optimizers of one space or several.

    After the initial designs, taken in turns, a space that is k-th by its best score has a k-th as many of the
    candidates as the first: all are searched to the end, as one that begins badly may have the best score of all.

    Parameters
    ----------
    given : dict, or list of dicts
        As of `CandidateSpace`.
    rng : numpy.random.Generator
    **options
        Of each `Optimizer`.

    Attributes
    ----------
    optimizers : list of Optimizer

    Raises
    ------
    ValueError
        If there is no dict, or a parameter is nothing to search; the message names it.

    Examples
    --------
    >>> branches = Branches([{"a": [1, 2]}, {"b": (0.0, 1.0)}], np.random.default_rng(0), n_init=2)
    >>> [sorted(candidate.values) for candidate in branches.ask(4)]
    [['a'], ['a'], ['b'], ['b']]
    """

    def __init__(self, given: Any, rng: np.random.Generator, **options: Any) -> None:
        several = isinstance(given, list | tuple)
        if several and not given:
            raise ValueError(f"param_distributions must be a dict, or a list of at least one, got {brief(given)}")
        names = [f"param_distributions[{k}]" for k in range(len(given))] if several else ["param_distributions"]
        self._spaces = [
            CandidateSpace(each, name) for each, name in zip(given if several else [given], names, strict=True)
        ]
        n = len(self._spaces)
        rngs = [rng] if n == 1 else spawn_generators("random_state", rng, n + 1)
        self.optimizers = [
            Optimizer(space.parameters, **options, maximize=True, rng=each)
            for space, each in zip(self._spaces, rngs, strict=False)
        ]
        self._rng = rngs[-1]
        self._n_asked, self._open = np.zeros(n, dtype=int), np.ones(n, dtype=bool)

    @property
    def n_init(self) -> int:
        """Points of the initial designs of all spaces."""
        return sum(optimizer.n_init for optimizer in self.optimizers)

    def ask(self, n: int) -> list[Candidate]:
        """Suggest n candidates; fewer where finite spaces have no more, and none where no space has."""
        found: list[Candidate] = []
        while len(found) < n and self._open.any():
            counts = self._shares(n - len(found))
            for branch in np.flatnonzero(counts).tolist():
                found += self._ask(branch, counts[branch])
        return found

    def _ask(self, branch: int, n: int) -> list[Candidate]:
        try:
            batch = self.optimizers[branch].ask(n, ids=True)
        except SpaceExhausted:
            batch = []
        self._open[branch] = len(batch) == n
        return [Candidate(branch, each, self._spaces[branch].values(each.x)) for each in batch]

    def _shares(self, n: int) -> list[int]:
        """How many of n candidates come from each space."""
        before = self._n_asked.copy()
        designs = np.array([optimizer.n_init for optimizer in self.optimizers])
        for _ in range(n):
            early = self._open & (self._n_asked < designs)
            if early.any():
                chosen = int(np.argmin(np.where(early, self._n_asked, designs.max())))
            elif np.count_nonzero(self._open) == 1:
                chosen = int(np.argmax(self._open))
            else:
                weights = self._open / self._ranks()
                chosen = int(self._rng.choice(len(weights), p=weights / weights.sum()))
            self._n_asked[chosen] += 1
        counts: list[int] = (self._n_asked - before).tolist()
        return counts

    def _ranks(self) -> NDArray[np.intp]:
        """Ranks of the spaces (k,), from 1, by the best scores; those without any come last."""
        bests = [-np.inf if each.best_y is None else each.best_y for each in self.optimizers]
        ranks = np.empty(len(bests), dtype=np.intp)
        ranks[np.argsort(-np.array(bests), kind="stable")] = np.arange(1, len(bests) + 1)
        return ranks

    def tell(self, batch: Sequence[Candidate], scores: FloatArray) -> None:
        """Tell the optimizers the scores (n,) of candidates, NaN where one failed."""
        for (branch, suggestion, _), score in zip(batch, scores.tolist(), strict=True):
            self.optimizers[branch].tell(suggestion, score)

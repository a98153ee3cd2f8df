"""Retention: which observations of a history the surrogate keeps, and the precision it takes to choose them.

Notation
--------
n       observations told
M       capacity of the retained subset; with a tolerance, as many as it is at most

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, algorithm 1.
"""

from __future__ import annotations

from itertools import zip_longest

import numpy as np

from gssbo._typing import FloatArray, IndexArray
from gssbo._validation import check_array, check_choice
from gssbo.buffer import WINDOW, Buffer
from gssbo.embedding import Embedding
from gssbo.features import FeatureEmbedding
from gssbo.history import History, evenly
from gssbo.precision import PrecisionCache, Workspace
from gssbo.responses import standardize
from gssbo.selection.rules import EMBEDDED, FEATURED, RULES, Directions
from gssbo.selection.size import SPARE, check_tolerance, sufficient_size
from gssbo.selection.subset import select
from gssbo.surrogate import Featured, Surrogate
from gssbo.timings import Timings

__all__ = ["Retention"]

REFRESHES = ("auto", "recompute", "cached")
GROWN, SHARE = 10, 10  # observations, and their share of the history, since it was asked how many are enough


class Retention:
    """A buffer, a selection rule over its pool, and a cache of the pool's precision.

    Parameters
    ----------
    buffer : Buffer
    rule : str
        Selection rule: "vector", "scalar", "random", "kmeans++", "maxmin", "residual", "variance", "residual-ratio",
        "residual-exchange" or "topk-random".
    refresh : {"auto", "recompute", "cached"}
        Embeddings from a Cholesky factorization each time, or from a cache updated in O(n^2) an observation while the
        hyperparameters stand; "auto" caches when they stand from one selection to the next.
    tolerance : float, optional
        In standard deviations of the responses: so few are retained that the mean of twice as many is within it, see
        `gssbo.selection.size`, asked anew whenever the history is a tenth longer.
    rng : numpy.random.Generator
        Used by the rules that draw, `gssbo.selection.rules.DRAWING`.
    timings : Timings
        Charged with the parts "embed" and "select".

    Examples
    --------
    >>> from gssbo.gp import GaussianProcess
    >>> history = History(1)
    >>> X = np.linspace(0.0, 1.0, 50)[:, None]
    >>> history.append(X, X, np.sin(6.0 * X[:, 0]))
    >>> gp = GaussianProcess(rng=0).fit(X, history.y)
    >>> retention = Retention(Buffer(12, n_init=4), rng=np.random.default_rng(0), timings=Timings())
    >>> retention.choose(history, gp, stands=False).shape
    (12,)
    """

    def __init__(
        self,
        buffer: Buffer,
        *,
        rule: str = "vector",
        refresh: str = "auto",
        tolerance: float | None = None,
        rng: np.random.Generator,
        timings: Timings,
    ) -> None:
        self.buffer = buffer
        self.rule = check_choice("rule", rule, RULES)
        self.refresh = check_choice("refresh", refresh, REFRESHES)
        self._tolerance = check_tolerance("gap_tolerance", tolerance, self.rule)
        if self._tolerance is not None:
            if buffer.size is None:
                raise ValueError("subset_size must be an integer with gap_tolerance, got 'dynamic'")
            buffer.wanted = min(buffer.n_forced + SPARE, buffer.size)
        self._next_size_at = 0  # observations with which it is asked again how many are enough
        self._rng = rng
        self._timings = timings
        self._workspace = Workspace()
        self._cache: PrecisionCache | None = None
        self._cached_pool: IndexArray = np.empty(0, dtype=np.intp)
        self._retained: IndexArray | None = None
        self.pool: IndexArray = np.empty(0, dtype=np.intp)  # what the last choice was made from, repeats included

    def check(self, surrogate: Surrogate) -> None:
        """Raise a ValueError if the rule cannot be used with the surrogate."""
        if isinstance(surrogate, Featured):
            check_choice("rule", self.rule, FEATURED)

    def first_members(self, n: int) -> IndexArray:
        """M ascending indices for the first fit of data told in bulk: the forced set, others evenly spread."""
        forced = self.buffer.forced(n)
        others = np.setdiff1d(np.arange(n), forced)
        return np.sort(np.concatenate([forced, others[evenly(len(others), min(self._size, n) - len(forced))]]))

    def spread(self, n: int, count: int | str = "spread") -> IndexArray:
        """`count` (4 M) ascending indices, or all, evenly spread over a history of n, whatever is retained of it."""
        return evenly(n, min(n, WINDOW * self._size if isinstance(count, str) else count))

    def choose(self, history: History, surrogate: Surrogate, *, stands: bool) -> IndexArray:
        """The retained subset, as ascending indices into the history (algorithm 1, lines 13 to 15).

        Parameters
        ----------
        history : History
            Of more than M observations.
        surrogate : Surrogate
            Fitted; lends its kernel and noise to the pool.
        stands : bool
            Whether its hyperparameters mostly stand from one call to the next.
        """
        n = len(history)
        forced = self.buffer.forced(n)
        pool = self.pool = self.buffer.pool(n, self._retained)
        representatives = history.representatives
        if representatives is not None:
            forced, pool = self._distinct_first(history, forced, representatives)
            self.pool = np.union1d(self.pool, pool)
            if len(pool) <= self._wanted:
                self._retained = pool
                return pool
        if self._tolerance is not None and n >= self._next_size_at:
            self._resize(pool, forced, history, surrogate, self._tolerance)
            self._next_size_at = n + max(GROWN, n // SHARE)
        with self._timings.part("embed"):
            embedding = self._embedding(pool, history, surrogate, stands)
        with self._timings.part("select"):
            chosen = select(
                embedding,
                self._wanted,
                rule=self.rule,
                forced=np.searchsorted(pool, forced),
                y=history.y[pool],
                rng=self._rng,
            )
        self._retained = np.sort(pool[chosen])
        return self._retained

    def _resize(
        self, pool: IndexArray, forced: IndexArray, history: History, surrogate: Surrogate, tolerance: float
    ) -> None:
        """Let as many be retained as are enough."""
        with self._timings.part("select"):
            self.buffer.wanted = sufficient_size(
                Embedding(surrogate.kernel_, surrogate.noise_, np.ascontiguousarray(history.unit[pool])),
                self._size,
                rule=self.rule,
                forced=np.searchsorted(pool, forced),
                z=standardize(history.y[pool])[0],
                tolerance=tolerance,
            )

    def _distinct_first(
        self, history: History, forced: IndexArray, representatives: IndexArray
    ) -> tuple[IndexArray, IndexArray]:
        """Forced set and pool where most observations are repeats: no point goes before another is there twice.

        The best observation is forced, too. Where there is room for one of each point, the pool is those and the newest
        of the others, and all of it is retained; else the rule chooses among the points that were observed last.
        """
        forced = np.union1d(forced, history.best) if history.best >= 0 else forced
        one_each = np.union1d(forced, representatives)
        room = self._size - len(one_each)
        if room >= 0:
            others = np.setdiff1d(np.arange(len(history)), one_each)
            return forced, np.union1d(one_each, others[len(others) - min(room, len(others)) :])
        return forced, np.union1d(forced, representatives[-WINDOW * self._size :])

    @property
    def _size(self) -> int:
        assert self.buffer.size is not None
        return self.buffer.size

    @property
    def _wanted(self) -> int:
        assert self.buffer.wanted is not None
        return self.buffer.wanted

    def _embedding(self, pool: IndexArray, history: History, surrogate: Surrogate, stands: bool) -> Directions:
        X = np.ascontiguousarray(history.unit[pool])
        if isinstance(surrogate, Featured):
            features = FeatureEmbedding(_features(surrogate, X))
            if self.rule in EMBEDDED:
                features.prepare()
            return features
        kernel, noise = surrogate.kernel_, surrogate.noise_
        if self.rule not in EMBEDDED:
            return Embedding(kernel, noise, X)
        if self.refresh == "cached" or (self.refresh == "auto" and stands):
            return Embedding(kernel, noise, X, self._updated_cache(pool, X, surrogate))
        embedding = Embedding(kernel, noise, X, threads=surrogate.threads, workspace=self._workspace)
        embedding.prepare()
        return embedding

    def _updated_cache(self, pool: IndexArray, X: FloatArray, surrogate: Surrogate) -> PrecisionCache:
        """The precision cache, brought to `pool` by removals and appends where that is cheaper than anew."""
        cache = self._cache
        leaving = np.flatnonzero(~np.isin(self._cached_pool, pool))
        staying = np.delete(self._cached_pool, leaving)
        n_entering = len(pool) - len(staying)
        stale = cache is None or not cache.matches(surrogate.kernel_, surrogate.noise_)
        stale = stale or not np.array_equal(staying, pool[: len(staying)])  # members can only be appended
        if stale or 4 * (len(leaving) + n_entering) > len(pool):
            cache = PrecisionCache(surrogate.kernel_, surrogate.noise_, X)
        else:
            assert cache is not None
            self._cache = None  # should this be interrupted half way, the next time starts afresh
            for index, x in zip_longest(leaving[::-1].tolist(), X[len(pool) - n_entering :]):
                if x is None:
                    cache.remove(index)
                elif index is None:
                    cache.append(x)
                else:
                    cache.replace(index, x)
        self._cache, self._cached_pool = cache, pool
        return cache


def _features(surrogate: Featured, X: FloatArray) -> FloatArray:
    """Its selection features as float64 (n, q): what is compiled trusts that there are n."""
    found = check_array(f"the selection features of {surrogate!r}", surrogate.selection_features(X))
    if found.ndim != 2 or len(found) != len(X):
        raise ValueError(
            f"the selection features of {surrogate!r} must have shape ({len(X)}, q), got shape {found.shape}"
        )
    return found

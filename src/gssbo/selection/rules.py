"""The selection rules of the paper, each a function of the embeddings of a pool.

A rule returns `size` distinct members of the pool: the forced ones in their order, then the others in the order they
were picked. Values closer than 1e-9 are ties and the lowest member wins, so duplicates and symmetric designs give
the same subset whatever the rounding.

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026: section 4.3 (vector rule),
   appendix C.3 (scalar rule), tables 3 and 4 (random rule, k-means++, max-min named as future work).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from gssbo._core import _select
from gssbo._typing import FloatArray, IndexArray
from gssbo.embedding import Embedding

__all__ = ["RULES", "SelectionRule"]

SelectionRule: TypeAlias = Callable[[Embedding, int, IndexArray, FloatArray, np.random.Generator], IndexArray]
"""rule(embedding, size, forced, z, rng): `forced` distinct and fewer than `size`, `size` less than the pool, `z` (n,)
the pool's standardised responses."""

FLOOR = 1e-12  # scores below this count as this large when they are normalised, appendix C.3


def vector(embedding: Embedding, size: int, forced: IndexArray, z: FloatArray, rng: np.random.Generator) -> IndexArray:
    """Greedy cosine diversity: add the member with the smallest sum of cosines to the retained ones.

    O(n^2 M) from P, O(n M) from cached cosines.
    """
    chosen = np.empty(size, dtype=np.intp)
    source, squared = embedding.source()
    _select.greedy_cosine(len(embedding), source, squared, forced, chosen)
    return chosen


def scalar(embedding: Embedding, size: int, forced: IndexArray, z: FloatArray, rng: np.random.Generator) -> IndexArray:
    """The same greedy loop on the signs of the response scores: it balances positive against negative. O(n M)."""
    chosen = np.empty(size, dtype=np.intp)
    s = embedding.scores(z)
    _select.greedy_sign(s / np.maximum(np.abs(s), FLOOR), forced, chosen)
    return chosen


def random(embedding: Embedding, size: int, forced: IndexArray, z: FloatArray, rng: np.random.Generator) -> IndexArray:
    """Uniformly at random, without replacement; the RSSBO baseline. O(n)."""
    free = np.setdiff1d(np.arange(len(embedding)), forced)
    return np.concatenate([forced, rng.permutation(free)[: size - len(forced)]])


def kmeans(embedding: Embedding, size: int, forced: IndexArray, z: FloatArray, rng: np.random.Generator) -> IndexArray:
    """k-means++ seeding among the directions of the embeddings.

    The next member is drawn with probability proportional to its squared distance from the nearest retained one.
    O(n^2 M) from P, O(n M) from cached cosines.
    """
    chosen = np.empty(size, dtype=np.intp)
    source, squared = embedding.source()
    _select.kmeans_plus_plus(len(embedding), source, squared, forced, rng.random(size - len(forced)), chosen)
    return chosen


def maxmin(embedding: Embedding, size: int, forced: IndexArray, z: FloatArray, rng: np.random.Generator) -> IndexArray:
    """Farthest point in kernel distance k(x, x) + k(x', x') - 2 k(x, x') from the nearest retained one. O(n d M)."""
    chosen = np.empty(size, dtype=np.intp)
    kernel = embedding.kernel
    _select.farthest_kernel(kernel.kind, embedding.X, kernel.lengthscale, kernel.variance, forced, chosen)
    return chosen


RULES: dict[str, SelectionRule] = {
    "vector": vector,
    "scalar": scalar,
    "random": random,
    "kmeans++": kmeans,
    "maxmin": maxmin,
}
"""Selection rules by name."""

EMBEDDED: frozenset[str] = frozenset({"vector", "scalar", "kmeans++"})
"""Rules that need the precision of the pool."""

"""The selection rules, each a function of the embeddings of a pool.

The paper's, those that follow the residuals, and one of another library.

A rule returns `size` distinct members of the pool: the forced ones in their order, then the others in the order they
were picked. Values closer than 1e-9 are ties and the lowest member wins, so duplicates and symmetric designs give
the same subset whatever the rounding.

Notation
--------
S_i     conditional variance of response i given the retained ones, as a share of its prior variance
r_i     response i, standardised, minus its prediction from the retained ones

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026: section 4.3 (vector rule),
   appendix C.3 (scalar rule), tables 3 and 4 (random rule, k-means++, max-min named as future work), theorem 5.1 (S
   and r bound what is lost by retaining a subset).
2. De Marchi, Schaback, Wendland, Near-optimal data-independent point locations for radial basis function interpolation,
   Advances in Computational Mathematics 23, 2005: the largest S next.
3. Wenzel, Santin, Haasdonk, Analysis of target data-dependent greedy kernel algorithms, Constructive Approximation 57,
   2023: the largest r^2, or r^2 / S, next.
4. Fedorov, Theory of Optimal Experiments, Academic Press 1972: the exchange of a design's points, one for one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from gssbo._core import _exchange, _residual, _select
from gssbo._typing import FloatArray, IndexArray
from gssbo.embedding import Embedding
from gssbo.features import FeatureEmbedding

__all__ = ["RULES", "SelectionRule"]

SelectionRule: TypeAlias = Callable[[Embedding, int, IndexArray, FloatArray, np.random.Generator], IndexArray]
"""rule(embedding, size, forced, z, rng): `forced` distinct and fewer than `size`, `size` less than the pool, `z` (n,)
the pool's standardised responses."""

Directions: TypeAlias = Embedding | FeatureEmbedding
"""What a rule that reads nothing but cosines can be used with."""

FLOOR = 1e-12  # scores below this count as this large when they are normalised, appendix C.3
TOP = 0.25  # share of the retained subset that goes to the largest responses, Syne Tune's default
TILT = 0.2  # of the residual rule; anything from 0.05 to 0.3 does as well
SURPRISE = (1.0, 1.0, 1.0, TILT)  # form of its score: (S + r^2) / (S + TILT)
EXCHANGED = 0.25  # share of the retained subset, at most; few runs want more


def vector(embedding: Directions, size: int, forced: IndexArray, z: FloatArray, rng: np.random.Generator) -> IndexArray:
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


def random(embedding: Directions, size: int, forced: IndexArray, z: FloatArray, rng: np.random.Generator) -> IndexArray:
    """Uniformly at random, without replacement; the RSSBO baseline. O(n)."""
    free = np.setdiff1d(np.arange(len(embedding)), forced)
    return np.concatenate([forced, rng.permutation(free)[: size - len(forced)]])


def kmeans(embedding: Directions, size: int, forced: IndexArray, z: FloatArray, rng: np.random.Generator) -> IndexArray:
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


def residual(
    embedding: Embedding, size: int, forced: IndexArray, z: FloatArray, rng: np.random.Generator
) -> IndexArray:
    """Largest (S_i + r_i^2) / (S_i + 0.2): what the retained ones leave open or predict wrongly. O(n M^2).

    Ours. The numerator is how wrong the model may be and how wrong it is. The denominator lets that count for more
    where the model was sure, by up to six times: where S is 1, far from all that is retained, surprise is expected.
    """
    return _pivots(embedding, size, forced, z, form=SURPRISE)


def variance(
    embedding: Embedding, size: int, forced: IndexArray, z: FloatArray, rng: np.random.Generator
) -> IndexArray:
    """Largest S_i, whatever the responses: the greedy points of [2]. O(n M^2)."""
    return _pivots(embedding, size, forced, z, form=(1.0, 0.0, 0.0, 1.0))


def residual_ratio(
    embedding: Embedding, size: int, forced: IndexArray, z: FloatArray, rng: np.random.Generator
) -> IndexArray:
    """Largest r_i^2 / S_i: the response that surprises most, in its own standard deviations. O(n M^2)."""
    return _pivots(embedding, size, forced, z, form=(0.0, 1.0, 1.0, 0.0))


def residual_exchange(
    embedding: Embedding, size: int, forced: IndexArray, z: FloatArray, rng: np.random.Generator
) -> IndexArray:
    """The residual rule's choice, then the least telling for the most telling one, as long as that gains. O(n M^2).

    Ours. Early pivots were picked when little was known; what the later ones tell as well is given up [4] for what is
    predicted wrongly now, by the same score, up to a quarter of the subset.
    """
    chosen = residual(embedding, size, forced, z, rng)
    kernel, form = embedding.kernel, np.array(SURPRISE)
    _exchange.exchange(
        kernel.kind,
        embedding.X,
        kernel.lengthscale,
        kernel.variance,
        embedding.noise,
        z,
        form,
        len(forced),
        int(EXCHANGED * size),
        chosen,
    )
    return chosen


def topk_random(
    embedding: Directions, size: int, forced: IndexArray, z: FloatArray, rng: np.random.Generator
) -> IndexArray:
    """The largest responses, a quarter of the subset, then others uniformly at random without replacement. O(n log n).

    Syne Tune cuts the data of its Gaussian process down so (`max_size_data_for_model`, `max_size_top_fraction`).
    """
    free = np.setdiff1d(np.arange(len(embedding)), forced)
    left = size - len(forced)
    n_top = min(int(TOP * size), left)
    ranked = free[np.argsort(-z[free], kind="stable")]
    others = np.sort(ranked[n_top:])
    return np.concatenate([forced, ranked[:n_top], rng.permutation(others)[: left - n_top]])


def _pivots(
    embedding: Embedding, size: int, forced: IndexArray, z: FloatArray, *, form: tuple[float, float, float, float]
) -> IndexArray:
    """Pivots by the score (a S + b r^2) / (c S + e) of a form (a, b, c, e)."""
    chosen = np.empty(size, dtype=np.intp)
    kernel, noise = embedding.kernel, embedding.noise
    _residual.pivots(
        kernel.kind, embedding.X, kernel.lengthscale, kernel.variance, noise, z, np.array(form), forced, chosen
    )
    return chosen


RULES: dict[str, SelectionRule] = {
    "vector": vector,
    "scalar": scalar,
    "random": random,
    "kmeans++": kmeans,
    "maxmin": maxmin,
    "residual": residual,
    "variance": variance,
    "residual-ratio": residual_ratio,
    "residual-exchange": residual_exchange,
    "topk-random": topk_random,
}
"""Selection rules by name."""

FEATURED: dict[str, Callable[[Directions, int, IndexArray, FloatArray, np.random.Generator], IndexArray]] = {
    "vector": vector,
    "random": random,
    "kmeans++": kmeans,
    "topk-random": topk_random,
}
"""Rules that a surrogate with selection features can be used with."""

EMBEDDED: frozenset[str] = frozenset({"vector", "scalar", "kmeans++"})
"""Rules that need the precision of the pool."""

PIVOTED: frozenset[str] = frozenset({"residual", "variance", "residual-ratio", "residual-exchange"})
"""Rules that retain the pivots of a partial Cholesky factorization: linear in the pool, so it may be large."""

ORDERS: dict[str, SelectionRule] = {
    "residual": residual,
    "variance": variance,
    "residual-ratio": residual_ratio,
    "residual-exchange": residual,
}
"""Of those rules, what takes the pivots: a smaller subset is the first of them, before anything is exchanged."""

RESPONSIVE: frozenset[str] = frozenset({"scalar", "residual", "residual-ratio", "residual-exchange", "topk-random"})
"""Rules that look at the responses."""

DRAWING: frozenset[str] = frozenset({"random", "kmeans++", "topk-random"})
"""Rules that draw: another subset from another generator."""

"""HeSBO: search in a subspace made by hashing the parameters into buckets.

Notation
--------
D, d    parameters of the problem, dimensions of the subspace
h, s    bucket of each parameter, uniform over the d (D,), and its sign, -1 or 1 with equal odds (D,)
y       point of the subspace's box [-1, 1]^d; w = (y + 1) / 2 in the unit cube
x       x_i = s_i y_h(i), in [-1, 1]^D: nothing is ever clipped

Settings. The box, buckets and signs of [1], one subspace a run. The paper [2] does not give d: half of D, at most 10.
Model, acquisition and candidates are those of its GP-UCB, in d dimensions.

Cost of an iteration: that of GP-UCB in d dimensions, n^3 for each step of the search, and D for the suggestion.

References
----------
1. Nayebi, Munteanu and Poloczek, A framework for Bayesian optimization in embedded subspaces, ICML 2019, algorithm 1.
2. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, appendix.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gssbo._typing import FloatArray, IndexArray
from gssbo.baselines.subspace import SubspaceStrategy

__all__ = ["HashedSubspace", "options"]


def options(n_dimensions: int | None = None) -> dict[str, Any]:
    """Keyword arguments of `gssbo.Optimizer` that make it HeSBO in `n_dimensions`."""
    return {"strategy": partial(SubspaceStrategy, subspace=HashedSubspace, n_dimensions=n_dimensions)}


class HashedSubspace:
    """Parameters in buckets, each with a sign; see `gssbo.baselines.subspace.Subspace`.

    Parameters
    ----------
    dim_problem, dim : int
        D and d.
    rng : numpy.random.Generator

    Examples
    --------
    >>> subspace = HashedSubspace(6, 2, np.random.default_rng(0))
    >>> subspace.lift(np.array([[0.25, 1.0]]))
    array([[0.  , 0.  , 0.  , 0.25, 0.25, 0.25]])
    """

    def __init__(self, dim_problem: int, dim: int, rng: np.random.Generator) -> None:
        self.dim = dim
        self.bucket: IndexArray = rng.integers(dim, size=dim_problem)
        self.sign: FloatArray = np.where(rng.integers(2, size=dim_problem) == 1, 1.0, -1.0)

    def lift(self, W: FloatArray) -> FloatArray:
        """Unit points (n, D) of w (n, d)."""
        return 0.5 * (self.sign * (2.0 * W - 1.0)[:, self.bucket] + 1.0)

    def lower(self, X: FloatArray) -> FloatArray:
        """The w (n, d) of unit points (n, D): the average of a bucket's parameters, the middle where it is empty."""
        y = np.zeros((len(X), self.dim))
        signed = self.sign * (2.0 * X - 1.0)
        for j in range(self.dim):
            inside = self.bucket == j
            if inside.any():
                y[:, j] = signed[:, inside].mean(axis=1)
        return 0.5 * (y + 1.0)

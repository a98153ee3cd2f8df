"""REMBO: search in a random linear subspace.

Notation
--------
D, d    parameters of the problem, dimensions of the subspace
A       standard normal (D, d)
y       point of the subspace's box [-sqrt(d), sqrt(d)]^d; w = (y / sqrt(d) + 1) / 2 in the unit cube
x       A y clipped to [-1, 1]^D, which is the problem's box in its own units

If the function depends on a linear subspace of d_e <= d dimensions, its optimum is with good probability the image of a
y in that box [1, theorem 3 and section 3.3].

Settings. The box and the matrix of [1], one subspace a run, the kernel on y. The paper [2] does not give d: half of D,
at most 10. Model, acquisition and candidates are those of its GP-UCB, in d dimensions.

Cost of an iteration: that of GP-UCB in d dimensions, n^3 for each step of the search, and D d for the suggestion.

References
----------
1. Wang, Hutter, Zoghi, Matheson and de Freitas, Bayesian optimization in a billion dimensions via random embeddings,
   JAIR 2016.
2. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, appendix.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gssbo._typing import FloatArray
from gssbo.baselines.subspace import SubspaceStrategy
from gssbo.factor import Factor

__all__ = ["LinearSubspace", "options"]


def options(n_dimensions: int | None = None) -> dict[str, Any]:
    """Keyword arguments of `gssbo.Optimizer` that make it REMBO in `n_dimensions`."""
    return {"strategy": partial(SubspaceStrategy, subspace=LinearSubspace, n_dimensions=n_dimensions)}


class LinearSubspace:
    """A random linear map, clipped to the box; see `gssbo.baselines.subspace.Subspace`.

    Parameters
    ----------
    dim_problem, dim : int
        D and d.
    rng : numpy.random.Generator

    Examples
    --------
    >>> subspace = LinearSubspace(5, 2, np.random.default_rng(0))
    >>> subspace.lift(np.array([[0.5, 0.5]]))
    array([[0.5, 0.5, 0.5, 0.5, 0.5]])
    """

    def __init__(self, dim_problem: int, dim: int, rng: np.random.Generator) -> None:
        self.dim = dim
        self.A: FloatArray = rng.standard_normal((dim_problem, dim))

    def lift(self, W: FloatArray) -> FloatArray:
        """Unit points (n, D) of w (n, d)."""
        y = (2.0 * W - 1.0) * np.sqrt(self.dim)
        x: FloatArray = np.clip(np.einsum("ij,kj->ik", y, self.A), -1.0, 1.0)
        return 0.5 * (x + 1.0)

    def lower(self, X: FloatArray) -> FloatArray:
        """The w (n, d) of unit points (n, D), by least squares within the box."""
        factor = Factor(np.einsum("ij,ik->jk", self.A, self.A))
        y = factor.solve(np.einsum("ij,ki->jk", self.A, 2.0 * X - 1.0))
        W: FloatArray = np.clip(0.5 * (y.T / np.sqrt(self.dim) + 1.0), 0.0, 1.0)
        return np.ascontiguousarray(W)

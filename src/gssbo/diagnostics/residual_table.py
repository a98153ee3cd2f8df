"""The paper's residual-quantity table: what each selection rule leaves in the bounds.

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, appendix "Residual-quantity
   diagnostics for the selection rule".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gssbo._arithmetic import in_own_arithmetic
from gssbo._typing import ArrayLike, RngLike
from gssbo._validation import (
    as_generator,
    check_choice,
    check_indices,
    check_integer,
    check_vector,
)
from gssbo.diagnostics.gap import PosteriorGap
from gssbo.diagnostics.shared import points_of, shared_by
from gssbo.embedding import Embedding
from gssbo.gp import GaussianProcess
from gssbo.kernels import Kernel
from gssbo.selection.rules import DRAWING, RULES
from gssbo.selection.subset import select

__all__ = ["ResidualRow", "residual_table"]


class ResidualRow(NamedTuple):
    """One rule's column of the table, in standardised units; smaller is better throughout."""

    rule: str
    residual_norm: float
    """|r_U|."""
    rho: float
    """rho_U over candidates and pool."""
    score_norm: float
    """|s_R|."""
    inverse_norm: float
    """|S^-1|."""
    mean_gap: float
    """sup |mu_D - mu_U| over candidates and pool."""
    draws: int
    """Subsets averaged over: 1 for a rule that does not draw."""


@in_own_arithmetic
def residual_table(
    model: GaussianProcess | Kernel,
    X: ArrayLike,
    y: ArrayLike,
    size: int,
    *,
    rules: Sequence[str] = ("vector", "random"),
    forced: ArrayLike = (),
    draws: int = 10,
    noise: float | None = None,
    noise_std: ArrayLike | None = None,
    candidates: ArrayLike | None = None,
    rng: RngLike = None,
) -> list[ResidualRow]:
    """Residual quantities of the subsets that several rules choose from the same pool, one row a rule.

    The paper's protocol: `model` fitted to the whole pool, the initial design and the newest observation forced, M =
    100, random subsets drawn ten times and averaged, suprema over 2,000 candidates and the pool.

    Parameters
    ----------
    model : GaussianProcess or Kernel
        As in `PosteriorGap`.
    X : array of shape (n, d)
        The pool.
    y : array of shape (n,) or (n, 1)
    size : int
        M, less than n.
    rules : sequence of str
        Keys of `gssbo.selection.RULES`.
    forced : array of int
        Positions kept in any case, fewer than `size`.
    draws : int
        Subsets to average over for the rules that draw at random.
    noise, noise_std, candidates
        As in `PosteriorGap`.
    rng : None, int or numpy.random.Generator
        Source of the rules that draw.

    Returns
    -------
    list of ResidualRow
        In the order of `rules`.

    Raises
    ------
    NotFittedError, ValueError
        As in `PosteriorGap` and `select_subset`.

    Notes
    -----
    O(n^3) a subset.

    Examples
    --------
    >>> generator = np.random.default_rng(0)
    >>> X = generator.random((80, 2))
    >>> y = np.sin(5.0 * X[:, 0]) + X[:, 1] ** 2
    >>> gp = GaussianProcess(rng=0).fit(X, y)
    >>> for row in residual_table(gp, X, y, 30, rules=["vector", "random", "maxmin"], rng=0):
    ...     print(f"{row.rule:7} {row.draws:3} {row.residual_norm:8.2g}")
    vector    1      1.5
    random   10    0.045
    maxmin    1   0.0083
    """
    pool = points_of(model, X)
    n, d = pool.shape
    responses = check_vector("y", y, size=n, column=True)
    shared = shared_by(model, noise, columns=d)
    members = check_indices("forced", forced, below=n)
    count = check_integer("size", size, at_least=len(members) + 1, at_most=n - 1)
    names = [check_choice("rules", rule, RULES) for rule in rules]
    most = check_integer("draws", draws, at_least=1)
    generator = as_generator("rng", rng)
    embedding = Embedding(shared.kernel, shared.noise, pool)
    rows = []
    for name in names:
        measured: list[tuple[float, ...]] = []
        for _ in range(most if name in DRAWING else 1):
            chosen = select(embedding, count, rule=name, forced=members, y=responses, rng=generator)
            gap = PosteriorGap(model, pool, responses, chosen, noise=noise, noise_std=noise_std, candidates=candidates)
            mean_gap = gap.largest_mean_gap / gap.scale
            measured.append((gap.residual_norm, gap.rho, gap.score_norm, gap.inverse_norm, mean_gap))
        residual, rho, scores, inverse, mean_gap = (float(np.mean(column)) for column in zip(*measured, strict=True))
        rows.append(ResidualRow(name, residual, rho, scores, inverse, mean_gap, len(measured)))
    return rows

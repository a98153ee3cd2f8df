"""IPA: a sparse Gaussian process whose inducing points start where something may be gained, and far from each other.

Notation
--------
mu, S       mean (n,) and covariance (n, n) of the latent function at the observations, under the model of the iteration
            before; under the prior at the first one
q           quality (n,): expected improvement at each observation on the largest of mu
L           quality-diversity kernel diag(q) S diag(q): a determinantal point process draws the set A with probability
            det(L_AA) / det(I + L)

The inducing points start at a set of large det(L_AA), found greedily: the next is the observation i that multiplies it
most, by q_i^2 times the variance of f(x_i) given f at those before [2], which an incremental Cholesky factorization has
at hand. Where nothing is left to explain, the rest is random. All else is as in `gssbo.baselines.sparse_gp`.

By [3] the quality multiplies the posterior of the process, so S is the posterior covariance, where [1] has the prior's.

Settings [3]. 40 inducing points, Adam with a step of 0.01, 100 epochs an iteration, locations learned. For short runs:
`options(epochs=10)`.

Cost of an iteration: that of SparseGP, and n m^2 for the start.

References
----------
1. Moss, Ober and Picheny, Inducing point allocation for sparse Gaussian processes in high-throughput Bayesian
   optimisation, AISTATS 2023.
2. Chen, Zhang and Zhou, Fast greedy MAP inference for determinantal point process, NeurIPS 2018.
3. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, section 6 and configuration
   table (appendix).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gssbo._core import _acquire
from gssbo._typing import FloatArray, IndexArray
from gssbo.baselines._torch import require
from gssbo.baselines.sparse_gp import SparseProcess

__all__ = ["AllocatedProcess", "greedy_map", "options"]

SPENT = 1e-10  # share of its variance below which an observation is explained by those chosen


def options(**settings: Any) -> dict[str, Any]:
    """Keyword arguments of `gssbo.Optimizer` that make it IPA; settings are those of `SparseProcess`.

    Raises
    ------
    MissingDependencyError
        If PyTorch is not installed.
    """
    require("ipa")
    return {"surrogate": AllocatedProcess(**settings)}


def greedy_map(
    column: Callable[[int], FloatArray], variance: FloatArray, log_quality: FloatArray, size: int
) -> IndexArray:
    """Indices of up to `size` members that greedily make det(L_AA) large, in the order they were chosen.

    Parameters
    ----------
    column : callable
        Column (n,) of S by its number.
    variance : ndarray of shape (n,)
        Diagonal of S.
    log_quality : ndarray of shape (n,)
        log q.
    size : int

    Returns
    -------
    ndarray of int
        Fewer than `size` where the others add nothing. Of equal gains the first wins.

    Examples
    --------
    >>> S = np.array([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> greedy_map(lambda i: S[i], np.diag(S), np.log([1.0, 1.1, 0.9]), 2)
    array([1, 2])
    """
    left = variance.copy()
    rows = np.empty((size, len(variance)))
    chosen: list[int] = []
    free = np.ones(len(variance), dtype=bool)
    while len(chosen) < size:
        live = free & (left > SPENT * variance) & (log_quality > -np.inf)
        if not live.any():
            break
        gain = np.where(live, np.log(np.where(live, left, 1.0)) + 2.0 * log_quality, -np.inf)
        i, k = int(np.argmax(gain)), len(chosen)
        rows[k] = (column(i) - np.einsum("ij,i->j", rows[:k], rows[:k, i])) / np.sqrt(left[i])
        left -= rows[k] ** 2
        free[i] = False
        chosen.append(i)
    return np.array(chosen, dtype=np.intp)


class AllocatedProcess(SparseProcess):
    """A variational sparse Gaussian process that starts by quality and diversity; see the module's notes.

    Parameters and attributes are those of `gssbo.baselines.sparse_gp.SparseProcess`. The model of the iteration before
    is that of the last fit under a warm start (`warm_start=True`, which the optimizer sets), else the prior.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> model = AllocatedProcess(epochs=20, rng=0).fit(X, np.sin(6 * X[:, 0]) + X[:, 1])
    >>> bool(abs(model.predict([[0.5, 0.5]])[0] - (np.sin(3.0) + 0.5)) < 0.05)
    True
    """

    def start(self, X: FloatArray, theta: FloatArray, rng: np.random.Generator) -> IndexArray:
        """Indices of the observations that the inducing points start at."""
        n, m = len(X), min(self.n_inducing, len(X))
        chosen = greedy_map(*self.quality_diversity(X, theta), m)
        if len(chosen) < m:
            others = np.setdiff1d(np.arange(n), chosen)
            chosen = np.concatenate([chosen, rng.permutation(others)[: m - len(chosen)]])
        return chosen

    def quality_diversity(
        self, X: FloatArray, theta: FloatArray
    ) -> tuple[Callable[[int], FloatArray], FloatArray, FloatArray]:
        """Columns of S, its diagonal (n,), and log q (n,)."""
        if self.warm_start and self.fitted and self.inducing_.shape[1] == X.shape[1]:
            mean, std = self.posterior(X)
            column = self._columns(X)
            variance = std * std
        else:
            kernel, _ = self._adopt(theta)
            mean, variance = np.zeros(len(X)), np.full(len(X), kernel.variance)

            def column(i: int) -> FloatArray:
                return kernel(X, X[i : i + 1])[:, 0]

        log_quality = np.empty(len(X))
        _acquire.log_expected_improvement(mean, np.sqrt(variance), float(mean.max()), log_quality)
        return column, variance, log_quality

    def _columns(self, X: FloatArray) -> Callable[[int], FloatArray]:
        phi, spread = self._features(X)
        kernel = self.kernel_

        def column(i: int) -> FloatArray:
            told = np.einsum("ij,i->j", phi, phi[:, i]) - np.einsum("ij,i->j", spread, spread[:, i])
            covariances: FloatArray = kernel(X, X[i : i + 1])[:, 0] - told
            return covariances

        return column

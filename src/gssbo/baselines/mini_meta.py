"""mini-META: few distinct points, each evaluated until its noise is small.

Notation
--------
u       distinct points; c their counts (u,); ybar the averages of their responses (u,)
noise   noise variance of one evaluation, in squared units of the standardised averages
tau     threshold on sqrt(noise / c), 0.1

The surrogate is the exact Gaussian process of the averages with noise diag(1 / c): for given hyperparameters its
posterior is that of all evaluations, at the cost of the distinct points [1].

Settings [2]. Hyperparameters by maximum likelihood of the averages with 2 restarts at every iteration, "exact GP on
distinct points": how far evaluations of one point scatter is not used, for where they do not scatter at all it would
say that nothing is to be repeated. A suggested point is suggested again until sqrt(noise / c) < tau, but evaluated at
most 20 times, and not while it is pending: other workers get other points. The initial design is not repeated.

Cost of an iteration: u^3 for each step of the search, u^2 for each candidate, and nothing but a fit where a point is
suggested again.

References
----------
1. Calandriello, Carratino, Lazaric, Valko and Rosasco, Scaling Gaussian process optimization by evaluating a few unique
   candidates multiple times, ICML 2022.
2. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, configuration table
   (appendix).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gssbo._typing import FloatArray, IndexArray
from gssbo.box_strategy import BoxStrategy
from gssbo.choice import Admit
from gssbo.gp import GaussianProcess
from gssbo.history import History
from gssbo.presets import surrogate_options
from gssbo.space import Space

__all__ = ["AveragedProcess", "RepeatingStrategy", "distinct", "evaluations_needed", "options"]

THRESHOLD = 0.1
MOST = 20  # evaluations of one point


def options() -> dict[str, Any]:
    """Keyword arguments of `gssbo.Optimizer` that make it mini-META."""
    return {
        "surrogate": AveragedProcess(**surrogate_options()),
        "strategy": RepeatingStrategy,
        "duplicates": "allow",
    }


def distinct(X: FloatArray) -> tuple[IndexArray, IndexArray]:
    """First index (u,) of each distinct row of X (n, d), ascending, and the number of each row among them (n,).

    Examples
    --------
    >>> distinct(np.array([[2.0], [1.0], [2.0]]))
    (array([0, 1]), array([0, 1, 0]))
    """
    _, first, group = np.unique(X, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[group.ravel()]


def evaluations_needed(noise: float) -> int:
    """Evaluations of a point until sqrt(noise / c) < tau, at most 20.

    Examples
    --------
    >>> [evaluations_needed(noise) for noise in (1e-6, 0.01, 0.05, 1.0)]
    [1, 2, 6, 20]
    """
    counts = np.arange(1, MOST)
    enough = np.sqrt(noise / counts) < THRESHOLD
    return int(counts[enough][0]) if enough.any() else MOST


class AveragedProcess(GaussianProcess):
    """The exact process of the averages at distinct points.

    Parameters and methods are those of `gssbo.GaussianProcess`. `X_train_` are the distinct points in the order of
    their first evaluation, `y_train_` their standardised averages, `noise_factors_` one over their counts. Evaluations
    that failed (NaN) do not count, unless all of a point did.

    Examples
    --------
    >>> model = AveragedProcess(rng=0).fit([[0.0], [1.0], [0.0]], [1.0, 3.0, 2.0])
    >>> model.X_train_.ravel(), model.noise_factors_
    (array([0., 1.]), array([0.5, 1. ]))
    """

    def condition(
        self,
        X: FloatArray,
        y: FloatArray,
        *,
        optimize: bool,
        rng: np.random.Generator | None = None,
        noise_std: FloatArray | None = None,
        noise_factors: FloatArray | None = None,
        race: bool = True,
    ) -> None:
        """See `gssbo.surrogate.Surrogate`; averages are unweighted, whatever is known of the noise."""
        first, group = distinct(X)
        told = np.flatnonzero(~np.isnan(y))
        base = np.full(len(first), np.nan)
        base[group[told[::-1]]] = y[told[::-1]]  # the first value of each point
        count = np.maximum(np.bincount(group[told], minlength=len(first)), 1)

        def average(values: FloatArray) -> FloatArray:
            mean: FloatArray = np.bincount(group[told], values, len(first)) / count
            return mean

        # Differences to the first value: equal ones average to themselves, to the bit.
        averages = base + average(y[told] - base[group[told]])
        factors = np.ones(len(told)) if noise_factors is None else noise_factors[told]
        super().condition(
            np.ascontiguousarray(X[first]),
            averages,
            optimize=optimize,
            rng=rng,
            noise_std=None if noise_std is None else np.sqrt(average(noise_std[told] ** 2) / count),
            noise_factors=np.where(np.isnan(averages), 1.0, average(factors) / count),
            race=race,
        )


class RepeatingStrategy(BoxStrategy):
    """A `BoxStrategy` that suggests a point again until it has been evaluated often enough.

    Points told must be admitted: it takes the optimizer's `duplicates="allow"`.
    """

    def __init__(self, space: Space, **slots: Any) -> None:
        super().__init__(space, **slots)
        self._open: list[FloatArray] = []  # suggested, and not evaluated often enough yet

    def suggest(self, history: History, pending: FloatArray, n: int, admit: Admit) -> FloatArray:
        """The points that need it once more, then the next best ones."""
        if len(history) == 0:
            return super().suggest(history, pending, n, admit)
        again = self._once_more(history, admit)[:n]

        def elsewhere(U: FloatArray) -> NDArray[np.bool_]:
            mask: NDArray[np.bool_] = admit(U) & ~(U[:, None, :] == again).all(axis=2).any(axis=1)
            return mask

        fresh = np.empty((0, self.space.dim))
        if len(again) < n:
            fresh = super().suggest(history, np.vstack([pending, again]), n - len(again), elsewhere)
        self._open.extend(self.space.to_unit(self.space.from_unit(fresh)))
        return np.vstack([again, fresh])

    def _once_more(self, history: History, admit: Admit) -> FloatArray:
        """Those of the open points (k, D) that are not pending; what is done with or was given up is open no more."""
        needed = evaluations_needed(self.surrogate.noise_)
        again, still = [], []
        for point in self._open:
            count = int((history.unit == point).all(axis=1).sum())
            waits = not admit(point[None, :])[0]
            if count < needed and (waits or count > 0):
                still.append(point)
                if not waits:
                    again.append(point)
        self._open = still
        return np.array(again).reshape(-1, self.space.dim)

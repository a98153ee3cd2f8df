"""LR-First m: a low-rank Gaussian process on the first m observations.

It is the `ProjectedProcess` that they are the basis of, and so what Nystrom's approximation [1] makes of the prior,
with the variance that this lacks given back.

Settings [2]. m = max(9, min(100, floor(t / 10) + 9, n / 2)) at iteration t, which is n - n_init + 1: it grows to 100.
"Shared MLE hyperparameters": the paper does not say whose. Here they are those of an exact process on the first m
observations, by maximum likelihood with 2 restarts at every iteration, and the low-rank one uses them.

Cost of an iteration: m^3 for each step of the search, n m^2 for the factors, m^2 for each candidate.

References
----------
1. Williams and Seeger, Using the Nystrom method to speed up kernel machines, NeurIPS 2000.
2. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, configuration table
   (appendix).
"""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import numpy as np

from gssbo._mle import Likelihood
from gssbo._typing import FloatArray
from gssbo._validation import check_integer
from gssbo.fantasy import fantasize
from gssbo.kernels import KERNELS
from gssbo.presets import surrogate_options
from gssbo.projected import ProjectedProcess
from gssbo.regressor import Regressor

__all__ = ["NystromProcess", "options", "rank"]


def options() -> dict[str, Any]:
    """Keyword arguments of `gssbo.Optimizer` that make it LR-First m."""
    return {"surrogate": NystromProcess(**surrogate_options())}


def rank(n: int, n_init: int) -> int:
    """Return m of n observations, `n_init` of them the initial design; never more than n.

    Examples
    --------
    >>> [rank(n, 20) for n in (20, 29, 100, 1000)]
    [9, 10, 17, 100]
    """
    t = max(n - n_init + 1, 0)
    return min(max(9, min(100, t // 10 + 9, n // 2)), n)


class NystromProcess(Regressor):
    """A Gaussian process whose covariance is projected on the first m observations.

    Parameters
    ----------
    kernel : {"matern52", "matern32", "rbf"}
    n_init : int
        Observations of the initial design, which iterations are counted after.
    size : int, optional
        m; default as in the module's notes.
    **settings
        As for `gssbo.GaussianProcess`.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((300, 2))
    >>> model = NystromProcess(rng=0).fit(X, np.sin(6 * X[:, 0]) + X[:, 1])
    >>> bool(abs(model.predict([[0.5, 0.5]])[0] - (np.sin(3.0) + 0.5)) < 0.05)
    True
    """

    def __init__(self, kernel: str = "matern52", *, n_init: int = 20, size: int | None = None, **settings: Any) -> None:
        super().__init__(kernel, **settings)
        self.n_init = check_integer("n_init", n_init, at_least=1)
        self.size = None if size is None else check_integer("size", size, at_least=1)

    def condition(
        self,
        X: FloatArray,
        y: FloatArray,
        *,
        optimize: bool,
        rng: np.random.Generator | None = None,
        noise_std: FloatArray | None = None,
    ) -> None:
        """See `gssbo.surrogate.Surrogate`."""
        n = len(X)
        m = rank(n, self.n_init) if self.size is None else min(self.size, n)
        z, mean, std, known = self.standardized(y, noise_std)
        first, responses = X[:m].copy(), z[:m].copy()
        hill = partial(Likelihood, KERNELS[self.kernel], first, responses, known[:m].copy(), curved=True)
        theta, info = self._search(first, responses, hill, optimize=optimize, rng=rng)
        kernel, noise = self._adopt(theta)
        projection = ProjectedProcess(kernel, noise, first, threads=self.threads)
        projection.observe(X, z, known)
        self.kernel_, self.noise_, self.theta_ = kernel, noise, theta
        self.n_inducing_, self.projection_ = m, projection
        self.X_train_, self.y_train_ = X, z
        self.fit_info_ = {**info, "jitter": projection.jitter_}
        self.y_mean_, self.y_std_ = mean, std

    def posterior(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (m,) in units of z."""
        self.projection_.threads = self.threads
        return self.projection_.posterior(points)


@fantasize.register(NystromProcess)
def _imagine(model: NystromProcess, points: FloatArray) -> NystromProcess:
    """The model as if it had observed its own mean at the points (p, d); see `ProjectedProcess.imagined`."""
    imagined = copy.copy(model)
    imagined.projection_ = model.projection_.imagined(points)
    return imagined

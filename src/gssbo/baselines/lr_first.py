"""LR-First m: a low-rank Gaussian process on the first m observations.

Notation
--------
n, m        observations; how many of the first span the approximation
K_mm, K_mn  k among the first m (m, m), and between them and all (m, n); U^T U = K_mm
phi(x)      U^-T k(X_m, x) (m,), so that Q = phi^T phi is Nystrom's approximation of k [1]
B           noise I + phi(X) phi(X)^T (m, m) = R^T R
mean        phi(x)^T B^-1 phi(X) z
variance    k(x, x) - phi(x).phi(x) + noise phi(x)^T B^-1 phi(x)

An observation with a known noise variance of its own, beyond the noise, enters with phi and z times the square root of
noise / (noise + known).

Q stands for k throughout, and what Q lacks of the prior variance is given back: the projected process of [2], whose
variance cannot be negative, as that of Nystrom's approximation in the training covariance alone can.

Settings [3]. m = max(9, min(100, floor(t / 10) + 9, n / 2)) at iteration t, which is n - n_init + 1: it grows to 100.
"Shared MLE hyperparameters": the paper does not say whose. Here they are those of an exact process on the first m
observations, by maximum likelihood with 2 restarts at every iteration, and the low-rank one uses them.

Cost of an iteration: m^3 for each step of the search, n m^2 for the factors, m^2 for each candidate.

References
----------
1. Williams and Seeger, Using the Nystrom method to speed up kernel machines, NeurIPS 2000.
2. Quinonero-Candela and Rasmussen, A unifying view of sparse approximate Gaussian process regression, 2005, section 5.
3. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, configuration table
   (appendix).
"""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import numpy as np

from gssbo._core import _linalg
from gssbo._mle import Likelihood
from gssbo._typing import FloatArray
from gssbo._validation import check_integer
from gssbo.baselines.projection import projected
from gssbo.fantasy import fantasize
from gssbo.kernels import KERNELS, Kernel
from gssbo.presets import surrogate_options
from gssbo.regressor import Regressor

__all__ = ["NystromProcess", "options", "rank"]

BLOCK = 512  # points whose features are held at once


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
        z, mean, std, known = self._standardized(y, noise_std)
        first, responses = X[:m].copy(), z[:m].copy()
        hill = partial(Likelihood, KERNELS[self.kernel], first, responses, known[:m].copy())
        theta, info = self._search(first, responses, hill, optimize=optimize, rng=rng)
        kernel, noise = self._adopt(theta)
        U, jitter = _factor(kernel, first)
        features = projected(kernel, first, U, X)
        self.kernel_, self.noise_, self.theta_ = kernel, noise, theta
        self.n_inducing_, self._first_, self._U_ = m, first, U
        B = np.zeros((m, _linalg.padded(m)))
        B[np.diag_indices(m)] = noise
        share = np.sqrt(noise / (noise + known)) if known.any() else np.ones(n)
        self._add(B, np.zeros(m), features[:, :n] * share, z * share)
        self.X_train_, self.y_train_ = X, z
        self.fit_info_ = {**info, "jitter": jitter}
        self.y_mean_, self.y_std_ = mean, std

    def _add(self, B: FloatArray, projected: FloatArray, features: FloatArray, z: FloatArray) -> None:
        """Take observations with features (m, ld) and responses z in, beside those in B and phi z so far."""
        m, n = len(B), len(z)
        rows = np.zeros((n, B.shape[1]))
        rows[:, :m] = features[:, :n].T
        _linalg.subtract_product(m, m, n, -rows, rows, B)
        R = B.copy()
        if _linalg.cholesky(m, R) != 0:
            raise np.linalg.LinAlgError(f"the covariance of rank {m} is not positive definite with {self.kernel_!r}")
        projected = projected + np.einsum("ij,i->j", rows[:, :m], z)
        column = np.zeros((m, _linalg.padded(1)))
        column[:, 0] = projected
        _linalg.solve_transposed(m, 1, R, column)
        self._B_, self._projected_, self._R_, self._weights_ = B, projected, R, column[:, 0].copy()

    def posterior(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (m,) in units of z."""
        mean, variance = np.empty(len(points)), np.empty(len(points))
        m = self.n_inducing_

        def score(first: int, last: int) -> None:
            for start in range(first, last, BLOCK):
                here = slice(start, min(start + BLOCK, last))
                size = here.stop - start
                phi = projected(self.kernel_, self._first_, self._U_, points[here])
                explained = np.einsum("ij,ij->j", phi, phi)[:size]
                _linalg.solve_transposed(m, size, self._R_, phi)
                mean[here] = np.einsum("ij,i->j", phi, self._weights_)[:size]
                left = np.einsum("ij,ij->j", phi, phi)[:size]
                variance[here] = np.maximum(self.variance_ - explained, 0.0) + self.noise_ * left

        self._in_parts(score, len(points))
        return mean, np.sqrt(variance, out=variance)


@fantasize.register(NystromProcess)
def _imagine(model: NystromProcess, points: FloatArray) -> NystromProcess:
    """The model as if it had observed its own mean at the points (p, d): the mean is the same; O(p m^2 + m^3)."""
    imagined = copy.copy(model)
    points = np.ascontiguousarray(points)
    features = projected(model.kernel_, model._first_, model._U_, points)
    imagined._add(model._B_.copy(), model._projected_, features, model.posterior(points)[0])
    return imagined


def _factor(kernel: Kernel, first: FloatArray) -> tuple[FloatArray, float]:
    """U (m, ld) of K_mm, and the jitter that it took."""
    for jitter in kernel.jitters(len(first)):
        U = kernel.padded_gram(first, jitter, full=False)
        if _linalg.cholesky(len(first), U) == 0:
            break
    return U, jitter

"""VecchiaBO: a Gaussian process in which every response is given its nearest neighbours alone.

Notation
--------
n, d    observations, parameters
m       size of the conditioning sets, 7.2 log10(n)^2 [1]
b       conditionals in the likelihood, at most 256

Settings. Matern 5/2 ARD; neighbours in the inputs divided by the lengthscales [1, 2]; max-min order; each candidate is
given its m nearest observations. The paper [3] says "per-iteration refit" and "size grown with t". Where [1] learns by
mini-batches and Adam, the likelihood here is that of b conditionals drawn anew for each fit, climbed by the search the
exact process has, with 2 restarts; order and conditioning sets are those of the lengthscales the search begins with. No
warping of the responses, no calibration of the variances, no trust region: the rest is the protocol of [3].

Cost of an iteration: n^2 d for the order, b (n d + m^3) for each step of the search, n d + m^3 for each candidate.

References
----------
1. Jimenez and Katzfuss, Scalable Bayesian optimization using Vecchia approximations of Gaussian processes, AISTATS
   2023.
2. Katzfuss, Guinness and Lawrence, Scaled Vecchia approximation for fast computer-model emulation, 2022.
3. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, configuration table
   (appendix).
"""

from __future__ import annotations

import copy
from functools import partial
from typing import Any

import numpy as np

from gssbo._core import _neighbours, _select, _vecchia
from gssbo._mle import Prior
from gssbo._typing import FloatArray, IndexArray
from gssbo._validation import check_integer
from gssbo.fantasy import fantasize
from gssbo.kernels import KERNELS
from gssbo.presets import surrogate_options
from gssbo.regressor import Regressor

__all__ = ["Conditionals", "VecchiaProcess", "max_min_order", "options"]


def options() -> dict[str, Any]:
    """Keyword arguments of `gssbo.Optimizer` that make it VecchiaBO."""
    return {"surrogate": VecchiaProcess(**surrogate_options())}


def max_min_order(X: FloatArray, lengthscale: FloatArray) -> IndexArray:
    """Order (n,) of X (n, d): the first, then always the one farthest from its nearest predecessor, in lengthscales.

    Examples
    --------
    >>> max_min_order(np.array([[0.0], [0.1], [0.4], [1.0]]), np.ones(1))
    array([0, 3, 2, 1])
    """
    order = np.empty(len(X), dtype=np.intp)
    # Distances in units of the largest: where the kernel would be 0 to rounding all look equally far.
    diameter = float(np.sqrt(np.sum((np.ptp(X, axis=0) / lengthscale) ** 2))) or 1.0
    _select.farthest_kernel(KERNELS["rbf"], X, lengthscale * diameter, 1.0, np.empty(0, dtype=np.intp), order)
    return order


class Conditionals:
    """Some of the conditionals log p(z_i | z_c(i)) of a sequence of observations; see `gssbo._mle.Hill`.

    Parameters
    ----------
    kind : int
        Number of the kernel in the compiled core.
    X : ndarray of shape (n, d)
        Inputs in the order of the approximation.
    z : ndarray of shape (n,)
    terms : ndarray of int, shape (b,)
        Positions i in the order.
    sets : ndarray of int, shape (b, m)
        Positions c(i), all before i; -1 in the place of those there are not.
    known : ndarray of shape (n,)
        Known noise variances.
    """

    def __init__(
        self, kind: int, X: FloatArray, z: FloatArray, terms: IndexArray, sets: IndexArray, known: FloatArray
    ) -> None:
        self.kind, self.X, self.z, self.terms, self.sets, self.known = kind, X, z, terms, sets, known
        self.weight = len(z) / len(terms)
        self.work = np.zeros(_vecchia.work_size(X.shape[1], sets.shape[1]))
        self.n_evaluations, self.threads, self.curved = 0, 1, False

    @classmethod
    def among(
        cls,
        kind: int,
        X: FloatArray,
        z: FloatArray,
        *,
        lengthscale: FloatArray,
        m: int,
        terms: IndexArray,
        known: FloatArray | None = None,
    ) -> Conditionals:
        """The terms of X (n, d) in max-min order with their m nearest predecessors, by the given lengthscales."""
        order = max_min_order(X, lengthscale)
        ordered = np.ascontiguousarray(X[order])
        sets = np.empty((len(terms), m), dtype=np.intp)
        _neighbours.before(ordered, lengthscale, terms, sets)
        return cls(kind, ordered, z[order], terms, sets, np.zeros(len(z)) if known is None else known[order])

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Their sum times n / b, and its gradient (d + 2,); NaN where a block is not positive definite in doubles."""
        self.n_evaluations += 1
        gradient = np.zeros(len(theta))
        value = _vecchia.log_likelihood(
            self.kind, self.X, self.z, self.known, self.terms, self.sets, self.weight, theta, self.work, gradient
        )
        return value, gradient

    def climb(
        self,
        limits: tuple[FloatArray, FloatArray, FloatArray],
        prior: Prior,
        tol: float,
        max_evaluations: int,
        state: FloatArray,
        theta: FloatArray,
    ) -> tuple[float, int, int]:
        """See `gssbo._mle.Hill`."""
        return _vecchia.climb(
            self.kind, self.X, self.z, self.known, self.terms, self.sets, self.weight, *limits, prior.centre,
            prior.weight, tol, max_evaluations, self.work, state, theta,
        )  # fmt: skip

    def twin(self) -> Conditionals:
        """The same with a workspace and a count of its own."""
        return Conditionals(self.kind, self.X, self.z, self.terms, self.sets, self.known)


class VecchiaProcess(Regressor):
    """Vecchia's approximation of a Gaussian process.

    It is the exact process where the conditioning sets hold everything: up to 19 observations by default.

    Parameters
    ----------
    kernel : {"matern52", "matern32", "rbf"}
    n_neighbours : int, optional
        m; default 7.2 log10(n)^2 rounded up.
    n_terms : int
        b.
    **settings
        As for `gssbo.GaussianProcess`.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((300, 2))
    >>> model = VecchiaProcess(rng=0).fit(X, np.sin(6 * X[:, 0]) + X[:, 1])
    >>> bool(abs(model.predict([[0.5, 0.5]])[0] - (np.sin(3.0) + 0.5)) < 0.01)
    True
    """

    def __init__(
        self, kernel: str = "matern52", *, n_neighbours: int | None = None, n_terms: int = 256, **settings: Any
    ) -> None:
        super().__init__(kernel, **settings)
        self.n_neighbours = None if n_neighbours is None else check_integer("n_neighbours", n_neighbours, at_least=1)
        self.n_terms = check_integer("n_terms", n_terms, at_least=1)

    def conditioning_size(self, n: int) -> int:
        """Return m for n observations, at most n.

        Examples
        --------
        >>> [VecchiaProcess().conditioning_size(n) for n in (1, 10, 100, 1000)]
        [1, 8, 29, 65]
        """
        m = int(np.ceil(7.2 * np.log10(n) ** 2)) if self.n_neighbours is None else self.n_neighbours
        return min(max(m, 1), n)

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
        z, mean, std, known = self.standardized(y, noise_std)
        hill = partial(self._conditionals, X, z, known, self.rng if rng is None else rng)
        theta, info = self._search(X, z, hill, optimize=optimize, rng=rng)
        self.X_train_, self.y_train_, self.known_noise_, self.theta_ = X, z, known, theta
        self.kernel_, self.noise_ = self._adopt(theta)
        self.fit_info_ = info
        self.y_mean_, self.y_std_ = mean, std

    def _conditionals(self, X: FloatArray, z: FloatArray, known: FloatArray, rng: np.random.Generator) -> Conditionals:
        n, d = X.shape
        terms = np.arange(n) if n <= self.n_terms else np.sort(rng.choice(n, self.n_terms, replace=False))
        lengthscale = np.exp(self._start(X)[:d])
        return Conditionals.among(
            KERNELS[self.kernel],
            X,
            z,
            lengthscale=lengthscale,
            m=self.conditioning_size(n),
            terms=terms.astype(np.intp),
            known=known,
        )

    def posterior(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (m,) in units of z, each point given its nearest observations."""
        mean, variance = np.empty(len(points)), np.empty(len(points))
        m = self.conditioning_size(len(self.X_train_))

        def score(first: int, last: int) -> None:
            _vecchia.posterior(
                self.kernel_.kind, self.X_train_, self.y_train_, self.known_noise_, self.lengthscale_,
                self.variance_, self.noise_, m, points[first:last], mean[first:last], variance[first:last],
            )  # fmt: skip

        self._in_parts(score, len(points))
        return mean, np.sqrt(variance, out=variance)


@fantasize.register(VecchiaProcess)
def _imagine(model: VecchiaProcess, points: FloatArray) -> VecchiaProcess:
    """The model with the points (p, d) among its observations; O(p) beside their means.

    Not quite as if nothing but the standard deviation changed: a point takes a neighbour's place in the sets near it.
    """
    imagined = copy.copy(model)
    imagined.X_train_ = np.vstack([model.X_train_, points])
    imagined.y_train_ = np.append(model.y_train_, model.posterior(np.ascontiguousarray(points))[0])
    imagined.known_noise_ = np.append(model.known_noise_, np.zeros(len(points)))
    return imagined

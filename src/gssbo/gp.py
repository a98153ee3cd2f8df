"""Exact Gaussian-process regression.

Notation
--------
X, y            inputs (n, d) and responses (n,)
z               standardised responses (y - y_mean) / y_std, n in the denominator
theta           log lengthscales (d), log variance, log noise; variance and noise in squared units of z
known           known noise variances (n,), in squared units of z
K_y             k(X, X) + noise I + diag(known) = U^T U; alpha = K_y^-1 z
mean, std       posterior of the latent function, noise not included

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, appendix B.
2. Rasmussen and Williams, Gaussian Processes for Machine Learning, MIT Press 2006, algorithm 2.1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from gssbo._core import _gp, _linalg
from gssbo._mle import Likelihood, maximize_likelihood
from gssbo._parallel import run_all
from gssbo._typing import ArrayLike, FloatArray, RngLike
from gssbo._validation import (
    as_generator,
    check_choice,
    check_flag,
    check_integer,
    check_interval,
    check_matrix,
    check_real,
    check_vector,
)
from gssbo.exceptions import NotFittedError
from gssbo.kernels import KERNELS, Kernel
from gssbo.responses import standardize, without_gaps

__all__ = ["GaussianProcess", "standardize", "without_gaps"]

MOST_NOISE = 1e12  # in squared units of z: an observation as uncertain as this says nothing
SHARE = 512  # candidates below which a thread of their own does not pay
REACH = 1.5  # in sqrt(d) times a column's spread: a lengthscale beyond it says that the parameter hardly matters


class GaussianProcess:
    """Gaussian-process regression with maximum-likelihood hyperparameters.

    Follows scikit-learn's conventions without depending on it.

    Parameters
    ----------
    kernel : {"matern52", "matern32", "rbf"}
        All with one lengthscale a dimension.
    lengthscale : float or array of shape (d,), optional
        Start of the search, or the value used when `fit_hyperparameters` is False. Default: half the square root
        of d times each column's spread.
    variance, noise : float
        Signal and noise variance, likewise, in squared units of the standardised responses.
    fit_hyperparameters : bool
        Whether `fit` maximises the likelihood.
    normalize_y : bool
        Whether responses are standardised to mean 0 and standard deviation 1 before fitting.
    n_restarts : int
        Starts besides the first: at random, but for one from the constructor's values after a warm start.
    lengthscale_bounds : (low, high), optional
        Search bounds, the same for every dimension. Default: (1e-3, 1e3) times each column's spread.
    variance_bounds, noise_bounds : (low, high)
        Search bounds. The lower end of `noise_bounds` is the noise floor.
    warm_start : bool
        Whether `fit` starts from the hyperparameters of the previous fit.
    tol : float
        Relative change of the likelihood at which the search ends; 1e-6 is enough where fits follow one another.
    threads : int
        Threads for the restarts and for predictions at many points; the results do not depend on it.
    rng : None, int or numpy.random.Generator
        Source of the restarts and of `sample_y`.

    Attributes
    ----------
    X_train_ : ndarray of shape (n, d)
    y_train_ : ndarray of shape (n,)
        Standardised responses z.
    y_mean_, y_std_ : float
    known_noise_ : ndarray of shape (n,)
        Known noise variances, in squared units of z; they come on top of `noise_`.
    lengthscale_ : ndarray of shape (d,)
    variance_, noise_ : float
    theta_ : ndarray of shape (d + 2,)
    alpha_ : ndarray of shape (n,)
    log_marginal_likelihood_value_ : float
        Of the standardised responses, in nats.
    fit_info_ : dict
        `status` ("converged", "fixed", "constant" for responses that are all equal, "failed" when the search
        reached no finite likelihood and the last good hyperparameters stand), `message`, `n_evaluations`,
        `n_starts`, `jitter` (added to the diagonal of K_y, 0 unless it was needed).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.linspace(0.0, 1.0, 12)[:, None]
    >>> gp = GaussianProcess(rng=0).fit(X, np.sin(6.0 * X[:, 0]))
    >>> mean, std = gp.predict([[0.5]], return_std=True)
    >>> bool(abs(mean[0] - np.sin(3.0)) < 0.01)
    True
    """

    def __init__(
        self,
        kernel: str = "matern52",
        *,
        lengthscale: ArrayLike | None = None,
        variance: float = 1.0,
        noise: float = 1e-2,
        fit_hyperparameters: bool = True,
        normalize_y: bool = True,
        n_restarts: int = 2,
        lengthscale_bounds: ArrayLike | None = None,
        variance_bounds: ArrayLike = (1e-4, 1e4),
        noise_bounds: ArrayLike = (1e-6, 1e1),
        warm_start: bool = False,
        tol: float = 2.2e-9,
        threads: int = 1,
        rng: RngLike = None,
    ) -> None:
        self.kernel = check_choice("kernel", kernel, KERNELS)
        self.lengthscale = None if lengthscale is None else _check_lengthscale(lengthscale)
        self.variance = check_real("variance", variance, above=0.0)
        self.fit_hyperparameters = check_flag("fit_hyperparameters", fit_hyperparameters)
        self.noise = check_real("noise", noise, at_least=0.0)
        self.normalize_y = check_flag("normalize_y", normalize_y)
        self.n_restarts = check_integer("n_restarts", n_restarts, at_least=0)
        self.lengthscale_bounds = (
            None if lengthscale_bounds is None else check_interval("lengthscale_bounds", lengthscale_bounds, above=0.0)
        )
        self.variance_bounds = check_interval("variance_bounds", variance_bounds, above=0.0)
        self.noise_bounds = check_interval("noise_bounds", noise_bounds, above=0.0)
        self.warm_start = check_flag("warm_start", warm_start)
        self.tol = check_real("tol", tol, above=0.0)
        self.threads = check_integer("threads", threads, at_least=1)
        self.rng = as_generator("rng", rng)

    def __repr__(self) -> str:
        if not self.fitted:
            return f"GaussianProcess({self.kernel!r}, not fitted)"
        lengthscales = np.array2string(self.lengthscale_, precision=3, threshold=6)
        return (
            f"GaussianProcess({self.kernel!r}, n={len(self.X_train_)}, lengthscale={lengthscales}, "
            f"variance={self.variance_:.3g}, noise={self.noise_:.3g})"
        )

    # ---- fitting

    def fit(self, X: ArrayLike, y: ArrayLike, *, noise_std: ArrayLike | None = None) -> GaussianProcess:
        """Condition on observations, and fit the hyperparameters unless they are fixed.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,)
        noise_std : array of shape (n,), optional
            Known standard deviations of the noise of y, in its units, beyond the noise that is the same everywhere.

        Returns
        -------
        GaussianProcess
            Itself.

        Raises
        ------
        ValueError
            If X or y has the wrong shape or an entry that is not finite; a previous fit is left as it was.
        """
        inputs = check_matrix("X", X)
        responses = check_vector("y", y, size=len(inputs))
        if self.lengthscale is not None and self.lengthscale.size not in (1, inputs.shape[1]):
            raise ValueError(
                f"lengthscale must be one number or one a column of X ({inputs.shape[1]}), got {self.lengthscale.size}"
            )
        noise = None if noise_std is None else check_vector("noise_std", noise_std, size=len(inputs))
        if noise is not None and (noise < 0.0).any():
            raise ValueError(f"noise_std must be at least 0, got {noise.min()}")
        self.condition(inputs, responses, optimize=self.fit_hyperparameters, noise_std=noise)
        return self

    def condition(
        self,
        X: FloatArray,
        y: FloatArray,
        *,
        optimize: bool,
        rng: np.random.Generator | None = None,
        noise_std: FloatArray | None = None,
    ) -> None:
        """`fit` without the checks, for callers in this package; `optimize` says whether theta is searched for.

        NaN among y stands for evaluations that failed, see `standardize`.
        """
        z, mean, std = standardize(y) if self.normalize_y else (without_gaps(y), 0.0, 1.0)
        with np.errstate(over="ignore"):
            known = None if noise_std is None else np.minimum((noise_std / std) ** 2, MOST_NOISE)
        start = self._start(X)
        info: dict[str, Any] = {"status": "fixed", "message": "", "n_evaluations": 0, "n_starts": 0}
        theta = start
        if optimize and not np.any(z):
            bounds = np.log(self._bounds(X))
            theta = np.clip(start, bounds[:, 0], bounds[:, 1])
            info.update(status="constant", message="all responses are equal: the likelihood says nothing")
        elif optimize:
            bounds = np.log(self._bounds(X))
            starts = self._starts(X, start, bounds, self.rng if rng is None else rng)
            found = maximize_likelihood(
                Likelihood(KERNELS[self.kernel], X, z, known),
                starts,
                bounds,
                np.log(REACH * np.sqrt(X.shape[1]) * _spread(X)),
                tol=self.tol,
                threads=self.threads,
            )
            info.update(n_evaluations=found.n_evaluations, n_starts=found.n_starts, message=found.message)
            info["status"] = "converged" if found.success else "failed"
            last = self.theta_ if self.fitted and len(self.theta_) == len(start) else start
            theta = found.theta if found.success else np.clip(last, bounds[:, 0], bounds[:, 1])
        self._factorize(X, z, theta, info, known)
        self.y_mean_, self.y_std_ = mean, std

    def _factorize(
        self, X: FloatArray, z: FloatArray, theta: FloatArray, info: dict[str, Any], known: FloatArray | None = None
    ) -> None:
        n, d = X.shape
        parameters = np.exp(theta)
        kernel = Kernel(self.kernel, parameters[:d].copy(), float(parameters[d]))
        noise = float(parameters[d + 1])
        known = np.zeros(n) if known is None else known
        U, alpha = np.zeros((n, _linalg.padded(n))), np.empty(n)
        for jitter in kernel.jitters():
            value = _gp.fit(kernel.kind, X, z, kernel.lengthscale, kernel.variance, noise + jitter, known, U, alpha)
            if not np.isnan(value):  # -inf only says that the squares of huge responses overflow
                break
        else:
            raise np.linalg.LinAlgError(f"the covariance of {n} points is not positive definite with {kernel!r}")
        self.X_train_, self.y_train_ = X, z
        self.kernel_, self.noise_, self.known_noise_ = kernel, noise, known
        self.lengthscale_, self.variance_ = kernel.lengthscale, kernel.variance
        self.theta_ = theta
        self.alpha_, self._U = alpha, U
        self.log_marginal_likelihood_value_ = float(value)
        self.fit_info_ = {**info, "jitter": jitter}

    def _start(self, X: FloatArray) -> FloatArray:
        """First theta: the previous fit's under a warm start, else the constructor's."""
        d = X.shape[1]
        if self.warm_start and self.fitted and len(self.theta_) == d + 2:
            return self.theta_
        return self._cold_start(X)

    def _cold_start(self, X: FloatArray) -> FloatArray:
        d = X.shape[1]
        if self.lengthscale is None:
            lengthscale = 0.5 * np.sqrt(d) * _spread(X)
        else:
            lengthscale = np.broadcast_to(self.lengthscale, (d,))
        with np.errstate(divide="ignore"):
            theta: FloatArray = np.log(np.concatenate([lengthscale, [self.variance, self.noise]]))
        return theta

    def _bounds(self, X: FloatArray) -> FloatArray:
        d = X.shape[1]
        if self.lengthscale_bounds is None:
            rows = np.outer(_spread(X), [1e-3, 1e3])
        else:
            rows = np.tile(self.lengthscale_bounds, (d, 1))
        return np.vstack([rows, self.variance_bounds, self.noise_bounds])

    def _starts(self, X: FloatArray, first: FloatArray, bounds: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Return `first` and the restarts (n_restarts + 1, d + 2).

        After a warm start the first restart is the constructor's, and `first` moves halfway towards it: a chain of
        warm starts alone stays in whatever maximum it once fell into. The others are drawn from what is plausible on
        standardised data. Lengthscales are drawn around one of them: independent ones are all wrong together where
        there are many.
        """
        d = X.shape[1]
        size = np.log(np.sqrt(d) * _spread(X))
        u, jitter = rng.random((self.n_restarts, 3)), rng.standard_normal((self.n_restarts, d))
        restarts: FloatArray = np.column_stack(
            [
                size + np.log(0.3) + np.log(10.0) * u[:, :1] + 0.3 * jitter,
                np.log(0.3) + np.log(10.0) * u[:, 1],
                np.log(1e-4) + np.log(3e3) * u[:, 2],
            ]
        )
        if self.n_restarts and self.warm_start and self.fitted:
            restarts[0] = self._cold_start(X)
            first = np.append(np.minimum(first[:d], size + np.log(REACH)), first[d:])
            first = 0.5 * (first + np.clip(restarts[0], bounds[:, 0], bounds[:, 1]))
        return np.clip(np.vstack([first, restarts]), bounds[:, 0], bounds[:, 1])

    def forget(self) -> None:
        """Drop everything `fit` left; the constructor's arguments stay."""
        for name in [name for name in vars(self) if name.endswith("_") or name == "_U"]:
            delattr(self, name)

    @property
    def fitted(self) -> bool:
        """Whether `fit` has been called."""
        return hasattr(self, "alpha_")

    def _require_fit(self) -> None:
        if not self.fitted:
            raise NotFittedError("this GaussianProcess is not fitted: call fit(X, y) first")

    # ---- posterior

    def predict(
        self, X: ArrayLike, return_std: bool = False, return_cov: bool = False
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Posterior mean of the latent function, with its standard deviation or covariance.

        Parameters
        ----------
        X : array of shape (m, d)
        return_std, return_cov : bool
            At most one of them.

        Returns
        -------
        mean : ndarray of shape (m,), in units of y
        std : ndarray of shape (m,), in units of y, if `return_std`
        cov : ndarray of shape (m, m), in squared units of y, if `return_cov`

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If X has the wrong shape or is not finite, or both std and covariance are asked for.
        """
        self._require_fit()
        if return_std and return_cov:
            raise ValueError("at most one of return_std and return_cov may be True")
        points = check_matrix("X", X, columns=self.X_train_.shape[1])
        mean, std = self.posterior(points)
        mean = self.y_mean_ + self.y_std_ * mean
        if return_std:
            return mean, self.y_std_ * std
        if return_cov:
            with np.errstate(over="ignore", under="ignore"):  # beyond doubles the covariance is inf or 0
                return mean, self.y_std_ * (self.y_std_ * self._posterior_covariance(points))
        return mean

    def posterior(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (m,) of the latent function in units of z, without checks.

        Memory does not grow with m beyond the outputs.
        """
        mean, variance = np.empty(len(points)), np.empty(len(points))

        def score(first: int, last: int) -> None:
            _gp.posterior(
                self.kernel_.kind, self.X_train_, self.lengthscale_, self.variance_, self._U, self.alpha_,
                points[first:last], mean[first:last], variance[first:last],
            )  # fmt: skip

        self._in_parts(score, len(points))
        return mean, np.sqrt(variance, out=variance)

    def posterior_bound(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean (m,), and an upper bound on the standard deviation (m,), in units of z, without checks.

        The bound is the standard deviation given the closest observation alone; it saves the triangular solve, half
        of the work of `posterior`.
        """
        mean, closest = np.empty(len(points)), np.empty(len(points))

        def score(first: int, last: int) -> None:
            _gp.posterior_mean(
                self.kernel_.kind, self.X_train_, self.lengthscale_, self.variance_, self.alpha_, points[first:last],
                mean[first:last], closest[first:last],
            )  # fmt: skip

        self._in_parts(score, len(points))
        # The slack covers the rounding of an exact variance from an ill-conditioned K_y.
        known = (1.0 - 1e-6) / (self.variance_ + self.noise_ + self.fit_info_["jitter"])
        return mean, np.sqrt(np.maximum(self.variance_ - known * closest * closest, 0.0))

    def _in_parts(self, score: Callable[[int, int], None], m: int) -> None:
        """Call `score(first, last)` on parts of m candidates, one a thread."""
        n_parts = min(self.threads, max(m // SHARE, 1))
        edges = np.linspace(0, m, n_parts + 1).astype(int)
        run_all([partial(score, *part) for part in pairwise(edges)], self.threads)

    def solve(self, v: FloatArray) -> FloatArray:
        """K_y^-1 v for v (n,), from the factor at hand."""
        n = len(self.X_train_)
        column = np.zeros((n, _linalg.padded(1)))
        column[:, 0] = v
        _linalg.solve_transposed(n, 1, self._U, column)
        _linalg.solve(n, 1, self._U, column)
        return column[:, 0].copy()

    def predict_gradient(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Gradients in x of the posterior mean and of the posterior standard deviation.

        Returns
        -------
        dmean, dstd : ndarray of shape (m, d), in units of y over units of x
            `dstd` is 0 where the standard deviation is 0.
        """
        self._require_fit()
        points = check_matrix("X", X, columns=self.X_train_.shape[1])
        dmean, dvariance = np.empty_like(points), np.empty_like(points)
        _gp.posterior_gradient(
            self.kernel_.kind, self.X_train_, self.lengthscale_, self.variance_, self._U, self.alpha_, points,
            dmean, dvariance,
        )  # fmt: skip
        std = self.posterior(points)[1][:, None]
        dstd = np.divide(dvariance, 2.0 * std, out=np.zeros_like(dvariance), where=std > 0.0)
        return self.y_std_ * dmean, self.y_std_ * dstd

    def sample_y(self, X: ArrayLike, n_samples: int = 1, rng: RngLike = None) -> FloatArray:
        """Joint draws of the latent function at X (m, d): shape (m, n_samples), in units of y; O(m^3)."""
        self._require_fit()
        points = check_matrix("X", X, columns=self.X_train_.shape[1])
        count = check_integer("n_samples", n_samples, at_least=1)
        generator = self.rng if rng is None else as_generator("rng", rng)
        m = len(points)
        mean, _ = self.posterior(points)
        covariance = np.zeros((m, _linalg.padded(m)))
        covariance[:, :m] = self._posterior_covariance(points)
        for jitter in self.kernel_.jitters():
            factor = covariance.copy()
            factor[np.diag_indices(m)] += jitter
            if _linalg.cholesky(m, factor) == 0:
                break
        draws = np.zeros((m, _linalg.padded(count)))
        normal = np.zeros_like(draws)
        normal[:, :count] = generator.standard_normal((m, count))
        _linalg.subtract_product(m, count, m, np.triu(factor), normal, draws)
        return self.y_mean_ + self.y_std_ * (mean[:, None] - draws[:, :count])

    def _posterior_covariance(self, points: FloatArray) -> FloatArray:
        """Latent covariance (m, m) in squared units of z: k(x, x') - v.v', v = solve(U.T, k(X, x))."""
        n, m = len(self.X_train_), len(points)
        V = np.zeros((n, _linalg.padded(m)))
        V[:, :m] = self.kernel_(self.X_train_, points)
        _linalg.solve_transposed(n, m, self._U, V)
        covariance = self.kernel_.padded_gram(points, 0.0)
        _linalg.subtract_product(m, m, n, V, V, covariance)
        upper = np.triu(covariance[:, :m])
        full: FloatArray = upper + np.triu(upper, 1).T
        diagonal = np.diag_indices(m)
        full[diagonal] = np.maximum(full[diagonal], 0.0)
        return full

    # ---- likelihood

    def log_marginal_likelihood(
        self, theta: ArrayLike | None = None, eval_gradient: bool = False
    ) -> float | tuple[float, FloatArray]:
        """Log marginal likelihood of the standardised responses, equation 2 of [1].

        Parameters
        ----------
        theta : array of shape (d + 2,), optional
            Log lengthscales, log variance, log noise; default: the fitted ones.
        eval_gradient : bool
            Whether to return the gradient in theta too.

        Returns
        -------
        value : float, in nats; -inf where the covariance is not positive definite in doubles
        gradient : ndarray of shape (d + 2,), if `eval_gradient`
        """
        self._require_fit()
        d = self.X_train_.shape[1]
        if theta is None:
            parameters = self.theta_
        else:
            parameters = np.asarray(theta, dtype=np.float64)
            if parameters.shape != (d + 2,) or np.isnan(parameters).any():
                raise ValueError(f"theta must have shape ({d + 2},) and no NaN, got {theta!r}")
        value, gradient = Likelihood(KERNELS[self.kernel], self.X_train_, self.y_train_, self.known_noise_)(parameters)
        if np.isnan(value):
            value, gradient = -np.inf, np.zeros(d + 2)
        return (value, gradient) if eval_gradient else value


def _check_lengthscale(value: ArrayLike) -> FloatArray:
    lengthscale = check_vector("lengthscale", np.atleast_1d(np.asarray(value, dtype=object)))
    if lengthscale.size == 0 or not (lengthscale > 0.0).all():
        raise ValueError(f"lengthscale must be positive, got {lengthscale.tolist()}")
    return lengthscale


def _spread(X: FloatArray) -> FloatArray:
    """Largest minus smallest of each column, 1 where they are equal."""
    spread: FloatArray = np.ptp(X, axis=0)
    return np.where(spread > 0.0, spread, 1.0)

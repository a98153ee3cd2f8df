"""Exact Gaussian-process regression.

Notation
--------
X, y            inputs (n, d) and responses (n,)
z               standardised responses (y - y_mean) / y_std, n in the denominator
theta           log lengthscales (d), log variance, log noise; variance and noise in squared units of z
known           known noise variances (n,), in squared units of z
K_y             k(X, X) + noise diag(noise_factors) + diag(known) = U^T U; alpha = K_y^-1 z
mean, std       posterior of the latent function, noise not included

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, appendix B.
2. Rasmussen and Williams, Gaussian Processes for Machine Learning, MIT Press 2006, algorithm 2.1.
3. Gilmour, Thompson and Cullis, Average information REML: an efficient algorithm for variance parameter estimation in
   linear mixed models, Biometrics 51, 1995.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from gssbo._arithmetic import all_in_own_arithmetic
from gssbo._core import _gp, _linalg, _posterior
from gssbo._mle import Likelihood
from gssbo._text import brief
from gssbo._typing import ArrayLike, FloatArray, RngLike
from gssbo._validation import as_generator, check_array, check_flag, check_integer, check_vector
from gssbo.factor import backward, forward, symmetric
from gssbo.joint import draw, predict
from gssbo.kernels import KERNELS
from gssbo.padded import aligned, padded_copy, padded_zeros
from gssbo.regressor import FIXED, Regressor

__all__ = ["GaussianProcess"]

SMALL = 900  # a power of two: gradients over lengthscales below its inverse come close to the largest double
LARGE = 500  # another: the inverse squares of lengthscales above it come close to the smallest double


@all_in_own_arithmetic
class GaussianProcess(Regressor):
    """Gaussian-process regression with maximum-likelihood hyperparameters.

    Follows scikit-learn's conventions without depending on it. The likelihood is climbed by limited-memory BFGS within
    bounds, with the average information as its curvature [3].

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
        Whether responses are standardised to mean 0 and standard deviation 1 before fitting. Others must be at most
        1e280 in size; in an optimizer they count as that large.
    n_restarts : int
        Starts besides the first: short lengthscales and much noise, long ones and little, after a warm start the
        constructor's values, the others at random.
    lengthscale_bounds : (low, high), optional
        Search bounds, the same for every dimension. Default: (1e-3, 1e3) times each column's spread.
    variance_bounds, noise_bounds : (low, high)
        Search bounds. The lower end of `noise_bounds` is the noise floor.
    warm_start : bool
        Whether `fit` starts from the hyperparameters of the previous fit.
    tol : float
        Relative change of the likelihood at which the search ends; 1e-6 is enough where fits follow one another.
    threads : int
        Threads for the restarts, for likelihoods of more than 256 observations and for predictions at many points; the
        results do not depend on it.
    rng : None, int or numpy.random.Generator
        Source of the restarts and of `sample_y`.

    Attributes
    ----------
    feature_names_in_ : tuple of str, or None
        Names of the columns, where `fit` was given a data frame: later ones are read by them.
    X_train_ : ndarray of shape (n, d)
    y_train_ : ndarray of shape (n,)
        Standardised responses z.
    y_mean_, y_std_ : float
    noise_factors_ : ndarray of shape (n,)
        What `noise_` is multiplied by for each observation.
    known_noise_ : ndarray of shape (n,)
        Known noise variances, in squared units of z; they come on top of `noise_`.
    lengthscale_ : ndarray of shape (d,)
    variance_, noise_ : float
    theta_ : ndarray of shape (d + 2,)
    U_ : ndarray of shape (n, ld)
        Padded, ld >= n; what stands below the diagonal is scratch.
    alpha_ : ndarray of shape (n,)
    n_imagined_ : int
        How many of the last of `X_train_` are pending points, see `gssbo.fantasy`.
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

    # ---- fitting

    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        *,
        noise_std: ArrayLike | None = None,
        noise_factors: ArrayLike | None = None,
    ) -> Self:
        """Condition on observations, and fit the hyperparameters unless they are fixed.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,) or (n, 1)
        noise_std : array of shape (n,) or (n, 1), optional
            Known standard deviations of the noise of y, in its units, beyond the noise that is fitted.
        noise_factors : array of shape (n,) or (n, 1), optional
            Positive; the fitted noise variance of observation i is `noise` times noise_factors[i]. An average of c
            repeated measurements has 1/c. Default 1.

        Returns
        -------
        GaussianProcess
            Itself.

        Raises
        ------
        ValueError
            If an array has the wrong shape, an entry that is not finite, a noise that is negative, or a column of X
            that spreads over more than 1e300; a previous fit is left as it was.
        """
        inputs, responses, noise = self._checked(X, y, noise_std)
        factors = None
        if noise_factors is not None:
            factors = check_vector("noise_factors", noise_factors, size=len(inputs), column=True)
            if not (factors > 0.0).all():
                raise ValueError(f"noise_factors must be positive, got {factors.min()}")
        self.condition(
            inputs, responses, optimize=self.fit_hyperparameters, noise_std=noise, noise_factors=factors, race=False
        )
        self._note_names(X)
        return self

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
        """`fit` without the checks, for callers in this package; `optimize` says whether theta is searched for.

        NaN among y stands for evaluations that failed, see `responses.standardize`. With `race`, starts of the search
        that are behind after some steps are dropped: for loops, where one fit follows another.
        """
        factors = np.ones(len(y)) if noise_factors is None else noise_factors
        z, mean, std, known = self.standardized(y, noise_std)
        hill = partial(Likelihood, KERNELS[self.kernel], X, z, known, factors, curved=True)
        theta, info = self._search(X, z, hill, optimize=optimize, rng=rng, race=race)
        self.set_theta(X, z, theta, known, factors, scale=(mean, std), info=info)

    def set_theta(
        self,
        X: FloatArray,
        z: FloatArray,
        theta: FloatArray,
        known: FloatArray | None = None,
        factors: FloatArray | None = None,
        *,
        scale: tuple[float, float] = (0.0, 1.0),
        info: Mapping[str, Any] = FIXED,
    ) -> None:
        """Condition on X (n, d) and z (n,) under a theta, without checks and without a search.

        Parameters
        ----------
        known, factors : ndarray of shape (n,), optional
            Known noise variances, and what the noise in theta is multiplied by; default 0 and 1.
        scale : (float, float)
            Mean and standard deviation of the responses that z are standardised from.
        info : mapping
            `fit_info_` but for the jitter.
        """
        n = len(X)
        kernel, noise = self._adopt(theta)
        known = np.zeros(n) if known is None else known
        factors = np.ones(n) if factors is None else factors
        U, alpha = padded_zeros(n, n), aligned(n)
        for jitter in kernel.jitters(n):
            diagonal = noise * factors + jitter + known
            value = _gp.fit(kernel.kind, X, z, kernel.lengthscale, kernel.variance, diagonal, U, alpha)
            if not np.isnan(value):  # -inf only says that the squares of huge responses overflow
                break
        self.X_train_, self.y_train_ = X, z
        self.noise_factors_, self.known_noise_ = factors, known
        self.kernel_, self.noise_, self.theta_ = kernel, noise, theta
        self.alpha_, self.U_, self.n_imagined_ = alpha, U, 0
        self.y_mean_, self.y_std_ = scale
        self.log_marginal_likelihood_value_ = float(value)
        self.fit_info_ = {**info, "jitter": jitter}

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
            If X has the wrong shape or is not finite, a flag is none, or both std and covariance are asked for.
        """
        points = self.check_points(X)
        return predict(self, points, return_std, return_cov)

    def posterior(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (m,) of the latent function in units of z, without checks.

        Memory does not grow with m beyond the outputs.
        """
        mean, variance = np.empty(len(points)), np.empty(len(points))

        def score(first: int, last: int) -> None:
            _posterior.posterior(
                self.kernel_.kind, self.X_train_, self.lengthscale_, self.variance_, self.U_, self.alpha_,
                points[first:last], mean[first:last], variance[first:last],
            )  # fmt: skip

        self._in_parts(score, len(points))
        return mean, np.sqrt(variance, out=variance)

    def posterior_bound(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Upper bounds on mean and standard deviation (m,), in units of z, without checks.

        The second is the standard deviation given the closest observation alone. It saves the triangular solve, and
        most of it is done in single precision: a fifth of the work of `posterior`.
        """
        mean, std = np.empty(len(points)), np.empty(len(points))
        # Which observation is the closest is not known here: it may be the noisiest. The slack covers the rounding of
        # an exact variance from an ill-conditioned K_y.
        noise = float((self.noise_ * self.noise_factors_ + self.known_noise_).max())
        diagonal = self.variance_ + noise + self.fit_info_["jitter"]
        share = (1.0 - 1e-6) / diagonal if diagonal > 1e-300 else 0.0
        tolerance = 0.1 * float(np.abs(self.y_train_).mean())  # scores that differ by more are common

        def score(first: int, last: int) -> None:
            _posterior.posterior_bound(
                self.kernel_.kind, self.X_train_, self.lengthscale_, self.variance_, share, self.alpha_,
                points[first:last], tolerance, mean[first:last], std[first:last],
            )  # fmt: skip

        self._in_parts(score, len(points))
        return mean, std

    def solve(self, v: FloatArray) -> FloatArray:
        """K_y^-1 v for v (n,), from the factor at hand."""
        return backward(self.U_, forward(self.U_, v))

    def predict_gradient(self, X: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Gradients in x of the posterior mean and of the posterior standard deviation.

        Returns
        -------
        dmean, dstd : ndarray of shape (m, d), in units of y over units of x
            Infinite where that is beyond doubles; `dstd` is 0 where the standard deviation is 0.
        """
        points = self.check_points(X)
        units = _units(self.lengthscale_, self.X_train_, points)
        X, lengthscale, at = (np.ldexp(each, units) for each in (self.X_train_, self.lengthscale_, points))
        dmean, dvariance = np.empty_like(points), np.empty_like(points)
        _posterior.posterior_gradient(
            self.kernel_.kind, X, lengthscale, self.variance_, self.U_, self.alpha_, at, dmean, dvariance
        )
        std = self.posterior(points)[1][:, None]
        dstd = np.divide(dvariance, 2.0 * std, out=np.zeros_like(dvariance), where=std > 0.0)
        share, power = np.frexp(self.y_std_)  # one rounding: where one is beyond doubles, both together may not be
        with np.errstate(over="ignore", under="ignore"):
            return np.ldexp(dmean * share, units + power), np.ldexp(dstd * share, units + power)

    def sample_y(self, X: ArrayLike, n_samples: int = 1, rng: RngLike = None) -> FloatArray:
        """Joint draws of the latent function at X (m, d): shape (m, n_samples), in units of y; O(m^3)."""
        points = self.check_points(X)
        count = check_integer("n_samples", n_samples, at_least=1)
        generator = self.rng if rng is None else as_generator("rng", rng)
        return draw(self, points, count, generator)

    def posterior_covariance(self, points: FloatArray) -> FloatArray:
        """Latent covariance (m, m) in squared units of z: k(x, x') - v.v', v = solve(U.T, k(X, x))."""
        n, m = len(self.X_train_), len(points)
        V = padded_copy(self.kernel_(self.X_train_, points))
        _linalg.solve_transposed(n, m, self.U_, V)
        covariance = self.kernel_.padded_gram(points, 0.0)
        _linalg.subtract_product(m, m, n, V, V, covariance)
        return symmetric(covariance[:, :m])

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
        value : float, in nats; -inf where the covariance is not positive definite in doubles, or squares of responses
            that are not standardised are beyond them
        gradient : ndarray of shape (d + 2,), if `eval_gradient`; zeros there

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If theta is no array of such numbers, or `eval_gradient` no flag.
        """
        self._require_fit()
        with_gradient = check_flag("eval_gradient", eval_gradient)
        d = self.X_train_.shape[1]
        if theta is None:
            parameters = self.theta_
        else:
            parameters = check_array("theta", theta)
            if parameters.shape != (d + 2,) or np.isnan(parameters).any():
                raise ValueError(f"theta must have shape ({d + 2},) and no NaN, got {brief(theta)}")
        value, gradient = Likelihood(
            KERNELS[self.kernel], self.X_train_, self.y_train_, self.known_noise_, self.noise_factors_
        )(parameters)
        if not np.isfinite(value):
            value, gradient = -np.inf, np.zeros(d + 2)
        return (value, gradient) if with_gradient else value


def _units(lengthscale: FloatArray, *inputs: FloatArray) -> NDArray[np.int_]:
    """Exponents (d,) of powers of two that bring lengthscales near 1 whose inverse, or its square, may be no double.

    By them nothing loses a bit, but for inputs of 1e-20 and less over lengthscales beyond 1e150. 0 for other
    lengthscales, and where that would take inputs (n, d) beyond doubles.

    Examples
    --------
    >>> _units(np.array([0.5, 1e-308, 1e-308]), np.array([[1.0, 1e-307, 1e200]])).tolist()
    [0, 1023, 0]
    """
    exponents = np.frexp(lengthscale)[1]
    units = np.where(exponents < -SMALL, -exponents, np.where(exponents > LARGE, -np.minimum(exponents, SMALL), 0))
    farthest = np.max([np.abs(each).max(axis=0) for each in inputs], axis=0)
    return np.where(np.frexp(farthest)[1] + units > np.finfo(np.float64).maxexp, 0, units)

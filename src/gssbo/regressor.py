"""What regressions with maximum-likelihood hyperparameters share: settings, and the search.

Notation
--------
X, y            inputs (n, d) and responses (n,)
z               standardised responses (y - y_mean) / y_std, n in the denominator
theta           log lengthscales (d), log variance, log noise; variance and noise in squared units of z
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, Self

import numpy as np

from gssbo._arithmetic import all_in_own_arithmetic
from gssbo._keywords import inherited
from gssbo._mle import Hill, maximize_likelihood
from gssbo._parallel import run_all
from gssbo._typing import ArrayLike, FloatArray, RngLike
from gssbo._validation import (
    as_generator,
    check_choice,
    check_flag,
    check_integer,
    check_interval,
    check_matrix,
    check_noise_std,
    check_real,
    check_vector,
)
from gssbo.kernels import KERNELS, Kernel
from gssbo.standardized import FARTHEST, StandardizedRegression

__all__ = ["FIXED", "Regressor"]

FIXED: dict[str, Any] = {"status": "fixed", "message": "", "n_evaluations": 0, "n_starts": 0}
"""`fit_info_` where theta is given, but for the jitter."""

SHARE = 512  # candidates below which a thread of their own does not pay
MOST_SPREAD = 1e300  # of a column of X: bounds of its lengthscale are multiples of it
MOSTLY_NOISE = 0.15, 1.0  # a start: lengthscales in sqrt(d) times a column's spread, and noise variance
MOSTLY_SIGNAL = 1.0, 1e-4
REACH = 1.5  # in sqrt(d) times a column's spread: a lengthscale beyond it says that the parameter hardly matters


@all_in_own_arithmetic
class Regressor(StandardizedRegression):
    """A regression that fits a kernel and a noise variance by maximum likelihood; subclasses say which likelihood.

    Parameters
    ----------
    kernel, lengthscale, variance, noise, fit_hyperparameters, normalize_y, n_restarts
        As for `GaussianProcess`.
    lengthscale_bounds, variance_bounds, noise_bounds, warm_start, tol, threads, rng
        As for `GaussianProcess`.
    """

    theta_: FloatArray
    kernel_: Kernel

    @inherited
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
            return f"{type(self).__name__}({self.kernel!r}, not fitted)"
        lengthscales = np.array2string(self.lengthscale_, precision=3, threshold=6)
        return (
            f"{type(self).__name__}({self.kernel!r}, n={len(self.X_train_)}, lengthscale={lengthscales}, "
            f"variance={self.variance_:.3g}, noise={self.noise_:.3g})"
        )

    # ---- fitting

    def fit(self, X: ArrayLike, y: ArrayLike, *, noise_std: ArrayLike | None = None) -> Self:
        """Condition on observations X (n, d), y (n,), and fit the hyperparameters unless they are fixed; return itself.

        Raises
        ------
        ValueError
            If an array has the wrong shape or an entry that is not finite; a previous fit is left as it was.
        """
        inputs, responses, noise = self._checked(X, y, noise_std)
        self.condition(inputs, responses, optimize=self.fit_hyperparameters, noise_std=noise)
        self._note_names(X)
        return self

    def _checked(
        self, X: ArrayLike, y: ArrayLike, noise_std: ArrayLike | None
    ) -> tuple[FloatArray, FloatArray, FloatArray | None]:
        inputs = check_matrix("X", X)
        low, high = inputs.min(axis=0), inputs.max(axis=0)
        if (0.5 * high - 0.5 * low > 0.5 * MOST_SPREAD).any():
            column = int(np.argmax(0.5 * high - 0.5 * low))
            raise ValueError(
                f"X must spread over at most {MOST_SPREAD} in each column, got {low[column]} to {high[column]} in "
                f"column {column}"
            )
        responses = check_vector("y", y, size=len(inputs), column=True)
        if not self.normalize_y and np.abs(responses).max() > FARTHEST:
            raise ValueError(
                f"y must lie within -{FARTHEST} and {FARTHEST} with normalize_y=False, got "
                f"{responses[np.argmax(np.abs(responses))]}"
            )
        if self.lengthscale is not None and self.lengthscale.size not in (1, inputs.shape[1]):
            raise ValueError(
                f"lengthscale must be one number or one a column of X ({inputs.shape[1]}), got {self.lengthscale.size}"
            )
        noise = None if noise_std is None else check_noise_std(noise_std, size=len(inputs))
        return inputs, responses, noise

    def _search(
        self,
        X: FloatArray,
        z: FloatArray,
        hill: Callable[[], Hill],
        *,
        optimize: bool,
        rng: np.random.Generator | None,
        race: bool = True,
    ) -> tuple[FloatArray, dict[str, Any]]:
        """Theta, and `fit_info_` but for the jitter; `hill` is called only if there is something to climb.

        `race` is that of `maximize_likelihood`.
        """
        start = self._start(X)
        info = dict(FIXED)
        if not optimize:
            return start, info
        bounds = np.log(self._bounds(X))
        if not np.any(z):
            info.update(status="constant", message="all responses are equal: the likelihood says nothing")
            return np.clip(start, bounds[:, 0], bounds[:, 1]), info
        starts = self._starts(X, start, bounds, self.rng if rng is None else rng)
        reach = np.log(REACH * np.sqrt(X.shape[1]) * _spread(X))
        found = maximize_likelihood(
            hill(), starts, bounds, reach, tol=self.tol, threads=self.threads, race=race, warm=self._warm(X)
        )
        info.update(n_evaluations=found.n_evaluations, n_starts=found.n_starts, message=found.message)
        info["status"] = "converged" if found.success else "failed"
        last = self.theta_ if self.fitted and len(self.theta_) == len(start) else start
        return (found.theta if found.success else np.clip(last, bounds[:, 0], bounds[:, 1])), info

    def _adopt(self, theta: FloatArray) -> tuple[Kernel, float]:
        """Kernel and noise variance of theta."""
        d = len(theta) - 2
        parameters = np.exp(theta)
        return Kernel(self.kernel, parameters[:d].copy(), float(parameters[d])), float(parameters[d + 1])

    def _start(self, X: FloatArray) -> FloatArray:
        """First theta: the previous fit's under a warm start, else the constructor's."""
        return self.theta_ if self._warm(X) else self._cold_start(X)

    def _warm(self, X: FloatArray) -> bool:
        """Whether the search starts from the previous fit."""
        return self.warm_start and self.fitted and len(self.theta_) == X.shape[1] + 2

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

        The first two restarts call nearly all of the responses noise, on short lengthscales, and nearly all of them
        signal, on long ones: where there are many parameters they seldom lead to the same maximum. After a warm start
        the third is the constructor's. The others are drawn from what is plausible on standardised data. Lengthscales
        are drawn around one of them: independent ones are all wrong together where there are many.
        """
        d = X.shape[1]
        size = np.log(np.sqrt(d) * _spread(X))
        chosen = [first]
        for share, noise in (MOSTLY_NOISE, MOSTLY_SIGNAL):
            chosen.append(np.append(size + np.log(share), [0.0, np.log(noise)]))
        if self._warm(X):
            chosen.append(self._cold_start(X))
        n_drawn = max(self.n_restarts + 1 - len(chosen), 0)
        u, jitter = rng.random((n_drawn, 3)), rng.standard_normal((n_drawn, d))
        drawn: FloatArray = np.column_stack(
            [
                size + np.log(0.3) + np.log(10.0) * u[:, :1] + 0.3 * jitter,
                np.log(0.3) + np.log(10.0) * u[:, 1],
                np.log(1e-4) + np.log(3e3) * u[:, 2],
            ]
        )
        starts = np.vstack([*chosen, drawn])[: self.n_restarts + 1]
        return np.clip(starts, bounds[:, 0], bounds[:, 1])

    def prepare(self, dim: int) -> None:
        """Get ready for a loop: forget, and from now on start each search from the last fit.

        Raises
        ------
        ValueError
            If the settings do not suit inputs of `dim` columns.
        """
        if self.lengthscale is not None and self.lengthscale.size not in (1, dim):
            raise ValueError(f"surrogate must have 1 or {dim} lengthscales, got {self.lengthscale.size}")
        self.forget()
        self.warm_start = True

    @property
    def lengthscale_(self) -> FloatArray:
        """Fitted lengthscales (d,)."""
        return self.kernel_.lengthscale

    @property
    def variance_(self) -> float:
        """Fitted signal variance, in squared units of z."""
        return self.kernel_.variance

    def _in_parts(self, score: Callable[[int, int], None], m: int) -> None:
        """Call `score(first, last)` on parts of m candidates, one a thread."""
        n_parts = min(self.threads, max(m // SHARE, 1))
        edges = np.linspace(0, m, n_parts + 1).astype(int)
        run_all([partial(score, *part) for part in pairwise(edges)], self.threads)


def _check_lengthscale(value: ArrayLike) -> FloatArray:
    lengthscale = check_vector("lengthscale", np.atleast_1d(np.asarray(value, dtype=object)))
    if lengthscale.size == 0 or not (lengthscale > 0.0).all():
        raise ValueError(f"lengthscale must be positive, got {lengthscale.tolist()}")
    return lengthscale


def _spread(X: FloatArray) -> FloatArray:
    """Largest minus smallest of each column, 1 where they are equal."""
    spread: FloatArray = np.ptp(X, axis=0)
    return np.where(spread > 0.0, spread, 1.0)

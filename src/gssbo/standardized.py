"""What regressions on standardised responses share: the responses, and predictions in their units.

Notation
--------
X, y            inputs (n, d) and responses (n,)
z               standardised responses (y - y_mean) / y_std, n in the denominator
mean, std       posterior of the latent function, noise not included
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from gssbo._arithmetic import all_in_own_arithmetic
from gssbo._typing import ArrayLike, FloatArray
from gssbo._validation import check_flag, check_matrix
from gssbo.exceptions import NotFittedError
from gssbo.responses import known_noise, standardize, without_gaps
from gssbo.space.points import by_name, column_names
from gssbo.surrogate import in_units

__all__ = ["FARTHEST", "StandardizedRegression"]

FARTHEST = 1e280  # what is not standardised is no farther from 0: weights are up to 1e16 times as large, and have sums


@all_in_own_arithmetic
class StandardizedRegression(ABC):
    """A `gssbo.surrogate.Surrogate` that is fitted to standardised responses; subclasses say what it is."""

    normalize_y: bool
    X_train_: FloatArray
    y_train_: FloatArray
    y_mean_: float
    y_std_: float
    noise_: float
    fit_info_: dict[str, Any]
    feature_names_in_: tuple[str, ...] | None = None  # of the columns of a data frame that `fit` was given

    @abstractmethod
    def condition(
        self,
        X: FloatArray,
        y: FloatArray,
        *,
        optimize: bool,
        rng: np.random.Generator | None = None,
        noise_std: FloatArray | None = None,
    ) -> None:
        """`fit` without the checks, for callers in this package; `optimize` says whether to learn hyperparameters."""

    def standardized(self, y: FloatArray, noise_std: FloatArray | None) -> tuple[FloatArray, float, float, FloatArray]:
        """Return z, mean, standard deviation, and the known noise variances (n,) in squared units of z."""
        plain = not self.normalize_y
        z, mean, std = (np.clip(without_gaps(y), -FARTHEST, FARTHEST), 0.0, 1.0) if plain else standardize(y)
        known = np.zeros(len(y)) if noise_std is None else known_noise(noise_std, std)
        return z, mean, std, known

    def forget(self) -> None:
        """Drop everything `fit` left; the constructor's arguments stay."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    @property
    def fitted(self) -> bool:
        """Whether `fit` has been called."""
        return hasattr(self, "y_std_")

    def check_points(self, X: ArrayLike) -> FloatArray:
        """X (m, d) as a float64 copy; columns of a data frame in the order in which `fit` had those of their names.

        Raises
        ------
        NotFittedError
            Before `fit`.
        ValueError
            If X has the wrong shape, is not finite, or has columns of other names.
        """
        self._require_fit()
        return self.in_fitted_order(X, check_matrix("X", X, columns=self.X_train_.shape[1]))

    def in_fitted_order(self, X: ArrayLike, points: FloatArray) -> FloatArray:
        """The points (m, d) of X, that are checked, with the columns as in `check_points`."""
        names, fitted = _feature_names(X), self.feature_names_in_
        if names is None or fitted is None or names == fitted or len(names) != len(fitted):
            return points
        columns = by_name("X", {name: k for k, name in enumerate(names)}, len(fitted), fitted)
        return np.ascontiguousarray(points[:, columns])

    def _note_names(self, X: ArrayLike) -> None:
        """Note the names of the columns that it was just fitted to."""
        names = _feature_names(X)
        if names is not None and len(set(names)) == len(names):
            self.feature_names_in_ = names
        elif "feature_names_in_" in vars(self):
            del self.feature_names_in_

    def _require_fit(self) -> None:
        if not self.fitted:
            raise NotFittedError(f"this {type(self).__name__} is not fitted: call fit(X, y) first")

    @abstractmethod
    def posterior(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (m,) of the latent function in units of z, without checks."""

    def posterior_bound(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Upper bounds on mean and standard deviation (m,): here these themselves."""
        return self.posterior(points)

    def predict(self, X: ArrayLike, return_std: bool = False) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Posterior mean (m,) of the latent function at X (m, d), with its standard deviation; in units of y."""
        with_std = check_flag("return_std", return_std)
        mean, std = in_units(self, self.check_points(X))
        return (mean, std) if with_std else mean


def _feature_names(X: Any) -> tuple[str, ...] | None:
    """Names of the columns of a data frame, if all are text."""
    names = column_names(X)
    return tuple(names) if names and all(isinstance(name, str) for name in names) else None

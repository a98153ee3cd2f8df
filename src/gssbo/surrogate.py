"""What a surrogate is: the model of the responses that a strategy fits and an acquisition reads.

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026: Gaussian processes in
   section 3, others in the appendix.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from gssbo._typing import FloatArray
from gssbo._validation import check_vector
from gssbo.kernels import Kernel
from gssbo.responses import unstandardize

__all__ = ["Featured", "Predictor", "Surrogate", "in_units", "posterior_bound_of", "posterior_of"]


class Predictor(Protocol):
    """What an acquisition reads: a posterior of standardised responses z = (y - y_mean_) / y_std_.

    Attributes
    ----------
    y_mean_, y_std_ : float
    """

    y_mean_: float
    y_std_: float

    def posterior(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (m,) of the latent function at points (m, d), in units of z."""
        ...

    def posterior_bound(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Upper bounds on mean and standard deviation (m,): `posterior`, or something cheaper."""
        ...


class Surrogate(Predictor, Protocol):
    """A regression on standardised responses z = (y - y_mean_) / y_std_.

    `copy.deepcopy` of a surrogate is independent of it. Attributes ending in an underscore are there once it is fitted.

    Attributes
    ----------
    fit_hyperparameters : bool
        Whether there is anything for `optimize` to do.
    threads : int
        Threads it may use; what it returns does not depend on it.
    kernel_ : Kernel
    noise_ : float
        Covariance and noise variance, in squared units of z: what the selection rules measure observations with. One
        that is `Featured` needs no `kernel_`.
    """

    fit_hyperparameters: bool
    threads: int
    kernel_: Kernel
    noise_: float

    @property
    def fitted(self) -> bool:
        """Whether `condition` has been called since it was made or prepared."""
        ...

    def prepare(self, dim: int) -> None:
        """Get ready for a loop over inputs (n, dim): forget, and from now on start each search from the last fit.

        Raises
        ------
        ValueError
            If its settings do not suit inputs of `dim` columns.
        """
        ...

    def condition(
        self,
        X: FloatArray,
        y: FloatArray,
        *,
        optimize: bool,
        rng: np.random.Generator | None = None,
        noise_std: FloatArray | None = None,
    ) -> None:
        """Fit to observations X (n, d), y (n,), NaN where an evaluation failed.

        Parameters
        ----------
        optimize : bool
            Whether to learn hyperparameters; otherwise those of the last fit, or the first ones, stand.
        rng : numpy.random.Generator, optional
            Source of all that is random in it.
        noise_std : ndarray of shape (n,), optional
            Known standard deviations of the noise of y, beyond the noise that is fitted.
        """
        ...


@runtime_checkable
class Featured(Protocol):
    """A surrogate that has selection features: the rules measure observations with these, not with its covariance.

    Only rules that need no more than the cosines of features can be used with it, see `gssbo.selection.rules.FEATURED`.
    """

    def selection_features(self, X: FloatArray) -> FloatArray:
        """Features (n, q) of observations X (n, d), as of the last `condition`."""
        ...


def posterior_of(surrogate: Predictor, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Its `posterior` as two float64 vectors (m,), whoever wrote it.

    Raises
    ------
    ValueError
        If it is not that; the message names the surrogate.
    """
    return _two_vectors(surrogate, surrogate.posterior(points), len(points))


def posterior_bound_of(surrogate: Predictor, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same of its `posterior_bound`."""
    return _two_vectors(surrogate, surrogate.posterior_bound(points), len(points))


def in_units(surrogate: Predictor, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """`posterior_of` a surrogate, in units of y."""
    mean, std = posterior_of(surrogate, points)
    scale = surrogate.y_std_
    return unstandardize(mean, surrogate.y_mean_, scale), unstandardize(std, 0.0, scale)


def _two_vectors(surrogate: Predictor, found: Any, m: int) -> tuple[FloatArray, FloatArray]:
    if not (isinstance(found, tuple | list) and len(found) == 2):
        raise ValueError(
            f"the posterior of a surrogate must be a mean and a standard deviation, got {type(found).__name__} from "
            f"{surrogate!r}"
        )
    if all(isinstance(each, np.ndarray) and each.dtype == float and each.shape == (m,) for each in found):
        return found[0], found[1]  # at once: the names below take longer than a suggestion may
    mean, std = (
        check_vector(f"the posterior {name} of {surrogate!r}", value, size=m, finite=False)
        for name, value in zip(("mean", "standard deviation"), found, strict=True)
    )
    return mean, std

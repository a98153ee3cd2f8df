"""What the two posteriors share: kernel, noise, and the mean and scale of the responses."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gssbo._typing import ArrayLike, FloatArray
from gssbo._validation import check_choice, check_matrix, check_real, check_vector
from gssbo.exceptions import NotFittedError
from gssbo.gp import GaussianProcess
from gssbo.kernels import KERNELS, Kernel

__all__ = ["Shared", "points_of", "shared_by"]


class Shared(NamedTuple):
    """Hyperparameters in units of the standardised responses z = (y - mean) / scale."""

    kernel: Kernel
    noise: float
    mean: float
    scale: float

    def standardised(self, y: FloatArray) -> FloatArray:
        """Responses y (n,) as z (n,)."""
        with np.errstate(over="ignore"):
            z: FloatArray = 2.0 * ((0.5 * y - 0.5 * self.mean) / self.scale)  # halves: y may be as large as floats go
        if not np.isfinite(z).all():
            first = y[~np.isfinite(z)][0]
            raise ValueError(f"y must be finite in units of the model's scale ({self.scale}), got {first}")
        return z


def points_of(model: GaussianProcess | Kernel, X: ArrayLike) -> FloatArray:
    """The points X (n, d) of a user, columns of a data frame in the order of those that the model was fitted to."""
    points = check_matrix("X", X)
    return model.in_fitted_order(X, points) if isinstance(model, GaussianProcess) else points


def shared_by(model: GaussianProcess | Kernel, noise: float | None, *, columns: int) -> Shared:
    """What `model` lends to the posteriors of a pool with so many columns.

    Raises
    ------
    NotFittedError
        If a Gaussian process is not fitted.
    ValueError
        If the model is neither, does not suit the pool, or `noise` is missing with a kernel or given with a process.
    """
    if isinstance(model, GaussianProcess):
        if not model.fitted:
            raise NotFittedError("model must be fitted: call model.fit(X, y) first")
        if noise is not None:
            raise ValueError(f"noise must not be given with a GaussianProcess, which has its own, got {noise!r}")
        kernel = model.kernel_
        shared = Shared(kernel, model.noise_ + model.fit_info_["jitter"], model.y_mean_, model.y_std_)
    elif isinstance(model, Kernel):
        if noise is None:
            raise ValueError("noise must be given with a Kernel, got None")
        lengthscale = check_vector("lengthscale", model.lengthscale)
        if not (lengthscale > 0.0).all():
            raise ValueError(f"lengthscale must be positive, got {lengthscale.tolist()}")
        variance = check_real("variance", model.variance, above=0.0)
        kernel = Kernel(check_choice("kernel", model.name, KERNELS), lengthscale, variance)
        shared = Shared(kernel, check_real("noise", noise, at_least=0.0), 0.0, 1.0)
    else:
        raise ValueError(f"model must be a GaussianProcess or a Kernel, got {model!r}")
    if kernel.lengthscale.size != columns:
        expected = kernel.lengthscale.size
        raise ValueError(f"X must have as many columns as the model has lengthscales ({expected}), got {columns}")
    return shared

"""Predictions and draws of a process that knows the covariance of any points."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from gssbo._core import _linalg
from gssbo._typing import FloatArray
from gssbo._validation import check_flag
from gssbo.factor import first_factor
from gssbo.kernels import Kernel
from gssbo.padded import padded_copy, padded_zeros
from gssbo.responses import unstandardize
from gssbo.surrogate import Predictor, in_units

__all__ = ["Process", "draw", "predict"]


class Process(Predictor, Protocol):
    """A posterior of standardised responses at several points jointly."""

    kernel_: Kernel

    def posterior_covariance(self, points: FloatArray) -> FloatArray:
        """Latent covariance (m, m) at points (m, d), in squared units of z."""
        ...


def predict(
    process: Process, points: FloatArray, return_std: Any, return_cov: Any
) -> FloatArray | tuple[FloatArray, FloatArray]:
    """Posterior mean (m,) at points (m, d), and standard deviation (m,) or covariance (m, m) if asked for; units of y.

    Raises
    ------
    ValueError
        If one of these is no flag, or both are True.
    """
    with_std, with_cov = check_flag("return_std", return_std), check_flag("return_cov", return_cov)
    if with_std and with_cov:
        raise ValueError(f"at most one of return_std and return_cov may be True, got {return_std!r} and {return_cov!r}")
    mean, std = in_units(process, points)
    if with_std:
        return mean, std
    if with_cov:
        scaled = unstandardize(process.posterior_covariance(points), 0.0, process.y_std_)
        return mean, unstandardize(scaled, 0.0, process.y_std_)
    return mean


def draw(process: Process, points: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
    """Joint draws (m, count) of the latent function at points (m, d), in units of y; O(m^3)."""
    m = len(points)
    mean, _ = process.posterior(points)
    covariance = padded_copy(process.posterior_covariance(points))
    factor, _ = first_factor(covariance, process.kernel_.jitters(m))
    normal, draws = padded_copy(rng.standard_normal((m, count))), padded_zeros(m, count)
    _linalg.subtract_product(m, count, m, np.triu(factor), normal, draws)
    return unstandardize(mean[:, None] - draws[:, :count], process.y_mean_, process.y_std_)

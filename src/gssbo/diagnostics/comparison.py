"""The posteriors of a pool and of its retained subset side by side, point by point.

Notation
--------
D, U        the pool of observations, the retained subset
mu, sigma   posterior mean and standard deviation of the latent function, full-data (D) or of the subset (U)
z           standardised responses (y - mean) / scale
c_U, r_U, S what the gaps are made of, as in :mod:`gssbo.diagnostics.gap`

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, section 5 and appendix A.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gssbo._typing import FloatArray
from gssbo.diagnostics.partition import Pointwise

__all__ = ["Comparison", "compared"]


class Comparison(NamedTuple):
    """Both posteriors at m points, each (m,), in units of y (squared for the variance gap)."""

    mean: FloatArray
    """mu_D, of the whole pool."""
    std: FloatArray
    """sigma_D, noise not included."""
    subset_mean: FloatArray
    """mu_U, of the retained subset."""
    subset_std: FloatArray
    """sigma_U, never below sigma_D."""
    mean_gap: FloatArray
    """mu_D - mu_U = c_U' S^-1 r_U, theorem 5.1 of [1]."""
    variance_gap: FloatArray
    """sigma_U^2 - sigma_D^2 = c_U' S^-1 c_U >= 0, theorem 5.1."""
    std_gap: FloatArray
    """sigma_U - sigma_D >= 0, at most the root of the variance gap: lemma A.2."""
    cross_norm: FloatArray
    """|c_U(x)|, in squared units of the standardised responses."""


def compared(found: Pointwise, mean: float, scale: float) -> Comparison:
    """What was found in units of z = (y - mean) / scale, in those of y."""
    subset_std = np.sqrt(found.variance)
    std = np.sqrt(found.variance - found.variance_gap)
    total = subset_std + std
    # Exact where the difference would cancel.
    std_gap = np.divide(found.variance_gap, total, out=np.zeros_like(total), where=total > 0.0)
    with np.errstate(over="ignore", under="ignore"):
        return Comparison(
            mean=mean + scale * (found.mean + found.mean_gap),
            std=scale * std,
            subset_mean=mean + scale * found.mean,
            subset_std=scale * subset_std,
            mean_gap=scale * found.mean_gap,
            variance_gap=scale * (scale * found.variance_gap),
            std_gap=scale * std_gap,
            cross_norm=found.cross_norm,
        )

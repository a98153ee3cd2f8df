"""The bounds of the paper's analysis, from the norms they are made of.

Notation
--------
c           |c_U(x)|, or rho_U = sup |c_U(x)| for the uniform bounds
S           |S^-1|, the operator norm
r, s        |r_U| and |s_R|
noise       least noise variance of a discarded observation; S >= noise I, so |S^-1| <= 1 / noise

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, section 5 and appendix A.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gssbo._typing import FloatArray

__all__ = ["Bounds", "Norms"]


class Bounds(NamedTuple):
    """Upper bounds on how far the subset's posterior is from the full-data one: at m points (m,), or uniform (floats).

    In units of y, squared for the variances.
    """

    mean: FloatArray | float
    """c S r, on the absolute mean gap: theorem 5.1, and corollary A.1 with rho_U."""
    mean_by_scores: FloatArray | float
    """c s, on the same: proposition 5.3. Never above `mean`."""
    mean_coarse: FloatArray | float
    """c r / noise, on the same: theorem 5.1; inf without noise."""
    variance: FloatArray | float
    """c^2 S, on the variance gap: theorem 5.1, corollary A.1."""
    variance_coarse: FloatArray | float
    """c^2 / noise, on the same."""
    std: FloatArray | float
    """c sqrt(S), on the gap of the standard deviations: lemma A.2."""
    std_coarse: FloatArray | float
    """c / sqrt(noise), on the same."""
    ucb: FloatArray | float
    """c s + sqrt(beta) c sqrt(S), on the gap of the upper confidence bounds: corollary 5.4."""


class Norms(NamedTuple):
    """The quantities that a subset enters the bounds with, in units of the standardised responses."""

    residual: float  # |r_U|
    scores: float  # |s_R|
    inverse: float  # |S^-1|
    noise: float

    def bounds(self, cross: FloatArray | float, *, beta: float, scale: float) -> Bounds:
        """Bounds in units of `scale` where |c_U(x)|, or rho_U, is `cross`."""
        c = np.asarray(cross)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            ceiling = np.inf if self.noise == 0.0 else 1.0 / self.noise
            coarse = 0.0 if self.residual == 0.0 else self.residual * ceiling
            std = c * np.sqrt(self.inverse)
            std_coarse = np.where(c > 0.0, c * np.sqrt(ceiling), 0.0)
            found = (
                c * (self.inverse * self.residual) * scale,
                c * self.scores * scale,
                np.where(c > 0.0, c * coarse, 0.0) * scale,
                (scale * std) ** 2,
                (scale * std_coarse) ** 2,
                scale * std,
                scale * std_coarse,
                scale * (c * self.scores + np.sqrt(beta) * std),
            )
        return Bounds(*(value if value.ndim else float(value) for value in map(np.asarray, found)))

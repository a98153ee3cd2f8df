"""Acquisition functions of the posterior mean and standard deviation at a candidate alone.

Where such a function grows with both, its maximum over many candidates needs the exact values of few: `gssbo.choice`
uses that.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from gssbo._typing import FloatArray
from gssbo.surrogate import Predictor, posterior_of

__all__ = ["IncreasingAcquisition"]


class IncreasingAcquisition(ABC):
    """An acquisition a(mean, std) that grows with mean and std."""

    @abstractmethod
    def rank(self, mean: FloatArray, std: FloatArray, best: float) -> FloatArray:
        """Numbers (m,) that order candidates as the acquisition does; mean, std (m,) in units of z."""

    def __call__(self, gp: Predictor, candidates: FloatArray, best: float, rng: np.random.Generator) -> FloatArray:
        """See `Acquisition`."""
        return self.rank(*posterior_of(gp, candidates), best)

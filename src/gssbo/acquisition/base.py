"""What an acquisition function is."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from gssbo._typing import FloatArray
from gssbo.surrogate import Predictor

__all__ = ["Acquisition"]


class Acquisition(Protocol):
    """Scores candidates; the largest score is suggested, the first of equals."""

    def __init__(self) -> None: ...

    def __call__(self, gp: Predictor, candidates: FloatArray, best: float, rng: np.random.Generator) -> FloatArray:
        """Scores (m,) of candidates (m, d), in units of the standardised responses.

        Parameters
        ----------
        gp : Predictor
            Fitted to responses to be maximised.
        candidates : ndarray of shape (m, d)
        best : float
            Incumbent: the largest response told, standardised as the GP's responses are.
        rng : numpy.random.Generator
            Used by Thompson sampling alone.
        """
        ...

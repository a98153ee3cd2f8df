"""Expected improvement, its logarithm, and the probability of improvement.

References
----------
1. Jones, Schonlau and Welch, Efficient global optimization of expensive black-box functions, 1998 (EI).
2. Ament et al., Unexpected improvements to expected improvement for Bayesian optimization, 2023 (log EI).
"""

from __future__ import annotations

import numpy as np

from gssbo._core import _acquire
from gssbo._typing import FloatArray
from gssbo._validation import check_real
from gssbo.acquisition.pointwise import IncreasingAcquisition
from gssbo.surrogate import Predictor, posterior_of

__all__ = ["ExpectedImprovement", "LogExpectedImprovement", "ProbabilityOfImprovement"]


class LogExpectedImprovement(IncreasingAcquisition):
    """log E max(f - best - xi, 0), accurate where EI itself underflows; -inf where there is nothing to gain.

    Parameters
    ----------
    xi : float
        Improvement below which a gain does not count, in standard deviations of the responses.

    Examples
    --------
    >>> import numpy as np
    >>> from gssbo import GaussianProcess
    >>> gp = GaussianProcess(rng=0).fit([[0.0], [0.4], [1.0]], [0.0, 0.7, 1.0])
    >>> bool(LogExpectedImprovement()(gp, np.array([[0.9]]), 1.0, np.random.default_rng(0))[0] < 0.0)
    True
    """

    def __init__(self, xi: float = 0.0) -> None:
        self.xi = check_real("xi", xi, at_least=0.0)

    def rank(self, mean: FloatArray, std: FloatArray, best: float) -> FloatArray:
        """The logarithm itself; see `IncreasingAcquisition`."""
        value = np.empty_like(mean)
        _acquire.log_expected_improvement(mean, std, best + self.xi, value)
        return value


class ExpectedImprovement(LogExpectedImprovement):
    """E max(f - best - xi, 0).

    Where it underflows to 0 at every candidate its logarithm is returned instead, so that the ranking is never flat.

    Parameters
    ----------
    xi : float
        Improvement below which a gain does not count, in standard deviations of the responses.
    """

    def __call__(self, gp: Predictor, candidates: FloatArray, best: float, rng: np.random.Generator) -> FloatArray:
        """See `Acquisition`."""
        mean, std = posterior_of(gp, candidates)
        value = np.empty_like(mean)
        _acquire.expected_improvement(mean, std, best + self.xi, value)
        return value if value.any() else self.rank(mean, std, best)


class ProbabilityOfImprovement:
    """P(f > best + xi).

    Parameters
    ----------
    xi : float
        Improvement asked for, in standard deviations of the responses.
    """

    def __init__(self, xi: float = 0.01) -> None:
        self.xi = check_real("xi", xi, at_least=0.0)

    def __call__(self, gp: Predictor, candidates: FloatArray, best: float, rng: np.random.Generator) -> FloatArray:
        """See `Acquisition`."""
        mean, std = posterior_of(gp, candidates)
        value = np.empty_like(mean)
        _acquire.probability_of_improvement(mean, std, best + self.xi, value)
        if not value.any():  # all underflow: the smallest shortfall in standard deviations is the likeliest
            np.divide(mean - best - self.xi, std, out=value, where=std > 0.0)
            value[std <= 0.0] = -np.inf
        return value

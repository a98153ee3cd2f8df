"""Upper confidence bound, the acquisition of the paper's protocol."""

from __future__ import annotations

import numpy as np

from gssbo._core import _acquire
from gssbo._typing import FloatArray
from gssbo._validation import check_real
from gssbo.acquisition.pointwise import IncreasingAcquisition

__all__ = ["UpperConfidenceBound"]


class UpperConfidenceBound(IncreasingAcquisition):
    """mean + sqrt(beta) std.

    Parameters
    ----------
    beta : float
        Default 2, the value of the configuration table (appendix) of Wei et al., TMLR 2026.

    Examples
    --------
    >>> import numpy as np
    >>> from gssbo import GaussianProcess
    >>> gp = GaussianProcess(rng=0).fit([[0.0], [1.0]], [0.0, 1.0])
    >>> UpperConfidenceBound()(gp, np.array([[0.5], [1.0]]), 1.0, np.random.default_rng(0)).shape
    (2,)
    """

    def __init__(self, beta: float = 2.0) -> None:
        self.beta = check_real("beta", beta, at_least=0.0)

    def rank(self, mean: FloatArray, std: FloatArray, best: float) -> FloatArray:
        """The bound itself; see `IncreasingAcquisition`."""
        value = np.empty_like(mean)
        _acquire.upper_confidence_bound(mean, std, np.sqrt(self.beta), value)
        return value

"""What searchers see in the place of responses that are no measurements: penalties and failures.

A value far below all others makes a cliff, and a model that is as rough as that finds nothing beside it, where the
optimum often is. The middle of what is known is bad enough for a penalty: no searcher prefers it to the best. What
failed may have cost more than an evaluation, and is kept away from.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gssbo._typing import FloatArray
from gssbo.responses import without_gaps

__all__ = ["substituted"]

OFTEN = 3  # times that a penalty was told at least
FAR = 2.0  # how much farther from the best it is than the next value


def substituted(told: FloatArray) -> FloatArray:
    """Responses (n,), larger is better, with other values in the place of penalties and NaN.

    That of a penalty is the lower median of the other values, of which each counts once, and of one that is a standard
    deviation below the least: where hardly anything else is known, that is better than a penalty. NaN becomes a
    standard deviation below the least of all these. Where nothing is replaced it is `told` itself.

    Examples
    --------
    >>> substituted(np.array([0.0, -1e6, -3.0, -1e6, -2.0, -1.0, -1e6]))
    array([ 0., -2., -3., -2., -2., -1., -2.])
    """
    penalties = _penalties(told)
    if not penalties.any():
        return without_gaps(told)
    others = told[~penalties & ~np.isnan(told)]
    least = without_gaps(np.append(others, np.nan))[-1]
    values = np.append(least, np.unique(others))
    return without_gaps(np.where(penalties, values[(len(values) - 1) // 2], told))


def _penalties(y: FloatArray) -> NDArray[np.bool_]:
    """Where the least value is, if it was told several times and nothing is near it: a constant somebody chose."""
    worst = np.fmin.reduce(y, initial=np.inf)
    penalties: NDArray[np.bool_] = y == worst
    if penalties.sum() >= OFTEN:
        others = y[y > worst]
        if len(others):
            least, best = float(others.min()), float(others.max())
            if least < best and 0.5 * best - 0.5 * worst > FAR * (0.5 * best - 0.5 * least):
                return penalties
    return np.zeros(len(y), dtype=bool)

"""SciPy's result, printed short also where its points are lists or dicts."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

__all__ = ["Result"]

LONG = 12  # values, beyond which SciPy leaves some of an array out


class Result(OptimizeResult):  # type: ignore[misc]  # SciPy has no types
    """An `OptimizeResult` that prints long lists as SciPy's prints long arrays: the first and the last of them.

    Examples
    --------
    >>> Result(nfev=99, x_iters=[{"n": n} for n in range(99)])
        nfev: 99
     x_iters: [{'n': 0} {'n': 1} ... {'n': 97} {'n': 98}]
    """

    def __repr__(self) -> str:
        return repr(OptimizeResult({name: _as_array(value) for name, value in self.items()}))


def _as_array(value: Any) -> Any:
    """An array of what a long list holds; anything else as it is."""
    long = type(value) is list and len(value) > LONG
    return np.fromiter(value, dtype=object, count=len(value)) if long else value

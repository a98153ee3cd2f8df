"""Columns of inputs: how far they spread, and which have one value everywhere."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gssbo._typing import FloatArray

__all__ = ["deviations", "still_columns"]

MANY = 1_000  # columns that nothing moves, from which on it pays to deal with all of them at once


def deviations(X: FloatArray) -> FloatArray:
    """Standard deviation (d,) of each column of X (n, d), at least a thousandth of the largest: units to measure by.

    Examples
    --------
    >>> deviations(np.array([[0.0, 3.0, 0.0], [2.0, 3.0, 8.0]]))
    array([1.   , 0.004, 4.   ])
    """
    found: FloatArray = np.maximum(X.std(axis=0), 1e-12)
    found = np.maximum(found, 1e-3 * found.max())
    return found


def still_columns(X: FloatArray) -> NDArray[np.bool_]:
    """Mask (d,) of the columns of X (n, d) with one value everywhere, where these are many; of none where they are few.

    Examples
    --------
    >>> X = np.zeros((2, 3000))
    >>> X[1, :5] = 1.0
    >>> int(still_columns(X).sum()), int(still_columns(X[:, :900]).sum())
    (2995, 0)
    """
    still: NDArray[np.bool_] = ~(X[:1] != X).any(axis=0)
    return still if still.sum() >= MANY else np.zeros_like(still)

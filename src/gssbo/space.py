"""The search space: a box, and its map to the unit cube the model works in."""

from __future__ import annotations

from typing import Any

import numpy as np

from gssbo._typing import FloatArray
from gssbo._validation import check_matrix

__all__ = ["Space"]

ROUNDING = 1e-9  # of a side: how far outside its bounds a told coordinate may stand, to admit a round trip


class Space:
    """A box in R^d.

    Parameters
    ----------
    bounds : sequence of (low, high), array of shape (d, 2), or scipy.optimize.Bounds
        Finite, low <= high; equal bounds fix the parameter.

    Raises
    ------
    ValueError
        If the bounds are empty, not finite, reversed, or so far apart that high - low overflows.

    Examples
    --------
    >>> space = Space([(-1.0, 1.0), (10.0, 30.0)])
    >>> space.to_unit(np.array([[0.0, 15.0]]))
    array([[0.5 , 0.25]])
    """

    def __init__(self, bounds: Any) -> None:
        if hasattr(bounds, "lb") and hasattr(bounds, "ub"):
            bounds = np.column_stack(np.broadcast_arrays(np.atleast_1d(bounds.lb), np.atleast_1d(bounds.ub)))
        table = check_matrix("bounds", bounds)
        if table.shape[1] != 2:
            raise ValueError(f"bounds must be (low, high) pairs, shape (d, 2), got shape {table.shape}")
        for i, (low, high) in enumerate(table):
            if low > high:
                raise ValueError(f"bounds[{i}] must have low <= high, got ({low}, {high})")
            with np.errstate(over="ignore"):
                if not np.isfinite(high - low):
                    raise ValueError(f"bounds[{i}] must have a finite high - low, got ({low}, {high})")
        self.bounds: FloatArray = table
        self.low: FloatArray = np.ascontiguousarray(table[:, 0])
        self.high: FloatArray = np.ascontiguousarray(table[:, 1])
        self._width: FloatArray = self.high - self.low

    @property
    def dim(self) -> int:
        """Number of parameters d."""
        return len(self.low)

    def to_unit(self, X: FloatArray) -> FloatArray:
        """Map (n, d) user points to the unit cube, clipped to it; fixed parameters become 0."""
        width = np.where(self._width > 0.0, self._width, 1.0)
        unit: FloatArray = np.clip((X - self.low) / width, 0.0, 1.0)
        return unit

    def from_unit(self, U: FloatArray) -> FloatArray:
        """Map (n, d) unit points to user space; never outside the bounds, not by a rounding unit."""
        points: FloatArray = np.clip(self.low + U * self._width, self.low, self.high)
        return points

    def check_inside(self, name: str, X: FloatArray) -> None:
        """Raise a ValueError that names the first of the (n, d) points outside the bounds."""
        slack = ROUNDING * self._width
        lowest, highest = self.low - slack, self.high + slack
        outside = (lowest > X) | (highest < X)
        if outside.any():
            row, column = (int(i) for i in np.argwhere(outside)[0])
            raise ValueError(
                f"{name} must lie within bounds, got {X[row, column]} for parameter {column} of point {row}, "
                f"whose bounds are ({self.low[column]}, {self.high[column]})"
            )

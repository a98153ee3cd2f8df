"""Linear equalities that reals have a part in: they are met by moving the reals, whatever the others are.

A step is the least one in units of the cube, and Newton's where a real is on a logarithm; a real that comes to its
bound stays there.

Notation
--------
A, e        the equalities are A numbers = e (k, d), (k,); E are the columns of the reals (k, r)
x, w        values of the reals (n, r), and how fast they move in the unit cube (n, r)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gssbo._typing import FloatArray
from gssbo.space.parameter import Parameter
from gssbo.space.real import Real

__all__ = ["Equalities"]

STEPS = 5  # of Newton, the last ones against rounding
RIDGE = 1e-12  # of the trace, so that equalities may say the same
TINY = np.finfo(np.float64).tiny


class Equalities:
    """The equalities among linear constraints that some real has a part in.

    Parameters
    ----------
    kinds : sequence of Parameter
        Resolved ones.
    faces : tuple of ndarray
        A (k, d) and bounds (k,), (k,) of the linear constraints.

    Attributes
    ----------
    reals : list of int
        The parameters that are moved.

    Examples
    --------
    >>> from gssbo.space.integer import Integer
    >>> kinds = [Integer(0, 4), Real(0.0, 4.0), Real(0.1, 10.0, log=True)]
    >>> sums = Equalities(kinds, (np.ones((1, 3)), np.array([5.0]), np.array([5.0])))
    >>> reals = sums.balanced(np.array([[2.0, 1.0, 1.0], [3.0, 0.5, 2.0]]))
    >>> (np.array([2.0, 3.0]) + reals.sum(axis=1)).tolist()
    [5.0, 5.0]
    """

    def __init__(self, kinds: Sequence[Parameter], faces: tuple[FloatArray, FloatArray, FloatArray]) -> None:
        A, lower, upper = faces
        equal = lower == upper
        free = {i: kind for i, kind in enumerate(kinds) if isinstance(kind, Real) and kind.high > kind.low}
        moved = {i: kind for i, kind in free.items() if A[equal, i].any()}
        self.reals = list(moved)
        self._low = np.array([kind.low for kind in moved.values()])
        self._high = np.array([kind.high for kind in moved.values()])
        self._span = np.array([np.log(kind.high) - np.log(kind.low) if kind.log else 0.0 for kind in moved.values()])
        self._log = self._span > 0.0
        rows = equal & A[:, self.reals].any(axis=1)
        self._A, self._e = A[rows], lower[rows]
        self._E = np.ascontiguousarray(self._A[:, self.reals])

    def __len__(self) -> int:
        return len(self._e)

    def balanced(self, numbers: FloatArray) -> FloatArray:
        """Reals (n, r) near those of points with values `numbers` (n, d) that meet the equalities, where there are."""
        E = self._E
        x = numbers[:, self.reals]
        rest = self._e - np.einsum("ij,kj->ik", np.nan_to_num(numbers), self._A) + np.einsum("ij,kj->ik", x, E)
        held = np.zeros(x.shape, dtype=bool)
        for _ in range(STEPS):
            w = np.where(held, 0.0, np.where(self._log, x * self._span, self._high - self._low))
            slopes = w[:, None, :] * E
            gram = np.einsum("nij,nkj->nik", slopes, slopes)
            trace = np.einsum("nii->n", gram)
            ridge = RIDGE * trace + TINY
            gaps = rest - np.einsum("ij,kj->ik", x, E)
            shares = np.linalg.solve(gram + ridge[:, None, None] * np.eye(len(E)), gaps[:, :, None])[:, :, 0]
            shares[trace == 0.0] = 0.0  # all are held
            u = np.clip(np.einsum("nij,ni->nj", slopes, shares), -1.0, 1.0)
            moved = np.where(self._log, x * np.exp(self._span * u), x + (self._high - self._low) * u)
            held |= (moved < self._low) | (moved > self._high)
            x = np.clip(moved, self._low, self._high)
        return x

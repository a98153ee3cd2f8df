"""Stationary kernels with automatic relevance determination.

Notation
--------
A, B            inputs (n, d), (m, d)
r^2             sum_k ((a_k - b_k) / lengthscale_k)^2
k(a, b)         variance R(r)

The three shapes R are `gssbo._core._kernels`'; see Rasmussen and Williams (2006), section 4.2.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gssbo._core import _kernels
from gssbo._typing import FloatArray
from gssbo.padded import padded_zeros

__all__ = ["KERNELS", "Kernel"]

KERNELS: dict[str, int] = dict(_kernels.KINDS)
"""Kernel names and the number the compiled core knows them by."""


@dataclass(frozen=True)
class Kernel:
    """A kernel with its hyperparameters fixed.

    Parameters
    ----------
    name : {"matern52", "matern32", "rbf"}
    lengthscale : ndarray of shape (d,)
        In the units of the inputs.
    variance : float
        Signal variance k(x, x), in squared units of the responses.

    Examples
    --------
    >>> import numpy as np
    >>> kernel = Kernel("rbf", np.array([1.0]), 2.0)
    >>> kernel(np.array([[0.0], [1.0]])).round(4)
    array([[2.    , 1.2131],
           [1.2131, 2.    ]])
    """

    name: str
    lengthscale: FloatArray
    variance: float

    @property
    def kind(self) -> int:
        """Number of the kernel in the compiled core."""
        return KERNELS[self.name]

    def __call__(self, A: FloatArray, B: FloatArray | None = None) -> FloatArray:
        """Covariances k(A, B) of shape (n, m); B defaults to A.

        Raises
        ------
        ValueError
            If they have other columns than there are lengthscales, here as in the methods below.
        """
        if B is None:
            return self.padded_gram(A, 0.0)[:, : len(A)].copy()
        self._check("A", A)
        self._check("B", B)
        if len(A) == 0 or len(B) == 0:
            return np.empty((len(A), len(B)))
        out = padded_zeros(len(A), len(B))
        _kernels.cross(self.kind, A, B, self.lengthscale, self.variance, out)
        return out[:, : len(B)].copy()

    def padded_gram(
        self, X: FloatArray, noise: float, *, full: bool = True, out: FloatArray | None = None
    ) -> FloatArray:
        """k(X, X) + noise I as a padded (n, ld) array for the core, only its upper triangle unless `full`; in `out`."""
        self._check("X", X)
        n = len(X)
        if out is None:
            out = padded_zeros(n, n)
        else:
            out.fill(0.0)
        if n == 0:
            return out
        _kernels.gram(self.kind, X, self.lengthscale, self.variance, np.full(n, noise), full, out)
        return out

    def same_as(self, other: Kernel) -> bool:
        """Whether shape and hyperparameters are equal to the bit."""
        return (
            self.name == other.name
            and self.variance == other.variance
            and np.array_equal(self.lengthscale, other.lengthscale)
        )

    def jitters(self, n: int) -> Iterator[float]:
        """Additions to the diagonal to try in turn: none, then 1e-10 to 0.1 of the variance, tenfold a step.

        Raises
        ------
        numpy.linalg.LinAlgError
            If another is asked for: the covariance, which is of n points, is not positive definite.
        """
        yield 0.0
        for exponent in range(-10, 0):
            yield self.variance * 10.0**exponent
        raise np.linalg.LinAlgError(
            f"the covariance of {n} points is not positive definite, not even with a tenth of its variance "
            f"({self.variance:g}) on its diagonal"
        )

    def _check(self, name: str, points: FloatArray) -> None:
        d = len(self.lengthscale)
        if points.ndim != 2 or points.shape[1] != d:
            raise ValueError(f"{name} must have shape (n, {d}), a column a lengthscale, got shape {points.shape}")

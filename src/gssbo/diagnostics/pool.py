"""A pool of observations under shared hyperparameters.

Notation
--------
n       observations
z       standardised responses (y - mean) / scale (n,)
known   known noise variances (n,), in squared units of z, on top of the noise that all share
K_y     k(X, X) + noise I + diag(known)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gssbo._core import _linalg
from gssbo._typing import ArrayLike, FloatArray, IndexArray
from gssbo._validation import check_noise_std, check_vector
from gssbo.diagnostics.shared import Shared, points_of, shared_by
from gssbo.gp import GaussianProcess
from gssbo.kernels import Kernel
from gssbo.responses import known_noise

__all__ = ["Pool", "factorized", "read_pool"]


class Pool(NamedTuple):
    """Inputs (n, d), standardised responses (n,), known noise (n,), and what both posteriors share."""

    X: FloatArray
    z: FloatArray
    known: FloatArray
    shared: Shared

    def __len__(self) -> int:
        return len(self.X)

    def covariance(self, members: IndexArray, jitter: float, *, full: bool = True) -> FloatArray:
        """The block of K_y of some members, as a padded array; only its upper triangle unless `full`."""
        if len(members) == 0:
            return np.zeros((0, _linalg.PAD))
        inputs = np.ascontiguousarray(self.X[members])
        K = self.shared.kernel.padded_gram(inputs, self.shared.noise + jitter, full=full)
        diagonal = np.arange(len(members))
        K[diagonal, diagonal] += self.known[members]
        return K

    def rounding(self, members: IndexArray, jitter: float) -> FloatArray:
        """Conditional variances (m,) that may as well have come out negative, for the members of a block."""
        shared = self.shared
        own = shared.kernel.variance + shared.noise + jitter + self.known[members]
        return (len(self) + 8) * np.finfo(float).eps * own


def read_pool(
    model: GaussianProcess | Kernel,
    X: ArrayLike,
    y: ArrayLike,
    *,
    noise: float | None,
    noise_std: ArrayLike | None,
) -> Pool:
    """Read a user's pool: X (n, d), y (n,), `noise_std` (n,) in units of y, and what `model` lends.

    Raises
    ------
    NotFittedError, ValueError
        As in `shared_by`, and where a shape is wrong or an entry is not finite or negative noise.
    """
    inputs = points_of(model, X)
    responses = check_vector("y", y, size=len(inputs), column=True)
    shared = shared_by(model, noise, columns=inputs.shape[1])
    known = np.zeros(len(inputs))
    if noise_std is not None:
        known = known_noise(check_noise_std(noise_std, size=len(inputs)), shared.scale)
    return Pool(inputs, shared.standardised(responses), known, shared)


def factorized(K: FloatArray, rounding: FloatArray) -> bool:
    """Factor a padded matrix in place; False where a pivot is not positive, or no more than rounding (n,)."""
    n = len(K)
    return n == 0 or (_linalg.cholesky(n, K) == 0 and bool((np.diagonal(K) ** 2 > rounding).all()))

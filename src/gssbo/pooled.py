"""A Gaussian process whose mean knows all observations exactly, and whose uncertainty comes from a few.

Notation
--------
X, z        inputs (n, d) and responses (n,) of the pool; K_y their covariance with noise, alpha = K_y^-1 z (n,)
Z           basis (m, d)
mean        k(x, X) alpha, that of the exact process of the pool
std         that of the pool projected on the basis, see `gssbo.projected`

What a basis does not span is lost to the mean of a projection, and in many dimensions a hundred observations span
little. The mean of the exact process takes n kernel values a point; its variance takes n^2 operations, which is what
the basis saves. A factorization of K_y comes before, n^3 / 3 operations.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from gssbo._parallel import blocks, run_all
from gssbo._typing import FloatArray
from gssbo.gp import GaussianProcess
from gssbo.kernels import Kernel
from gssbo.projected import BLOCK, ProjectedProcess

__all__ = ["PooledProcess"]


class PooledProcess:
    """The mean of one process with the uncertainty of another, both of the same observations.

    Parameters
    ----------
    whole : GaussianProcess
        Fitted to all of the pool.
    projection : ProjectedProcess
        The pool projected on a basis, of the same kernel, noise and scale of responses.

    Attributes
    ----------
    kernel_, noise_, y_mean_, y_std_
        As of `gssbo.surrogate.Surrogate`.
    threads : int
        Threads a prediction may use; it does not depend on them.

    Examples
    --------
    >>> X = np.linspace(0.0, 1.0, 200)[:, None]
    >>> gp = GaussianProcess(lengthscale=0.3, noise=1e-4, fit_hyperparameters=False).fit(X, np.sin(9.0 * X[:, 0]))
    >>> projection = ProjectedProcess(gp.kernel_, gp.noise_, X[::50].copy(), scale=(gp.y_mean_, gp.y_std_))
    >>> projection.observe(X, gp.y_train_)
    >>> process = PooledProcess(gp, projection)
    >>> mean, std = process.posterior(np.array([[0.4]]))
    >>> bool(abs(mean[0] - gp.posterior(np.array([[0.4]]))[0][0]) < 1e-9), bool(std[0] > 0.0)
    (True, True)
    """

    def __init__(self, whole: GaussianProcess, projection: ProjectedProcess) -> None:
        self._whole, self._projection = whole, projection
        self.y_mean_, self.y_std_ = projection.y_mean_, projection.y_std_
        self.threads = projection.threads

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.kernel_.name!r}, n={len(self._whole.X_train_)})"

    @property
    def kernel_(self) -> Kernel:
        """Covariance, in squared units of z."""
        return self._projection.kernel_

    @property
    def noise_(self) -> float:
        """Variance of the noise, in squared units of z."""
        return self._projection.noise_

    def posterior(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (p,) of the latent function at points (p, d), in units of z."""
        mean = np.empty(len(points))
        run_all([partial(self._mean, points, here, mean) for here in blocks(len(points), BLOCK)], self.threads)
        return mean, self._projection.posterior(points)[1]

    def posterior_bound(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """An upper bound on the mean (p,), most of it in single precision, and the standard deviation (p,)."""
        return self._whole.posterior_bound(points)[0], self._projection.posterior(points)[1]

    def imagined(self, points: FloatArray) -> PooledProcess:
        """The process as if it had observed its own mean at points (p, d): the mean is the same."""
        return PooledProcess(self._whole, self._projection.imagined(points))

    def _mean(self, points: FloatArray, here: slice, mean: FloatArray) -> None:
        k = self.kernel_(self._whole.X_train_, np.ascontiguousarray(points[here]))
        mean[here] = np.einsum("ij,i->j", k, self._whole.alpha_)

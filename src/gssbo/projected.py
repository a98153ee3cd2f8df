"""A Gaussian process projected on a few points: all observations at the price of a few.

Notation
--------
Z           basis (m, d); U^T U = k(Z, Z) + jitter I
phi(x)      U^-T k(Z, x) (m,), so that Q = phi^T phi is Nystrom's approximation of k [1]
B           noise I + phi(X) phi(X)^T (m, m) = R^T R
mean        phi(x)^T B^-1 phi(X) z
variance    k(x, x) - phi(x).phi(x) + noise phi(x)^T B^-1 phi(x)

An observation with a known noise variance of its own, beyond the noise, enters with phi and z times the square root of
noise / (noise + known). What the basis does not span of it may count as such noise, as in [3]: without that the many
observations that are not in the basis bend the mean at those that are, and are sure of it.

Q stands for k throughout, and what Q lacks of the prior variance is given back: the projected process of [2], whose
variance cannot be negative, as that of Nystrom's approximation in the training covariance alone can. With all
observations in the basis it is the exact process.

References
----------
1. Williams and Seeger, Using the Nystrom method to speed up kernel machines, NeurIPS 2000.
2. Quinonero-Candela and Rasmussen, A unifying view of sparse approximate Gaussian process regression, 2005, section 5.
3. Snelson and Ghahramani, Sparse Gaussian processes using pseudo-inputs, NeurIPS 2005.
"""

from __future__ import annotations

import copy
from functools import partial

import numpy as np

from gssbo._core import _linalg
from gssbo._parallel import blocks, run_all
from gssbo._typing import FloatArray
from gssbo.factor import first_factor, forward, symmetric
from gssbo.kernels import Kernel
from gssbo.padded import padded_copy, padded_zeros

__all__ = ["ProjectedProcess", "projected"]

BLOCK = 512  # points that are predicted at once
ROWS = 2048  # observations that are taken in at once
LEAST_NOISE = 1e-10  # of the variance: B of a process without noise is singular


class ProjectedProcess:
    """A process of which only the part that the basis spans learns from observations.

    Parameters
    ----------
    kernel : Kernel
    noise : float
        Variance of the noise, in squared units of z.
    basis : ndarray of shape (m, d)
        Z.
    scale : (float, float)
        Mean and standard deviation of the responses that z are standardised from.
    threads : int
        Threads a prediction may use; it does not depend on them.

    Attributes
    ----------
    kernel_, noise_, y_mean_, y_std_
        As of `gssbo.surrogate.Surrogate`.
    jitter_ : float
        What k(Z, Z) took on its diagonal.

    Examples
    --------
    >>> kernel = Kernel("matern52", np.array([0.5]), 1.0)
    >>> X = np.linspace(0.0, 1.0, 500)[:, None]
    >>> process = ProjectedProcess(kernel, 1e-2, X[::50].copy())
    >>> process.observe(X, np.sin(6.0 * X[:, 0]))
    >>> mean, std = process.posterior(np.array([[0.5]]))
    >>> bool(abs(mean[0] - np.sin(3.0)) < 0.01), bool(std[0] < 0.05)
    (True, True)
    """

    def __init__(
        self,
        kernel: Kernel,
        noise: float,
        basis: FloatArray,
        *,
        scale: tuple[float, float] = (0.0, 1.0),
        threads: int = 1,
    ) -> None:
        self.kernel_ = kernel
        self.noise_ = max(noise, LEAST_NOISE * kernel.variance)
        self.basis = basis
        self.y_mean_, self.y_std_ = scale
        self.threads = threads
        m = len(basis)
        self._U, self.jitter_ = first_factor(kernel.padded_gram(basis, 0.0, full=False), kernel.jitters(m))
        self._B = padded_zeros(m, m)
        self._B[np.diag_indices(m)] = self.noise_
        self._moments = np.zeros(m)  # phi(X) z
        self._solve()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.kernel_.name!r}, m={len(self.basis)})"

    def observe(
        self, X: FloatArray, z: FloatArray, known: FloatArray | None = None, *, rest_is_noise: bool = False
    ) -> None:
        """Take in observations X (n, d), z (n,), with known noise variances (n,) beyond the noise; O(n m^2 + m^3).

        `rest_is_noise` says whether what the basis does not span of an observation is noise to all others.
        """
        m = len(self.basis)
        for here in blocks(len(X), ROWS):
            phi = self._features(X[here])
            responses, own = z[here], np.zeros(phi.shape[1]) if known is None else known[here]
            if rest_is_noise:
                own = own + self._rest(phi)
            if own.any():
                share = np.sqrt(self.noise_ / (self.noise_ + own))
                phi, responses = phi * share, responses * share
            rows = np.zeros((len(responses), self._B.shape[1]))
            rows[:, :m] = phi.T
            _linalg.subtract_product(m, m, len(rows), -rows, rows, self._B)
            self._moments += np.einsum("ij,i->j", rows[:, :m], responses)
        self._solve()

    def posterior(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (p,) of the latent function at points (p, d), in units of z."""
        mean, variance = np.empty(len(points)), np.empty(len(points))
        parts = [partial(self._score, points, here, mean, variance) for here in blocks(len(points), BLOCK)]
        run_all(parts, self.threads)
        return mean, np.sqrt(variance, out=variance)

    posterior_bound = posterior

    def unexplained(self, points: FloatArray) -> FloatArray:
        """Standard deviation (p,) of what the basis does not span, in units of z: no observation elsewhere tells it."""
        left = np.empty(len(points))
        for here in blocks(len(points), ROWS):
            left[here] = self._rest(self._features(np.ascontiguousarray(points[here])))
        return np.sqrt(left)

    def posterior_covariance(self, points: FloatArray) -> FloatArray:
        """Latent covariance (p, p) at points (p, d), in squared units of z."""
        m, p = len(self.basis), len(points)
        phi = projected(self.kernel_, self.basis, self._U, points)
        covariance = self.kernel_.padded_gram(points, 0.0)
        _linalg.subtract_product(p, p, m, phi, phi, covariance)
        _linalg.solve_transposed(m, p, self._R, phi)
        phi *= np.sqrt(self.noise_)
        _linalg.subtract_product(p, p, m, -phi, phi, covariance)
        return symmetric(covariance[:, :p])

    def imagined(self, points: FloatArray) -> ProjectedProcess:
        """The process as if it had observed its own mean at points (p, d): the mean is the same; O(p m^2 + m^3)."""
        twin = copy.copy(self)
        twin._B, twin._moments = self._B.copy(), self._moments.copy()
        twin.observe(np.ascontiguousarray(points), self.posterior(points)[0])
        return twin

    # ---- how

    def _solve(self) -> None:
        """R, and the weights R^-T phi(X) z of the mean."""
        R, _ = first_factor(self._B, self.kernel_.jitters(len(self.basis)))
        self._R, self._weights = R, forward(R, self._moments)

    def _features(self, points: FloatArray) -> FloatArray:
        """Phi (m, p) of points (p, d)."""
        return projected(self.kernel_, self.basis, self._U, points)[:, : len(points)]

    def _rest(self, phi: FloatArray) -> FloatArray:
        """Prior variance (p,) that features (m, p) leave unexplained."""
        left: FloatArray = np.maximum(self.kernel_.variance - np.einsum("ij,ij->j", phi, phi), 0.0)
        return left

    def _score(self, points: FloatArray, here: slice, mean: FloatArray, variance: FloatArray) -> None:
        m, size = len(self.basis), here.stop - here.start
        phi = projected(self.kernel_, self.basis, self._U, points[here])
        explained = np.einsum("ij,ij->j", phi, phi)[:size]
        _linalg.solve_transposed(m, size, self._R, phi)
        mean[here] = np.einsum("ij,i->j", phi, self._weights)[:size]
        left = np.einsum("ij,ij->j", phi, phi)[:size]
        variance[here] = np.maximum(self.kernel_.variance - explained, 0.0) + self.noise_ * left


def projected(kernel: Kernel, Z: FloatArray, U: FloatArray, points: FloatArray) -> FloatArray:
    """Features phi (m, ld) of the points, padded."""
    m, size = len(Z), len(points)
    phi = padded_copy(kernel(Z, points))
    _linalg.solve_transposed(m, size, U, phi)
    return phi

"""Posteriors on all data and on a part of it, by the book."""

import numpy as np
from hypothesis import strategies as st

from gssbo import reference as ref
from gssbo.diagnostics import PosteriorGap, leave_one_out
from gssbo.kernels import Kernel

KERNELS = ["matern52", "matern32", "rbf"]


CLOSE = 1e-8  # relative, to the largest value of what is compared


class Case:
    """A random pool, partition and points, and both posteriors by plain NumPy."""

    def __init__(self, seed, kernel, d=None, noise=None):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 50))
        self.d = d = int(rng.integers(1, 21)) if d is None else d
        self.noise = 10.0 ** rng.uniform(-4, 0) if noise is None else noise
        self.X = rng.random((n, d))
        if seed % 4 == 0:  # some observations stand where others do, or hardly beside them
            self.X[n // 2 :] = self.X[: n - n // 2] + (seed % 8) * 1e-9 * rng.standard_normal((n - n // 2, d))
        self.y = np.sin(5.0 * self.X[:, 0]) + self.X.sum(axis=1) + rng.standard_normal(n)
        self.kernel = Kernel(kernel, np.sqrt(d) * rng.uniform(0.2, 1.5, d), rng.uniform(0.5, 3.0))
        self.theta = np.log([*self.kernel.lengthscale, self.kernel.variance, self.noise])
        # Every third case has observations whose own noise is known, on top of what all share.
        self.known = np.where(rng.random(n) < 0.5, rng.uniform(0.0, 0.5, n), 0.0) if seed % 3 == 0 else np.zeros(n)
        order = rng.permutation(n)
        m = int(rng.integers(1, n))
        self.U, self.R = order[:m], np.sort(order[m:])
        self.Q = np.vstack([rng.random((20, d)), self.X])

    def gap(self, **options):
        noise_std = np.sqrt(self.known) if self.known.any() else None
        return PosteriorGap(self.kernel, self.X, self.y, self.U, noise=self.noise, noise_std=noise_std, **options)

    def covariance(self, members):
        """K_y of some of the observations."""
        return ref.noisy_covariance(self.X[members], self.theta, self.kernel.name) + np.diag(self.known[members])

    def leave_one_out(self):
        return leave_one_out(self.kernel, self.X, self.y, noise=self.noise, noise_std=np.sqrt(self.known))

    def posterior(self, members, Q=None):
        """Mean and variance at Q from its definition (appendix B of the paper), by solves with K_y."""
        Q = self.Q if Q is None else Q
        X, K_y = self.X[members], self.covariance(members)
        k = ref.kernel_matrix(X, Q, self.theta, self.kernel.name)
        return k.T @ np.linalg.solve(K_y, self.y[members]), self.kernel.variance - np.sum(
            k * np.linalg.solve(K_y, k), axis=0
        )

    def posteriors(self):
        """Full-data and subset mean and standard deviation."""
        mean, variance = self.posterior(np.arange(len(self.X)))
        subset_mean, subset_variance = self.posterior(self.U)
        return mean, np.sqrt(np.maximum(variance, 0)), subset_mean, np.sqrt(np.maximum(subset_variance, 0))

    def blocks(self):
        K = ref.kernel_matrix(self.X, self.X, self.theta, self.kernel.name) + np.diag(self.known)
        k = ref.kernel_matrix(self.X, self.Q, self.theta, self.kernel.name)
        return ref.posterior_gap(K, k, self.y, self.noise, self.U)


cases = st.builds(Case, st.integers(0, 10**6), st.sampled_from(KERNELS))


def same(got, expected, scale=None, tolerance=CLOSE):
    """Equal to within `tolerance` of the largest entry, or of `scale` where that is what cancels."""
    expected = np.asarray(expected)
    assert np.shape(got) == expected.shape
    scale = np.abs(expected).max() if scale is None else scale
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance * scale)


def at_most(value, bound):
    """No larger than the bound, beyond rounding."""
    assert np.all(value <= bound * (1 + 1e-9) + 1e-13), np.max(value - bound)


def wave(x):
    return float(np.sin(3.0 * x[0]) + 0.1 * x[1])

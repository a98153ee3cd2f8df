"""Small Gaussian processes that tests fit, and the data for them."""

import copy

import numpy as np

from gssbo import GaussianProcess
from gssbo.kernels import KERNELS

NAMES = sorted(KERNELS)


def fixed(kernel, theta, **options):
    """A GaussianProcess whose hyperparameters are exp(theta), on responses as they are."""
    *lengthscale, variance, noise = np.exp(theta)
    options = {"fit_hyperparameters": False, "normalize_y": False, **options}
    return GaussianProcess(kernel, lengthscale=lengthscale, variance=variance, noise=noise, **options)


def setting(n, d, seed=0):
    rng = np.random.default_rng([n, d, seed])
    theta = np.log([*rng.uniform(0.2, 1.0, d) * np.sqrt(d), rng.uniform(0.5, 2.0), 10 ** rng.uniform(-3, -1)])
    X = rng.random((n, d))
    y = np.sin(4 * X).sum(axis=1) + 0.3 * rng.standard_normal(n)
    return X, y, theta, rng


def data(n=25, d=2, seed=0):
    X, y, _, _ = setting(n, d, seed)
    return X, y


def state(gp):
    """Everything a fit leaves behind, copied."""
    kept = {k: v for k, v in vars(gp).items() if k.endswith("_") and k != "kernel_"}
    return copy.deepcopy(kept)


def same(a, b):
    return a.keys() == b.keys() and all(np.array_equal(a[k], b[k]) for k in a)

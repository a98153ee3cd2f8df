"""Pools that rules choose from, and what a rule chooses."""

import numpy as np

from gssbo import reference as ref
from gssbo.embedding import Embedding
from gssbo.kernels import Kernel
from gssbo.selection import RULES


def make_pool(n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    y = np.sin(6 * X[:, 0]) + X.mean(axis=1) + 0.05 * rng.standard_normal(n)
    return X, ref.standardise(y)[0]


def log_theta(d, lengthscale=0.4, variance=1.7, noise=1e-3):
    return np.log([*np.full(d, lengthscale), variance, noise])


def chosen_by(rule, X, z, theta, size, forced=(), kernel="matern52"):
    scales, variance, noise = ref.unpack(np.asarray(theta, dtype=float))
    embedding = Embedding(Kernel(kernel, scales.copy(), variance), noise, np.ascontiguousarray(X))
    forced = np.array(forced, dtype=np.intp)
    return RULES[rule](embedding, size, forced, np.ascontiguousarray(z), np.random.default_rng(0)).tolist()

"""What the oracle is held against: scikit-learn's models, and closed forms."""

import numpy as np
from scipy.stats import norm
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel

from gssbo import reference as ref

SKLEARN = {
    "matern52": lambda scales: Matern(scales, nu=2.5),
    "matern32": lambda scales: Matern(scales, nu=1.5),
    "rbf": lambda scales: RBF(scales),
}
KERNELS = sorted(SKLEARN)
# Case B22: log h(t), h(t) = phi(t) + t Phi(t), and its slope, to high precision.
LOG_H = {
    3: 1.0987396653277,
    0: -0.9189385332047,
    -1: -2.4851210257126,
    -5: -16.744301162661,
    -10: -55.553122036122,
    -20: -206.91783850943,
    -37: -692.64296016327,
    -40: -808.29856835662,
    -100: -5010.1295788002,
}
LOG_H_SLOPES = {-10: 10.194383033413, -40: 40.049906657649}
RULES = ["vector", "scalar", "random", "kmeans++", "maxmin", "residual", "variance", "residual-ratio"]
RULES += ["residual-exchange", "topk-random"]


def make_data(n=15, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    z = ref.standardise(np.sin(5 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(n))[0]
    theta = np.log([*rng.uniform(0.2, 1.5, d), 1.7, 0.03])
    return X, z, theta


def sklearn_model(X, z, theta, kernel):
    """The same model at the same hyperparameters, with no jitter of scikit-learn's own."""
    scales, variance, noise = ref.unpack(theta)
    covariance = ConstantKernel(variance) * SKLEARN[kernel](scales) + WhiteKernel(noise)
    return GaussianProcessRegressor(covariance, alpha=0.0, optimizer=None).fit(X, z)


def normal_h(t):
    return norm.pdf(t) + t * norm.cdf(t)

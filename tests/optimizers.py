"""Small optimizers that tests drive."""

import numpy as np

from gssbo import GaussianProcess, Optimizer

RULES = ["vector", "scalar", "random", "kmeans++", "maxmin", "residual", "variance", "residual-ratio"]
RULES += ["residual-exchange"]
ACQUISITIONS = ["ucb", "ei", "log_ei", "pi", "thompson"]


BOX = [(-2.0, 3.0), (0.0, 4.0)]


def bowl(x):
    return float((x[0] - 1.0) ** 2 + (x[1] - 2.0) ** 2)


def fixed(d, noise=1e-2, **keywords):
    return GaussianProcess(lengthscale=[0.4] * d, noise=noise, fit_hyperparameters=False, **keywords)


def quick(**keywords):
    """A small optimizer that fits hyperparameters, switches at 11 and scores few candidates."""
    surrogate = GaussianProcess(n_restarts=0, lengthscale_bounds=(0.05, 10.0))
    settings = {"n_init": 5, "subset_size": 10, "n_candidates": 100, "surrogate": surrogate, "rng": 0}
    return Optimizer(BOX, **{**settings, **keywords})


def drive(optimizer, n, fun=bowl):
    """n turns of the loop; the points suggested."""
    points = []
    for _ in range(n):
        points.append(optimizer.ask())
        optimizer.tell(points[-1], fun(points[-1]))
    return np.array(points)


def told(n, d=2, seed=0, **keywords):
    """A quick optimizer told n points in bulk."""
    X = np.random.default_rng(seed).uniform(0.0, 3.0, (n, d))
    optimizer = quick(**keywords)
    optimizer.tell(X, [bowl(x) for x in X])
    return optimizer


def few_candidates(method):
    """Options of a method with which a suggestion takes little, where all that counts is that it may be made."""
    return {} if method == "portfolio" else {"n_candidates": 50}

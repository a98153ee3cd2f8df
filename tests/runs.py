"""Small runs of `minimize` that tests look at."""

import numpy as np

import gssbo
from tests.optimizers import BOX, bowl

FAST = {
    "n_init": 5,
    "subset_size": 10,
    "n_candidates": 200,
    "surrogate": gssbo.GaussianProcess(n_restarts=0, lengthscale_bounds=(0.05, 10.0)),
}


def run(fun=bowl, bounds=BOX, *, n_evals=14, rng=0, **options):
    return gssbo.minimize(fun, bounds, n_evals=n_evals, rng=rng, **{**FAST, **options})


def assert_same_run(a, b):
    np.testing.assert_array_equal(a.x_iters, b.x_iters)
    np.testing.assert_array_equal(a.func_vals, b.func_vals)
    np.testing.assert_array_equal(a.retained, b.retained)


class Counted:
    def __init__(self, fun=bowl):
        self.fun, self.points = fun, []

    def __call__(self, x):
        self.points.append(x.copy())
        return self.fun(x)


class CustomError(Exception):
    pass

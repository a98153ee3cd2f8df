"""Runs of the portfolio that tests look at."""

import numpy as np

from gssbo import Optimizer

BOX = [(-1.0, 2.0)]


def sphere(x):
    return float(((np.asarray(x) - 0.5) ** 2).sum())


def ripples(x):
    return float(((x - 0.3) ** 2).sum() + 0.1 * np.sin(9.0 * x).sum())


def run(d, f, n, **options):
    optimizer = Optimizer(BOX * d, method="portfolio", **{"rng": 0, "threads": 1, **options})
    for _ in range(n):
        x = optimizer.ask()
        optimizer.tell(x, f(x))
    return optimizer

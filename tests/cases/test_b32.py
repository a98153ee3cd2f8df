"""B32: neither memory nor the time of an ask or a tell grows with the history."""

import time
import tracemalloc

import numpy as np
import pytest

import gssbo
from tests.objectives import bowl

DIM = 10


def optimizer(method):
    return gssbo.Optimizer([(0.0, 1.0)] * DIM, subset_size=100, rng=0, method=method, threads=1, n_init=20)


def tell_random(opt, rng, n):
    """Tell n uniform points, one at a time."""
    for x in rng.random((n, DIM)):
        opt.tell(x, bowl(x))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_memory_of_three_thousand_tells(method):
    rng = np.random.default_rng(0)
    opt = optimizer(method)
    sizes = []
    tracemalloc.start()
    for _ in range(2):
        for _ in range(30):
            tell_random(opt, rng, 49)
            x = opt.ask()
            opt.tell(x, bowl(x))
        sizes.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert sizes[1] - sizes[0] < 20e6


@pytest.mark.slow
@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_time_at_three_thousand_tells(method):
    # Two optimizers take turns, so that a machine that becomes slower slows both.
    rng = np.random.default_rng(0)
    opts = {300: optimizer(method), 2_800: optimizer(method)}
    for n, opt in opts.items():
        tell_random(opt, rng, n)
    asks, tells = {n: [] for n in opts}, {n: [] for n in opts}
    for turn in range(40):
        for n, opt in opts.items():
            begin = time.process_time()
            x = opt.ask()
            asks[n].append(time.process_time() - begin)
            opt.tell(x, bowl(x))
        for x in rng.random((3, DIM)) if turn >= 20 else ():
            for n, opt in opts.items():
                begin = time.process_time()
                opt.tell(x, bowl(x))
                tells[n].append(time.process_time() - begin)
    # The first asks build what later ones keep.
    assert np.median(asks[2_800][10:]) <= 1.5 * np.median(asks[300][10:]) + 2e-3
    assert np.median(tells[2_800]) <= 2.0 * np.median(tells[300]) + 5e-5

"""B06: a large budget made of repeats."""

import time
import tracemalloc

import numpy as np
import pytest

import gssbo
from gssbo.history import History


def rows(order):
    """Every n from 0 to 49 a hundred times, then 17 with the best value."""
    n = np.repeat(np.arange(50), 100)
    if order == "mixed":
        n = np.random.default_rng(1).permutation(n)
    y = (n - 17) ** 2 / 100 + 0.3 * np.random.default_rng(7).standard_normal(5_000)
    return np.append(n, 17), np.append(y, -1.5)


METHODS = {
    "portfolio": {"method": "portfolio"},
    "vector": {"method": "box"},
    "residual": {"rule": "residual"},
    "random": {"rule": "random", "retain_initial": False},
}


@pytest.mark.parametrize(
    ("name", "size", "order"),
    [(name, 256, order) for name in METHODS for order in ("grouped", "mixed")]
    + [(name, 2_000, "grouped") for name in METHODS if name != "portfolio"],
)
def test_every_point_is_retained_and_so_is_the_best(name, size, order):
    options = METHODS[name]
    n, y = rows(order)
    opt = gssbo.Optimizer([gssbo.Integer(0, 49)], subset_size=size, duplicates="allow", rng=0, threads=1, **options)
    if size == 2_000:  # whose fit would take a minute
        fixed = gssbo.GaussianProcess(
            lengthscale=0.3, variance=1.0, noise=0.1, fit_hyperparameters=False, normalize_y=True
        )
        opt = gssbo.Optimizer(
            [gssbo.Integer(0, 49)], subset_size=size, duplicates="allow", rng=0, threads=1, surrogate=fixed,
            **{**options, "method": "box"},
        )  # fmt: skip
    opt.tell(n[:, None], y)
    best = int(np.argmin(y))
    tracemalloc.start()
    x = opt.ask()
    retained = opt.retained
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0 <= x[0] <= 49 and isinstance(x[0], int)
    assert len(retained) <= size
    assert set(n[retained]) == set(range(50))
    assert best in retained
    assert (opt.best_y, opt.best_x) == (-1.5, [17])
    assert peak < 8 * 8 * size**2 + 60e6  # never 8 * 5,000^2 = 200 MB


@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_the_time_of_an_ask_does_not_grow(method):
    n, y = rows("mixed")
    seconds = {}
    for told in (2_500, 5_000):
        opt = gssbo.Optimizer([gssbo.Integer(0, 49)], duplicates="allow", rng=0, threads=1, method=method)
        opt.tell(n[:told, None], y[:told])
        opt.ask()
        taken = []
        for _ in range(9):
            opt.tell(opt.ask(), 1.0)
            begin = time.process_time()
            opt.ask()
            taken.append(time.process_time() - begin)
        seconds[told] = np.median(taken)
    assert seconds[5_000] < 2.0 * seconds[2_500] + 5e-3


def test_without_repeats_nothing_is_different():
    """The rule for repeats does not speak up where most points are distinct."""
    history = History(1)
    X = np.random.default_rng(0).random((40, 1))
    history.append(X, X, X[:, 0])
    assert history.representatives is None
    history.append(X[:39], X[:39], X[:39, 0])
    assert history.representatives is None
    history.append(X[39:], X[39:], X[39:, 0])
    np.testing.assert_array_equal(history.representatives, np.arange(40, 80))


def test_a_subset_whose_entries_32_bits_cannot_count():
    opt = gssbo.Optimizer([(0.0, 1.0)], subset_size=46_341, rng=0)
    opt.tell(np.linspace(0, 1, 30)[:, None], np.linspace(0, 1, 30))
    assert 0 <= opt.ask()[0] <= 1  # the size is a limit, not an allocation

"""Responses that strain doubles, duplicates, long histories."""

import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

from gssbo import GaussianProcess
from tests.optimizers import ACQUISITIONS, RULES, drive, quick

pytestmark = pytest.mark.usefixtures("single_thread")


def hard_responses(name, n=40):
    rng = np.random.default_rng(0)
    normal = rng.standard_normal(n)
    mixed = np.tile([1e300, 1e-300, 0.0, -1e300, 1.0], n // 5)
    spike = 1e-20 * normal
    spike[6] = -1e300
    return {
        "huge": 1e300 * np.tanh(normal),
        "mixed": mixed,
        "spike": spike,
        "spike up": -spike,
        "largest": np.where(normal > 0, 1.7e308, -1.7e308),
        "denormal": np.where(normal > 0, 5e-324, 1e-323),
        "tiny": 1e-310 * normal,
        "zero": np.zeros(n),
        "constant": np.full(n, 1.7e308),
        "offset": 1e15 + np.round(normal),
    }[name]


HARD = ["huge", "mixed", "spike", "spike up", "largest", "denormal", "tiny", "zero", "constant", "offset"]


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
@pytest.mark.parametrize("name", HARD)
def test_extreme_responses(name, acquisition):
    y = hard_responses(name)
    X = np.random.default_rng(1).uniform([-2.0, 0.0], [3.0, 4.0], (len(y), 2))
    for options in ({}, {"rule": "random", "retain_initial": False}, {"rule": "scalar", "pool": "full"}):
        optimizer = quick(acquisition=acquisition, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            optimizer.tell(X[:4], y[:4])
            for i in range(4, 14):
                assert np.isfinite(optimizer.ask()).all()
                optimizer.tell(X[i], y[i])
            optimizer.tell(X[14:], y[14:])
            for value in (y.max(), 0.0):
                x = optimizer.ask()
                assert np.isfinite(x).all()
                optimizer.tell(x, value)
            if name not in ("largest", "constant"):
                mean, std = optimizer.predict(X, return_std=True)
                assert np.isfinite(mean).all()
                assert np.isfinite(std).all()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("refit", [1, "frozen"])
def test_a_hundred_duplicates(rule, refit):
    optimizer = quick(rule=rule, refit=refit)
    optimizer.tell([[0.5, 1.0]] * 100, np.random.default_rng(0).standard_normal(100))
    points = drive(optimizer, 5)
    assert np.isfinite(points).all()
    assert len(np.unique(points, axis=0)) == 5
    optimizer.tell([[0.5, 1.0]] * 30, [1e300] * 30)
    assert np.isfinite(optimizer.ask()).all()


@pytest.mark.parametrize("rule", RULES)
def test_a_constant_objective(rule):
    optimizer = quick(rule=rule)
    points = drive(optimizer, 20, lambda x: 3.0)
    assert len(np.unique(points, axis=0)) == 20
    np.testing.assert_array_equal(optimizer.predict(points), 3.0)


def test_no_noise_and_duplicates():
    surrogate = GaussianProcess(lengthscale=0.4, noise=0.0, fit_hyperparameters=False)
    optimizer = quick(surrogate=surrogate, refresh="cached", pool="full")
    optimizer.tell([[0.5, 1.0], [0.5, 1.0], [2.0, 2.0]] * 10, np.tile([1.0, 1.0, 2.0], 10))
    assert np.isfinite(drive(optimizer, 5)).all()


def test_memory_of_a_large_history():
    pytest.importorskip("resource")
    script = """
        import resource, sys, tracemalloc
        import numpy as np
        import gssbo
        peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        box = [(0.0, 1.0)] * 10
        X = np.random.default_rng(0).random((20_000, 10))
        y = X.sum(axis=1)
        small = gssbo.Optimizer(box, rng=0)
        small.tell(X[:50], y[:50])
        small.ask()
        before = peak()
        tracemalloc.start()
        optimizer = gssbo.Optimizer(box, surrogate=gssbo.GaussianProcess(n_restarts=0), rng=0)
        optimizer.tell(X, y)
        optimizer.ask()
        print(tracemalloc.get_traced_memory()[1] / 2**20, (peak() - before) / 2**20, len(optimizer.retained))
    """
    out = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    traced, resident, retained = map(float, out.stdout.split())
    assert retained == 100
    assert traced < 64
    assert resident < 64

"""B31: seeds, and other people's random numbers."""

import random
import subprocess
import sys

import numpy as np
import pytest

import gssbo

BOX = [(0.0, 1.0)] * 2


def bowl(x):
    return float(((x - 0.3) ** 2).sum())


def run(rng, fun=bowl, **options):
    return gssbo.minimize(fun, BOX, n_evals=15, n_init=6, rng=rng, **options).x_iters


@pytest.mark.parametrize("method", [None, "box", "turbo"])
def test_global_generators_are_left_alone(method):
    mine, theirs = np.random.get_state(), random.getstate()
    run(0, method=method)
    run(None, method=method)
    now = np.random.get_state()
    assert random.getstate() == theirs
    assert now[0] == mine[0] and (now[1] == mine[1]).all() and now[2:] == mine[2:]


@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_seeds_of_every_kind(method):
    first = run(7, method=method)
    np.testing.assert_array_equal(run(7, method=method), first)
    np.testing.assert_array_equal(run(np.int64(7), method=method), first)
    np.testing.assert_array_equal(run(np.random.default_rng(7), method=method), first)

    def reseeds(x):
        np.random.seed(0)
        random.seed(0)
        return bowl(x)

    np.testing.assert_array_equal(run(7, reseeds, method=method), first)
    assert not np.array_equal(run(8, method=method), first)


def test_two_processes_without_a_seed_differ():
    code = "import gssbo; print(gssbo.Optimizer([(0.0, 1.0)]).ask())"
    found = {subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout for _ in range(2)}
    assert len(found) == 2

"""The same seed gives the same run, whatever the BLAS threads, and nothing global is touched."""

import hashlib
import logging
import os
import random
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import gssbo
from gssbo.problems import get_problem

pytestmark = pytest.mark.usefixtures("single_thread")

# n beyond M, pools beyond 256 members so that blocked code runs, hyperparameter fits with restarts.
SETTINGS = {
    "vector ucb": {"rule": "vector", "acquisition": "ucb"},
    "scalar log_ei": {"rule": "scalar", "acquisition": "log_ei", "refit": 2},
    "random pi": {"rule": "random", "acquisition": "pi", "retain_initial": False},
    "kmeans++ thompson": {"rule": "kmeans++", "acquisition": "thompson", "refit": "frozen"},
    "maxmin ei": {"rule": "maxmin", "acquisition": "ei"},
    "residual": {"rule": "residual"},
    "cached": {"rule": "vector", "refit": "frozen", "refresh": "cached"},
}


def run(rng, *, n_told=300, n_asks=3, subset_size=30, **settings):
    """Everything a run yields that should be the same again: points, predictions, theta, retained."""
    problem = get_problem("hartmann6")
    X = np.random.default_rng(42).random((n_told, 6))
    surrogate = gssbo.GaussianProcess(n_restarts=1, lengthscale_bounds=(0.05, 10.0))
    fast = {"n_init": 8, "n_candidates": 500, "surrogate": surrogate}
    settings = {**fast, "pool": "full", "subset_size": subset_size, **settings}
    optimizer = gssbo.Optimizer(problem.bounds, rng=rng, **settings)
    points = [optimizer.ask()]
    optimizer.tell(X, problem(X))
    for _ in range(n_asks):
        points.append(optimizer.ask())
        optimizer.tell(points[-1], problem(points[-1]))
    predictions = np.concatenate(optimizer.predict(X[:20], return_std=True))
    return np.concatenate([*points, predictions, optimizer.surrogate.theta_, optimizer.retained])


@pytest.mark.parametrize("name", SETTINGS)
def test_same_seed_same_run_with_one_blas_thread_and_with_two(name):
    runs = []
    for threads in (1, 1, 2):
        with threadpool_limits(threads):
            runs.append(run(3, **SETTINGS[name]))
    np.testing.assert_array_equal(runs[1], runs[0])
    np.testing.assert_array_equal(runs[2], runs[0])
    assert not np.array_equal(run(4, **SETTINGS[name])[:6], runs[0][:6])


def test_a_retained_subset_beyond_the_blocks_with_one_blas_thread_and_with_two():
    surrogate = gssbo.GaussianProcess(n_restarts=0, lengthscale_bounds=(0.05, 10.0))
    runs = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            runs.append(run(3, n_told=320, n_asks=2, subset_size=270, surrogate=surrogate))
    np.testing.assert_array_equal(*runs)


def test_the_number_of_blas_threads_is_left_alone():
    for threads in (1, 2):
        with threadpool_limits(threads):
            before = [pool["num_threads"] for pool in threadpool_info()]
            run(3, n_asks=1)
            assert [pool["num_threads"] for pool in threadpool_info()] == before


def test_kinds_of_seed_agree():
    expected = run(7, n_asks=1)
    np.testing.assert_array_equal(run(np.int64(7), n_asks=1), expected)
    np.testing.assert_array_equal(run(np.random.default_rng(7), n_asks=1), expected)
    np.testing.assert_array_equal(run(np.random.SeedSequence(7), n_asks=1), expected)
    np.testing.assert_array_equal(run(np.random.PCG64(7), n_asks=1), expected)


def test_a_generator_used_twice_gives_two_runs_and_none_gives_others():
    generator = np.random.default_rng(7)
    first, second = run(generator, n_asks=1), run(generator, n_asks=1)
    assert not np.array_equal(first[:6], second[:6])
    assert not np.array_equal(run(None, n_asks=1)[:6], run(None, n_asks=1)[:6])


def test_a_generator_that_cannot_be_split_is_refused_by_name():
    """Legacy seeding keeps no seed sequence, so there is nothing to spawn streams from."""
    with pytest.raises(ValueError, match=r"^rng must "):
        gssbo.Optimizer([(0.0, 1.0)], rng=np.random.RandomState(3))


def test_minimize_is_reproducible():
    problem = get_problem("eggholder2")
    options = {"n_evals": 22, "n_init": 8, "subset_size": 15, "n_candidates": 500}
    a, b = (gssbo.minimize(problem, problem.bounds, rng=5, **options) for _ in range(2))
    np.testing.assert_array_equal(a.x_iters, b.x_iters)
    np.testing.assert_array_equal(a.func_vals, b.func_vals)
    c = gssbo.minimize(problem, problem.bounds, rng=6, **options)
    assert not np.array_equal(a.x_iters, c.x_iters)


def state():
    kind, keys, *rest = np.random.get_state()
    return {
        "numpy": (kind, keys.tobytes(), *rest),
        "random": random.getstate(),
        "warnings": list(warnings.filters),
        "errors": np.geterr(),
        "logging": [(log.level, log.disabled, list(log.handlers)) for log in map(logging.getLogger, ("", "gssbo"))],
        "environment": dict(os.environ),
        "print": str(np.get_printoptions()),
    }


@pytest.mark.parametrize("name", SETTINGS)
def test_nothing_global_is_touched(name):
    before = state()
    run(3, n_asks=2, **SETTINGS[name])
    run(None, n_asks=1, **SETTINGS[name])
    gp = gssbo.GaussianProcess().fit([[0.0], [0.5], [1.0]], [0.0, 1.0, 0.5])
    gssbo.select_subset(gp, [[0.1], [0.2], [0.3]], 2, rule="random")
    gp.sample_y([[0.2]])
    after = state()
    for key in before:
        assert after[key] == before[key], key


def test_the_global_generators_do_not_matter():
    np.random.seed(1)
    random.seed(1)
    first = run(3, n_asks=1)
    np.random.seed(2)
    random.seed(2)
    np.testing.assert_array_equal(run(3, n_asks=1), first)


def test_nothing_is_printed(capfd):
    run(3, n_asks=2)
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_processes_agree():
    """A hash seed and the threads of a fresh process change nothing."""
    script = f"""
        import hashlib, sys
        sys.path.insert(0, {os.path.dirname(__file__)!r})
        from test_determinism import SETTINGS, run
        print(hashlib.sha256(run(3, n_asks=1, **SETTINGS["vector ucb"]).tobytes()).hexdigest())
    """
    digest = hashlib.sha256(run(3, n_asks=1, **SETTINGS["vector ucb"]).tobytes()).hexdigest()
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, "PYTHONHASHSEED": "2", "OPENBLAS_NUM_THREADS": "2", "OMP_NUM_THREADS": "2"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == digest

"""Whole iterations, beside the loop on scikit-learn on the same slices of the same history."""

import pytest

from bench.workloads import loop

STEPS = (50, 99, 100, 101, 200)
PATHS = ["gssbo", loop.SKLEARN]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", [50, 99, 100, 101, 200, 1000])
def bench_gssbo(measure, n, threads, path):
    measure(loop.iterations, "hartmann6", n, 1, path=path, threads=threads)


@pytest.mark.parametrize("path", ["gssbo", loop.SKLEARN_FROZEN, loop.SKLEARN])
@pytest.mark.parametrize("n", [200, 1000])
def bench_frozen(measure, n, path):
    measure(loop.iterations, "hartmann6", n, 1, "GSSBO, frozen and cached", path=path)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("n", [50, 100, 200])
def bench_full_data(measure, n, path):
    measure(loop.iterations, "hartmann6", n, 1, "full-data GP-UCB", path=path)


@pytest.mark.parametrize("path", PATHS)
def bench_powell50(measure, path):
    measure(loop.iterations, "powell50", 101, 1, path=path)


@pytest.mark.parametrize("method", [None, "box"])
@pytest.mark.parametrize("n", STEPS)
def bench_ask(measure, n, method):
    measure(loop.ask, n, sizes=STEPS, method=method)


@pytest.mark.parametrize("path", ["gssbo", "ask(1)"])
@pytest.mark.parametrize("problem", ["hartmann6", "levy20"])
def bench_batch(measure, problem, path):
    measure(loop.batch, problem, path=path)


@pytest.mark.parametrize("path", ["gssbo", "one thread"])
def bench_threads(measure, path):
    measure(loop.threads, 20, path=path)

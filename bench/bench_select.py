"""Selection over a whole pool, beside LAPACK's factorization and inverse alone and NumPy."""

import pytest

from bench.workloads import selection


@pytest.mark.parametrize("path", ["gssbo", selection.FLOOR, "NumPy"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", [400, 1000])
def bench_full_pool(measure, n, threads, path):
    measure(selection.full_pool, n, path=path, threads=threads)


@pytest.mark.parametrize("path", ["gssbo", "NumPy"])
@pytest.mark.parametrize("rule", ["vector", "scalar", "kmeans++", "maxmin"])
def bench_rule(measure, rule, path):
    measure(selection.greedy, rule, 400, path=path)


@pytest.mark.parametrize("path", ["gssbo", selection.VECTOR])
@pytest.mark.parametrize("exchange", [False, True])
def bench_residual(measure, exchange, path):
    measure(selection.residual, 1000, exchange=exchange, path=path)

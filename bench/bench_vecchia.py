"""Vecchia's approximation: a step of its search and its scores, beside the exact process and NumPy."""

import pytest

from bench.workloads import vecchia

PATHS = ["gssbo", vecchia.EXACT, vecchia.NUMPY]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("n", [100, 1000])
def bench_likelihood(measure, n, path):
    measure(vecchia.likelihood, n, 6, path=path)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("n", [100, 1000])
def bench_score(measure, n, path):
    measure(vecchia.score, n, 6, 2_000, path=path)

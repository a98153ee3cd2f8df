"""Covariance matrices, beside NumPy and scikit-learn."""

import pytest

from bench.workloads import dense

PATHS = ["gssbo", "NumPy", "scikit-learn"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("n", "d"), [(100, 6), (100, 50), (1000, 6)])
def bench_gram(measure, n, d, threads, path):
    measure(dense.gram, n, d, path=path, threads=threads)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("threads", [1, 2])
def bench_cross(measure, threads, path):
    measure(dense.cross, 100, 10_000, 6, path=path, threads=threads)

"""Cholesky factorization and inverse, beside LAPACK and NumPy."""

import pytest

from bench.workloads import dense


@pytest.mark.parametrize("path", ["gssbo", "LAPACK", "NumPy"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", [100, 1000])
def bench_cholesky(measure, n, threads, path):
    measure(dense.cholesky, n, path=path, threads=threads)


@pytest.mark.parametrize("path", ["gssbo", "LAPACK", "NumPy"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", [100, 1000])
def bench_inverse(measure, n, threads, path):
    measure(dense.inverse, n, path=path, threads=threads)

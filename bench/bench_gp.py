"""Likelihood with gradient and the refit inside the loop, beside scikit-learn and NumPy."""

import pytest

from bench.workloads import gaussian_process


@pytest.mark.parametrize("path", ["gssbo", "scikit-learn", "NumPy"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("n", "d"), [(100, 6), (100, 50), (1000, 6)])
def bench_likelihood(measure, n, d, threads, path):
    measure(gaussian_process.likelihood, n, d, path=path, threads=threads)


@pytest.mark.parametrize("path", ["gssbo", "scikit-learn"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("problem", "count"), [("hartmann6", 5), ("powell50", 1)])
def bench_refit(measure, problem, count, threads, path):
    measure(gaussian_process.refit, problem, (120,), count, path=path, threads=threads)

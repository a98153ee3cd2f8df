"""Posterior, upper confidence bound and argmax over candidates, beside scikit-learn and NumPy."""

import pytest

from bench.workloads import gaussian_process


@pytest.mark.parametrize("path", ["gssbo", "scikit-learn", "NumPy"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("d", "m"), [(6, 10_000), (50, 5_000)])
def bench_score(measure, d, m, threads, path):
    measure(gaussian_process.score, d, m, path=path, threads=threads)

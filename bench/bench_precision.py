"""The precision cache: an observation more, or another, and a selection from it, beside doing it anew."""

import pytest

from bench.workloads import selection


@pytest.mark.parametrize("path", ["gssbo", "NumPy"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", [400, 1000])
def bench_append(measure, n, threads, path):
    measure(selection.append, n, path=path, threads=threads)


@pytest.mark.parametrize("path", ["gssbo", "NumPy"])
@pytest.mark.parametrize("n", [400, 1000])
def bench_replace(measure, n, path):
    measure(selection.replace, n, path=path)


@pytest.mark.parametrize("path", ["gssbo", selection.ANEW, selection.FLOOR, "NumPy"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("n", [1000, 2000])
def bench_cached_refresh(measure, n, threads, path):
    measure(selection.cached_refresh, n, path=path, threads=threads)

"""The `measure` fixture: a workload under pytest-benchmark, its results compared first."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from typing import Any

import pytest
from threadpoolctl import threadpool_limits

from bench.timing import SHORTEST
from bench.workloads import Timed, Workload

LONGEST = 1.0  # seconds a path may take beyond its first call


@functools.lru_cache(maxsize=1)
def _verified(build: Callable[..., Workload], *sizes: Any, **options: Any) -> Workload:
    workload = build(*sizes, **options)
    workload.verify()
    return workload


@pytest.fixture
def measure(benchmark: Any) -> Callable[..., None]:
    """Benchmark one path of a workload: `measure(build, *sizes, path="gssbo", threads=1)`.

    The paths of one workload at one number of BLAS threads make a group. Where a path copies its input, the copy is
    part of the time shown here, for us and for the reference alike; `bench.report` leaves it out.
    """

    def run(build: Callable[..., Workload], *sizes: Any, path: str = "gssbo", threads: int = 1, **options: Any) -> None:
        with threadpool_limits(threads, user_api="blas"):
            workload = _verified(build, *sizes, **options)
            benchmark.group = f"{workload.name}, BLAS threads: {threads}"
            benchmark.name = path
            benchmark.extra_info.update(path=path, blas_threads=threads, calls_are=workload.per)
            function = workload.path(path)
            before = workload.before if path == "gssbo" else None
            start = time.perf_counter()
            first = workload.call(path)
            seconds = max(time.perf_counter() - start, 1e-7)
            assert isinstance(first, Timed)
            benchmark.pedantic(
                function,
                setup=before,
                rounds=max(1, workload.least, min(50, int(LONGEST / max(seconds, SHORTEST)))),
                iterations=1 if before else max(1, min(1_000, int(SHORTEST / seconds))),
            )

    return run

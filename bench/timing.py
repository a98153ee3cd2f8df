"""Interleaved repetitions of a workload, and the rates of this machine to hold them against."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg.blas import dgemm
from scipy.linalg.lapack import dpotrf

from bench.workloads import Shortfall, Workload

SHORTEST = 10e-3  # seconds; shorter calls are timed several at once, as they come in a real run
MOST_CALLS = 1_000


@dataclass(frozen=True)
class Measurement:
    """Median seconds of a unit of work by label ("gssbo" first), or why the results could not be compared."""

    workload: Workload
    seconds: dict[str, float]
    samples: dict[str, int]
    remark: str | None = None

    @property
    def ratios(self) -> dict[str, float]:
        """Reference time over ours, by label."""
        ours = self.seconds["gssbo"]
        return {label: seconds / ours for label, seconds in self.seconds.items() if label != "gssbo"}

    @property
    def targets(self) -> dict[str, bool]:
        """Whether each target is met."""
        good_enough = not isinstance(self.remark, Shortfall)
        return {str(target): good_enough and target.met(self.seconds) for target in self.workload.targets}

    def fraction(self, rates: dict[str, float]) -> float | None:
        """Share of the machine's rate that the work's operations or bytes amount to."""
        work = self.workload.work
        return None if work is None else work.amount / self.seconds["gssbo"] / rates[work.rate]


def measure(
    workload: Workload,
    *,
    repetitions: int,
    budget: float,
    clock: Callable[[], float] = time.perf_counter,
) -> Measurement:
    """Compare the results, then time the paths in turn: ours, reference, ours, reference, and so on.

    A path gets at most `repetitions` samples and about `budget` seconds; where a single call takes longer than the
    budget, the call that was made for the comparison is the sample.

    Raises
    ------
    Disagreement
        If ours and a reference do not give the same result; nothing is timed then.
    """
    labels = ("gssbo", *workload.references)
    first, results = {}, {}
    for label in labels:
        first[label], results[label] = workload.call(label, clock)
    remark = workload.check(results.pop("gssbo"), results)
    calls, rounds = {}, {}
    for label in labels:
        repeatable = workload.before is None or label != "gssbo"
        # The first call was a cold one: try again before deciding how many fit.
        again = min(first[label], workload.call(label, clock).seconds) if first[label] < budget / 4 else first[label]
        wanted = math.ceil(SHORTEST / max(again, SHORTEST / MOST_CALLS))
        calls[label] = wanted if repeatable else 1
        affordable = int(budget / max(again * calls[label], 1e-9))
        rounds[label] = min(repetitions, max(affordable, workload.least))
    samples: dict[str, list[float]] = {label: [] for label in labels}
    for turn in range(repetitions):
        for label in labels:
            if turn < rounds[label]:
                samples[label].append(_several(workload, label, calls[label], clock))
    seconds = {label: statistics.median(found or [first[label]]) / workload.per for label, found in samples.items()}
    return Measurement(workload, seconds, {label: max(len(found), 1) for label, found in samples.items()}, remark)


def _several(workload: Workload, label: str, calls: int, clock: Callable[[], float]) -> float:
    if calls == 1:
        return workload.call(label, clock).seconds
    path = workload.path(label)
    start = clock()
    own = [path() for _ in range(calls)]
    total = clock() - start
    if hasattr(own[0], "seconds"):  # a path that times itself
        total = sum(each.seconds for each in own)
    return total / calls


def machine_rates(n: int = 1_500, megabytes: int = 64, repetitions: int = 5) -> dict[str, float]:
    """Rates of NumPy's and SciPy's own kernels: "dgemm" and "dpotrf" (operations a second), "copy" (bytes a second)."""
    rng = np.random.default_rng(0)
    A = np.asfortranarray(rng.random((n, n)))
    B, C = A.copy(order="F"), np.zeros((n, n), order="F")
    K = np.asfortranarray(A @ A.T + n * np.eye(n))
    source = np.zeros(megabytes * 125_000)
    target = np.ones_like(source)

    def best(function: Callable[[], Any]) -> float:
        function()
        marks = []
        for _ in range(repetitions):
            start = time.perf_counter()
            function()
            marks.append(time.perf_counter() - start)
        return statistics.median(marks)

    def factor() -> float:
        copy = K.copy(order="F")
        start = time.perf_counter()
        dpotrf(copy, lower=1, overwrite_a=1, clean=0)
        return time.perf_counter() - start

    return {
        "dgemm": 2.0 * n**3 / best(lambda: dgemm(1.0, A, B, 0.0, C, overwrite_c=1)),
        "dpotrf": n**3 / 3.0 / statistics.median(factor() for _ in range(repetitions)),
        "copy": 2.0 * source.nbytes / best(lambda: np.copyto(target, source)),
    }

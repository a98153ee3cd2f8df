"""Interleaved repetitions of a workload, and the rates of this machine to hold them against."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Sequence
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


class Trial:
    """A workload whose results were compared, and whose paths take turns: ours, reference, ours, reference, and so on.

    A path gets at most `repetitions` samples and about `budget` seconds; where a single call takes longer than the
    budget, the call that was made for the comparison is the sample.

    Raises
    ------
    Disagreement
        If ours and a reference do not give the same result; nothing is timed then.
    """

    def __init__(
        self, workload: Workload, *, repetitions: int, budget: float, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self.workload, self.repetitions, self._clock = workload, repetitions, clock
        labels = ("gssbo", *workload.references)
        self._first, results = {}, {}
        for label in labels:
            self._first[label], results[label] = workload.call(label, clock)
        self._remark = workload.check(results.pop("gssbo"), results)
        self._calls, self._rounds = {}, {}
        for label, first in self._first.items():
            repeatable = workload.before is None or label != "gssbo"
            # The first call was a cold one: try again before deciding how many fit.
            again = min(first, workload.call(label, clock).seconds) if first < budget / 4 else first
            wanted = math.ceil(SHORTEST / max(again, SHORTEST / MOST_CALLS))
            self._calls[label] = wanted if repeatable else 1
            affordable = int(budget / max(again * self._calls[label], 1e-9))
            self._rounds[label] = min(repetitions, max(affordable, workload.least))
        self._samples: dict[str, list[float]] = {label: [] for label in labels}

    def take(self, turn: int) -> None:
        """One sample of each path that has not had its share by this turn."""
        for label, samples in self._samples.items():
            if turn < self._rounds[label]:
                samples.append(_several(self.workload, label, self._calls[label], self._clock))

    @property
    def measurement(self) -> Measurement:
        """Medians of what was taken."""
        found = {label: samples or [self._first[label]] for label, samples in self._samples.items()}
        seconds = {label: statistics.median(samples) / self.workload.per for label, samples in found.items()}
        return Measurement(self.workload, seconds, {label: len(each) for label, each in found.items()}, self._remark)


def take_turns(trials: Sequence[Trial]) -> None:
    """Time all paths of all trials in turn: what is compared meets the same moods of the machine."""
    for turn in range(max((trial.repetitions for trial in trials), default=0)):
        for trial in trials:
            trial.take(turn)


def measure(
    workload: Workload, *, repetitions: int, budget: float, clock: Callable[[], float] = time.perf_counter
) -> Measurement:
    """Measure a workload by itself; see `Trial`."""
    trial = Trial(workload, repetitions=repetitions, budget=budget, clock=clock)
    take_turns([trial])
    return trial.measurement


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

"""What is measured: one piece of work, our way and by other means, on the same inputs."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

SCALES = {"µs": 1e-6, "ms": 1e-3, "s": 1.0}


class Disagreement(AssertionError):
    """Our result is not the reference's: what was about to be timed is not the same work."""


class Shortfall(str):
    """A remark of a check: the same work, but an outcome that is not as good as asked, so no target counts as met."""

    __slots__ = ()


class Timed(NamedTuple):
    """What a path returns that times itself, because a part of it must not count."""

    seconds: float
    result: Any


class Work(NamedTuple):
    """Floating-point operations or bytes of a call, leading terms, and the rate of the machine to hold them against."""

    amount: float
    rate: str  # "dgemm", "dpotrf" (operations a second) or "copy" (bytes read and written a second)


class Target(NamedTuple):
    """A bound of the speed issue: reference time over ours at least `ratio`, or our time at most `seconds`."""

    reference: str | None = None
    ratio: float = 0.0
    seconds: float = float("inf")

    def met(self, seconds: Mapping[str, float]) -> bool:
        """Whether the times by label meet it."""
        ours = seconds["gssbo"]
        return ours <= self.seconds and (self.reference is None or seconds[self.reference] >= self.ratio * ours)

    def __str__(self) -> str:
        if self.reference is None:
            return f"at most {self.seconds:g} s"
        if self.ratio < 1.0:
            return f"at most {1.0 / self.ratio:.3g}x the time of {self.reference}"
        return f"at least {self.ratio:g}x {self.reference}"


def agrees(ours: Any, references: Mapping[str, Any]) -> str | None:
    """The check of a workload without references: nothing to compare."""
    return None


@dataclass(frozen=True, kw_only=True)
class Workload:
    """One piece of work.

    Parameters
    ----------
    name : str
        What is done, and at which sizes.
    unit : {"µs", "ms", "s"}
        For display.
    ours : callable
        Does it our way.
    references : mapping of label to callable
        Do it by other means, on the same inputs.
    check : callable
        check(ours' result, {label: result}) raises `Disagreement` if they differ, and may return a remark to print,
        a `Shortfall` where quality is missing.
    before : callable, optional
        Untimed, ahead of each call of ours: puts back the state that the call changes.
    per : int
        Units of work in a call; times are divided by it.
    least : int
        Samples to take of each path even where they are slow.
    """

    name: str
    unit: str
    ours: Callable[[], Any]
    references: Mapping[str, Callable[[], Any]]
    check: Callable[[Any, Mapping[str, Any]], str | None] = agrees
    work: Work | None = None
    targets: tuple[Target, ...] = ()
    before: Callable[[], None] | None = None
    per: int = 1
    least: int = 0

    def path(self, label: str) -> Callable[[], Any]:
        """The callable of a label, "gssbo" for ours."""
        return self.ours if label == "gssbo" else self.references[label]

    def call(self, label: str, clock: Callable[[], float] = time.perf_counter) -> Timed:
        """Run a path once, with what goes before it, and time the path alone."""
        path = self.path(label)
        if label == "gssbo" and self.before is not None:
            self.before()
        start = clock()
        result = path()
        seconds = clock() - start
        return result if isinstance(result, Timed) else Timed(seconds, result)

    def verify(self) -> str | None:
        """Run every path once and compare the results."""
        results = {label: self.call(label).result for label in ("gssbo", *self.references)}
        return self.check(results.pop("gssbo"), results)


def timed(function: Callable[..., Any], *args: Any) -> Timed:
    """Call and time; for paths that copy their input first, because they destroy it."""
    start = time.perf_counter()
    result = function(*args)
    return Timed(time.perf_counter() - start, result)


def require_close(what: str, ours: ArrayLike, reference: ArrayLike, *, rtol: float = 1e-8, atol: float = 1e-10) -> None:
    """Raise `Disagreement` unless the arrays agree to the tolerances, `atol` in units of the largest entry."""
    a, b = np.asarray(ours, dtype=float), np.asarray(reference, dtype=float)
    scale = float(np.max(np.abs(b), initial=0.0))
    if a.shape != b.shape or not np.allclose(a, b, rtol=rtol, atol=atol * scale):
        gap = np.max(np.abs(a - b)) if a.shape == b.shape else np.nan
        raise Disagreement(f"{what}: shapes {a.shape} and {b.shape}, largest difference {gap:.3g}, scale {scale:.3g}")


def require_equal(what: str, ours: ArrayLike, reference: ArrayLike) -> None:
    """Raise `Disagreement` unless the arrays are equal to the bit."""
    if not np.array_equal(ours, reference):
        raise Disagreement(f"{what}: {ours!r} is not {reference!r}")

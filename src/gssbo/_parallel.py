"""Work in parts: blocks of it, and threads of our own for compiled work that releases the interpreter's lock.

The workers are started once a process and wait on a queue that is safe to use under signals; the caller works too and
then polls. So Ctrl-C can interrupt at any moment without a lock left behind, and a caller never waits for a worker
that is busy elsewhere.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any, TypeVar

__all__ = ["blocks", "default_threads", "run_all", "share", "usable_processors"]

Result = TypeVar("Result")

MOST = 4  # beyond it the pieces of one suggestion are too small to share
POLL = 5e-5  # seconds
PATIENCE = 5.0  # seconds


class _Workers:
    """Daemon threads of this process, started when first wanted; a forked child starts its own."""

    def __init__(self) -> None:
        self._process = -1
        self._count = 0
        self._jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()

    def submit(self, job: Callable[[], None], copies: int) -> None:
        """Have up to `copies` workers call `job`; none if no thread can be started any more."""
        if self._process != os.getpid():
            self._process, self._count, self._jobs = os.getpid(), 0, SimpleQueue()
        try:
            while self._count < copies:
                threading.Thread(target=_serve, args=(self._jobs,), name="gssbo", daemon=True).start()
                self._count += 1
        except RuntimeError:  # the interpreter is shutting down, or out of threads: the caller does the work
            copies = self._count
        for _ in range(copies):
            self._jobs.put(job)


def _serve(jobs: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        jobs.get()()


_workers = _Workers()


def usable_processors() -> int:
    """Processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def default_threads() -> int:
    """Processors this process may use, at most 4."""
    return min(usable_processors(), MOST)


def blocks(n: int, size: int) -> list[slice]:
    """Slices that part n things in order, `size` of them in each but the last.

    Examples
    --------
    >>> blocks(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def run_all(tasks: Sequence[Callable[[], Result]], threads: int) -> list[Result]:
    """Call every task, on up to `threads` threads, and return their results in order; the first error is raised.

    Examples
    --------
    >>> run_all([lambda: 1, lambda: 2], threads=2)
    [1, 2]
    """
    if threads == 1 or len(tasks) == 1:
        return [task() for task in tasks]
    results: list[Any] = [None] * len(tasks)
    errors: dict[int, BaseException] = {}
    waiting = deque(enumerate(tasks))
    finished: list[int] = []

    def drain() -> None:
        while True:
            try:
                index, task = waiting.popleft()
            except IndexError:
                return
            try:
                results[index] = task()
            except Exception as error:
                errors[index] = error
            finally:
                finished.append(index)

    try:
        _workers.submit(drain, min(threads, len(tasks)) - 1)
        drain()
        while len(finished) < len(tasks):
            time.sleep(POLL)
    except BaseException:  # Ctrl-C: nobody may go on writing to what the tasks were given
        _abandon(waiting, finished, len(tasks))
        raise
    if errors:
        raise errors[min(errors)]
    return results


def _abandon(waiting: deque[Any], finished: list[int], n_tasks: int) -> None:
    """Take back what nobody has begun, and wait for the rest; not for ever, as an interrupt may have lost one."""
    dropped = 0
    with contextlib.suppress(IndexError):
        while True:
            waiting.popleft()
            dropped += 1
    deadline = time.monotonic() + PATIENCE
    while len(finished) + dropped < n_tasks and time.monotonic() < deadline:
        time.sleep(POLL)


def share(task: Callable[[], Result], threads: int) -> Result:
    """Have up to `threads` threads call the same task, which shares out its work itself; return what it returns."""
    return run_all([task] * threads, threads)[0]

"""Threads of our own, for compiled work that releases the interpreter's lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["default_threads", "run_all"]

Result = TypeVar("Result")

MOST = 4  # beyond it the pieces of one suggestion are too small to share


def default_threads() -> int:
    """Processors this process may use, at most 4."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    return min(usable, MOST)


def run_all(tasks: Sequence[Callable[[], Result]], threads: int) -> list[Result]:
    """Call every task, on up to `threads` threads, and return their results in order.

    Examples
    --------
    >>> run_all([lambda: 1, lambda: 2], threads=2)
    [1, 2]
    """
    if threads == 1 or len(tasks) == 1:
        return [task() for task in tasks]
    with ThreadPoolExecutor(min(threads, len(tasks))) as pool:
        return list(pool.map(lambda task: task(), tasks))

"""Evaluations in an executor of the user's."""

from __future__ import annotations

import math
from collections import deque
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

from gssbo._flight import Flight, Landed
from gssbo._objective import Objective, Reply
from gssbo._processes import ProcessWorkers, check_picklable

__all__ = ["ExecutorWorkers"]


class ExecutorWorkers:
    """An executor, kept busy with `size` evaluations at a time. It is the user's, and is not shut down.

    A `ProcessPoolExecutor` in which a process dies breaks as a whole and does not say which evaluation did it: all that
    were in it are evaluated again, in pools of one process like it (`ProcessWorkers`), where the one that breaks its
    own has failed. An executor of another kind that breaks ends the run.

    Parameters
    ----------
    executor : concurrent.futures.Executor
    objective : Objective
    size : int
    """

    def __init__(self, executor: Executor, objective: Objective, size: int) -> None:
        if isinstance(executor, ProcessPoolExecutor):
            check_picklable(objective)
        self._executor, self._size = executor, size
        self._objective = replace(objective, travels=not isinstance(executor, ThreadPoolExecutor))
        self.ready: deque[tuple[int, Reply]] = deque()
        self._flight = Flight()
        self._instead: ProcessWorkers | None = None

    @property
    def free(self) -> int:
        """Evaluations that can start now."""
        return self._size - len(self._flight) if self._instead is None else self._instead.free

    def start(self, number: int, x: Any) -> None:
        """Evaluate at x."""
        if self._instead is None:
            try:
                self._flight.add(number, x, self._executor.submit(self._objective, x))
                return
            except BrokenExecutor:
                self._replace()
        assert self._instead is not None
        self._instead.start(number, x)

    def wait(self) -> None:
        """Wait until a reply is ready."""
        while not self.ready and self._instead is None:
            for entry in self._flight.wait():
                self._land(entry)
        if not self.ready and self._instead is not None:
            self._instead.wait()

    def stop(self) -> None:
        """Take the replies that are there; what runs cannot be stopped, what has not begun is cancelled."""
        if self._instead is not None:
            self._instead.stop()
        for entry in self._flight.all:
            if entry.future.done() and not isinstance(_error(entry), BrokenExecutor):
                self.ready.append((entry.number, _reply(entry)))
            else:
                entry.future.cancel()
            self._flight.remove(entry.number)

    def close(self) -> None:
        """Let processes of our own go."""
        if self._instead is not None:
            self._instead.close()

    def _land(self, entry: Landed) -> None:
        if isinstance(_error(entry), BrokenExecutor):
            self._replace(_error(entry))
        elif self._instead is None:
            self.ready.append((entry.number, _reply(entry)))
            self._flight.remove(entry.number)

    def _replace(self, error: BaseException | None = None) -> None:
        """Go on in pools of one process, with all that was in flight."""
        if self._instead is not None:
            return
        if not isinstance(self._executor, ProcessPoolExecutor):
            raise error if error is not None else BrokenExecutor(f"workers must be usable, got {self._executor!r}")
        wait([entry.future for entry in self._flight.all])  # of a broken pool all are over at once
        executor = self._executor
        self._instead = ProcessWorkers(
            self._objective,
            self._size,
            context=getattr(executor, "_mp_context", None),
            initializer=getattr(executor, "_initializer", None),
            initargs=getattr(executor, "_initargs", ()),
            ready=self.ready,
        )
        for entry in self._flight.all:
            if isinstance(_error(entry), BrokenExecutor):
                self._instead.start(entry.number, entry.x)
            else:
                self.ready.append((entry.number, _reply(entry)))
            self._flight.remove(entry.number)


def _error(entry: Landed) -> BaseException | None:
    error: BaseException | None = None if entry.future.cancelled() else entry.future.exception()
    return error


def _reply(entry: Landed) -> Reply:
    if entry.future.cancelled():
        return Reply(math.nan, "it was cancelled")
    error = _error(entry)
    if error is not None:
        return Reply(math.nan, None, error)
    reply: Reply = entry.future.result()
    return reply

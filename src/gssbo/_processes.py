"""Evaluations in processes of our own.

Each process is a pool of one. The evaluation that was in a process that died has failed; the others never notice, and
the process is replaced. Processes are spawned, not forked: the threads of this one may hold locks.
"""

from __future__ import annotations

import math
import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, ProcessPoolExecutor
from dataclasses import replace
from typing import Any

from gssbo._flight import Flight
from gssbo._objective import Objective, Reply

__all__ = ["ProcessWorkers", "check_picklable"]

MOST_STARTS = 3  # in a row that a process may fail to come up

DIED = "its process died"
NO_START = (
    "the worker processes could not start: a script must guard what it runs with `if __name__ == '__main__':`, since "
    "each of them imports it; what else they said is in the error output"
)


def check_picklable(objective: Objective) -> None:
    """Raise a ValueError that names what cannot be sent to another process."""
    for name, value in (("fun", objective.fun), ("args", objective.args), ("catch", objective.catch)):
        try:
            pickle.dumps(value)
        except Exception as error:
            raise ValueError(
                f"{name} must be picklable, as what is defined in a module is, to be sent to other processes, got "
                f"{value!r} ({error}); a ThreadPoolExecutor as workers needs no pickling"
            ) from error


class ProcessWorkers:
    """Processes that evaluate one point at a time.

    Parameters
    ----------
    objective : Objective
        Sent once to each process.
    size : int
        Processes.
    context : multiprocessing context, optional
        Default: spawn.
    initializer, initargs
        Called in each process when it starts.
    ready : deque, optional
        Where replies go.

    Raises
    ------
    ValueError
        If the objective cannot be pickled.
    """

    def __init__(
        self,
        objective: Objective,
        size: int,
        *,
        context: Any = None,
        initializer: Callable[..., Any] | None = None,
        initargs: tuple[Any, ...] = (),
        ready: deque[tuple[int, Reply]] | None = None,
    ) -> None:
        check_picklable(objective)
        payload = pickle.dumps(replace(objective, travels=True))
        self.ready: deque[tuple[int, Reply]] = deque() if ready is None else ready
        self._context = multiprocessing.get_context("spawn") if context is None else context
        self._settings = payload, initializer, initargs
        self._seats = [_Seat(self._pool) for _ in range(size)]
        self._flight = Flight()
        self._taken: dict[int, _Seat] = {}
        self._anyone_up = False

    @property
    def free(self) -> int:
        """Evaluations that can start now."""
        return len(self._seats) - len(self._flight)

    def start(self, number: int, x: Any) -> None:
        """Evaluate at x."""
        seat = next(seat for seat in self._seats if seat not in self._taken.values())
        self._taken[number] = seat
        self._flight.add(number, x, seat.submit(x))

    def wait(self) -> None:
        """Wait until a reply is ready.

        Raises
        ------
        RuntimeError
            If processes do not come up.
        """
        while not self.ready:
            for number, x, future in self._flight.wait():
                seat, error = self._taken[number], future.exception()
                self._anyone_up = self._anyone_up or seat.up
                if not isinstance(error, BrokenExecutor):
                    seat.n_starts = 0
                    self.ready.append((number, future.result() if error is None else Reply(math.nan, None, error)))
                elif seat.up:
                    seat.leave()
                    self.ready.append((number, Reply(math.nan, DIED)))
                elif self._anyone_up and seat.n_starts < MOST_STARTS:
                    seat.leave()
                    self._flight.add(number, x, seat.submit(x))
                    continue
                else:
                    raise RuntimeError(NO_START)
                self._land(number)

    def stop(self) -> None:
        """Take the replies that are there, and end everything that is running."""
        for number, _, future in self._flight.landed():
            error = future.exception()
            if error is None:
                self.ready.append((number, future.result()))
            elif isinstance(error, BrokenExecutor) and self._taken[number].up:
                self.ready.append((number, Reply(math.nan, DIED)))
            self._land(number)
        for seat in self._seats:
            seat.kill()

    def close(self) -> None:
        """Let the processes go."""
        for seat in self._seats:
            seat.leave()

    def _land(self, number: int) -> None:
        self._flight.remove(number)
        self._taken.pop(number, None)

    def _pool(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(1, mp_context=self._context, initializer=_settle, initargs=self._settings)


class _Seat:
    """A process and its successors, started when there is something to do."""

    def __init__(self, make: Callable[[], ProcessPoolExecutor]) -> None:
        self._make = make
        self._pool: ProcessPoolExecutor | None = None
        self._hello: Any = None
        self.n_starts = 0  # since an evaluation was over

    @property
    def up(self) -> bool:
        """Whether the process came up."""
        return self._hello is not None and self._hello.done() and self._hello.exception() is None

    def submit(self, x: Any) -> Any:
        if self._pool is not None:
            try:
                return self._pool.submit(_evaluate, x)
            except BrokenExecutor:  # it died idle, and nothing with it
                self.leave()
        self._pool = self._make()
        self.n_starts += 1
        self._hello = self._pool.submit(os.getpid)
        return self._pool.submit(_evaluate, x)

    def leave(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True)
        self._pool = self._hello = None

    def kill(self) -> None:
        if self._pool is not None:
            # Also one that is not up yet: it would evaluate what it was given first, and the interpreter wait for it.
            processes = list((getattr(self._pool, "_processes", None) or {}).values())
            self._pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()
        self._pool = self._hello = None


# ---- in the worker process

_held: list[Any] = []  # the objective, in its pickle until it is first called


def _settle(payload: bytes, initializer: Callable[..., Any] | None, initargs: tuple[Any, ...]) -> None:
    # Ctrl-C reaches every process of a terminal; what becomes of an evaluation is for the run to decide. A handler that
    # does nothing, unlike SIG_IGN, is not inherited by programs that the objective starts.
    signal.signal(signal.SIGINT, lambda *_: None)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if initializer is not None:
        initializer(*initargs)
    _held[:] = [payload]


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, killed even: nobody is left to hear of an evaluation."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)


def _evaluate(x: Any) -> Reply:
    if isinstance(_held[0], bytes):
        try:
            _held[0] = pickle.loads(_held[0])
        except Exception as error:
            return Reply(
                math.nan,
                None,
                ValueError(
                    "fun, args and catch must be of modules that a new process can import, got "
                    f"{type(error).__name__}: {error}"
                ),
            )
    reply: Reply = _held[0](x)
    return reply

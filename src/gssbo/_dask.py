"""Evaluations on a Dask cluster.

An evaluation marks its beginning and its end on the scheduler. When the worker it was on is lost, Dask gives it to
another. Where that finds a beginning without an end it does not evaluate once more what may have killed the first, but
replies that it failed. What was only waiting on the lost worker, or over and not yet fetched, is evaluated elsewhere.
"""

from __future__ import annotations

import math
import sys
import uuid
from collections import deque
from dataclasses import replace
from typing import Any

from gssbo._flight import Flight, Landed
from gssbo._objective import Objective, Reply
from gssbo._optional import import_optional

__all__ = ["DaskWorkers", "is_dask_client"]

LOST = "its Dask worker was lost"


def is_dask_client(value: Any) -> bool:
    """Whether it is a `distributed.Client`; imports nothing."""
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(value, distributed.Client)


class DaskWorkers:
    """A Dask client, kept busy with an evaluation for each thread of the workers there are at the time.

    Parameters
    ----------
    client : distributed.Client
    objective : Objective
    size : int, optional
        Evaluations at a time instead.

    Raises
    ------
    ValueError
        If the client is closed or an asynchronous one, or has no workers yet.
    """

    def __init__(self, client: Any, objective: Objective, size: int | None) -> None:
        if client.status != "running":
            raise ValueError(f"workers must be a Client that is running, got one that is {client.status}")
        if client.asynchronous:
            raise ValueError(f"workers must be a Client that is not asynchronous, got {client!r}")
        self._client, self._objective = client, replace(objective, travels=True)
        self._size = size
        if size is None and not client.nthreads():
            raise ValueError(
                f"workers must have workers (see Client.wait_for_workers), or come with batch_size, got {client!r}"
            )
        self._name = f"gssbo-{uuid.uuid4().hex}"
        self.ready: deque[tuple[int, Reply]] = deque()
        self._flight = Flight()

    @property
    def free(self) -> int:
        """Evaluations that can start now."""
        size = max(sum(self._client.nthreads().values()), 1) if self._size is None else self._size
        return size - len(self._flight)

    def start(self, number: int, x: Any) -> None:
        """Evaluate at x."""
        key = f"{self._name}-{number}"
        self._flight.add(number, x, self._client.submit(_once, self._objective, x, key, key=key, pure=False))

    def wait(self) -> None:
        """Wait until a reply is ready."""
        for entry in self._flight.wait():
            self._land(entry)

    def stop(self) -> None:
        """Take the replies that are there, and cancel the rest; what runs goes on to its end, unheard."""
        for entry in self._flight.landed():
            self._land(entry)
        self._client.cancel([entry.future for entry in self._flight.all])
        for entry in self._flight.all:
            self._flight.remove(entry.number)

    def close(self) -> None:
        """The cluster is the user's."""

    def _land(self, entry: Landed) -> None:
        self.ready.append((entry.number, _reply(entry.future)))
        self._flight.remove(entry.number)
        for mark in _marks(entry.future.key, self._client):
            mark.clear()


def _reply(future: Any) -> Reply:
    if future.cancelled():
        return Reply(math.nan, "it was cancelled, or the cluster restarted")
    error = future.exception()
    if error is None:
        reply: Reply = future.result()
        return reply
    return Reply(math.nan, LOST) if isinstance(error, _distributed().KilledWorker) else Reply(math.nan, None, error)


def _distributed() -> Any:
    return import_optional("distributed", extra="dask", purpose="evaluating on a Dask cluster")


def _once(objective: Objective, x: Any, key: str) -> Reply:
    """On a worker: evaluate, unless that was begun before and came to no end."""
    begun, over = _marks(key)
    if begun.is_set() and not over.is_set():
        return Reply(math.nan, LOST)
    begun.set()
    reply = objective(x)
    over.set()
    return reply


def _marks(key: str, client: Any = None) -> tuple[Any, Any]:
    """The events of an evaluation: begun, and over; seen from a worker, or through a client."""
    event = _distributed().Event
    return event(f"{key}-begun", client=client), event(f"{key}-over", client=client)

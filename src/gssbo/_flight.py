"""Evaluations in flight as futures, and the queue through which they come back."""

from __future__ import annotations

from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, Protocol

__all__ = ["Flight", "Landed"]

POLL = 0.5  # seconds; waiting in pieces lets Ctrl-C through on every system


class _Future(Protocol):
    """What the futures of the standard library and of Dask have in common."""

    def add_done_callback(self, fn: Any, /) -> Any: ...

    def done(self) -> Any: ...


class Landed(NamedTuple):
    """An evaluation that is over, one way or another: its number, its point, and its future, which is done."""

    number: int
    x: Any
    future: Any


class Flight:
    """Futures by number. They stay until they are removed, so that nothing is lost to a Ctrl-C on the way.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> flight = Flight()
    >>> with ThreadPoolExecutor(1) as executor:
    ...     flight.add(7, 2.0, executor.submit(abs, -2.0))
    ...     landed = flight.wait()
    >>> [(each.number, each.x, each.future.result()) for each in landed], len(flight)
    ([(7, 2.0, 2.0)], 1)
    """

    def __init__(self) -> None:
        self._flying: dict[int, Landed] = {}
        self._over: SimpleQueue[Landed] = SimpleQueue()

    def __len__(self) -> int:
        return len(self._flying)

    @property
    def all(self) -> list[Landed]:
        """Everything in flight, done or not, in the order it took off."""
        return list(self._flying.values())

    def add(self, number: int, x: Any, future: _Future) -> None:
        """Put a future under a number."""
        entry = Landed(number, x, future)
        self._flying[number] = entry
        future.add_done_callback(lambda _: self._over.put(entry))

    def remove(self, number: int) -> None:
        """Take a future out, done or not."""
        self._flying.pop(number, None)

    def wait(self) -> list[Landed]:
        """Wait until some are done, and return them; there must be some in flight."""
        found: list[Landed] = []
        while not found:
            try:
                found.append(self._over.get(timeout=POLL))
            except Empty:
                continue
            while not self._over.empty():
                found.append(self._over.get())
            found = [entry for entry in found if self._flying.get(entry.number) is entry]
        return found

    def landed(self) -> list[Landed]:
        """Those that are done by now, without waiting."""
        return [entry for entry in self.all if entry.future.done()]

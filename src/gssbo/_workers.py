"""Ways to evaluate, one of which stands for the argument `workers`.

Each has room for a number of evaluations at a time (`free`), starts them, waits, and puts replies into `ready`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import replace
from multiprocessing import current_process
from multiprocessing.pool import Pool, ThreadPool
from typing import Any, Protocol

from gssbo._dask import DaskWorkers, is_dask_client
from gssbo._executor import ExecutorWorkers
from gssbo._objective import Objective, Reply
from gssbo._parallel import usable_processors
from gssbo._processes import ProcessWorkers, check_picklable
from gssbo._text import brief
from gssbo._validation import check_integer

__all__ = ["Here", "MapWorkers", "Workers", "make_workers"]

MAP_LIKE = (
    "workers must be map-like where it is callable: workers(function, points) gives what the function gave, in order"
)


class Workers(Protocol):
    """Whoever evaluates. Replies stay in `ready`, by the number of their suggestion, until they are taken out."""

    ready: deque[tuple[int, Reply]]

    @property
    def free(self) -> int:
        """Evaluations that can start before the next `wait`."""
        ...

    def start(self, number: int, x: Any) -> None:
        """Evaluate at the point x."""
        ...

    def wait(self) -> None:
        """Wait until a reply is ready; something must have been started."""
        ...

    def stop(self) -> None:
        """Take the replies that are there, and give up on the rest."""
        ...

    def close(self) -> None:
        """Give back what was needed; nothing is running any more."""
        ...


def make_workers(workers: Any, objective: Objective, batch_size: int | None) -> Workers:
    """The way to evaluate that the arguments of `minimize` ask for.

    Raises
    ------
    ValueError
        If it is none, its size is not known, or the objective cannot be sent to it.
    """
    size = None if batch_size is None else check_integer("batch_size", batch_size, at_least=1)
    owner = getattr(workers, "__self__", None)
    if isinstance(owner, Executor) and getattr(workers, "__name__", "") == "map":
        workers = owner  # what it maps with submits as well, and need not wait for a whole batch
    if is_dask_client(workers):
        return DaskWorkers(workers, objective, size)
    if isinstance(workers, Executor):
        return ExecutorWorkers(workers, objective, size or _size(workers, "_max_workers"))
    if callable(workers):
        if isinstance(owner, Pool) and not isinstance(owner, ThreadPool):
            check_picklable(objective)
        return MapWorkers(workers, objective, size or (1 if workers is map else _size(owner, "_processes")))
    try:
        count = check_integer("workers", workers, at_least=-1)
    except ValueError as error:
        raise ValueError(f"{error}; or an Executor, a map-like callable, a Dask Client") from None
    if count == 0:
        raise ValueError("workers must be at least 1, or -1 for all processors, got 0")
    if size is not None:
        raise ValueError(
            "batch_size must come with an Executor, a map-like callable or a Dask Client as workers, "
            f"got {batch_size!r} with workers={workers!r}"
        )
    count = usable_processors() if count == -1 else count
    if count == 1:
        return Here(objective)
    if current_process().daemon:
        raise ValueError(
            "workers must be 1 or an executor of threads in a daemonic process, as those of multiprocessing.Pool are, "
            f"which may start no others, got {workers!r}"
        )
    return ProcessWorkers(objective, count)


def _size(owner: Any, attribute: str) -> int:
    size = getattr(owner, attribute, None)
    if not isinstance(size, int) or size < 1:
        raise ValueError(f"batch_size must be given where workers does not say how many there are, got {owner!r}")
    return size


class Here:
    """Evaluates in this process and thread, one point at a time.

    Examples
    --------
    >>> here = Here(Objective(abs))
    >>> here.start(0, -2.0)
    >>> here.free
    0
    >>> here.wait()
    >>> here.ready[0][1].value, here.free
    (2.0, 1)
    """

    def __init__(self, objective: Objective) -> None:
        self.ready: deque[tuple[int, Reply]] = deque()
        self._objective = objective
        self._next: list[tuple[int, Any]] = []

    @property
    def free(self) -> int:
        """Evaluations that can start now."""
        return 1 - len(self._next)

    def start(self, number: int, x: Any) -> None:
        """Note what is to be done."""
        self._next.append((number, x))

    def wait(self) -> None:
        """Evaluate."""
        number, x = self._next[0]
        self.ready.append((number, self._objective(x)))
        self._next.clear()

    def stop(self) -> None:
        """Nothing goes on beside."""

    def close(self) -> None:
        """Nothing was needed."""


class MapWorkers:
    """Anything that maps a function over points, in batches: a batch is told as a whole.

    Parameters
    ----------
    mapping : callable
        `mapping(function, points)` gives the function's values in order.
    objective : Objective
    size : int
        Points in a batch.
    """

    def __init__(self, mapping: Callable[..., Iterable[Reply]], objective: Objective, size: int) -> None:
        self.ready: deque[tuple[int, Reply]] = deque()
        self._mapping, self._objective, self._size = mapping, replace(objective, travels=mapping is not map), size
        self._batch: list[tuple[int, Any]] = []

    @property
    def free(self) -> int:
        """Evaluations that can start now."""
        return self._size - len(self._batch)

    def start(self, number: int, x: Any) -> None:
        """Put a point into the next batch."""
        self._batch.append((number, x))

    def wait(self) -> None:
        """Evaluate the batch."""
        replies = self._mapping(self._objective, [x for _, x in self._batch])
        if not isinstance(replies, Iterable):
            raise ValueError(f"{MAP_LIKE}, got {brief(replies)} of {self._mapping!r}")
        iterator = iter(replies)
        found: list[tuple[int, Reply]] = []
        rule = f"workers must give a value for each of {len(self._batch)} points"
        for k, (number, _) in enumerate(self._batch):
            try:
                reply = next(iterator)
            except StopIteration:
                raise ValueError(f"{rule}, got {k} of {self._mapping!r}") from None
            if not isinstance(reply, Reply):
                raise ValueError(f"{MAP_LIKE}, got {brief(reply)} for one of {self._mapping!r}")
            found.append((number, reply))
        if next(iterator, None) is not None:
            raise ValueError(f"{rule}, got more of {self._mapping!r}")
        self.ready.extend(found)
        self._batch.clear()

    def stop(self) -> None:
        """What had been evaluated is ready already."""

    def close(self) -> None:
        """The pool is the user's."""

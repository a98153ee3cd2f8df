"""Ways to evaluate, one of which stands for the argument `workers`.

Each has room for a number of evaluations at a time (`free`), starts them, waits, and puts replies into `ready`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from multiprocessing import current_process
from multiprocessing.pool import Pool, ThreadPool
from typing import Any, NamedTuple, Protocol

import numpy as np

from gssbo._dask import DaskWorkers, is_dask_client
from gssbo._executor import ExecutorWorkers
from gssbo._objective import Objective, Reply
from gssbo._parallel import usable_processors
from gssbo._processes import ProcessWorkers, check_picklable
from gssbo._text import brief
from gssbo._validation import check_integer

__all__ = ["Here", "MapWorkers", "Workers", "make_workers"]

MAP_LIKE = "workers must be map-like where it is callable: workers(function, points) gives what the function gave"


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


class Echo(NamedTuple):
    """What came of an evaluation, and at which point."""

    x: Any
    reply: Reply


@dataclass(frozen=True)
class Echoing:
    """An objective that says which point it was called with."""

    objective: Objective

    def __call__(self, x: Any) -> Echo:
        """Evaluate."""
        return Echo(x, self.objective(x))


class MapWorkers:
    """Anything that maps a function over points, in batches: a batch is told as a whole.

    Replies go by the points that come with them, as some maps give them in the order they are ready; by their places
    where points are not equal to what they were before they travelled.

    Parameters
    ----------
    mapping : callable
        `mapping(function, points)` gives the function's values.
    objective : Objective
    size : int
        Points in a batch.
    """

    def __init__(self, mapping: Callable[..., Any], objective: Objective, size: int) -> None:
        self.ready: deque[tuple[int, Reply]] = deque()
        self._mapping, self._size = mapping, size
        self._function = Echoing(replace(objective, travels=mapping is not map))
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
        echoes = self._mapping(self._function, [x for _, x in self._batch])
        if not isinstance(echoes, Iterable):
            raise ValueError(f"{MAP_LIKE}, got {brief(echoes)} of {self._mapping!r}")
        iterator = iter(echoes)
        left, found = dict(self._batch), dict[int, Reply]()
        rule = f"workers must give a value for each of {len(self._batch)} points"
        for k in range(len(self._batch)):
            try:
                echo = next(iterator)
            except StopIteration:
                raise ValueError(f"{rule}, got {k} of {self._mapping!r}") from None
            if not isinstance(echo, Echo):
                raise ValueError(f"{MAP_LIKE}, got {brief(echo)} for one of {self._mapping!r}")
            number = next((number for number, x in left.items() if _equal(x, echo.x)), next(iter(left)))
            found[number] = echo.reply
            del left[number]
        if next(iterator, None) is not None:
            raise ValueError(f"{rule}, got more of {self._mapping!r}")
        self.ready.extend((number, found[number]) for number, _ in self._batch)
        self._batch.clear()

    def stop(self) -> None:
        """What had been evaluated is ready already."""

    def close(self) -> None:
        """The pool is the user's."""


def _equal(x: Any, other: Any) -> bool:
    return np.array_equal(x, other) if isinstance(x, np.ndarray) else bool(x == other)

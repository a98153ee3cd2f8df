"""Progress of a run: a live display on a terminal, a line every few seconds elsewhere. All of it goes to stderr.

A display is a context manager, entered before the run, that is called with the run's `Standing` after each evaluation.
Where stderr is missing, as without a console on Windows, or fails, the run goes on unseen.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, TextIO, TypeAlias

import numpy as np

from gssbo._optional import import_optional
from gssbo._text import brief, clock, number
from gssbo.exceptions import MissingDependencyError
from gssbo.modelled import Modelled

__all__ = ["LiveProgress", "PlainProgress", "Standing", "display_for", "make_display"]

EVERY_SECONDS = 5.0
RECENT = 25  # suggestions over which the median time of one is taken


@dataclass(frozen=True)
class Standing:
    """How far a run has come.

    Parameters
    ----------
    n_evals : int
        Evaluations the run may make.
    n_done : int
        Those that are over, failed ones included.
    best : float or None
        Best value observed.
    ask_seconds : float
        Time of a suggestion of the model, the median of the latest; 0 before the first.
    n_told : int
        Observations, prior ones included.
    n_retained : int
        Those that the model stands on; 0 during the initial design.
    n_failed : int
        Evaluations that failed.

    Examples
    --------
    >>> print(Standing(n_evals=1000, n_done=300, best=0.25, ask_seconds=0.0123, n_told=300, n_retained=100, n_failed=2))
    best 0.25  ask 12.3 ms  retained 100 of 300  failed 2
    """

    n_evals: int
    n_done: int = 0
    best: float | None = None
    ask_seconds: float = 0.0
    n_told: int = 0
    n_retained: int = 0
    n_failed: int = 0

    @classmethod
    def of(cls, optimizer: Modelled, *, n_evals: int, n_done: int, ask_seconds: Sequence[float]) -> Standing:
        """That of a run of an optimizer, whose suggestions of the model took so many seconds, all or the latest."""
        return cls(
            n_evals=n_evals,
            n_done=n_done,
            best=optimizer.best_y,
            ask_seconds=float(np.median(ask_seconds[-RECENT:])) if ask_seconds else 0.0,
            n_told=optimizer.n_told,
            n_retained=optimizer.n_retained,
            n_failed=optimizer.n_failed,
        )

    def __str__(self) -> str:
        # During the initial design nothing is fitted yet.
        retained = f"retained {self.n_retained} of {self.n_told}" if self.n_retained else "initial design"
        failed = f"  failed {self.n_failed}" if self.n_failed else ""
        return f"best {number(self.best) or '-'}  ask {1e3 * self.ask_seconds:.1f} ms  {retained}{failed}"


Show: TypeAlias = Callable[[Standing], Any]


def display_for(progress: Any, n_evals: int) -> AbstractContextManager[Show]:
    """The display that the argument `progress` of `minimize` asks for.

    Raises
    ------
    ValueError
        If it is neither True, False nor callable.
    """
    if isinstance(progress, bool):
        return make_display("gssbo", n_evals) if progress else contextlib.nullcontext(_nothing)
    if not callable(progress):
        raise ValueError(f"progress must be True, False or a callable that takes a Standing, got {brief(progress)}")
    return _entered(progress) if hasattr(progress, "__enter__") else contextlib.nullcontext(progress)


@contextlib.contextmanager
def _entered(progress: Any) -> Iterator[Show]:
    with progress as show:
        yield show if callable(show) else progress  # of which `__enter__` need not return anything


def make_display(title: str, n_evals: int) -> AbstractContextManager[Show]:
    """The display that suits where the output goes: live on a terminal, if rich is there, else lines of text."""
    if _is_terminal(sys.stdout) and _is_terminal(sys.stderr):
        try:
            return LiveProgress(title, n_evals)
        except MissingDependencyError:
            pass
    return PlainProgress(title, sys.stderr)


def _is_terminal(stream: Any) -> bool:
    """Whether a stream, or whatever stands for it in a window of someone else's, leads to a terminal."""
    try:
        return bool(stream.isatty())
    except (AttributeError, ValueError):  # there is none, it only writes, or it is closed
        return False


def _nothing(standing: Standing) -> None:
    pass


class PlainProgress:
    """A line after the first evaluation, every few seconds, and after the last.

    The remaining time goes by the evaluations after the first: until that came, workers started, and all of them were
    busy for one value; a run that is taken up had others before.

    Parameters
    ----------
    title : str
    stream : text file, or None
        That of a process without a console. Nothing more is written to one that fails.
    every : float
        Seconds between lines.

    Examples
    --------
    >>> with PlainProgress("tune", sys.stdout) as show:
    ...     show(Standing(n_evals=10, n_done=1, best=3.5, n_told=1))
    tune 1/10  best 3.5  ask 0.0 ms  initial design  elapsed 0:00  remaining -
    """

    def __init__(self, title: str, stream: TextIO | None, every: float = EVERY_SECONDS) -> None:
        self._title = title
        self._stream = stream
        self._every = every
        self._begin = self._last = time.perf_counter()
        self._first: tuple[float, int] | None = None  # when the first value came, and how many there were then

    def __enter__(self) -> PlainProgress:
        self._begin = time.perf_counter()
        self._last = -self._every
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, standing: Standing) -> None:
        """Write a line if one is due."""
        now = time.perf_counter()
        done, total = standing.n_done, standing.n_evals
        if self._first is None:
            self._first = now, done
        if now - self._last < self._every and done < total:
            return
        self._last = now
        elapsed = now - self._begin
        since, before = self._first
        each = (now - since) / max(done - before, 1)
        left = "-" if before == done < total else clock(each * (total - done))
        self._write(f"{self._title} {done}/{total}  {standing}  elapsed {clock(elapsed)}  remaining {left}\n")

    def _write(self, line: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(line)
            if hasattr(self._stream, "flush"):
                self._stream.flush()
        except Exception:  # closed, its reader or its disk is gone: nothing that a run should end for
            self._stream = None


class LiveProgress:
    """A bar and the state of the run, drawn with rich.

    Parameters
    ----------
    title : str
    n_evals : int
    console : rich.console.Console, optional
        Default: stderr.

    Raises
    ------
    MissingDependencyError
        If rich is not installed.
    """

    def __init__(self, title: str, n_evals: int, console: Any = None) -> None:
        columns = import_optional("rich.progress", extra="cli", purpose="the live display")
        if console is None:
            console = import_optional("rich.console", extra="cli", purpose="the live display").Console(stderr=True)
        self._console = console
        self._bar = columns.Progress(
            columns.TextColumn("[bold]{task.description}"),
            columns.BarColumn(bar_width=30),
            columns.MofNCompleteColumn(),
            columns.TextColumn("elapsed"),
            columns.TimeElapsedColumn(),
            columns.TextColumn("remaining"),
            columns.TimeRemainingColumn(),
            console=console,
        )
        self._task = self._bar.add_task(title, total=n_evals)
        live = import_optional("rich.live", extra="cli", purpose="the live display")
        self._standing = Standing(n_evals)
        self._live = live.Live(get_renderable=self._draw, console=console, refresh_per_second=8, transient=False)

    def __enter__(self) -> LiveProgress:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):  # the terminal may be gone
            self._live.stop()
            self._console.print()

    def __call__(self, standing: Standing) -> None:
        """Note how far the run is; the display refreshes itself."""
        self._standing = standing
        self._bar.update(self._task, completed=standing.n_done)

    def _draw(self) -> Any:
        group = import_optional("rich.console", extra="cli", purpose="the live display").Group
        text = import_optional("rich.text", extra="cli", purpose="the live display").Text
        return group(self._bar, text(str(self._standing), overflow="ellipsis", no_wrap=True))

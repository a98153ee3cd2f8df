"""Progress of a run: a live display on a terminal, a line every few seconds elsewhere. All of it goes to stderr."""

from __future__ import annotations

import sys
import time
from contextlib import AbstractContextManager, nullcontext
from types import TracebackType
from typing import Any, Protocol, TextIO

from gssbo._optional import import_optional
from gssbo.cli.loop import Run
from gssbo.cli.text import number
from gssbo.exceptions import MissingDependencyError

__all__ = ["LiveProgress", "PlainProgress", "progress"]

EVERY_SECONDS = 5.0


class Watcher(Protocol):
    """What is called with the run after each evaluation."""

    def __call__(self, run: Run) -> None:
        """Show how far the run has come."""


def progress(run: Run, *, quiet: bool) -> AbstractContextManager[Watcher]:
    """Return the display that suits where the output goes, to be entered before the run."""
    if quiet:
        return nullcontext(_nothing)
    if sys.stdout.isatty() and sys.stderr.isatty():
        try:
            return LiveProgress(run)
        except MissingDependencyError:
            pass
    return PlainProgress(sys.stderr)


def _nothing(run: Run) -> None:
    pass


class PlainProgress:
    """A line after the first evaluation, every few seconds, and after the last.

    Parameters
    ----------
    stream : text file
    every : float
        Seconds between lines.
    """

    def __init__(self, stream: TextIO, every: float = EVERY_SECONDS) -> None:
        self._stream = stream
        self._every = every
        self._begin = self._last = time.perf_counter()

    def __enter__(self) -> PlainProgress:
        self._begin = time.perf_counter()
        self._last = -self._every
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, run: Run) -> None:
        """Write a line if one is due."""
        now = time.perf_counter()
        n = run.optimizer.n_told
        if now - self._last < self._every and n < run.n_evals:
            return
        self._last = now
        elapsed = now - self._begin
        left = elapsed / n * (run.n_evals - n)
        self._stream.write(
            f"{run.problem.name} {n}/{run.n_evals}  {state(run)}  elapsed {clock(elapsed)}  remaining {clock(left)}\n"
        )
        self._stream.flush()


class LiveProgress:
    """A bar and the state of the run, drawn with rich.

    Parameters
    ----------
    run : Run
    console : rich.console.Console, optional
        Default: stderr.

    Raises
    ------
    MissingDependencyError
        If rich is not installed.
    """

    def __init__(self, run: Run, console: Any = None) -> None:
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
        self._task = self._bar.add_task(run.problem.name, total=run.n_evals)
        live = import_optional("rich.live", extra="cli", purpose="the live display")
        self._run = run
        self._live = live.Live(get_renderable=self._draw, console=console, refresh_per_second=8, transient=False)

    def __enter__(self) -> LiveProgress:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()
        self._console.print()

    def __call__(self, run: Run) -> None:
        """Note how far the run is; the display refreshes itself."""
        self._bar.update(self._task, completed=run.optimizer.n_told)

    def _draw(self) -> Any:
        group = import_optional("rich.console", extra="cli", purpose="the live display").Group
        text = import_optional("rich.text", extra="cli", purpose="the live display").Text
        return group(self._bar, text(state(self._run), overflow="ellipsis", no_wrap=True))


def state(run: Run) -> str:
    """Return best value, milliseconds a suggestion and retained size in a line."""
    optimizer = run.optimizer
    kept = len(optimizer.retained)
    # During the initial design nothing is fitted yet.
    retained = f"retained {kept} of {optimizer.n_told}" if kept else "initial design"
    best = number(optimizer.best_y) or "-"
    return f"best {best}  ask {run.recent_ask_ms:.1f} ms  {retained}"


def clock(seconds: float) -> str:
    """Return hours, minutes and seconds.

    Examples
    --------
    >>> clock(75.2), clock(3671)
    ('1:15', '1:01:11')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"

"""Signals that end a command as Ctrl-C does: what batch systems and `timeout` send, and a terminal that goes away."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any, Self

__all__ = ["Endings"]

NAMES = ("SIGTERM", "SIGHUP")  # the second is not everywhere


class Endings:
    """A context in which these signals raise KeyboardInterrupt, once; the handlers there were are put back after it.

    A signal that is ignored stays so: under `nohup` a hangup is to change nothing. Outside the main thread, where
    Python handles no signals, the context does nothing.

    Attributes
    ----------
    received : signal.Signals or None
        Which of them came.

    Examples
    --------
    >>> with Endings() as endings:
    ...     try:
    ...         signal.raise_signal(signal.SIGTERM)
    ...     except KeyboardInterrupt:
    ...         print(endings.received.name, endings.code)
    SIGTERM 143
    """

    def __init__(self) -> None:
        self.received: signal.Signals | None = None
        self._before: dict[signal.Signals, Any] = {}

    @property
    def code(self) -> int:
        """The exit code of a command that the signal ended, as a shell counts; Ctrl-C's where none came."""
        return 128 + (self.received or signal.SIGINT)

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for name in NAMES:
                number = getattr(signal, name, None)
                # None is a handler that was not set from Python, and could not be put back.
                if number is not None and signal.getsignal(number) not in (signal.SIG_IGN, None):
                    self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number: int, _: FrameType | None) -> None:
        # `timeout` signals a process and then its group: the second must not break off the cleaning up.
        if self.received is None:
            self.received = signal.Signals(number)
            raise KeyboardInterrupt

"""What ends the commands of a run that is killed, as `kill -9` does: the run itself cannot.

A shell reads from a pipe that only the run can write to, which is told the process groups that are running whenever
one begins or ends. When the pipe ends, the run is over, and the shell kills the groups it was told last.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
from types import TracebackType
from typing import Self

__all__ = ["Guard"]

SHELL = "/bin/sh"
SCRIPT = "while read -r groups; do last=$groups; done; kill -s KILL -- $last"


class Guard:
    """A context at whose end, whatever it is, the process groups that are watched are killed.

    Where there are no process groups, or no shell, it does nothing.

    Examples
    --------
    >>> with Guard() as guard:
    ...     command = subprocess.Popen(["sleep", "60"], start_new_session=True)
    ...     guard.watch(command.pid)
    >>> command.wait()
    -9
    """

    def __init__(self) -> None:
        self._shell: subprocess.Popen[bytes] | None = None
        self._groups: set[int] = set()
        self._lock = threading.Lock()  # several threads may start commands

    def __enter__(self) -> Self:
        if os.name == "posix":
            with contextlib.suppress(OSError):
                # In a session of its own: what is sent to the run and its group is not for the shell.
                self._shell = subprocess.Popen(
                    [SHELL, "-c", SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    bufsize=0, start_new_session=True,
                )  # fmt: skip
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shell is not None:
            self._shell.__exit__(kind, error, trace)

    def watch(self, group: int) -> None:
        """Kill this process group, too."""
        with self._lock:
            self._groups.add(group)
            self._tell()

    def release(self, group: int) -> None:
        """Leave it alone: its number may become another's."""
        with self._lock:
            self._groups.discard(group)
            self._tell()

    def _tell(self) -> None:
        if self._shell is not None:
            assert self._shell.stdin is not None
            with contextlib.suppress(OSError):  # somebody ended the shell: no reason to end the run
                self._shell.stdin.write(" ".join(f"-{group}" for group in self._groups).encode() + b"\n")

"""Threads that take turns, also where a process is forked meanwhile.

In a fork of the process, what another thread had locked would never be free, nor is it whole: the thread is not there
to complete it. The child gets an error instead.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any, NoReturn

__all__ = ["Turns"]


class Turns:
    """What threads use in turn: `with self._lock:`, where its makers called `_take_turns`.

    The lock is `threading.RLock`, which Ctrl-C does not leave locked; in a process that was forked while another thread
    had it, one that raises a RuntimeError. What changes anything begins `with self._turn():` instead, which a thread
    does not get while it has one: a signal's handler is called in the middle of whatever its thread is doing.

    Examples
    --------
    >>> turns = Turns()
    >>> turns._take_turns()
    >>> with turns._turn(), turns._lock:
    ...     print("once more")
    once more
    """

    _lock: Any

    def _take_turns(self) -> None:
        self._lock = threading.RLock()
        _owners.add(self)

    def _turn(self) -> Any:
        """The lock, for what must not come in the middle of another call of the same thread."""
        if self._lock._is_owned():
            raise RuntimeError(
                "the optimizer was called while this thread was in another of its calls, as by the handler of a "
                "signal, or by a constraint: nothing was changed by it; let a handler set a flag, and call the "
                "optimizer once the other call has returned"
            )
        return self._lock


class _Lost:
    """The lock of what a thread of the parent was changing."""

    def _is_owned(self) -> bool:
        return False

    def __enter__(self) -> NoReturn:
        raise RuntimeError(
            "this process was forked while another thread was using the optimizer, which is half changed here: use it "
            "in the parent, fork while no thread uses it, or start the process by another method than 'fork'"
        )

    def __exit__(self, *exception: object) -> None:
        """Never called."""


_owners: weakref.WeakSet[Turns] = weakref.WeakSet()


def _in_child() -> None:
    for owner in _owners:
        if isinstance(owner._lock, _Lost) or not owner._lock.acquire(blocking=False):
            owner._lock = _Lost()
        else:
            owner._lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)

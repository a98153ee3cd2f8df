"""Errors and warnings raised by gssbo."""

from __future__ import annotations

from typing import Any

__all__ = [
    "InfeasibleError",
    "JournalError",
    "JournalInUse",
    "JournalWarning",
    "MissingDependencyError",
    "NotFittedError",
    "OtherOption",
    "SpaceExhausted",
]


class NotFittedError(ValueError, AttributeError):
    """A method that needs a fitted model was called before `fit`."""


class MissingDependencyError(ImportError):
    """An optional dependency is not installed; the message names the extra that brings it."""


class SpaceExhausted(RuntimeError):
    """Every point of a finite space is told or pending: there is nothing left to suggest."""


class InfeasibleError(ValueError):
    """No point that meets the constraints was found; the message says how many were tried."""


class JournalError(ValueError):
    """A journal cannot be used: damaged, in use, of another run, or not to be written; the message says which."""


class JournalInUse(JournalError):
    """Another process, or this one, is writing the journal; it may be free a moment later."""


class OtherOption(JournalError):
    """A journal is of a run with another option: `name` says which, and `then` what it was, None for a seed."""

    def __init__(self, message: str, name: str, then: Any) -> None:
        super().__init__(message, name, then)
        self.name, self.then = name, then

    def __str__(self) -> str:
        return str(self.args[0])


class JournalWarning(UserWarning):
    """A journal is used, but not all of it, or not as it was written."""

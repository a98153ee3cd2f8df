"""Errors and warnings raised by gssbo."""

from __future__ import annotations

__all__ = [
    "InfeasibleError",
    "JournalError",
    "JournalWarning",
    "MissingDependencyError",
    "NotFittedError",
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


class JournalWarning(UserWarning):
    """A journal is used, but not all of it, or not as it was written."""

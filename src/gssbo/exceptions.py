"""Errors and warnings raised by gssbo."""

from __future__ import annotations

__all__ = ["MissingDependencyError", "NotFittedError", "NumericalWarning"]


class NotFittedError(ValueError, AttributeError):
    """A method that needs a fitted model was called before `fit`."""


class MissingDependencyError(ImportError):
    """An optional dependency is not installed; the message names the extra that brings it."""


class NumericalWarning(UserWarning):
    """A computation went on with a documented fallback."""

"""Lazy import of optional dependencies."""

from __future__ import annotations

import importlib
from types import ModuleType

from gssbo.exceptions import MissingDependencyError

__all__ = ["import_optional"]


def import_optional(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Import `module`, or say which extra of gssbo brings it.

    Raises
    ------
    MissingDependencyError
        If the module is not installed.

    Examples
    --------
    >>> import_optional("math", extra="plot", purpose="square roots").sqrt(9.0)
    3.0
    """
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is not None and module.split(".")[0] != error.name.split(".")[0]:
            raise
        raise MissingDependencyError(
            f"{purpose} needs the package {module.split('.')[0]!r}: pip install 'gssbo[{extra}]'"
        ) from error

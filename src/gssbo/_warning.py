"""Warnings that point at the user's line, however deep in the package they come up."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

__all__ = ["warn"]

PACKAGE = str(Path(__file__).parent) + os.sep


def warn(message: str, category: type[Warning]) -> None:
    """Warn at the innermost line outside this package, or at the outermost where all are inside.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("it is late", UserWarning)
    >>> str(caught[0].message), caught[0].filename == __file__
    ('it is late', False)
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)

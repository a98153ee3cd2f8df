"""Plain text: aligned tables and paragraphs, ASCII only, so that they survive a pipe and an e-mail."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np

from gssbo.space import Space

__all__ = ["WIDTH", "heading", "labels", "named", "paragraph", "plain", "table", "written"]

WIDTH = 100


def heading(text: str) -> str:
    """Return a line underlined."""
    return f"{text}\n{'-' * len(text)}"


def labels(space: Space) -> list[str]:
    """Return what parameters are called: their names, or x1, x2 and so on.

    Examples
    --------
    >>> labels(Space([(0, 1), (0, 1)])), labels(Space({"lr": (0, 1)}))
    (['x1', 'x2'], ['lr'])
    """
    return [f"x{k + 1}" for k in range(space.n_parameters)] if space.names is None else list(map(str, space.names))


def named(space: Space, point: Any) -> list[tuple[str, Any]]:
    """Return the values of a point as a space shows it, each with what its parameter is called.

    Examples
    --------
    >>> named(Space([range(4), ["u", "v"]]), [3, "u"])
    [('x1', 3), ('x2', 'u')]
    """
    values = plain(point)
    return list(zip(labels(space), values.values() if isinstance(values, dict) else values, strict=True))


def plain(point: Any) -> Any:
    """Return a point as JSON has it: a list where it is an array."""
    return point.tolist() if isinstance(point, np.ndarray) else point


def paragraph(text: str, indent: str = "") -> str:
    """Return text wrapped to the width of a page."""
    return textwrap.fill(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


def table(rows: Sequence[Sequence[str]], *, header: Sequence[str] = (), left: int = 1) -> str:
    """Return rows in columns: the first `left` ones flush left, the others flush right.

    Examples
    --------
    >>> print(table([("refit", "1.5"), ("select", "12.0")], header=("part", "seconds")))
    part    seconds
    refit       1.5
    select     12.0
    """
    lines = [list(header), *map(list, rows)] if header else [list(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = (
        [cell.ljust(w) if k < left else cell.rjust(w) for k, (cell, w) in enumerate(zip(line, widths, strict=True))]
        for line in lines
    )
    return "\n".join("  ".join(cells).rstrip() for cells in padded)


def written(value: Any) -> str:
    """Return a value of a parameter as commands and tables have it: text as it is, numbers in full, others as JSON.

    Examples
    --------
    >>> written("a b"), written(0.1), written(True), written((8, 16))
    ('a b', '0.1', 'true', '[8, 16]')
    """
    return str(value) if isinstance(value, str | float) else json.dumps(value)

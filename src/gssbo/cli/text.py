"""Plain text: aligned tables and paragraphs, ASCII only, so that they survive a pipe and an e-mail."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

__all__ = ["WIDTH", "heading", "paragraph", "table"]

WIDTH = 100


def heading(text: str) -> str:
    """Return a line underlined."""
    return f"{text}\n{'-' * len(text)}"


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

"""Tables in Markdown, whole or line by line as they come."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["head", "line", "table"]


def line(cells: Iterable[str]) -> str:
    """A row; a bar within a cell becomes a slash."""
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def head(header: Sequence[str], texts: int = 1) -> str:
    """The two lines on top: so many columns of text, then numbers, which stand on the right."""
    return f"{line(header)}\n{line('---' if k < texts else '--:' for k in range(len(header)))}"


def table(header: Sequence[str], rows: Iterable[Iterable[str]], texts: int = 1) -> str:
    """Header and rows."""
    return "\n".join([head(header, texts), *map(line, rows)])

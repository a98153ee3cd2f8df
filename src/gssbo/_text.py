"""Numbers, times and values of any kind as people read them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["brief", "clock", "listed", "number"]

LONGEST = 80  # characters of a value in a message
MOST = 10  # values that a message lists


def number(value: float | None, digits: int = 4) -> str:
    """Return a number in few significant digits, with thousands separated; nothing for None.

    Examples
    --------
    >>> number(0.27303), number(12345.678), number(1.5e-7), number(3)
    ('0.273', '12,346', '1.5e-07', '3')
    """
    if value is None:
        return ""
    if isinstance(value, int) or 1000 <= abs(value) < 1e9:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"


def clock(seconds: float) -> str:
    """Return hours, minutes and seconds.

    Examples
    --------
    >>> clock(75.2), clock(3671)
    ('1:15', '1:01:11')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def brief(value: Any) -> str:
    """Return what a value reads, on one line and cut short, whatever its type does when it is asked for that.

    Examples
    --------
    >>> brief("a"), brief([0.5] * 1000)
    ("'a'", '[0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0...')
    """
    try:
        said = repr(value)
    except Exception:
        said = object.__repr__(value)
    text = " ".join(line.strip() for line in said.splitlines())
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def listed(values: Sequence[Any], form: Callable[[Any], str] = brief) -> str:
    """Return what values read, with commas: the first of many, and how many there are.

    Examples
    --------
    >>> listed(["a", "b"]), listed(range(1000))
    ("'a', 'b'", '0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ... (1,000)')
    """
    text = ", ".join(map(form, values[:MOST]))
    return text if len(values) <= MOST else f"{text}, ... ({len(values):,})"

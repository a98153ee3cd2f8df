"""Numbers and times as people read them."""

from __future__ import annotations

__all__ = ["clock", "number"]


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

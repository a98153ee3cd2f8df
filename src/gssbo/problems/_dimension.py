"""Dimensions a problem exists in."""

from __future__ import annotations

import operator

__all__ = ["fixed_dimension", "free_dimension"]


def fixed_dimension(name: str, dim: int | None, only: int) -> None:
    """Raise ValueError if `dim` is neither None nor the one dimension the problem has."""
    if dim is not None and _as_integer(dim) != only:
        raise ValueError(f"dim must be {only} for {name!r}, got {dim!r}")


def free_dimension(name: str, dim: int | None, *, default: int, lowest: int) -> int:
    """Return `dim`, or `default` for None; raise ValueError unless it is an integer of at least `lowest`."""
    if dim is None:
        return default
    d = _as_integer(dim)
    if d is None or d < lowest:
        raise ValueError(f"dim must be an integer of at least {lowest} for {name!r}, got {dim!r}")
    return d


def _as_integer(value: int) -> int | None:
    """`value` as an int, or None if it is not an integer."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None

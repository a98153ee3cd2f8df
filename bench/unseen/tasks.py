"""The tasks: instances with parameters, a budget, and how many evaluations are made at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from gssbo.space import Integer, Real

from .instances import (
    Instance,
    angles,
    bbob,
    corner,
    decades,
    needle,
    ordinal,
    outliers,
    pairs,
    pieces,
    process,
    sparse,
    stairs,
    textbook,
    uneven,
    whole,
)

__all__ = ["TASKS", "Task"]


class Task(NamedTuple):
    """Instances by seed, the parameters, evaluations, and how many of them at a time."""

    make: Callable[[int], Instance]
    space: Sequence[Real | Integer]
    n_evals: int
    q: int = 1


def unit(d: int) -> list[Real | Integer]:
    """Reals from 0 to 1."""
    return [Real(0.0, 1.0)] * d


TASKS: dict[str, Task] = {
    "bbob f03, 2": Task(bbob(3, 2), unit(2), 200),
    "bbob f22, 3": Task(bbob(22, 3), unit(3), 250),
    "bbob f06, 5": Task(bbob(6, 5), unit(5), 400),
    "bbob f23, 5": Task(bbob(23, 5), unit(5), 400),
    "bbob f17, 10": Task(bbob(17, 10), unit(10), 500),
    "bbob f20, 10": Task(bbob(20, 10), unit(10), 500),
    "bbob f07, 20": Task(bbob(7, 20), unit(20), 600),
    "bbob f18, 20": Task(bbob(18, 20), unit(20), 600),
    "bbob f08, 40": Task(bbob(8, 40), unit(40), 500),
    "bbob f13, 40": Task(bbob(13, 40), unit(40), 500),
    "bbob f15, 40": Task(bbob(15, 40), unit(40), 500),
    "5 of 100": Task(sparse, unit(100), 400),
    "pairs, 30": Task(pairs, unit(30), 500),
    "outliers, 5": Task(outliers, unit(5), 250),
    "uneven noise, 5": Task(uneven, unit(5), 250),
    "stairs, 6": Task(stairs, unit(6), 300),
    "corner, 8": Task(corner, unit(8), 200),
    "needle, 3": Task(needle, unit(3), 300),
    "pieces, 6": Task(pieces, unit(6), 300),
    "angles, 6": Task(angles, unit(6), 300),
    "decades, 6": Task(decades, unit(6), 300),
    "small: bbob f09, 3": Task(bbob(9, 3), unit(3), 80),
    "small: process, 3": Task(process(3, 0.2), unit(3), 60),
    "small: bbob f21, 4": Task(bbob(21, 4), unit(4), 100),
    "small: process, 5": Task(process(5, 0.25), unit(5), 120),
    "small: hartmann6": Task(textbook("hartmann6"), unit(6), 150),
    "whole, 8": Task(whole, [Integer(0, 7)] * 8, 200),
    "ordinal, 12": Task(ordinal, [Integer(0, 4)] * 12, 250),
    "batch 4: process, 4": Task(process(4, 0.2), unit(4), 160, 4),
    "batch 4: bbob f10, 5": Task(bbob(10, 5), unit(5), 400, 4),
    "batch 8: process, 6": Task(process(6, 0.25), unit(6), 240, 8),
    "batch 8: bbob f21, 5": Task(bbob(21, 5), unit(5), 400, 8),
    "batch 8: pairs, 30": Task(pairs, unit(30), 480, 8),
}

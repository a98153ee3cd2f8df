"""What a task is: a space, a value to be minimised, and what an evaluation makes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gssbo.space import Categorical, Integer, Real

__all__ = ["Point", "Task"]

Point = dict[str, Any]


@dataclass(frozen=True)
class Task:
    """A problem as somebody might bring it.

    Parameters
    ----------
    value : callable
        The value at a point, without noise; NaN where the evaluation fails.
    space : dict
        Parameters by name.
    n_evals : int
        Evaluations that a run has.
    told : callable, optional
        ``told(value, rng)``, what an evaluation gives, where that is noisy.
    """

    value: Callable[[Point], float]
    space: dict[str, Real | Integer | Categorical]
    n_evals: int
    told: Callable[[float, np.random.Generator], float] | None = None

    @property
    def is_real(self) -> bool:
        """Whether all parameters are."""
        return all(isinstance(each, Real) for each in self.space.values())

    def point(self, u: np.ndarray) -> Point:
        """The point at u (d,) in the unit cube: whole numbers and categories have equal parts of a side."""
        return {name: _at(each, float(u[i])) for i, (name, each) in enumerate(self.space.items())}


def _at(kind: Real | Integer | Categorical, u: float) -> Any:
    if isinstance(kind, Categorical):
        return kind.values[min(int(u * len(kind.values)), len(kind.values) - 1)]
    whole = isinstance(kind, Integer)
    low, high = (kind.low - 0.5, kind.high + 0.5) if whole else (kind.low, kind.high)
    value = low * (high / low) ** u if kind.log else low + (high - low) * u
    value = min(max(round(value) if whole else value, kind.low), kind.high)
    return int(value) if whole else float(value)

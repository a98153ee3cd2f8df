"""Tasks whose formulas are plain and whose responses are not: cliffs, decades, plateaus, noise of unusual kinds."""

from __future__ import annotations

import numpy as np

from gssbo.space import Real

from .task import Point, Task

__all__ = ["TASKS"]

CENTRE = np.array([0.31, 0.72, 0.55, 0.18, 0.84, 0.43])


def _vector(x: Point) -> np.ndarray:
    return np.array(list(x.values()))


def _bowl(v: np.ndarray) -> float:
    """A curved bowl of several unequal axes, 0 at the centre, a few units elsewhere."""
    u = v - CENTRE[: len(v)]
    u = u + 0.8 * np.roll(u, 1) ** 2
    return float((u * u * np.geomspace(1.0, 20.0, len(u))).sum() + 0.2 * (1.0 - np.cos(7.0 * u[0])))


def bowl(x: Point) -> float:
    """The bowl."""
    return _bowl(_vector(x))


def cliff(x: Point) -> float:
    """The bowl, which the best way down ends at a cliff of 1e6: only a band of the sum of all is allowed."""
    v = _vector(x)
    return _bowl(v) if 2.2 < v.sum() < 2.9 else 1e6


def band(x: Point) -> float:
    """The same, and NaN beyond the cliff."""
    value = cliff(x)
    return value if value < 1e6 else float("nan")


def island(x: Point) -> float:
    """The bowl where an evaluation succeeds in one of twenty-five points of the box, and best at the edge."""
    v = _vector(x)
    value = _bowl(v)
    return value if np.abs(v - CENTRE[:5] - 0.2).max() < 0.36 else float("nan")


def decades(x: Point) -> float:
    """Values from 1e-6 to 1e6 and more: a bowl of exponents with two valleys."""
    v = _vector(x)
    other = np.abs(v - np.array([0.8, 0.2, 0.3, 0.7, 0.5]))
    return float(10.0 ** (min(3.0 * _bowl(v), 4.0 * other.sum() + 1.0) - 6.0))


def aligned(x: Point) -> float:
    """Light that is lost: all of it, but where four angles are near the right ones."""
    u = _vector(x) - CENTRE[:4]
    return 1.0 - float(np.exp(-(u * u).sum() / (2.0 * 0.06**2)) + 0.003 * np.exp(-(u * u).sum() / (2.0 * 0.5**2)))


def counted(x: Point) -> float:
    """The bowl in whole quarters, as something that is counted."""
    return float(np.floor(4.0 * _bowl(_vector(x))) / 4.0)


def few_of_many(x: Point) -> float:
    """Four of sixty parameters matter, two of them together, one with several minima."""
    v = _vector(x)
    a, b, c, d = v[7], v[22], v[41], v[53]
    return float(
        4.0 * (a - 0.7) ** 2 + 8.0 * (b - a * a) ** 2 + 2.0 * abs(c - 0.35) + 0.5 * (1.0 - np.cos(9.0 * (d - 0.6)))
        + (d - 0.6) ** 2
    )  # fmt: skip


def _unit(d: int) -> dict[str, Real]:
    return {f"x{i}": Real(0.0, 1.0) for i in range(d)}


TASKS = {
    "cliff of 1e6": Task(cliff, _unit(5), 200),
    "cliff, failing": Task(band, _unit(5), 200),
    "island": Task(island, _unit(5), 200),
    "failing by chance": Task(bowl, _unit(5), 200, lambda value, rng: value if rng.random() > 0.2 else float("nan")),
    "twelve decades": Task(decades, _unit(5), 200),
    "narrow basin": Task(aligned, _unit(4), 300),
    "counted": Task(counted, _unit(6), 200),
    "four of sixty": Task(few_of_many, _unit(60), 300),
    "heavy tails": Task(bowl, _unit(5), 200, lambda value, rng: value + 0.1 * float(rng.standard_t(2.0))),
    "noise that grows": Task(bowl, _unit(5), 200, lambda value, rng: (value + 0.1) * float(rng.lognormal(0.0, 0.4))),
}

"""Points that linear constraints leave, by mixed-integer linear programming: also where they leave a single one.

Notation
--------
x           values of the parameters as numbers (d,)
A, l, u     what is wanted is l <= A x <= u (k, d), (k,), (k,)
v           variables of the program: where a real is in its interval, from 0 to 1; which step a whole number is; of a
            category, 0 or 1 for each value

References
----------
1. Huangfu and Hall, Parallelizing the dual revised simplex method, 2018 (HiGHS, as `scipy.optimize.milp` calls it).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import LinearConstraint, milp

from gssbo._typing import FloatArray
from gssbo.space.categorical import Categorical
from gssbo.space.parameter import Column, Parameter
from gssbo.space.real import Real

__all__ = ["Faces", "extreme", "ranges"]

MOST = 2_000  # values of categories that constraints see: each is a variable
NODES, WORK = 1_000, 500_000  # of a search at the most: nodes, and nodes times entries of A
# Any point will do, the direction is for variety alone. The time is the last resort, for what nodes do not end.
OPTIONS = {"mip_rel_gap": 0.5, "time_limit": 60.0}
NEAR = 1e-6  # of what a row may come to: what is so close to a bound is meant to be there
POLISH = 3  # steps to the bounds, which the program meets to 1e-7
SIZES = 1e-3, 1e6  # of coefficients, that the solver is given as they are
TINY = np.finfo(np.float64).tiny

Faces = tuple[FloatArray, FloatArray, FloatArray]


class _Block(NamedTuple):
    """The variables of a parameter: x = base + slopes @ v, each variable from 0 to `last`, whole or not."""

    base: float
    slopes: FloatArray
    last: float
    whole: bool


def extreme(
    kinds: Sequence[Parameter], faces: Faces, columns: Sequence[Column], rng: np.random.Generator
) -> list[Column] | None:
    """A point that meets the linear constraints, to rounding, and is extreme in a random direction.

    Parameters
    ----------
    kinds : sequence of Parameter
        Resolved ones.
    faces : tuple of ndarray
        A, l and u.
    columns : sequence of ndarray of shape (1,)
        Those of any point; what the constraints do not see stays as it is there.
    rng : numpy.random.Generator

    Returns
    -------
    list of ndarray of shape (1,), or None
        Stored columns; None where there is none, or it takes too much.

    Examples
    --------
    >>> from gssbo.space.integer import Integer
    >>> kinds = [Integer(0, 4), Real(0.0, 4.0)]
    >>> twelve = np.array([[1.0, 2.0]]), np.array([12.0]), np.array([12.0])
    >>> extreme(kinds, twelve, [np.array([0]), np.array([0.0])], np.random.default_rng(0))
    [array([4]), array([4.])]
    """
    A, lower, upper = faces
    seen = np.flatnonzero((A != 0.0).any(axis=0)).tolist()
    if not seen or sum(int(kinds[i].n_values) for i in seen if isinstance(kinds[i], Categorical)) > MOST:
        return None
    blocks = [_block(kinds[i]) for i in seen]
    v = _solved(A[:, seen], lower, upper, blocks, rng)
    if v is None:
        return None
    found = list(columns)
    for i, block, own in zip(seen, blocks, v, strict=True):
        found[i] = _column(kinds[i], block, own)
    return _polished(kinds, faces, found)


def ranges(kinds: Sequence[Parameter]) -> FloatArray:
    """Least and largest values (2, d) of parameters as numbers; 0 for categories that are none."""
    ends = []
    for block in map(_block, kinds):
        values = block.base + (block.slopes if len(block.slopes) > 1 else block.slopes * [0.0, block.last])
        ends.append((values.min(), values.max()))
    return np.nan_to_num(np.array(ends).T)


def _block(kind: Parameter) -> _Block:
    if isinstance(kind, Real):
        return _Block(kind.low, np.array([kind.high - kind.low]), 1.0, whole=False)
    n = int(kind.n_values)
    if isinstance(kind, Categorical) and n > 1:
        return _Block(0.0, kind.numbers(kind.at(np.arange(n))), 1.0, whole=True)
    first, last = kind.numbers(kind.at(np.array([0, n - 1]))).tolist()
    return _Block(first, np.array([(last - first) / max(n - 1, 1)]), n - 1.0, whole=True)


def _column(kind: Parameter, block: _Block, v: FloatArray) -> Column:
    if isinstance(kind, Real):
        return np.clip(kind.low + block.slopes * v, kind.low, kind.high)
    code = np.argmax(v) if isinstance(kind, Categorical) else np.clip(np.rint(v[0]), 0.0, block.last)
    return kind.at(np.array([int(code)]))


def _solved(
    A: FloatArray, lower: FloatArray, upper: FloatArray, blocks: list[_Block], rng: np.random.Generator
) -> list[FloatArray] | None:
    """Variables of each block."""
    counts = [len(block.slopes) for block in blocks]
    last = np.repeat([block.last for block in blocks], counts)
    S = np.hstack([A[:, k : k + 1] * block.slopes for k, block in enumerate(blocks)])
    rest = np.einsum("ij,j->i", A, np.array([block.base for block in blocks]))
    # By powers of two, and no farther than need be: whole coefficients are a help to the solver.
    sizes = np.maximum(np.abs(S).max(axis=1), TINY)
    scale = np.exp2(np.rint(np.log2(np.clip(sizes, *SIZES)) - np.log2(sizes)))
    rules = [LinearConstraint(S * scale[:, None], (lower - rest) * scale, (upper - rest) * scale)]
    owner = np.repeat(np.arange(len(blocks)), counts)
    rules += [LinearConstraint((owner == k).astype(float), 1.0, 1.0) for k, count in enumerate(counts) if count > 1]
    best = milp(
        rng.standard_normal(len(last)) / np.maximum(last, 1.0),
        integrality=np.repeat([block.whole for block in blocks], counts),
        bounds=(0.0, last),
        constraints=rules,
        options={"node_limit": max(min(NODES, WORK // S.size), 1)} | OPTIONS,
    )
    return None if best.x is None else np.split(best.x, np.cumsum(counts)[:-1])


def _polished(kinds: Sequence[Parameter], faces: Faces, columns: list[Column]) -> list[Column]:
    """The point with its reals moved so that what is next to a bound meets it to rounding."""
    A, lower, upper = faces
    reals = [i for i, kind in enumerate(kinds) if isinstance(kind, Real) and A[:, i].any()]
    if not reals:
        return columns
    low, high = np.array([(kind.low, kind.high) for kind in map(kinds.__getitem__, reals) if isinstance(kind, Real)]).T
    numbers = np.nan_to_num([kind.numbers(column)[0] for kind, column in zip(kinds, columns, strict=True)])
    x, near = numbers[reals], NEAR * (high - low)
    x = np.where(x - low <= near, low, np.where(high - x <= near, high, x))
    inside = (x > low) & (x < high)
    reach = NEAR * np.einsum("ij,j->i", np.abs(A[:, reals]), high - low)
    for _ in range(POLISH):
        numbers[reals] = x
        values = np.einsum("ij,j->i", A, numbers)
        target = np.where(np.abs(values - lower) <= np.abs(values - upper), lower, upper)
        tight = np.abs(values - target) <= reach
        moves = np.linalg.lstsq(A[np.ix_(tight, np.array(reals)[inside])], (target - values)[tight])[0]
        x[inside] = np.clip(x[inside] + moves, low[inside], high[inside])
    for i, value in zip(reals, x, strict=True):
        columns[i] = np.array([value])
    return columns

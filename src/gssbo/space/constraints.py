"""Input constraints: which points of a space may be suggested, in SciPy's terms.

A point may be suggested if lb <= A x <= ub, but for the rounding of A x, and lb <= fun(x) <= ub, by plain comparison.
Nothing is modelled and nothing is projected: infeasible candidates are passed over, so a function of real parameters
cannot be met as an equality. Of linear constraints the centre of what they leave can be found.

Notation
--------
a, l, u     a row of A and its bounds
r           radius of a ball in what the rows leave of the unit cube of the free parameters

References
----------
1. Boyd and Vandenberghe, Convex Optimization, section 8.5.1 (the Chebyshev centre by linear programming).
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, NonlinearConstraint, linprog

from gssbo._arithmetic import callers_arithmetic
from gssbo._notes import explain
from gssbo._text import brief
from gssbo._typing import FloatArray, IndexArray
from gssbo._validation import check_array

__all__ = ["Constraints"]

EPS = np.finfo(np.float64).eps
LEAST_RADIUS = 1e-8  # of the unit cube: the centre of less is one of rounding
ROUNDED = 1e-9  # of the sizes of the terms of a row: what is so close to a bound may meet it
POLISH = 3  # steps to an equality, which linear programming meets to 1e-9
SQUARABLE = 500  # powers of two: what is no larger, and no smaller, has squares that are doubles

NO_DICTS = (
    "a LinearConstraint or NonlinearConstraint, not a dict: write NonlinearConstraint(fun, 0, np.inf) for one of type "
    "'ineq', NonlinearConstraint(fun, 0, 0) for 'eq'"
)


class Constraints:
    """Constraints on user points, to be met all at once.

    Parameters
    ----------
    constraints : LinearConstraint, NonlinearConstraint, a sequence of them, or None
        A linear one takes one column a parameter, in their order; a category that is a number counts as that number,
        another one must have coefficient 0. The function of a nonlinear one takes a point as a suggestion has it.
    largest : ndarray, one a parameter
        The largest of its values, by their sizes; NaN where they are no numbers.

    Attributes
    ----------
    given : tuple of LinearConstraint and NonlinearConstraint
        They, as they came.

    Raises
    ------
    ValueError
        If something is no constraint of SciPy's, has the wrong shape, or bounds that nothing can meet.

    Examples
    --------
    >>> rule = Constraints(LinearConstraint([[1.0, 1.0]], ub=1.0), np.ones(2))
    >>> points = np.array([[0.2, 0.3], [0.8, 0.3]])
    >>> rule.met(points, list(points))
    array([ True, False])
    """

    def __init__(self, constraints: Any, largest: FloatArray) -> None:
        if constraints is None:
            constraints = ()
        elif isinstance(constraints, LinearConstraint | NonlinearConstraint):
            constraints = (constraints,)
        if isinstance(constraints, Mapping):
            raise ValueError(f"constraints must be {NO_DICTS}, got {brief(constraints)}")
        try:
            self.given: tuple[LinearConstraint | NonlinearConstraint, ...] = tuple(constraints)
        except TypeError as error:  # arrays without a dimension pass for iterable
            raise ValueError(
                "constraints must be a LinearConstraint or NonlinearConstraint, or a sequence of them, got "
                f"{brief(constraints)}"
            ) from error
        self._tests: list[_Linear | _Nonlinear] = []
        for i, each in enumerate(self.given):
            if isinstance(each, LinearConstraint):
                self._tests.append(_Linear(f"constraints[{i}]", each, largest))
            elif isinstance(each, NonlinearConstraint):
                self._tests.append(_Nonlinear(f"constraints[{i}]", each))
            elif isinstance(each, Mapping):
                raise ValueError(f"constraints[{i}] must be {NO_DICTS}, got {brief(each)}")
            else:
                raise ValueError(
                    f"constraints[{i}] must be a LinearConstraint or NonlinearConstraint, got {brief(each)}"
                )
        self._n_parameters = len(largest)
        self._linear_first = sorted(self._tests, key=lambda test: isinstance(test, _Nonlinear))  # they take no calls

    def __len__(self) -> int:
        return len(self._tests)

    def has_equality(self, is_real: NDArray[np.bool_]) -> bool:
        """Whether some value is to be met to the bit that depends on real parameters, a mask (d,), or may do so."""
        return any(((test.lower == test.upper) & test.depends(is_real)).any() for test in self._tests)

    def undefined(self, numbers: FloatArray, points: list[Any]) -> str | None:
        """Name of a constraint that is NaN at all points that those before it leave; of `met`, the same arguments."""
        left = np.arange(len(numbers))
        for i, test in enumerate(self._tests):
            some = [points[k] for k in left]
            if isinstance(test, _Nonlinear) and some and all(test.is_nan(point) for point in some):
                return f"constraints[{i}]"
            left = left[test(numbers[left], some)]
        return None

    def unreachable(self, low: FloatArray, high: FloatArray) -> str | None:
        """A row of the linear constraints that no values between low and high (d,) meet, and what it comes to."""
        for i, test in enumerate(self._tests):
            if isinstance(test, _Linear):
                ends = np.stack([test.A * low, test.A * high])
                least, most = ends.min(axis=0).sum(axis=1), ends.max(axis=0).sum(axis=1)
                slack = ROUNDED * np.abs(ends).sum(axis=(0, 2))
                for row in np.flatnonzero((least - slack > test.upper) | (most + slack < test.lower)).tolist():
                    wanted = test.lower[row] if most[row] < test.lower[row] else test.upper[row]
                    first, last, never = test.as_given(row, np.array([least[row], most[row], wanted]))
                    return (
                        f"row {row} of constraints[{i}] is between {first:.6g} and {last:.6g} within the bounds, "
                        f"and never {never:.6g}"
                    )
        return None

    def centre(self, numbers: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray | None:
        """Values (d,) in the middle of what the linear constraints leave between low and high (d,), if there is any.

        Only where high > low may they differ from `numbers` (d,). Equalities are met to rounding, and the middle is
        that of the rest.
        """
        A, lower, upper = self.faces()
        free = high > low
        if not len(A) or not free.any():
            return None
        width = high[free] - low[free]
        rows = A[:, free] * width
        rest = np.einsum("ij,j->i", A[:, ~free], np.where(np.isnan(numbers), 0.0, numbers)[~free])
        rest += np.einsum("ij,j->i", A[:, free], low[free])
        lower, upper = lower - rest, upper - rest
        norms = np.sqrt((rows * rows).sum(axis=1))
        if (lower > 0.0)[norms == 0.0].any() or (upper < 0.0)[norms == 0.0].any():
            return None
        equal = (lower == upper)[norms > 0.0]
        with np.errstate(over="ignore"):  # what is far beyond a row is no bound
            rows, lower, upper = (each[norms > 0.0].T / norms[norms > 0.0] for each in (rows, lower, upper))
        E, e = rows.T[equal], upper[equal]
        rows = np.vstack([-rows.T, rows.T, -np.eye(len(width)), np.eye(len(width))])
        thick = np.concatenate([~equal, ~equal, np.ones(2 * len(width), dtype=bool)])
        limits = np.concatenate([-lower, upper, np.zeros(len(width)), np.ones(len(width))])
        some = np.isfinite(limits)
        best = linprog(
            np.append(np.zeros(len(width)), -1.0),
            np.column_stack([rows, thick])[some],
            limits[some],
            bounds=[(0.0, 1.0)] * (len(width) + 1),
        )
        if best.status != 0 or best.x[-1] <= LEAST_RADIUS:
            return None
        unit = best.x[:-1]
        for _ in range(POLISH if len(E) else 0):
            unit = unit + np.linalg.lstsq(E, e - np.einsum("ij,j->i", E, unit))[0]
        found = numbers.copy()
        found[free] = low[free] + unit * width
        return found

    def met(self, numbers: FloatArray, points: list[Any]) -> NDArray[np.bool_]:
        """Mask (n,) of points that meet all, given their values as numbers (n, d) and as suggestions."""
        mask = np.ones(len(numbers), dtype=bool)
        for test in self._linear_first:
            left = np.flatnonzero(mask)
            mask[left] = test(numbers[left], [points[i] for i in left])
        return mask

    def faces(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """A (k, d) and bounds (k,), (k,) of the linear constraints."""
        linear = [test for test in self._tests if isinstance(test, _Linear)]
        if not linear:
            return np.empty((0, self._n_parameters)), np.empty(0), np.empty(0)
        A = np.vstack([test.A for test in linear])
        return A, np.concatenate([test.lower for test in linear]), np.concatenate([test.upper for test in linear])

    def miss(self, numbers: FloatArray, points: list[Any]) -> FloatArray:
        """How far (n,) points are from meeting all: 0 where they do; of `met`, the same arguments.

        Of two points that break different constraints, the one that breaks the later one is nearer; functions are asked
        no more than `met` asks them.
        """
        misses = np.zeros(len(numbers))
        left = np.arange(len(numbers))
        for rest, test in zip(range(len(self._tests))[::-1], self._linear_first, strict=True):
            excess = test.excess(numbers[left], [points[i] for i in left])
            broken: NDArray[np.bool_] = excess > 0.0
            with np.errstate(invalid="ignore"):
                misses[left] = np.where(broken, rest + np.where(np.isinf(excess), 1.0, excess / (1.0 + excess)), 0.0)
            left = left[~broken]
        return misses


class _Linear:
    """Rows l <= A x <= u, multiplied by powers of two where what they may come to has no square in doubles."""

    def __init__(self, where: str, constraint: LinearConstraint, largest: FloatArray) -> None:
        is_number = ~np.isnan(largest)
        dense = getattr(constraint.A, "toarray", lambda: constraint.A)()
        self.A = np.atleast_2d(check_array(f"A of {where}", dense))
        if self.A.ndim != 2 or self.A.shape[1] != len(is_number):
            raise ValueError(f"{where} must have A with {len(is_number)} columns, got shape {self.A.shape}")
        if np.any(self.A[:, ~is_number]):
            raise ValueError(
                f"{where} must have coefficient 0 for categories that are no numbers, got {brief(self.A.tolist())}"
            )
        if not np.isfinite(self.A).all():
            raise ValueError(f"{where} must have finite coefficients, got {brief(self.A.tolist())}")
        self._powers = powers = _powers(self.A, np.where(is_number, largest, 0.0))
        with np.errstate(over="ignore"):  # what no sum comes to is no bound, or one that nothing meets
            self.A = np.ldexp(self.A, powers[:, None])
            self.lower, self.upper = (np.ldexp(each, powers) for each in _bounds(where, constraint))
        self._is_number, self._sizes = is_number, np.abs(self.A)

    def __call__(self, numbers: FloatArray, points: list[Any]) -> NDArray[np.bool_]:
        values, slack = self._values(numbers)
        inside = (values + slack >= self.lower) & (values - slack <= self.upper)
        return np.asarray(inside.all(axis=1))

    def excess(self, numbers: FloatArray, points: list[Any]) -> FloatArray:
        """Sum (n,) of what the values are off their bounds by."""
        values, slack = self._values(numbers)
        return _excess(values + slack, values - slack, self.lower, self.upper)

    def _values(self, numbers: FloatArray) -> tuple[FloatArray, FloatArray]:
        """A x (n, k), and what d products and their sum may be off by: 0.1 + 0.2 is not above 0.3."""
        numbers = np.where(self._is_number, numbers, 0.0)
        values = np.einsum("ij,kj->ik", numbers, self.A)
        slack = (numbers.shape[1] + 2) * EPS * np.einsum("ij,kj->ik", np.abs(numbers), self._sizes)
        return values, slack

    def as_given(self, row: int, values: FloatArray) -> list[float]:
        """Values (n,) of a row as they are with the coefficients that were given; infinite beyond doubles."""
        with np.errstate(over="ignore"):
            given: list[float] = np.ldexp(values, -self._powers[row]).tolist()
        return given

    def depends(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Mask of the rows that depend on the chosen parameters, a mask (d,)."""
        mask: NDArray[np.bool_] = (self.A[:, chosen] != 0.0).any(axis=1)
        return mask


class _Nonlinear:
    def __init__(self, where: str, constraint: NonlinearConstraint) -> None:
        if not callable(constraint.fun):
            raise ValueError(f"{where} must have a callable fun, got {brief(constraint.fun)}")
        self._where, self._fun = where, constraint.fun
        self.lower, self.upper = _bounds(where, constraint)
        self._shape = self.lower.shape  # of values, the last that was seen to suit the bounds

    def __call__(self, numbers: FloatArray, points: list[Any]) -> NDArray[np.bool_]:
        return np.array([self._meets(point) for point in points], dtype=bool)

    def excess(self, numbers: FloatArray, points: list[Any]) -> FloatArray:
        """Sum (n,) of what the values are off their bounds by; infinite where one is NaN."""
        values = [self._values(point) for point in points]
        return np.array([_excess(each, each, self.lower, self.upper).sum() for each in values])

    def depends(self, chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Mask of the values, of the shape of the bounds: any may depend on any parameter."""
        return np.full(self.lower.shape, chosen.any())

    def is_nan(self, point: Any) -> bool:
        """Whether the function has no value at a point."""
        return bool(np.isnan(self._values(point)).any())

    def _meets(self, point: Any) -> bool:
        values = self._values(point)
        return bool(((values >= self.lower) & (values <= self.upper)).all())

    def _values(self, point: Any) -> FloatArray:
        """The function's values, of a shape that suits the bounds; it gets a point of its own to write into."""
        try:
            with callers_arithmetic():
                value = self._fun(copy.copy(point))
        except Exception as error:
            explain(error, self._where, self._fun, point)
            raise
        try:
            values = check_array("value", value)
            if value is None or values.size == 0:
                raise ValueError("there is none")
            if values.shape != self._shape:
                np.broadcast_shapes(values.shape, self.lower.shape)
                self._shape = values.shape
        except ValueError as error:
            raise ValueError(f"{self._where} must return numbers that suit its bounds, got {brief(value)}") from error
        return values


def _excess(most: FloatArray, least: FloatArray, lower: FloatArray, upper: FloatArray) -> FloatArray:
    """By how much values between `least` and `most` (..., k) are off their bounds, summed over k; infinite for NaN."""
    with np.errstate(invalid="ignore", over="ignore"):
        below, above = np.where(most < lower, lower - most, 0.0), np.where(least > upper, least - upper, 0.0)
    excess: FloatArray = np.where(np.isnan(most) | np.isnan(least), np.inf, below + above).sum(axis=-1)
    return excess


def _powers(A: FloatArray, largest: FloatArray) -> IndexArray:
    """Powers of two (k,) that bring what the rows of A (k, d) may come to between the squarable numbers, mostly 0."""
    none = -np.iinfo(np.int32).max
    exponents = np.frexp(A)[1] + np.frexp(largest)[1] + A.shape[1].bit_length()
    seen = (A != 0.0) & (largest != 0.0)
    tops = np.where(seen, exponents, none).max(axis=1, initial=none)
    powers: IndexArray = np.where(seen.any(axis=1), np.clip(tops, -SQUARABLE, SQUARABLE) - tops, 0)
    return powers


def _bounds(where: str, constraint: LinearConstraint | NonlinearConstraint) -> tuple[FloatArray, FloatArray]:
    """Lower and upper bounds, of one shape."""
    lower, upper = check_array(f"lb of {where}", constraint.lb), check_array(f"ub of {where}", constraint.ub)
    try:
        lower, upper = np.broadcast_arrays(lower, upper)
    except ValueError:
        raise ValueError(f"{where} must have lb and ub of one shape, got {lower.shape} and {upper.shape}") from None
    if not (lower <= upper).all():  # NaN, too
        raise ValueError(f"{where} must have lb <= ub, got lb={constraint.lb}, ub={constraint.ub}")
    return lower, upper

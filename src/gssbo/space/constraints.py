"""Input constraints: which points of a space may be suggested, in SciPy's terms.

A point may be suggested if lb <= A x <= ub, and lb <= fun(x) <= ub, by plain comparison. Nothing is modelled and
nothing is projected: infeasible candidates are passed over, so equalities between real parameters cannot be met.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, NonlinearConstraint

from gssbo._typing import FloatArray
from gssbo._validation import check_array

__all__ = ["Constraints"]

Test = Callable[[FloatArray, list[Any]], NDArray[np.bool_]]

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
    is_number : sequence of bool, one a parameter
        Whether its values are numbers.

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
    >>> rule = Constraints(LinearConstraint([[1.0, 1.0]], ub=1.0), [True, True])
    >>> points = np.array([[0.2, 0.3], [0.8, 0.3]])
    >>> rule.met(points, list(points))
    array([ True, False])
    """

    def __init__(self, constraints: Any, is_number: list[bool]) -> None:
        if constraints is None:
            constraints = ()
        elif isinstance(constraints, LinearConstraint | NonlinearConstraint):
            constraints = (constraints,)
        if isinstance(constraints, Mapping):
            raise ValueError(f"constraints must be {NO_DICTS}, got {constraints!r}")
        if not isinstance(constraints, Iterable):
            raise ValueError(f"constraints must be SciPy constraints or a sequence of them, got {constraints!r}")
        self.given: tuple[LinearConstraint | NonlinearConstraint, ...] = tuple(constraints)
        self._tests: list[Test] = []
        for i, each in enumerate(self.given):
            if isinstance(each, LinearConstraint):
                self._tests.append(_Linear(f"constraints[{i}]", each, np.array(is_number)))
            elif isinstance(each, NonlinearConstraint):
                self._tests.append(_Nonlinear(f"constraints[{i}]", each))
            elif isinstance(each, Mapping):
                raise ValueError(f"constraints[{i}] must be {NO_DICTS}, got {each!r}")
            else:
                raise ValueError(f"constraints[{i}] must be a LinearConstraint or NonlinearConstraint, got {each!r}")

    def __len__(self) -> int:
        return len(self._tests)

    def met(self, numbers: FloatArray, points: list[Any]) -> NDArray[np.bool_]:
        """Mask (n,) of points that meet all, given their values as numbers (n, d) and as suggestions."""
        mask = np.ones(len(numbers), dtype=bool)
        for test in self._tests:
            left = np.flatnonzero(mask)
            mask[left] = test(numbers[left], [points[i] for i in left])
        return mask


class _Linear:
    def __init__(self, where: str, constraint: LinearConstraint, is_number: NDArray[np.bool_]) -> None:
        self._A = np.atleast_2d(np.asarray(getattr(constraint.A, "toarray", lambda: constraint.A)(), dtype=np.float64))
        if self._A.ndim != 2 or self._A.shape[1] != len(is_number):
            raise ValueError(f"{where} must have A with {len(is_number)} columns, got shape {self._A.shape}")
        if np.any(self._A[:, ~is_number]):
            raise ValueError(f"{where} must have coefficient 0 for categories that are no numbers, got {self._A}")
        self._A[:, ~is_number] = 0.0
        self._is_number = is_number
        if not np.isfinite(self._A).all():
            raise ValueError(f"{where} must have finite coefficients, got {self._A}")
        lower, upper = _bounds(where, constraint)
        self._lower, self._upper = np.broadcast_to(lower, len(self._A)), np.broadcast_to(upper, len(self._A))

    def __call__(self, numbers: FloatArray, points: list[Any]) -> NDArray[np.bool_]:
        values = np.einsum("ij,kj->ik", np.where(self._is_number, numbers, 0.0), self._A)
        mask: NDArray[np.bool_] = ((values >= self._lower) & (values <= self._upper)).all(axis=1)
        return mask


class _Nonlinear:
    def __init__(self, where: str, constraint: NonlinearConstraint) -> None:
        if not callable(constraint.fun):
            raise ValueError(f"{where} must have a callable fun, got {constraint.fun!r}")
        self._where, self._fun = where, constraint.fun
        self._lower, self._upper = _bounds(where, constraint)

    def __call__(self, numbers: FloatArray, points: list[Any]) -> NDArray[np.bool_]:
        return np.array([self._meets(point) for point in points], dtype=bool)

    def _meets(self, point: Any) -> bool:
        value = self._fun(point)
        try:
            return bool(np.all((np.asarray(value) >= self._lower) & (np.asarray(value) <= self._upper)))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self._where} must return numbers that suit its bounds, got {value!r}") from error


def _bounds(where: str, constraint: LinearConstraint | NonlinearConstraint) -> tuple[FloatArray, FloatArray]:
    """Lower and upper bounds, as they came in shape."""
    lower, upper = check_array(f"lb of {where}", constraint.lb), check_array(f"ub of {where}", constraint.ub)
    try:
        met = lower <= upper  # false for NaN, too
    except ValueError:
        raise ValueError(f"{where} must have lb and ub of one shape, got {lower.shape} and {upper.shape}") from None
    if not met.all():
        raise ValueError(f"{where} must have lb <= ub, got lb={constraint.lb}, ub={constraint.ub}")
    return lower, upper

"""The search space: the user's parameters on one side, the model's unit cube on the other.

Notation
--------
rows        stored points: float64 (n, d) where all parameters are real, else a structured array (n,), a field each
U           unit points (n, D): columns of the model's cube; realisable where they stand for a point of the space
draws       numbers in [0, 1], (n, p), one for each free parameter: uniform draws give uniform points

A fixed parameter has no column and no draw. `gssbo.space.parameter` says what the columns of the others are.
"""

from __future__ import annotations

import math
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import LinearConstraint, NonlinearConstraint

from gssbo._text import brief
from gssbo._typing import FloatArray, IndexArray
from gssbo._validation import check_matrix
from gssbo.space.categorical import Categorical
from gssbo.space.constraints import Constraints
from gssbo.space.equalities import Equalities
from gssbo.space.forms import read_bounds
from gssbo.space.parameter import ROUNDING, Discrete, Misfit, Parameter
from gssbo.space.points import read_array, read_columns
from gssbo.space.program import extreme, ranges
from gssbo.space.real import Real

__all__ = ["LISTED", "Rows", "Space"]

LISTED = 100_000  # points of a finite space up to which it is listed rather than drawn from
SAMPLED, PART = 300, 30  # points drawn, so many at once, to see whether a feasible region is thin
THICK = 3  # feasible ones among them that say it is not

Rows: TypeAlias = NDArray[Any]


class Space:
    """Parameters, and constraints among them.

    Parameters
    ----------
    bounds : sequence, array of shape (d, 2), scipy.optimize.Bounds, dict, or Space
        One entry a parameter: a pair (low, high) of reals, a `Real`, `Integer` or `Categorical`, a `range`, `bool`, a
        list of values, (low, high, "log-uniform"), or (low, high, int). A dict gives names. Equal ends fix a parameter.
    constraints : LinearConstraint, NonlinearConstraint, or a sequence of them, optional
        What points must meet to be suggested. Default: nothing, or what those of a space given are.

    Raises
    ------
    ValueError
        If the bounds are empty, not finite, reversed, or no bounds at all; the message names the parameter.

    Examples
    --------
    >>> from gssbo.space import Integer
    >>> space = Space({"rate": Real(1e-4, 1.0, log=True), "units": Integer(1, 4), "act": ["relu", "gelu"]})
    >>> rows, _ = space.read("x", {"rate": 1e-2, "units": 2, "act": "gelu"})
    >>> space.to_unit(rows)
    array([[0.5  , 0.375, 1.   ]])
    >>> space.show(space.from_unit(np.array([[0.0, 0.9, 0.2]])))
    [{'rate': 0.0001, 'units': 4, 'act': 'relu'}]
    """

    parameters: tuple[Parameter, ...]
    names: tuple[str, ...] | None

    def __init__(self, bounds: Any, constraints: Any = None) -> None:
        if isinstance(bounds, Space):
            self.parameters, self.names = bounds.parameters, bounds.names
            constraints = bounds.constraints if constraints is None else constraints
        else:
            self.parameters, self.names = read_bounds(bounds)
        self._kinds = [parameter.resolved() for parameter in self.parameters]
        free = [i for i, kind in enumerate(self._kinds) if kind.n_columns > 0]
        self.discrete = any(math.isfinite(self._kinds[i].n_values) for i in free)
        counts = [kind.n_values for kind in self._kinds]  # their product may be beyond a double
        self.size: float = math.inf if math.inf in counts else math.prod(counts)
        self._reals = all(isinstance(parameter, Real) for parameter in self.parameters)
        self._dtype = np.dtype([(f"{i}", kind.dtype) for i, kind in enumerate(self._kinds)])
        self._free = free
        self._listed = [
            i
            for i, kind in enumerate(self._kinds)
            if isinstance(kind, Categorical) and any(isinstance(value, list | tuple | dict) for value in kind.values)
        ]
        edges = np.cumsum([0, *(kind.n_columns for kind in self._kinds)])
        self._columns = [slice(int(edge[0]), int(edge[1])) for edge in pairwise(edges)]
        # Constants alone keep one idle column, so that a model has something to stand on.
        self.dim: int = max(int(edges[-1]), 1)
        self.n_draws: int = max(len(free), 1)
        self._box: tuple[FloatArray, FloatArray, FloatArray] | None = None
        if len(free) == self.n_parameters and all(isinstance(k, Real) and not k.log for k in self._kinds):
            low, high = np.array([[k.low, k.high] for k in self._kinds if isinstance(k, Real)]).T.copy()
            self._box = low, high, high - low
        self._constraints = Constraints(constraints, np.array([parameter.largest for parameter in self.parameters]))

    def __repr__(self) -> str:
        names = self.names or [f"{i}" for i in range(self.n_parameters)]
        inside = ", ".join(f"{name}: {each!r}" for name, each in zip(names, self.parameters, strict=True))
        return f"Space({inside})"

    @cached_property
    def _equalities(self) -> Equalities:
        return Equalities(self._kinds, self._constraints.faces())

    @cached_property
    def n_doubles(self) -> float:
        """About how many points there are, where an interval has as many as doubles in it, as coarse as at its end."""
        return math.prod(
            (kind.high - kind.low) / math.ulp(max(abs(kind.low), abs(kind.high))) + 1.0
            if isinstance(kind, Real) and kind.n_columns
            else float(kind.n_values)
            for kind in self._kinds
        )

    @property
    def n_parameters(self) -> int:
        """Number of parameters d, fixed ones included."""
        return len(self.parameters)

    @property
    def kinds(self) -> list[Parameter]:
        """What does the work of each parameter, see `Parameter.resolved`."""
        return self._kinds

    @property
    def constraints(self) -> tuple[LinearConstraint | NonlinearConstraint, ...]:
        """What points must meet to be suggested, as it was given."""
        return self._constraints.given

    @property
    def constrained(self) -> bool:
        """Whether there are constraints."""
        return len(self._constraints) > 0

    # ---- the user's side

    @property
    def is_array(self) -> bool:
        """Whether points are shown as arrays: all parameters are real and none has a name."""
        return self._reals and self.names is None

    def read(self, name: str, value: Any) -> tuple[Rows, bool]:
        """Rows of one user point or of many, and whether it was one.

        Raises
        ------
        ValueError
            If a shape, a key or a value is not the space's; the message names `name`, the parameter and the value.
        """
        if self.is_array:
            table, single = read_array(name, value, self.n_parameters)
            return self._store_table(name, table), single
        columns, single = read_columns(name, value, self.n_parameters, self.names, is_point=self._is_point)
        return self._store(name, columns), single

    def _is_point(self, values: list[Any]) -> bool:
        """Whether d values are those of one point, though each be a list or a dict: where categories are such."""
        if not self._listed:
            return False
        try:
            for i in self._listed:
                self._kinds[i].store([values[i]])
        except Misfit:
            return False
        return True

    def read_many(self, name: str, value: Any) -> Rows:
        """Rows of many user points; one point alone is an error."""
        if self.is_array:
            return self._store_table(name, check_matrix(name, value, columns=self.n_parameters))
        rows, single = self.read(name, value)
        if single:
            raise ValueError(f"{name} must be a list of points, got one point {brief(value)}")
        return rows

    def show(self, rows: Rows) -> Any:
        """User points of rows: an array (n, d), or a list of n lists or dicts of built-in values."""
        if self.is_array:
            return rows.copy()
        columns = [kind.show(self._column(rows, i)) for i, kind in enumerate(self._kinds)]
        points = zip(*columns, strict=True)
        if self.names is None:
            return [list(point) for point in points]
        return [dict(zip(self.names, point, strict=True)) for point in points]

    # ---- the model's side

    def to_unit(self, rows: Rows) -> FloatArray:
        """Map rows to the unit cube (n, D), clipped to it."""
        if self._box is not None:
            low, _, width = self._box
            unit: FloatArray = np.clip((rows - low) / width, 0.0, 1.0)
            return unit
        out = np.zeros((len(rows), self.dim))
        for i in self._free:
            out[:, self._columns[i]] = self._kinds[i].encode(self._column(rows, i))
        return out

    def from_unit(self, U: FloatArray) -> Rows:
        """Map (n, D) unit points to the rows nearest to them; never outside the bounds, not by a rounding unit."""
        if self._box is not None:
            low, high, width = self._box
            # low + 1.0 * (high - low) may be less than high.
            points: FloatArray = np.where(U >= 1.0, high, np.clip(low + U * width, low, high))
            return points
        first = np.zeros(len(U), dtype=np.int64)
        return self.rows(
            [
                kind.decode(U[:, self._columns[i]]) if i in self._free else kind.at(first)
                for i, kind in enumerate(self._kinds)
            ]
        )

    def place(self, draws: FloatArray) -> FloatArray:
        """Unit points (n, D), realisable, at draws (n, p): uniform over the space for uniform draws."""
        if not self.discrete:
            return draws
        columns = [self._kinds[i].place(draws[:, k]) for k, i in enumerate(self._free)]
        return np.ascontiguousarray(np.hstack(columns))

    def project(self, U: FloatArray) -> FloatArray:
        """The realisable unit points (n, D) nearest to U (n, D), column by column."""
        return self.to_unit(self.from_unit(U)) if self.discrete else U

    def settled(self, U: FloatArray) -> FloatArray:
        """As `project`, with reals moved so that linear equalities they have a part in are met, where that can be."""
        if len(self._equalities) == 0:
            return self.project(U)
        rows = self.from_unit(U)
        columns = self.columns(rows)
        moved = self._equalities.balanced(self._numbers(rows))
        for i, column in zip(self._equalities.reals, moved.T, strict=True):
            columns[i] = column
        return self.to_unit(self.rows(columns))

    def at(self, indices: IndexArray) -> Rows:
        """Rows number 0, 1, ..., size - 1 of a finite space."""
        rest = np.asarray(indices, dtype=np.int64)
        columns = []
        for kind in self._kinds[::-1]:
            rest, codes = np.divmod(rest, int(kind.n_values))
            columns.append(kind.at(codes))
        return self.rows(columns[::-1])

    def indices(self, rows: Rows) -> IndexArray:
        """Numbers (n,) of rows of a finite space, as `at` takes them."""
        numbers = np.zeros(len(rows), dtype=np.int64)
        for i, kind in enumerate(self._kinds):
            if isinstance(kind, Discrete):  # what is not is a constant
                numbers = numbers * int(kind.n_values) + kind.codes(self._column(rows, i))
        return numbers

    def feasible(self, rows: Rows) -> NDArray[np.bool_]:
        """Mask (n,) of the rows that meet the constraints."""
        if not self.constrained:
            return np.ones(len(rows), dtype=bool)
        return self._constraints.met(self._numbers(rows), list(self.show(rows)))

    def miss(self, rows: Rows) -> FloatArray:
        """How far (n,) rows are from meeting the constraints, in no particular unit: 0 where they do."""
        return self._constraints.miss(self._numbers(rows), list(self.show(rows)))

    @cached_property
    def faces(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """G (k, D), l and u (k,): unit points meet the linear constraints where l <= G U <= u, but for rounding.

        No rows, k = 0, where other parameters than plain reals are free.
        """
        free = [self._kinds[i] for i in self._free]
        width = np.array([kind.high - kind.low for kind in free if isinstance(kind, Real) and not kind.log])
        if not free or len(width) < len(free):
            return np.empty((0, self.dim)), np.empty(0), np.empty(0)
        A, lower, upper = self._constraints.faces()
        corner = np.nan_to_num(self._numbers(self.from_unit(np.zeros((1, self.dim))))[0])  # words have coefficient 0
        rest = np.einsum("ij,j->i", A, corner)
        return np.ascontiguousarray(A[:, self._free]) * width, lower - rest, upper - rest

    @property
    def searched(self) -> bool:
        """Whether feasible points have to be searched for: there are constraints, and too many points to list."""
        return self.constrained and self.size > LISTED

    @cached_property
    def thin(self) -> bool:
        """Whether the constraints leave a hundredth or less of a space that is too large to be listed, by 300 points.

        Then points are not tried but looked for from those that are known.
        """
        if not self.searched:
            return False
        rng, met = np.random.default_rng(0), 0
        for _ in range(SAMPLED // PART):
            met += int(self.feasible(self.from_unit(self.place(rng.random((PART, self.n_draws))))).sum())
            if met >= THICK:
                return False
        return True

    @property
    def has_equality(self) -> bool:
        """Whether a constraint leaves a single value where real parameters have a say."""
        return self._constraints.has_equality(np.array([math.isinf(kind.n_values) for kind in self._kinds]))

    def undefined(self, rows: Rows) -> str | None:
        """Name of a constraint that is NaN at all of the rows that those before it leave, if there is one."""
        return self._constraints.undefined(self._numbers(rows), list(self.show(rows)))

    @property
    def unreachable(self) -> str | None:
        """A row of the linear constraints that no point meets, whatever the others, and why; None if there is none."""
        return self._constraints.unreachable(*ranges(self._kinds))

    def linear_centres(self, rows: Rows) -> Rows:
        """The first of the rows (n) that the linear constraints leave room at, its reals in the middle of it; or none.

        What is neither real nor a constant stays as it is.
        """
        low, high = np.zeros(self.n_parameters), np.zeros(self.n_parameters)
        for i, kind in enumerate(self._kinds):
            if isinstance(kind, Real):
                low[i], high[i] = kind.low, kind.high
        for row, numbers in zip(rows, self._numbers(rows), strict=True):
            found = self._constraints.centre(numbers, low, high)
            if found is not None:
                centre = np.stack([row])
                columns = self.columns(centre)
                for i in np.flatnonzero(high > low).tolist():
                    columns[i] = found[i : i + 1]
                return self.rows(columns)
            if not self.discrete:
                break  # the others are the same
        return rows[:0]

    def linear_extremes(self, rows: Rows, rng: np.random.Generator) -> Rows:
        """Rows (m), up to one for each of n, that linear constraints leave; see `gssbo.space.program`.

        What the constraints do not see stays as it is.
        """
        found = []
        for k in range(len(rows)):
            columns = extreme(self._kinds, self._constraints.faces(), self.columns(rows[k : k + 1]), rng)
            if columns is not None:
                found.append(self.rows(columns))
        return np.concatenate([rows[:0], *found])

    def empty(self) -> Rows:
        """No rows, of the right type."""
        return np.empty((0, self.n_parameters)) if self._reals else np.empty(0, dtype=self._dtype)

    def unit_columns(self, index: int) -> slice:
        """Columns of the model's cube that stand for a parameter; none for a fixed one."""
        return self._columns[index]

    def columns(self, rows: Rows) -> list[NDArray[Any]]:
        """Stored columns (n,) of rows (n), one a parameter."""
        return [self._column(rows, i) for i in range(self.n_parameters)]

    def rows(self, columns: list[NDArray[Any]]) -> Rows:
        """Rows (n) of stored columns (n,), one a parameter."""
        if self._reals:
            return np.column_stack(columns)
        rows = np.empty(len(columns[0]), dtype=self._dtype)
        for i, column in enumerate(columns):
            rows[f"{i}"] = column
        return rows

    # ---- how

    def _numbers(self, rows: Rows) -> FloatArray:
        return np.column_stack([kind.numbers(self._column(rows, i)) for i, kind in enumerate(self._kinds)])

    def _column(self, rows: Rows, i: int) -> NDArray[Any]:
        column: NDArray[Any] = rows[:, i] if self._reals else rows[f"{i}"]
        return column

    def _store_table(self, name: str, table: FloatArray) -> Rows:
        """`_store` for a table (n, d) of finite numbers, at once where it can be."""
        if self._box is not None:
            low, high, width = self._box
            if (table >= low - ROUNDING * width).all() and (table <= high + ROUNDING * width).all():
                return np.clip(table, low, high) + 0.0  # no -0.0: rows are compared by their bits
        return self._store(name, list(table.T))

    def _store(self, name: str, columns: list[Any]) -> Rows:
        stored = []
        for i, (kind, column) in enumerate(zip(self._kinds, columns, strict=True)):
            try:
                stored.append(kind.store(column))
            except Misfit as misfit:
                label = i if self.names is None else repr(self.names[i])
                raise ValueError(
                    f"{name} must {misfit.rule}, got {brief(misfit.value)} for parameter {label} of point "
                    f"{misfit.where}, whose {kind.limits}"
                ) from None
        return self.rows(stored)

"""The problem record: a function to minimise, its box, its optimum and its normaliser.

Notation
--------
=========  ====================================================  ========
f          objective, minimised                                  R^d -> R
B          box of the inputs (lower and upper bound a row)       (d, 2)
f*         optimum: the lowest (expected) value of f on B        scalar
u          a point drawn uniformly in B                          (d,)
=========  ====================================================  ========

The regret of one evaluation is ``f(x) - f*``. Two scales make regrets comparable between problems: the
expected regret of one step of uniform random search, ``E f(u) - f*``, and the standard deviation of ``f(u)``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from gssbo._arithmetic import all_in_own_arithmetic
from gssbo._typing import FloatArray
from gssbo._validation import check_integer

__all__ = ["LIBRARY", "Normalizer", "Problem"]

LIBRARY = "Surjanovic and Bingham, Virtual Library of Simulation Experiments"
"""The source that most closed-form problems share."""

_NORMALIZER_SEED = 20_240_601
_CHUNK_ENTRIES = 500_000  # entries of one block of sampled points: 4 MB
_CHUNK_ROWS = 25_000
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Normalizer:
    """Scales of a problem under uniform sampling of its box.

    Parameters
    ----------
    mean_regret : float
        Expected regret of one step of uniform random search, in units of the objective.
    mean_regret_error : float
        Monte Carlo standard error of `mean_regret`. The optimum is taken as exact.
    std : float
        Standard deviation of the objective over the box; for a stochastic problem the noise is included.
    std_error : float
        Monte Carlo standard error of `std`.
    n_samples : int
        Number of points drawn.

    Examples
    --------
    >>> from gssbo.problems import Normalizer
    >>> scale = Normalizer(mean_regret=3.0, mean_regret_error=0.01, std=0.4, std_error=0.001, n_samples=1000)
    >>> 1.5 / scale.mean_regret
    0.5
    """

    mean_regret: float
    mean_regret_error: float
    std: float
    std_error: float
    n_samples: int

    @classmethod
    def from_values(cls, values: npt.ArrayLike, optimum: float) -> Normalizer:
        """Estimate the scales from objective values at independent uniform points.

        Parameters
        ----------
        values : array_like, shape (n,)
            Objective values, n >= 2.
        optimum : float
            Lowest (expected) value of the objective.

        Returns
        -------
        Normalizer
            Estimates with standard errors; that of the standard deviation uses the fourth central moment.

        Raises
        ------
        ValueError
            If there are fewer than two values.

        Examples
        --------
        >>> from gssbo.problems import Normalizer
        >>> Normalizer.from_values([1.0, 3.0], optimum=0.0).mean_regret
        2.0
        """
        y = np.asarray(values, dtype=np.float64)
        if y.ndim != 1 or y.size < 2:
            raise ValueError(f"values must be one-dimensional with at least 2 entries, got shape {y.shape}")
        n = y.size
        mean = float(y.mean())
        squares = (y - mean) ** 2
        variance = float(squares.mean())
        std = variance**0.5
        excess = max(float((squares**2).mean()) - variance**2, 0.0)
        std_error = (excess / n) ** 0.5 / (2.0 * std) if std > 0.0 else 0.0
        return cls(
            mean_regret=mean - optimum,
            mean_regret_error=std / n**0.5,
            std=std,
            std_error=std_error,
            n_samples=n,
        )


@all_in_own_arithmetic
@dataclass(frozen=True, eq=False)
class Problem:
    """A test problem, to be minimised over a box.

    Problems come from :func:`gssbo.problems.get_problem`; the constructor is open so that others can be
    described in the same form.

    Parameters
    ----------
    name : str
        Name, with the dimension appended where it can vary.
    bounds : ndarray, shape (d, 2)
        Lower and upper bound of every input, in the units of the problem. Kept as a read-only copy.
    function : callable
        ``function(X)`` for a deterministic problem, ``function(X, rng)`` for a stochastic one; X has shape
        (n, d) and the result shape (n,).
    optimum : float
        Lowest value on the box; for a stochastic problem the lowest expected value.
    x_optimum : ndarray, shape (d,), or None
        A point where the optimum is attained (one of them where there are several), or None if none is known.
    source : str
        Where the definition comes from and what is particular about it.
    stochastic : bool
        Whether repeated evaluations at one point differ.
    optimum_error : float
        Standard error of `optimum`: 0 where it is known exactly.
    rng : numpy.random.Generator
        Randomness of a stochastic problem (whatever `numpy.random.default_rng` takes); a deterministic one
        never uses it. Default: a fresh generator.
    default_samples : int
        Sample size of :meth:`normalizer` unless one is given.
    precomputed : Normalizer or None
        What :meth:`normalizer` returns without a sample size, for objectives too slow to sample each time.
    expectation : callable or None
        ``expectation(X)``, shape (n,): the expected value of a stochastic problem where it is known.
    everywhere : bool
        Whether the optimum is the lowest value over all of R^d and not over the box alone, so that the problem may be
        moved about (:mod:`gssbo.problems.moved`).

    Attributes
    ----------
    dim : int
        Number of inputs d.

    Raises
    ------
    ValueError
        If `bounds` is not (d, 2), finite and increasing, or `x_optimum` has another length or lies outside
        the box.

    Examples
    --------
    >>> from gssbo.problems import Problem
    >>> import numpy as np
    >>> bowl = Problem(name="bowl", bounds=np.array([[-1.0, 1.0]] * 3), optimum=0.0, x_optimum=np.zeros(3),
    ...                function=lambda X: (X**2).sum(axis=-1), source="example")
    >>> bowl([1.0, 0.0, 0.5])
    1.25
    >>> bowl([[1.0, 0.0, 0.5], [0.0, 0.0, 0.0]])
    array([1.25, 0.  ])
    >>> bowl.dim, bowl.regret(1.25)
    (3, 1.25)
    """

    name: str
    bounds: FloatArray
    function: Callable[..., FloatArray] = field(repr=False)
    optimum: float
    x_optimum: FloatArray | None = field(repr=False)
    source: str = field(repr=False)
    stochastic: bool = False
    optimum_error: float = 0.0
    rng: np.random.Generator = field(default_factory=np.random.default_rng, repr=False)
    default_samples: int = field(default=200_000, repr=False)
    precomputed: Normalizer | None = field(default=None, repr=False)
    expectation: Callable[..., FloatArray] | None = field(default=None, repr=False)
    everywhere: bool = field(default=False, repr=False)
    dim: int = field(init=False)
    _cache: dict[int, Normalizer] = field(init=False, repr=False, default_factory=dict)

    def __post_init__(self) -> None:
        bounds = np.array(self.bounds, dtype=np.float64)
        if bounds.ndim != 2 or bounds.shape[0] < 1 or bounds.shape[1] != 2:
            raise ValueError(f"bounds must have shape (d, 2), got {bounds.shape}")
        if not (np.isfinite(bounds).all() and (bounds[:, 0] < bounds[:, 1]).all()):
            raise ValueError(f"bounds must be finite with lower < upper in every row, got {bounds.tolist()}")
        bounds.setflags(write=False)
        object.__setattr__(self, "bounds", bounds)
        object.__setattr__(self, "dim", bounds.shape[0])
        object.__setattr__(self, "optimum", float(self.optimum))
        object.__setattr__(self, "rng", np.random.default_rng(self.rng))
        if self.x_optimum is not None:
            point = np.array(self.x_optimum, dtype=np.float64)
            if point.shape != (bounds.shape[0],):
                raise ValueError(f"x_optimum must have shape ({bounds.shape[0]},), got {point.shape}")
            if not ((point >= bounds[:, 0]) & (point <= bounds[:, 1])).all():
                raise ValueError(f"x_optimum must lie within bounds, got {point.tolist()}")
            point.setflags(write=False)
            object.__setattr__(self, "x_optimum", point)

    def __call__(self, x: npt.ArrayLike) -> float | FloatArray:
        """Evaluate the objective at one point or at several.

        Parameters
        ----------
        x : array_like, shape (d,) or (n, d)
            Points, in the units of `bounds`.

        Returns
        -------
        float or ndarray, shape (n,)
            Objective values; lower is better. A float for a single point.

        Raises
        ------
        ValueError
            If the shape does not fit or an entry is not finite. The closed-form functions accept points
            outside the box; the training task does not.
        """
        points = self._points(x)
        values = self._evaluate(np.atleast_2d(points), self.rng)
        return float(values[0]) if points.ndim == 1 else values

    def expected(self, x: npt.ArrayLike) -> float | FloatArray:
        """Expected value at one point or at several: the objective without its noise.

        Parameters
        ----------
        x : array_like, shape (d,) or (n, d)
            Points, in the units of `bounds`.

        Returns
        -------
        float or ndarray, shape (n,)
            Of a deterministic problem the objective itself, of a stochastic one its `expectation`.

        Raises
        ------
        ValueError
            If the problem is stochastic and its expectation is not known, or `x` is not what a call accepts.

        Examples
        --------
        >>> from gssbo.problems import get_problem
        >>> noisy = get_problem("noisyhartmann6", rng=0)
        >>> noisy([0.5] * 6) == noisy([0.5] * 6), noisy.expected([0.5] * 6) == get_problem("hartmann6")([0.5] * 6)
        (False, True)
        """
        function = self.expectation if self.stochastic else self.function
        if function is None:
            raise ValueError(f"the expected value of {self.name!r} is not known: evaluate it repeatedly")
        points = self._points(x)
        values = function(np.atleast_2d(points))
        return float(values[0]) if points.ndim == 1 else values

    def regret(self, y: npt.ArrayLike) -> float | FloatArray:
        """Difference between objective values and the optimum.

        For a stochastic problem the optimum is an expectation, so the regret of a single evaluation may be
        negative.

        Parameters
        ----------
        y : array_like
            Objective values, any shape.

        Returns
        -------
        float or ndarray
            ``y - optimum``, of the shape of `y`; a float for a scalar. 0 where that of a deterministic problem is
            negative by rounding.

        Examples
        --------
        >>> from gssbo.problems import get_problem
        >>> get_problem("rastrigin", dim=3).regret([0.0, 2.5])
        array([0. , 2.5])
        """
        gap = np.asarray(y, dtype=np.float64) - self.optimum
        if not self.stochastic:
            gap = np.where((gap < 0.0) & (gap > -_ROUNDING * max(1.0, abs(self.optimum))), 0.0, gap)
        return float(gap) if gap.ndim == 0 else gap

    def normalizer(self, n_samples: int | None = None) -> Normalizer:
        """Scales of the problem under uniform sampling of its box, by Monte Carlo.

        The generator is fixed, and separate from the problem's own, so the result repeats exactly and
        evaluating it does not disturb a run. Points are drawn in blocks of a few megabytes. Results are kept
        per sample size.

        Parameters
        ----------
        n_samples : int, optional
            Number of uniform points, at least 2. Default: the precomputed scales where the problem has them,
            otherwise `default_samples` points.

        Returns
        -------
        Normalizer
            Expected regret a step of uniform random search and standard deviation, with standard errors.

        Raises
        ------
        ValueError
            If `n_samples` is not an integer of at least 2.

        Examples
        --------
        >>> from gssbo.problems import get_problem
        >>> scale = get_problem("hartmann6").normalizer(20_000)
        >>> round(scale.std, 2)
        0.38
        """
        if n_samples is None:
            if self.precomputed is not None:
                return self.precomputed
            n_samples = self.default_samples
        n = check_integer("n_samples", n_samples, at_least=2)
        if n not in self._cache:
            self._cache[n] = Normalizer.from_values(self._sample(n), self.optimum)
        return self._cache[n]

    def _points(self, x: npt.ArrayLike) -> FloatArray:
        points = np.asarray(x, dtype=np.float64)
        if points.ndim not in (1, 2) or points.shape[-1] != self.dim:
            raise ValueError(f"x must have shape ({self.dim},) or (n, {self.dim}), got {points.shape}")
        if not np.isfinite(points).all():
            raise ValueError("x must be finite, got NaN or infinity")
        return points

    def _evaluate(self, points: FloatArray, rng: np.random.Generator) -> FloatArray:
        return self.function(points, rng) if self.stochastic else self.function(points)

    def _sample(self, n: int) -> FloatArray:
        """Objective values (n,) at uniform points of the box, from the fixed generator."""
        point_rng, noise_rng = np.random.default_rng(_NORMALIZER_SEED).spawn(2)
        lower, upper = self.bounds.T
        rows = max(1, min(_CHUNK_ROWS, _CHUNK_ENTRIES // self.dim))
        values = np.empty(n)
        for start in range(0, n, rows):
            stop = min(start + rows, n)
            points = lower + (upper - lower) * point_rng.random((stop - start, self.dim))
            values[start:stop] = self._evaluate(points, noise_rng)
        return values

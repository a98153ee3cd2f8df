"""Problems made of other problems: shifted, rotated about their optimum, or with noise added.

Notation
--------
==========  =========================================================  ========
f           the original objective, on its box B                       (n,)
a           its optimal point                                          (d,)
b           where the moved problem has its optimum                    (d,)
Q           a rotation                                                 (d, d)
==========  =========================================================  ========

A moved objective is ``f(a + Q (x - b))`` for x in the same box B. Its optimum is known: the value of f at a, attained
at b. The corners of B are carried out of B by a rotation, and a strip of it by a shift; what holds there is the formula
of f, which the functions of this package have on all of R^d. A problem can be moved only if its optimum is the lowest
value on all of R^d (`Problem.everywhere`), so nothing carried into the box lies below it.

Shift and rotation are drawn from a seed and the name of the problem, so a name such as ``levy20-shifted`` or
``ellipsoid10-shifted2-rotated2`` means the same function on every machine.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from gssbo._typing import FloatArray
from gssbo._validation import check_integer, check_real
from gssbo.problems._dimension import fixed_dimension
from gssbo.problems.functions import HARTMANN
from gssbo.problems.problem import Problem

__all__ = ["HARTMANN_NOISE", "MARGIN", "noisy", "noisy_hartmann_problem", "random_rotation", "rotated", "shifted"]

MARGIN = 0.1
"""A shifted optimum keeps this fraction of each side away from the faces of the box."""

HARTMANN_NOISE = 0.1
"""Standard deviation of the noise of `noisyhartmann6`: a quarter of the function's own over the box."""

_SHIFT, _ROTATION = 0, 1  # which stream of a problem's generator


def shifted(problem: Problem, seed: int = 0) -> Problem:
    """Move the optimum of a problem to a random place in its box.

    Parameters
    ----------
    problem : Problem
        What to move: deterministic, with a known optimal point and an optimum that holds on all of R^d.
    seed : int
        At least 0. With the problem's name it decides where the optimum goes: uniform in the box less a margin of a
        tenth on every side.

    Returns
    -------
    Problem
        The moved problem; its name has ``-shifted`` appended, and the seed unless that is 0.

    Raises
    ------
    ValueError
        If the problem cannot be moved, or `seed` is not an integer of at least 0.

    Examples
    --------
    >>> from gssbo.problems import get_problem, shifted
    >>> problem = shifted(get_problem("levy3"))
    >>> problem.name, problem(problem.x_optimum) < 1e-30, problem([1.0, 1.0, 1.0]) > 1.0
    ('levy3-shifted', True, True)
    """
    seed, home = _movable(problem, seed)
    lower, upper = problem.bounds.T
    place = MARGIN + (1.0 - 2.0 * MARGIN) * _generator(problem, seed, _SHIFT).random(problem.dim)
    goal = lower + place * (upper - lower)
    function = Moved(problem.function, home=home, goal=goal, rotation=None)
    return _renamed(problem, "shifted", seed, function=function, x_optimum=goal)


def rotated(problem: Problem, seed: int = 0) -> Problem:
    """Rotate a problem about its optimum.

    Parameters
    ----------
    problem : Problem
        What to rotate: deterministic, with a known optimal point and an optimum that holds on all of R^d.
    seed : int
        At least 0. With the problem's name it decides the rotation, uniform among all (reflections included).

    Returns
    -------
    Problem
        The rotated problem, in the same box; its name has ``-rotated`` appended, and the seed unless that is 0.

    Raises
    ------
    ValueError
        If the problem cannot be moved, or `seed` is not an integer of at least 0.

    Examples
    --------
    >>> from gssbo.problems import get_problem, rotated
    >>> problem = rotated(get_problem("discus3"))
    >>> problem.name, problem([0.0, 0.0, 0.0]), 1.0 < problem([1.0, 0.0, 0.0]) < 1e6
    ('discus3-rotated', 0.0, True)
    """
    seed, home = _movable(problem, seed)
    rotation = random_rotation(problem.dim, _generator(problem, seed, _ROTATION))
    function = Moved(problem.function, home=home, goal=home, rotation=rotation)
    return _renamed(problem, "rotated", seed, function=function)


def noisy(problem: Problem, std: float, rng: np.random.Generator | int | None = None) -> Problem:
    """Add Gaussian noise to a deterministic problem.

    Parameters
    ----------
    problem : Problem
        The problem without noise; its optimum becomes the lowest expected value.
    std : float
        Standard deviation of the noise of one evaluation, in units of the objective; above 0.
    rng : numpy.random.Generator, int or None
        Source of the noise; None draws fresh entropy.

    Returns
    -------
    Problem
        The noisy problem, named ``noisy<name>``; `expected` gives its value without noise.

    Raises
    ------
    ValueError
        If the problem is stochastic already, or `std` is not a positive number.

    Examples
    --------
    >>> from gssbo.problems import get_problem, noisy
    >>> problem = noisy(get_problem("levy2"), 0.5, rng=0)
    >>> problem.name, problem.expected([1.0, 1.0]) < 1e-30, 0.0 < abs(problem([1.0, 1.0])) < 2.0
    ('noisylevy2', True, True)
    """
    if problem.stochastic:
        raise ValueError(f"problem must be deterministic, got {problem.name!r}")
    std = check_real("std", std, above=0.0)
    return replace(
        problem,
        name=f"noisy{problem.name}",
        function=Noisy(problem.function, std),
        source=f"{problem.source}; with Gaussian noise of standard deviation {std:g}",
        stochastic=True,
        expectation=problem.function,
        rng=np.random.default_rng(rng),
    )


def noisy_hartmann_problem(dim: int | None = None, rng: np.random.Generator | int | None = None) -> Problem:
    """Hartmann problem with Gaussian noise of standard deviation 0.1.

    Parameters
    ----------
    dim : int, optional
        Only 6.
    rng : numpy.random.Generator, int or None
        Source of the noise; None draws fresh entropy.

    Returns
    -------
    Problem
        The problem `noisyhartmann6`.

    Raises
    ------
    ValueError
        If `dim` is not 6.

    Examples
    --------
    >>> from gssbo.problems.moved import noisy_hartmann_problem
    >>> problem = noisy_hartmann_problem(rng=0)
    >>> abs(problem(problem.x_optimum) - problem.optimum) < 0.5
    True
    """
    fixed_dimension("noisyhartmann", dim, 6)
    return noisy(HARTMANN(), HARTMANN_NOISE, rng)


def random_rotation(dim: int, rng: np.random.Generator) -> FloatArray:
    """Orthogonal matrix (d, d), uniform among all: a product of reflections of ever smaller subspaces.

    It is worked out without a matrix library, so that the digits do not depend on one.
    """
    rotation = np.eye(dim)
    for k in range(dim):
        v = rng.standard_normal(dim - k)
        sign = 1.0 if v[0] >= 0.0 else -1.0
        v[0] += sign * np.sqrt((v**2).sum())
        rotation[:, k:] -= (2.0 / (v**2).sum()) * np.einsum("ij,j->i", rotation[:, k:], v)[:, None] * v
        rotation[:, k] *= -sign
    return rotation


@dataclass(frozen=True)
class Moved:
    """An objective seen from elsewhere; a class so that the problem can be pickled."""

    function: Callable[..., FloatArray]
    home: FloatArray
    goal: FloatArray
    rotation: FloatArray | None

    def __call__(self, X: npt.ArrayLike) -> FloatArray:
        """Values (n,) at points (n, d)."""
        offset = np.asarray(X, dtype=np.float64) - self.goal
        if self.rotation is not None:
            offset = np.einsum("...j,ij->...i", offset, self.rotation)  # not a BLAS call: the same digits everywhere
        return self.function(self.home + offset)


@dataclass(frozen=True)
class Noisy:
    """An objective with noise; a class so that the problem can be pickled."""

    function: Callable[..., FloatArray]
    std: float

    def __call__(self, X: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Values (n,) at points (n, d)."""
        values = self.function(X)
        return values + self.std * rng.standard_normal(values.shape)


def _movable(problem: Problem, seed: int) -> tuple[int, FloatArray]:
    if problem.stochastic or problem.x_optimum is None or not problem.everywhere:
        raise ValueError(
            "problem must be deterministic, with a known optimal point and an optimum that holds on all of R^d, "
            f"to be shifted or rotated, got {problem.name!r}"
        )
    return check_integer("seed", seed, at_least=0), problem.x_optimum


def _generator(problem: Problem, seed: int, stream: int) -> np.random.Generator:
    return np.random.default_rng([zlib.crc32(problem.name.encode()), seed, stream])


def _renamed(problem: Problem, what: str, seed: int, **changes: object) -> Problem:
    label = what if seed == 0 else f"{what}{seed}"
    source = f"{problem.source}; {what}"
    return replace(problem, name=f"{problem.name}-{label}", source=source, **changes)  # type: ignore[arg-type]

"""Four functions of any dimension with many local minima, each minimised over its customary box.

Notation
--------
=======  =================================================  ==========
x        points, any number of leading axes                 (..., d)
f        values, one a point                                (...)
=======  =================================================  ==========

References
----------
1. S. Surjanovic, D. Bingham. Virtual Library of Simulation Experiments: Test Functions and Datasets.
   https://www.sfu.ca/~ssurjano/optimization.html
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize_scalar

from gssbo._typing import FloatArray
from gssbo.problems._dimension import cube, free_dimension
from gssbo.problems.problem import LIBRARY, Problem

__all__ = [
    "ackley",
    "ackley_problem",
    "griewank",
    "griewank_problem",
    "michalewicz",
    "michalewicz_problem",
    "styblinski_tang",
    "styblinski_tang_problem",
]


def ackley(x: npt.ArrayLike) -> FloatArray:
    """Ackley function, any dimension: a narrow funnel in a plain of ripples.

    Parameters
    ----------
    x : array_like, shape (..., d)
        Points, customarily in [-32.768, 32.768]^d.

    Returns
    -------
    ndarray, shape (...)
        Values; the lowest is 0 at the origin.

    Examples
    --------
    >>> from gssbo.problems.multimodal import ackley
    >>> round(float(ackley([1.0, 1.0])), 4), abs(float(ackley([0.0, 0.0]))) < 1e-14
    (3.6254, True)
    """
    points = np.asarray(x, dtype=np.float64)
    root = np.sqrt((points**2).mean(axis=-1))
    ripple = np.cos(2.0 * np.pi * points).mean(axis=-1)
    value: FloatArray = -20.0 * np.expm1(-0.2 * root) - np.e * np.expm1(ripple - 1.0)
    return value


def griewank(x: npt.ArrayLike) -> FloatArray:
    """Griewank function, any dimension: a bowl under a product of cosines.

    Parameters
    ----------
    x : array_like, shape (..., d)
        Points, customarily in [-600, 600]^d.

    Returns
    -------
    ndarray, shape (...)
        Values; the lowest is 0 at the origin.

    Examples
    --------
    >>> import numpy as np
    >>> from gssbo.problems.multimodal import griewank
    >>> round(float(griewank([np.pi, 0.0])), 4)
    2.0025
    """
    points = np.asarray(x, dtype=np.float64)
    stretch = np.sqrt(np.arange(1, points.shape[-1] + 1))
    value: FloatArray = (points**2).sum(axis=-1) / 4000.0 - np.cos(points / stretch).prod(axis=-1) + 1.0
    return value


def michalewicz(x: npt.ArrayLike) -> FloatArray:
    """Michalewicz function of steepness 10, any dimension: flat, but for d families of narrow valleys.

    Parameters
    ----------
    x : array_like, shape (..., d)
        Points, customarily in [0, pi]^d.

    Returns
    -------
    ndarray, shape (...)
        Values; the lowest in ten dimensions is -9.66015.

    Examples
    --------
    >>> from gssbo.problems.multimodal import michalewicz
    >>> round(float(michalewicz([2.20290552, 1.57079633])), 4)
    -1.8013
    """
    points = np.asarray(x, dtype=np.float64)
    index = np.arange(1, points.shape[-1] + 1)
    value: FloatArray = -(np.sin(points) * np.sin(index * points**2 / np.pi) ** 20).sum(axis=-1)
    return value


def styblinski_tang(x: npt.ArrayLike) -> FloatArray:
    """Styblinski-Tang function, any dimension: two wells a coordinate, of unequal depth.

    Parameters
    ----------
    x : array_like, shape (..., d)
        Points, customarily in [-5, 5]^d.

    Returns
    -------
    ndarray, shape (...)
        Values; the lowest is -39.16617 d at (-2.903534, ..., -2.903534).

    Examples
    --------
    >>> from gssbo.problems.multimodal import styblinski_tang
    >>> float(styblinski_tang([1.0, -1.0]))
    -15.0
    """
    points = np.asarray(x, dtype=np.float64)
    value: FloatArray = 0.5 * (points**4 - 16.0 * points**2 + 5.0 * points).sum(axis=-1)
    return value


def ackley_problem(dim: int | None = None, rng: object = None) -> Problem:
    """Ackley problem on [-32.768, 32.768]^d.

    Parameters
    ----------
    dim : int, default 20
        Dimension, at least 1.
    rng : optional
        Not used: the function is deterministic.

    Returns
    -------
    Problem
        The problem `ackley<dim>`.

    Raises
    ------
    ValueError
        If `dim` is not an integer of at least 1.

    Examples
    --------
    >>> from gssbo.problems.multimodal import ackley_problem
    >>> ackley_problem(5).name
    'ackley5'
    """
    d = free_dimension("ackley", dim, default=20, lowest=1)
    return Problem(
        name=f"ackley{d}",
        bounds=cube(-32.768, 32.768, d),
        function=ackley,
        optimum=0.0,
        x_optimum=np.zeros(d),
        source=LIBRARY,
        everywhere=True,
    )


def griewank_problem(dim: int | None = None, rng: object = None) -> Problem:
    """Griewank problem on [-600, 600]^d.

    Parameters
    ----------
    dim : int, default 10
        Dimension, at least 1.
    rng : optional
        Not used: the function is deterministic.

    Returns
    -------
    Problem
        The problem `griewank<dim>`.

    Raises
    ------
    ValueError
        If `dim` is not an integer of at least 1.

    Examples
    --------
    >>> from gssbo.problems.multimodal import griewank_problem
    >>> griewank_problem(2)([0.0, 0.0])
    0.0
    """
    d = free_dimension("griewank", dim, default=10, lowest=1)
    return Problem(
        name=f"griewank{d}",
        bounds=cube(-600.0, 600.0, d),
        function=griewank,
        optimum=0.0,
        x_optimum=np.zeros(d),
        source=LIBRARY,
        everywhere=True,
    )


@lru_cache
def _lowest_michalewicz_coordinate(index: int) -> float:
    """Where the term of a coordinate is lowest: the function is a sum over coordinates, so each has its own search."""

    def term(t: npt.ArrayLike) -> npt.NDArray[np.float64]:
        value: FloatArray = -np.sin(t) * np.sin(index * np.asarray(t) ** 2 / np.pi) ** 20
        return value

    grid = np.linspace(0.0, np.pi, 2_001 * index)  # a valley of this coordinate is about pi / index wide at most
    lowest = int(np.argmin(term(grid)))
    around = grid[lowest - 1], grid[lowest + 1]
    return float(minimize_scalar(term, bounds=around, method="bounded", options={"xatol": 1e-12}).x)


def michalewicz_problem(dim: int | None = None, rng: object = None) -> Problem:
    """Michalewicz problem on [0, pi]^d.

    The optimum is found coordinate by coordinate, on a grid and then by golden sections.

    Parameters
    ----------
    dim : int, default 10
        Dimension, at least 1.
    rng : optional
        Not used: the function is deterministic.

    Returns
    -------
    Problem
        The problem `michalewicz<dim>`.

    Raises
    ------
    ValueError
        If `dim` is not an integer of at least 1.

    Examples
    --------
    >>> from gssbo.problems.multimodal import michalewicz_problem
    >>> round(michalewicz_problem().optimum, 7)
    -9.6601517
    """
    d = free_dimension("michalewicz", dim, default=10, lowest=1)
    x_optimum = np.array([_lowest_michalewicz_coordinate(i) for i in range(1, d + 1)])
    return Problem(
        name=f"michalewicz{d}",
        bounds=cube(0.0, np.pi, d),
        function=michalewicz,
        optimum=float(michalewicz(x_optimum)),
        x_optimum=x_optimum,
        source=LIBRARY,
    )


def styblinski_tang_problem(dim: int | None = None, rng: object = None) -> Problem:
    """Styblinski-Tang problem on [-5, 5]^d.

    Parameters
    ----------
    dim : int, default 10
        Dimension, at least 1.
    rng : optional
        Not used: the function is deterministic.

    Returns
    -------
    Problem
        The problem `styblinskitang<dim>`.

    Raises
    ------
    ValueError
        If `dim` is not an integer of at least 1.

    Examples
    --------
    >>> from gssbo.problems.multimodal import styblinski_tang_problem
    >>> round(styblinski_tang_problem(2).optimum, 5)
    -78.33233
    """
    d = free_dimension("styblinskitang", dim, default=10, lowest=1)
    lowest = min(np.roots([4.0, 0.0, -32.0, 5.0]).real)  # of the three stationary points the leftmost is the deepest
    x_optimum = np.full(d, lowest)
    return Problem(
        name=f"styblinskitang{d}",
        bounds=cube(-5.0, 5.0, d),
        function=styblinski_tang,
        optimum=float(styblinski_tang(x_optimum)),
        x_optimum=x_optimum,
        source=LIBRARY,
        everywhere=True,
    )

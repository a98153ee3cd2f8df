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
from gssbo.problems.family import Family

__all__ = [
    "ACKLEY",
    "GRIEWANK",
    "MICHALEWICZ",
    "STYBLINSKI_TANG",
    "ackley",
    "griewank",
    "michalewicz",
    "styblinski_tang",
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


def _lowest_michalewicz(dim: int) -> FloatArray:
    return np.array([_lowest_michalewicz_coordinate(i) for i in range(1, dim + 1)])


def _lowest_styblinski_tang(dim: int) -> FloatArray:
    """Of the three stationary points of a coordinate the leftmost is the deepest."""
    return np.full(dim, min(np.roots([4.0, 0.0, -32.0, 5.0]).real))


ACKLEY = Family("ackley", ackley, box=(-32.768, 32.768), dim=20, x_optimum=np.zeros, optimum=0.0)
GRIEWANK = Family("griewank", griewank, box=(-600.0, 600.0), dim=10, x_optimum=np.zeros, optimum=0.0)
MICHALEWICZ = Family(
    "michalewicz", michalewicz, box=(0.0, np.pi), dim=10, x_optimum=_lowest_michalewicz, everywhere=False
)
STYBLINSKI_TANG = Family("styblinskitang", styblinski_tang, box=(-5.0, 5.0), dim=10, x_optimum=_lowest_styblinski_tang)

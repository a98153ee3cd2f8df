"""Five functions without many local minima that are hard to descend: curved, badly scaled or sharp valleys.

Notation
--------
=======  =================================================  ==========
x        points, any number of leading axes                 (..., d)
f        values, one a point                                (...)
=======  =================================================  ==========

All but Rosenbrock's have their lowest value at the centre of the box and valleys along the axes: see
:mod:`gssbo.problems.moved` for the forms in which neither holds.

References
----------
1. S. Surjanovic, D. Bingham. Virtual Library of Simulation Experiments: Test Functions and Datasets.
   https://www.sfu.ca/~ssurjano/optimization.html
2. N. Hansen, S. Finck, R. Ros, A. Auger. Real-parameter black-box optimization benchmarking 2009: noiseless functions
   definitions. INRIA research report 6829, 2009. The transformations of its functions are left out here.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from gssbo._typing import FloatArray
from gssbo.problems.family import Family

__all__ = [
    "BENT_CIGAR",
    "CONDITION",
    "DISCUS",
    "ELLIPSOID",
    "ROSENBROCK",
    "SHARP_RIDGE",
    "bent_cigar",
    "discus",
    "ellipsoid",
    "rosenbrock",
    "sharp_ridge",
]

CONDITION = 1e6
"""Largest curvature over the smallest, of the ellipsoid, the discus and the cigar."""


def rosenbrock(x: npt.ArrayLike) -> FloatArray:
    """Rosenbrock function, any dimension of at least two: a flat, curved valley with steep sides.

    Parameters
    ----------
    x : array_like, shape (..., d)
        Points, customarily in [-5, 10]^d, d >= 2.

    Returns
    -------
    ndarray, shape (...)
        Values; the lowest is 0 at (1, ..., 1).

    Examples
    --------
    >>> from gssbo.problems.valleys import rosenbrock
    >>> float(rosenbrock([0.0, 0.0, 2.0]))
    402.0
    """
    points = np.asarray(x, dtype=np.float64)
    here, following = points[..., :-1], points[..., 1:]
    value: FloatArray = (100.0 * (following - here**2) ** 2 + (here - 1.0) ** 2).sum(axis=-1)
    return value


def ellipsoid(x: npt.ArrayLike) -> FloatArray:
    """Ellipsoid: squares of the coordinates with weights from 1 to 1e6, equally spaced in the logarithm.

    Parameters
    ----------
    x : array_like, shape (..., d)
        Points, customarily in [-5, 5]^d, d >= 2.

    Returns
    -------
    ndarray, shape (...)
        Values; the lowest is 0 at the origin.

    Examples
    --------
    >>> from gssbo.problems.valleys import ellipsoid
    >>> float(ellipsoid([3.0, 2.0, 1.0]))
    1004009.0
    """
    points = np.asarray(x, dtype=np.float64)
    weights = CONDITION ** np.linspace(0.0, 1.0, points.shape[-1])
    value: FloatArray = (weights * points**2).sum(axis=-1)
    return value


def discus(x: npt.ArrayLike) -> FloatArray:
    """Discus: the first coordinate weighs 1e6 times as much as each of the others.

    Parameters
    ----------
    x : array_like, shape (..., d)
        Points, customarily in [-5, 5]^d, d >= 2.

    Returns
    -------
    ndarray, shape (...)
        Values; the lowest is 0 at the origin.

    Examples
    --------
    >>> from gssbo.problems.valleys import discus
    >>> float(discus([1.0, 2.0, 3.0]))
    1000013.0
    """
    squares = np.asarray(x, dtype=np.float64) ** 2
    value: FloatArray = CONDITION * squares[..., 0] + squares[..., 1:].sum(axis=-1)
    return value


def bent_cigar(x: npt.ArrayLike) -> FloatArray:
    """Bent cigar: each coordinate but the first weighs 1e6 times as much as the first.

    The name is that of the competitions; what bends the valley in [2] is left out, so it is straight.

    Parameters
    ----------
    x : array_like, shape (..., d)
        Points, customarily in [-5, 5]^d, d >= 2.

    Returns
    -------
    ndarray, shape (...)
        Values; the lowest is 0 at the origin.

    Examples
    --------
    >>> from gssbo.problems.valleys import bent_cigar
    >>> float(bent_cigar([3.0, 2.0, 1.0]))
    5000009.0
    """
    squares = np.asarray(x, dtype=np.float64) ** 2
    value: FloatArray = squares[..., 0] + CONDITION * squares[..., 1:].sum(axis=-1)
    return value


def sharp_ridge(x: npt.ArrayLike) -> FloatArray:
    """Sharp ridge: along the first axis a parabola, away from it a cone a hundred times as steep.

    Parameters
    ----------
    x : array_like, shape (..., d)
        Points, customarily in [-5, 5]^d, d >= 2.

    Returns
    -------
    ndarray, shape (...)
        Values; the lowest is 0 at the origin.

    Examples
    --------
    >>> from gssbo.problems.valleys import sharp_ridge
    >>> float(sharp_ridge([2.0, 3.0, 4.0]))
    504.0
    """
    squares = np.asarray(x, dtype=np.float64) ** 2
    value: FloatArray = squares[..., 0] + 100.0 * np.sqrt(squares[..., 1:].sum(axis=-1))
    return value


ROSENBROCK = Family("rosenbrock", rosenbrock, box=(-5.0, 10.0), dim=10, lowest=2, x_optimum=np.ones, optimum=0.0)

_at_the_centre = partial(
    Family,
    box=(-5.0, 5.0),
    dim=10,
    lowest=2,
    x_optimum=np.zeros,
    optimum=0.0,
    source="Hansen et al., Real-parameter black-box optimization benchmarking 2009, without its transformations",
)
ELLIPSOID = _at_the_centre("ellipsoid", ellipsoid)
DISCUS = _at_the_centre("discus", discus)
BENT_CIGAR = _at_the_centre("bentcigar", bent_cigar)
SHARP_RIDGE = _at_the_centre("sharpridge", sharp_ridge)

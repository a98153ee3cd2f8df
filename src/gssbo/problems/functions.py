"""The paper's five closed-form test functions, each minimised over its customary box.

Notation
--------
=======  =================================================  ==========
x        points, any number of leading axes                 (..., d)
f        values, one a point                                (...)
=======  =================================================  ==========

References
----------
[1] S. Surjanovic, D. Bingham. Virtual Library of Simulation Experiments: Test Functions and Datasets.
    https://www.sfu.ca/~ssurjano/optimization.html
[2] L. C. W. Dixon, G. P. Szego. The global optimization problem: an introduction. Towards Global Optimization
    2, 1978.
[3] M. J. D. Powell. An iterative method for finding stationary values of a function of several variables.
    The Computer Journal 5(2), 1962.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gssbo._typing import FloatArray
from gssbo.problems.family import Family
from gssbo.problems.problem import LIBRARY

__all__ = [
    "EGGHOLDER",
    "HARTMANN",
    "LEVY",
    "POWELL",
    "RASTRIGIN",
    "eggholder",
    "hartmann6",
    "levy",
    "powell",
    "rastrigin",
]

_HARTMANN_WEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
_HARTMANN_RATES = np.array(
    [
        [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
        [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
        [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
        [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
    ]
)
_HARTMANN_CENTRES = 1e-4 * np.array(
    [
        [1312.0, 1696.0, 5569.0, 124.0, 8283.0, 5886.0],
        [2329.0, 4135.0, 8307.0, 3736.0, 1004.0, 9991.0],
        [2348.0, 1451.0, 3522.0, 2883.0, 3047.0, 6650.0],
        [4047.0, 8828.0, 8732.0, 5743.0, 1091.0, 381.0],
    ]
)


def eggholder(x: npt.ArrayLike) -> FloatArray:
    """Eggholder function in two dimensions.

    Parameters
    ----------
    x : array_like, shape (..., 2)
        Points, customarily in [-512, 512]^2.

    Returns
    -------
    ndarray, shape (...)
        Values; the lowest on the box is -959.6407 at (512, 404.2318).

    Examples
    --------
    >>> from gssbo.problems.functions import eggholder
    >>> round(float(eggholder([512.0, 404.2319])), 4)
    -959.6407
    """
    points = np.asarray(x, dtype=np.float64)
    a, b = points[..., 0], points[..., 1] + 47.0
    value: FloatArray = -b * np.sin(np.sqrt(np.abs(b + 0.5 * a))) - a * np.sin(np.sqrt(np.abs(a - b)))
    return value


def hartmann6(x: npt.ArrayLike) -> FloatArray:
    """Hartmann function in six dimensions: four negative bumps.

    Parameters
    ----------
    x : array_like, shape (..., 6)
        Points, customarily in [0, 1]^6.

    Returns
    -------
    ndarray, shape (...)
        Values; the lowest is -3.32237.

    Examples
    --------
    >>> from gssbo.problems.functions import hartmann6
    >>> round(float(hartmann6([0.20169, 0.150011, 0.476874, 0.275332, 0.311652, 0.6573])), 4)
    -3.3224
    """
    points = np.asarray(x, dtype=np.float64)
    offset = points[..., None, :] - _HARTMANN_CENTRES
    exponent = np.einsum("ij,...ij->...i", _HARTMANN_RATES, offset**2)
    value: FloatArray = -np.exp(-exponent) @ _HARTMANN_WEIGHTS
    return value


def levy(x: npt.ArrayLike) -> FloatArray:
    """Levy function, any dimension.

    Parameters
    ----------
    x : array_like, shape (..., d)
        Points, customarily in [-10, 10]^d.

    Returns
    -------
    ndarray, shape (...)
        Values; the lowest is 0 at (1, ..., 1).

    Examples
    --------
    >>> from gssbo.problems.functions import levy
    >>> float(levy([1.0, 1.0, 1.0])) < 1e-30
    True
    """
    w = 1.0 + (np.asarray(x, dtype=np.float64) - 1.0) / 4.0
    inner, last = w[..., :-1], w[..., -1]
    head = np.sin(np.pi * w[..., 0]) ** 2
    body = ((inner - 1.0) ** 2 * (1.0 + 10.0 * np.sin(np.pi * inner + 1.0) ** 2)).sum(axis=-1)
    tail = (last - 1.0) ** 2 * (1.0 + np.sin(2.0 * np.pi * last) ** 2)
    value: FloatArray = head + body + tail
    return value


def powell(x: npt.ArrayLike) -> FloatArray:
    """Powell's singular function, summed over groups of four coordinates.

    A dimension that is not a multiple of four leaves its last one to three coordinates unused, as in BoTorch:
    in 50 dimensions the value depends on the first 48.

    Parameters
    ----------
    x : array_like, shape (..., d)
        Points, customarily in [-4, 5]^d, d >= 4.

    Returns
    -------
    ndarray, shape (...)
        Values; the lowest is 0 at the origin.

    Examples
    --------
    >>> from gssbo.problems.functions import powell
    >>> float(powell([3.0, -1.0, 0.0, 1.0]))
    215.0
    """
    points = np.asarray(x, dtype=np.float64)
    used = 4 * (points.shape[-1] // 4)
    a, b, c, d = (points[..., k:used:4] for k in range(4))
    terms = (a + 10.0 * b) ** 2 + 5.0 * (c - d) ** 2 + (b - 2.0 * c) ** 4 + 10.0 * (a - d) ** 4
    value: FloatArray = terms.sum(axis=-1)
    return value


def rastrigin(x: npt.ArrayLike) -> FloatArray:
    """Rastrigin function, any dimension.

    Parameters
    ----------
    x : array_like, shape (..., d)
        Points, customarily in [-5.12, 5.12]^d.

    Returns
    -------
    ndarray, shape (...)
        Values; the lowest is 0 at the origin.

    Examples
    --------
    >>> from gssbo.problems.functions import rastrigin
    >>> float(rastrigin([0.0, 0.5]))
    20.25
    """
    points = np.asarray(x, dtype=np.float64)
    value: FloatArray = (points**2 + 10.0 * (1.0 - np.cos(2.0 * np.pi * points))).sum(axis=-1)
    return value


EGGHOLDER = Family(
    "eggholder",
    eggholder,
    box=(-512.0, 512.0),
    dim=2,
    lowest=None,
    x_optimum=np.array([512.0, 404.2318050882932]),
    optimum=-959.6406627208507,
    everywhere=False,
)

# The optimum holds on all of R^6: the point of the box nearest to one outside is nearer to every bump's centre, in each
# coordinate.
HARTMANN = Family(
    "hartmann",
    hartmann6,
    box=(0.0, 1.0),
    dim=6,
    lowest=None,
    x_optimum=np.array([0.20168951, 0.15001069, 0.47687398, 0.27533243, 0.31165162, 0.65730053]),
    optimum=-3.3223680114155147,
    source=f"{LIBRARY}; Dixon and Szego (1978)",
)

LEVY = Family("levy", levy, box=(-10.0, 10.0), dim=20, x_optimum=np.ones, optimum=0.0)


def _powell_source(dim: int) -> str:
    used = 4 * (dim // 4)
    note = "" if used == dim else f"; uses the first {used} of {dim} coordinates, as BoTorch does"
    return f"{LIBRARY}; Powell (1962){note}"


POWELL = Family(
    "powell", powell, box=(-4.0, 5.0), dim=50, lowest=4, x_optimum=np.zeros, optimum=0.0, source=_powell_source
)

RASTRIGIN = Family("rastrigin", rastrigin, box=(-5.12, 5.12), dim=100, x_optimum=np.zeros, optimum=0.0)

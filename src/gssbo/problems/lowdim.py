"""Two functions of a small fixed dimension with several minima: Branin's and Shekel's.

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
2. L. C. W. Dixon, G. P. Szego. The global optimization problem: an introduction. Towards Global Optimization 2, 1978.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from gssbo._typing import FloatArray
from gssbo.problems._dimension import cube, fixed_dimension
from gssbo.problems.problem import LIBRARY, Problem

__all__ = ["branin", "branin_problem", "shekel", "shekel_problem"]

_SHEKEL_WIDTHS = 0.1 * np.array([1.0, 2.0, 2.0, 4.0, 4.0, 6.0, 3.0, 7.0, 5.0, 5.0])
_SHEKEL_CENTRES = np.array(
    [
        [4.0, 4.0, 4.0, 4.0],
        [1.0, 1.0, 1.0, 1.0],
        [8.0, 8.0, 8.0, 8.0],
        [6.0, 6.0, 6.0, 6.0],
        [3.0, 7.0, 3.0, 7.0],
        [2.0, 9.0, 2.0, 9.0],
        [5.0, 5.0, 3.0, 3.0],
        [8.0, 1.0, 8.0, 1.0],
        [6.0, 2.0, 6.0, 2.0],
        [7.0, 3.6, 7.0, 3.6],
    ]
)
# Where the gradient vanishes, by Newton steps in 40 digits.
_SHEKEL_OPTIMUM = np.array([4.000746531592047, 4.000592934138532, 3.9996633980403223, 3.9995098005868076])


def branin(x: npt.ArrayLike) -> FloatArray:
    """Branin function in two dimensions: three minima of one depth in a curved valley.

    Parameters
    ----------
    x : array_like, shape (..., 2)
        Points, customarily in [-5, 10] x [0, 15].

    Returns
    -------
    ndarray, shape (...)
        Values; the lowest is 5 / (4 pi), at (-pi, 12.275), (pi, 2.275) and (3 pi, 2.475).

    Examples
    --------
    >>> import numpy as np
    >>> from gssbo.problems.lowdim import branin
    >>> branin([[-np.pi, 12.275], [np.pi, 2.275], [3.0 * np.pi, 2.475]]).round(6)
    array([0.397887, 0.397887, 0.397887])
    """
    points = np.asarray(x, dtype=np.float64)
    a, b = points[..., 0], points[..., 1]
    curve = b - 5.1 / (4.0 * np.pi**2) * a**2 + 5.0 / np.pi * a - 6.0
    value: FloatArray = curve**2 + 10.0 * (1.0 - 1.0 / (8.0 * np.pi)) * np.cos(a) + 10.0
    return value


def shekel(x: npt.ArrayLike) -> FloatArray:
    """Shekel function in four dimensions with ten foxholes.

    Parameters
    ----------
    x : array_like, shape (..., 4)
        Points, customarily in [0, 10]^4.

    Returns
    -------
    ndarray, shape (...)
        Values; the lowest is -10.53641, close to (4, 4, 4, 4).

    Examples
    --------
    >>> from gssbo.problems.lowdim import shekel
    >>> round(float(shekel([4.0, 4.0, 4.0, 4.0])), 4)
    -10.5363
    """
    points = np.asarray(x, dtype=np.float64)
    squares = ((points[..., None, :] - _SHEKEL_CENTRES) ** 2).sum(axis=-1)
    value: FloatArray = -(1.0 / (squares + _SHEKEL_WIDTHS)).sum(axis=-1)
    return value


def branin_problem(dim: int | None = None, rng: object = None) -> Problem:
    """Branin problem on [-5, 10] x [0, 15].

    Parameters
    ----------
    dim : int, optional
        Only 2.
    rng : optional
        Not used: the function is deterministic.

    Returns
    -------
    Problem
        The problem `branin2`; of its three optimal points the middle one is given.

    Raises
    ------
    ValueError
        If `dim` is not 2.

    Examples
    --------
    >>> from gssbo.problems.lowdim import branin_problem
    >>> round(branin_problem().optimum, 6)
    0.397887
    """
    fixed_dimension("branin", dim, 2)
    return Problem(
        name="branin2",
        bounds=np.array([[-5.0, 10.0], [0.0, 15.0]]),
        function=branin,
        optimum=5.0 / (4.0 * np.pi),
        x_optimum=np.array([np.pi, 2.275]),
        source=f"{LIBRARY}; Dixon and Szego (1978)",
    )


def shekel_problem(dim: int | None = None, rng: object = None) -> Problem:
    """Shekel problem with ten foxholes on [0, 10]^4.

    The optimum holds on all of R^4: the point of the box nearest to one outside is nearer to every centre.

    Parameters
    ----------
    dim : int, optional
        Only 4.
    rng : optional
        Not used: the function is deterministic.

    Returns
    -------
    Problem
        The problem `shekel4`.

    Raises
    ------
    ValueError
        If `dim` is not 4.

    Examples
    --------
    >>> from gssbo.problems.lowdim import shekel_problem
    >>> round(shekel_problem().optimum, 5)
    -10.53641
    """
    fixed_dimension("shekel", dim, 4)
    return Problem(
        name="shekel4",
        bounds=cube(0.0, 10.0, 4),
        function=shekel,
        optimum=float(shekel(_SHEKEL_OPTIMUM)),
        x_optimum=_SHEKEL_OPTIMUM,
        source=f"{LIBRARY}; Dixon and Szego (1978)",
        everywhere=True,
    )

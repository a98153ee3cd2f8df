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
from gssbo.problems.family import Family
from gssbo.problems.problem import LIBRARY

__all__ = ["BRANIN", "SHEKEL", "branin", "shekel"]

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


# Of the three optimal points the middle one is given.
BRANIN = Family(
    "branin",
    branin,
    box=((-5.0, 10.0), (0.0, 15.0)),
    dim=2,
    lowest=None,
    x_optimum=np.array([np.pi, 2.275]),
    optimum=5.0 / (4.0 * np.pi),
    source=f"{LIBRARY}; Dixon and Szego (1978)",
    everywhere=False,
)

# The optimum holds on all of R^4: the point of the box nearest to one outside is nearer to every centre. It is where
# the gradient vanishes, by Newton steps in 40 digits.
SHEKEL = Family(
    "shekel",
    shekel,
    box=(0.0, 10.0),
    dim=4,
    lowest=None,
    x_optimum=np.array([4.000746531592047, 4.000592934138532, 3.9996633980403223, 3.9995098005868076]),
    source=f"{LIBRARY}; Dixon and Szego (1978)",
)

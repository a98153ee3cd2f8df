"""Responses: standardised, and with something in the place of those that failed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gssbo._typing import FloatArray

__all__ = ["known_noise", "standardize", "standardize_by", "unstandardize", "without_gaps"]

MOST_NOISE = 1e12  # known variance of a standardised response: more would say no less
FAR = 1e100  # standard deviations beyond which a response is no farther
SMALLEST = 5e-324  # least positive double: a spread between neighbours down there rounds to 0


def standardize(y: FloatArray) -> tuple[FloatArray, float, float]:
    """Return z, mean and standard deviation (1 where all are equal) of y (n,).

    NaN stands for an evaluation that failed: mean and standard deviation go without it, and its z is 1 below the least
    of the others, 0 where there are none.

    Works on y over a power of two, so the squares neither overflow nor underflow and scaling y by a power of two
    gives the same z to the bit; the mean is taken of differences to the first value, so a small spread on a large
    offset survives.
    """
    failed = np.isnan(y)
    if failed.any():
        return _with_gaps(y, failed)
    scale = 2.0 ** float(np.frexp(np.abs(y).max())[1] - 1) if np.any(y) else 1.0
    scaled = y / scale
    shifted = scaled - scaled[0]
    offset = shifted.mean()
    centred = shifted - offset
    deviation = float(np.sqrt(np.mean(centred * centred)))
    if deviation == 0.0:
        return np.zeros_like(y), float(y[0]), 1.0
    return centred / deviation, float((scaled[0] + offset) * scale), max(deviation * scale, SMALLEST)


def standardize_by(y: FloatArray, mean: float, std: float) -> FloatArray:
    """(y - mean) / std within FAR of 0: y and mean may be as large as doubles go, their difference larger.

    Examples
    --------
    >>> standardize_by(np.array([3.5, 1.7e308]), 3.0, 0.5)
    array([1.e+000, 1.e+100])
    """
    with np.errstate(over="ignore"):
        z: FloatArray = 2.0 * ((0.5 * y - 0.5 * mean) / std)
    return np.clip(z, -FAR, FAR)


def known_noise(noise_std: FloatArray, scale: FloatArray | float) -> FloatArray:
    """Noise variances (n,) of responses over a scale (n,) or 1, of those with noise_std (n,): at most MOST_NOISE.

    Examples
    --------
    >>> known_noise(np.array([0.0, 2.0, 1e300]), 4.0)
    array([0.0e+00, 2.5e-01, 1.0e+12])
    """
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        variance = np.minimum((noise_std / scale) ** 2, MOST_NOISE)
    return np.where(noise_std == 0.0, 0.0, variance)


def unstandardize(z: FloatArray, mean: float, std: float) -> FloatArray:
    """Return mean + std z, infinite where that is beyond doubles, as what is foreseen of huge responses may be.

    Examples
    --------
    >>> unstandardize(np.array([-1.0, 0.0, 2.0]), 3.0, 0.5)
    array([2.5, 3. , 4. ])
    """
    with np.errstate(over="ignore", under="ignore"):
        return mean + std * z


def _with_gaps(y: FloatArray, failed: NDArray[np.bool_]) -> tuple[FloatArray, float, float]:
    z = np.zeros_like(y)
    if failed.all():
        return z, 0.0, 1.0
    z[~failed], mean, std = standardize(y[~failed])
    z[failed] = z[~failed].min() - 1.0
    return z, mean, std


def without_gaps(y: FloatArray) -> FloatArray:
    """`y` with one standard deviation below the least in the place of NaN, for responses that stay as they are."""
    failed = np.isnan(y)
    if not failed.any():
        return y
    z, mean, std = standardize(y)
    with np.errstate(over="ignore"):
        return np.where(failed, np.clip(mean + std * z, -np.finfo(np.float64).max, None), y)

"""Output warps: what is done to responses before a model sees them, chosen by likelihood.

Notation
--------
y           responses, larger is better (n,)
g           gaps (max y - y) / scale, scale the median of the positive ones (n,)
power       1 leaves the gaps as they are, 0 takes logarithms, between them ((1 + g)^power - 1) / power
z           minus the warped gaps, standardised: larger is better (n,)
J           log |dz/dg|, summed: what makes likelihoods under different warps comparable, as in [1]

Gaps, and not values, are warped: near the best value every warp is the identity, far below it the smaller powers press
values that span decades together.

References
----------
1. Box and Cox, An analysis of transformations, Journal of the Royal Statistical Society B 26(2), 1964.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np

from gssbo._typing import FloatArray
from gssbo.factor import Factor

__all__ = ["POWERS", "likeliest", "likeliest_form", "slopes", "warp"]

Form = TypeVar("Form")

POWERS = (1.0, 0.5, 0.25, 0.0)
FAR = 1e150  # a gap beyond which a response is no farther


def warp(y: FloatArray, power: float) -> tuple[FloatArray, float]:
    """Return z and J for finite y (n,); z is all zeros where the responses are equal.

    Examples
    --------
    >>> z, _ = warp(np.array([0.0, -1.0, -10.0, -100.0]), 0.0)
    >>> bool(np.all(np.diff(z) < 0.0)), round(float(z.mean()), 12), round(float(z.std()), 12)
    (True, 0.0, 1.0)
    """
    gaps, _ = _gaps(y)
    z = _pressed(gaps, power)
    J = float((power - 1.0) * np.log1p(gaps).sum())
    z = z - z.mean()
    deviation = float(np.sqrt(np.mean(z * z)))
    if not deviation > 0.0:
        return np.zeros_like(y), 0.0
    return z / deviation, J - len(y) * float(np.log(deviation))


def slopes(y: FloatArray, power: float) -> FloatArray:
    """Derivatives dz/dy (n,) of the warped responses, where the extent of z is taken for given.

    They are infinite where responses differ by the least doubles alone.

    Examples
    --------
    >>> slopes(np.array([0.0, -1.0, -10.0, -100.0]), 1.0).round(4)  # doctest: +NORMALIZE_WHITESPACE
    array([0.0239, 0.0239, 0.0239, 0.0239])
    """
    gaps, scale = _gaps(y)
    stretch = (1.0 + gaps) ** (power - 1.0)
    deviation = float(_pressed(gaps, power).std())
    if not deviation > 0.0:
        return np.zeros_like(y)
    with np.errstate(over="ignore"):
        found: FloatArray = stretch / (deviation * scale)
    return found


def likeliest(factor: Factor, warped: Iterable[tuple[float, FloatArray, float]]) -> tuple[float, float, float]:
    """Log likelihood, power and variance factor of the likeliest of warps (power, z, J), the first of equals.

    z is normal with the covariance that was factored, times the variance factor, which is profiled out. Constants are
    left out. Where no likelihood is finite it is minus infinity, and the others are NaN.

    Examples
    --------
    >>> y = -np.exp(np.linspace(0.0, 20.0, 9))
    >>> value, power, variance = likeliest(Factor(np.eye(9)), [(power, *warp(y, power)) for power in POWERS])
    >>> power, round(variance, 9)
    (0.0, 1.0)
    """
    best = (-np.inf, np.nan, np.nan)
    for power, z, J in warped:
        v = factor.whiten(z)
        variance = float(np.mean(v * v))
        value = -0.5 * len(z) * np.log(max(variance, 1e-300)) - factor.half_log_determinant + J
        if np.isfinite(value) and value > best[0]:
            best = float(value), power, variance
    return best


def likeliest_form(
    covariances: Iterable[tuple[Form, FloatArray, float]], y: FloatArray, powers: Sequence[float]
) -> tuple[Form, float, float] | None:
    """The likeliest of forms with its power and variance factor, the first of equals; None where none is finite.

    Each form comes with a matrix, of which the upper triangle is read, and what is added to its diagonal to make the
    covariance of responses y (n,), see `likeliest`; one that is not positive definite in doubles is passed over.

    Examples
    --------
    >>> x = np.array([-1.0, 0.0, 1.0])
    >>> forms = [("none", np.zeros((3, 3)), 0.0), ("white", np.eye(3), 0.0), ("linear", np.outer(x, x), 1e-3)]
    >>> likeliest_form(forms, 2.0 * x, (1.0,))[0]
    'linear'
    """
    warped = [(power, *warp(y, power)) for power in powers]
    best, found = -np.inf, None
    for form, matrix, addition in covariances:
        try:
            factor = Factor(matrix, addition)
        except np.linalg.LinAlgError:
            continue
        value, power, variance = likeliest(factor, warped)
        if value > best:
            best, found = value, (form, power, variance)
    return found


def _gaps(y: FloatArray) -> tuple[FloatArray, float]:
    half = 0.5 * np.max(y) - 0.5 * y  # halves: responses may be as large as floats go
    positive = np.sort(half[half > 0.0])
    scale = float(positive[(len(positive) - 1) // 2]) if len(positive) else 1.0
    with np.errstate(over="ignore"):  # of responses that differ by the least doubles, others are that far
        return np.minimum(half / scale, FAR), 2.0 * scale


def _pressed(gaps: FloatArray, power: float) -> FloatArray:
    if power == 1.0:
        return -gaps
    if power == 0.0:
        return -np.log1p(gaps)
    found: FloatArray = (1.0 - (1.0 + gaps) ** power) / power
    return found

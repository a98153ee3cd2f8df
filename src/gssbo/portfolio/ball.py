"""The minimiser of a quadratic in a ball and a box.

Notation
--------
q(u)        g.u + u' H u / 2; H (d, d), its diagonal (d,) where the rest of it is zero, or B' diag(w) B, B (n, d),
            where n < d and g is in the span of the rows of B, as u is then
R           radius of the ball
low, high   faces of the box, low <= 0 <= high (d,)
lam         multiplier of the ball: (H + lam I) u = -g, H + lam I positive definite, lam = 0 inside the ball

References
----------
1. More and Sorensen, Computing a trust region step, SIAM Journal on Scientific and Statistical Computing 4(3), 1983.
2. Conn, Gould and Toint, Trust-Region Methods, SIAM 2000, chapter 7.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gssbo._typing import FloatArray
from gssbo.factor import Factor, gram, product

__all__ = ["Outer", "minimize_in_ball"]

ROUNDS = 8  # of fixing coordinates at the faces they would cross
HALVINGS = 40  # of the interval of log lam
LONG = 0.98  # of R^2, and |u|^2 is large enough
TRUSTED = 1e-10  # of the largest lam: how far from singular H + lam I is where |u| is taken for exact
ROUNDING = 1e-12  # of the cosines between the rows of B


class Outer(NamedTuple):
    """B' diag(w) B."""

    B: FloatArray
    w: FloatArray


def minimize_in_ball(
    g: FloatArray, H: FloatArray | Outer, radius: float, low: FloatArray, high: FloatArray
) -> tuple[FloatArray, float]:
    """Return u (d,) and the decrease -q(u).

    Coordinates that would leave the box are fixed at its faces, and the rest is minimised anew in what is left of
    the ball. In the hard case of [1] the step may fall short of the sphere.

    Examples
    --------
    >>> u, decrease = minimize_in_ball(np.array([-1.0, 0.0]), np.eye(2), 10.0, np.full(2, -9.0), np.full(2, 9.0))
    >>> np.abs(u).round(6), round(decrease, 6)
    (array([1., 0.]), 0.5)
    """
    u = np.zeros(len(g))
    free = np.ones(len(g), dtype=bool)
    for _ in range(ROUNDS):
        fixed = ~free
        left = radius * radius - float((u[fixed] ** 2).sum())
        if not free.any() or left <= 0.0:
            break
        if isinstance(H, Outer):
            inner = H.w * (H.B[:, fixed] * u[fixed]).sum(axis=1)
            B = H.B[:, free]
            u[free] = _in_span(g[free] + (B * inner[:, None]).sum(axis=0), B, H.w, float(np.sqrt(left)))
        elif H.ndim == 1:
            u[free] = _on_sphere(g[free], H[free], float(np.sqrt(left)))
        else:
            slope = g[free] + (H[np.ix_(free, fixed)] * u[fixed]).sum(axis=1)
            u[free] = _on_sphere(slope, H[np.ix_(free, free)], float(np.sqrt(left)))
        out = free & ((u < low) | (u > high))
        if not out.any():
            break
        u[out] = np.clip(u[out], low[out], high[out])
        free &= ~out
    u = np.clip(u, low, high)
    if isinstance(H, Outer):
        bend = float((H.w * (H.B * u).sum(axis=1) ** 2).sum())
    else:
        bend = float((u * (H * u if H.ndim == 1 else (H * u).sum(axis=1))).sum())
    return u, -(float((g * u).sum()) + 0.5 * bend)


def _in_span(g: FloatArray, B: FloatArray, w: FloatArray, radius: float) -> FloatArray:
    """Minimiser of q in the ball for g in the span of the rows of B, in coordinates t of an orthonormal basis of that.

    For rows R of length 1 and G = R R' = U'U the basis is U^-T R, and the coordinates of R are G U^-1. Where rows
    nearly depend on each other, G is not quite U'U: the coordinates hold, and u = R' U^-1 t is merely no longer than t.
    """
    length = np.maximum(np.sqrt((B * B).sum(axis=1)), 1e-300)
    R = B / length[:, None]
    G = gram(np.ascontiguousarray(R.T))
    factor = Factor(G, ROUNDING)
    C = np.ascontiguousarray(factor.whiten(G).T)
    H = product(C * (w * length * length)[:, None], C)
    t = _on_sphere(factor.whiten((R * g).sum(axis=1)), H, radius)
    u: FloatArray = (R * factor.color(t)[:, None]).sum(axis=0)
    return u


def _on_sphere(g: FloatArray, H: FloatArray, radius: float) -> FloatArray:
    """Minimiser of q in the ball: lam by halving its interval, on a logarithmic scale.

    As 1 / |u| is concave in lam, a tangent tells up to where u is outside of the ball, and a chord from where on it is
    well inside: there nothing need be solved.
    """
    rows = np.abs(H) if H.ndim == 1 else np.abs(H).sum(axis=1)
    size = float(rows.max())  # at least the spectral radius
    steep = float(np.sqrt((g * g).sum()))
    if not steep > 0.0:
        g, steep = np.full(len(g), 1e-300), 1e-300 * len(g)
    found = _solution(H, 0.0, g)
    if found is not None and found.square <= radius * radius:
        return found.u
    top = size + steep / radius  # H + top I has no eigenvalue below steep / radius
    farthest = _solution(H, top * (1.0 + 1e-12), g)
    if farthest is None or not farthest.square <= radius * radius:
        return -g * (radius / steep)
    low, high = np.log(max(top * 1e-16, 1e-300)), np.log(top)
    best: _Solution | None = farthest
    inside, outside, near, far = None, None, farthest.crossing(radius, top), np.inf
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        lam = float(np.exp(middle))
        if lam > far:
            high, best = middle, None
            continue
        found = None if lam < near else _solution(H, lam, g)
        if found is None:
            low = middle
            continue
        within = found.square <= radius * radius
        if within:
            high, best = middle, found
            if found.square > LONG * radius * radius:
                break
        else:
            low = middle
        crossing = found.crossing(radius, top)
        if crossing > -np.inf:
            near = max(near, crossing)
            inside, outside = (found, outside) if within else (inside, found)
            if inside is not None and outside is not None:
                a, b = inside.square**-0.5, outside.square**-0.5
                far = outside.lam + (LONG**-0.5 / radius - b) * (inside.lam - outside.lam) / (a - b)
    return (best or _solution(H, float(np.exp(high)), g) or farthest).u


class _Solution(NamedTuple):
    """The u of (H + lam I) u = -g."""

    lam: float
    u: FloatArray
    square: float  # |u|^2
    rate: float  # u' (H + lam I)^-1 u

    def crossing(self, radius: float, top: float) -> float:
        """The lam where the tangent of 1 / |u| is 1 / radius; minus infinity where rounding may tilt it."""
        if not self.square > TRUSTED * top * self.rate > 0.0:
            return -np.inf
        return self.lam + (float(np.sqrt(self.square)) / radius - 1.0) * self.square / self.rate


def _solution(H: FloatArray, lam: float, g: FloatArray) -> _Solution | None:
    """None where the matrix is not positive definite in doubles."""
    if H.ndim == 1:
        pivots = H + lam
        if not ((pivots > 0.0) & np.isfinite(pivots)).all():
            return None
        inverse = 1.0 / np.sqrt(pivots)
        u = -(g * inverse * inverse)  # the bits of the factor's solution
        half = u * inverse
    else:
        try:
            factor = Factor(H, lam)
        except np.linalg.LinAlgError:
            return None
        u = -factor.solve(g)
        half = factor.whiten(u)
    return _Solution(lam, u, float((u * u).sum()), float((half * half).sum()))

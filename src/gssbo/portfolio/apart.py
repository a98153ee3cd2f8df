"""Apart: points that are evaluated at the same time tell little beside each other where they are close."""

from __future__ import annotations

import numpy as np

from gssbo._typing import FloatArray

__all__ = ["apart"]

APART = 0.25  # how close a point may be to one that is waited for, by the distance to the nearest known
SPARSE = 0.05  # the same, by the distance of that one to the nearest other that is known
FEW = 16  # columns


def apart(x: FloatArray, known: FloatArray, pending: FloatArray) -> bool:
    """Whether x (D,) is no rounding away from what is known (n, D), and not next to one that is waited for (p, D).

    That is, not a few times closer to it than to all that are known, and than the nearest of these is to another.

    Examples
    --------
    >>> known, pending = np.array([[0.0, 0.0], [0.0, 0.5]]), np.array([[0.4, 0.4]])
    >>> [apart(np.array(x), known, pending) for x in ([0.4, 0.41], [0.4, 0.8], [0.0, 0.5])]
    [False, True, False]
    """
    distances = _distances(known, x)
    nearest = float(distances.min(initial=1.0))
    # Those that are farther away in one column decide nothing: of thousands, few are looked at in all.
    near = pending[np.abs(pending[:, 0] - x[0]) < max(SPARSE, APART)]
    waited_for = float(_distances(near, x).min(initial=1.0))
    if nearest < 1e-12 or waited_for < max(1e-9, APART * nearest):
        return False
    if len(known) < 2 or waited_for >= SPARSE:
        return True
    others = _distances(known, known[int(distances.argmin())])
    return waited_for >= SPARSE * float(others[others > 0.0].min(initial=1.0))


def _distances(points: FloatArray, x: FloatArray) -> FloatArray:
    """Distances (m,), the longest side counts, of points (m, D) to x (D,); few columns are faster one by one."""
    distances: FloatArray
    if len(x) > FEW:
        distances = np.abs(points - x).max(axis=1)
        return distances
    distances = np.abs(points[:, 0] - x[0])
    for k in range(1, len(x)):
        np.maximum(distances, np.abs(points[:, k] - x[k]), out=distances)
    return distances

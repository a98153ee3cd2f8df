"""The residual rule on a view."""

from __future__ import annotations

import numpy as np

from gssbo._typing import FloatArray, IndexArray
from gssbo.embedding import Embedding
from gssbo.map_gp import MapGaussianProcess
from gssbo.portfolio.view import View
from gssbo.selection.subset import select

__all__ = ["residual_subset"]


def residual_subset(gp: MapGaussianProcess, pool: View, size: int, y: FloatArray) -> IndexArray:
    """Ascending indices of the subset that the residual rule chooses under a fitted model; responses y (n,).

    The best and the newest are in it.
    """
    forced = np.unique([pool.best, int(np.argmax(pool.rows))])
    embedding = Embedding(gp.kernel_, gp.noise_, np.ascontiguousarray(pool.X))
    return np.sort(select(embedding, size, rule="residual", forced=forced, y=y, rng=np.random.default_rng(0)))

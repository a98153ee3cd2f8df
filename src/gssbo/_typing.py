"""Type aliases shared by the package."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["ArrayLike", "FloatArray", "IndexArray", "RngLike"]

FloatArray: TypeAlias = NDArray[np.float64]
IndexArray: TypeAlias = NDArray[np.intp]
RngLike: TypeAlias = int | np.integer | np.random.Generator | np.random.SeedSequence | None

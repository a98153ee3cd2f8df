"""A closed-form function as one problem in each dimension it exists in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gssbo._typing import FloatArray
from gssbo.problems._dimension import fixed_dimension, free_dimension
from gssbo.problems.problem import LIBRARY, Problem

__all__ = ["Family"]


@dataclass(frozen=True, eq=False)
class Family:
    """What the problems of one deterministic function share; a call makes one of them.

    Parameters
    ----------
    name : str
        Name of the problems, without the dimension.
    function : callable
        ``function(X)`` of points (n, d), with values (n,).
    box : array_like, shape (2,) or (d, 2)
        Lower and upper bound of every input, or one row an input where there is but one dimension.
    dim : int
        Dimension unless another is asked for.
    lowest : int or None
        The lowest dimension the function exists in; None: it exists in `dim` alone.
    x_optimum : ndarray, shape (d,), or callable
        Where the optimum is attained, or a function of the dimension that tells it.
    optimum : float or None
        Lowest value on the box; None: the value at `x_optimum`.
    source : str or callable
        Where the definition comes from, or a function of the dimension that tells it.
    everywhere : bool
        Whether the optimum is the lowest value over all of R^d.

    Examples
    --------
    >>> import numpy as np
    >>> from gssbo.problems.family import Family
    >>> bowl = Family("bowl", lambda X: (X**2).sum(axis=-1), box=(-1.0, 1.0), dim=3, x_optimum=np.zeros, optimum=0.0)
    >>> bowl().name, bowl(dim=2).bounds.tolist()
    ('bowl3', [[-1.0, 1.0], [-1.0, 1.0]])
    """

    name: str
    function: Callable[[npt.ArrayLike], FloatArray]
    box: npt.ArrayLike
    dim: int
    x_optimum: FloatArray | Callable[[int], FloatArray]
    lowest: int | None = 1
    optimum: float | None = None
    source: str | Callable[[int], str] = LIBRARY
    everywhere: bool = True

    def __call__(self, dim: int | None = None, rng: object = None) -> Problem:
        """Make the problem of dimension `dim`.

        Parameters
        ----------
        dim : int, optional
            Default: that of the family.
        rng : optional
            Not used: the function is deterministic.

        Returns
        -------
        Problem
            The problem ``<name><dim>``.

        Raises
        ------
        ValueError
            If the function does not exist in that dimension.
        """
        if self.lowest is None:
            fixed_dimension(self.name, dim, self.dim)
            d = self.dim
        else:
            d = free_dimension(self.name, dim, default=self.dim, lowest=self.lowest)
        x_optimum = self.x_optimum(d) if callable(self.x_optimum) else self.x_optimum
        return Problem(
            name=f"{self.name}{d}",
            bounds=np.broadcast_to(np.asarray(self.box, dtype=np.float64), (d, 2)),
            function=self.function,
            optimum=float(self.function(x_optimum)) if self.optimum is None else self.optimum,
            x_optimum=x_optimum,
            source=self.source(d) if callable(self.source) else self.source,
            everywhere=self.everywhere,
        )

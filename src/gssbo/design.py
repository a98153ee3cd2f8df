"""The initial design: the first points to evaluate, spread over the space before there is a model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gssbo._typing import FloatArray
from gssbo._validation import check_choice, check_integer
from gssbo.space import Space

__all__ = ["Design"]

DESIGNS = ("lhs", "sobol")


class Design:
    """Points of a Latin hypercube or a scrambled Sobol sequence, one coordinate a free parameter, handed out in turn.

    Parameters
    ----------
    space : Space
    n_init : int
    kind : {"lhs", "sobol"}
    rng : numpy.random.Generator
    place : callable, optional
        Realisable unit points at draws; default those of the whole space.

    Attributes
    ----------
    n_taken : int
        Points handed out.

    Examples
    --------
    >>> design = Design(Space([(0, 1), ["u", "v"]]), 4, "lhs", np.random.default_rng(0))
    >>> points = [design.take() for _ in range(4)]
    >>> sorted(int(point[1]) for point in points), design.take() is None
    ([0, 0, 1, 1], True)
    """

    def __init__(
        self,
        space: Space,
        n_init: int,
        kind: str,
        rng: np.random.Generator,
        *,
        place: Callable[[FloatArray], FloatArray] | None = None,
    ) -> None:
        self.size = check_integer("n_init", n_init, at_least=1)
        self.kind = check_choice("initial_design", kind, DESIGNS)
        from scipy.stats import qmc  # 40 % of the time that importing gssbo would take, for worker processes too

        if self.kind == "lhs":
            draws = qmc.LatinHypercube(space.n_draws, rng=rng).random(self.size)
        else:
            power = int(np.ceil(np.log2(self.size)))
            draws = qmc.Sobol(space.n_draws, rng=rng).random_base2(power)[: self.size]
        self._points = (space.place if place is None else place)(draws)
        self.n_taken = 0

    def take(self) -> FloatArray | None:
        """The next unit point (D,), or None after the last."""
        if self.n_taken == self.size:
            return None
        self.n_taken += 1
        point: FloatArray = self._points[self.n_taken - 1]
        return point

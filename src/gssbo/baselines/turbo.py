"""TuRBO-style: a Gaussian process and Thompson sampling in one trust region, begun anew when it has shrunk away.

Notation
--------
d           parameters
L           base side length of the region, in the unit cube
l           lengthscales (d,), g their geometric mean
centre      the member with the largest posterior mean
sides       L l / g (d,), centred there and cut to the cube: before the cut the volume is L^d whatever the lengthscales

Rules [1]. A suggestion that improves on the best member is a success, any other a failure; each of them ends a row of
the other. After 3 successes in a row L doubles, to at most 1.6; after ceil(max(4, d)) failures it is halved; both rows
begin at 0 then. Below L = 2^-7 the region is given up: 2 d points of a fresh Latin hypercube follow, and only what is
told from then on is a member of the next one, which begins at L = 0.8. What is told together counts as one batch: one
success if any of it improves, else a failure for each point.

Settings [1]. Matern 5/2 ARD, lengthscales in [0.005, 2], variance in [0.05, 20], noise in [5e-4, 0.1], on the members.
One draw from the posterior at min(100 d, 5000) scrambled Sobol points of the region, in which each coordinate differs
from the centre's with probability min(1, 20 / d), at least one does. One region, written from the paper alone. The draw
is pathwise (`gssbo.acquisition.ThompsonSampling`). The number of failures has the floor of 4, and the fresh design its
2 d points, from us.

Cost of an iteration: n^3 for each step of the search, n the members, and a draw at the candidates; it falls back when a
region is given up.

References
----------
1. Eriksson, Pearce, Gardner, Turner and Poloczek, Scalable global optimization via local Bayesian optimization, NeurIPS
   2019, section 2 and appendix.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.stats import qmc

from gssbo._typing import FloatArray, IndexArray
from gssbo.box_strategy import SETS, BoxStrategy
from gssbo.choice import Admit
from gssbo.gp import GaussianProcess
from gssbo.history import History
from gssbo.space import Space

__all__ = ["Region", "TrustRegionSearch", "options", "sides"]

INITIAL, SMALLEST, LARGEST = 0.8, 2.0**-7, 1.6
SUCCESSES = 3


def options() -> dict[str, Any]:
    """Keyword arguments of `gssbo.Optimizer` that make it TuRBO-style."""
    surrogate = GaussianProcess(
        lengthscale=0.5,
        lengthscale_bounds=(0.005, 2.0),
        variance_bounds=(0.05, 20.0),
        noise_bounds=(5e-4, 0.1),
        tol=1e-6,
    )
    return {
        "surrogate": surrogate,
        "strategy": TrustRegionSearch,
        "acquisition": "thompson",
        "acquisition_options": None,
    }


class Region:
    """The base side length and the rows that change it.

    Parameters
    ----------
    dim : int
        d.

    Examples
    --------
    >>> region = Region(2)
    >>> for _ in range(3):
    ...     region.count(improved=True, size=1)
    >>> region.length
    1.6
    """

    def __init__(self, dim: int) -> None:
        self.length = INITIAL
        self.tolerance = max(4, dim)
        self.successes = 0
        self.failures = 0

    def count(self, *, improved: bool, size: int) -> None:
        """Take note of a batch of `size` observations."""
        self.successes = self.successes + 1 if improved else 0
        self.failures = 0 if improved else self.failures + size
        if self.successes >= SUCCESSES:
            self.length = min(2.0 * self.length, LARGEST)
            self.successes = 0
        elif self.failures >= self.tolerance:
            self.length *= 0.5
            self.failures = 0

    @property
    def exhausted(self) -> bool:
        """Whether it is too small to go on."""
        return self.length < SMALLEST


def sides(length: float, lengthscale: FloatArray) -> FloatArray:
    """Side lengths (d,) of a region of base length `length`.

    Examples
    --------
    >>> sides(0.5, np.array([1.0, 4.0]))
    array([0.25, 1.  ])
    """
    logs = np.log(lengthscale)
    lengths: FloatArray = length * np.exp(logs - logs.mean())
    return lengths


class TrustRegionSearch(BoxStrategy):
    """A `BoxStrategy` that fits to the members of a trust region and looks there; see the module's notes."""

    def __init__(self, space: Space, *, n_candidates: int | None = None, **slots: Any) -> None:
        usual = min(100 * space.dim, 5000)
        super().__init__(space, n_candidates=usual if n_candidates is None else n_candidates, **slots)
        self.region = Region(space.dim)
        self._first = 0  # index of the first member
        self._counting = 0  # from this index on observations count, those of a design do not
        self._design: FloatArray = np.empty((0, space.dim))

    def members(self, history: History) -> IndexArray:
        """What was told since the region began."""
        return np.arange(self._first, len(history), dtype=np.intp)

    def update(self, history: History) -> bool:
        """Fit, count successes and failures, and begin anew if the region has shrunk away."""
        n, seen = len(history), self.n_modelled
        if n == seen:
            return False
        if seen == 0:
            self._counting = n  # the initial design, and what was told with it
        fresh = max(seen, self._counting)
        region, design, first, counting = copy.copy(self.region), self._design, self._first, self._counting
        if n > fresh:
            y = np.where(np.isnan(history.y), -np.inf, history.y)
            improved = bool(y[fresh:n].max() > y[first:fresh].max())
            region.count(improved=improved, size=n - fresh)
        if region.exhausted:
            region = Region(self.space.dim)
            size = 2 * self.space.dim
            design = self.place(qmc.LatinHypercube(self.space.n_draws, rng=self.candidate_rng).random(size))
            first, counting = n, n + size
        super().update(history)
        # Ctrl-C interrupts no assignments in a row, of which that ends with some: the next time begins anew, or none.
        self.region, self._design, self._first, self._counting = region, design, first, counting
        return True

    def suggest(self, history: History, pending: FloatArray, n: int, admit: Admit) -> FloatArray:
        """Points of the design of a new region first, then the best of draws in the region."""
        designed, self._design = self._design[:n], self._design[n:]
        designed = designed[admit(designed)]
        if len(designed) == n:
            return designed
        rest = super().suggest(history, np.vstack([pending, designed]), n - len(designed), admit)
        return np.vstack([designed, rest])

    def candidates(self, history: History, n: int) -> Iterator[FloatArray]:
        """Sets of perturbations of the centre within the region (m, D)."""
        here = self.retained
        mean, _ = self.surrogate.posterior(np.ascontiguousarray(history.unit[here]))
        centre = history.unit[here[int(np.argmax(mean))]]
        half = 0.5 * sides(self.region.length, self.surrogate.kernel_.lengthscale)
        low, high = np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)
        for _ in range(n + SETS):
            yield self.space.project(self._perturbed(centre, low, high))

    def _perturbed(self, centre: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
        d, count, rng = len(centre), self.n_candidates, self.candidate_rng
        power = int(np.ceil(np.log2(count)))
        spread = low + (high - low) * qmc.Sobol(d, rng=rng).random_base2(power)[:count]
        moved = rng.random((count, d)) < min(1.0, 20.0 / d)
        still = ~moved.any(axis=1)
        moved[still, rng.integers(d, size=int(still.sum()))] = True
        points: FloatArray = np.where(moved, spread, centre)
        return points

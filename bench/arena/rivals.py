"""Optimizers of other packages, with their own defaults but for what is said here.

All search the unit cube, scaled to the box, and are seeded. None may evaluate more than the objective allows: it raises
`Spent`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gssbo.space import Real

from .. import searches
from ..distributions import distributions
from .objective import Objective

__all__ = ["cma", "cma_random", "differential_evolution", "gpsampler", "tpe"]


def cma(objective: Objective, seed: int) -> None:
    """CMA-ES of the package cma with bounds and BIPOP restarts, first step 0.2 of a side.

    It starts at the centre of the box, which is a help wherever the optimum is near it (the plain levy20, powell50 and
    rastrigin100), and restarts from uniform points.
    """
    searches.cma(objective.unit, objective.problem.dim, objective.n_evals, seed, centre=True)


def cma_random(objective: Objective, seed: int) -> None:
    """The same, but the first start is uniform too."""
    searches.cma(objective.unit, objective.problem.dim, objective.n_evals, seed)


def differential_evolution(objective: Objective, seed: int) -> None:
    """SciPy's differential evolution; the best of a population that has converged is polished."""
    searches.differential_evolution(objective.unit, objective.problem.dim, objective.n_evals, seed)


def tpe(objective: Objective, seed: int) -> None:
    """Optuna's multivariate TPE."""
    searches.tpe(*_named(objective), seed)


def gpsampler(objective: Objective, seed: int) -> None:
    """Optuna's GPSampler on one thread."""
    searches.gpsampler(*_named(objective), seed)


def _named(objective: Objective) -> tuple[searches.NamedValue, dict[str, Any]]:
    """The objective of parameters by name, and their ranges."""
    names = [f"x{k}" for k in range(objective.problem.dim)]
    ranges = distributions(dict.fromkeys(names, Real(0.0, 1.0)))
    return lambda params: objective.unit(np.array([params[name] for name in names])), ranges

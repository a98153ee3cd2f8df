"""Problems by name: those of the package, and BBOB's functions where ioh is installed.

The 24 noiseless functions of the black-box optimization benchmark [1] are written ``bbob-f17-d5``. Seed s has instance
s + 1: the same function, moved and rotated in another way. No default was chosen by them.

References
----------
1. Hansen, Finck, Ros and Auger, Real-parameter black-box optimization benchmarking 2009: noiseless functions
   definitions, INRIA RR-6829.
"""

from __future__ import annotations

import re

import numpy as np

from gssbo.problems import Problem, get_problem

__all__ = ["bbob_names", "find_problem", "packages_for"]

PATTERN = re.compile(r"bbob-f(\d\d)-d(\d+)")
N_FUNCTIONS = 24


def bbob_names(dim: int) -> tuple[str, ...]:
    """Names of all its functions in d dimensions."""
    return tuple(f"bbob-f{number:02}-d{dim}" for number in range(1, N_FUNCTIONS + 1))


def packages_for(name: str) -> tuple[str, ...]:
    """What has to be installed beside gssbo to evaluate a problem."""
    return ("ioh",) if PATTERN.fullmatch(name) else ()


def find_problem(name: str, seed: int = 0) -> Problem:
    """Return a problem, its noise or its instance by the seed.

    Raises
    ------
    ValueError
        If there is none of this name.
    ModuleNotFoundError
        If it takes ioh, and that is not installed.
    """
    found = PATTERN.fullmatch(name)
    if found is None:
        return get_problem(name, rng=np.random.default_rng([seed, 1]))
    number, dim = int(found[1]), int(found[2])
    if not (1 <= number <= N_FUNCTIONS and dim >= 2):
        raise ValueError(f"BBOB's functions are f01 to f{N_FUNCTIONS} in 2 dimensions and more, got {name!r}")
    import ioh

    function = ioh.get_problem(number, seed + 1, dim, ioh.ProblemClass.BBOB)
    return Problem(
        name=name,
        bounds=np.column_stack([function.bounds.lb, function.bounds.ub]),
        function=lambda X: np.array([function(x) for x in X]),
        optimum=float(function.optimum.y),
        x_optimum=np.asarray(function.optimum.x),
        source=f"ioh, BBOB function {number}, instance {seed + 1}",
    )

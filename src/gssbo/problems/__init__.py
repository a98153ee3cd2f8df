"""Test problems: five closed-form functions and one training task, all to be minimised over a box.

=============  =======================================  ========================  =====================
name           function                                 box                       dimensions
=============  =======================================  ========================  =====================
eggholder2     Eggholder                                [-512, 512]^2             2
hartmann6      Hartmann                                 [0, 1]^6                  6
levy20         Levy                                     [-10, 10]^d               any d >= 1
powell50       Powell's singular function               [-4, 5]^d                 any d >= 4
rastrigin100   Rastrigin                                [-5.12, 5.12]^d           any d >= 1
diabetes       validation error of a small network      mixed units               4, noisy
=============  =======================================  ========================  =====================
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from .diabetes import diabetes_problem
from .functions import eggholder_problem, hartmann_problem, levy_problem, powell_problem, rastrigin_problem
from .problem import Normalizer, Problem

__all__ = ["PROBLEMS", "Normalizer", "Problem", "get_problem"]

PROBLEMS: Mapping[str, Callable[..., Problem]] = MappingProxyType(
    {
        "eggholder2": eggholder_problem,
        "hartmann6": hartmann_problem,
        "levy20": levy_problem,
        "powell50": powell_problem,
        "rastrigin100": rastrigin_problem,
        "diabetes": diabetes_problem,
    }
)
"""Factories by name; each takes `dim` and `rng`, both optional."""

_FAMILIES: Mapping[str, Callable[..., Problem]] = MappingProxyType(
    {
        "eggholder": eggholder_problem,
        "hartmann": hartmann_problem,
        "hart": hartmann_problem,
        "levy": levy_problem,
        "powell": powell_problem,
        "rastrigin": rastrigin_problem,
    }
)


def get_problem(name: str, dim: int | None = None, rng: np.random.Generator | int | None = None) -> Problem:
    """Look up a test problem by name.

    Parameters
    ----------
    name : str
        A key of `PROBLEMS`, or the name of a family (eggholder, hartmann, levy, powell, rastrigin), alone or
        followed by a dimension ("levy7"). Case does not matter.
    dim : int, optional
        Dimension; takes precedence over one in the name. Default: that of the name, or of the family's entry
        in `PROBLEMS`.
    rng : numpy.random.Generator, int or None
        Randomness of a stochastic problem; the deterministic ones ignore it.

    Returns
    -------
    Problem
        The problem, to be minimised.

    Raises
    ------
    ValueError
        If the name is unknown, or the function does not exist in that dimension.

    Examples
    --------
    >>> from gssbo.problems import get_problem
    >>> problem = get_problem("Levy", dim=7)
    >>> problem.name, problem.dim, problem([1.0] * 7) < 1e-30
    ('levy7', 7, True)
    >>> get_problem("diabetes", rng=0).stochastic
    True
    """
    key = str(name).strip().lower()
    if key in PROBLEMS:
        return PROBLEMS[key](dim=dim, rng=rng)
    match = re.fullmatch(r"([a-z]+)(\d*)", key)
    if match is None or match[1] not in _FAMILIES:
        raise ValueError(
            f"name must be one of {', '.join(PROBLEMS)} or a family ({', '.join(_FAMILIES)}), got {name!r}"
        )
    if dim is None and match[2]:
        dim = int(match[2])
    return _FAMILIES[match[1]](dim=dim, rng=rng)

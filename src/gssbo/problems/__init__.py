"""Test problems: closed-form functions, a control task and a training task, all to be minimised over a box.

=================  =======================================  ========================  =====================
name               function                                 box                       dimensions
=================  =======================================  ========================  =====================
eggholder2         Eggholder                                [-512, 512]^2             2
hartmann6          Hartmann                                 [0, 1]^6                  6
levy20             Levy                                     [-10, 10]^d               any d >= 1
powell50           Powell's singular function               [-4, 5]^d                 any d >= 4
rastrigin100       Rastrigin                                [-5.12, 5.12]^d           any d >= 1
ackley20           Ackley                                   [-32.768, 32.768]^d       any d >= 1
griewank10         Griewank                                 [-600, 600]^d             any d >= 1
michalewicz10      Michalewicz                              [0, pi]^d                 any d >= 1
styblinskitang10   Styblinski-Tang                          [-5, 5]^d                 any d >= 1
branin2            Branin                                   [-5, 10] x [0, 15]        2
shekel4            Shekel with ten foxholes                 [0, 10]^4                 4
rosenbrock10       Rosenbrock                               [-5, 10]^d                any d >= 2
ellipsoid10        ellipsoid of condition 1e6               [-5, 5]^d                 any d >= 2
discus10           discus                                   [-5, 5]^d                 any d >= 2
bentcigar10        bent cigar                               [-5, 5]^d                 any d >= 2
sharpridge10       sharp ridge                              [-5, 5]^d                 any d >= 2
noisyhartmann6     Hartmann, noise of deviation 0.1         [0, 1]^6                  6, noisy
pendulums12        control of three coupled pendulums       gains of a feedback       12
diabetes           validation error of a small network      mixed units               4, noisy
=================  =======================================  ========================  =====================

Where the optimum holds beyond the box, ``-shifted`` and ``-rotated`` after the name move the function about, with a
seed other than 0 if a number follows: ``levy20-shifted``, ``ellipsoid10-shifted-rotated``, ``ackley5-shifted3``. See
:mod:`gssbo.problems.moved`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from gssbo.problems.diabetes import diabetes_problem
from gssbo.problems.family import Family
from gssbo.problems.functions import EGGHOLDER, HARTMANN, LEVY, POWELL, RASTRIGIN
from gssbo.problems.lowdim import BRANIN, SHEKEL
from gssbo.problems.moved import noisy, noisy_hartmann_problem, rotated, shifted
from gssbo.problems.multimodal import ACKLEY, GRIEWANK, MICHALEWICZ, STYBLINSKI_TANG
from gssbo.problems.pendulums import pendulums_problem
from gssbo.problems.problem import Normalizer, Problem
from gssbo.problems.valleys import BENT_CIGAR, DISCUS, ELLIPSOID, ROSENBROCK, SHARP_RIDGE

__all__ = ["PROBLEMS", "Normalizer", "Problem", "get_problem", "noisy", "rotated", "shifted"]

_FUNCTIONS: tuple[Family, ...] = (
    *(EGGHOLDER, HARTMANN, LEVY, POWELL, RASTRIGIN),
    *(ACKLEY, GRIEWANK, MICHALEWICZ, STYBLINSKI_TANG),
    *(BRANIN, SHEKEL),
    *(ROSENBROCK, ELLIPSOID, DISCUS, BENT_CIGAR, SHARP_RIDGE),
)

PROBLEMS: Mapping[str, Callable[..., Problem]] = MappingProxyType(
    {
        **{f"{family.name}{family.dim}": family for family in _FUNCTIONS},
        "noisyhartmann6": noisy_hartmann_problem,
        "pendulums12": pendulums_problem,
        "diabetes": diabetes_problem,
    }
)
"""Factories by name; each takes `dim` and `rng`, both optional."""

_FAMILIES: Mapping[str, Callable[..., Problem]] = MappingProxyType(
    {
        **{name.rstrip("0123456789"): factory for name, factory in PROBLEMS.items() if name != "diabetes"},
        "hart": HARTMANN,
    }
)

_MOVES: Mapping[str, Callable[[Problem, int], Problem]] = MappingProxyType({"shifted": shifted, "rotated": rotated})


def get_problem(name: str, dim: int | None = None, rng: np.random.Generator | int | None = None) -> Problem:
    """Look up a test problem by name.

    Parameters
    ----------
    name : str
        A key of `PROBLEMS`, or the name of a family (a key without its number, or "hart"), alone or followed by a
        dimension ("levy7"). Then, any number of times, ``-shifted`` or ``-rotated``, each alone or followed by a seed
        ("levy7-shifted", "discus5-shifted2-rotated2"). Case does not matter.
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
        If the name is unknown, the function does not exist in that dimension, or the problem cannot be moved.

    Examples
    --------
    >>> from gssbo.problems import get_problem
    >>> problem = get_problem("Levy", dim=7)
    >>> problem.name, problem.dim, problem([1.0] * 7) < 1e-30
    ('levy7', 7, True)
    >>> get_problem("diabetes", rng=0).stochastic
    True
    """
    key, *moves = str(name).strip().lower().split("-")
    steps = [re.fullmatch(rf"({'|'.join(_MOVES)})(\d*)", move) for move in moves]
    match = re.fullmatch(r"([a-z]+)(\d*)", key)
    if match is None or (key not in PROBLEMS and match[1] not in _FAMILIES) or None in steps:
        raise ValueError(
            f"name must be one of {', '.join(PROBLEMS)} or a family ({', '.join(_FAMILIES)}), "
            f"each also with -shifted or -rotated, got {name!r}"
        )
    if dim is None and match[2]:
        dim = int(match[2])
    factory = PROBLEMS[key] if key in PROBLEMS else _FAMILIES[match[1]]
    problem = factory(dim=dim, rng=rng)
    for step in filter(None, steps):
        problem = _MOVES[step[1]](problem, int(step[2] or 0))
    return problem

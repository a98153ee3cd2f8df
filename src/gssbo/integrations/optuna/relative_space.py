"""The space of one model: Optuna's distributions on one side, the optimizer's parameters on the other.

A value of a distribution goes by a *code* in the optimizer: reals and whole numbers by themselves, those of a stepped
real by how many steps they are above the lowest, choices by the place in the list where Optuna finds them. So choices
may be anything, equal to one another or not equal to themselves, and a value on the grid is the same float every time:
the one that Optuna's samplers round to, 0.1 + 1 * 0.2 = 0.30000000000000004, so that a study holds it once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gssbo._optional import import_optional
from gssbo.space import Categorical, Integer, Parameter, Real

__all__ = ["RelativeSpace"]

distributions: Any = import_optional("optuna.distributions", extra="optuna", purpose="gssbo.integrations.optuna")

ON_GRID = 1e-8  # of a step: what Optuna allows a value to stand beside it
PLAIN = (bool, int, float, str, type(None))  # types of choices that are equal where a dict takes them for equal
ROUNDINGS = 4.0  # of a value, which may be more than that on a grid far from 0, or a long one

Code = int | float


class RelativeSpace:
    """Distributions by name, their parameters, and the values of the one as codes of the other.

    Parameters
    ----------
    search_space : dict of str to optuna.distributions.BaseDistribution
        Distributions that hold a single value, and those that no parameter can stand for, are left out.

    Attributes
    ----------
    distributions : dict of str to BaseDistribution
        In the order of their names.
    parameters : dict of str to Parameter
        The bounds of an `Optimizer`.

    Examples
    --------
    >>> space = RelativeSpace({
    ...     "x": distributions.FloatDistribution(0.1, 0.7, step=0.2),
    ...     "c": distributions.CategoricalDistribution(["u", float("nan")]),
    ... })
    >>> space.codes({"x": 0.5, "c": "u"}), space.codes({"x": 0.4, "c": "u"})
    ({'c': 0, 'x': 2}, None)
    >>> space.values({"c": 1, "x": 3})
    {'c': nan, 'x': 0.7}
    """

    def __init__(self, search_space: Mapping[str, Any]) -> None:
        self.distributions: dict[str, Any] = {}
        self.parameters: dict[str, Parameter] = {}
        for name, distribution in sorted(search_space.items()):
            parameter = None if distribution.single() else _parameter(distribution)
            if parameter is not None:
                self.distributions[name] = distribution
                self.parameters[name] = parameter

    def __len__(self) -> int:
        return len(self.distributions)

    def codes(self, params: Mapping[str, Any]) -> dict[str, Code] | None:
        """Codes of values, or None where one is missing or not the distribution's; others are ignored."""
        codes = {}
        for name, distribution in self.distributions.items():
            code = _code(distribution, params[name]) if name in params else None
            if code is None:
                return None
            codes[name] = code
        return codes

    def values(self, codes: Mapping[str, Code]) -> dict[str, Any]:
        """Values, of built-in types, of codes."""
        return {name: _value(distribution, codes[name]) for name, distribution in self.distributions.items()}


def _parameter(distribution: Any) -> Parameter | None:
    try:
        if isinstance(distribution, distributions.FloatDistribution):
            if distribution.step is None:
                return Real(distribution.low, distribution.high, log=distribution.log)
            return Integer(0, round((distribution.high - distribution.low) / distribution.step))
        if isinstance(distribution, distributions.IntDistribution):
            return Integer(distribution.low, distribution.high, log=distribution.log, step=distribution.step)
        if isinstance(distribution, distributions.CategoricalDistribution):
            return Categorical(_numbers(distribution))
    except (ValueError, OverflowError):  # wider than a double, or more whole numbers than 64 bits hold
        pass
    return None


def _numbers(distribution: Any) -> tuple[int, ...]:
    """Ascending numbers of the choices, but for those that are equal to one before."""
    choices = distribution.choices
    if all(type(choice) in PLAIN and choice == choice for choice in choices):  # Optuna looks through all for each
        first: dict[Any, int] = {}
        for i, choice in enumerate(choices):
            first.setdefault(choice, i)
        return tuple(first.values())
    return tuple(sorted({int(distribution.to_internal_repr(choice)) for choice in choices}))


def _code(distribution: Any, value: Any) -> Code | None:
    try:
        internal = distribution.to_internal_repr(value)
    except ValueError:
        return None
    if isinstance(distribution, distributions.CategoricalDistribution):
        return int(internal)
    if not distribution.low <= internal <= distribution.high:
        return None
    if isinstance(distribution, distributions.IntDistribution):
        whole = int(value)
        return whole if whole == value and (whole - distribution.low) % distribution.step == 0 else None
    if distribution.step is None:
        return float(internal)
    steps = round((internal - distribution.low) / distribution.step)
    allowed = ON_GRID * distribution.step + ROUNDINGS * np.spacing(abs(internal))
    return steps if abs(internal - _value(distribution, steps)) <= allowed else None


def _value(distribution: Any, code: Code) -> Any:
    if isinstance(distribution, distributions.CategoricalDistribution):
        return distribution.choices[int(code)]
    if isinstance(distribution, distributions.IntDistribution) or distribution.step is None:
        return code
    value: float = code * distribution.step + distribution.low
    return min(value, distribution.high)

"""The candidates of a search: parameters of an estimator as scikit-learn's users write them.

Lists and arrays are values to choose from, as in `GridSearchCV`, and go by their place in the list, so they may hold
anything. Pairs are intervals, as in scikit-optimize's `BayesSearchCV`, of whole numbers where both ends are. SciPy's
distributions are those of `RandomizedSearchCV` that say no more than an interval and its scale.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral
from typing import Any

import numpy as np

from gssbo.space import Categorical, Integer, Parameter, Real, Space

__all__ = ["CandidateSpace"]

KINDS = (
    "a list of values, a pair (low, high), (low, high, 'log-uniform'), a range, a gssbo Real, Integer or Categorical, "
    "or a frozen uniform, loguniform or randint of scipy.stats"
)


class CandidateSpace:
    """Names of parameters, and what each may be.

    Parameters
    ----------
    given : dict of str to anything
        A list, array or range of values; a tuple (low, high), whole numbers for whole ones, or (low, high, "uniform" or
        "log-uniform"); a `Real`, `Integer` or `Categorical`; a frozen `uniform`, `loguniform` or `randint` of
        `scipy.stats`.

    Attributes
    ----------
    parameters : dict of str to Parameter
        The bounds of an `Optimizer`.

    Raises
    ------
    ValueError
        If it is no dict, is empty, or a parameter is none of these; the message names it.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> space = CandidateSpace({"C": loguniform(1e-3, 1e3), "degree": (2, 5), "penalty": ["l2", None]})
    >>> space.parameters["C"], space.parameters["degree"]
    (Real(low=0.001, high=1000.0, log=True, step=None), Integer(low=2, high=5, log=False, step=1))
    >>> space.values({"C": 1.0, "degree": 3, "penalty": 1})
    {'C': 1.0, 'degree': 3, 'penalty': None}
    """

    def __init__(self, given: Any) -> None:
        if not isinstance(given, Mapping) or not given:
            raise ValueError(f"param_distributions must be a dict of at least one parameter, got {given!r}")
        self.parameters: dict[str, Parameter] = {}
        self._choices: dict[str, list[Any]] = {}
        for name, item in given.items():
            try:
                if isinstance(item, list | np.ndarray):
                    # Elements of an array as they are: its tolist() would turn arrays inside into lists.
                    self._choices[name] = [each.item() if isinstance(each, np.generic) else each for each in item]
                    self.parameters[name] = Categorical(tuple(range(len(item))))
                else:
                    self.parameters[name] = _parameter(name, item)
            except ValueError as error:
                raise ValueError(f"param_distributions[{name!r}] must be {KINDS}, got {item!r}: {error}") from error

    def values(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters to set for a point of the optimizer."""
        return {name: self._choices[name][value] if name in self._choices else value for name, value in point.items()}


def _parameter(name: str, item: Any) -> Parameter:
    if hasattr(item, "dist") and hasattr(item, "support"):
        return _from_scipy(item)
    if isinstance(item, tuple) and len(item) == 2 and all(isinstance(end, Integral) for end in item):
        return Integer(*item)
    if isinstance(item, tuple | range | Parameter):
        return Space({name: item}).parameters[0]
    raise ValueError("it is none of these")


def _from_scipy(frozen: Any) -> Parameter:
    low, high = (float(end) for end in frozen.support())
    kind = frozen.dist.name
    if kind == "uniform":
        return Real(low, high)
    if kind == "randint":
        return Integer(int(low), int(high))
    if kind in ("loguniform", "reciprocal") and low > 0.0 and math.isclose(frozen.median(), math.sqrt(low * high)):
        return Real(low, high, log=True)
    raise ValueError(f"the distribution {kind!r} is no interval with a linear or logarithmic scale")

"""The candidates of a search: parameters of an estimator as scikit-learn's users write them.

Lists, arrays and tuples of three numbers or more are values to choose from, as in `GridSearchCV`. Texts, booleans and
None are categories under their own names, which pictures show. Numbers have an order, and are searched by their rank,
so that a model knows which are neighbours; anything else goes by its place in the list. Pairs are
intervals, as in scikit-optimize's `BayesSearchCV`, of whole numbers where both ends are. SciPy's distributions that say
no more than an interval and its scale are that interval; the other continuous ones are searched in their quantiles, so
that each part of the range counts as much as the distribution gives it. Discrete ones have steps there, where a search
would take the same value again and again, and are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from numbers import Integral, Number
from typing import Any

import numpy as np

from gssbo._text import brief
from gssbo._validation import check_unmasked
from gssbo.space import Categorical, Integer, Parameter, Real, Space
from gssbo.space.forms import PRIORS

__all__ = ["CandidateSpace"]

KINDS = (
    "a list of values, a pair (low, high), (low, high, 'log-uniform'), a range, bool, a gssbo Real, Integer or "
    "Categorical, or a frozen continuous distribution or randint of scipy.stats"
)
TAIL = 0.001  # of a distribution, left out at either end: there the quantiles of many are infinite


class CandidateSpace:
    """Names of parameters, and what each may be.

    Parameters
    ----------
    given : dict of str to anything
        A list, array or range of values, or a tuple of three numbers or more; a tuple (low, high), or (low, high,
        "uniform" or "log-uniform"), of whole numbers where both ends are; a `Real`, `Integer` or `Categorical`; a
        frozen `uniform`, `loguniform` or `randint` of `scipy.stats`, or another continuous distribution of it, searched
        from its 0.1 % to its 99.9 % quantile.
    called : str
        What messages call it.

    Attributes
    ----------
    parameters : dict of str to Parameter
        The bounds of an `Optimizer`.

    Raises
    ------
    ValueError
        If it is no dict, is empty, has a name that is no text, or a parameter is none of these; the message names it.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> space = CandidateSpace({"C": loguniform(1e-3, 1e3), "degree": (2, 5), "penalty": ["l2", None]})
    >>> space.parameters["C"], space.parameters["degree"]
    (Real(low=0.001, high=1000.0, log=True, step=None), Integer(low=2, high=5, log=False, step=1))
    >>> space.values({"C": 1.0, "degree": 3, "penalty": None})
    {'C': 1.0, 'degree': 3, 'penalty': None}
    """

    def __init__(self, given: Any, called: str = "param_distributions") -> None:
        if not isinstance(given, Mapping) or not given:
            raise ValueError(f"{called} must be a dict of at least one parameter, got {brief(given)}")
        self.parameters: dict[str, Parameter] = {}
        self._values: dict[str, Callable[[Any], Any]] = {}
        for name, item in given.items():
            if not isinstance(name, str):
                raise ValueError(f"{called} must have text as names, got {brief(name)}")
            check_unmasked(f"{called}[{name!r}]", item)
            try:
                if isinstance(item, np.ndarray) or (isinstance(item, list) and not _is_range(item)) or _is_values(item):
                    # Elements of an array as they are: its tolist() would turn arrays inside into lists.
                    choices = [each.item() if isinstance(each, np.generic) else each for each in item]
                    if all(each is None or isinstance(each, str | bool) for each in choices) and _differ(choices):
                        self.parameters[name] = Categorical(tuple(choices))
                    elif len(choices) > 2 and all(map(_is_number, choices)) and _differ(choices):
                        self.parameters[name] = Integer(0, len(choices) - 1)
                        self._values[name] = sorted(choices).__getitem__
                    else:
                        self.parameters[name] = Categorical(tuple(range(len(item))))
                        self._values[name] = choices.__getitem__
                elif (interval := _parameter(name, item)) is not None:
                    self.parameters[name] = interval
                else:
                    self.parameters[name] = Real(TAIL, 1.0 - TAIL)
                    self._values[name] = _Quantile(item)
            except ValueError as error:
                raise ValueError(f"{called}[{name!r}] must be {KINDS}, got {brief(item)}: {error}") from error

    def values(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters to set for a point of the optimizer."""
        return {name: self._values[name](value) if name in self._values else value for name, value in point.items()}


def _differ(choices: list[Any]) -> bool:
    return len(set(choices)) == len(choices) > 0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


class _Quantile:
    """The value of a frozen continuous distribution below which a share of it lies."""

    def __init__(self, frozen: Any) -> None:
        if not hasattr(frozen.dist, "pdf"):
            raise ValueError(f"the distribution {frozen.dist.name!r} is discrete: give its values, or (low, high)")
        ends = [frozen.ppf(TAIL), frozen.ppf(1.0 - TAIL)]
        if np.shape(ends) != (2,) or not np.isfinite(ends).all() or not ends[0] < ends[1]:
            raise ValueError(f"the distribution {frozen.dist.name!r} is none of one number, with parameters in range")
        self._frozen = frozen

    def __call__(self, share: float) -> float:
        return float(self._frozen.ppf(share))


def _parameter(name: str, item: Any) -> Parameter | None:
    """A parameter whose values are those of the item, or None for a distribution that is no interval and its scale."""
    if hasattr(item, "dist") and hasattr(item, "support"):
        return _interval(item)
    if isinstance(item, tuple | list) and all(map(_is_whole, item[:2])):
        if len(item) == 2:
            return Integer(*item)
        if _is_range(item):
            return Integer(*item[:2], log=PRIORS[item[2]])
    if isinstance(item, tuple | list | range | Parameter) or item is bool:
        return Space({name: item}).parameters[0]
    raise ValueError("it is none of these")


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_values(item: Any) -> bool:
    """Whether an item is a tuple of numbers that is no pair."""
    return isinstance(item, tuple) and len(item) != 2 and all(isinstance(each, Number) for each in item)


def _is_range(item: Any) -> bool:
    """Whether an item is (low, high, "log-uniform") or the like, which nobody means as three choices."""
    return (
        len(item) == 3
        and all(isinstance(end, Number) and not isinstance(end, bool) for end in item[:2])
        and isinstance(item[2], str)
        and item[2] in PRIORS
    )


def _interval(frozen: Any) -> Parameter | None:
    kind = frozen.dist.name
    if kind not in ("uniform", "randint", "loguniform", "reciprocal") or np.shape(frozen.support()) != (2,):
        return None
    if kind == "randint":
        return Integer(*_whole_ends(frozen))
    low, high = (float(end) for end in frozen.support())
    if kind == "uniform":
        return Real(low, high)
    if low > 0.0 and math.isclose(frozen.median(), math.sqrt(low * high)):
        return Real(low, high, log=True)
    return None


def _whole_ends(frozen: Any) -> tuple[int, int]:
    """The ends of a `randint`, from its arguments: its support is in doubles, which leave whole numbers out."""

    def ends(low: Any, high: Any, loc: Any = 0) -> tuple[Any, Any, Any]:
        return low, high, loc

    given = ends(*frozen.args, **frozen.kwds)
    if any(end % 1 != 0 for end in given):
        raise ValueError(f"the distribution 'randint' must have whole numbers as low, high and loc, got {given}")
    low, high, loc = map(int, given)
    return low + loc, high - 1 + loc

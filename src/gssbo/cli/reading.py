"""Values of parameters from text: arguments of `gssbo tell`, cells of a table."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gssbo.cli.text import labels, written
from gssbo.space import Space
from gssbo.space.parameter import Misfit, Parameter

__all__ = ["read_points", "read_values"]


def read_points(
    space: Space, columns: Sequence[Sequence[str]], where: Callable[[int], str] = lambda _: ""
) -> list[Any]:
    """Return points of a space as it shows them, from a column of texts for each parameter.

    Raises
    ------
    ValueError
        If a text is no value of its parameter; the message begins with what `where` says of its position.

    Examples
    --------
    >>> read_points(Space({"n": range(1, 9), "act": ["relu", "gelu"]}), [["3", "8"], ["gelu", "relu"]])
    [{'n': 3, 'act': 'gelu'}, {'n': 8, 'act': 'relu'}]
    """
    values = [
        read_values(name, texts, kind, where)
        for name, texts, kind in zip(labels(space), columns, space.kinds, strict=True)
    ]
    points = zip(*values, strict=True)
    if space.names is not None:
        return [dict(zip(space.names, point, strict=True)) for point in points]
    return [np.array(point, dtype=float) if space.is_array else list(point) for point in points]


def read_values(
    name: str, texts: Sequence[str], parameter: Parameter, where: Callable[[int], str] = lambda _: ""
) -> list[Any]:
    """Return values of a parameter: as `gssbo best` prints them, as JSON, numbers as Python reads them, or as text.

    Raises
    ------
    ValueError
        If a text is none, or more than one; the message begins with what `where` says of its position.

    Examples
    --------
    >>> from gssbo import Categorical, Real
    >>> read_values("lr", ["1e-3", ".5"], Real(0, 1)), read_values("c", ["[8, 16]", "a"], Categorical([(8, 16), "a"]))
    ([0.001, 0.5], [(8, 16), 'a'])
    """
    values = getattr(parameter, "values", ())
    known = {form(value): value for form in (str, written) for value in reversed(values)}  # the last ones stay
    found = [known[text] if text in known else _read(text) for text in texts]
    alike = {text for text, count in Counter(map(written, values)).items() if count > 1}
    for i, text in enumerate(texts if alike else ()):
        if text in alike:
            meant = " and ".join(json.dumps(value) for value in values if written(value) == text)
            raise ValueError(f"{where(i)}{name} must say which value it is, got {text!r}, which stands for {meant}")
    try:
        parameter.store(found)
    except Misfit as misfit:
        limits = f"values are {', '.join(map(json.dumps, values))}" if values else parameter.limits
        raise ValueError(
            f"{where(misfit.where)}{name} must {misfit.rule}, got {texts[misfit.where]!r}; its {limits}"
        ) from None
    return found


def _read(text: str) -> Any:
    if text in ("TRUE", "FALSE"):  # as spreadsheets write them
        return text == "TRUE"
    for read in (json.loads, int, float):  # JSON has no .5, +3 and 1.
        try:
            return _frozen(read(text))
        except ValueError:
            continue
    return text


def _frozen(value: Any) -> Any:
    """A list as a category is one."""
    return tuple(map(_frozen, value)) if isinstance(value, list) else value

"""Values of parameters from text: arguments of `gssbo tell`, cells of a table."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gssbo._text import listed
from gssbo.cli.text import labels, named, written
from gssbo.space import Space
from gssbo.space.parameter import Misfit, Parameter

__all__ = ["read_points", "read_values"]


def read_points(
    space: Space,
    columns: Sequence[Sequence[str]],
    where: Callable[[int], str] = lambda _: "",
    *,
    asked: Sequence[Any] | None = None,
) -> list[Any]:
    """Return points of a space as it shows them, from a column of texts for each parameter.

    Of a text that stands for two values of a category the one is taken that the point has which was `asked` for, where
    there is one: they are points of the space or None.

    Raises
    ------
    ValueError
        If a text is no value of its parameter; the message begins with what `where` says of its position.

    Examples
    --------
    >>> read_points(Space({"n": range(1, 9), "act": ["relu", "gelu"]}), [["3", "8"], ["gelu", "relu"]])
    [{'n': 3, 'act': 'gelu'}, {'n': 8, 'act': 'relu'}]
    """
    known = [{} if point is None else dict(named(space, point)) for point in asked or ()]
    values = [
        read_values(name, texts, kind, where, asked={i: point[name] for i, point in enumerate(known) if point})
        for name, texts, kind in zip(labels(space), columns, space.kinds, strict=True)
    ]
    points = zip(*values, strict=True)
    if space.names is not None:
        return [dict(zip(space.names, point, strict=True)) for point in points]
    return [np.array(point, dtype=float) if space.is_array else list(point) for point in points]


def read_values(
    name: str,
    texts: Sequence[str],
    parameter: Parameter,
    where: Callable[[int], str] = lambda _: "",
    *,
    asked: Mapping[int, Any] | None = None,
) -> list[Any]:
    """Return values of a parameter: as `gssbo best` prints them, as JSON, numbers as Python reads them, or as text.

    Raises
    ------
    ValueError
        If a text is none, or more than one and not that `asked` for, by position; the message begins with what `where`
        says of its position.

    Examples
    --------
    >>> from gssbo import Categorical, Real
    >>> read_values("lr", ["1e-3", ".5"], Real(0, 1)), read_values("c", ["[8, 16]", "a"], Categorical([(8, 16), "a"]))
    ([0.001, 0.5], [(8, 16), 'a'])
    >>> read_values("c", ["1", "1"], Categorical([1, "1"]), asked={0: "1", 1: 1})
    ['1', 1]
    """
    values = getattr(parameter, "values", ())
    meanings = _Meanings(values)
    found = []
    for i, text in enumerate(texts):
        meant = meanings.of(text)
        if len(meant) > 1 and asked is not None and i in asked:
            meant = [value for value in meant if value == asked[i]] or meant
        if len(meant) > 1:
            several = " and ".join(map(json.dumps, meant))
            raise ValueError(f"{where(i)}{name} must say which value it is, got {text!r}, which stands for {several}")
        found.append(meant[0] if meant else _read(text))
    try:
        parameter.store(found)
    except Misfit as misfit:
        limits = f"values are {listed(values, json.dumps)}" if values else parameter.limits
        raise ValueError(
            f"{where(misfit.where)}{name} must {misfit.rule}, got {texts[misfit.where]!r}; its {limits}"
        ) from None
    return found


class _Meanings:
    """What texts may stand for, among the values of a category."""

    def __init__(self, values: Sequence[Any]) -> None:
        self._values = values
        self._forms = [_by_form(values, form) for form in (written, str)]
        self.of = functools.cache(self._of)

    def _of(self, text: str) -> list[Any]:
        """The values that are written so; else those that Python prints so; else those that are read as it is."""
        for by_form in self._forms:
            if text in by_form:
                return by_form[text]
        if not self._values:  # of a number
            return []
        reading = _read(text)
        return [value for value, other in self._readings if _alike(other, reading)]

    @functools.cached_property
    def _readings(self) -> list[tuple[Any, Any]]:
        return [(value, _read(written(value))) for value in self._values]


def _by_form(values: Sequence[Any], form: Callable[[Any], str]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for value in values:
        found.setdefault(form(value), []).append(value)
    return found


def _alike(one: Any, other: Any) -> bool:
    """Whether they are equal; True and 1 are not."""
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


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

"""Objects of this package as JSON has them, and back: what an optimizer has learnt, for a journal to keep.

An object stands as its class and its attributes, an array as its bytes, and what is met again as a number, so that
what was shared stays shared. Reading makes nothing but arrays, generators and instances of those classes of this
package that strategies are made of; it runs no code from the file, and calls no class but named tuples. What has a
`__setstate__` of its own is given its state, which it checks.
"""

from __future__ import annotations

import base64
import importlib
import math
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from gssbo.journal.generators import check_seed, check_states, make_generator, state_of

__all__ = ["decode", "encode"]

PACKAGE = __name__.partition(".")[0]

# Where the classes are that strategies are made of. None of them opens, locks or starts anything.
PARTS = frozenset({
    "acquisition", "baselines", "box_strategy", "buffer", "embedding", "factor", "features", "gp", "history", "kernels",
    "map_gp", "observations", "pooled", "portfolio", "precision", "projected", "responses", "retention", "selection",
    "space", "timings",
})  # fmt: skip


def encode(root: Any, known: Sequence[Any] = ()) -> Any:
    """Return an object in JSON's terms.

    Parameters
    ----------
    root : object
    known : sequence of object
        Objects that are not written, as who reads has them already: they stand as their index.

    Raises
    ------
    TypeError
        If it holds anything but plain values, arrays, generators, and instances of classes that strategies are made of.

    Examples
    --------
    >>> shared = np.arange(3.0)
    >>> again = decode(encode({"a": shared, "b": (shared, float("inf"))}))
    >>> again["b"], again["a"] is again["b"][0]
    ((array([0., 1., 2.]), inf), True)
    """
    return _Writer(known).write(root)


def decode(written: Any, known: Sequence[Any] = ()) -> Any:
    """Return what `encode` was given.

    Raises
    ------
    ValueError, KeyError, TypeError, AttributeError, ImportError
        If it was not made by `encode`, or names a class that is not there.
    """
    return _Reader(known).read(written)


class _Writer:
    def __init__(self, known: Sequence[Any]) -> None:
        self._known = {id(each): i for i, each in enumerate(known)}
        self._numbers: dict[int, int] = {}
        self._held: list[Any] = []  # lest another object gets the identity of one that is gone

    def write(self, value: Any) -> Any:
        if value is None or isinstance(value, bool | str) or type(value) is int:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if id(value) in self._known:
            return {"known": self._known[id(value)]}
        if id(value) in self._numbers:
            return {"again": self._numbers[id(value)]}
        self._numbers[id(value)] = len(self._numbers)
        self._held.append(value)
        return self._written(value)

    def _written(self, value: Any) -> dict[str, Any]:
        match value:
            case np.ndarray():
                order: Literal["C", "F"] = (
                    "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
                )  # sums go by it
                data = base64.b64encode(value.tobytes(order)).decode()
                return {"array": data, "dtype": _described(value.dtype), "shape": list(value.shape), "order": order}
            case np.generic():
                return {"scalar": base64.b64encode(value.tobytes()).decode(), "dtype": _described(value.dtype)}
            case np.random.Generator():
                return {"generator": state_of(value)}
            case np.dtype():
                return {"type": _described(value)}
            case slice():
                return {"slice": [value.start, value.stop, value.step]}
            case bytes():
                return {"bytes": base64.b64encode(value).decode()}
        kind = type(value)
        if kind in (list, tuple, deque, set):
            return {kind.__name__: [self.write(each) for each in value]}
        if kind is dict:
            return {"dict": [[self.write(key), self.write(each)] for key, each in value.items()]}
        if not _is_part(kind.__module__) or isinstance(value, type):
            raise TypeError(f"a journal cannot keep a {kind.__module__}.{kind.__qualname__}")
        name = f"{kind.__module__}:{kind.__qualname__}"
        if isinstance(value, tuple):  # a named one
            return {"named": name, "fields": [self.write(each) for each in value]}
        state = value.__getstate__()
        if not isinstance(state, dict):
            raise TypeError(f"a journal cannot keep a {name}, whose state is no dictionary")
        return {"object": name, "state": self.write(state)}


class _Reader:
    def __init__(self, known: Sequence[Any]) -> None:
        self._known = known
        self._made: list[Any] = []

    def read(self, written: Any) -> Any:
        if not isinstance(written, dict):
            return written
        kind = next(iter(written))
        if kind == "float":
            return float(written["float"])
        if kind == "known":
            return self._known[written["known"]]
        if kind == "again":
            return self._made[written["again"]]
        number = len(self._made)
        self._made.append(None)
        self._made[number] = made = self._read(kind, written, number)
        return made

    def _read(self, kind: str, written: Mapping[str, Any], number: int) -> Any:
        content = written[kind]
        match kind:
            case "array":
                flat = np.frombuffer(base64.b64decode(content), dtype=_dtype(written["dtype"]))
                return flat.reshape(written["shape"], order=written["order"]).copy(order="K")
            case "scalar":
                return np.frombuffer(base64.b64decode(content), dtype=_dtype(written["dtype"]))[0]
            case "generator":
                seed = {name: each for name, each in content.items() if name not in ("n_spawned", "state")}
                check_seed(seed)
                check_states([content["state"]], [seed])  # NumPy itself does not look where a state points
                return make_generator(content)
            case "type":
                return _dtype(content)
            case "slice":
                return slice(*content)
            case "bytes":
                return base64.b64decode(content)
            case "list" | "deque" | "set" | "tuple":
                items = [self.read(each) for each in content]
                return {"list": list, "deque": deque, "set": set, "tuple": tuple}[kind](items)
            case "dict":
                return {self.read(key): self.read(each) for key, each in content}
            case "named":
                found = _class(content)
                if not (issubclass(found, tuple) and hasattr(found, "_fields")):  # calling others may do anything
                    raise ValueError(f"named tuples alone are made by calling their class, got {content!r}")
                return found(*[self.read(each) for each in written["fields"]])
            case "object":
                found = _class(content)
                self._made[number] = made = found.__new__(found)  # before what is in it, which may name it
                state = self.read(written["state"])
                if hasattr(found, "__setstate__"):
                    made.__setstate__(state)
                else:
                    vars(made).update(state)
                return made
        raise ValueError(f"no object is written as {kind!r}")


def _class(name: str) -> Any:
    module, _, path = name.partition(":")
    if not _is_part(module):
        raise ValueError(f"classes must be of those that strategies of {PACKAGE} are made of, got {name!r}")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    if not isinstance(found, type) or found.__module__ != module:
        raise ValueError(f"classes must be of {PACKAGE}, got {name!r}")
    return found


def _is_part(module: str) -> bool:
    package, _, rest = module.partition(".")
    return package == PACKAGE and rest.partition(".")[0] in PARTS


def _described(dtype: np.dtype[Any]) -> Any:
    if dtype.hasobject:
        raise TypeError("a journal cannot keep arrays of objects")
    return [[name, kind.str] for name, kind in _fields(dtype)] if dtype.names else dtype.str


def _fields(dtype: np.dtype[Any]) -> list[tuple[str, np.dtype[Any]]]:
    assert dtype.names is not None
    found = [(name, dtype[name]) for name in dtype.names]
    if np.dtype([(name, kind.str) for name, kind in found]) != dtype:
        raise TypeError(f"a journal cannot keep rows of {dtype}")
    return found


def _dtype(described: Any) -> np.dtype[Any]:
    if isinstance(described, str):
        return np.dtype(described)
    return np.dtype([(name, kind) for name, kind in described])

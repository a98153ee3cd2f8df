"""Generators of random numbers in JSON's terms: what they were made of, and where they are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

__all__ = ["make_generator", "plain_state", "seed_of", "set_state", "state_of"]


def seed_of(generator: np.random.Generator) -> dict[str, Any]:
    """Return what a generator was made of."""
    sequence: Any = generator.bit_generator.seed_seq
    entropy = sequence.entropy
    return {
        "bit_generator": type(generator.bit_generator).__name__,
        "entropy": entropy if isinstance(entropy, int) else [int(each) for each in entropy],
        "spawn_key": [int(each) for each in sequence.spawn_key],
        "pool_size": sequence.pool_size,
    }


def plain_state(generator: np.random.Generator) -> dict[str, Any]:
    """Return the state of its stream, which can be set anew."""
    found: dict[str, Any] = _plain(generator.bit_generator.state)
    return found


def state_of(generator: np.random.Generator) -> dict[str, Any]:
    """Return what a generator was made of and where it is: in its stream, and with how many children spawned.

    Examples
    --------
    >>> ours = np.random.default_rng(3)
    >>> _ = ours.random(5), ours.spawn(2)
    >>> other = make_generator(state_of(ours))
    >>> ours.random() == other.random(), ours.spawn(1)[0].random() == other.spawn(1)[0].random()
    (True, True)
    """
    sequence: Any = generator.bit_generator.seed_seq
    return seed_of(generator) | {"n_spawned": sequence.n_children_spawned, "state": plain_state(generator)}


def make_generator(written: Mapping[str, Any]) -> np.random.Generator:
    """Make a generator of what `seed_of` or `state_of` returned.

    Raises
    ------
    ValueError, KeyError, TypeError, AttributeError
        If there is no such generator.
    """
    kind = getattr(np.random, written["bit_generator"])
    if not (isinstance(kind, type) and issubclass(kind, np.random.BitGenerator)):
        raise ValueError(f"no source of random bits is called {written['bit_generator']!r}")
    sequence = np.random.SeedSequence(
        written["entropy"],
        spawn_key=tuple(written["spawn_key"]),
        pool_size=written["pool_size"],
        n_children_spawned=written.get("n_spawned", 0),
    )
    generator = np.random.Generator(kind(sequence))
    if "state" in written:
        generator.bit_generator.state = written["state"]
    return generator


def set_state(generator: np.random.Generator, written: Mapping[str, Any]) -> None:
    """Bring a generator that was made of the same, in place, to where another was.

    Raises
    ------
    ValueError
        If it has spawned more children than that one.
    """
    sequence: Any = generator.bit_generator.seed_seq
    missing = written["n_spawned"] - sequence.n_children_spawned
    if missing < 0:
        raise ValueError(f"the generator has {-missing} children too many")
    if missing:
        sequence.spawn(missing)
    generator.bit_generator.state = written["state"]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value

"""Generators of random numbers in JSON's terms: what they were made of, and where they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gssbo.journal.plain import shown

__all__ = ["check_seed", "check_states", "make_generator", "plain_state", "seed_of", "set_all", "state_of"]

SOURCES = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")
MOST_CHILDREN = 1_000_000  # to be spawned at once; more are no run's
LARGEST_POOL = 1_024  # of NumPy's hash of a seed, whose time grows with its square; 4 by default
LARGEST = {"pos": 624, "buffer_pos": 4, "has_uint32": 1}  # places in tables, which NumPy does not check


def seed_of(generator: np.random.Generator) -> dict[str, Any]:
    """Return what a generator was made of."""
    sequence: Any = generator.bit_generator.seed_seq
    entropy = sequence.entropy
    return {
        "bit_generator": type(generator.bit_generator).__name__,
        "entropy": int(entropy) if isinstance(entropy, int | np.integer) else _flat(entropy),
        "spawn_key": [int(each) for each in sequence.spawn_key],
        "pool_size": sequence.pool_size,
    }


def _flat(entropy: Any) -> list[int]:
    """The whole numbers of a seed: NumPy takes one after the other, however they are nested."""
    if isinstance(entropy, int | np.integer | str):
        return [int(entropy)]
    return [number for each in entropy for number in _flat(each)]


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


def check_seed(written: Any) -> None:
    """Raise a ValueError unless this is what `seed_of` returns."""
    if not isinstance(written, dict) or written.keys() != {"bit_generator", "entropy", "spawn_key", "pool_size"}:
        raise ValueError("a generator has a bit_generator, an entropy, a spawn_key and a pool_size")
    if written["bit_generator"] not in SOURCES:
        raise ValueError(f"bit_generator must be one of {', '.join(SOURCES)}, got {shown(written['bit_generator'])}")
    entropy, key, size = written["entropy"], written["spawn_key"], written["pool_size"]
    if not all(type(each) is int and each >= 0 for each in (entropy if isinstance(entropy, list) else [entropy])):
        raise ValueError(f"entropy must be whole numbers from 0, got {shown(entropy)}")
    if not isinstance(key, list) or not all(type(each) is int and 0 <= each < 2**32 for each in key):
        raise ValueError(f"spawn_key must be a list of whole numbers of 32 bits, got {shown(key)}")
    if type(size) is not int or not 4 <= size <= LARGEST_POOL:
        raise ValueError(f"pool_size must be a whole number from 4 to {LARGEST_POOL}, got {shown(size)}")


def check_states(states: Any, seeds: Sequence[Mapping[str, Any]]) -> None:
    """Raise a ValueError unless these are states, by `plain_state`, of generators made of these seeds.

    Examples
    --------
    >>> ours = np.random.default_rng(3)
    >>> check_states([plain_state(ours)], [seed_of(ours)])
    >>> check_states([], [seed_of(ours)])
    Traceback (most recent call last):
    ValueError: state must hold one state a generator (1), got []
    """
    if not isinstance(states, list) or len(states) != len(seeds):
        raise ValueError(f"state must hold one state a generator ({len(seeds)}), got {shown(states)}")
    for state, seed in zip(states, seeds, strict=True):
        generator = np.random.Generator(getattr(np.random, seed["bit_generator"])(0))
        try:
            generator.bit_generator.state = state
            places = {**state, **state["state"]}
            stands = plain_state(generator) == state and all(
                0 <= places.get(name, 0) <= last for name, last in LARGEST.items()
            )
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError):
            stands = False
        if not stands:
            raise ValueError(f"state must hold states of {seed['bit_generator']}, got {shown(state)}")


def set_all(generators: Sequence[np.random.Generator], written: Sequence[Any]) -> None:
    """Bring generators, in place, to where others that were made of the same were: all of them, or none.

    Raises
    ------
    ValueError, KeyError, TypeError
        If these are not what `state_of` returned for those, or one has spawned more children than its other; nothing is
        changed then, as children cannot be taken back.

    Examples
    --------
    >>> ours, other = np.random.default_rng(3), np.random.default_rng(3)
    >>> _ = ours.random(5), ours.spawn(2)
    >>> set_all([other], [state_of(ours)])
    >>> ours.random() == other.random(), ours.spawn(1)[0].random() == other.spawn(1)[0].random()
    (True, True)
    """
    seeds = [seed_of(generator) for generator in generators]
    check_states([each["state"] for each in written], seeds)
    sequences: list[Any] = [generator.bit_generator.seed_seq for generator in generators]
    missing = []
    for sequence, seed, each in zip(sequences, seeds, written, strict=True):
        if {name: each[name] for name in seed} != seed:
            raise ValueError(f"a generator must be made of {shown(seed)}, got {shown(each)}")
        count = each["n_spawned"]
        if type(count) is not int or not 0 <= count - sequence.n_children_spawned <= MOST_CHILDREN:
            raise ValueError(
                f"n_spawned must be from {sequence.n_children_spawned} to {MOST_CHILDREN} more, got {shown(count)}"
            )
        missing.append(count - sequence.n_children_spawned)
    for generator, sequence, count, each in zip(generators, sequences, missing, written, strict=True):
        if count:
            sequence.spawn(count)
        generator.bit_generator.state = each["state"]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value

"""What an optimizer has to bring to its journal: a header to know the run by, and generators to begin with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np

from gssbo._typing import RngLike
from gssbo.entry import Entry
from gssbo.exceptions import JournalError, OtherOption
from gssbo.journal import Journal
from gssbo.journal.generators import make_generator, plain_state, seed_of
from gssbo.journal.header import describe_run
from gssbo.journal.plain import RowCodec, plain_number
from gssbo.space import Space

__all__ = ["open_journal", "plain_options", "set_states", "states_of"]


def plain_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as a journal's header has them: what is no plain value stands as the name of its type."""
    return {name: _plain(value) for name, value in options.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return plain_number(value)
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, np.generic):
        item = value.item()
        return plain_number(item) if isinstance(item, float) else item
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    kind = value if isinstance(value, type) or callable(value) else type(value)
    return getattr(kind, "__qualname__", type(kind).__qualname__)


def open_journal(
    journal: Any, space: Space, options: Mapping[str, Any], rng: RngLike, generators: list[np.random.Generator]
) -> tuple[Journal | None, list[np.random.Generator], list[Entry]]:
    """Open a journal for a run; return it, the generators it began with, and what there is to repeat.

    Parameters
    ----------
    journal : None, path or Journal
    space : Space
    options : mapping
        Arguments of the optimizer that must be the same when the run is taken up.
    rng
        As the user gave it: None goes on with the journal's.
    generators : list of numpy.random.Generator
        Made of it, nothing drawn yet.

    Raises
    ------
    JournalError
        If the journal cannot be used, or is of another run; it is closed then.
    """
    if journal is None:
        return None, generators, []
    opened = journal if isinstance(journal, Journal) else Journal(journal)
    seeds = [seed_of(generator) for generator in generators]
    ours = describe_run(space, plain_options(options), seeds, version("gssbo"))
    header, entries = opened.open(RowCodec(space), ours)
    try:
        if rng is not None and header["rng"] != seeds:
            message = (
                f"{opened.path} was begun with another rng, got {rng!r}; without one, the run goes on with its own"
            )
            raise OtherOption(message, "rng", None)
        try:
            return opened, [make_generator(seed) for seed in header["rng"]], entries
        except (AttributeError, ValueError, KeyError, TypeError) as error:
            message = f"{opened.path} was begun with generators that cannot be made here ({error})"
            raise JournalError(message) from error
    except BaseException:
        opened.close()
        raise


def states_of(generators: Sequence[np.random.Generator]) -> list[dict[str, Any]]:
    """States of generators in JSON's terms."""
    return [plain_state(generator) for generator in generators]


def set_states(generators: Sequence[np.random.Generator], states: Sequence[Mapping[str, Any]]) -> None:
    """Put generators, in place, into states of theirs, or those of `states_of`."""
    for generator, state in zip(generators, states, strict=True):
        generator.bit_generator.state = state

"""Options of an `Optimizer` that come through another package's interface."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gssbo._keywords import hint, keywords_of
from gssbo.optimizer import Optimizer

__all__ = ["check_options"]


def check_options(options: Iterable[str], refused: Mapping[str, str], *, name: str, refusal: str) -> None:
    """Raise a ValueError at the first option that is not the user's to give, or that an `Optimizer` does not take.

    Parameters
    ----------
    options : iterable of str
    refused : dict
        Why, of those that are not the user's to give.
    name : str
        What messages call the options.
    refusal : str
        How a message about one of those begins, with {} in its place.

    Examples
    --------
    >>> check_options(["rng"], {"rng": "it is called seed"}, name="options", refusal="{} must not be given")
    Traceback (most recent call last):
    ValueError: rng must not be given: it is called seed
    """
    known = tuple(each for each in keywords_of(Optimizer.__init__) if each not in refused)
    for option in options:
        if option in refused:
            raise ValueError(f"{refusal.format(option)}: {refused[option]}")
        if option not in known:
            raise ValueError(f"{name} must be among {', '.join(known)}, got {option!r}{hint(str(option), known)}")

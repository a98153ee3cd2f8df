"""scikit-learn's `random_state` as a generator of our own."""

from __future__ import annotations

from typing import Any

import numpy as np

from gssbo._validation import as_generator

__all__ = ["generator"]


def generator(random_state: Any) -> np.random.Generator:
    """A generator for None, an int, a RandomState (which moves on by one draw), or a Generator.

    None takes fresh numbers from the machine, not NumPy's global generator, which is left alone.

    Examples
    --------
    >>> bool(generator(np.random.RandomState(0)).random() == generator(np.random.RandomState(0)).random())
    True
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(int(random_state.randint(np.iinfo(np.int32).max)))
    return as_generator("random_state", random_state)

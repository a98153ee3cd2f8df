"""Listing: the points of a finite space by their numbers, and which of them are told, pending or feasible."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from gssbo._typing import FloatArray, IndexArray
from gssbo.history import History
from gssbo.pending import Pending
from gssbo.space import Rows, Space

__all__ = ["Listing"]


class Listing:
    """See the module. Looking at all points takes no loop over them.

    Parameters
    ----------
    space : Space
        Of no more points than are to be listed, where anything but the first attribute is asked for.
    history : History
    pending : Pending

    Examples
    --------
    >>> space = Space({"n": range(3), "c": ["u", "v"]})
    >>> history, pending = History(space.dim, space.empty()), Pending(space.dim)
    >>> rows, _ = space.read("x", [{"n": 0, "c": "v"}, {"n": 2, "c": "u"}])
    >>> history.append(rows, space.to_unit(rows), np.zeros(2))
    >>> np.flatnonzero(Listing(space, history, pending).told()).tolist()
    [1, 4]
    """

    def __init__(self, space: Space, history: History, pending: Pending) -> None:
        self._space, self._history, self._pending = space, history, pending
        self._told = np.empty(0, dtype=bool)
        self._n_seen = 0  # observations that are in it
        self._met = np.empty(0, dtype=np.int8)  # whether points are feasible; -1: nobody asked

    @property
    def size(self) -> int:
        """How many points there are."""
        return int(self._space.size)

    def units(self, indices: IndexArray) -> FloatArray:
        """Unit points (m, D) with these numbers (m,)."""
        return self._space.to_unit(self._space.at(indices))

    def told(self) -> NDArray[np.bool_]:
        """Mask (size,) of the points that are told, failed ones included; read only."""
        told = self._told if len(self._told) else np.zeros(self.size, dtype=bool)
        n = len(self._history)
        told[self._space.indices(self._history.X[self._n_seen : n])] = True
        self._told, self._n_seen = told, n
        return told

    def pending(self) -> NDArray[np.bool_]:
        """Mask (size,) of the points that are pending."""
        mask = np.zeros(self.size, dtype=bool)
        waited_for = self._pending.distinct
        if waited_for:
            mask[self._space.indices(np.stack(waited_for))] = True
        return mask

    @functools.cached_property
    def feasible(self) -> Rows:
        """Rows (m) that meet the constraints."""
        indices = np.arange(self.size)
        return self._space.at(indices[self.meets(indices)])

    def meets(self, indices: IndexArray) -> NDArray[np.bool_]:
        """Mask (m,) of the points with these numbers that meet the constraints, which are asked about each once."""
        if len(self._met) == 0:
            self._met = np.full(self.size, -1, dtype=np.int8)
        new = indices[self._met[indices] < 0]
        self._met[new] = self._space.feasible(self._space.at(new))
        mask: NDArray[np.bool_] = self._met[indices] > 0
        return mask

    def may_meet(self) -> NDArray[np.bool_]:
        """Mask (size,) of the points that `meets` did not find to be infeasible."""
        return self._met != 0 if len(self._met) else np.ones(self.size, dtype=bool)

"""Search in a subspace of few dimensions: what REMBO and HeSBO share.

Notation
--------
D, d    draws of the space, one for each free parameter; dimensions of the subspace
w       a point of the subspace's box, mapped to the unit cube (d,)
x       the draws it is lifted to (D,), which stand for the point of the space that `Space.place` makes of them

The strategy inside sees w only: design, model and candidates are in the subspace. An observation told at a point that
the subspace does not reach says nothing about any w, and is left out of the model.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from gssbo._typing import FloatArray, IndexArray
from gssbo._validation import check_integer
from gssbo.box_strategy import BoxStrategy
from gssbo.choice import Admit
from gssbo.history import History
from gssbo.space import Space
from gssbo.surrogate import Predictor, Surrogate

__all__ = ["Subspace", "SubspaceStrategy", "default_dimensions"]

CLOSE = 1e-6  # of a side: points nearer than this are the same, through the round trip over the user's units


class Subspace(Protocol):
    """A map from the unit cube of few dimensions into that of many."""

    dim: int

    def lift(self, W: FloatArray) -> FloatArray:
        """The x (n, D) of w (n, d)."""
        ...

    def lower(self, X: FloatArray) -> FloatArray:
        """The w (n, d) whose images are closest to x (n, D), before anything is clipped."""
        ...


def default_dimensions(dim: int) -> int:
    """Dimensions of the subspace where none are asked for: half of the problem's, at most 10. The papers fix none.

    Examples
    --------
    >>> [default_dimensions(dim) for dim in (1, 6, 20, 100)]
    [1, 3, 10, 10]
    """
    return min((dim + 1) // 2, 10)


class SubspaceStrategy:
    """A `BoxStrategy` in a random subspace; see `Strategy` for the methods.

    Parameters
    ----------
    space : Space
    subspace : callable
        Makes the subspace of D, d and a generator.
    n_dimensions : int, optional
        d; default `default_dimensions`.
    candidate_rng : numpy.random.Generator
        A child of it draws the subspace.
    **slots
        Further keyword arguments of `BoxStrategy`.
    """

    def __init__(
        self,
        space: Space,
        *,
        subspace: Callable[[int, int, np.random.Generator], Subspace],
        n_dimensions: int | None = None,
        candidate_rng: np.random.Generator,
        **slots: Any,
    ) -> None:
        low = default_dimensions(space.n_draws) if n_dimensions is None else n_dimensions
        low = check_integer("n_dimensions", low, at_least=1, at_most=space.n_draws)
        self._space = space
        self.subspace = subspace(space.n_draws, low, candidate_rng.spawn(1)[0])
        self._inner = BoxStrategy(Space([(0.0, 1.0)] * low), candidate_rng=candidate_rng, **slots)
        self.n_candidates = self._inner.n_candidates
        self._history = History(low)
        self._members: IndexArray = np.empty(0, dtype=np.intp)  # of the history outside; the one inside follows
        self._n_seen = 0
        # What was suggested: w (k, d) at unit points (k, columns of the model), as neither clipping nor rounding has an
        # inverse.
        self._given = History(space.dim, np.empty((0, low)))

    def place(self, draws: FloatArray) -> FloatArray:
        """The images of the first d coordinates, which are spread over the subspace's box as all D are over theirs."""
        return self._lift(draws[:, : self.subspace.dim])

    def update(self, history: History) -> bool:
        """Pass on what was told in the subspace, and update the strategy inside."""
        n, seen = len(history), self._n_seen
        if n > seen:
            _, inside = self._coordinates(history.unit[seen:])
            members = np.append(self._members, seen + np.flatnonzero(inside))
            self._members, self._n_seen = members, n
        self._follow(history)
        if len(self._history) > 0:
            self._inner.update(self._history)
        return n > seen

    def _follow(self, history: History) -> None:
        """Add the members that the history inside lacks: the new ones, or what Ctrl-C once left out."""
        lacking = self._members[len(self._history) :]
        if len(lacking) > 0:
            W, _ = self._coordinates(history.unit[lacking])
            noise = None if history.noise_std is None else history.noise_std[lacking]
            self._history.append(W, W, history.y[lacking], noise)

    def suggest(self, history: History, pending: FloatArray, n: int, admit: Admit) -> FloatArray:
        """The images of the inner strategy's suggestions."""
        W, inside = self._coordinates(pending)
        return self._lift(self._inner.suggest(self._history, W[inside], n, lambda W: admit(self._image(W))))

    def posterior(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (m,), of a point outside the subspace at the closest one in it."""
        if len(self._history) == 0:
            raise ValueError("nothing was told in the subspace searched: there is no model to predict with")
        return self._inner.posterior(self._coordinates(points)[0])

    def predict(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """`posterior`: nothing that is slower predicts better."""
        return self.posterior(points)

    def predictor(self) -> tuple[Predictor, IndexArray]:
        """The model in the subspace, and indices into the history of what it has seen.

        There are none where nothing was told in the subspace, and the model is not fitted then.
        """
        model, seen = self._inner.predictor()
        return model, self._members[seen]

    def subset_model(self) -> tuple[Surrogate, IndexArray]:
        """The surrogate in the subspace, and indices of the retained subset, as those of `predictor`."""
        surrogate, members = self._inner.subset_model()
        return surrogate, self._members[members]

    def record(self, seconds: float, n: int) -> None:
        """Pass it on."""
        self._inner.record(seconds, len(self._history))

    @property
    def retained(self) -> IndexArray:
        """Indices into the history of what the model stands on, ascending; a copy."""
        return self._members[self._inner.retained]

    @property
    def surrogate(self) -> Surrogate:
        """The surrogate in the subspace, as last fitted; read only."""
        return self._inner.surrogate

    @property
    def M(self) -> int | None:
        """Capacity of the retained subset; None while it is not fixed."""
        return self._inner.M

    @property
    def switched_at(self) -> int | None:
        """Observations held in the subspace when retention began; None before."""
        return self._inner.switched_at

    def _image(self, W: FloatArray) -> FloatArray:
        """Realisable unit points of w (n, d)."""
        return self._space.place(self.subspace.lift(W))

    def _lift(self, W: FloatArray) -> FloatArray:
        """The same, remembered."""
        units = self._image(W)
        self._given.append(W, units, np.zeros(len(W)))
        return units

    def _coordinates(self, units: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
        """The w (n, d) of unit points, and whether they are its images (n,).

        Where a parameter is more than one column of the model there is no way back: w is that of the nearest given.
        """
        if self._space.dim == self._space.n_draws:
            W = self.subspace.lower(units)
            inside = np.abs(self._image(W) - units).max(axis=1, initial=0.0) <= CLOSE
        else:
            W, inside = np.full((len(units), self.subspace.dim), 0.5), np.zeros(len(units), dtype=bool)
        if len(self._given) and not inside.all():
            rest = np.flatnonzero(~inside)
            distance, nearest = cKDTree(self._given.unit).query(units[rest], p=np.inf)
            known = distance <= CLOSE
            use = known if self._space.dim == self._space.n_draws else np.ones_like(known)
            W[rest[use]] = self._given.X[nearest[use]]
            inside[rest] = known
        return W, inside

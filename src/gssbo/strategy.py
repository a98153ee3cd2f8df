"""What a strategy is: the model side of the optimizer.

The optimizer keeps the books (space, design, history, timings, lock, result); a strategy fits a model to the history
and says where to look next. It sees the model's cube only, where `Space.place` and `Space.project` give realisable
points, and responses to be maximised, NaN where an evaluation failed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from gssbo._typing import FloatArray, IndexArray
from gssbo.choice import Admit
from gssbo.history import History
from gssbo.surrogate import Predictor, Surrogate

__all__ = ["Strategy", "StrategyFactory"]


class Strategy(Protocol):
    """A model of the history, and suggestions from it.

    `copy.deepcopy` of a strategy is independent of it, and continues alike: generators, caches and fits are its own.
    """

    def place(self, draws: FloatArray) -> FloatArray:
        """Realisable unit points (n, D) of the initial design, at draws (n, p) spread over the cube of draws.

        `Space.place`, unless the strategy searches only a part of the space.
        """
        ...

    def update(self, history: History) -> bool:
        """Select and fit, if anything was told since the last time; return whether it was.

        Parameters
        ----------
        history : History
            Always the same one, never empty, only grown.
        """
        ...

    def suggest(self, history: History, pending: FloatArray, n: int, admit: Admit) -> FloatArray:
        """The next points to evaluate, in the model's cube: up to n different ones (n, D), realisable and admitted.

        Where a strategy finds fewer, the optimizer looks for others at random.

        Parameters
        ----------
        history : History
            The one given to `update` just before; or empty, and then nothing has been fitted.
        pending : ndarray of shape (p, D)
            Points suggested earlier and not told yet.
        n : int
            At least 1.
        admit : callable
            Mask (m,) of realisable unit points (m, D) that may be suggested: feasible, not told, not pending. See
            `gssbo.choice` for the best of many.
        """
        ...

    def posterior(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (m,) of the latent function at (m, D) unit points, in units of the history's y.

        As of the last `update`; noise is not included. For suggestions: no slower than these.
        """
        ...

    def predict(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """`posterior` by the `predictor`, for those who ask: that, or something that is better and takes longer."""
        ...

    def predictor(self) -> tuple[Predictor, IndexArray]:
        """The model that predicts, and indices into the history of what it has seen, ascending; copies.

        Evaluations that failed are not among them, but where all did.
        """
        ...

    def subset_model(self) -> tuple[Surrogate, IndexArray]:
        """The surrogate fitted to the retained subset, and indices of that, as those of `predictor`; copies."""
        ...

    def record(self, seconds: float, n: int) -> None:
        """Take note of the time of an iteration that ended with n observations told."""
        ...

    @property
    def retained(self) -> IndexArray:
        """Indices into the history of what the model stands on, ascending; a copy."""
        ...

    @property
    def surrogate(self) -> Surrogate:
        """The surrogate as last fitted; read only."""
        ...

    @property
    def M(self) -> int | None:
        """Capacity of the retained subset; None while it is not fixed."""
        ...

    @property
    def switched_at(self) -> int | None:
        """Observations held when retention began; None before."""
        ...


StrategyFactory: TypeAlias = Callable[..., Strategy]
"""Makes a strategy of a space and the keyword arguments of `BoxStrategy`."""

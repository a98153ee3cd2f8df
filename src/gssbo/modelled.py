"""A ledger with a model of what it holds: predictions, the best, what can be trusted."""

from __future__ import annotations

import copy
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import OptimizeResult

from gssbo._arithmetic import all_in_own_arithmetic, in_own_arithmetic
from gssbo._result import Result
from gssbo._typing import FloatArray, IndexArray, RngLike
from gssbo._validation import check_choice, check_flag
from gssbo.diagnostics.trust import Trust, trust_in_space
from gssbo.gp import GaussianProcess
from gssbo.history import History
from gssbo.ledger import Ledger
from gssbo.pooled import PooledProcess
from gssbo.portfolio import Portfolio
from gssbo.projected import ProjectedProcess
from gssbo.proposals import Proposals
from gssbo.responses import known_noise, unstandardize
from gssbo.strategy import Strategy
from gssbo.surrogate import Surrogate
from gssbo.timings import Timings

__all__ = ["Best", "Modelled"]

MOST = np.finfo(np.float64).max
SMALLEST = 1e-290  # noise variance, in squared units of a model, that can be divided by


class Best(NamedTuple):
    """The best point, its value, and the standard deviation of that where it is a model's."""

    x: Any
    y: float | None
    std: float | None


@all_in_own_arithmetic
class Modelled(Ledger):
    """The part of an `Optimizer` that shows what its model makes of the history; nothing here moves the model."""

    rule: str
    timings: Timings
    _proposals: Proposals
    _strategy: Strategy
    _ahead: tuple[int, Strategy] | None = None  # a strategy fitted to so many, where the one of the loop is not yet

    def predict(self, X: Any, return_std: bool = False) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Posterior mean (m,), and standard deviation, of the objective at m points X, in user units.

        Noise is not included. Predicting never changes later suggestions.

        Raises
        ------
        ValueError
            If X has the wrong shape, `return_std` is no flag, or before anything was told.
        """
        with_std = check_flag("return_std", return_std)
        rows = self.space.read_many("X", X)
        with self._lock:
            mean, std = self._current_strategy().predict(self.space.to_unit(rows))
        return (self._sign * mean, std) if with_std else self._sign * mean

    def best(self, by: str = "observed") -> Best:
        """The best of the points evaluated: by the value observed there, or by what the model makes of all of them.

        With constraints the best of those that meet them, where any does.

        Parameters
        ----------
        by : {"observed", "model"}
            The luckiest of many noisy values is not the best point; the largest posterior mean is a better guess. It is
            given what the model stands on and what was observed at the point itself.

        Returns
        -------
        Best
            `x`; `y`, the value observed or the posterior mean; `std`, the posterior standard deviation or None. All are
            None while there is no value; by the model also where everything told lies outside the subspace that the
            method searches, so that there is no model.
        """
        with self._lock:
            if check_choice("by", by, ("observed", "model")) == "observed" or self.best_y is None:
                return Best(self.best_x, self.best_y, None)
            history, strategy = self._history, self._current_strategy()
            model, seen = strategy.predictor()
            if len(seen) == 0:  # everything told lies outside the part of the space that is searched
                return Best(None, None, None)
            mean, std = strategy.predict(history.unit)
            if isinstance(model, (GaussianProcess, PooledProcess, ProjectedProcess)):
                mean, std = _given_own(model, seen, history, mean, std)
            valued = np.flatnonzero(~np.isnan(history.y))
            order = valued[np.argsort(-mean[valued], kind="stable")]
            feasible = self._books.first_feasible(order)
            index = int(order[0]) if feasible is None else feasible
            return Best(self._point(index), self._sign * float(mean[index]), float(std[index]))

    def diagnostics(
        self, *, tolerance: float = 0.1, max_pool: int | None = None, candidates: Any = None, rng: RngLike = None
    ) -> Trust:
        """Whether the retained subset can be trusted against everything told: see `gssbo.diagnostics.trust`.

        Gaps are in units of the objective, candidates and the worst point in user units. O(n^3) in the pool: 1 to 2 s
        for the 1,000 observations that a longer history is sampled down to, or twice the subset if that is more. Asking
        never changes later suggestions.

        Raises
        ------
        ValueError
            If an argument is out of its range, before anything was told that did not fail, if all that is retained
            failed, or if the surrogate is not a GaussianProcess of the whole space.

        Examples
        --------
        >>> from gssbo import Optimizer
        >>> opt = Optimizer([(-5.0, 5.0)], n_init=5, subset_size=20, rule="maxmin", rng=0)
        >>> X = np.linspace(-5.0, 5.0, 60)[:, None]
        >>> opt.tell(X, np.cos(2.0 * X[:, 0]))
        >>> found = opt.diagnostics()
        >>> found.verdict, found.size_to_halve
        ('covered', 21)
        """
        with self._lock:
            surrogate, retained = self._current_strategy().subset_model()
            if not isinstance(surrogate, GaussianProcess):
                raise ValueError(f"diagnostics are of a GaussianProcess, got the surrogate {surrogate!r}")
            return trust_in_space(
                self.space, self._history, surrogate, retained, candidates=candidates,
                rule=self.rule, tolerance=tolerance, max_pool=max_pool, rng=rng,
            )  # fmt: skip

    def result(self, *, modelled: bool = True) -> OptimizeResult:
        """What was found so far, in SciPy's form.

        Fields: `x`, `fun` (best observed), `x_model`, `fun_model`, `fun_model_std` (best by the model), `maximize`
        (whether larger is better), `nfev` (observations told), `x_iters` (n points), `func_vals` (n,) with NaN where an
        evaluation failed, `n_failed`, `retained`, `M`, `switched_at`, `timings` (seconds). The best are None before
        there is a value, those by the model also where there is no model.

        Parameters
        ----------
        modelled : bool
            Whether to ask the model; without it, nothing is best by it, and nothing retained.
        """
        with self._lock:
            asked = check_flag("modelled", modelled)
            observed, model = self.best(), self.best("model") if asked else Best(None, None, None)
            return Result(
                x=observed.x,
                fun=observed.y,
                x_model=model.x,
                fun_model=model.y,
                fun_model_std=model.std,
                maximize=self.maximize,
                nfev=self.n_told,
                n_failed=self.n_failed,
                x_iters=self.X,
                func_vals=self.y,
                retained=self.retained if asked else np.empty(0, dtype=np.intp),
                M=self.M,
                switched_at=self.switched_at,
                timings=self.timings.with_total(),
            )

    @property
    @in_own_arithmetic
    def retained(self) -> IndexArray:
        """Indices into the history of the observations the surrogate was last fitted on, ascending."""
        with self._lock:  # a portfolio chooses them now, and keeps them
            return self._strategy.retained

    @property
    def n_retained(self) -> int:
        """How many `retained` holds; a portfolio, which chooses them when asked for, need not do so for that."""
        strategy = self._strategy
        return strategy.n_retained if isinstance(strategy, Portfolio) else len(strategy.retained)

    @property
    def M(self) -> int | None:
        """Capacity of the retained subset; None while the dynamic rule has not fixed it."""
        return self._strategy.M

    @property
    def switched_at(self) -> int | None:
        """Observations held when retention began; None before."""
        return self._strategy.switched_at

    @property
    @in_own_arithmetic
    def surrogate(self) -> Surrogate:
        """The surrogate in the unit cube, on responses to be maximised, as last fitted; read only."""
        with self._lock:  # as for `retained`
            return self._strategy.surrogate

    # ---- how

    def _current_strategy(self) -> Strategy:
        """The strategy fitted to everything told.

        A copy does the fitting, so that neither hyperparameters nor generators of this one move. It is kept until more
        is told.
        """
        if self.n_told == self.n_failed:
            raise ValueError("at least one observation that did not fail is needed: call tell(x, y) first")
        if self._proposals.n_modelled == self.n_told:
            self._ahead = None
            return self._strategy
        if self._ahead is None or self._ahead[0] != self.n_told:
            # Not the space: what is in it, such as functions with all they refer to, is the user's.
            twin = copy.deepcopy(self._strategy, {id(self.space): self.space})
            twin.update(self._history)
            self._ahead = self.n_told, twin
        return self._ahead[1]


def _given_own(
    model: GaussianProcess | PooledProcess | ProjectedProcess,
    seen: IndexArray,
    history: History,
    mean: FloatArray,
    std: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Posterior mean and standard deviation (n,) at the points of a history, given what was observed there, too.

    From those without it, in units of y. An observation that the model has not seen tells about all that is not known
    at its point; one that was projected about what the basis does not span, which is its point's own; one of an exact
    model tells nothing new, nor does one that failed. Repeats of a point tell about the same.
    """
    # Doubles only, the deviation in units of the model: responses, and what is foreseen, may be as large as floats go.
    half, whole = 0.5 * np.clip(mean, -MOST, MOST), np.minimum(std, MOST) / model.y_std_
    own = whole.copy()
    own[seen] = model.unexplained(history.unit[seen]) if isinstance(model, ProjectedProcess) else 0.0
    own[np.isnan(history.y)] = 0.0
    noise = np.full(len(own), model.noise_)
    if history.noise_std is not None:
        noise += known_noise(history.noise_std, model.y_std_)
    value = 0.5 * np.where(own > 0.0, history.y, 0.0)
    if history.n_distinct < len(history):
        own, noise, value = _one_a_point(history, own, noise, value)
    total = own**2 + noise
    gain = np.divide(own**2, total, out=np.zeros(len(own)), where=total > 0.0)
    informed = 2.0 * (half + gain * (value - half))
    left = own**2 * (1.0 - gain) + np.maximum(whole**2 - own**2, 0.0) * (1.0 - gain) ** 2
    spread = unstandardize(np.sqrt(left), 0.0, model.y_std_)
    return np.where(gain > 0.0, informed, mean), np.where(gain > 0.0, spread, std)


def _one_a_point(
    history: History, own: FloatArray, noise: FloatArray, value: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """For each observation (n,) what all those at its point tell together: their average, with the noise of that."""
    _, point = np.unique(history.unit, axis=0, return_inverse=True)
    point = point.reshape(-1)  # NumPy 2.0.0 gives it another dimension
    weight = np.where(own > 0.0, 1.0 / np.maximum(noise, SMALLEST), 0.0)
    total, average, largest = np.zeros((3, int(point.max()) + 1))
    np.add.at(total, point, weight)
    share = np.divide(weight, total[point], out=np.zeros(len(own)), where=weight > 0.0)
    np.add.at(average, point, share * value)
    np.maximum.at(largest, point, own)
    averaged = np.divide(1.0, total, out=np.full(len(total), np.inf), where=total > 0.0)
    return largest[point], averaged[point], average[point]

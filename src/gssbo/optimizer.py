"""The optimizer loop: ask for a suggestion, tell what it gave.

The books are kept here; the model, and where to look next, are a strategy's.

Notation
--------
n       observations told; d parameters
M       capacity of the retained subset
theta   hyperparameters of the surrogate

Everything inside is maximised, in the unit cube; the sign flips once, in `tell`.

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, algorithm 1.
"""

from __future__ import annotations

import copy
import threading
import time
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult
from scipy.stats import qmc

from gssbo._typing import ArrayLike, FloatArray, IndexArray, RngLike
from gssbo._validation import (
    check_array,
    check_choice,
    check_flag,
    check_integer,
    check_matrix,
    check_vector,
    spawn_generators,
)
from gssbo.box_strategy import BoxStrategy
from gssbo.buffer import Buffer
from gssbo.gp import GaussianProcess
from gssbo.history import History
from gssbo.portfolio import Portfolio
from gssbo.retention import Retention
from gssbo.selection.rules import PIVOTED, RULES
from gssbo.space import Space
from gssbo.strategy import Strategy
from gssbo.timings import Timings

__all__ = ["Optimizer"]

DESIGNS = ("lhs", "sobol")
METHODS = ("box", "portfolio")


class Optimizer:
    """Bayesian optimization on a retained subset, by ask and tell.

    Parameters
    ----------
    bounds : sequence of (low, high), array of shape (d, 2), or scipy.optimize.Bounds
    maximize : bool
        Whether larger values are better; by default smaller ones are.
    method : {"box", "portfolio"}
        "box" is the paper's: one Gaussian process over the whole box and uniform candidates. "portfolio" shares the
        suggestions among local and global models by what they gain; it takes `n_init`, `initial_design`,
        `subset_size` (a number), `threads` and `rng`, and leaves the other options unused.
    n_init : int
        Points of the initial design; the first `n_init` observations told count as it, whatever they are: shuffle data
        that come in an order.
    initial_design : {"lhs", "sobol"}
        Latin hypercube or scrambled Sobol points.
    subset_size : int or "dynamic"
        Capacity M of the retained subset; "dynamic" sets it to the number of observations held when an iteration first
        takes longer than `dynamic_factor` times the mean of the first ones, which depends on the machine.
    dynamic_factor : float
        Z of the dynamic rule.
    rule : {"vector", "scalar", "random", "kmeans++", "maxmin", "residual", "variance", "residual-ratio"}
        Selection rule.
    retain_initial, retain_newest : bool
        Whether the initial design and the newest observation are always retained.
    pool : "auto", "full", "rotating" or int
        What the rule chooses from: all observations; the newest so many beside the forced ones; or, so that the cost
        of a suggestion stays flat, the newest 4 M, what was retained last and 2,000 older ones, others each time
        ("rotating"). Automatic: all up to 4 M, then the newest 4 M; rotating for the rules "residual", "variance" and
        "residual-ratio", whose time is linear in the pool.
    refit : int or "frozen"
        Hyperparameters are fitted every so many suggestions, or frozen when retention begins.
    refresh : {"auto", "recompute", "cached"}
        Embeddings from a Cholesky factorization each time, or from a cache updated in O(n^2) an observation while the
        hyperparameters stand; "auto" caches when `refit` is not 1.
    acquisition : {"ucb", "ei", "log_ei", "pi", "thompson"}
    acquisition_options : dict, optional
        Keyword arguments of the acquisition class.
    n_candidates : int, optional
        Uniform candidates a suggestion is chosen from; default 10,000 for d <= 10, 5,000 for d <= 50, else 2,000.
    surrogate : GaussianProcess, optional
        A template: kernel, bounds, restarts, or fixed hyperparameters (`fit_hyperparameters=False`), with lengthscales
        in units of the box's sides. It is copied.
    threads : int, optional
        Threads for restarts and candidates; default: the processors this process may use, at most 4. Suggestions do
        not depend on it.
    rng : None, int or numpy.random.Generator
        With a seed the run is reproducible, whatever the number of BLAS threads.

    Raises
    ------
    ValueError
        If an argument is out of its range; the message names it, the rule and the value.

    Notes
    -----
    `ask`, `tell` and `predict` may be called from several threads; they take turns.

    Examples
    --------
    >>> opt = Optimizer([(-5.0, 5.0)], n_init=5, rng=0)
    >>> for _ in range(15):
    ...     x = opt.ask()
    ...     opt.tell(x, (x[0] - 1.0) ** 2)
    >>> bool(abs(opt.best_x[0] - 1.0) < 0.1)
    True
    """

    def __init__(
        self,
        bounds: Any,
        *,
        maximize: bool = False,
        method: str = "box",
        n_init: int = 20,
        initial_design: str = "lhs",
        subset_size: int | str = 100,
        dynamic_factor: float = 4.0,
        rule: str = "vector",
        retain_initial: bool = True,
        retain_newest: bool = True,
        pool: str | int = "auto",
        refit: int | str = 1,
        refresh: str = "auto",
        acquisition: str = "ucb",
        acquisition_options: dict[str, Any] | None = None,
        n_candidates: int | None = None,
        surrogate: GaussianProcess | None = None,
        threads: int | None = None,
        rng: RngLike = None,
    ) -> None:
        self.space = Space(bounds)
        self.maximize = check_flag("maximize", maximize)
        self._sign = 1.0 if self.maximize else -1.0
        self.method = check_choice("method", method, METHODS)
        self.n_init = check_integer("n_init", n_init, at_least=1)
        self.initial_design = check_choice("initial_design", initial_design, DESIGNS)
        self.rule = check_choice("rule", rule, RULES)
        self.timings = Timings()
        design_rng, selection_rng, fit_rng, candidate_rng = spawn_generators("rng", rng, 4)
        buffer = Buffer(
            subset_size,
            n_init=self.n_init,
            factor=dynamic_factor,
            retain_initial=retain_initial,
            retain_newest=retain_newest,
            pool="rotating" if pool == "auto" and self.rule in PIVOTED else pool,
        )
        retention = Retention(buffer, rule=self.rule, refresh=refresh, rng=selection_rng, timings=self.timings)
        strategy = BoxStrategy(
            self.space.dim,
            retention=retention,
            refit=refit,
            acquisition=acquisition,
            acquisition_options=acquisition_options,
            n_candidates=n_candidates,
            surrogate=surrogate,
            threads=threads,
            fit_rng=fit_rng,
            candidate_rng=candidate_rng,
            timings=self.timings,
        )
        self.refresh, self.n_candidates = retention.refresh, strategy.n_candidates
        self._strategy: Strategy = strategy
        if self.method == "portfolio":
            size = check_integer("subset_size", subset_size, at_least=10)
            self.rule = "residual"
            self._strategy = Portfolio(
                self.space.dim, size=size, n_init=self.n_init, rng=candidate_rng, timings=self.timings
            )

        self._history = History(self.space.dim)
        self._design = self._initial_points(design_rng)
        self._n_designed = 0
        self._n_modelled = 0
        self.last_ask_seconds = 0.0
        self._lock = threading.RLock()
        self._iteration_seconds: float | None = None  # of the last model iteration, until the strategy has it

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return (
            f"Optimizer(d={self.space.dim}, told={self.n_told}, best_y={self.best_y}, rule={self.rule!r}, M={self.M}, "
            f"retained={len(self.retained)})"
        )

    # ---- what users do

    def ask(self) -> FloatArray:
        """Suggest a point (d,) to evaluate, in user units.

        The initial design first; then the best candidate under the surrogate of the retained subset. Asking again
        without telling gives another point.
        """
        with self._lock:
            return self._ask()

    def _ask(self) -> FloatArray:
        start = time.perf_counter()
        updates = False
        with self.timings.whole():
            if self._iteration_seconds is not None and len(self._history) > self._n_modelled:
                self._strategy.record(self._iteration_seconds, len(self._history))
                self._iteration_seconds = None
            if self._n_designed < len(self._design) and len(self._history) < self.n_init:
                unit = self._design[self._n_designed]
                self._n_designed += 1
            else:
                if len(self._history) > 0:
                    updates = self._strategy.update(self._history)
                    self._n_modelled = len(self._history)
                unit = self._strategy.suggest(self._history, np.empty((0, self.space.dim)), 1)[0]
            suggestion: FloatArray = self.space.from_unit(unit[None, :])[0]
        self.last_ask_seconds = time.perf_counter() - start
        if updates:
            self._iteration_seconds = self.last_ask_seconds
        return suggestion

    def tell(self, x: ArrayLike, y: ArrayLike) -> None:
        """Add one observation or many; never fits.

        Parameters
        ----------
        x : array of shape (d,) or (n, d)
            Points in user units, within the bounds; a number where d is 1 and y is a number.
        y : float or array of shape (n,)
            What was observed there.

        Raises
        ------
        ValueError
            If a shape, a bound or finiteness is violated; nothing is added then, not even the good rows.
        """
        points = check_array("x", x)
        values = check_array("y", y)
        d = self.space.dim
        if points.ndim <= 1:
            if not (points.shape == (d,) or (d == 1 and points.ndim == 0)):
                raise ValueError(f"x must have shape ({d},) or (n, {d}), got shape {points.shape}")
            if values.size != 1:
                raise ValueError(f"y must be one number for one point x, got shape {values.shape}")
            points, values = points.reshape(1, d), values.reshape(1)
        table = check_matrix("x", points, columns=d)
        column = check_vector("y", values, size=len(table))
        self.space.check_inside("x", table)
        with self._lock:
            self._history.append(table, self.space.to_unit(table), self._sign * column)

    def predict(self, X: ArrayLike, return_std: bool = False) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Posterior mean (m,), and standard deviation, of the objective at X (m, d), all in user units.

        Noise is not included. Predicting never changes later suggestions.

        Raises
        ------
        ValueError
            If X has the wrong shape, or before anything was told.
        """
        points = check_matrix("X", X, columns=self.space.dim)
        with self._lock:
            mean, std = self._current_strategy().posterior(self.space.to_unit(points))
        return (self._sign * mean, std) if return_std else self._sign * mean

    def result(self) -> OptimizeResult:
        """What was found so far, in SciPy's form.

        Fields: `x`, `fun`, `nfev` (observations told), `x_iters` (n, d), `func_vals` (n,), `retained`, `M`,
        `switched_at`, `timings` (seconds); `x` and `fun` are None before anything was told.
        """
        return OptimizeResult(
            x=self.best_x,
            fun=self.best_y,
            nfev=self.n_told,
            x_iters=self.X,
            func_vals=self.y,
            retained=self.retained,
            M=self.M,
            switched_at=self.switched_at,
            timings={**self.timings, "total": self.timings.total},
        )

    # ---- what users see

    @property
    def n_told(self) -> int:
        """Observations told."""
        return len(self._history)

    @property
    def X(self) -> FloatArray:
        """Points told (n, d), in order; a copy."""
        return self._history.X.copy()

    @property
    def y(self) -> FloatArray:
        """Values told (n,), in order; a copy."""
        return self._sign * self._history.y

    @property
    def best_x(self) -> FloatArray | None:
        """Point (d,) of the best value told, the first of equals; None before anything was told."""
        return self._history.X[self._history.best].copy() if self.n_told else None

    @property
    def best_y(self) -> float | None:
        """Best value told."""
        return float(self._sign * self._history.y[self._history.best]) if self.n_told else None

    @property
    def retained(self) -> IndexArray:
        """Indices into the history of the observations the surrogate was last fitted on, ascending."""
        return self._strategy.retained

    @property
    def M(self) -> int | None:
        """Capacity of the retained subset; None while the dynamic rule has not fixed it."""
        return self._strategy.M

    @property
    def switched_at(self) -> int | None:
        """Observations held when retention began; None before."""
        return self._strategy.switched_at

    @property
    def surrogate(self) -> GaussianProcess:
        """The Gaussian process in the unit cube, on responses to be maximised, as last fitted; read only."""
        return self._strategy.surrogate

    # ---- how

    def _initial_points(self, rng: np.random.Generator) -> FloatArray:
        d = self.space.dim
        if self.initial_design == "lhs":
            points: FloatArray = qmc.LatinHypercube(d, rng=rng).random(self.n_init)
        else:
            power = int(np.ceil(np.log2(self.n_init)))
            points = qmc.Sobol(d, rng=rng).random_base2(power)[: self.n_init]
        return points

    def _current_strategy(self) -> Strategy:
        """The strategy fitted to everything told.

        A copy does the fitting, so that neither hyperparameters nor generators of this one move.
        """
        if not self.n_told:
            raise ValueError("predict needs at least one observation: call tell(x, y) first")
        if self._n_modelled == self.n_told:
            return self._strategy
        twin = copy.deepcopy(self._strategy)
        twin.update(self._history)
        return twin

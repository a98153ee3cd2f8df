"""The optimizer loop: ask for a suggestion, tell what it gave.

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

from gssbo._parallel import default_threads
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
from gssbo.acquisition import ACQUISITIONS, Acquisition
from gssbo.buffer import Buffer
from gssbo.embedding import Embedding
from gssbo.gp import GaussianProcess
from gssbo.history import History
from gssbo.precision import PrecisionCache
from gssbo.selection.rules import EMBEDDED, RULES
from gssbo.selection.subset import select
from gssbo.space import Space
from gssbo.timings import Timings

__all__ = ["Optimizer", "default_n_candidates"]

DESIGNS = ("lhs", "sobol")
REFRESHES = ("auto", "recompute", "cached")
FAR = 1e100  # standard deviations beyond which an incumbent is no farther


def default_n_candidates(dim: int) -> int:
    """Candidates a suggestion is chosen from, as in the configuration table (appendix) of [1]."""
    return 10_000 if dim <= 10 else 5_000 if dim <= 50 else 2_000


class Optimizer:
    """Bayesian optimization on a retained subset, by ask and tell.

    Parameters
    ----------
    bounds : sequence of (low, high), array of shape (d, 2), or scipy.optimize.Bounds
    maximize : bool
        Whether larger values are better; by default smaller ones are.
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
    rule : {"vector", "scalar", "random", "kmeans++", "maxmin"}
        Selection rule.
    retain_initial, retain_newest : bool
        Whether the initial design and the newest observation are always retained.
    pool : "auto", "full" or int
        What the rule chooses from: all observations, the newest so many beside the forced ones, or automatic: all up
        to 4 M, then the newest 4 M, so that the cost of a suggestion stays flat.
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
        self.n_init = check_integer("n_init", n_init, at_least=1)
        self.initial_design = check_choice("initial_design", initial_design, DESIGNS)
        self._buffer = Buffer(
            subset_size,
            n_init=self.n_init,
            factor=dynamic_factor,
            retain_initial=retain_initial,
            retain_newest=retain_newest,
            pool=pool,
        )
        self.rule = check_choice("rule", rule, RULES)
        if isinstance(refit, str):
            check_choice("refit", refit, ("frozen",))
            self._refit_every = 1
        else:
            self._refit_every = check_integer("refit", refit, at_least=1)
        self._frozen_at_switch = isinstance(refit, str)
        self.refresh = check_choice("refresh", refresh, REFRESHES)
        self._acquisition = _acquisition(acquisition, acquisition_options)
        self.n_candidates = (
            default_n_candidates(self.space.dim)
            if n_candidates is None
            else check_integer("n_candidates", n_candidates, at_least=1)
        )
        self._surrogate = _surrogate(surrogate, self.space.dim)
        self._surrogate.threads = (
            default_threads() if threads is None else check_integer("threads", threads, at_least=1)
        )
        streams = spawn_generators("rng", rng, 4)
        self._design_rng, self._selection_rng, self._fit_rng, self._candidate_rng = streams

        self._history = History(self.space.dim)
        self._design = self._initial_points()
        self._n_designed = 0
        self._n_modelled = 0
        self._since_refit = 0
        self._retained: IndexArray = np.empty(0, dtype=np.intp)
        self._cache: PrecisionCache | None = None
        self._cached_pool: IndexArray = np.empty(0, dtype=np.intp)
        self.timings = Timings()
        self.last_ask_seconds = 0.0
        self._lock = threading.RLock()
        self._iteration_seconds: float | None = None  # of the last model iteration, until the buffer has it

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return (
            f"Optimizer(d={self.space.dim}, told={self.n_told}, best_y={self.best_y}, rule={self.rule!r}, M={self.M}, "
            f"retained={len(self._retained)})"
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
                self._buffer.record(self._iteration_seconds, len(self._history))
                self._iteration_seconds = None
            if self._n_designed < len(self._design) and len(self._history) < self.n_init:
                unit = self._design[self._n_designed]
                self._n_designed += 1
            elif len(self._history) == 0:
                unit = self._candidate_rng.random(self.space.dim)
            else:
                updates = len(self._history) > self._n_modelled
                self._update_surrogate()
                unit = self._best_candidate()
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
            mean, std = self._current_surrogate().predict(self.space.to_unit(points), return_std=True)
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
        return self._retained.copy()

    @property
    def M(self) -> int | None:
        """Capacity of the retained subset; None while the dynamic rule has not fixed it."""
        return self._buffer.size

    @property
    def switched_at(self) -> int | None:
        """Observations held when retention began; None before."""
        return self._buffer.switched_at

    @property
    def surrogate(self) -> GaussianProcess:
        """The Gaussian process in the unit cube, on responses to be maximised, as last fitted; read only."""
        return self._surrogate

    # ---- how

    def _initial_points(self) -> FloatArray:
        d = self.space.dim
        if self.initial_design == "lhs":
            points: FloatArray = qmc.LatinHypercube(d, rng=self._design_rng).random(self.n_init)
        else:
            power = int(np.ceil(np.log2(self.n_init)))
            points = qmc.Sobol(d, rng=self._design_rng).random_base2(power)[: self.n_init]
        return points

    def _update_surrogate(self) -> None:
        """Select, then fit, if anything was told since the last time."""
        n = len(self._history)
        if n == self._n_modelled:
            return
        switched = self._buffer.switched(n)
        self._retained = self._select(n) if switched else np.arange(n, dtype=np.intp)
        due = not self._surrogate.fitted or self._since_refit % self._refit_every == 0
        if switched and self._frozen_at_switch and self._surrogate.fitted:
            due = False
        self._since_refit += 1
        self._fit(self._retained, optimize=due)
        self._n_modelled = n

    def _fit(self, members: IndexArray, *, optimize: bool) -> None:
        with self.timings.part("refit"):
            self._surrogate.condition(
                np.ascontiguousarray(self._history.unit[members]),
                self._history.y[members],
                optimize=optimize and self._surrogate.fit_hyperparameters,
                rng=self._fit_rng,
            )

    def _select(self, n: int) -> IndexArray:
        """The retained subset, as ascending indices into the history (algorithm 1, lines 10 to 15)."""
        assert self._buffer.size is not None
        size = self._buffer.size
        forced = self._buffer.forced(n)
        if not self._surrogate.fitted:
            # Told in bulk: hyperparameters come from the forced set and others evenly spread over the history.
            others = np.setdiff1d(np.arange(n), forced)
            spread = np.round(np.linspace(0, len(others) - 1, size - len(forced))).astype(np.intp)
            self._fit(np.sort(np.concatenate([forced, others[spread]])), optimize=True)
        pool = self._buffer.pool(n)
        with self.timings.part("embed"):
            embedding = self._embedding(pool)
        with self.timings.part("select"):
            chosen = select(
                embedding,
                size,
                rule=self.rule,
                forced=np.searchsorted(pool, forced),
                y=self._history.y[pool],
                rng=self._selection_rng,
            )
        return np.sort(pool[chosen])

    def _embedding(self, pool: IndexArray) -> Embedding:
        kernel, noise = self._surrogate.kernel_, self._surrogate.noise_
        X = np.ascontiguousarray(self._history.unit[pool])
        if self.rule not in EMBEDDED:
            return Embedding(kernel, noise, X)
        stands = self._refit_every != 1 or self._frozen_at_switch or not self._surrogate.fit_hyperparameters
        if self.refresh == "cached" or (self.refresh == "auto" and stands):
            return Embedding(kernel, noise, X, self._updated_cache(pool, X))
        embedding = Embedding(kernel, noise, X)
        embedding.prepare()
        return embedding

    def _updated_cache(self, pool: IndexArray, X: FloatArray) -> PrecisionCache:
        """The precision cache, brought to `pool` by removals and appends where that is cheaper than anew."""
        cache = self._cache
        leaving = np.flatnonzero(~np.isin(self._cached_pool, pool))
        n_entering = len(pool) - (len(self._cached_pool) - len(leaving))
        stale = cache is None or not cache.matches(self._surrogate.kernel_, self._surrogate.noise_)
        if stale or 4 * (len(leaving) + n_entering) > len(pool):
            cache = PrecisionCache(self._surrogate.kernel_, self._surrogate.noise_, X)
        else:
            assert cache is not None
            self._cache = None  # should this be interrupted half way, the next time starts afresh
            for index in leaving[::-1]:
                cache.remove(int(index))
            for x in X[len(pool) - n_entering :]:
                cache.append(x)
        self._cache, self._cached_pool = cache, pool
        return cache

    def _best_candidate(self) -> FloatArray:
        with self.timings.part("acquisition"):
            gp = self._surrogate
            candidates = self._candidate_rng.random((self.n_candidates, self.space.dim))
            with np.errstate(over="ignore"):  # halves, and a limit: responses may be as large as floats go
                best = 2.0 * ((0.5 * self._history.y[self._history.best] - 0.5 * gp.y_mean_) / gp.y_std_)
            scores = self._acquisition(gp, candidates, float(np.clip(best, -FAR, FAR)), self._candidate_rng)
            winner: FloatArray = candidates[int(np.argmax(scores))]
            return winner

    def _current_surrogate(self) -> GaussianProcess:
        """The surrogate fitted to everything told.

        A copy of the loop does the fitting, so that neither hyperparameters nor generators of this one move.
        """
        if not self.n_told:
            raise ValueError("predict needs at least one observation: call tell(x, y) first")
        if self._n_modelled == self.n_told:
            return self._surrogate
        twin = copy.deepcopy(self)
        twin._update_surrogate()
        return twin._surrogate


def _acquisition(name: str, options: dict[str, Any] | None) -> Acquisition:
    chosen = ACQUISITIONS[check_choice("acquisition", name, ACQUISITIONS)]
    try:
        return chosen(**(options or {}))
    except TypeError as error:
        raise ValueError(f"acquisition_options must suit {chosen.__name__}, got {options!r}: {error}") from error


def _surrogate(template: GaussianProcess | None, dim: int) -> GaussianProcess:
    if template is None:
        # Fixed bounds: with the default ones the search box would move with the retained subset.
        return GaussianProcess(lengthscale_bounds=(5e-3, 1e3), warm_start=True)
    if not isinstance(template, GaussianProcess):
        raise ValueError(f"surrogate must be a GaussianProcess, got {template!r}")
    if template.lengthscale is not None and template.lengthscale.size not in (1, dim):
        raise ValueError(f"surrogate must have 1 or {dim} lengthscales, got {template.lengthscale.size}")
    surrogate = copy.deepcopy(template)
    surrogate.forget()  # what it was fitted to is another space's
    surrogate.warm_start = True
    return surrogate

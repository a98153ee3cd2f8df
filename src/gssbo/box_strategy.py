"""The paper's strategy: a surrogate of the retained subset, and the best of candidates from the whole box.

Notation
--------
n       observations told; d parameters
M       capacity of the retained subset
theta   hyperparameters of the surrogate

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026, algorithm 1.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from gssbo._keywords import hint, keywords_of
from gssbo._parallel import default_threads
from gssbo._typing import FloatArray, IndexArray
from gssbo._validation import check_choice, check_integer
from gssbo.acquisition import ACQUISITIONS, Acquisition, ThompsonSampling
from gssbo.choice import Admit, choose
from gssbo.fantasy import fantasize
from gssbo.gp import GaussianProcess
from gssbo.history import History
from gssbo.pooled import PooledProcess
from gssbo.projected import ProjectedProcess
from gssbo.responses import standardize_by
from gssbo.retention import Retention
from gssbo.space import Space
from gssbo.surrogate import Predictor, Surrogate, in_units
from gssbo.timings import Timings

__all__ = ["BoxStrategy", "default_n_candidates"]

POSTERIORS = ("exact", "projected", "pooled")
SETS = 10  # of candidates, beyond one a suggestion, to be told, pending or infeasible before the search is given up
MOST_CANDIDATES = 10_000_000  # a suggestion


Informed = ProjectedProcess | PooledProcess  # by all of the pool, not by the retained subset alone


class _Rows(NamedTuple):
    """What a surrogate is fitted to."""

    X: FloatArray  # unit points (n, D)
    y: FloatArray  # responses to be maximised (n,), NaN where the evaluation failed
    noise_std: FloatArray | None  # known standard deviations of their noise (n,), in units of y


class _Valued(NamedTuple):
    """Those that did not fail, where some did: indices into the history, and what is there."""

    members: IndexArray  # of the retained ones
    rows: _Rows
    seen: IndexArray  # of all that the model has seen
    seen_rows: _Rows


def default_n_candidates(dim: int) -> int:
    """Candidates a suggestion is chosen from, as in the configuration table (appendix) of [1]."""
    return 10_000 if dim <= 10 else 5_000 if dim <= 50 else 2_000


class BoxStrategy:
    """One surrogate over the whole box, scored at uniform candidates; see `Strategy` for the methods.

    A strategy that differs in what it fits to, or in where it looks, overrides `members` or `candidates`.

    Parameters
    ----------
    space : Space
    retention : Retention
    refit, fit_on, posterior, acquisition, acquisition_options, n_candidates, surrogate, threads
        As for `Optimizer`.
    fit_rng, candidate_rng : numpy.random.Generator
        Sources of the restarts, and of candidates and draws.
    timings : Timings
        Charged with the parts "refit" and "acquisition".

    Attributes
    ----------
    space : Space
    candidate_rng : numpy.random.Generator
    n_candidates : int
        Candidates a suggestion is chosen from.
    n_modelled : int
        Observations held at the last update.

    Examples
    --------
    >>> from gssbo.buffer import Buffer
    >>> timings, rngs = Timings(), np.random.default_rng(0).spawn(3)
    >>> retention = Retention(Buffer(30, n_init=5), rng=rngs[0], timings=timings)
    >>> strategy = BoxStrategy(
    ...     Space([(0, 1)]), retention=retention, fit_rng=rngs[1], candidate_rng=rngs[2], timings=timings
    ... )
    >>> history = History(1)
    >>> X = np.linspace(0.0, 1.0, 9)[:, None]
    >>> history.append(X, X, -((X[:, 0] - 0.3) ** 2))
    >>> strategy.update(history)
    True
    >>> bool(abs(strategy.suggest(history, X[:0], 1, lambda U: np.ones(len(U), dtype=bool))[0, 0] - 0.3) < 0.1)
    True
    """

    def __init__(
        self,
        space: Space,
        *,
        retention: Retention,
        refit: int | str = 1,
        fit_on: int | str = "retained",
        posterior: str = "exact",
        acquisition: str = "ucb",
        acquisition_options: dict[str, Any] | None = None,
        n_candidates: int | None = None,
        surrogate: Surrogate | None = None,
        threads: int | None = None,
        fit_rng: np.random.Generator,
        candidate_rng: np.random.Generator,
        timings: Timings,
    ) -> None:
        self.space = space
        self._retention = retention
        if isinstance(refit, str) and refit != "frozen":
            raise ValueError(f"refit must be an integer or 'frozen', got {refit!r}")
        self._frozen_at_switch = isinstance(refit, str)
        self._refit_every = 1 if self._frozen_at_switch else check_integer("refit", refit, at_least=1)
        self._fit_on = _fit_on(fit_on)
        self._posterior = check_choice("posterior", posterior, POSTERIORS)
        self._acquisition = _acquisition(acquisition, acquisition_options)
        self.n_candidates = (
            default_n_candidates(space.dim)
            if n_candidates is None
            else check_integer("n_candidates", n_candidates, at_least=1, at_most=MOST_CANDIDATES)
        )
        self._surrogate = _surrogate(surrogate, space.dim)
        retention.check(self._surrogate)
        if isinstance(self._acquisition, ThompsonSampling):
            self._acquisition.check(self._surrogate)
        if self._posterior != "exact":
            _check_informable(self._surrogate, posterior, acquisition)
        self._surrogate.threads = (
            default_threads() if threads is None else check_integer("threads", threads, at_least=1)
        )
        self._fit_rng, self.candidate_rng = fit_rng, candidate_rng
        self._timings = timings
        self.n_modelled = 0
        self._since_refit = 0
        self._retained: IndexArray = np.empty(0, dtype=np.intp)
        self._informed: Informed | None = None  # by the pool, beyond the retained ones
        self._seen: IndexArray = np.empty(0, dtype=np.intp)  # by what is scored
        self._valued: _Valued | None = None
        self._subset: Surrogate | None = None  # fitted to what is valued, when asked for
        self._predicts: Informed | None = None

    # ---- what the optimizer does

    def place(self, draws: FloatArray) -> FloatArray:
        """The points of the space at the draws (n, p)."""
        return self.space.place(draws)

    def update(self, history: History) -> bool:
        """Select, then fit, if anything was told since the last time."""
        n = len(history)
        if n == self.n_modelled:
            return False
        switched = self._retention.buffer.switched(n)
        apart = switched and self._fit_on != "retained"
        if apart and self._due(switched):
            self._fit(history, self._retention.spread(n, self._fit_on), optimize=True)
        members = self.members(history)
        self._fit(history, members, optimize=not apart and self._due(switched))
        informed, seen = None, members
        if switched and self._posterior != "exact":
            seen = self._retention.pool
            with self._timings.part("refit"):
                informed = _informed(self._posterior, self._surrogate, _rows(history, seen))
        valued = _valued(history, members, seen)
        # Ctrl-C interrupts no assignments in a row: before them, the next time begins anew.
        self._informed, self._seen = informed, seen
        self._valued, self._subset, self._predicts = valued, None, None
        self._retained = members
        self._since_refit += 1
        self.n_modelled = n
        return True

    def suggest(self, history: History, pending: FloatArray, n: int, admit: Admit) -> FloatArray:
        """The best of fresh candidates; random points before anything was told.

        A finite space of no more points than there are candidates is scored whole.
        """
        if len(history) == 0:
            points = self.space.place(self.candidate_rng.random((n, self.space.n_draws)))
            return points[admit(points)]
        if self.space.thin:  # hardly any candidate would be feasible
            return np.empty((0, self.space.dim))
        with self._timings.part("acquisition"):
            gp = fantasize(self._model, pending) if len(pending) else self._model
            best = self._incumbent(history)
            found = np.empty((0, self.space.dim))
            for candidates in self.candidates(history, n):
                left = n - len(found)
                new = candidates[choose(self._acquisition, gp, candidates, best, self.candidate_rng, admit, left)]
                found = np.vstack([found, new])
                if len(found) == n:
                    break
                if len(new):
                    gp = fantasize(gp, new)
            return found

    def posterior(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation (m,) at (m, d) unit points, in units of the history's y; see `predictor`."""
        return in_units(self.predictor()[0], points)

    def predict(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """`posterior`: nothing that is slower predicts better."""
        return self.posterior(points)

    def record(self, seconds: float, n: int) -> None:
        """Tell the buffer's dynamic rule what an iteration took."""
        self._retention.buffer.record(seconds, n)

    # ---- what it shows

    @property
    def retained(self) -> IndexArray:
        """Indices into the history of the observations last fitted on, ascending; a copy."""
        return self._retained.copy()

    @property
    def surrogate(self) -> Surrogate:
        """The surrogate as last fitted; read only."""
        return self._surrogate

    @property
    def M(self) -> int | None:
        """Capacity of the retained subset; None while the dynamic rule has not fixed it."""
        return self._retention.buffer.size

    @property
    def switched_at(self) -> int | None:
        """Observations held when retention began; None before."""
        return self._retention.buffer.switched_at

    # ---- how

    @property
    def _model(self) -> Predictor:
        """What is scored."""
        return self._surrogate if self._informed is None else self._informed

    def _due(self, switched: bool) -> bool:
        """Whether hyperparameters are to be fitted."""
        if not self._surrogate.fitted:
            return True
        return not (switched and self._frozen_at_switch) and self._since_refit % self._refit_every == 0

    def members(self, history: History) -> IndexArray:
        """Indices into the history, ascending, of what to fit to: everything, or the retained subset."""
        if not self._retention.buffer.switched(len(history)):
            return np.arange(len(history), dtype=np.intp)
        if not self._surrogate.fitted:  # told in bulk
            self._fit(history, self._retention.first_members(len(history)), optimize=True)
        stands = self._refit_every != 1 or self._frozen_at_switch or not self._surrogate.fit_hyperparameters
        return self._retention.choose(history, self._surrogate, stands=stands)

    def _fit(self, history: History, members: IndexArray, *, optimize: bool) -> None:
        with self._timings.part("refit"):
            _condition(self._surrogate, _rows(history, members), optimize=optimize, rng=self._fit_rng)

    def predictor(self) -> tuple[Predictor, IndexArray]:
        """What predicts, and indices into the history of what it has seen.

        That is the model that is scored, but where evaluations failed one that is fitted without them: what stands in
        their place is for the search; beside good values it is no model of the objective.
        """
        if self._informed is None:
            return self.subset_model()
        if self._valued is None:
            return self._informed, self._seen.copy()
        if self._predicts is None:
            self._predicts = _informed(self._posterior, self.subset_model()[0], self._valued.seen_rows)
        return self._predicts, self._valued.seen.copy()

    def subset_model(self) -> tuple[Surrogate, IndexArray]:
        """The surrogate, fitted without evaluations that failed, and indices of what it is fitted to."""
        if self._valued is None:
            return self._surrogate, self._retained.copy()
        if self._subset is None:
            self._subset = copy.deepcopy(self._surrogate)
            _condition(self._subset, self._valued.rows, optimize=True, rng=np.random.default_rng(0))
        return self._subset, self._valued.members.copy()

    def candidates(self, history: History, n: int) -> Iterator[FloatArray]:
        """Sets of realisable unit points (m, D) to choose n from in turn, should one not be enough."""
        space = self.space
        if space.size <= self.n_candidates:
            yield space.to_unit(space.at(np.arange(int(space.size))))
            return
        for _ in range(n + SETS):
            yield space.place(self.candidate_rng.random((self.n_candidates, space.n_draws)))

    def _incumbent(self, history: History) -> float:
        """The largest response told, in units of the standardised ones; 0 where all failed."""
        if history.best < 0:
            return 0.0
        return float(standardize_by(history.y[history.best], self._model.y_mean_, self._model.y_std_))


def _rows(history: History, members: IndexArray) -> _Rows:
    noise_std = None if history.noise_std is None else history.noise_std[members]
    return _Rows(np.ascontiguousarray(history.unit[members]), history.y[members], noise_std)


def _valued(history: History, members: IndexArray, seen: IndexArray) -> _Valued | None:
    """Those of the retained and of what was seen that did not fail; None where all of these did, or nothing did."""
    left, known = (each[~np.isnan(history.y[each])] for each in (members, seen))
    if len(left) == 0 or len(known) == len(seen):
        return None
    return _Valued(left, _rows(history, left), known, _rows(history, known))


def _informed(posterior: str, surrogate: Surrogate, rows: _Rows) -> Informed:
    """What the surrogate's process makes of rows, with the observations that it is fitted to as a basis."""
    assert isinstance(surrogate, GaussianProcess)
    z, mean, std, known = surrogate.standardized(rows.y, rows.noise_std)
    projection = ProjectedProcess(
        surrogate.kernel_, surrogate.noise_, surrogate.X_train_, scale=(mean, std), threads=surrogate.threads
    )
    projection.observe(rows.X, z, known)
    if posterior == "projected":
        return projection
    whole = copy.copy(surrogate)
    whole.set_theta(rows.X, z, surrogate.theta_, known, scale=(mean, std))
    return PooledProcess(whole, projection)


def _condition(surrogate: Surrogate, rows: _Rows, *, optimize: bool, rng: np.random.Generator) -> None:
    optimize = optimize and surrogate.fit_hyperparameters
    surrogate.condition(rows.X, rows.y, optimize=optimize, rng=rng, noise_std=rows.noise_std)


def _fit_on(given: int | str) -> int | str:
    if isinstance(given, str):
        if given not in ("retained", "spread"):
            raise ValueError(f"fit_on must be 'retained', 'spread' or an integer, got {given!r}")
        return given
    return check_integer("fit_on", given, at_least=1)


def _check_informable(surrogate: Surrogate, posterior: str, acquisition: str) -> None:
    if type(surrogate) is not GaussianProcess:
        raise ValueError(f"posterior must be 'exact' with a surrogate other than a GaussianProcess, got {surrogate!r}")
    if acquisition == "thompson":
        raise ValueError(f"posterior must be 'exact' with acquisition='thompson', got {posterior!r}")


def _acquisition(name: str, options: dict[str, Any] | None) -> Acquisition:
    chosen = ACQUISITIONS[check_choice("acquisition", name, ACQUISITIONS)]
    given = {} if options is None else options
    if not isinstance(given, Mapping):
        raise ValueError(f"acquisition_options must be a dict, got {given!r}")
    accepted = keywords_of(chosen)
    for option in given:
        if option not in accepted:
            rule = f"hold nothing but {', '.join(map(repr, accepted))} with acquisition={name!r}"
            raise ValueError(f"acquisition_options must {rule}, got {option!r}{hint(str(option), accepted)}")
    return chosen(**given)


def _surrogate(template: Surrogate | None, dim: int) -> Surrogate:
    if template is None:
        # Fixed bounds: with the default ones the search box would move with the retained subset.
        return GaussianProcess(lengthscale_bounds=(5e-3, 1e3), warm_start=True, tol=1e-6)
    verbs = ("prepare", "condition", "posterior", "posterior_bound")
    missing = [verb for verb in verbs if not callable(getattr(template, verb, None))]
    missing += [name for name in ("fitted", "fit_hyperparameters") if not hasattr(template, name)]
    if isinstance(template, type) or missing:
        without = "" if isinstance(template, type) else f" without {', '.join(missing)}"
        raise ValueError(
            "surrogate must be a GaussianProcess or another object with the members of Surrogate, "
            f"got {template!r}{without}"
        )
    surrogate = copy.deepcopy(template)
    surrogate.prepare(dim)
    return surrogate

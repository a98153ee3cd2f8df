"""The optimizer loop: ask for a suggestion, tell what it gave.

Here its parts are made of the options. The books are a ledger's; the model, and where to look next, a strategy's.

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

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from gssbo import methods
from gssbo._arithmetic import all_in_own_arithmetic
from gssbo._keywords import check_keywords, checked, keywords_of, no_attribute
from gssbo._text import brief
from gssbo._typing import RngLike
from gssbo._validation import check_choice, check_flag, check_integer, spawn_generators
from gssbo.box_strategy import BoxStrategy
from gssbo.buffer import Buffer
from gssbo.default_method import default_n_init, method_for, refuse_box_options
from gssbo.design import Design
from gssbo.entry import Entry
from gssbo.modelled import Modelled
from gssbo.pending import Suggestion
from gssbo.portfolio import Portfolio
from gssbo.proposals import Proposals
from gssbo.resumable import Resumable
from gssbo.resume import open_journal, states_of
from gssbo.retention import Retention
from gssbo.selection.rules import PIVOTED, RULES
from gssbo.space import Space
from gssbo.strategy import Strategy, StrategyFactory
from gssbo.surrogate import Surrogate
from gssbo.timings import Timings

__all__ = ["Optimizer"]

MOST_AT_ONCE = 1_000_000  # suggestions
NOT_OF_THE_RUN = {"self", "__class__", "bounds", "constraints", "threads", "rng", "journal"}  # a journal goes without

Init = TypeVar("Init", bound=Callable[..., None])


def _with_method(init: Init) -> Init:
    """Let options say which method they are of, and the name of a comparison method stand for its options.

    Those given beside such a name come first. And let go of the journal where the optimizer cannot be made.
    """
    accepted = keywords_of(init)

    @functools.wraps(init)
    def with_method(self: Optimizer, *args: Any, **options: Any) -> None:
        check_keywords("Optimizer", options, accepted)
        name = method_for(options)
        known = name if isinstance(name, str) else None
        if known == "portfolio":
            refuse_box_options(options)
        elif known in methods.METHODS:
            options = methods.method_options(name, options.get("subset_size")) | options
        try:
            init(self, *args, **options | {"method": name})
        except BaseException:
            if getattr(self, "_journal", None) is not None:
                Modelled.close(self)  # there is nothing to take a snapshot of
            raise

    return cast(Init, with_method)


def _portfolio_size(value: Any) -> int:
    if isinstance(value, str):
        raise ValueError(f"subset_size must be an integer, or 'dynamic' with method='box', got {brief(value)}")
    return check_integer("subset_size", value, at_least=3)


@all_in_own_arithmetic
class Optimizer(Resumable):
    """Bayesian optimization on a retained subset, by ask and tell.

    Parameters
    ----------
    bounds : sequence, array of shape (d, 2), scipy.optimize.Bounds, or dict
        The space, one entry a parameter: a pair (low, high) of reals, a `Real`, `Integer` or `Categorical`, a `range`,
        `bool`, or a list of values. Points are arrays where all parameters are real, lists of built-in values where
        some are not, and dicts where `bounds` is one. Equal ends fix a parameter.
    constraints : LinearConstraint, NonlinearConstraint, or a sequence of them, optional
        Of SciPy; what points must meet to be suggested. A function is called with a point as `ask` gives it.
    method : {"portfolio", "box"} or a key of `gssbo.methods.METHODS`, optional
        "portfolio" shares the suggestions among local and global models by what they gain; it takes `n_init`,
        `initial_design`, `subset_size` (a number) and `threads`, and refuses the options of the box. "box" is the
        paper's: one Gaussian process over the whole box and uniform candidates. The others are methods to compare with:
        all options that are not given are then that method's, in the paper's protocol. By default "portfolio", or "box"
        if one of its options is given (from `dynamic_factor` to `strategy` below, or `subset_size="dynamic"`); the
        attribute `method` says which.
    duplicates : {"avoid", "allow"}
        Whether a point that was told may be suggested again; it may, for a noisy objective. By default no point is
        suggested twice, and a finite space ends in `SpaceExhausted`. Points told twice are two observations either way.
    maximize : bool
        Whether larger values are better; by default smaller ones are.
    n_init : int, optional
        Points of the initial design, by default 2 d + 2 but at least 6 and at most 40, or for the box 20. The first
        `n_init` observations told count as it, whatever they are: shuffle data that come in an order.
    initial_design : {"lhs", "sobol"}
        Latin hypercube or scrambled Sobol points.
    subset_size : int or "dynamic"
        Capacity M of the retained subset; "dynamic" sets it to the number of observations held when the median of
        three iterations first exceeds `dynamic_factor` times the mean of the first ones, which depends on the machine.
    dynamic_factor : float
        Z of the dynamic rule.
    gap_tolerance : float, optional
        In standard deviations of the responses, for the rules "residual", "variance", "residual-ratio" and
        "residual-exchange": M is how many are retained at most, and so few are that the posterior mean of twice as many
        differs by no more than this at 500 points of the box. Asked anew whenever the history is a tenth longer.
    rule : str
        Selection rule: "vector", "scalar", "random", "kmeans++", "maxmin", "residual", "variance", "residual-ratio",
        "residual-exchange" or "topk-random".
    retain_initial, retain_newest : bool
        Whether the initial design and the newest observation are always retained.
    pool : "auto", "full", "rotating" or int
        What the rule chooses from: all observations; the newest so many beside the forced ones; or, so that the cost
        of a suggestion stays flat, the newest 4 M, what was retained last and 1,000 older ones, others each time
        ("rotating"). Automatic: all up to 4 M, then the newest 4 M; rotating for the rules "variance" and "residual",
        "residual-ratio" and "residual-exchange", whose time is linear in the pool.
    refit : int or "frozen"
        Hyperparameters are fitted every so many suggestions, or frozen when retention begins.
    fit_on : {"retained", "spread"} or int
        What they are fitted on: the retained subset; or, once retention begins, 4 M observations, or so many, spread
        evenly over the history. Those that a rule retained for their residuals make the function look rougher than it
        is.
    posterior : {"exact", "projected", "pooled"}
        What the suggestions are chosen by, once retention begins: the exact process of the retained subset alone, as
        in the paper; that of the whole pool, projected on the retained subset, see `gssbo.projected`, which costs M^2
        for each of its p observations; or the exact mean of the pool with the uncertainty of that projection, see
        `gssbo.pooled`, which costs p^3 / 3 once and p for each candidate. The last two go with a GaussianProcess and
        any acquisition but "thompson".
    refresh : {"auto", "recompute", "cached"}
        Embeddings from a Cholesky factorization each time, or from a cache updated in O(n^2) an observation while the
        hyperparameters stand; "auto" caches where they are not fitted for every suggestion.
    acquisition : {"ucb", "ei", "log_ei", "pi", "thompson"}
    acquisition_options : dict, optional
        Keyword arguments of the acquisition class.
    n_candidates : int, optional
        Uniform candidates a suggestion is chosen from; default 10,000 for d <= 10, 5,000 for d <= 50, else 2,000, where
        each of three categories or more counts for one in d, and more than 256 for 128 or more.
    surrogate : GaussianProcess or another Surrogate, optional
        A template: kernel, bounds, restarts, or fixed hyperparameters (`fit_hyperparameters=False`), with lengthscales
        in units of the sides of the model's cube (see `gssbo.space.parameter`). It is copied.
    strategy : callable, optional
        Makes the `gssbo.strategy.Strategy` of a space and the keyword arguments of `gssbo.box_strategy.BoxStrategy`,
        which is the default.
    threads : int, optional
        Threads for restarts, candidates and covariances of more than 256 observations; default: the processors this
        process may use, at most 4. Suggestions do not depend on it.
    rng : None, int or numpy.random.Generator
        With a seed the run is reproducible, whatever the number of BLAS threads.
    journal : path or gssbo.journal.Journal, optional
        A file in which everything asked and told is on the disk before the call returns. Where it holds a run, that is
        taken up as it was left, suggestions that are pending included: what is asked next is what would have been
        asked then. Space, options and seed must be those of the run; without a seed, it goes on with its own. A copy
        of the optimizer has no journal.

    Raises
    ------
    ValueError
        If an argument is out of its range; the message names it, the rule and the value.

    Notes
    -----
    `ask`, `tell` and `predict` may be called from several threads; they take turns.

    A suggestion is pending from `ask` until it is told (by its id, or by its values), forgotten, or overtaken by 1,000
    later observations. The model takes pending points for observed at its own mean there: their surroundings lose
    their uncertainty, so other workers are sent elsewhere.

    An evaluation that failed (NaN, infinitely bad, or `failed=True`) is an observation without a value. It is never the
    best, and suggested again only where duplicates are allowed; the mean and standard deviation of the responses go
    without it. The search takes it for one standard deviation worse than the worst of the others its model stands on;
    predictions go without it.

    Examples
    --------
    >>> opt = Optimizer([(-5.0, 5.0)], n_init=5, rng=0)
    >>> for _ in range(15):
    ...     x = opt.ask()
    ...     opt.tell(x, (x[0] - 1.0) ** 2)
    >>> bool(abs(opt.best_x[0] - 1.0) < 0.1)
    True
    """

    @_with_method
    def __init__(
        self,
        bounds: Any,
        *,
        constraints: Any = None,
        method: str | None = None,
        duplicates: str = "avoid",
        maximize: bool = False,
        n_init: int | None = None,
        initial_design: str = "lhs",
        subset_size: int | str = 100,
        dynamic_factor: float = 4.0,
        gap_tolerance: float | None = None,
        rule: str = "vector",
        retain_initial: bool = True,
        retain_newest: bool = True,
        pool: str | int = "auto",
        refit: int | str = 1,
        fit_on: int | str = "retained",
        posterior: str = "exact",
        refresh: str = "auto",
        acquisition: str = "ucb",
        acquisition_options: dict[str, Any] | None = None,
        n_candidates: int | None = None,
        surrogate: Surrogate | None = None,
        strategy: StrategyFactory | None = None,
        threads: int | None = None,
        rng: RngLike = None,
        journal: Any = None,
    ) -> None:
        given = {name: value for name, value in locals().items() if name not in NOT_OF_THE_RUN}
        super().__init__(Space(bounds, constraints), maximize=maximize)
        self.duplicates = check_choice("duplicates", duplicates, ("avoid", "allow"))
        self.method = check_choice("method", cast(str, method), (*methods.OWN, *methods.METHODS))
        self.n_init = (
            default_n_init(self.method, self.space.n_draws)
            if n_init is None
            else check_integer("n_init", n_init, at_least=1, at_most=MOST_AT_ONCE)
        )
        self.rule = check_choice("rule", rule, RULES)
        if not (strategy is None or callable(strategy)):
            raise ValueError(f"strategy must be callable, got {brief(strategy)}")
        self.timings = Timings()
        self._journal, self._generators, entries = open_journal(
            journal, self.space, given, rng, spawn_generators("rng", rng, 4)
        )
        design_rng, selection_rng, fit_rng, candidate_rng = self._generators
        if self.method == "portfolio":
            self.rule = "residual"
            self._strategy: Strategy = Portfolio(
                self.space,
                size=_portfolio_size(subset_size),
                n_init=self.n_init,
                threads=threads,
                repeats=self.duplicates == "allow",
                rng=candidate_rng,
                timings=self.timings,
            )
        else:
            buffer = Buffer(
                subset_size,
                n_init=self.n_init,
                factor=dynamic_factor,
                retain_initial=retain_initial,
                retain_newest=retain_newest,
                pool="rotating" if isinstance(pool, str) and pool == "auto" and self.rule in PIVOTED else pool,
            )
            self._strategy = (BoxStrategy if strategy is None else strategy)(
                self.space,
                retention=Retention(
                    buffer,
                    rule=self.rule,
                    refresh=refresh,
                    tolerance=gap_tolerance,
                    rng=selection_rng,
                    timings=self.timings,
                ),
                refit=refit,
                fit_on=fit_on,
                posterior=posterior,
                acquisition=acquisition,
                acquisition_options=acquisition_options,
                n_candidates=n_candidates,
                surrogate=surrogate,
                threads=threads,
                fit_rng=fit_rng,
                candidate_rng=candidate_rng,
                timings=self.timings,
            )
        self.n_candidates = getattr(self._strategy, "n_candidates", n_candidates)

        # The design has had its share of its generator; spare points take theirs from it.
        self._proposals = Proposals(
            self.space,
            self._history,
            self._pending,
            Design(self.space, self.n_init, initial_design, design_rng, place=self._strategy.place),
            self._strategy,
            repeats=self.duplicates == "allow",
            rng=design_rng,
        )
        self._take_up(entries)

    if not TYPE_CHECKING:  # to a type checker, any name would be an attribute then

        def __getattr__(self, name):
            """Called for what is not there: other packages have other words for it."""
            if hasattr(type(self), name):  # a property, which raised what is not about its name
                return object.__getattribute__(self, name)
            raise no_attribute(self, name)

    def __repr__(self) -> str:
        return (
            f"Optimizer(d={self.space.n_parameters}, told={self.n_told}, best_y={self.best_y}, rule={self.rule!r}, "
            f"M={self.M}, retained={self.n_retained})"
        )

    @checked
    def ask(self, n: int | None = None, *, ids: bool = False) -> Any:
        """Suggest a point to evaluate, or several.

        What was enqueued first, and the initial design; then the best candidate under the surrogate of the retained
        subset. What is suggested is pending until it is told: asking again without telling gives another point.

        Parameters
        ----------
        n : int, optional
            Suggest so many points at once, up to a million, all different, with one fit; fewer where a finite space has
            no more, unless `duplicates="allow"`: what is pending may come again then.
        ids : bool
            Whether to return each point as a `Suggestion`, with the `id` it may be told by.

        Returns
        -------
        ndarray of shape (d,) or (n, d), list or dict, or a list of n of those
            In the form of the bounds.

        Raises
        ------
        SpaceExhausted
            If all points of a finite space are told or pending.
        InfeasibleError
            If no point that meets the constraints was found among 100,000.
        """
        count = 1 if n is None else check_integer("n", n, at_least=1, at_most=MOST_AT_ONCE)
        check_flag("ids", ids)
        with self._turn():
            self._complete()
            numbers = self._ask(count)
            self._keep()
            points = self.space.show(np.stack([self._pending.row(number) for number in numbers]))
        if ids:
            points = [Suggestion(*pair) for pair in zip(numbers, points, strict=True)]
        return points[0] if n is None else points

    def reseed(self, rng: RngLike = None) -> None:
        """Go on with other random numbers, for a copy that shall not suggest what the original does.

        What was told and learnt stays, and so does the initial design.

        Examples
        --------
        >>> opt = Optimizer([(0.0, 1.0)] * 2, method="box", n_init=2, rng=0)
        >>> opt.tell([[0.1, 0.3], [0.6, 0.2], [0.4, 0.9]], [1.0, 2.0, 1.5])
        >>> import copy
        >>> twin = copy.deepcopy(opt)
        >>> twin.reseed(1)
        >>> bool((opt.ask(4) == twin.ask(4)).all())
        False
        """
        with self._turn():
            self._complete()
            fresh = []
            for ours, other in zip(self._generators, spawn_generators("rng", rng, 4), strict=True):
                # In place, as others hold them; of the same kind, whatever kind that is.
                fresh.append(np.random.Generator(type(ours.bit_generator)(other.integers(2**63, size=4))))
            self._commit(Entry("reseed", state=states_of(fresh)))

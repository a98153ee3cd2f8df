"""The run itself: ask, evaluate, tell, and a trace of where the time went."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from gssbo.methods import method_options
from gssbo.optimizer import Optimizer
from gssbo.problems import Problem, get_problem
from gssbo.progress import RECENT, Show, Standing

__all__ = ["Run", "start"]


@dataclass
class Run:
    """A problem, an optimizer and what happened between them.

    Parameters
    ----------
    problem : Problem
    method : str
        A key of `gssbo.methods.METHODS` or of `gssbo.methods.OWN`.
    subset_size : int, "dynamic" or None
        As asked for; None is the method's own.
    seed : int
    n_evals : int
        Budget, initial design included.
    optimizer : Optimizer
    """

    problem: Problem
    method: str
    subset_size: int | str | None
    seed: int
    n_evals: int
    optimizer: Optimizer
    optimizer_seconds: list[float] = field(default_factory=list)  # cumulative, after each evaluation
    objective_seconds: list[float] = field(default_factory=list)  # likewise
    ask_seconds: list[float] = field(default_factory=list)
    interrupted: bool = False

    def go(self, show: Show) -> None:
        """Spend the budget, or as much of it as Ctrl-C allows; `show` is called after each evaluation."""
        optimizer, spent = self.optimizer, 0.0
        try:
            while optimizer.n_told < self.n_evals:
                x = optimizer.ask()
                begin = time.perf_counter()
                y = self.problem(x)
                spent += time.perf_counter() - begin
                optimizer.tell(x, y)
                self.ask_seconds.append(optimizer.last_ask_seconds)
                self.optimizer_seconds.append(optimizer.timings.total)
                self.objective_seconds.append(spent)
                show(self.standing)
        except KeyboardInterrupt:
            self.interrupted = True

    @property
    def standing(self) -> Standing:
        """How far the run has come."""
        optimizer = self.optimizer
        modelled = self.ask_seconds[max(optimizer.n_init, len(self.ask_seconds) - RECENT) :]
        return Standing.of(optimizer, n_evals=self.n_evals, n_done=optimizer.n_told, ask_seconds=modelled)


def start(name: str, *, dim: int | None, method: str, subset_size: int | str | None, seed: int, n_evals: int) -> Run:
    """Set a run up.

    With a deterministic problem it is the run of ``gssbo.minimize(problem, problem.bounds, n_evals=n_evals, rng=seed,
    **method_options(method, subset_size))``. A noisy problem has a stream of random numbers of its own.

    Raises
    ------
    ValueError
        If a name is unknown or a number out of its range.
    """
    options = method_options(method, subset_size)
    problem = get_problem(name, dim=dim, rng=np.random.default_rng([seed, 1]))
    return Run(problem, method, subset_size, seed, n_evals, Optimizer(problem.bounds, rng=seed, **options))

"""Methods by name: each evaluates the objective until it is spent.

Beside those listed here, every name in `gssbo.methods.METHODS` is a method (in the paper's protocol, as `gssbo run` has
it), and any method that is an `Optimizer` takes options for it: ``--options``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

import gssbo
from gssbo.methods import ALL, method_options
from gssbo.methods import METHODS as CONFIGURATIONS

from . import rivals
from .objective import Objective

__all__ = ["METHODS", "Method", "find"]


@dataclass(frozen=True)
class Method:
    """How to run a method.

    Parameters
    ----------
    run : callable
        ``run(objective, seed)``, which ends with `Spent` or by itself when the budget is gone.
    packages : tuple of str
        What has to be installed beside gssbo; loaded before the clock starts, versions are recorded.
    options : mapping or None
        Keyword arguments of `gssbo.Optimizer`; None where there is none.
    """

    run: Callable[[Objective, int], None]
    packages: tuple[str, ...] = ()
    options: Mapping[str, Any] | None = field(default=None)

    def load(self) -> None:
        """Import what the method needs; raises ModuleNotFoundError."""
        for package in self.packages:
            importlib.import_module(package)


def random(objective: Objective, seed: int) -> None:
    """Uniform random search."""
    rng = np.random.default_rng(seed)
    while True:
        objective.unit(rng.random(objective.problem.dim))


def ours(**options: Any) -> Method:
    """Return the method that asks a gssbo optimizer with these options, on one thread."""

    def run(objective: Objective, seed: int) -> None:
        optimizer = gssbo.Optimizer(objective.problem.bounds, threads=1, rng=seed, **options)
        while True:
            x = optimizer.ask()
            optimizer.tell(x, objective(x))

    return Method(run, options=options)


METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "gssbo": ours(),
        "gssbo-gp-ei": ours(method="box", subset_size=ALL, pool="full", acquisition="log_ei"),
        "paper": ours(**method_options("gssbo")),
        "gp-ucb-refit10": ours(**{**method_options("gp-ucb"), "refit": 10}),
        "turbo-refit10": ours(**{**method_options("turbo"), "refit": 10}),
        "cma": Method(rivals.cma, ("cma",)),
        "cma-random": Method(rivals.cma_random, ("cma",)),
        "de": Method(rivals.differential_evolution, ("scipy",)),
        "tpe": Method(rivals.tpe, ("optuna",)),
        "gpsampler": Method(rivals.gpsampler, ("optuna", "torch", "greenlet")),
        "random": Method(random),
    }
)
"""`gssbo` is the optimizer with all its defaults; `gssbo-gp-ei` keeps every observation and maximises log-EI; `paper`
is the paper's protocol with its vector rule and M = 100. Those with `refit10` keep every observation and fit the
hyperparameters at every tenth suggestion: at every one, a run of 1,000 takes ten times as long."""


def find(name: str, options: Mapping[str, Any] | None = None) -> Method:
    """Look a method up.

    Parameters
    ----------
    name : str
        A key of `METHODS`, or of `gssbo.methods.METHODS`: that configuration, in the paper's protocol.
    options : mapping, optional
        Keyword arguments of `gssbo.Optimizer` to change.

    Raises
    ------
    ValueError
        If the name is unknown, or options are given to a method that is no `gssbo.Optimizer`.
    """
    if name in METHODS:
        method = METHODS[name]
    elif name in CONFIGURATIONS:
        method = ours(**method_options(name))
    else:
        raise ValueError(f"method must be one of {', '.join([*METHODS, *CONFIGURATIONS])}, got {name!r}")
    if not options:
        return method
    if method.options is None:
        raise ValueError(f"options are for gssbo's own methods, got {dict(options)!r} for {name!r}")
    return ours(**{**method.options, **options})

"""Gaussian-process Bayesian optimization for large budgets.

A fixed-size subset of the observations is retained by a selection rule over GP sensitivity embeddings and the GP is
refit exactly on it. With the default pool a suggestion costs the same after 100,000 evaluations as after 1,000.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from importlib.metadata import version as _version
from typing import TYPE_CHECKING

# Before anything that imports them from deep inside other imports. At the wrong depth every call of a loop over SciPy's
# docstrings takes a new piece of the interpreter's stack and gives it back, 25,000 times: an import took 0.3 s more by
# the first, 0.04 s by the second.
import scipy.special as _special  # noqa: F401

# isort: split
import scipy.optimize as _optimize  # noqa: F401

# isort: split
from gssbo import diagnostics, journal, presets
from gssbo._minimize import minimize
from gssbo._run import run
from gssbo.gp import GaussianProcess
from gssbo.optimizer import Optimizer
from gssbo.selection import select_subset
from gssbo.space import Categorical, Integer, Real

if TYPE_CHECKING:
    from gssbo import baselines, machine, plot, problems, reference  # noqa: F401

__version__ = _version("gssbo")

__all__ = [
    "Categorical",
    "GaussianProcess",
    "Integer",
    "Optimizer",
    "Real",
    "diagnostics",
    "journal",
    "minimize",
    "presets",
    "run",
    "select_subset",
]

_ON_DEMAND = ("baselines", "machine", "plot", "problems", "reference")  # imported where they are first named

if not TYPE_CHECKING:  # to a type checker, any name would be an attribute then

    def __getattr__(name):
        if name in _ON_DEMAND:
            return _import_module(f"gssbo.{name}")
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_ON_DEMAND})

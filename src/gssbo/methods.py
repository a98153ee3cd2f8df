"""Comparison methods by name: each is a configuration of the one optimizer loop."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from gssbo._validation import check_choice
from gssbo.presets import paper

__all__ = ["ALL", "METHODS", "OWN", "Method", "keeps_all", "method_options"]

ALL = sys.maxsize
"""A subset size no history reaches: every observation stays in the surrogate."""


class Method(NamedTuple):
    """A line of description, and what differs from `gssbo.presets.paper`.

    Attributes
    ----------
    description : str
    options : mapping
        Keyword arguments of `gssbo.Optimizer`.
    module : str, optional
        A module with a function `options()` that returns more of them. It is imported when the method is asked for, so
        that it may stand above this one and need packages that are not installed.
    """

    description: str
    options: Mapping[str, Any]
    module: str | None = None

    @property
    def keeps_all(self) -> bool:
        """Whether no observation is dropped for being one too many."""
        return self.options.get("subset_size") == ALL

    def more_options(self) -> dict[str, Any]:
        """What the module says.

        Raises
        ------
        MissingDependencyError
            If the module needs a package that is not installed; the message names the extra that brings it.
        """
        if self.module is None:
            return {}
        found: dict[str, Any] = importlib.import_module(self.module).options()
        return found


OWN: Mapping[str, str] = MappingProxyType(
    {
        "box": "one model over the whole box, with this package's own settings",
        "portfolio": "local and global models share the suggestions by what they gain; this package's own",
    }
)
"""Methods of `gssbo.Optimizer` that are not a configuration in the paper's protocol, with a line of description."""

EVERYTHING: dict[str, Any] = {"subset_size": ALL}

METHODS: Mapping[str, Method] = MappingProxyType(
    {
        "gssbo": Method("the paper's method: vector rule, initial design and newest observation retained", {}),
        "gssbo-window": Method(
            "the same, chosen from the newest 4 M and the forced set: the time of a suggestion stays flat",
            {"pool": "auto"},
        ),
        "gssbo-scalar": Method(
            "response scores instead of embeddings: scalar rule, same retention", {"rule": "scalar"}
        ),
        "gssbo-kmeans": Method("k-means++ among the embeddings, same retention", {"rule": "kmeans++"}),
        "gssbo-maxmin": Method("largest minimal kernel distance, same retention", {"rule": "maxmin"}),
        "gssbo-residual": Method(
            "largest conditional variance plus squared residual, same retention", {"rule": "residual"}
        ),
        "gssbo-exchange": Method(
            "the same, then the least telling exchanged for the most telling", {"rule": "residual-exchange"}
        ),
        "gssbo-tolerance": Method(
            "the residual rule's, as many as its mean needs to be within 0.1 standard deviations, 400 at most",
            {"rule": "residual", "subset_size": 400, "gap_tolerance": 0.1},
        ),
        "gssbo-residual-spread": Method(
            "the same, hyperparameters fitted on 4 M observations spread over the history, at every tenth suggestion",
            {"rule": "residual", "fit_on": "spread", "refit": 10},
        ),
        "gssbo-residual-projected": Method(
            "the same on 800, and all observations projected on the retained ones",
            {"rule": "residual", "fit_on": 800, "refit": 10, "posterior": "projected"},
        ),
        "gssbo-residual-pooled": Method(
            "the same, but all observations give the mean exactly, and the retained ones its uncertainty",
            {"rule": "residual", "fit_on": 800, "refit": 10, "posterior": "pooled"},
        ),
        "gssbo-variance-pooled": Method(
            "the same on 1,000, and the retained ones chosen for that uncertainty, by conditional variance alone",
            {"rule": "variance", "fit_on": 1000, "refit": 10, "posterior": "pooled"},
        ),
        "rssbo": Method(
            "random subset; the newest observation is retained, the initial design is not",
            {"rule": "random", "retain_initial": False},
        ),
        "topk-random": Method(
            "the best quarter of the subset, the rest at random, nothing retained for its place",
            {"rule": "topk-random", "retain_initial": False, "retain_newest": False},
        ),
        "gp-ucb": Method("the whole history, no subset: the time of a suggestion grows as n^3", EVERYTHING),
        "lr-first": Method(
            "LR-First m: a low-rank process on the first m observations", EVERYTHING, "gssbo.baselines.lr_first"
        ),
        "mini-meta": Method(
            "mini-META: distinct points, each suggested until its noise is small",
            EVERYTHING,
            "gssbo.baselines.mini_meta",
        ),
        "vecchia": Method(
            "VecchiaBO: every response given its nearest neighbours alone", EVERYTHING, "gssbo.baselines.vecchia"
        ),
        "rembo": Method("REMBO: search in a random linear subspace", EVERYTHING, "gssbo.baselines.rembo"),
        "hesbo": Method("HeSBO: search in a subspace of hashed parameters", EVERYTHING, "gssbo.baselines.hesbo"),
        "sparse-gp": Method(
            "SparseGP: variational, on 40 inducing points (PyTorch)", EVERYTHING, "gssbo.baselines.sparse_gp"
        ),
        "ipa": Method("IPA: the same, started by quality and diversity (PyTorch)", EVERYTHING, "gssbo.baselines.ipa"),
        "deep-kernel": Method(
            "the paper's method on the output of a network, chosen by that output (PyTorch)",
            {},
            "gssbo.baselines.deep_kernel",
        ),
        "bnn": Method(
            "the paper's method with a Bayesian network, chosen by its last hidden layer (PyTorch)",
            {},
            "gssbo.baselines.bnn",
        ),
        "turbo": Method("TuRBO-style: Thompson sampling in a trust region", EVERYTHING, "gssbo.baselines.turbo"),
    }
)


def keeps_all(name: str) -> bool:
    """Whether a method, of `METHODS` or `OWN`, drops no observation for being one too many.

    Examples
    --------
    >>> keeps_all("gp-ucb"), keeps_all("portfolio")
    (True, False)
    """
    return name in METHODS and METHODS[name].keeps_all


def method_options(name: str, subset_size: int | str | None = None) -> dict[str, Any]:
    """Keyword arguments of `gssbo.Optimizer` and `gssbo.minimize` for a method.

    Parameters
    ----------
    name : str
        A key of `METHODS`, in the paper's protocol; or of `OWN`, with its own settings.
    subset_size : int or "dynamic", optional
        M, or the runtime-triggered rule; default 100, of "gssbo-tolerance" 400. A method that keeps all observations
        takes none.

    Returns
    -------
    dict
        A new dictionary, free to be changed.

    Raises
    ------
    ValueError
        If the name is unknown, or a size is given to a method that keeps all observations.
    MissingDependencyError
        If the method needs a package that is not installed.

    Examples
    --------
    >>> options = method_options("rssbo", 200)
    >>> options["rule"], options["subset_size"], options["retain_initial"]
    ('random', 200, False)
    >>> method_options("portfolio")
    {'method': 'portfolio'}
    """
    if check_choice("method", name, (*METHODS, *OWN)) in OWN:
        return {"method": name} | ({} if subset_size is None else {"subset_size": subset_size})
    method = METHODS[name]
    if method.keeps_all and subset_size is not None:
        raise ValueError(
            f"subset_size must not be given with {name!r}, which keeps all observations, got {subset_size!r}"
        )
    own = {**paper(100), **method.options, **method.more_options()}
    return own if subset_size is None else own | {"subset_size": subset_size}

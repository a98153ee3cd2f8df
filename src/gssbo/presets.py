"""Settings by name: keyword arguments of `gssbo.Optimizer` and `gssbo.minimize`."""

from __future__ import annotations

from typing import Any

from gssbo._validation import check_integer
from gssbo.gp import GaussianProcess

__all__ = ["paper", "residual", "surrogate_options"]

ENOUGH = 10  # observations a dimension


def paper(subset_size: int | None = None) -> dict[str, Any]:
    """The protocol of the paper, its configuration table (appendix) and section 6.

    Latin-hypercube design of 20, ARD Matern 5/2 on standardised responses, hyperparameters by maximum likelihood with
    2 restarts at every iteration, vector rule over the full history with initial design and newest observation
    retained, embeddings recomputed, UCB with sqrt(beta) = sqrt(2) over uniform candidates. Its 1,000 iterations come
    after the design: `n_evals=1020`. The full pool costs O(n^3) a suggestion. Change a setting with `|`:
    `paper(100) | {"rule": "scalar"}`.

    Parameters
    ----------
    subset_size : int, optional
        Fixed M; without it the runtime-triggered rule with Z = 4, whose M depends on the machine.

    Examples
    --------
    >>> paper(100)["subset_size"], paper()["subset_size"]
    (100, 'dynamic')
    """
    return {
        "n_init": 20,
        "initial_design": "lhs",
        "subset_size": "dynamic" if subset_size is None else subset_size,
        "dynamic_factor": 4.0,
        "rule": "vector",
        "retain_initial": True,
        "retain_newest": True,
        "pool": "full",
        "refit": 1,
        "refresh": "recompute",
        "acquisition": "ucb",
        "acquisition_options": {"beta": 2.0},
        "n_candidates": None,
        "surrogate": GaussianProcess(**surrogate_options()),
    }


def residual(dim: int, subset_size: int = 100) -> dict[str, Any]:
    """The paper's protocol with the residual rule, and with what M observations can carry in `dim` dimensions.

    Ten observations a dimension are what a computer experiment is usually given (Loeppky, Sacks and Welch, Choosing the
    sample size of a computer experiment: a practical guide, Technometrics 2009). Where M is at least that, the
    model stands on the retained observations, and its hyperparameters are fitted on them at every iteration. Where it
    is less, all observations give the mean, and projected on the retained ones its uncertainty. These have nothing else
    to carry then, so the rule is that by conditional variance alone; hyperparameters are fitted on 10 M observations
    spread over the history, at every tenth iteration. Regrets of both are in `bench/results/defaults.md`. The mean of n
    observations takes n^3 / 3 operations a suggestion; ``"pool": "auto"`` on top bounds n.

    Parameters
    ----------
    dim : int
        Parameters that are searched.
    subset_size : int
        M.

    Raises
    ------
    ValueError
        If one of them is no whole number, or less than 1.

    Examples
    --------
    >>> residual(6)["rule"], residual(20)["rule"], residual(20)["posterior"], residual(20, 200)["posterior"]
    ('residual', 'variance', 'pooled', 'exact')
    """
    d, M = check_integer("dim", dim, at_least=1), check_integer("subset_size", subset_size, at_least=1)
    if ENOUGH * d <= M:
        return paper(M) | {"rule": "residual", "posterior": "exact", "fit_on": "retained"}
    return paper(M) | {"rule": "variance", "posterior": "pooled", "fit_on": 10 * M, "refit": 10}


def surrogate_options() -> dict[str, Any]:
    """Keyword arguments of a surrogate in the paper's protocol: kernel, starts and search bounds.

    The starts and bounds are those of scikit-learn's kernels, on which the paper's reference implementation stands.

    Examples
    --------
    >>> surrogate_options()["n_restarts"]
    2
    """
    return {
        "kernel": "matern52",
        "lengthscale": 1.0,
        "variance": 1.0,
        "noise": 1.0,
        "lengthscale_bounds": (1e-5, 1e5),
        "variance_bounds": (1e-5, 1e5),
        "noise_bounds": (1e-5, 1e5),
        "n_restarts": 2,
        "tol": 1e-6,
    }

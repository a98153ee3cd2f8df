"""What a run found, as one document: the source of the printed report and of `--json`.

Notation
--------
y_t     value observed at evaluation t, minimised
f*      optimum of the problem
n0      size of the initial design
s       standard deviation of the function at uniform points of its box
r       expected regret of one uniform random point

Cumulative regret is the sum of y_t - f* over the iterations after the initial design, t = n0 + 1 to n. Simple regret is
that of the best value found, the initial design included.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np

from gssbo._typing import FloatArray
from gssbo.cli.loop import Run
from gssbo.methods import keeps_all
from gssbo.problems import Problem

__all__ = ["configuration", "summarize"]

FRESH = 30  # evaluations that judge a configuration of a noisy problem after the run, beyond the budget

# Names of the parameters, and whether the objective rounds them, where they mean something.
PARAMETERS: dict[str, tuple[tuple[str, bool], ...]] = {
    "diabetes": (
        ("batch size", True),
        ("learning rate", False),
        ("weight decay", False),
        ("hidden units", True),
    ),
}


def configuration(problem: Problem, x: FloatArray) -> dict[str, float | int]:
    """Return the parameters of a point (d,) by name, rounded where the objective rounds them."""
    named = PARAMETERS.get(problem.name, tuple((f"x{k + 1}", False) for k in range(problem.dim)))
    return {name: round(value) if rounded else value for (name, rounded), value in zip(named, x.tolist(), strict=True)}


def summarize(run: Run) -> dict[str, Any]:
    """Return the outcome of a run, ready for JSON; `best` is None if nothing was evaluated."""
    problem, optimizer = run.problem, run.optimizer
    return {
        "gssbo": version("gssbo"),
        "problem": {
            "name": problem.name,
            "dim": problem.dim,
            "stochastic": problem.stochastic,
            "optimum": problem.optimum,
            "optimum_error": problem.optimum_error,
        },
        "method": run.method,
        "seed": run.seed,
        "n_evals": optimizer.n_told,
        "n_evals_asked": run.n_evals,
        "n_init": min(optimizer.n_init, optimizer.n_told),
        "interrupted": run.interrupted,
        "best": _best(run),
        "model_best": _model_best(run) if problem.stochastic else None,
        "regret": _regret(run),
        "subset": {
            "asked": "all" if keeps_all(run.method) else run.subset_size or 100,
            "M": None if keeps_all(run.method) else optimizer.M,
            "began_at": optimizer.switched_at,
            "retained": len(optimizer.retained),
        },
        "timings": {
            "seconds": dict(optimizer.timings),
            "shares_percent": optimizer.timings.shares(),
            "total_seconds": optimizer.timings.total,
            "objective_seconds": run.objective_seconds[-1] if run.objective_seconds else 0.0,
            "recent_ask_ms": 1e3 * run.standing.ask_seconds,
        },
    }


def _best(run: Run) -> dict[str, Any] | None:
    return _point(run, int(np.argmin(run.optimizer.y))) if run.optimizer.n_told else None


def _model_best(run: Run) -> dict[str, Any] | None:
    """Among the points evaluated, the one with the lowest posterior mean."""
    if not run.optimizer.n_told:
        return None
    mean, _ = run.optimizer.predict(run.optimizer.X, return_std=True)
    return _point(run, int(np.argmin(mean)))


def _point(run: Run, index: int) -> dict[str, Any]:
    """Describe an evaluation by its index in the history."""
    x = run.optimizer.X[index]
    point: dict[str, Any] = {
        "value": float(run.optimizer.y[index]),
        "evaluation": index + 1,
        "configuration": configuration(run.problem, x),
        "x": x.tolist(),
    }
    if run.problem.stochastic:
        mean, std = run.optimizer.predict(x[None, :], return_std=True)
        point["posterior_mean"], point["posterior_std"] = float(mean[0]), float(std[0])
        fresh = np.asarray(run.problem(np.tile(x, (FRESH, 1))))
        point["fresh_mean"] = float(fresh.mean())
        point["fresh_error"] = float(fresh.std(ddof=1) / FRESH**0.5) if np.ptp(fresh) else 0.0
        point["fresh_evaluations"] = FRESH
    return point


def _regret(run: Run) -> dict[str, Any] | None:
    """Regret in three units; None if there was no iteration after the initial design."""
    problem, optimizer = run.problem, run.optimizer
    iterations = optimizer.n_told - optimizer.n_init
    if iterations < 1:
        return None
    scale = problem.normalizer()
    cumulative = float(np.sum(problem.regret(optimizer.y[optimizer.n_init :])))
    # The luckiest of many noisy values says nothing about how far the configuration is from the optimum.
    simple = None if problem.stochastic else float(problem.regret(optimizer.y.min()))
    return {
        "protocol": f"over the {iterations} iterations after the initial design of {optimizer.n_init}",
        "iterations": iterations,
        "raw": {"cumulative": cumulative, "simple": simple},
        "in_std": {
            "cumulative": cumulative / scale.std,
            "simple": None if simple is None else simple / scale.std,
        },
        "of_random_search": {
            "cumulative": cumulative / (iterations * scale.mean_regret),
            "simple": None if simple is None else simple / scale.mean_regret,
        },
        "scales": {
            "std": scale.std,
            "std_error": scale.std_error,
            "random_search_step": scale.mean_regret,
            "random_search_step_error": scale.mean_regret_error,
            "n_samples": scale.n_samples,
        },
    }

"""Pictures of a run, as matplotlib figures; nothing global is touched."""

from __future__ import annotations

from typing import Any

import numpy as np

from gssbo._typing import ArrayLike, FloatArray
from gssbo._validation import check_flag, check_integer, check_real, check_vector
from gssbo.plot.canvas import BLUE, GREY, ORANGE, counted, drawable, new_figure, regrets, steps, thinned, tidy

__all__ = ["plot_run"]

OBSERVED = {"color": GREY, "alpha": 0.35, "s": 6, "linewidths": 0}


def plot_run(
    values: ArrayLike,
    optimizer_seconds: ArrayLike,
    *,
    objective_seconds: ArrayLike | None = None,
    title: str = "",
    value_name: str = "objective",
    maximize: bool = False,
    optimum: float | None = None,
    noisy: bool = False,
    n_init: int = 20,
    random_search_step: float | None = None,
    retention_began_at: int | None = None,
) -> Any:
    """Draw what a run found, and what finding it cost.

    On the left, cumulative regret after the initial design above simple regret; or, if the objective is noisy or its
    optimum unknown, the values observed and the best so far. On the right, cumulative time.

    Parameters
    ----------
    values : array of shape (n,)
        Values observed, in order; NaN where an evaluation failed, which is marked below.
    optimizer_seconds : array of shape (n,)
        Cumulative seconds of the optimizer after each evaluation.
    objective_seconds : array of shape (n,), optional
        Cumulative seconds of the objective.
    title : str
    value_name : str
        What is observed, with its unit.
    maximize : bool
        Whether larger is better.
    optimum : float, optional
        Best (expected) value of the objective.
    noisy : bool
        Whether repeated evaluations at one point differ.
    n_init : int
        Size of the initial design.
    random_search_step : float, optional
        Expected regret of one uniform random point: drawn for comparison.
    retention_began_at : int, optional
        Observations held when retention began.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingDependencyError
        If matplotlib is not installed (extra "plot").
    ValueError
        If an array has the wrong shape or an entry that is not finite, another argument is no number, or a value is
        better than `optimum` though the objective is not noisy.

    Examples
    --------
    >>> figure = plot_run([3.0, 1.0, 2.0], [0.1, 0.2, 0.3], optimum=0.0, n_init=1)
    >>> len(figure.axes)
    3
    """
    y = check_vector("values", values, finite=False)
    if np.isinf(y).any() or (y.size and np.isnan(y).all()):
        raise ValueError(f"values must be numbers, or NaN where an evaluation failed, at least one a number, got {y}")
    own = check_vector("optimizer_seconds", optimizer_seconds, size=y.size)
    theirs = None if objective_seconds is None else check_vector("objective_seconds", objective_seconds, size=y.size)
    n_design = check_integer("n_init", n_init, at_least=0)
    up = check_flag("maximize", maximize)
    best = None if optimum is None else check_real("optimum", optimum)
    step = None if random_search_step is None else check_real("random_search_step", random_search_step)
    began_at = None if retention_began_at is None else check_integer("retention_began_at", retention_began_at)
    figure = new_figure(10.0, 4.6)
    figure.suptitle(drawable(title))
    grid = figure.add_gridspec(2, 2)
    if best is None or noisy:
        _observed(figure.add_subplot(grid[:, 0]), y, up, best, n_design, value_name)
    else:
        regret = regrets("optimum", best, y, maximize=up)
        upper = figure.add_subplot(grid[0, 0])
        _cumulative_regret(upper, regret, n_design, step)
        _simple_regret(figure.add_subplot(grid[1, 0], sharex=upper), regret, n_design)
        upper.tick_params(labelbottom=False)
    _time(figure.add_subplot(grid[:, 1]), own, theirs, began_at)
    for axes in figure.axes:
        counted(axes)
        tidy(axes)
        axes.set_xlim(0, y.size)
    return figure


def _observed(axes: Any, y: FloatArray, maximize: bool, optimum: float | None, n_init: int, name: str) -> None:
    best = (np.fmax if maximize else np.fmin).accumulate(y)
    at = steps(best)
    label = "observed" if at.size == y.size else f"observed ({at.size:,} of {y.size:,} drawn)"
    axes.scatter(at + 1, y[at], label=label, **OBSERVED)
    axes.step(at + 1, best[at], where="post", color=BLUE, linewidth=1.8, label="best observed so far")
    _mark_failures(axes, y)
    if optimum is not None:
        axes.axhline(
            optimum,
            color=ORANGE,
            linestyle="--",
            linewidth=1.2,
            label=f"{'highest' if maximize else 'lowest'} expected value",
        )
    _mark_design(axes, n_init, y.size)
    axes.set(title="Values observed", xlabel="evaluations, initial design included", ylabel=drawable(name))
    _legend(axes, "center right")


def _cumulative_regret(axes: Any, regret: FloatArray, n_init: int, random_step: float | None) -> None:
    after = regret[n_init:]
    at = thinned(after.size + 1)
    axes.plot(n_init + at, np.concatenate([[0.0], np.nancumsum(after)])[at], color=BLUE, linewidth=1.8, label="run")
    if random_step is not None and after.size:
        axes.plot(
            n_init + at,
            random_step * at,
            color=GREY,
            linestyle="--",
            linewidth=1.2,
            label="uniform random search, expected",
        )
        _legend(axes, "upper left")
    _mark_design(axes, n_init, regret.size)
    axes.set(title="Regret, in units of the objective", ylabel="cumulative,\nafter the initial design")
    axes.set_ylim(bottom=0.0)


def _simple_regret(axes: Any, regret: FloatArray, n_init: int) -> None:
    best = np.fmin.accumulate(regret)
    at = steps(best)
    axes.step(at + 1, best[at], where="post", color=BLUE, linewidth=1.8)
    _mark_failures(axes, regret)
    if (best[~np.isnan(best)] > 0.0).all():
        axes.set_yscale("log")
    _mark_design(axes, n_init, regret.size)
    axes.set(xlabel="evaluations, initial design included", ylabel="simple\n(best so far)")


def _time(axes: Any, own: FloatArray, theirs: FloatArray | None, began_at: int | None) -> None:
    at = thinned(own.size)
    axes.plot(at + 1, own[at], color=BLUE, linewidth=1.8, label="optimizer")
    if theirs is not None:
        axes.plot(at + 1, theirs[at], color=ORANGE, linewidth=1.4, label="objective")
    if began_at is not None:
        axes.axvline(began_at, color=GREY, linestyle=":", linewidth=1.2, label=f"retention began ({began_at} held)")
    axes.set(title="Time", xlabel="evaluations, initial design included", ylabel="cumulative seconds")
    axes.set_ylim(bottom=0.0)
    _legend(axes, "upper left")


def _legend(axes: Any, place: str) -> None:
    legend = axes.legend(fontsize="small", loc=place, framealpha=0.9, edgecolor="none", markerscale=2)
    for handle in legend.legend_handles:
        handle.set_alpha(1.0)


def _mark_failures(axes: Any, y: FloatArray) -> None:
    failed = np.flatnonzero(np.isnan(y)) + 1
    failed = failed[thinned(failed.size)]
    if failed.size:
        low = np.full(failed.size, 0.02)
        axes.plot(failed, low, "|", color=ORANGE, transform=axes.get_xaxis_transform(), label="failed")


def _mark_design(axes: Any, n_init: int, n: int) -> None:
    if 0 < n_init < n:
        axes.axvspan(0, n_init, color=GREY, alpha=0.15, linewidth=0)

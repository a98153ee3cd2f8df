"""Where the time of an optimizer goes."""

from __future__ import annotations

from typing import Any

from gssbo.plot.canvas import COLORS, check_kind, drawable, new_figure, tidy

__all__ = ["plot_times"]


def plot_times(runs: Any) -> Any:
    """Draw the seconds of optimizers by part, stacked.

    Parameters
    ----------
    runs : Optimizer, OptimizeResult, or dict of those by name
        The objective's time is not theirs. What a run took before it was taken up from a journal is drawn as other.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingDependencyError
        If matplotlib is not installed (extra "plot").
    ValueError
        If it is none of these.

    Examples
    --------
    >>> from gssbo import minimize
    >>> result = minimize(lambda x: x[0] ** 2, [(-1, 1)], n_evals=12, n_init=5, rng=0)
    >>> figure = plot_times(result)
    >>> len(figure.axes[0].patches) >= 4
    True
    """
    by_name = runs if isinstance(runs, dict) and "timings" not in runs else {"": runs}
    right = len(by_name) > 0 and all(hasattr(run, "timings") for run in by_name.values())
    check_kind("runs", runs, right, "an Optimizer, a result of minimize, or a dict of those by name")
    figure = new_figure(6.4, 1.2 + 0.5 * len(by_name))
    axes = figure.add_subplot()
    for row, run in enumerate(by_name.values()):
        parts = {name: seconds for name, seconds in dict(run.timings).items() if name != "total"}
        left = 0.0
        for (name, seconds), color in zip(parts.items(), COLORS, strict=False):
            axes.barh(row, seconds, left=left, color=color, height=0.7, label=name if row == 0 else None)
            left += seconds
        n = max(int(run.nfev if hasattr(run, "nfev") else run.n_told), 1)
        axes.text(left, row, f"  {left:.3g} s, {1e3 * left / n:.3g} ms an evaluation", va="center", fontsize=8)
    axes.set_yticks(range(len(by_name)), list(map(drawable, by_name)))
    axes.invert_yaxis()
    axes.margins(x=0.35)
    axes.set_xlabel("seconds of the optimizer, objective not included")
    figure.legend(loc="outside upper center", ncols=5, fontsize="small", frameon=False)
    tidy(axes)
    axes.grid(visible=False, axis="y")
    return figure

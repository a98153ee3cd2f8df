"""How far the posterior of the retained subset is from that of everything, and what more members would change."""

from __future__ import annotations

from typing import Any

from gssbo.diagnostics.trust import Trust
from gssbo.optimizer import Optimizer
from gssbo.plot.canvas import BLUE, GREY, ORANGE, check_kind, counted, new_figure, tidy

__all__ = ["plot_trust"]


def plot_trust(found: Any) -> Any:
    """Draw the largest gap between the two posterior means against the size of the subset.

    Parameters
    ----------
    found : Trust or Optimizer
        What `Optimizer.diagnostics()` returned; of an optimizer, they are made here (seconds).

    Returns
    -------
    matplotlib.figure.Figure
        The gap is in units of the objective.

    Raises
    ------
    MissingDependencyError
        If matplotlib is not installed (extra "plot").
    ValueError
        If it is neither, and as `Optimizer.diagnostics`.

    Examples
    --------
    >>> import gssbo, numpy as np
    >>> opt = gssbo.Optimizer([(-5.0, 5.0)], n_init=5, subset_size=20, rule="maxmin", rng=0)
    >>> X = np.linspace(-5.0, 5.0, 60)[:, None]
    >>> opt.tell(X, np.cos(2.0 * X[:, 0]))
    >>> len(plot_trust(opt).axes[0].lines) >= 2
    True
    """
    check_kind("found", found, isinstance(found, Trust | Optimizer), "an Optimizer, or what its diagnostics() returned")
    trust: Trust = found if isinstance(found, Trust) else found.diagnostics()
    figure = new_figure(6.4, 4.2)
    axes = figure.add_subplot()
    growth = trust.growth
    axes.plot(growth.sizes, growth.mean_gap, color=BLUE, linewidth=1.8, label="largest gap, as the rule adds members")
    axes.axhline(
        trust.tolerance * trust.spread, color=GREY, linestyle="--", linewidth=1.2,
        label=f"tolerance: {trust.tolerance:g} standard deviations of the values",
    )  # fmt: skip
    axes.plot(trust.size, trust.largest_gap, "o", color=ORANGE, label=f"retained now: {trust.size}, {trust.verdict}")
    positive = [gap for gap in growth.mean_gap if gap > 0.0]
    if positive and max(positive) > 20.0 * min(positive):
        axes.set_yscale("log")
    axes.set(
        xlabel="members of the retained subset",
        ylabel="largest difference of posterior means,\nunits of the objective",
    )
    figure.legend(loc="outside upper center", fontsize="small", frameon=False)
    counted(axes)
    tidy(axes)
    return figure

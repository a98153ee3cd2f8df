"""The posterior along single parameters, through a point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gssbo.plot.canvas import BLUE, ORANGE, check_kind, check_optimizer, label, new_figure, numbers, scale_axis, tidy
from gssbo.plot.importance import inverse_lengthscales
from gssbo.plot.retained import parameter_index
from gssbo.space import Categorical

__all__ = ["plot_slices"]

N_POINTS = 201
MOST_PANELS = 24


def plot_slices(optimizer: Any, parameters: Sequence[int | str] | NDArray[Any] | None = None, *, at: Any = None) -> Any:
    """Draw posterior mean and two standard deviations along parameters, the others held where the best point has them.

    Parameters
    ----------
    optimizer : Optimizer
        That was told a value.
    parameters : sequence of int or str, optional
        Numbers from 0, or names; default: all, or the 24 of the shortest lengthscales if there are more and
        the model has been fitted, else the first 24.
    at : point, optional
        What the slices go through; default: the best point by the model.

    Returns
    -------
    matplotlib.figure.Figure
        Values are in the objective's units; noise is not in the band.

    Raises
    ------
    MissingDependencyError
        If matplotlib is not installed (extra "plot").
    ValueError
        If it is no optimizer, nothing was told, or a parameter or the point is not of the space.

    Examples
    --------
    >>> import gssbo
    >>> opt = gssbo.Optimizer({"a": (0.0, 1.0), "c": ["u", "v", "w"]}, n_init=5, rng=0)
    >>> for _ in range(10):
    ...     p = opt.ask()
    ...     opt.tell(p, (p["a"] - 0.4) ** 2 + (p["c"] == "v"))
    >>> [axes.get_xlabel() for axes in plot_slices(opt).axes]
    ['a', 'c']
    """
    space = check_optimizer(optimizer).space
    point = optimizer.best("model").x if at is None else at
    if parameters is None:
        weights = inverse_lengthscales(optimizer)
        order = range(space.n_parameters) if weights is None else np.argsort(-weights, kind="stable").tolist()
        chosen = sorted(order[:MOST_PANELS])
    else:
        given: Any = parameters.tolist() if isinstance(parameters, np.ndarray) else parameters
        several = isinstance(given, Sequence) and not isinstance(given, str | bytes) and len(given) > 0
        check_kind("parameters", given, several, "a list of numbers or names")
        chosen = [parameter_index(space, each) for each in given]
    if point is None:
        raise ValueError("optimizer must have been told a value, got one without")
    centre, _ = space.read("at", point)
    columns = min(len(chosen), 4)
    lines = -(-len(chosen) // columns)
    figure = new_figure(3.0 * columns + 0.6, 2.5 * lines + 0.4)
    panels = figure.subplots(lines, columns, sharey=True, squeeze=False).ravel()
    for axes, index in zip(panels, chosen, strict=False):
        _slice(axes, optimizer, space, centre, index)
    for axes in panels[len(chosen) :]:
        axes.remove()
    for axes in panels[::columns]:
        axes.set_ylabel("objective")
    left_out = space.n_parameters - len(chosen)
    figure.suptitle(
        "posterior mean and 2 standard deviations, others as at the marked point"
        + (f"; {left_out} parameters not shown" if parameters is None and left_out else ""),
        fontsize="small",
    )
    return figure


def _slice(axes: Any, optimizer: Any, space: Any, centre: Any, index: int) -> None:
    draws = np.tile(space.to_unit(centre), (N_POINTS, 1))
    span = space.unit_columns(index)
    parameter = space.parameters[index]
    axes.set_xlabel(label(space, index))
    scale_axis(axes.xaxis, parameter)
    tidy(axes)
    here = numbers(space, centre, index)
    if span.stop == span.start:  # fixed
        rows = centre
    elif isinstance(parameter, Categorical):
        rows = np.repeat(centre, len(parameter.values), axis=0)
        columns = space.columns(rows)
        columns[index] = np.arange(len(parameter.values))
        rows = space.rows(columns)
    else:
        draws[:, span] = np.linspace(0.0, 1.0, N_POINTS)[:, None]
        rows = space.from_unit(draws)
    mean, std = optimizer.predict(space.show(rows), return_std=True)
    across = numbers(space, rows, index)
    if isinstance(parameter, Categorical) or len(across) == 1:
        axes.errorbar(across, mean, 2.0 * std, fmt="o", color=BLUE, markersize=4, capsize=3)
    else:
        axes.fill_between(across, mean - 2.0 * std, mean + 2.0 * std, color=BLUE, alpha=0.2, linewidth=0)
        axes.plot(across, mean, color=BLUE, linewidth=1.6)
    value = optimizer.predict(space.show(centre))
    axes.plot(here, value, marker="*", markersize=11, color=ORANGE, linestyle="none")

"""What is retained of a history, and where it lies: the paper's pictures of the distribution of selected points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gssbo.plot.canvas import (
    BLUE,
    GREY,
    ORANGE,
    check_kind,
    check_optimizer,
    label,
    new_figure,
    numbers,
    scale_axis,
    thinned,
    tidy,
)

__all__ = ["parameter_index", "plot_retained"]


def plot_retained(optimizer: Any, parameters: Sequence[int | str] | NDArray[Any] = (0, 1)) -> Any:
    """Draw all observations and the retained ones on two parameters.

    Parameters
    ----------
    optimizer : Optimizer
        That was told something. As of its last suggestion.
    parameters : pair of int or str
        Numbers from 0, or names; a space of one parameter is drawn against the values.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingDependencyError
        If matplotlib is not installed (extra "plot").
    ValueError
        If it is no optimizer, there is nothing to draw, or no such parameter.

    Examples
    --------
    >>> import gssbo
    >>> opt = gssbo.Optimizer([(0.0, 1.0), (1, 9)], n_init=5, rng=0)
    >>> opt.tell(np.random.default_rng(0).random((30, 2)) * [1, 8] + [0, 1], np.arange(30.0))
    >>> x = opt.ask()
    >>> [len(each.get_offsets()) for each in plot_retained(opt).axes[0].collections]
    [30, 30, 1]
    """
    if check_optimizer(optimizer).n_told == 0:
        raise ValueError("optimizer must have been told something, got one with an empty history")
    space, rows, y = optimizer.space, optimizer.rows, optimizer.y
    given: Any = parameters.tolist() if isinstance(parameters, np.ndarray) else parameters
    pair = isinstance(given, tuple | list) and len(given) == 2
    check_kind("parameters", given, pair, "a pair of numbers or names")
    first = parameter_index(space, given[0])
    alone = space.n_parameters == 1
    second = first if alone else parameter_index(space, given[1])
    across = numbers(space, rows, first)
    up = y if alone else numbers(space, rows, second)
    retained = optimizer.retained
    shown = thinned(len(across), retained)
    figure = new_figure(5.6, 4.6)
    axes = figure.add_subplot()
    axes.scatter(
        across[shown], up[shown], s=8, color=GREY, alpha=0.4, linewidths=0, rasterized=True,
        label=_count("observed", len(across), len(shown)),
    )  # fmt: skip
    axes.scatter(
        across[retained], up[retained], s=22, facecolors="none", edgecolors=BLUE, linewidths=1.2,
        label=f"retained ({len(retained):,})",
    )  # fmt: skip
    if (best := optimizer.best_index) is not None:
        axes.scatter(
            across[best], up[best], marker="*", s=160, color=ORANGE, linewidths=0, zorder=3, label="best observed"
        )
    scale_axis(axes.xaxis, space.parameters[first])
    axes.set_xlabel(label(space, first))
    if alone:
        axes.set_ylabel("value observed")
    else:
        scale_axis(axes.yaxis, space.parameters[second])
        axes.set_ylabel(label(space, second))
    figure.legend(loc="outside upper center", ncols=3, fontsize="small", frameon=False)
    tidy(axes)
    return figure


def _count(what: str, n: int, shown: int) -> str:
    return f"{what} ({n:,})" if shown == n else f"{what} ({shown:,} of {n:,} drawn)"


def parameter_index(space: Any, parameter: Any) -> int:
    """Number of a parameter from 0, by its number or name.

    Raises
    ------
    ValueError
        If there is none.
    """
    names = list(space.names) if space.names is not None else []
    if parameter in names:
        return names.index(parameter)
    whole = isinstance(parameter, int | np.integer) and not isinstance(parameter, bool)
    if whole and 0 <= parameter < space.n_parameters:
        return int(parameter)
    allowed = f"0 to {space.n_parameters - 1}" + (f", or one of {', '.join(map(str, names))}" if names else "")
    raise ValueError(f"parameters must be {allowed}, got {parameter!r}")

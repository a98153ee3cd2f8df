"""What the pictures share: a figure of one's own, colours that all eyes tell apart, axes of a space's parameters."""

from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult

from gssbo._optional import import_optional
from gssbo._text import brief
from gssbo._typing import FloatArray, IndexArray
from gssbo._validation import check_real
from gssbo.history import evenly
from gssbo.optimizer import Optimizer
from gssbo.space import Categorical, Integer, Parameter, Real, Rows, Space

__all__ = [
    "BLUE",
    "COLORS",
    "GREY",
    "ORANGE",
    "check_kind",
    "check_optimizer",
    "counted",
    "drawable",
    "label",
    "new_figure",
    "numbers",
    "regrets",
    "scale_axis",
    "steps",
    "thinned",
    "tidy",
]

BLUE, ORANGE, GREY = "#1f5fa8", "#c8611a", "#777777"
COLORS = (BLUE, ORANGE, "#2f8f6b", "#9b4f96", "#b8901f", "#4aa3c7", "#7a4b2a", GREY)
MOST_POINTS = 5_000  # drawn one by one
ROUNDING = 1e-9  # by so much of the usual size of the values may one be better than the best there is


def new_figure(width: float, height: float) -> Any:
    """Return a figure that belongs to nobody but the caller.

    Raises
    ------
    MissingDependencyError
        If matplotlib is not installed.
    """
    return import_optional("matplotlib.figure", extra="plot", purpose="plotting").Figure(
        figsize=(width, height), layout="constrained"
    )


def check_optimizer(value: Any) -> Optimizer:
    """Return an optimizer, or raise a ValueError."""
    check_kind("optimizer", value, isinstance(value, Optimizer), "an Optimizer")
    return cast(Optimizer, value)


def check_kind(name: str, value: Any, right: bool, accepted: str) -> None:
    """Raise a ValueError that says what is accepted and what was given, unless that is right."""
    if not right:
        # The text of a result is a table of many lines.
        result = isinstance(value, OptimizeResult)
        text = "a result; tell an Optimizer its x_iters and func_vals" if result else brief(value)
        raise ValueError(f"{name} must be {accepted}, got {text}")


def tidy(axes: Any) -> None:
    """Leave the frame open, and a faint grid."""
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)


def counted(axes: Any) -> None:
    """Let the ticks below be whole numbers, as evaluations are."""
    axes.xaxis.get_major_locator().set_params(integer=True, min_n_ticks=1)


def thinned(n: int, keep: IndexArray | None = None, most: int = MOST_POINTS) -> IndexArray:
    """Indices of at most so many of n points, evenly spread, and of all in `keep`."""
    if n <= most:
        return np.arange(n, dtype=np.intp)
    spread = evenly(n, most)
    return np.unique(spread if keep is None else np.concatenate([spread, keep]))


def steps(best: FloatArray, most: int = MOST_POINTS) -> IndexArray:
    """Indices to draw of a best so far (n,), or of several (k, n), with all where one changes: the lines are exact."""
    changes = (best[..., 1:] != best[..., :-1]) & ~np.isnan(best[..., 1:])
    found = np.flatnonzero(np.atleast_2d(changes).any(axis=0)) + 1
    return thinned(best.shape[-1], found, most)


def drawable(value: Any) -> str:
    """What a picture says of a name or a value of the user's: dollars enclose a formula, or stand for themselves."""
    text = str(value)
    if "$" in text:
        formulas = import_optional("matplotlib.mathtext", extra="plot", purpose="plotting").MathTextParser("path")
        try:
            formulas.parse(text)
        except ValueError:  # as it would only when the picture is drawn
            return text.replace("$", r"\$")
    return text


def label(space: Space, index: int) -> str:
    """Name of a parameter, or its number counted from 0."""
    return drawable(space.names[index]) if space.names is not None else f"x[{index}]"


def numbers(space: Space, rows: Rows, index: int) -> FloatArray:
    """Values (n,) of a parameter as they are drawn: categories by their place."""
    column: NDArray[Any] = space.columns(rows)[index]
    return column.astype(np.float64)


def regrets(name: str, optimum: Any, values: FloatArray, *, maximize: bool = False) -> FloatArray:
    """How far values of any shape are from the best there is, at least 0; NaN where they are.

    Raises
    ------
    ValueError
        If a value is better than `optimum`, the argument of that name, by more than rounding.
    """
    best = check_real(name, optimum)
    gaps: FloatArray = best - values if maximize else values - best
    worst = np.nanmin(gaps, initial=0.0)
    if worst < 0.0 and worst < -ROUNDING * max(abs(best), np.nanmedian(np.abs(values))):
        told = np.nanmax(values) if maximize else np.nanmin(values)
        raise ValueError(f"{name} must be the best value there is, got {best:.12g} where the best told is {told:.12g}")
    return np.maximum(gaps, 0.0)


def scale_axis(axis: Any, parameter: Parameter) -> None:
    """Give an axis (`axes.xaxis` or `axes.yaxis`) the scale and ticks of a parameter."""
    which = axis.axis_name
    axes = axis.axes
    if isinstance(parameter, Real | Integer) and parameter.log:
        (axes.set_xscale if which == "x" else axes.set_yscale)("log")
        axis.set_tick_params(which="minor", **{"labelbottom" if which == "x" else "labelleft": False})
        low, high = float(parameter.low), float(parameter.high)
        if math.floor(math.log10(high)) <= math.ceil(math.log10(low)):  # one power of ten at most
            ticks = dict.fromkeys([low, float(f"{math.sqrt(low) * math.sqrt(high):.2g}"), high])
            axis.set_ticks(list(ticks), [f"{tick:g}" for tick in ticks])
    if isinstance(parameter, Categorical):
        axis.set_ticks(range(len(parameter.values)), list(map(drawable, parameter.values)))
    elif isinstance(parameter, Integer) and not parameter.log:
        axis.get_major_locator().set_params(integer=True, min_n_ticks=1)

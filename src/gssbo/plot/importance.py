"""Which parameters the model depends on."""

from __future__ import annotations

from typing import Any

import numpy as np

from gssbo._typing import FloatArray
from gssbo.optimizer import Optimizer
from gssbo.plot.canvas import BLUE, check_optimizer, label, new_figure, tidy

__all__ = ["inverse_lengthscales", "plot_importance"]

MOST_BARS = 40


def plot_importance(optimizer: Any) -> Any:
    """Draw the inverse lengthscales of the surrogate, longest bar first: the longer, the more it matters.

    A lengthscale is in units of the parameter's range (of its logarithm where that is what the model sees); of several
    columns that stand for one categorical parameter, the shortest counts.

    Parameters
    ----------
    optimizer : Optimizer
        Whose surrogate is a GaussianProcess of the whole space, and fitted.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingDependencyError
        If matplotlib is not installed (extra "plot").
    ValueError
        If it is no optimizer, or its surrogate has no lengthscales yet, or another number of them.

    Examples
    --------
    >>> import gssbo
    >>> opt = gssbo.Optimizer({"a": (0, 1), "b": (0, 1)}, n_init=8, rng=0)
    >>> for _ in range(20):
    ...     p = opt.ask()
    ...     opt.tell(p, (p["a"] - 0.4) ** 2)
    >>> [tick.get_text() for tick in plot_importance(opt).axes[0].get_yticklabels()][0]
    'a'
    """
    space = check_optimizer(optimizer).space
    found = inverse_lengthscales(optimizer)
    if found is None:
        raise ValueError(
            "optimizer must have a GaussianProcess of the whole space that is fitted, as ask() does after the initial "
            f"design, got {optimizer.surrogate!r}"
        )
    order = np.argsort(-found, kind="stable")[:MOST_BARS]
    figure = new_figure(5.6, 1.2 + 0.25 * len(order))
    axes = figure.add_subplot()
    axes.barh(range(len(order)), [found[i] for i in order], color=BLUE, height=0.7)
    axes.set_yticks(range(len(order)), [label(space, int(i)) for i in order])
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.set_xlabel("1 / lengthscale, in ranges of the parameter")
    if len(order) < len(found):
        axes.set_title(f"the first {len(order)} of {len(found)}", fontsize="small", loc="right")
    tidy(axes)
    axes.grid(visible=False, axis="y")
    return figure


def inverse_lengthscales(optimizer: Optimizer) -> FloatArray | None:
    """Inverse lengthscale of each parameter (d,), 0 for a fixed one; None without a model of the whole space."""
    space, scales = optimizer.space, getattr(optimizer.surrogate, "lengthscale_", None)
    if scales is None or np.size(scales) != space.dim:
        return None
    of = [np.asarray(scales)[space.unit_columns(index)] for index in range(space.n_parameters)]
    return np.array([1.0 / columns.min() if columns.size else 0.0 for columns in of])

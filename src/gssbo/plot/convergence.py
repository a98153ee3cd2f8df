"""How good the best value is, by evaluation; runs side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gssbo._typing import FloatArray
from gssbo._validation import check_flag
from gssbo.plot.canvas import COLORS, GREY, check_kind, counted, drawable, new_figure, regrets, steps, tidy

__all__ = ["plot_convergence"]

ACCEPTED = "an Optimizer, a result of minimize, values (n,), a list of those, or a dict of lists by name"


def plot_convergence(
    runs: Any, *, optimum: float | None = None, maximize: bool | None = None, value_name: str = "objective"
) -> Any:
    """Draw the best value so far against evaluations.

    Parameters
    ----------
    runs : Optimizer, OptimizeResult, values (n,), a list of those, or a dict of lists by name
        Of a list, the runs are one method with several seeds: their median, and a band from the first quartile to the
        third. Of a dict, each entry is a method.
    optimum : float, optional
        Best value there is: the regret is drawn then, on a logarithmic axis where it is above 0. Noisy values may be
        better than the best expected one, which is no optimum of them.
    maximize : bool, optional
        Whether larger is better; by default what optimizers and results say, and smaller where nobody does.
    value_name : str
        What is observed, with its unit.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    MissingDependencyError
        If matplotlib is not installed (extra "plot").
    ValueError
        If `runs` is something else (a path is: open the journal first), there is no run, or one without a value,
        some of the runs minimise and others maximise, or a value is better than `optimum`.

    Examples
    --------
    >>> figure = plot_convergence({"a": [[3.0, 1.0, 2.0], [4.0, 2.0, 0.5]], "b": [5.0, 4.0, 4.5]}, optimum=0.0)
    >>> [line.get_label() for line in figure.axes[0].lines]
    ['a (median of 2)', 'b']
    """
    groups = {str(name): _runs(found) for name, found in runs.items()} if _is_dict(runs) else {"": _runs(runs)}
    if not groups:
        raise ValueError(f"runs must hold at least one run, got {runs!r}")
    up = _direction(_flat(runs), None if maximize is None else check_flag("maximize", maximize))
    figure = new_figure(6.4, 4.2)
    axes = figure.add_subplot()
    low = np.inf
    for (name, curves), color in zip(groups.items(), COLORS * len(groups), strict=False):
        n = min(len(curve) for curve in curves)
        table = np.array([_best_so_far(curve[:n], up) for curve in curves])
        if optimum is not None:
            table = regrets("optimum", optimum, table, maximize=up)
        at = steps(table, most=2_000)
        middle = np.median(table, axis=0)
        text = drawable(f"{name} (median of {len(curves)})".strip() if len(curves) > 1 else name)
        axes.step(at + 1, middle[at], where="post", color=color, linewidth=1.8, label=text)
        if len(curves) > 1:
            lower, upper = np.quantile(table, [0.25, 0.75], axis=0)
            axes.fill_between(at + 1, lower[at], upper[at], step="post", color=color, alpha=0.2, linewidth=0)
        low = min(low, float(np.nanmin(middle, initial=np.inf)))
    if optimum is None:
        axes.set_ylabel(drawable(f"best {value_name} so far"))
    else:
        axes.set_ylabel(drawable(f"simple regret of {value_name}"))
        if low > 0.0:
            axes.set_yscale("log")
    axes.set(xlabel="evaluations, initial design included", xlim=(1, None))
    counted(axes)
    if any(name or len(curves) > 1 for name, curves in groups.items()):
        axes.legend(fontsize="small", frameon=False)
    if any(len(curves) > 1 for curves in groups.values()):
        axes.set_title("band: first to third quartile", fontsize="small", color=GREY, loc="right")
    tidy(axes)
    return figure


def _is_dict(runs: Any) -> bool:
    return isinstance(runs, Mapping) and not hasattr(runs, "func_vals")


def _flat(runs: Any) -> list[Any]:
    if _is_dict(runs):
        return [run for found in runs.values() for run in _flat(found)]
    return list(runs) if isinstance(runs, Sequence) else [runs]


def _direction(runs: list[Any], asked: bool | None) -> bool:
    """Whether larger is better: as asked, else as those say that know."""
    said = {bool(run.maximize) for run in runs if hasattr(run, "maximize")}
    if len(said) > 1:
        raise ValueError("runs must be all minimised or all maximised, got some of each: draw them one by one")
    return any(said) if asked is None else asked


def _runs(found: Any) -> list[FloatArray]:
    """Values of one run or of several."""
    listed = hasattr(found, "__len__") and not isinstance(found, str | bytes | Mapping)
    check_kind("runs", found, _is_run(found) or listed, ACCEPTED)
    if _is_run(found) or not (_holds_runs(found) or np.ndim(found) > 1):
        found = [found]
    curves = [_values(run) for run in found]
    if not curves or any(len(curve) == 0 or np.isnan(curve).all() for curve in curves):
        raise ValueError("runs must be optimizers, results or values (n,), each with a value, got one without")
    return curves


def _is_run(found: Any) -> bool:
    return hasattr(found, "func_vals") or hasattr(found, "tell")


def _holds_runs(found: Any) -> bool:
    return isinstance(found, Sequence) and (len(found) == 0 or not isinstance(found[0], float | int | np.number))


def _values(run: Any) -> FloatArray:
    if hasattr(run, "func_vals"):
        return np.asarray(run.func_vals, dtype=float)
    try:
        values = np.asarray(run.y if hasattr(run, "tell") else run, dtype=float)
    except (TypeError, ValueError):
        values = np.empty(())
    check_kind("runs", run, values.ndim == 1, ACCEPTED)
    return values


def _best_so_far(values: FloatArray, maximize: bool) -> FloatArray:
    """Failures are no improvement; NaN before there is a value."""
    ufunc = np.fmax if maximize else np.fmin
    found: FloatArray = ufunc.accumulate(values)
    return found

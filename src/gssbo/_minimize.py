"""`minimize`: the loop around an objective, with SciPy's calling conventions."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from gssbo._typing import ArrayLike, RngLike
from gssbo._validation import check_integer
from gssbo.exceptions import SpaceExhausted
from gssbo.optimizer import Optimizer

__all__ = ["minimize"]

MESSAGES = {
    0: "The budget of evaluations is spent.",
    1: "The callback asked to stop.",
    2: "Interrupted by the user; everything evaluated so far is here.",
    3: "The space is exhausted: every point of it was evaluated.",
}


def minimize(
    fun: Callable[..., Any],
    bounds: Any,
    *,
    n_evals: int,
    x0: Any = None,
    y0: ArrayLike | None = None,
    args: tuple[Any, ...] = (),
    maximize: bool = False,
    catch: type[Exception] | tuple[type[Exception], ...] = (),
    callback: Callable[[OptimizeResult], Any] | None = None,
    rng: RngLike = None,
    **optimizer_options: Any,
) -> OptimizeResult:
    """Minimise an expensive function over a space of real, whole and categorical parameters.

    Parameters
    ----------
    fun : callable
        `fun(x, *args)` returns a number; NaN, or an infinity of the bad sign, says that the evaluation failed. x is an
        array of shape (d,) where all parameters are real, else a list of values, or a dict where `bounds` is one.
    bounds : sequence, array of shape (d, 2), scipy.optimize.Bounds, or dict
        One entry a parameter, as for `Optimizer`: (low, high), `Real`, `Integer`, `Categorical`, a list of values.
    n_evals : int
        Evaluations of `fun` in all, the initial design and `x0` without `y0` included.
    x0 : point or points, optional
        Points to evaluate first; or, with `y0`, observations made earlier, which do not count. In the form of x; many
        as an array (n, d), a list of points, or a data frame with a column a parameter.
    y0 : float or array of shape (n,), optional
        Their values. The first `n_init` of them count as the initial design, and beyond 4 M observations the default
        pool offers the newest only: shuffle old data, or use `pool="full"`.
    args : tuple
        Further arguments of `fun`.
    maximize : bool
        Whether to maximise instead.
    catch : exception class or tuple of them
        Exceptions of `fun` by which an evaluation fails and the run goes on; any other ends it.
    callback : callable, optional
        Called after each evaluation with an OptimizeResult of `x`, `fun` (best so far), `nfev`, `x_last`, `fun_last`,
        `retained_size`, `ask_seconds`, `timings`; a true return value or StopIteration ends the run.
    rng : None, int or numpy.random.Generator
    **optimizer_options
        Any other argument of `gssbo.Optimizer`, for example `**gssbo.presets.paper(100)`.

    Returns
    -------
    scipy.optimize.OptimizeResult
        `x`, `fun`, `success`, `status` (0 budget spent, 1 stopped by the callback, 2 interrupted, 3 all points of a
        finite space evaluated), `message`, `nfev`, `nit` (suggestions made by the model), and what `Optimizer.result`
        has: `x_model`, `fun_model`, `fun_model_std`, `n_failed`, `x_iters` (n points), `func_vals` (n,) with the prior
        observations first, `retained`, `M`, `switched_at`, `timings` (seconds; the objective is not included).
        Ctrl-C ends the run with `success=False` and everything evaluated so far.

    Raises
    ------
    ValueError
        If an argument is out of its range, or `fun` returns something that is not one number, or infinitely good.
    Exception
        Whatever `fun` or `callback` raises, unchanged but for the attribute `partial_result`, an OptimizeResult of
        everything told before.

    Examples
    --------
    >>> result = minimize(lambda x: (x[0] - 1.0) ** 2 + x[1] ** 2, [(-5, 5), (-5, 5)], n_evals=40, rng=0)
    >>> bool(result.fun < 0.1), result.nfev
    (True, 40)
    """
    if not callable(fun):
        raise ValueError(f"fun must be callable, got {fun!r}")
    if callback is not None and not callable(callback):
        raise ValueError(f"callback must be callable, got {callback!r}")
    if not isinstance(args, tuple):
        raise ValueError(f"args must be a tuple, got {args!r}")
    caught: tuple[Any, ...] = catch if isinstance(catch, tuple) else (catch,)
    if not all(isinstance(kind, type) and issubclass(kind, Exception) for kind in caught):
        raise ValueError(f"catch must be an exception class or a tuple of them, got {catch!r}")
    budget = check_integer("n_evals", n_evals, at_least=1)
    optimizer = Optimizer(bounds, maximize=maximize, rng=rng, **optimizer_options)
    queue = _first_points(optimizer, x0, y0)
    n_prior = optimizer.n_told
    worst = -math.inf if optimizer.maximize else math.inf
    status, n_suggested = 0, 0
    try:
        for evaluated in range(budget):
            planned = next(queue, None)
            try:
                x = optimizer.ask() if planned is None else planned
            except SpaceExhausted:
                status = 3
                break
            n_suggested += planned is None and optimizer.n_told >= optimizer.n_init
            try:
                value = _number(fun(copy.copy(x), *args), worst)
            except caught:
                value = math.nan
            optimizer.tell(x, value)
            if callback is not None and _stops(callback, _progress(optimizer, evaluated + 1, x, value)):
                status = 1
                break
    except KeyboardInterrupt:
        status = 2
    except Exception as error:
        # Nothing evaluated is lost: whoever catches the error finds it there.
        error.partial_result = optimizer.result()  # type: ignore[attr-defined]
        error.add_note(
            f"gssbo.minimize: this ended the run at evaluation {optimizer.n_told - n_prior + 1}; everything told "
            "before is in the attribute `partial_result` of this exception."
        )
        raise
    result = optimizer.result()
    result.update(
        success=status != 2,
        status=status,
        message=MESSAGES[status],
        nfev=optimizer.n_told - n_prior,
        nit=n_suggested,
    )
    return result


def _first_points(optimizer: Optimizer, x0: Any, y0: ArrayLike | None) -> Any:
    """Tell prior observations, or return an iterator over points to evaluate first."""
    if x0 is None:
        if y0 is not None:
            raise ValueError("y0 must come with x0, got y0 alone")
        return iter(())
    if y0 is not None:
        optimizer.tell_named("x0", x0, "y0", y0)
        return iter(())
    rows, _ = optimizer.space.read("x0", x0)
    return iter(optimizer.space.show(rows))


def _number(value: Any, worst: float) -> float:
    """One number: finite, or NaN or `worst` for a failed evaluation; True is 1."""
    try:
        array = np.asarray(value)
        text = isinstance(value, str | bytes | bytearray | memoryview)
        if array.size == 1 and array.dtype.kind in "fiubO" and not text and not np.ma.is_masked(value):
            item = array.reshape(()).item()
            if item is not None and not isinstance(item, str | bytes) and (number := float(item)) != -worst:
                return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"fun must return one real number, or NaN or {worst} where it failed, got {value!r}")


def _stops(callback: Callable[[OptimizeResult], Any], progress: OptimizeResult) -> bool:
    try:
        return bool(callback(progress))
    except StopIteration:
        return True


def _progress(optimizer: Optimizer, n_evaluated: int, x: Any, value: float) -> OptimizeResult:
    return OptimizeResult(
        x=optimizer.best_x,
        fun=optimizer.best_y,
        nfev=n_evaluated,
        x_last=x,
        fun_last=value,
        retained_size=len(optimizer.retained),
        ask_seconds=optimizer.last_ask_seconds,
        timings=optimizer.timings,
    )

"""`minimize`: the loop around an objective, with SciPy's calling conventions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from gssbo._typing import ArrayLike, FloatArray, RngLike
from gssbo._validation import check_array, check_integer, check_matrix, check_vector
from gssbo.optimizer import Optimizer

__all__ = ["minimize"]

MESSAGES = {
    0: "The budget of evaluations is spent.",
    1: "The callback asked to stop.",
    2: "Interrupted by the user; everything evaluated so far is here.",
}


def minimize(
    fun: Callable[..., Any],
    bounds: Any,
    *,
    n_evals: int,
    x0: ArrayLike | None = None,
    y0: ArrayLike | None = None,
    args: tuple[Any, ...] = (),
    maximize: bool = False,
    callback: Callable[[OptimizeResult], Any] | None = None,
    rng: RngLike = None,
    **optimizer_options: Any,
) -> OptimizeResult:
    """Minimise an expensive function over a box.

    Parameters are continuous and linear: search the logarithm of what spans decades, round what is whole.

    Parameters
    ----------
    fun : callable
        `fun(x, *args)` with x of shape (d,) in user units; returns a number.
    bounds : sequence of (low, high), array of shape (d, 2), or scipy.optimize.Bounds
    n_evals : int
        Evaluations of `fun` in all, the initial design and `x0` without `y0` included.
    x0 : array of shape (d,) or (n, d), optional
        Points to evaluate first; or, with `y0`, observations made earlier, which do not count.
    y0 : float or array of shape (n,), optional
        Their values. The first `n_init` of them count as the initial design, and beyond 4 M observations the default
        pool offers the newest only: shuffle old data, or use `pool="full"`.
    args : tuple
        Further arguments of `fun`.
    maximize : bool
        Whether to maximise instead.
    callback : callable, optional
        Called after each evaluation with an OptimizeResult of `x`, `fun` (best so far), `nfev`, `x_last`, `fun_last`,
        `retained_size`, `ask_seconds`, `timings`; a true return value or StopIteration ends the run.
    rng : None, int or numpy.random.Generator
    **optimizer_options
        Any other argument of `gssbo.Optimizer`, for example `**gssbo.presets.paper(100)`.

    Returns
    -------
    scipy.optimize.OptimizeResult
        `x`, `fun`, `success`, `status` (0 budget spent, 1 stopped by the callback, 2 interrupted), `message`, `nfev`,
        `nit` (suggestions made by the model), `x_iters` (n, d), `func_vals` (n,) with the prior observations first,
        `retained`, `M`, `switched_at`, `timings` (seconds; the objective is not included).
        Ctrl-C ends the run with `success=False` and everything evaluated so far.

    Raises
    ------
    ValueError
        If an argument is out of its range, or `fun` returns something that is not one finite number.
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
    budget = check_integer("n_evals", n_evals, at_least=1)
    optimizer = Optimizer(bounds, maximize=maximize, rng=rng, **optimizer_options)
    queue = _first_points(optimizer, x0, y0)
    n_prior = optimizer.n_told
    status, n_suggested = 0, 0
    try:
        for evaluated in range(budget):
            planned = next(queue, None)
            x = optimizer.ask() if planned is None else planned
            n_suggested += planned is None and optimizer.n_told >= optimizer.n_init
            value = _number(fun(x.copy(), *args))
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


def _first_points(optimizer: Optimizer, x0: ArrayLike | None, y0: ArrayLike | None) -> Any:
    """Tell prior observations, or return an iterator over points to evaluate first."""
    if x0 is None:
        if y0 is not None:
            raise ValueError("y0 must come with x0, got y0 alone")
        return iter(())
    points = check_matrix("x0", np.atleast_2d(check_array("x0", x0)), columns=optimizer.space.dim)
    optimizer.space.check_inside("x0", points)
    if y0 is None:
        rows: Iterable[FloatArray] = points
        return iter(rows)
    values = check_vector("y0", np.atleast_1d(check_array("y0", y0)), size=len(points))
    optimizer.tell(points, values)
    return iter(())


def _number(value: Any) -> float:
    try:
        array = np.asarray(value)
        text = isinstance(value, str | bytes | bytearray | memoryview)
        if array.size == 1 and array.dtype.kind in "fiubO" and not text and not np.ma.is_masked(value):
            item = array.reshape(()).item()
            if not isinstance(item, str | bytes) and np.isfinite(number := float(item)):
                return number
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(f"fun must return one finite real number, got {value!r}")


def _stops(callback: Callable[[OptimizeResult], Any], progress: OptimizeResult) -> bool:
    try:
        return bool(callback(progress))
    except StopIteration:
        return True


def _progress(optimizer: Optimizer, n_evaluated: int, x: FloatArray, value: float) -> OptimizeResult:
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

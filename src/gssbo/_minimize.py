"""`minimize`: from an objective and a space to a result, with SciPy's calling conventions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scipy.optimize import OptimizeResult

from gssbo._keywords import with_checked_keywords
from gssbo._run import run
from gssbo._typing import ArrayLike, RngLike
from gssbo.optimizer import Optimizer

__all__ = ["minimize"]


@with_checked_keywords(others=Optimizer)
def minimize(
    fun: Callable[..., Any],
    bounds: Any,
    *,
    n_evals: int,
    x0: Any = None,
    y0: ArrayLike | None = None,
    args: Any = (),
    maximize: bool = False,
    catch: type[Exception] | tuple[type[Exception], ...] = (),
    returns_noise: bool = False,
    workers: Any = 1,
    batch_size: int | None = None,
    timeout: float | None = None,
    target: float | None = None,
    patience: int | None = None,
    callback: Callable[..., Any] | Sequence[Callable[..., Any]] | None = None,
    progress: Any = False,
    journal: Any = None,
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
        as an array (n, d), a list of points, or a data frame with a column a parameter. None of them (`[]`) are none.
    y0 : float or array of shape (n,) or (n, 1), optional
        Their values. The first `n_init` of them count as the initial design, and beyond 4 M observations the box's
        pool offers the newest only: shuffle old data, or use `pool="full"`.
    args : tuple
        Further arguments of `fun`; what is no tuple is a single one.
    maximize : bool
        Whether to maximise instead.
    catch : exception class or tuple of them
        Exceptions of `fun` by which an evaluation fails and the run goes on; any other ends it.
    returns_noise : bool
        Whether `fun` returns a pair (value, noise_std): a value and the known standard deviation of its noise, at least
        0, which comes on top of what the model finds in all values; or None where it is not known. A failed evaluation
        may return NaN alone.
    workers : int, concurrent.futures.Executor, map-like callable or distributed.Client
        Who evaluates. 1: this process. A larger number: so many processes, which are sent `fun`, so it must be of a
        module; -1: one for each processor. An executor, and the client of a Dask cluster, are kept as busy as they
        are large. But for a map-like, which takes batches, a new suggestion goes out as soon as a value arrives.
    batch_size : int, optional
        Evaluations at a time for an executor or a client, points in a batch for a map-like; needed only where
        `workers` does not tell.
    timeout : float, optional
        Seconds after which no evaluation starts. What is running is waited for, not killed. 0 is no evaluation at all,
        infinity no limit.
    target : float, optional
        The run ends when the best observed value is as good as this, at a point that meets the constraints.
    patience : int, optional
        The run ends after so many evaluations in a row, design included, without an improvement on the best value.
    callback : callable or list of them, optional
        Called after each evaluation with an OptimizeResult of `x`, `fun` (best so far), `nfev`, `nit`, `x_last`,
        `fun_last`, `retained_size`, `ask_seconds`, `timings` (as a result has them); by keyword where it has a
        parameter `intermediate_result`, and with the best x alone where its first parameter is `xk`, as SciPy does. A
        true return value or StopIteration ends the run; what that was raised with, if anything, is the result's
        `message`. Of a list, each is called after every evaluation, in order; the first that asks to stop says why.
    progress : bool or callable
        Whether to show on stderr how far the run is: a live display on a terminal where rich is installed (the extra
        "cli"), else a line after the first evaluation, then after one at most every five seconds. Or a callable that
        takes a `gssbo.progress.Standing` after each evaluation, entered as a context manager if it is one.
    journal : path or gssbo.journal.Journal, optional
        A file in which every evaluation is on the disk before the next begins. Where it holds a run already, that is
        taken up: `n_evals` is the total, what was being evaluated when it broke off is evaluated again, and with one
        worker the result is that of an uninterrupted run. Of `x0` and `y0`, what the run knows is left out, what is
        new is added. Everything else must be given as it was.
    rng : None, int or numpy.random.Generator
        Where the random numbers come from. With a seed and one worker the run repeats itself; None is another run each
        time, and so is the same generator given once more.
    **optimizer_options
        Any other argument of `gssbo.Optimizer`, for example `**gssbo.presets.paper(100)`.

    Returns
    -------
    scipy.optimize.OptimizeResult
        `x`, `fun`, `success`, `status`, `message`, `nfev`, `nit` (suggestions made by the model), `failures` (pairs
        `x`, `reason`, of the whole run), and what
        `Optimizer.result` has: `x_model`, `fun_model`, `fun_model_std`, `maximize`, `n_failed`, `x_iters`
        (n points), `func_vals` (n,) in the order they were told, with the prior observations first, `retained`, `M`,
        `switched_at`, `timings` (seconds; the objective is not included). `status` is 0 budget spent, 1 stopped by the
        callback, 2 interrupted, 3 all points of a finite space evaluated, 4 time over, 5 target reached, 6 patience
        lost; in a `partial_result` 7, ended by an exception. `success` is False for 2 and 7, wherever no evaluation
        gave a value (`x` and `fun` are None then), and where no point evaluated meets the constraints (`x` is the best
        of all then); `message` says so, and `status` still says why the run ended.

    Raises
    ------
    ValueError
        If an argument is out of its range, `fun` cannot be sent to other processes, or returns something that is not
        one number, or infinitely good.
    Exception
        Whatever `fun` or `callback` raises, unchanged but for the attribute `partial_result`, an OptimizeResult of
        everything told before. An evaluation is told before the callback hears of it; one that raised is not told.

    Notes
    -----
    Ctrl-C ends the run with `success=False` and everything evaluated so far. It and an exception cancel what other
    workers have in hand; processes of our own are ended, threads and a cluster finish it unheard. Any other end waits
    for it and tells it. A batch is told as a whole.

    The crash of a worker is a failed evaluation. Of a number of processes, only the one that died is lost, and
    replaced. A `ProcessPoolExecutor` breaks as a whole: all that it had in hand is evaluated once more, each in a pool
    of one process like it, and so is all that follows; what breaks its own pool has failed. On a Dask cluster, an
    evaluation whose worker is lost has failed, and what was only waiting there goes to another worker.

    With one worker and a seed a run repeats itself; with several, values arrive in an order that does not.

    Examples
    --------
    >>> result = minimize(lambda x: (x[0] - 1.0) ** 2 + x[1] ** 2, [(-5, 5), (-5, 5)], n_evals=40, rng=0)
    >>> bool(result.fun < 0.1), result.nfev
    (True, 40)

    Four evaluations at a time, in threads, until one is good enough or a minute is over:

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> with ThreadPoolExecutor(4) as executor:
    ...     result = minimize(
    ...         lambda x: 1.0 / x["n"], {"n": range(1, 9)}, n_evals=99, workers=executor, target=0.125, timeout=60
    ...     )
    >>> result.x, result.message
    ({'n': 8}, 'The target is reached.')
    """
    if x0 is None and y0 is not None:
        raise ValueError("y0 must come with x0, got y0 alone")
    with Optimizer(bounds, maximize=maximize, rng=rng, journal=journal, **optimizer_options) as optimizer:
        if x0 is not None and y0 is not None:
            optimizer.tell_prior(x0, y0, once=optimizer.resumed, names=("x0", "y0"))
        elif x0 is not None:
            optimizer.enqueue(x0, once=optimizer.resumed, name="x0")
        return run(
            optimizer,
            fun,
            n_evals=n_evals,
            args=args,
            catch=catch,
            returns_noise=returns_noise,
            workers=workers,
            batch_size=batch_size,
            timeout=timeout,
            target=target,
            patience=patience,
            callback=callback,
            progress=progress,
        )

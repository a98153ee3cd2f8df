"""The loop around an objective: ask, have it evaluated, tell; as many at a time as there are workers.

As soon as a value arrives it is told, and a new suggestion goes out. Once a limit is met nothing starts any more; what
is running is waited for and told. An error or Ctrl-C ends the run at once: what is over is told, the rest is given up,
and its suggestions stay pending in the optimizer.
"""

from __future__ import annotations

import contextlib
import inspect
import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

from scipy.optimize import OptimizeResult

from gssbo import _stops
from gssbo._keywords import with_checked_keywords
from gssbo._notes import attach
from gssbo._objective import Objective, Reply
from gssbo._stops import INFEASIBLE, MESSAGES, NO_VALUE, Stops
from gssbo._text import brief
from gssbo._validation import check_flag
from gssbo._workers import Workers, make_workers
from gssbo.exceptions import SpaceExhausted
from gssbo.optimizer import Optimizer
from gssbo.pending import Suggestion
from gssbo.progress import Show, Standing, display_for
from gssbo.space.parameter import fresh

__all__ = ["run"]


@with_checked_keywords()
def run(
    optimizer: Optimizer,
    fun: Callable[..., Any],
    *,
    n_evals: int,
    args: Any = (),
    catch: Any = (),
    returns_noise: bool = False,
    workers: Any = 1,
    batch_size: int | None = None,
    timeout: float | None = None,
    target: float | None = None,
    patience: int | None = None,
    callback: Callable[..., Any] | Sequence[Callable[..., Any]] | None = None,
    progress: Any = False,
) -> OptimizeResult:
    """Evaluate what an optimizer suggests until a limit is met: the loop of `gssbo.minimize`, for one made before.

    Parameters
    ----------
    optimizer : Optimizer
        It may have been told before, as evaluations or, by `tell_prior`, as observations that do not count. Suggestions
        that are pending in it are evaluated first, then its queue. It may be used as ever afterwards, or run on.
    fun : callable
    n_evals : int
        Evaluations in all, those that the optimizer was told before included.
    args, catch, returns_noise, workers, batch_size, timeout, target, patience, callback, progress
        As of `gssbo.minimize`.

    Returns
    -------
    scipy.optimize.OptimizeResult
        As of `gssbo.minimize`.

    Raises
    ------
    ValueError, Exception
        As `gssbo.minimize` does.

    Examples
    --------
    >>> optimizer = Optimizer([(-5, 5)], n_init=4, rng=0)
    >>> optimizer.tell_prior([[1.0], [2.0]], [1.0, 4.0])
    >>> result = run(optimizer, lambda x: x[0] ** 2, n_evals=3)
    >>> result.nfev, optimizer.n_told
    (3, 5)
    >>> result = run(optimizer, lambda x: x[0] ** 2, n_evals=4)
    >>> result.nfev, optimizer.n_told
    (4, 6)
    """
    stops = Stops(n_evals=n_evals, timeout=timeout, target=target, patience=patience)
    if not callable(fun):
        raise ValueError(f"fun must be callable, got {brief(fun)}")
    caught: tuple[Any, ...] = catch if isinstance(catch, tuple) else (catch,)
    if not all(isinstance(kind, type) and issubclass(kind, Exception) for kind in caught):
        raise ValueError(f"catch must be an exception class or a tuple of them, got {catch!r}")
    objective = Objective(
        fun,
        args if isinstance(args, tuple) else (args,),
        caught,
        worst=-math.inf if optimizer.maximize else math.inf,
        returns_noise=check_flag("returns_noise", returns_noise),
    )
    notify = _notifier(callback)
    display = display_for(progress, stops.n_evals)
    with contextlib.closing(make_workers(workers, objective, batch_size)) as team, display as show:
        return _Run(optimizer, stops, team, notify, show).go()


class _Run:
    """A run: what is in flight, and how it ends."""

    def __init__(
        self,
        optimizer: Optimizer,
        stops: Stops,
        workers: Workers,
        notify: Callable[[OptimizeResult], str],
        show: Show,
    ) -> None:
        self._optimizer, self._stops, self._workers = optimizer, stops, workers
        self._notify, self._show = notify, show
        self._waiting = deque(optimizer.pending)  # of a run that broke off
        self._flying: dict[int, Any] = {}
        self._ask_seconds: list[float] = []
        self._status: int | None = stops.met(optimizer)
        self._why = ""  # the callback stopped it

    def go(self) -> OptimizeResult:
        try:
            while True:
                if self._status is None:
                    self._fill()
                if not self._flying:
                    return self._result(_stops.BUDGET if self._status is None else self._status)
                self._workers.wait()
                while self._workers.ready:
                    self._after(*self._take())
        except KeyboardInterrupt:
            self._break_off()
            return self._result(_stops.INTERRUPTED)
        except BaseException as error:
            self._break_off()
            # Nothing evaluated is lost: whoever catches the error finds it there.
            attach(
                error,
                f"gssbo: this ended the run after {self._n_done} evaluations; everything told is in the "
                "attribute `partial_result` of this exception.",
                partial_result=self._result(_stops.ERROR),
            )
            raise

    @property
    def _n_done(self) -> int:
        return self._optimizer.n_evaluated()

    # ---- out

    def _fill(self) -> None:
        """Start as many evaluations as there is room for."""
        room = min(self._workers.free, self._stops.left(self._optimizer) - len(self._flying))
        if room < 1:
            return
        if self._stops.late():
            self._status = _stops.TIMEOUT
            return
        chosen = [self._waiting.popleft() for _ in range(min(room, len(self._waiting)))]
        if len(chosen) < room:
            chosen += self._ask(room - len(chosen))
        for suggestion in chosen:
            if self._stops.late():  # asking takes time; a suggestion that is not evaluated stays pending
                self._status = _stops.TIMEOUT
                return
            self._flying[suggestion.id] = suggestion.x
            self._workers.start(*suggestion)

    def _ask(self, n: int) -> list[Suggestion]:
        before = self._optimizer.n_suggested
        try:
            suggestions: list[Suggestion] = self._optimizer.ask(n, ids=True)
        except SpaceExhausted:
            self._status = _stops.EXHAUSTED
            return []
        if self._optimizer.n_suggested > before:
            self._ask_seconds.append(self._optimizer.last_ask_seconds / len(suggestions))
        return suggestions

    # ---- back

    def _take(self) -> tuple[Any, Reply]:
        """Tell the first reply that is ready, which is in the books before anything else happens to it."""
        number, reply = self._workers.ready[0]
        if reply.error is not None:
            raise reply.error
        x = self._flying[number]
        # The point is not read again: others have had it.
        self._optimizer.tell(y=reply.value, id=number, noise_std=reply.noise_std, reason=reply.reason)
        self._workers.ready.popleft()
        self._flying.pop(number)
        return x, reply

    def _after(self, x: Any, reply: Reply) -> None:
        """Whoever watches is told, and may ask to stop."""
        self._show(self._standing())
        why = self._notify(self._progress(x, reply.value))
        if self._status in (None, _stops.EXHAUSTED):  # what is exhausted may be met by what was still in flight
            met = _stops.CALLBACK if why else self._stops.met(self._optimizer)
            if met is not None:
                self._status, self._why = met, why

    def _break_off(self) -> None:
        """Tell what is over, once more what may have been told, and give up on the rest.

        What was told before is to be had whatever goes wrong with that.
        """
        with contextlib.suppress(Exception):
            self._workers.stop()
        ready = self._workers.ready
        while ready:
            number, reply = ready[0]
            if reply.error is None and number in self._flying:
                with contextlib.suppress(Exception):
                    self._take()
                    continue
            ready.popleft()

    # ---- what there is to see

    def _standing(self) -> Standing:
        return Standing.of(
            self._optimizer, n_evals=self._stops.n_evals, n_done=self._n_done, ask_seconds=self._ask_seconds
        )

    def _progress(self, x: Any, value: float) -> OptimizeResult:
        optimizer = self._optimizer
        return OptimizeResult(
            x=optimizer.best_x,
            fun=optimizer.best_y,
            nfev=self._n_done,
            nit=optimizer.n_suggested,
            x_last=fresh(x),
            fun_last=value,
            retained_size=optimizer.n_retained,
            ask_seconds=optimizer.last_ask_seconds,
            timings=optimizer.timings.with_total(),
        )

    def _result(self, status: int) -> OptimizeResult:
        try:
            result = self._optimizer.result()
        except Exception:
            if status not in (_stops.INTERRUPTED, _stops.ERROR):
                raise
            result = self._optimizer.result(modelled=False)  # what ended the run may be the model
        flaw = NO_VALUE if result.x is None else "" if self._optimizer.best_is_feasible else INFEASIBLE
        result.update(
            success=not flaw and status not in (_stops.INTERRUPTED, _stops.ERROR),
            status=status,
            message=(self._why if status == _stops.CALLBACK else MESSAGES[status]) + flaw,
            nfev=self._n_done,
            nit=self._optimizer.n_suggested,
            failures=self._optimizer.failures,
        )
        return result


def _notifier(callback: Any) -> Callable[[OptimizeResult], str]:
    """A function of the state of the run that calls back whoever is to be, one callable or several in a list.

    It returns why the run is to stop, or nothing. Each of them hears of every evaluation, also where one before it has
    asked to stop: the first who does says why.
    """
    if not isinstance(callback, list | tuple):
        return (lambda progress: "") if callback is None else _one_notifier("callback", callback)
    each = [_one_notifier(f"callback[{i}]", one) for i, one in enumerate(callback)]
    return lambda progress: next(filter(None, [notify(progress) for notify in each]), "")


def _one_notifier(name: str, callback: Any) -> Callable[[OptimizeResult], str]:
    """Calls back in the way the callback's signature asks for."""
    if not callable(callback):
        raise ValueError(
            f"{name} must be callable{', or a list of callables' * (name == 'callback')}, got {callback!r}"
        )
    try:
        signature: inspect.Signature | None = inspect.signature(callback)
    except (TypeError, ValueError):  # of compiled code, which does not tell
        signature = None
    names = () if signature is None else tuple(signature.parameters)
    named, point = "intermediate_result" in names, names[:1] == ("xk",)
    try:
        if signature is not None:
            signature.bind(**{"intermediate_result": None}) if named else signature.bind(None)
    except TypeError as error:
        raise ValueError(
            f"{name} must take one argument, xk or intermediate_result in SciPy's way, got {signature} ({error})"
        ) from None

    def notify(progress: OptimizeResult) -> str:
        try:
            answer = callback(intermediate_result=progress) if named else callback(progress.x if point else progress)
        except StopIteration as stop:
            return str(stop) or MESSAGES[_stops.CALLBACK]
        if inspect.isawaitable(answer) or inspect.isgenerator(answer) or inspect.isasyncgen(answer):
            raise ValueError(f"{name} must return whether to stop, or None, got {brief(answer)}, which nobody runs")
        try:
            return MESSAGES[_stops.CALLBACK] if answer else ""
        except Exception as error:
            raise ValueError(f"{name} must return whether to stop, or None, got {brief(answer)}") from error

    return notify

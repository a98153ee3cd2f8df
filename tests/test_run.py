"""The loop: limits, callbacks, interruptions."""

import functools
import math
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint

import gssbo
from gssbo._run import run
from gssbo.exceptions import JournalError
from gssbo.journal import Journal, read_journal
from tests.objectives import bowl, fails

BOX = [(0.0, 1.0)] * 2
FEW = {"n_init": 4, "rng": 0, "method": "box", "n_candidates": 200}


def values(*numbers):
    """An objective that gives these, in order."""
    left = list(numbers)
    return lambda x: left.pop(0)


@pytest.mark.parametrize(
    ("limits", "n_evals", "status"),
    [
        ({}, 8, 0),
        ({"target": 3.0}, 4, 5),
        ({"target": 2.5}, 5, 5),
        ({"target": -1.0}, 8, 0),
        ({"patience": 1}, 3, 6),
        ({"patience": 3}, 8, 6),
        ({"patience": 4}, 8, 0),
        ({"timeout": 0}, 0, 4),
        ({"timeout": 1e6}, 8, 0),
        ({"timeout": math.inf}, 8, 0),
    ],
)
def test_a_limit_ends_the_run_at_the_exact_evaluation(limits, n_evals, status):
    fun = values(5.0, 4.0, 4.5, 3.0, 2.0, 2.0, 2.5, 9.0)
    result = gssbo.minimize(fun, BOX, n_evals=8, **limits, **FEW)
    assert (result.nfev, result.status, result.success) == (n_evals, status, n_evals > 0)
    up = values(-5.0, -4.0, -4.5, -3.0, -2.0, -2.0, -2.5, -9.0)
    mirrored = {**limits, "target": -limits["target"]} if "target" in limits else limits
    result = gssbo.minimize(up, BOX, n_evals=8, maximize=True, **mirrored, **FEW)
    assert (result.nfev, result.status) == (n_evals, status)


def test_failures_are_no_improvement():
    result = gssbo.minimize(values(math.nan, 1.0, math.nan, math.nan, 0.5), BOX, n_evals=5, patience=2, **FEW)
    assert (result.nfev, result.status) == (4, 6)


@pytest.mark.parametrize(
    "limits",
    [
        {"timeout": -1},
        {"timeout": -math.inf},
        {"timeout": math.nan},
        {"target": "low"},
        {"patience": 0},
        {"patience": 1.5},
        {"n_evals": 0},
    ],
)
def test_a_wrong_limit_is_refused_before_any_evaluation(limits):
    calls = []
    (name,) = limits
    with pytest.raises(ValueError, match=name):
        gssbo.minimize(calls.append, BOX, **{"n_evals": 5, **limits}, **FEW)
    assert calls == []


def test_callbacks_of_both_kinds():
    seen = []

    def positional(progress):
        seen.append((progress.nfev, progress.fun, progress.fun_last))

    def named(*, intermediate_result):
        return intermediate_result.nfev == 3

    def stops(progress):
        if progress.nfev == 2:
            raise StopIteration

    fun = values(5.0, 4.0, 4.5, 3.0)
    gssbo.minimize(fun, BOX, n_evals=4, callback=positional, **FEW)
    assert seen == [(1, 5.0, 5.0), (2, 4.0, 4.0), (3, 4.0, 4.5), (4, 3.0, 3.0)]
    result = gssbo.minimize(bowl, BOX, n_evals=9, callback=named, **FEW)
    assert (result.nfev, result.status) == (3, 1)
    result = gssbo.minimize(bowl, BOX, n_evals=9, callback=stops, **FEW)
    assert (result.nfev, result.status) == (2, 1)


def test_exceptions_that_are_caught_are_failures_with_a_reason():
    result = gssbo.minimize(fails, BOX, n_evals=10, catch=ValueError, **FEW)
    failed = np.isnan(result.func_vals)
    assert result.n_failed == failed.sum() == len(result.failures) >= 1
    assert all(failure.x[0] < 0.5 and "math domain error" in failure.reason for failure in result.failures)
    with pytest.raises(ValueError, match="math domain error") as caught:
        gssbo.minimize(fails, BOX, n_evals=10, catch=KeyError, **FEW)
    assert caught.value.partial_result.status == 7


def test_a_run_starts_from_what_the_optimizer_holds():
    opt = gssbo.Optimizer(BOX, **FEW)
    opt.tell_prior([[0.9, 0.9]], [2.0])
    opt.tell([0.8, 0.8], 1.0)  # an evaluation
    waiting = opt.ask(2)
    opt.enqueue([0.1, 0.2])
    seen = []

    def fun(x):
        seen.append(x.tolist())
        return bowl(x)

    result = run(opt, fun, n_evals=5)
    assert (result.nfev, opt.n_told, opt.pending) == (5, 6, [])
    assert seen[:3] == [*waiting.tolist(), [0.1, 0.2]]


def test_a_finished_space_ends_the_run():
    result = gssbo.minimize(lambda x: x[0], [range(3)], n_evals=10)
    assert (result.nfev, result.status) == (3, 3)


def test_scipys_bounds_and_arguments():
    result = gssbo.minimize(lambda x, a: bowl(x) + a, Bounds([0, 0], [1, 1]), args=2.0, n_evals=4, x0=[0.3, 0.3], **FEW)
    assert result.fun == 2.0 and result.x.tolist() == [0.3, 0.3]


# ---- interruptions


def test_ctrl_c_in_the_objective_returns_what_was_told():
    calls = []

    def fun(x):
        calls.append(x)
        if len(calls) == 6:
            raise KeyboardInterrupt
        return bowl(x)

    result = gssbo.minimize(fun, BOX, n_evals=20, **FEW)
    assert (result.nfev, result.success, result.status) == (5, False, 2)
    assert result.fun == min(bowl(x) for x in calls[:5])


def test_ctrl_c_anywhere_in_tell_and_ask_leaves_whole_books():
    """A trace function interrupts after every k-th line of the package's own code."""
    for k in range(1, 400, 13):
        opt = gssbo.Optimizer(BOX, **FEW)
        opt.tell([[0.1, 0.1], [0.5, 0.2], [0.9, 0.7], [0.3, 0.8]], [1.0, 2.0, 3.0, 2.5])
        opt.ask()
        count = 0

        def trace(frame, event, argument, k=k):
            nonlocal count
            if "gssbo" not in frame.f_code.co_filename:
                return None
            if event == "line":
                count += 1
                if count == k:
                    raise KeyboardInterrupt
            return trace

        before = (opt.n_told, len(opt.pending), opt.n_failed)
        for call, after in ((functools.partial(opt.tell, [0.6, 0.6], math.nan), (5, 1, 1)), (opt.ask, (5, 2, 1))):
            count = 0
            sys.settrace(trace)
            try:
                call()
            except KeyboardInterrupt:
                pass
            finally:
                sys.settrace(None)
            now = (opt.n_told, len(opt.pending), opt.n_failed)
            assert now in (before, after), k
            if now == before and after[0] == 5 and opt.n_told == 4:
                opt.tell([0.6, 0.6], math.nan)
            before = (opt.n_told, len(opt.pending), opt.n_failed)
        x = opt.ask()
        assert np.isfinite(x).all()
        opt.tell(x, 0.5)
        assert opt.n_told == 6


def test_ctrl_c_with_threads_tells_what_is_over():
    first = threading.Event()

    def fun(x):
        if first.is_set():
            raise KeyboardInterrupt  # as if it had come to the main thread, by way of the reply
        first.set()
        return bowl(x)

    with ThreadPoolExecutor(1) as executor:
        result = gssbo.minimize(fun, BOX, n_evals=20, workers=executor, **FEW)
    assert (result.nfev, result.success) == (1, False)


def test_a_journal_that_fails_costs_no_result(tmp_path):
    path, n = tmp_path / "run.jsonl", 0

    def fun(x):
        nonlocal n
        n += 1
        if n == 6:
            path.unlink()
        return bowl(x)

    with pytest.raises(JournalError, match="was removed") as caught:
        gssbo.minimize(fun, BOX, n_evals=20, journal=path, **FEW)
    result = caught.value.partial_result
    assert (result.nfev, result.status, n) == (5, 7, 6)
    assert result.fun == result.func_vals.min()


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_whatever_ends_a_run_a_journal_that_fails_costs_no_result(tmp_path, error):
    path = tmp_path / "run.jsonl"

    def callback(progress):
        if progress.nfev == 4:  # of a batch, of which there are more to be told
            path.unlink()
            raise error

    options = {"workers": map, "batch_size": 3, "callback": callback, "journal": path}
    if error is KeyboardInterrupt:
        result = gssbo.minimize(bowl, BOX, n_evals=20, **options, **FEW)
    else:
        with pytest.raises(error) as caught:
            gssbo.minimize(bowl, BOX, n_evals=20, **options, **FEW)
        result = caught.value.partial_result
    assert (result.nfev, result.success) == (4, False)
    assert result.fun == result.func_vals.min()


def test_a_disk_that_is_full_for_a_moment_costs_nothing(tmp_path, monkeypatch):
    path, append, n = tmp_path / "run.jsonl", Journal.append, 0

    def full(self, entry):
        nonlocal n
        n += entry.kind == "tell"
        if n == 5 and entry.kind == "tell":
            raise JournalError("no space left")
        append(self, entry)

    monkeypatch.setattr(Journal, "append", full)
    with pytest.raises(JournalError, match="no space left") as caught:
        gssbo.minimize(bowl, BOX, n_evals=20, journal=path, **FEW)
    assert caught.value.partial_result.nfev == 5  # it is told once more before the run is given up
    assert sum(entry.kind == "tell" for entry in read_journal(path).entries) == 5


def test_a_callback_says_why_it_stops():
    def callback(progress):
        if progress.nfev >= 3:
            raise StopIteration("Good enough.")

    result = gssbo.minimize(bowl, BOX, n_evals=9, callback=callback, workers=map, batch_size=4, **FEW)
    assert (result.nfev, result.status, result.message) == (4, 1, "Good enough.")
    result = gssbo.minimize(lambda x: math.nan, BOX, n_evals=9, callback=callback, **FEW)
    assert result.message == "Good enough. No evaluation gave a value."


def test_a_best_that_violates_the_constraints_is_no_success():
    rule = LinearConstraint([[1.0, 1.0]], ub=0.5)
    told = {"x0": [[0.9, 0.9]], "y0": [-5.0], "n_init": 4, "rng": 0, "constraints": rule}
    result = gssbo.minimize(lambda x: float(x.sum()), [(0.0, 1.0)] * 2, timeout=0, n_evals=1, **told)
    assert not result.success and result.message.endswith("No point evaluated meets the constraints.")
    assert (result.fun, result.x.tolist()) == (-5.0, [0.9, 0.9])
    result = gssbo.minimize(lambda x: float(x.sum()), [(0.0, 1.0)] * 2, n_evals=6, **told)
    assert result.success and result.x.sum() <= 0.5 and result.fun >= 0.0


# ---- what else may go wrong


@pytest.mark.parametrize("most", [8, 12])  # as the next is asked for, and at the very end
def test_a_model_that_fails_costs_no_result(most):
    class Failing(gssbo.GaussianProcess):
        def condition(self, X, y, **options):
            if len(y) >= most:
                raise ArithmeticError("no model")
            super().condition(X, y, **options)

    with pytest.raises(ArithmeticError, match="no model") as caught:
        gssbo.minimize(bowl, BOX, n_evals=12, surrogate=Failing(n_restarts=0), **FEW)
    result = caught.value.partial_result
    assert (result.nfev, result.status, result.fun) == (most, 7, result.func_vals.min())
    assert result.x_model is None and len(result.retained) == 0


def test_ctrl_c_as_the_result_is_made_costs_nothing(monkeypatch):
    def interrupted(self):
        monkeypatch.undo()
        raise KeyboardInterrupt

    monkeypatch.setattr(gssbo.Optimizer, "result", interrupted)
    result = gssbo.minimize(bowl, BOX, n_evals=6, **FEW)
    assert (result.nfev, result.success, result.status) == (6, False, 2)


def test_a_value_that_is_refused_costs_no_other():
    """Of a batch, a callback tells another value of the second one."""
    opt = gssbo.Optimizer(BOX, **FEW)

    def callback(progress):
        if progress.nfev == 1:
            opt.tell(id=1, y=7.0)

    with pytest.raises(ValueError, match="must be the value told before for suggestion 1") as caught:
        run(opt, bowl, n_evals=9, workers=map, batch_size=3, callback=callback)
    assert (caught.value.partial_result.nfev, opt.n_told, opt.pending) == (3, 3, [])


def test_workers_that_cannot_be_stopped_cost_no_result(monkeypatch):
    def stop(self):
        raise OSError("gone")

    monkeypatch.setattr("gssbo._workers.Here.stop", stop)
    with pytest.raises(ValueError, match="math domain error") as caught:
        gssbo.minimize(fails, BOX, n_evals=10, **FEW)
    assert caught.value.partial_result.status == 7


def test_what_is_told_before_is_no_evaluation_in_vain(tmp_path):
    path, numbers = tmp_path / "run.jsonl", [5.0, 4.0, 3.0, 9.0, 9.0, 9.0, 9.0]
    options = {"patience": 4, "journal": path, **FEW}
    gssbo.minimize(values(*numbers[:3]), BOX, n_evals=3, **options)
    old = np.random.default_rng(0).random((6, 2))
    result = gssbo.minimize(values(*numbers[3:]), BOX, n_evals=9, x0=old, y0=np.full(6, 8.0), **options)
    assert (result.nfev, result.status) == (7, 6)


def test_what_violates_the_constraints_reaches_no_target():
    rule = LinearConstraint([[1.0, 1.0]], ub=0.5)
    old = {"x0": [[0.9, 0.9]], "y0": [-5.0], "constraints": rule, "target": 0.4, **FEW}
    result = gssbo.minimize(lambda x: float(x.sum()), BOX, n_evals=30, **old)
    assert result.success and result.status == 5 and 0.0 <= result.fun <= 0.4


def test_a_note_says_how_many_evaluations_there_were():
    def callback(progress):
        if progress.nfev == 2:
            raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine") as caught:
        gssbo.minimize(bowl, BOX, n_evals=9, callback=callback, **FEW)
    assert caught.value.__notes__[-1].startswith("gssbo: this ended the run after 2 evaluations;")

"""Callbacks of `minimize`, and Ctrl-C."""

import numpy as np
import pytest

import gssbo
from tests.runs import Counted, CustomError, assert_same_run, run

pytestmark = pytest.mark.usefixtures("single_thread")


def test_a_callback_that_writes_into_its_payload():
    def vandal(intermediate_result):
        intermediate_result.x[:] = np.nan
        intermediate_result.x_last[:] = np.nan

    assert_same_run(run(callback=vandal), run())


def test_callback_payload():
    seen = []
    result = run(callback=lambda r: seen.append(dict(r)), n_evals=13)
    assert len(seen) == 13
    for i, progress in enumerate(seen):
        values = result.func_vals[: i + 1]
        assert set(progress) == {
            "x", "fun", "nfev", "nit", "x_last", "fun_last", "retained_size", "ask_seconds", "timings",
        }  # fmt: skip
        assert progress["nfev"] == i + 1
        assert progress["nit"] == max(0, i - 4)
        assert progress["fun"] == values.min()
        np.testing.assert_array_equal(progress["x"], result.x_iters[np.argmin(values)])
        np.testing.assert_array_equal(progress["x_last"], result.x_iters[i])
        assert progress["fun_last"] == values[-1]
        assert progress["retained_size"] == (0 if i < 5 else min(i, 10))
        assert progress["ask_seconds"] > 0.0
    totals = [progress["timings"]["total"] for progress in seen]
    assert totals == sorted(set(totals))  # what is kept does not grow with the run
    assert totals[-1] == pytest.approx(result.timings["total"])


def test_callbacks_in_scipys_older_way_get_the_best_point():
    seen = []
    result = run(callback=lambda xk: seen.append(xk.copy()), n_evals=9)
    assert len(seen) == 9
    np.testing.assert_array_equal(seen[0], result.x_iters[0])
    np.testing.assert_array_equal(seen[-1], result.x)


@pytest.mark.parametrize("callback", [lambda xk, convergence: None, lambda: None, lambda *, state: None])
def test_callbacks_that_cannot_be_called_are_refused_before_anything_is_evaluated(callback):
    seen = []
    with pytest.raises(ValueError, match=r"callback must take one argument.*, got \("):
        run(lambda x: seen.append(x) or 0.0, callback=callback)
    assert seen == []


def test_callback_counts_only_evaluations_made_here():
    seen = []
    run(callback=lambda r: seen.append(r.nfev), x0=[[1.0, 1.0], [2.0, 2.0]], y0=[1.0, 5.0], n_evals=3)
    assert seen == [1, 2, 3]


@pytest.mark.parametrize("how", [True, 1, "yes", np.True_, StopIteration])
def test_callback_ends_the_run(how):
    fun = Counted()

    def callback(intermediate_result):
        if intermediate_result.nfev < 8:
            return None
        if how is StopIteration:
            raise StopIteration
        return how

    result = run(fun, callback=callback)
    assert len(fun.points) == result.nfev == 8
    assert result.success is True
    assert result.status == 1
    assert "callback" in result.message
    np.testing.assert_array_equal(result.x_iters, run(n_evals=8).x_iters)


@pytest.mark.parametrize("falsy", [None, False, 0, ""])
def test_a_false_return_goes_on(falsy):
    assert_same_run(run(callback=lambda r: falsy), run())


def test_exceptions_of_the_callback_come_out():
    with pytest.raises(CustomError):
        run(callback=lambda r: (_ for _ in ()).throw(CustomError()))


@pytest.mark.parametrize("after", [0, 3, 9])
def test_ctrl_c_returns_everything_told(after):
    fun = Counted()

    def interrupted(x):
        if len(fun.points) == after:
            raise KeyboardInterrupt
        return fun(x)

    result = run(interrupted)
    assert result.success is False
    assert result.status == 2
    assert "nterrupted" in result.message
    assert result.nfev == len(result.x_iters) == len(result.func_vals) == after
    if after:
        np.testing.assert_array_equal(result.x_iters, fun.points)
        assert result.fun == result.func_vals.min()
    else:
        assert result.x is None
        assert result.fun is None


def test_ctrl_c_in_the_callback():
    def callback(intermediate_result):
        if intermediate_result.nfev == 7:
            raise KeyboardInterrupt

    result = run(callback=callback)
    assert result.success is False
    assert result.nfev == len(result.x_iters) == 7


def test_ctrl_c_during_a_suggestion(monkeypatch):
    original, calls = gssbo.Optimizer.ask, []

    def ask(self, *arguments, **options):
        calls.append(1)
        if len(calls) == 9:
            raise KeyboardInterrupt
        return original(self, *arguments, **options)

    monkeypatch.setattr(gssbo.Optimizer, "ask", ask)
    result = run()
    assert result.success is False
    assert result.nfev == 8


class NoTruth:
    def __bool__(self):
        raise RuntimeError("neither")


@pytest.mark.parametrize("answer", [np.array([True, False]), NoTruth()])
def test_a_callback_that_answers_neither_yes_nor_no(answer):
    with pytest.raises(ValueError, match=r"^callback must return whether to stop, or None, got") as caught:
        run(callback=lambda result: answer)
    assert caught.value.partial_result.nfev == 1


async def answered_later(result):
    return None


@pytest.mark.filterwarnings("ignore:coroutine .* was never awaited")
@pytest.mark.parametrize("callback", [answered_later, lambda result: (yield)])
def test_a_callback_that_would_have_to_be_awaited_or_iterated(callback):
    with pytest.raises(ValueError, match=r"^callback must .*, got <(coroutine|generator) object .*, which nobody runs"):
        run(callback=callback)


def test_callbacks_are_called_the_way_their_parameters_ask_for():
    class Method:
        def __init__(self):
            self.seen = []

        def positional(self, state, scale=2.0):
            self.seen.append(state.nfev)

        def keyword(self, *, intermediate_result):
            self.seen.append(intermediate_result.fun)

    method = Method()
    result = run(n_evals=4, callback=method.positional)
    run(n_evals=4, callback=method.keyword)
    assert method.seen == [1, 2, 3, 4, *np.minimum.accumulate(result.func_vals)]
    seen = []
    run(n_evals=2, callback=seen.append)  # a built-in, whose signature has another name or none
    assert [each.nfev for each in seen] == [1, 2]


def test_several_callbacks_hear_of_every_evaluation_and_the_first_that_stops_says_why():
    heard = []

    def first(intermediate_result):
        heard.append(("first", intermediate_result.nfev))
        return intermediate_result.nfev == 6

    def second(xk):
        n = sum(name == "second" for name, _ in heard) + 1
        heard.append(("second", n))
        if n == 6:
            raise StopIteration("enough")

    for callbacks, message in (([first, second], "The callback asked to stop."), ((second, first), "enough")):
        result = run(callback=callbacks)
        assert (result.status, result.nfev, result.message) == (1, 6, message)
        assert heard == [(each.__name__, n) for n in range(1, 7) for each in callbacks]
        heard.clear()


def test_no_callbacks_in_a_list_are_none_and_what_one_raises_comes_out():
    assert_same_run(run(callback=[]), run())
    seen = []
    with pytest.raises(CustomError) as caught:
        run(callback=[lambda r: True, lambda r: (_ for _ in ()).throw(CustomError()), seen.append])
    assert (caught.value.partial_result.nfev, seen) == (1, [])


@pytest.mark.parametrize(
    ("callback", "message"),
    [
        ("print", r"^callback must be callable, or a list of callables, got 'print'$"),
        ([print, None], r"^callback\[1\] must be callable, got None$"),
        ([print, lambda: None], r"^callback\[1\] must take one argument.*, got \(\)"),
        ([lambda r: np.zeros(2)], r"^callback\[0\] must return whether to stop, or None, got array"),
    ],
)
def test_the_message_names_the_callback_that_is_wrong(callback, message):
    with pytest.raises(ValueError, match=message):
        run(callback=callback)

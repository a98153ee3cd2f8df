"""`minimize`: the budget, the first points, the callback, interruption, and objectives of every temper."""

import copy
import dataclasses
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.optimize import Bounds, OptimizeResult

import gssbo
from gssbo import Categorical

pytestmark = pytest.mark.usefixtures("single_thread")

BOX = [(-2.0, 3.0), (0.0, 4.0)]
FAST = {
    "n_init": 5,
    "subset_size": 10,
    "n_candidates": 200,
    "surrogate": gssbo.GaussianProcess(n_restarts=0, lengthscale_bounds=(0.05, 10.0)),
}


NO_NUMBERS = [
    *(None, "1.5", b"1.5", 1j, [1.0, 2.0], np.zeros(0), {}),
    *(
        np.array([item], object)
        for item in ("1.5", np.complex128(1.5), np.timedelta64(1, "ns"), np.datetime64(1, "ns"))
    ),
]


def bowl(x):
    return float((x[0] - 1.0) ** 2 + (x[1] - 2.0) ** 2)


def run(fun=bowl, bounds=BOX, *, n_evals=14, rng=0, **options):
    return gssbo.minimize(fun, bounds, n_evals=n_evals, rng=rng, **{**FAST, **options})


def assert_same_run(a, b):
    np.testing.assert_array_equal(a.x_iters, b.x_iters)
    np.testing.assert_array_equal(a.func_vals, b.func_vals)
    np.testing.assert_array_equal(a.retained, b.retained)


class Counted:
    def __init__(self, fun=bowl):
        self.fun, self.points = fun, []

    def __call__(self, x):
        self.points.append(x.copy())
        return self.fun(x)


@pytest.mark.parametrize("n_evals", [1, 3, 5, 6, 14])
def test_budget_is_the_total_of_evaluations(n_evals):
    fun = Counted()
    result = run(fun, n_evals=n_evals)
    assert len(fun.points) == n_evals == result.nfev == len(result.x_iters) == len(result.func_vals)
    np.testing.assert_array_equal(result.x_iters, fun.points)
    np.testing.assert_array_equal(result.func_vals, [bowl(x) for x in fun.points])
    assert result.nit == max(n_evals - 5, 0)
    best = int(np.argmin(result.func_vals))
    assert result.fun == result.func_vals[best]
    np.testing.assert_array_equal(result.x, result.x_iters[best])
    assert isinstance(result, OptimizeResult)
    assert result.success is True
    assert result.status == 0
    assert "budget" in result.message


def test_result_fields_of_a_switched_run():
    result = run(n_evals=20)
    assert result.M == 10
    assert result.switched_at == 11
    assert len(result.retained) == 10
    assert set(result.timings) == {"refit", "embed", "select", "acquisition", "other", "total"}
    assert result.timings["select"] > 0.0


def test_is_the_ask_and_tell_loop():
    result = run()
    optimizer = gssbo.Optimizer(BOX, rng=0, **FAST)
    for _ in range(14):
        x = optimizer.ask()
        optimizer.tell(x, bowl(x))
    np.testing.assert_array_equal(result.x_iters, optimizer.X)
    np.testing.assert_array_equal(result.retained, optimizer.retained)


# ---- first points


@pytest.mark.parametrize("x0", [[0.5, 1.5], [[0.5, 1.5]], np.array([[0.5, 1.5], [-1.0, 0.0], [3.0, 4.0]])])
def test_x0_is_evaluated_first_and_counts(x0):
    fun = Counted()
    result = run(fun, x0=x0)
    first = np.atleast_2d(x0)
    np.testing.assert_array_equal(fun.points[: len(first)], first)
    assert len(fun.points) == result.nfev == 14
    assert len(np.unique(result.x_iters, axis=0)) == 14
    assert result.nit == 9  # x0 stands in for design points


def test_more_first_points_than_budget():
    fun = Counted()
    result = run(fun, x0=np.random.default_rng(0).uniform(0.0, 3.0, (6, 2)), n_evals=4)
    assert len(fun.points) == result.nfev == 4
    assert result.nit == 0


def test_x0_in_one_dimension():
    fun = Counted(lambda x: float(x[0] ** 2))
    run(fun, [(-1.0, 1.0)], x0=0.25, n_evals=3)
    assert fun.points[0].tolist() == [0.25]


def test_x0_with_y0_is_not_evaluated_and_does_not_count():
    x0 = np.random.default_rng(0).uniform(0.0, 3.0, (7, 2))
    y0 = np.array([bowl(x) for x in x0])
    fun = Counted()
    result = run(fun, x0=x0, y0=y0, n_evals=6)
    assert len(fun.points) == result.nfev == 6 == result.nit
    assert len(result.x_iters) == len(result.func_vals) == 13
    np.testing.assert_array_equal(result.x_iters[:7], x0)
    np.testing.assert_array_equal(result.func_vals[:7], y0)
    np.testing.assert_array_equal(result.x_iters[7:], fun.points)
    assert result.fun == result.func_vals.min()


def test_a_single_prior_observation():
    result = run(x0=[1.0, 2.0], y0=0.0, n_evals=2)
    assert len(result.x_iters) == 3
    assert result.fun == 0.0


# ---- objectives


@pytest.mark.parametrize("options", [{}, {"acquisition": "thompson"}, {"rule": "scalar", "acquisition": "ei"}])
def test_maximizing_mirrors_minimizing_the_negative_bit_for_bit(options):
    down = run(bowl, n_evals=20, **options)
    up = run(lambda x: -bowl(x), n_evals=20, maximize=True, **options)
    np.testing.assert_array_equal(up.x_iters, down.x_iters)
    np.testing.assert_array_equal(up.func_vals, -down.func_vals)
    np.testing.assert_array_equal(up.retained, down.retained)
    np.testing.assert_array_equal(up.x, down.x)
    assert up.fun == -down.fun == up.func_vals.max()


@pytest.mark.parametrize(
    "wrap",
    [
        np.float64,
        np.array,
        lambda y: np.array([y]),
        lambda y: np.array([[y]]),
        lambda y: [y],
        lambda y: np.array([y], object),
    ],
)
def test_numbers_in_any_wrapping_give_the_same_run(wrap):
    result = run(lambda x: wrap(bowl(x)))
    assert_same_run(result, run())
    assert type(result.fun) is float


def test_an_integer_objective():
    assert run(lambda x: int(10 * bowl(x)), n_evals=7).func_vals.dtype == np.float64


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_an_objective_that_returns_no_number(value):
    with pytest.raises(ValueError, match=r"^fun must return one real number, or NaN or inf where it failed, got "):
        run(lambda x: value)


@pytest.mark.parametrize("maximize", [False, True])
def test_an_objective_that_is_infinitely_good(maximize):
    good, bad = (np.inf, "-inf") if maximize else (-np.inf, "inf")
    with pytest.raises(ValueError, match=rf"^fun must return one real number, or NaN or {bad} where it failed, got "):
        run(lambda x: good, maximize=maximize)


@pytest.mark.parametrize("value", [np.nan, None, np.array([np.nan])])
@pytest.mark.parametrize("maximize", [False, True])
def test_failed_evaluations_are_recorded_and_the_run_goes_on(value, maximize):
    bad = value if value is not None else (-np.inf if maximize else np.inf)
    fun = Counted(lambda x: bad if x[0] < 0.0 else bowl(x))
    result = run(fun, maximize=maximize, n_evals=18)
    failed = np.isnan(result.func_vals)
    np.testing.assert_array_equal(failed, result.x_iters[:, 0] < 0.0)
    assert 0 < result.n_failed == failed.sum() < 18 == result.nfev
    assert result.fun == (np.nanmax if maximize else np.nanmin)(result.func_vals)
    assert len(np.unique(result.x_iters, axis=0)) == 18


def test_exceptions_that_are_caught_are_failed_evaluations():
    def fun(x):
        if x[0] < 0.0:
            raise ZeroDivisionError
        return bowl(x)

    result = run(fun, catch=ArithmeticError)
    assert_same_run(result, run(fun, catch=(KeyError, ZeroDivisionError)))
    assert_same_run(result, run(lambda x: np.nan if x[0] < 0.0 else bowl(x)))
    assert result.n_failed > 0
    with pytest.raises(ZeroDivisionError):
        run(fun, catch=KeyError)
    for catch in (3, "ValueError", [ValueError], KeyboardInterrupt):
        with pytest.raises(ValueError, match=r"^catch must be an exception class"):
            run(fun, catch=catch)


@pytest.mark.parametrize("value", [None, -np.inf])
def test_a_value_that_is_none_is_no_exception_of_the_objective(value):
    with pytest.raises(ValueError, match=r"^fun must return one real number") as caught:
        run(lambda x: value if x[0] < 0.0 else bowl(x), catch=ValueError)
    assert caught.value.partial_result.n_failed == 0


def test_a_run_in_which_everything_fails():
    result = run(lambda x: np.nan)
    assert result.n_failed == result.nfev == 14
    assert result.x is result.fun is result.x_model is result.fun_model is None
    assert len(np.unique(result.x_iters, axis=0)) == 14
    assert (result.success, result.status) == (False, 0)
    assert result.message == "The budget of evaluations is spent. No evaluation gave a value."


@pytest.mark.parametrize(
    ("options", "status", "reason"),
    [
        ({"bounds": [range(3)], "n_evals": 9}, 3, "The space is exhausted"),
        ({"timeout": 0}, 4, "The time limit is over"),
        ({"patience": 2}, 6, "As many evaluations as patience allows"),
        ({"callback": lambda progress: True}, 1, "The callback asked to stop"),
    ],
)
def test_a_run_without_a_value_is_no_success_however_it_ends(options, status, reason):
    result = gssbo.minimize(lambda x: np.nan, **{"bounds": [(0, 1)], "n_evals": 5, "rng": 0} | options)
    assert (result.success, result.status, result.x) == (False, status, None)
    assert result.message.startswith(reason) and result.message.endswith(" No evaluation gave a value.")


def test_a_prior_value_is_a_value():
    result = gssbo.minimize(lambda x: np.nan, [(0, 1)], n_evals=2, x0=[0.5], y0=1.0, rng=0)
    assert (result.success, result.status, result.fun, result.message) == (
        True, 0, 1.0, "The budget of evaluations is spent.",
    )  # fmt: skip


def test_an_objective_that_writes_into_its_argument():
    def vandal(x):
        y = bowl(x)
        x[:] = np.nan
        return y

    x0 = np.array([[0.5, 0.5], [1.5, 1.5]])
    result = run(vandal, x0=x0)
    assert np.isfinite(result.x_iters).all()
    np.testing.assert_array_equal(x0, [[0.5, 0.5], [1.5, 1.5]])
    assert_same_run(result, run(x0=x0))


@pytest.mark.parametrize("workers", [1, map])
def test_an_objective_that_writes_into_a_category(workers, tmp_path):
    bounds = {"a": Categorical([[1, [2]], [3, [4]], [5, [6]]]), "b": (0.0, 1.0)}
    seen = []

    def fun(x):
        seen.append(copy.deepcopy(x))
        x["a"].append(x["a"].pop(0))
        x["a"][0].clear()
        if x["b"] > 0.5:
            raise ArithmeticError
        return x["b"]

    size = {} if workers == 1 else {"batch_size": 1}
    file = tmp_path / "run.jsonl"
    result = gssbo.minimize(
        fun, bounds, n_evals=8, workers=workers, catch=ArithmeticError, journal=file, rng=0, n_init=4, **size
    )
    assert result.x_iters == seen
    assert [failure.x for failure in result.failures] == [x for x in seen if x["b"] > 0.5]
    assert bounds["a"] == Categorical([[1, [2]], [3, [4]], [5, [6]]])
    assert gssbo.minimize(fun, bounds, n_evals=8, journal=file, n_init=4).x_iters == seen


def test_a_callback_that_writes_into_its_payload():
    def vandal(intermediate_result):
        intermediate_result.x[:] = np.nan
        intermediate_result.x_last[:] = np.nan

    assert_same_run(run(callback=vandal), run())


class CustomError(Exception):
    pass


@pytest.mark.parametrize("kind", [CustomError, ZeroDivisionError, StopIteration, TypeError, ValueError, SystemExit])
def test_exceptions_of_the_objective_come_out_unchanged(kind):
    raised = kind("at the seventh")
    fun = Counted()

    def failing(x):
        if len(fun.points) == 6:
            raise raised
        return fun(x)

    with pytest.raises(kind) as info:
        run(failing)
    assert info.value is raised
    assert info.value.__cause__ is None


def test_args_are_passed_on():
    result = run(lambda x, a, b: a * bowl(x) + b, args=(2.0, 8.0))
    np.testing.assert_array_equal(result.func_vals, [2.0 * bowl(x) + 8.0 for x in result.x_iters])


def test_scipy_bounds():
    assert_same_run(run(bounds=Bounds([-2.0, 0.0], [3.0, 4.0])), run())


def test_points_stay_inside_the_bounds():
    bounds = np.array([(0.1, 0.3), (-1e-3, 1e6)])
    result = run(lambda x: float(x[0] - 1e-6 * x[1]), bounds, n_evals=30)
    assert np.all((result.x_iters >= bounds[:, 0]) & (result.x_iters <= bounds[:, 1]))


# ---- callback


def test_callback_payload():
    seen = []
    result = run(callback=lambda r: seen.append(dict(r)), n_evals=13)
    assert len(seen) == 13
    for i, progress in enumerate(seen):
        values = result.func_vals[: i + 1]
        assert set(progress) == {
            "x", "fun", "nfev", "x_last", "fun_last", "retained_size", "ask_seconds", "timings",
        }  # fmt: skip
        assert progress["nfev"] == i + 1
        assert progress["fun"] == values.min()
        np.testing.assert_array_equal(progress["x"], result.x_iters[np.argmin(values)])
        np.testing.assert_array_equal(progress["x_last"], result.x_iters[i])
        assert progress["fun_last"] == values[-1]
        assert progress["retained_size"] == (0 if i < 5 else min(i, 10))
        assert progress["ask_seconds"] > 0.0
    assert seen[-1]["timings"].total == pytest.approx(result.timings["total"])


def test_callbacks_in_scipys_older_way_get_the_best_point():
    seen = []
    result = run(callback=lambda xk: seen.append(xk.copy()), n_evals=9)
    assert len(seen) == 9
    np.testing.assert_array_equal(seen[0], result.x_iters[0])
    np.testing.assert_array_equal(seen[-1], result.x)


@pytest.mark.parametrize("callback", [lambda xk, convergence: None, lambda: None, lambda *, state: None])
def test_callbacks_that_cannot_be_called_are_refused_before_anything_is_evaluated(callback):
    seen = []
    with pytest.raises(ValueError, match="callback must take one argument"):
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


# ---- interruption


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


# ---- bad input


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"fun": 3.0}, "^fun must be callable, got 3.0"),
        ({"n_evals": 0}, "^n_evals must be at least 1, got 0"),
        ({"n_evals": 10.0}, "^n_evals must be an integer, got 10.0"),
        ({"n_evals": True}, "^n_evals must be an integer, got True"),
        ({"n_evals": None}, "^n_evals must be an integer, got None"),
        ({"bounds": []}, "^bounds must "),
        ({"bounds": [(1.0, 0.0)]}, r"^bounds\[0\] must have low <= high, got \(1.0, 0.0\)"),
        ({"y0": [1.0]}, "^y0 must come with x0"),
        ({"x0": [1.0, 2.0, 3.0]}, "^x0 must have shape"),
        ({"x0": [[1.0, np.nan]]}, r"^x0 must be finite, got nan at index \(0, 1\)"),
        ({"x0": [[1.0, 9.0]]}, "^x0 must lie within bounds, got 9.0 for parameter 1 of point 0"),
        ({"x0": [[1.0, 9.0]], "y0": [1.0]}, "^x0 must lie within bounds, got 9.0 for parameter 1 of point 0"),
        ({"x0": [[1.0, 2.0], [1.0]]}, "^x0 must be an array of real numbers"),
        ({"x0": np.empty((0, 2)), "y0": [1.0]}, "^x0 must not be empty"),
        ({"x0": [[1.0, 2.0]], "y0": [1.0, 2.0]}, "^y0 must have 1 entries, got 2"),
        ({"x0": [[1.0, 2.0]], "y0": [-np.inf]}, "^y0 must be finite, got -inf"),
        ({"x0": [[1.0, 2.0]], "y0": [None]}, "^y0 must be a number, or NaN .*got None"),
        ({"x0": [[1.0, 2.0]], "y0": [[1.0], [2.0, 3.0]]}, "^y0 must be an array of real numbers"),
        ({"maximize": "yes"}, "^maximize must be True or False, got 'yes'"),
        ({"rule": "best"}, "^rule must be one of .*, got 'best'"),
        ({"rng": "seed"}, "^rng must be .*, got 'seed'"),
    ],
)
def test_bad_arguments_are_refused_before_the_objective_is_called(keywords, message):
    fun = Counted()
    with pytest.raises(ValueError, match=message):
        run(**{"fun": fun, **keywords})
    assert not fun.points


def test_unknown_options_are_refused():
    with pytest.raises(TypeError, match=r"subset"):
        run(subset=3)


@pytest.mark.parametrize("fails", [RuntimeError("crash"), "no number"])
def test_an_exception_carries_everything_evaluated_before(fails):
    calls = []

    def fun(x):
        calls.append(x)
        if len(calls) == 8:
            if isinstance(fails, Exception):
                raise fails
            return fails
        return float(x[0])

    with pytest.raises((RuntimeError, ValueError)) as caught:
        gssbo.minimize(fun, [(0, 1)], n_evals=12, n_init=5, subset_size=10, rng=0)
    partial = caught.value.partial_result
    assert np.array_equal(partial.x_iters, np.array(calls[:7]))
    assert partial.fun == min(float(x[0]) for x in calls[:7])
    assert "after 7 evaluations;" in caught.value.__notes__[0]


class Slotted(Exception):
    __slots__ = ()

    def add_note(self, note):
        raise TypeError("no notes")


@dataclasses.dataclass(frozen=True)
class Diverged(Exception):
    step: int


class Stubborn(Exception):
    def __setattr__(self, name, value):
        raise AttributeError(name)


class Speechless(Exception):
    def __str__(self):
        return str(1 // 0)


@pytest.mark.parametrize("error", [Slotted(), Diverged(7), Stubborn(), Speechless()])
@pytest.mark.parametrize("parallel", [False, True])
def test_an_exception_of_any_kind_comes_out_as_it_is(error, parallel):
    with pytest.raises(Exception) as caught, ThreadPoolExecutor(2) as executor:
        run(Fails(error), workers=executor if parallel else 1)
    assert caught.value is error
    assert caught.value.partial_result.nfev >= 5


@pytest.mark.parametrize("error", [Slotted(), Diverged(7), Stubborn(), Speechless()])
def test_an_exception_of_any_kind_may_be_a_failure(error):
    result = run(Fails(error), catch=type(error))
    assert (result.nfev, result.n_failed) == (14, 8)
    assert all(failure.reason.startswith(type(error).__name__) for failure in result.failures)


class Fails:
    """A bowl until the seventh call."""

    def __init__(self, error):
        self.error, self.n = error, 0

    def __call__(self, x):
        self.n += 1
        if self.n > 6:
            raise self.error
        return bowl(x)


class NoTruth:
    def __bool__(self):
        raise RuntimeError("neither")


class NoNumber:
    """What may do anything when it is asked for a number."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("not on this device")

    __float__ = __array__


def test_a_value_that_is_no_number_says_so():
    with pytest.raises(ValueError, match=r"^fun must return one real number"):
        run(lambda x: NoNumber())


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


def test_what_is_foreseen_of_huge_values_may_be_infinite():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = gssbo.minimize(lambda x: 1.7e308 * (x[0] - 0.5) * 2, [(0.0, 1.0)] * 2, n_evals=40, rng=0)
    assert result.nfev == 40


def test_the_result_of_an_exception_says_how_far_the_run_had_come():
    fun = Counted()

    def fails(x):
        if len(fun.points) == 6:
            raise CustomError
        return fun(x)

    with pytest.raises(CustomError) as caught:
        run(fails, x0=[[1.0, 1.0]], y0=[2.0])
    partial = caught.value.partial_result
    assert (partial.success, partial.status, partial.nfev, len(partial.x_iters)) == (False, 7, 6, 7)


# ---- limits


def test_target_ends_the_run_at_the_first_value_as_good():
    whole = run(n_evals=30)
    for target in (whole.func_vals[9:20].min(), whole.func_vals[3]):
        first = int(np.flatnonzero(whole.func_vals <= target)[0])
        result = run(n_evals=30, target=target)
        assert (result.status, result.success, result.nfev) == (5, True, first + 1)
        np.testing.assert_array_equal(result.x_iters, whole.x_iters[: first + 1])
        assert result.fun <= target
    mirrored = run(lambda x: -bowl(x), n_evals=30, maximize=True, target=-target)
    assert (mirrored.status, mirrored.nfev) == (5, first + 1)


def test_a_target_met_by_prior_data_takes_no_evaluation():
    result = run(lambda x: pytest.fail("evaluated"), x0=[[1.0, 2.0]], y0=[0.5], target=0.5)
    assert (result.status, result.nfev, result.fun) == (5, 0, 0.5)


def test_patience_does_not_count_prior_data():
    result = run(x0=[[1.0, 2.0], [1.1, 2.0], [1.2, 2.0]], y0=[-1.0, 1.0, 2.0], patience=2)
    assert (result.status, result.nfev) == (6, 2)


def test_the_budget_is_said_to_be_spent_only_where_nothing_else_was_met():
    assert run(n_evals=3, callback=lambda r: r.nfev == 3).status == 1
    assert run(n_evals=1, target=1e9).status == 5
    assert run(n_evals=3, timeout=1e6).status == 0


# ---- SciPy's ways


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


def test_a_lone_argument_needs_no_tuple():
    seen = []
    run(lambda x, what: seen.append(what) or 0.0, n_evals=2, args=[1, 2])
    run(lambda x, what: seen.append(what) or 0.0, n_evals=1, args=3.5)
    assert seen == [[1, 2], [1, 2], 3.5]


def test_failures_say_why():
    def fun(x):
        calls.append(x)
        outcome = [np.nan, np.inf, ZeroDivisionError("by nothing"), KeyError()][len(calls) - 1]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    calls = []
    result = run(fun, n_evals=4, catch=(ArithmeticError, LookupError))
    assert [failure.reason for failure in result.failures] == [
        "returned nan", "returned inf", "ZeroDivisionError: by nothing", "KeyError",
    ]  # fmt: skip
    np.testing.assert_array_equal([failure.x for failure in result.failures], result.x_iters)
    np.testing.assert_array_equal(calls, result.x_iters)
    assert run(n_evals=4).failures == []


@pytest.mark.parametrize("bounds", [[(0.0, 1.0)] * 4, {"a": (0.0, 1.0), "b": ["u", "v"]}], ids=["arrays", "dicts"])
def test_an_empty_warm_start_is_none(bounds):
    def seen(**start):
        return [*map(str, gssbo.minimize(lambda x: 1.0, bounds, n_evals=4, rng=0, **start).x_iters)]

    expected, nothing = seen(), np.empty(0)
    for x0 in ([], (), np.empty((0, len(bounds)))):
        assert seen(x0=x0) == seen(x0=x0, y0=[]) == seen(x0=x0, y0=nothing) == expected
    for start in ({"x0": [], "y0": [1.0]}, {"x0": [0.5] * 4, "y0": []}, {"x0": {}, "y0": []}, {"y0": []}):
        with pytest.raises(ValueError, match=r"x0|y0"):
            seen(**start)
    with pytest.raises(ValueError, match="x0"):
        seen(x0={})

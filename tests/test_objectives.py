"""Objectives of every temper: failures, exceptions, values that are no numbers."""

import copy
import dataclasses
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gssbo
from gssbo import Categorical
from tests.optimizers import bowl
from tests.runs import Counted, CustomError, assert_same_run, run

pytestmark = pytest.mark.usefixtures("single_thread")


class Tensor:
    """One that NumPy cannot read: with a gradient, on a GPU, or of a type NumPy lacks."""

    def __init__(self, value, error=RuntimeError):
        self.values, self.error = np.asarray(value), error
        self.shape = self.values.shape

    def __array__(self, dtype=None, copy=None):
        raise self.error("cannot be read by NumPy; detach it first")

    def item(self):
        return self.values.item()


NO_NUMBERS = [
    *(None, "1.5", b"1.5", 1j, [1.0, 2.0], np.zeros(0), {}),
    *(Tensor([1.0, 2.0]), Tensor(1j), Tensor("1.5")),
    *(
        np.array([item], object)
        for item in ("1.5", np.complex128(1.5), np.timedelta64(1, "ns"), np.datetime64(1, "ns"))
    ),
]


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
        Tensor,
        lambda y: Tensor([y], TypeError),
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


def test_a_number_that_is_told_may_be_a_tensor():
    optimizer = gssbo.Optimizer([(0.0, 1.0)] * 2)
    optimizer.tell([0.25, 0.5], Tensor(1.5))
    optimizer.tell(np.array([[0.5, 0.5]]), Tensor([0.5]))
    assert optimizer.y.tolist() == [1.5, 0.5]
    with pytest.raises(ValueError, match=r"^y must be an array of real numbers, got .*: cannot be read"):
        optimizer.tell([0.25, 0.5], Tensor([1.0, 2.0]))
    assert optimizer.n_told == 2


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
    assert "after 7 evaluations;" in caught.value.__notes__[-1]


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


class NoNumber:
    """What may do anything when it is asked for a number."""

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("not on this device")

    __float__ = __array__


def test_a_value_that_is_no_number_says_so():
    with pytest.raises(ValueError, match=r"^fun must return one real number"):
        run(lambda x: NoNumber())


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


def of_each(a, b):
    return a + b


def takes_one(x):
    raise TypeError("something else")


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("bounds", [{"a": (0.0, 1.0), "b": (0.0, 1.0)}, [(0.0, 1.0)] * 2])
def test_an_objective_of_each_parameter_is_told_how_it_is_called(bounds, workers):
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'b'") as caught:
        gssbo.minimize(of_each, bounds, n_evals=3, workers=workers, rng=0)
    assert any(
        "`lambda x: fun(**x)` where they have names, else `lambda x: fun(*x)`" in n for n in caught.value.__notes__
    )


@pytest.mark.parametrize(("fun", "args"), [(takes_one, ()), (lambda x: len(1.0), ()), (of_each, ("text",)), (iter, ())])
def test_another_error_of_an_objective_is_not_told_so(fun, args):
    with pytest.raises((TypeError, ValueError)) as caught:
        gssbo.minimize(fun, [(0.0, 1.0)], n_evals=3, args=args, rng=0)
    assert not any("lambda" in note for note in caught.value.__notes__)


@pytest.mark.parametrize(
    ("bounds", "said"), [([(2, 2), (3, 3)], "array([2., 3.])"), ({"a": (2, 2), "b": ["u"]}, "{'a': 2.0, 'b': 'u'}")]
)
def test_an_error_says_at_which_point_and_in_which_form_it_came(bounds, said):
    with pytest.raises((TypeError, IndexError)) as caught:
        gssbo.minimize(lambda x: x["a"] + "b", bounds, n_evals=2, rng=0)
    assert f"gssbo: the objective was called with {said}." in caught.value.__notes__

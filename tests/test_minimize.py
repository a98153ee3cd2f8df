"""`minimize`: the budget, the first points, what it takes, and when it ends."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.optimize import Bounds, OptimizeResult

import gssbo
from tests.optimizers import BOX, bowl
from tests.runs import FAST, Counted, assert_same_run, run

pytestmark = pytest.mark.usefixtures("single_thread")


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


# ---- bounds


def test_scipy_bounds():
    assert_same_run(run(bounds=Bounds([-2.0, 0.0], [3.0, 4.0])), run())


def test_points_stay_inside_the_bounds():
    bounds = np.array([(0.1, 0.3), (-1e-3, 1e6)])
    result = run(lambda x: float(x[0] - 1e-6 * x[1]), bounds, n_evals=30)
    assert np.all((result.x_iters >= bounds[:, 0]) & (result.x_iters <= bounds[:, 1]))


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


def test_a_target_met_in_flight_counts_although_nothing_is_left_to_ask_for():
    told = threading.Event()

    def last(x):
        assert x["n"] != 8 or told.wait(20.0)
        return 1.0 / x["n"]

    def release(progress):
        if progress.nfev == 7:
            told.set()

    with ThreadPoolExecutor(8) as executor:
        result = gssbo.minimize(
            last, {"n": range(1, 9)}, n_evals=99, workers=executor, target=0.125, callback=release, rng=0
        )
    assert (result.status, result.nfev, result.x) == (5, 8, {"n": 8})


# ---- SciPy's ways


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

"""Ways to evaluate: here, in processes, executors, maps, on a cluster."""

import functools
import multiprocessing.pool
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import gssbo
from gssbo._objective import Objective, Reply
from gssbo._processes import ProcessWorkers
from tests import objectives

BOX = [(0.0, 1.0)] * 2
FEW = {"n_init": 4, "rng": 0, "method": "box", "n_candidates": 200}


class Concurrency:
    """An objective in threads that counts how many of it run at a time; each waits for `size` to be there."""

    def __init__(self, size):
        self.barrier = threading.Barrier(size)
        self.lock = threading.Lock()
        self.running = self.most = self.calls = 0

    def __call__(self, x):
        with self.lock:
            self.running += 1
            self.calls += 1
            self.most = max(self.most, self.running)
        self.barrier.wait(timeout=60)
        with self.lock:
            self.running -= 1
        return objectives.bowl(x)


def check(result, n_evals):
    """Every value is that of its point, and told once."""
    assert (result.nfev, result.success, len(result.func_vals)) == (n_evals, True, n_evals)
    np.testing.assert_allclose(result.func_vals, [objectives.bowl(x) for x in result.x_iters], rtol=1e-15)
    assert len({tuple(x) for x in result.x_iters}) == n_evals


def test_one_worker_is_the_serial_run():
    serial = gssbo.Optimizer(BOX, **FEW)
    for _ in range(12):
        x = serial.ask()
        serial.tell(x, objectives.bowl(x))
    for workers in (1, map):
        result = gssbo.minimize(objectives.bowl, BOX, n_evals=12, workers=workers, **FEW)
        np.testing.assert_array_equal(result.x_iters, serial.X)
    with ThreadPoolExecutor(1) as executor:
        result = gssbo.minimize(objectives.bowl, BOX, n_evals=12, workers=executor, **FEW)
    np.testing.assert_array_equal(result.x_iters, serial.X)


def test_an_executor_is_kept_as_busy_as_it_is_large():
    fun = Concurrency(3)
    with ThreadPoolExecutor(3) as executor:
        result = gssbo.minimize(fun, BOX, n_evals=12, workers=executor, **FEW)
    check(result, 12)
    assert (fun.most, fun.calls) == (3, 12)


def test_its_map_and_a_size_of_ones_own():
    fun = Concurrency(2)
    with ThreadPoolExecutor(4) as executor:
        result = gssbo.minimize(fun, BOX, n_evals=10, workers=executor.map, batch_size=2, **FEW)
    check(result, 10)
    assert fun.most == 2


def test_a_new_suggestion_goes_out_as_soon_as_a_value_arrives():
    slow_may_end = threading.Event()
    order = []

    def fun(x):
        k = len(order)
        order.append(k)
        if k == 0:
            assert slow_may_end.wait(60)  # the first evaluation outlasts five others
        elif k == 5:
            slow_may_end.set()
        return objectives.bowl(x)

    with ThreadPoolExecutor(2) as executor:
        check(gssbo.minimize(fun, BOX, n_evals=8, workers=executor, **FEW), 8)


def test_a_pool_and_any_other_map():
    fun = Concurrency(2)
    with multiprocessing.pool.ThreadPool(2) as pool:
        check(gssbo.minimize(fun, BOX, n_evals=6, workers=pool.map, **FEW), 6)
    batches = []

    def mapping(function, points):
        batches.append(len(points))
        return [function(x) for x in points]

    check(gssbo.minimize(objectives.bowl, BOX, n_evals=7, workers=mapping, batch_size=3, **FEW), 7)
    assert batches == [3, 3, 1]
    with pytest.raises(ValueError, match="a value for each of 3 points, got 2"):
        gssbo.minimize(objectives.bowl, BOX, n_evals=7, workers=lambda f, X: [f(x) for x in X[:2]], batch_size=3, **FEW)


@pytest.mark.parametrize("bounds", [BOX, {"a": (0.0, 1.0), "n": (1, 9), "c": ["u", None]}, [(0.0, 1.0), ["u", "v"]]])
def test_values_go_to_their_points_in_whatever_order_a_map_gives_them(bounds):
    def fun(x):
        return float(hash(repr(x)) % 1_000)

    ordered = gssbo.minimize(fun, bounds, n_evals=9, workers=lambda f, X: [f(x) for x in X], batch_size=4, **FEW)
    assert [fun(x) for x in ordered.x_iters] == ordered.func_vals.tolist()
    turned = gssbo.minimize(fun, bounds, n_evals=9, workers=lambda f, X: [f(x) for x in X][::-1], batch_size=4, **FEW)
    assert repr(turned.x_iters) == repr(ordered.x_iters) and (turned.func_vals == ordered.func_vals).all()
    with multiprocessing.pool.ThreadPool(3) as pool:
        found = gssbo.minimize(
            lambda x: time.sleep(0.01 * fun(x) / 1_000) or fun(x), bounds, n_evals=9, workers=pool.imap_unordered, **FEW
        )
    assert [fun(x) for x in found.x_iters] == found.func_vals.tolist()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": 0}, "at least 1, or -1"),
        ({"workers": -2}, "workers must be at least -1"),
        ({"workers": "two"}, "an Executor, a map-like callable, a Dask Client"),
        ({"workers": 2, "batch_size": 3}, "batch_size must come with an Executor, .* got 3 with workers=2"),
        ({"batch_size": 3}, "batch_size must come with an Executor, .* got 3 with workers=1"),
        ({"workers": lambda f, X: []}, "batch_size must be given"),
        ({"workers": map, "batch_size": 0}, "batch_size must be"),
        ({"workers": lambda f, X: 3, "batch_size": 2}, "workers must be map-like .* got 3 of"),
        ({"workers": lambda f, X: [1.0, 2.0], "batch_size": 2}, "workers must be map-like .* got 1.0 for one of"),
        (
            {"workers": lambda f, X: [f(x) for x in X for _ in range(2)], "batch_size": 3},
            "workers must give a value for each of 3 points, got more of",
        ),
    ],
)
def test_what_is_no_worker_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        gssbo.minimize(objectives.bowl, BOX, n_evals=4, **FEW, **options)


def test_a_process_that_may_start_no_others_is_told_so(monkeypatch):
    monkeypatch.setattr("gssbo._workers.current_process", lambda: SimpleNamespace(daemon=True))
    with pytest.raises(ValueError, match=r"^workers must be 1 or .* in a daemonic process, .* got 2"):
        gssbo.minimize(pytest.fail, BOX, n_evals=4, **FEW, workers=2)


def test_what_cannot_be_sent_is_named_before_any_evaluation():
    calls = []
    with pytest.raises(ValueError, match="fun must be picklable"):
        gssbo.minimize(lambda x: calls.append(x), BOX, n_evals=4, workers=2, **FEW)
    with pytest.raises(ValueError, match="args must be picklable"):
        gssbo.minimize(objectives.bowl, BOX, args=(lambda: 0,), n_evals=4, workers=2, **FEW)
    with ProcessPoolExecutor(2) as executor, pytest.raises(ValueError, match="fun must be picklable"):
        gssbo.minimize(lambda x: calls.append(x), BOX, n_evals=4, workers=executor, **FEW)
    assert calls == []


@pytest.mark.slow
def test_processes_evaluate_and_one_that_dies_is_a_failure(tmp_path):
    result = gssbo.minimize(objectives.who, BOX, args=(tmp_path,), n_evals=8, workers=2, **FEW)
    check(result, 8)
    assert len(list(tmp_path.iterdir())) == 2
    (tmp_path / "second").mkdir()
    result = gssbo.minimize(objectives.dies, BOX, args=(tmp_path / "second",), n_evals=8, workers=2, **FEW)
    assert (result.nfev, result.n_failed, result.success) == (8, 1, True)
    (failure,) = result.failures
    assert "process died" in failure.reason
    lost = int(np.flatnonzero(np.isnan(result.func_vals))[0])
    np.testing.assert_array_equal(result.x_iters[lost], failure.x)
    assert len(list((tmp_path / "second").iterdir())) == 8  # nothing was evaluated twice


@pytest.mark.slow
def test_a_pool_that_breaks_costs_one_evaluation(tmp_path):
    with ProcessPoolExecutor(
        2, mp_context=get_context("spawn"), initializer=objectives.setup, initargs=("yes",)
    ) as executor:
        result = gssbo.minimize(objectives.dies, BOX, args=(tmp_path,), n_evals=6, workers=executor, **FEW)
    assert (result.nfev, result.success) == (6, True)
    assert result.n_failed <= 1  # what is evaluated once more is not the third to begin again
    good = ~np.isnan(result.func_vals)
    np.testing.assert_allclose(result.func_vals[good], [objectives.bowl(x) for x in result.x_iters[good]])
    with ProcessPoolExecutor(
        2, mp_context=get_context("spawn"), initializer=objectives.setup, initargs=("yes",)
    ) as executor:
        check(gssbo.minimize(objectives.needs_setup, BOX, n_evals=4, workers=executor, **FEW), 4)


def test_an_executor_that_refuses_ends_the_run_with_what_there_is():
    class Broken(Executor):
        """Serves three, then no more."""

        left = 3

        def submit(self, function, *args):
            if self.left == 0:
                raise RuntimeError("no more")
            self.left -= 1
            future = Future()
            future.set_result(function(*args))
            return future

    with pytest.raises(RuntimeError, match="no more") as caught:
        gssbo.minimize(objectives.bowl, BOX, n_evals=9, workers=Broken(), batch_size=1, **FEW)
    assert caught.value.partial_result.nfev == 3


def test_errors_of_one_worker_end_the_run_and_the_others_are_told():
    both, met = threading.Barrier(2), threading.Event()

    def fun(x):
        if not met.is_set():  # nobody waits once both have been there
            place = both.wait(timeout=60)
            met.set()
            if place == 0:
                raise ArithmeticError("mine")
        return objectives.bowl(x)

    with ThreadPoolExecutor(2) as executor, pytest.raises(ArithmeticError, match="mine") as caught:
        gssbo.minimize(fun, BOX, n_evals=9, workers=executor, **FEW)
    result = caught.value.partial_result
    np.testing.assert_allclose(result.func_vals, [objectives.bowl(x) for x in result.x_iters])


@pytest.mark.slow
def test_a_cluster_of_three_one_of_which_is_killed(tmp_path):
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None, worker_dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        result = gssbo.minimize(objectives.dies, BOX, args=(tmp_path,), n_evals=12, workers=client, **FEW)
    assert (result.nfev, result.n_failed, result.success) == (12, 1, True)
    assert [failure.reason for failure in result.failures] == ["its Dask worker was lost"]
    good = ~np.isnan(result.func_vals)
    np.testing.assert_allclose(result.func_vals[good], [objectives.bowl(x) for x in result.x_iters[good]])
    with pytest.raises(ValueError, match="workers must be a Client that is running, got one that is closed"):
        gssbo.minimize(objectives.bowl, BOX, n_evals=4, workers=client, **FEW)


def test_timing_out_waits_for_what_runs(monkeypatch):
    release = threading.Event()
    begun, now = [], [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def fun(x):
        begun.append(x)
        if len(begun) == 2:
            now[0] = 0.3  # past the limit
            release.set()
        assert release.wait(60)
        return objectives.bowl(x)

    with ThreadPoolExecutor(2) as executor:
        result = gssbo.minimize(fun, BOX, n_evals=50, workers=executor, timeout=0.2, **FEW)
    assert (result.nfev, result.status) == (2, 4)


# ---- programs of their own


def program(tmp_path, text, *arguments):
    path = tmp_path / "program.py"
    path.write_text(text, encoding="utf-8")
    root = Path(__file__).parents[1]
    return subprocess.Popen(
        [sys.executable, str(path), *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def until(condition):
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_gone(number):
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="process groups of POSIX")
def test_ctrl_c_ends_the_processes_and_tells_what_is_over(tmp_path):
    text = """
import sys, gssbo
from tests.objectives import sleeps
if __name__ == "__main__":
    result = gssbo.minimize(sleeps, [(0, 1)] * 2, args=(sys.argv[1],), n_evals=20, workers=2, rng=0)
    print(result.nfev, result.status, result.success, len(result.func_vals))
"""
    process = program(tmp_path, text, tmp_path)
    until(lambda: len(list(tmp_path.glob("asleep-*"))) == 2 or process.poll() is not None)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
    output, errors = process.communicate(timeout=120)
    assert (output.split(), errors) == (["3", "2", "False", "3"], "")
    workers = [int(path.name.split("-")[1]) for path in tmp_path.glob("asleep-*")]
    assert len(workers) == 2
    until(lambda: all(map(is_gone, workers)))


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_the_processes_end_with_a_parent_that_is_killed(tmp_path):
    text = """
import sys, gssbo
from tests.objectives import sleeps
if __name__ == "__main__":
    gssbo.minimize(sleeps, [(0, 1)] * 2, args=(sys.argv[1],), n_evals=20, workers=2, rng=0)
"""
    process = program(tmp_path, text, tmp_path)
    until(lambda: len(list(tmp_path.glob("asleep-*"))) == 2 or process.poll() is not None)
    process.kill()
    process.communicate(timeout=120)
    workers = [int(path.name.split("-")[1]) for path in tmp_path.glob("asleep-*")]
    assert len(workers) == 2
    until(lambda: all(map(is_gone, workers)))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("guard", "function", "message"),
    [
        ("", "bowl", "a script must guard what it runs with `if __name__ == '__main__':`"),
        ("if __name__ == '__main__':", "late", "must be of modules that a new process can import, got AttributeError"),
    ],
)
def test_processes_that_cannot_work_are_explained(tmp_path, guard, function, message):
    text = f"""
import gssbo
from tests.objectives import bowl
{guard or "if True:"}
    def late(x):
        return 0.0
    gssbo.minimize({function}, [(0, 1)] * 2, n_evals=20, workers=2, rng=0)
"""
    _, errors = program(tmp_path, text).communicate(timeout=120)
    assert message in errors and "after 0 evaluations;" in errors


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_processes_that_die_idle_are_replaced(tmp_path):
    workers = ProcessWorkers(Objective(objectives.who, args=(tmp_path,)), 1)
    numbers = []
    for k in range(2):
        workers.start(k, np.zeros(2))
        workers.wait()
        assert workers.ready.popleft() == (k, Reply(objectives.bowl(np.zeros(2)))) and workers.free == 1
        numbers += [int(path.name) for path in tmp_path.iterdir() if int(path.name) not in numbers]
        os.kill(numbers[-1], signal.SIGKILL)
        until(functools.partial(is_gone, numbers[-1]))
    workers.close()
    assert len(numbers) == 2


@pytest.mark.slow
def test_a_process_that_is_not_up_yet_is_ended_too(tmp_path):
    workers = ProcessWorkers(Objective(objectives.who, args=(tmp_path,)), 1)
    workers.start(0, np.zeros(2))
    (process,) = workers._seats[0]._pool._processes.values()
    workers.stop()
    until(lambda: not process.is_alive())
    assert list(tmp_path.iterdir()) == []

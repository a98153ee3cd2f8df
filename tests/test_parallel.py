"""Threads of our own: results in order, the same as without."""

import threading
import time

import numpy as np
import pytest

import gssbo
from gssbo._parallel import default_threads, run_all


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_order(threads):
    assert run_all([lambda i=i: i * i for i in range(7)], threads) == [0, 1, 4, 9, 16, 25, 36]


def test_two_threads_run_side_by_side():
    """Each waits for the other: in turn they would never meet."""
    meeting = threading.Barrier(2, timeout=10)
    run_all([meeting.wait, meeting.wait], 2)


def test_an_error_comes_out_unchanged():
    def fails():
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost"):
        run_all([lambda: 1, fails], 2)


def test_default_is_what_the_process_may_use():
    assert 1 <= default_threads() <= 4


def test_fit_and_predictions_do_not_depend_on_threads():
    rng = np.random.default_rng(0)
    X, points = rng.random((60, 4)), rng.random((3001, 4))
    y = np.sin(5 * X[:, 0]) + X[:, 1] * X[:, 2]
    one, three = (gssbo.GaussianProcess(threads=threads, rng=1).fit(X, y) for threads in (1, 3))
    assert np.array_equal(one.theta_, three.theta_)
    assert one.fit_info_ == three.fit_info_
    for a, b in zip(one.predict(points, return_std=True), three.predict(points, return_std=True), strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_suggestions_and_predictions_do_not_depend_on_threads(monkeypatch, method):
    points, shares = np.random.default_rng(0).random((3001, 3)), []

    def counted(tasks, threads):
        shares.append(min(len(tasks), threads))
        return run_all(tasks, threads)

    def run(threads):
        shares.clear()
        opt = gssbo.Optimizer([(0, 1)] * 3, method=method, subset_size=30, threads=threads, rng=0)
        for _ in range(45):
            x = opt.ask()
            opt.tell(x, float(np.sum((x - 0.3) ** 2)))
        mean, std = opt.predict(points, return_std=True)
        assert max(shares) == threads  # there was something to share
        return opt.X, mean, std

    monkeypatch.setattr("gssbo.regressor.run_all", counted)
    for one, three in zip(run(1), run(3), strict=True):
        assert np.array_equal(one, three)


def test_threads_must_be_a_positive_integer():
    for make in (lambda n: gssbo.GaussianProcess(threads=n), lambda n: gssbo.Optimizer([(0, 1)], threads=n)):
        with pytest.raises(ValueError, match=r"^threads must be at least 1, got 0"):
            make(0)


def test_an_interrupt_leaves_nothing_running():
    """What was not begun is dropped, what was is waited for: its memory is the caller's again."""
    started, ended = threading.Event(), threading.Event()

    def slow():
        started.set()
        time.sleep(0.2)
        ended.set()

    def interrupted():
        assert started.wait(10.0)
        raise KeyboardInterrupt

    def either():
        return interrupted() if threading.current_thread() is threading.main_thread() else slow()

    late: list[int] = []
    with pytest.raises(KeyboardInterrupt):
        run_all([either, either] + [lambda: late.append(1)] * 5, 2)
    assert started.is_set() and ended.is_set() and not late

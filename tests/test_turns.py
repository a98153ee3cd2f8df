"""Threads take turns; a fork while one of them has its turn gets an error, not a lock that is never free."""

import os
import threading

import pytest

import gssbo
from gssbo._turns import Turns

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def in_a_fork(action):
    """What an action gives, as text, or the error it ends in."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = repr(action())
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        said = file.read()
    os.waitpid(child, 0)
    return said


class Elsewhere:
    """Another thread that has the turn."""

    def __init__(self, lock):
        self._lock, self._has_it, self._over = lock, threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self):
        with self._lock:
            self._has_it.set()
            self._over.wait()

    def __enter__(self):
        self._thread.start()
        self._has_it.wait()

    def __exit__(self, *exception):
        self._over.set()
        self._thread.join()


def test_one_thread_at_a_time():
    turns, order = Turns(), []
    turns._take_turns()

    def other():
        with turns._lock:
            order.append("other")

    thread = threading.Thread(target=other)
    with turns._lock, turns._lock:
        thread.start()
        thread.join(0.05)
        order.append("first")
    thread.join()
    assert order == ["first", "other"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_while_another_thread_asks_gets_an_error():
    opt = gssbo.Optimizer([(0.0, 1.0)], n_init=3, rng=0)
    opt.tell([0.5], 1.0)
    free = in_a_fork(lambda: (opt.ask().shape, opt.n_told))
    assert free == "((1,), 1)"
    with opt._lock:  # as where a constraint forks
        assert "this thread was in another of its calls" in in_a_fork(opt.ask)
    with Elsewhere(opt._lock):
        for action in (opt.ask, lambda: opt.tell([0.1], 1.0), lambda: opt.predict([[0.1]]), lambda: in_a_fork(opt.ask)):
            assert "forked while another thread was using the optimizer" in in_a_fork(action)
        other = gssbo.Optimizer([(0.0, 1.0)], n_init=3, rng=0)
        assert in_a_fork(lambda: other.ask().shape) == "(1,)"
    assert opt.ask().shape == (1,)
    assert in_a_fork(lambda: (opt.ask().shape, opt.n_told)) == free

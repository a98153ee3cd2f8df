"""B30: BLAS threads, ours and the user's."""

import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import gssbo


def blas_threads():
    return [info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"]


def told(n, method):
    X = np.random.default_rng(0).random((n, 5))
    opt = gssbo.Optimizer([(0.0, 1.0)] * 5, rng=0, method=method, threads=1)
    opt.tell(X, ((X - 0.3) ** 2).sum(1))
    return opt


@pytest.mark.slow
@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_many_blas_threads_cost_nothing(method):
    seconds = {(limit, n): np.inf for limit in (1, 8) for n in (60, 90, 110, 150)}
    for _ in range(4):  # the smallest, in turns: others work on this machine
        for limit, n in seconds:
            opt = told(n, method)
            opt.ask()
            begin = time.process_time()
            with threadpool_limits(limit, user_api="blas"):
                for _ in range(3):
                    opt.tell(opt.ask(), 1.0)
            seconds[limit, n] = min(seconds[limit, n], time.process_time() - begin)
    for n in (60, 90, 110, 150):
        assert seconds[8, n] <= 1.5 * seconds[1, n] + 0.03
    assert seconds[8, 110] <= 3.0 * seconds[8, 90] + 0.03


@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_thread_counts_are_left_alone(method):
    before = blas_threads()
    inside = []

    def fun(x):
        inside.append(blas_threads())
        return float((x**2).sum())

    gssbo.minimize(fun, [(0.0, 1.0)] * 2, n_evals=12, n_init=6, rng=0, method=method)
    assert all(each == before for each in inside) and blas_threads() == before
    opt = told(30, method)
    with pytest.raises(ValueError, match="n must be"):
        opt.ask(0)
    assert blas_threads() == before
    points = []
    workers = [threading.Thread(target=lambda: points.append(opt.ask())) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert blas_threads() == before
    assert len(points) == 2 and not np.array_equal(*points)

"""B34: a time limit is kept."""

import time

import numpy as np
import pytest

import gssbo


@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_no_evaluation_starts_after_the_limit(method):
    X = np.random.default_rng(0).random((600, 3))
    asks, begun = [], []

    def fun(x):
        begun.append(time.monotonic())
        time.sleep(0.1)
        return float((x**2).sum())

    begin = time.monotonic()
    result = gssbo.minimize(
        fun, [(0.0, 1.0)] * 3, n_evals=1_000, x0=X, y0=(X**2).sum(1), timeout=1.0, rng=0, method=method,
        callback=lambda progress: asks.append(progress.ask_seconds),
    )  # fmt: skip
    assert time.monotonic() - begin < 1.0 + 0.1 + 5 * max(asks) + 2.0  # one evaluation, one ask, and a busy machine
    assert begun[-1] - begin < 1.0 + 1.0 and result.nfev == len(begun) == len(asks)
    assert (result.status, result.success) == (4, True) and "time limit" in result.message
    assert len(result.func_vals) == 600 + len(begun)


def test_no_time_is_no_evaluation():
    calls = []
    result = gssbo.minimize(calls.append, [(0.0, 1.0)], n_evals=10, timeout=0)
    assert (calls, result.nfev, result.status, result.x) == ([], 0, 4, None)


def test_a_clock_that_is_set_back_changes_nothing(monkeypatch):
    monkeypatch.setattr(time, "time", lambda: -1e9)
    begin = time.monotonic()
    result = gssbo.minimize(lambda x: time.sleep(0.05) or x[0], [(0.0, 1.0)], n_evals=1_000, timeout=0.3, rng=0)
    assert result.status == 4 and time.monotonic() - begin < 10

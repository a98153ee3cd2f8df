"""B34: a time limit is kept."""

import time

import numpy as np
import pytest

import gssbo


@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_no_evaluation_starts_after_the_limit(monkeypatch, method):
    """By a clock that stands still but for an eighth of a second an evaluation, and half of that a suggestion."""
    X = np.random.default_rng(0).random((600, 3))
    now, begun, ask = [0.0], [], gssbo.Optimizer.ask

    def slow_ask(*args, **options):
        now[0] += 0.0625
        return ask(*args, **options)

    def fun(x):
        begun.append(now[0])
        now[0] += 0.125
        return float((x**2).sum())

    monkeypatch.setattr(gssbo.Optimizer, "ask", slow_ask)
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    result = gssbo.minimize(
        fun, [(0.0, 1.0)] * 3, n_evals=1_000, x0=X, y0=(X**2).sum(1), timeout=1.0, rng=0, method=method
    )
    assert begun == [0.0625, 0.25, 0.4375, 0.625, 0.8125] and now[0] == 1.0  # a sixth was asked for, and was too late
    assert (result.nfev, result.status, result.success) == (5, 4, True) and "time limit" in result.message
    assert len(result.func_vals) == 605


def test_no_time_is_no_evaluation():
    calls = []
    result = gssbo.minimize(calls.append, [(0.0, 1.0)], n_evals=10, timeout=0)
    assert (calls, result.nfev, result.status, result.x) == ([], 0, 4, None)


def test_a_clock_that_is_set_back_changes_nothing(monkeypatch):
    monkeypatch.setattr(time, "time", lambda: -1e9)
    begin = time.monotonic()
    result = gssbo.minimize(lambda x: time.sleep(0.05) or x[0], [(0.0, 1.0)], n_evals=1_000, timeout=0.3, rng=0)
    assert result.status == 4 and time.monotonic() - begin < 10

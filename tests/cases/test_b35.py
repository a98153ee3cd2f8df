"""B35: a callback or an objective that raises takes nothing with it."""

import numpy as np
import pytest

import gssbo
from gssbo.journal import read_journal

BOX = [(0.0, 1.0)] * 2


def test_a_callback_raises_and_the_run_is_resumed(tmp_path):
    path, calls = tmp_path / "run.jsonl", []

    def fun(x):
        calls.append(x.copy())
        return float((x**2).sum())

    def logs(progress):
        if progress.nfev == 7 and len(calls) == 7:
            raise RuntimeError("server down")

    with pytest.raises(RuntimeError, match="server down") as caught:
        gssbo.minimize(fun, BOX, n_evals=12, n_init=4, rng=0, callback=logs, journal=path)
    assert caught.value.partial_result.nfev == 7
    assert sum(entry.kind == "tell" for entry in read_journal(path).entries) == 7
    result = gssbo.minimize(fun, BOX, n_evals=12, n_init=4, rng=0, callback=logs, journal=path)
    assert (result.nfev, len(calls)) == (12, 12)
    np.testing.assert_array_equal(result.x_iters, calls)
    whole = gssbo.minimize(lambda x: float((x**2).sum()), BOX, n_evals=12, n_init=4, rng=0)
    np.testing.assert_array_equal(result.x_iters, whole.x_iters)


def test_a_callback_asks_to_stop():
    result = gssbo.minimize(
        lambda x: float(x[0]), BOX, n_evals=12, n_init=4, rng=0, callback=lambda progress: progress.nfev == 7
    )
    assert (result.nfev, result.status, result.success, len(result.func_vals)) == (7, 1, True, 7)


def test_an_objective_raises_and_its_point_is_evaluated_again_on_resume(tmp_path):
    path, calls = tmp_path / "run.jsonl", []

    def fun(x):
        calls.append(x.copy())
        if len(calls) == 7:
            raise ZeroDivisionError("mine")
        return float((x**2).sum())

    with pytest.raises(ZeroDivisionError, match="mine") as caught:
        gssbo.minimize(fun, BOX, n_evals=12, n_init=4, rng=0, journal=path)
    assert caught.value.partial_result.nfev == 6
    with gssbo.Optimizer(BOX, n_init=4, rng=0, journal=path) as opt:  # the rule: it is pending
        np.testing.assert_array_equal([suggestion.x for suggestion in opt.pending], calls[6:])
    result = gssbo.minimize(fun, BOX, n_evals=12, n_init=4, rng=0, journal=path)
    assert result.nfev == 12
    np.testing.assert_array_equal(calls[7], calls[6])

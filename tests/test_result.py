"""What a result is, and how it prints."""

import pickle

import numpy as np
import pytest
from scipy.optimize import OptimizeResult

import gssbo
from gssbo._result import Result


@pytest.mark.parametrize("bounds", [{"a": (0.0, 1.0), "b": ["u", "v"]}, [(0.0, 1.0), ["u", "v"]], [(0.0, 1.0)] * 2])
def test_a_long_run_prints_short(bounds):
    result = gssbo.minimize(lambda x: np.nan, bounds, n_evals=200, n_init=200, rng=0)
    assert (len(result.x_iters), len(result.failures)) == (200, 200)
    assert len(repr(result)) < 2500 and str(result) == repr(result)
    assert "x_iters: [" in repr(result) and "returned nan" in repr(result)


def test_it_is_scipys():
    fields = {"x": {"a": 1.0}, "x_iters": [{"a": float(k)} for k in range(30)], "none": [], "fun": 2.0}
    result, theirs = Result(fields), OptimizeResult(fields)
    assert isinstance(result, OptimizeResult) and result == theirs == pickle.loads(pickle.dumps(result))
    assert result.x_iters is fields["x_iters"] and type(pickle.loads(pickle.dumps(result))) is Result
    few = {"x": [1.0, 2.0], "fun": 2.0, "message": "done", "failures": []}
    assert "[]" in repr(Result(few)) and "done" in repr(Result(few)) and repr(Result()) == repr(OptimizeResult())

"""B12: parameters that cannot vary."""

import numpy as np
import pytest

import gssbo
from gssbo.exceptions import SpaceExhausted

FIXED = {"a": (2.5, 2.5), "n": gssbo.Integer(1, 1), "c": ["only"]}


def run(bounds, n=30):
    opt = gssbo.Optimizer(bounds, n_init=6, subset_size=12, rng=4)
    for _ in range(n):
        x = opt.ask()
        opt.tell(x, (x["x"] - 0.4) ** 2)
    return opt


def test_constants_change_nothing():
    plain, beside = run({"x": (0.0, 1.0)}), run({**FIXED, "x": (0.0, 1.0)})
    assert [x["x"] for x in plain.X] == [x["x"] for x in beside.X]
    assert all((x["a"], x["n"], x["c"]) == (2.5, 1, "only") for x in beside.X)
    np.testing.assert_array_equal(beside.retained, plain.retained)


def test_reversed_bounds_are_refused_by_name():
    with pytest.raises(ValueError, match=r"^bounds\['x'\] must have low <= high, got \(2.0, 1.0\)"):
        gssbo.Optimizer({"x": (2, 1)})


def test_constants_alone_are_one_point():
    result = gssbo.minimize(lambda x: 3.0, FIXED, n_evals=5, rng=0)
    assert (result.nfev, result.status, result.x) == (1, 3, {"a": 2.5, "n": 1, "c": "only"})
    opt = gssbo.Optimizer([(1.0, 1.0), (2.0, 2.0)], rng=0)
    np.testing.assert_array_equal(opt.ask(), [1.0, 2.0])
    with pytest.raises(SpaceExhausted, match="pending"):
        opt.ask()


def test_constants_alone_may_be_repeated_and_modelled():
    opt = gssbo.Optimizer(FIXED, n_init=3, duplicates="allow", rng=0)
    for k in range(8):
        opt.tell(opt.ask(), float(k))
    mean, std = opt.predict([opt.X[0]], return_std=True)
    np.testing.assert_allclose(mean, 3.5, atol=0.5)
    assert 0.0 <= std[0] < 3.0

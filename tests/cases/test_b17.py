"""B17: values are of built-in types, everywhere and in every phase."""

import json

import pytest

import gssbo
from gssbo import Integer, Real

BOUNDS = {"x": Real(0, 1), "n": Integer(0, 9), "k": Integer(1, 100, log=True), "c": [True, False], "t": ["u", "v"]}
TYPES = [float, int, int, bool, str]


def check(x):
    assert [type(value) for value in x.values()] == TYPES
    assert x["c"] is True or x["c"] is False
    assert json.loads(json.dumps(x)) == x
    return x["x"] + x["n"] + x["k"] / 10 + x["c"]


@pytest.mark.parametrize("method", ["box", "portfolio"])
@pytest.mark.parametrize("rng", [None, 0])
def test_everywhere(rng, method):
    seen = []

    def callback(progress):
        check(progress.x)
        check(progress.x_last)
        json.dumps(progress.fun)
        seen.append(progress.nfev)

    result = gssbo.minimize(check, BOUNDS, n_evals=16, n_init=8, callback=callback, method=method, rng=rng)
    for x in (result.x, result.x_model, *result.x_iters):
        check(x)
    assert (type(result.fun), type(result.fun_model), seen) == (float, float, list(range(1, 17)))


def test_asks_and_pending_points():
    opt = gssbo.Optimizer(BOUNDS, n_init=3, rng=0)
    for x in opt.ask(3):
        opt.tell(x, check(x))
    for suggestion in (*opt.ask(3, ids=True), *opt.pending):
        check(suggestion.x)
        json.dumps(suggestion)
    assert list(map(type, opt.best())) == [dict, float, type(None)]


def test_lists():
    opt = gssbo.Optimizer(list(BOUNDS.values()), rng=0)
    assert [type(value) for value in opt.ask()] == TYPES

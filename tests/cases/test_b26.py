"""B26: old data that do not fit the space are refused at once, and nothing is dropped in silence."""

import pytest

import gssbo
from gssbo import Integer, Real

BOUNDS = {"n": Integer(16, 256), "lr": Real(1e-4, 1e-1, log=True), "act": ["relu", "gelu"]}
GOOD = {"n": 64, "lr": 1e-2, "act": "relu"}
BAD = [
    ("n", 300, r"must lie within bounds, got 300 for parameter 'n' of point 1, whose bounds are \(16, 256\)"),
    ("lr", 0, r"must lie within bounds, got 0 for parameter 'lr' of point 1, whose bounds are \(0.0001, 0.1\)"),
    (
        "act",
        "tanh",
        "must be one of the values, got 'tanh' for parameter 'act' of point 1, whose values are 'relu', 'gelu'",
    ),
    ("n", 64.5, r"must be a whole number, got 64.5 for parameter 'n' of point 1, whose bounds are \(16, 256\)"),
]


@pytest.mark.parametrize(("name", "value", "message"), BAD)
def test_the_parameter_the_value_and_the_bounds_are_named(name, value, message):
    points = [GOOD, {**GOOD, name: value}]
    opt = gssbo.Optimizer(BOUNDS, rng=0)
    with pytest.raises(ValueError, match=f"^x {message}"):
        opt.tell(points, [1.0, 2.0])
    assert opt.n_told == 0
    for y0 in (None, [1.0, 2.0]):
        with pytest.raises(ValueError, match=f"^x0 {message}"):
            gssbo.minimize(lambda x: pytest.fail("evaluated"), BOUNDS, n_evals=3, x0=points, y0=y0)


def test_a_whole_float_is_a_whole_number():
    opt = gssbo.Optimizer(BOUNDS, rng=0)
    opt.tell({**GOOD, "n": 64.0}, 1.0)
    assert opt.X == [GOOD] and type(opt.X[0]["n"]) is int


@pytest.mark.parametrize("y0", [None, 3.0])
def test_first_points_in_the_form_of_the_space(y0):
    seen = []
    result = gssbo.minimize(lambda x: seen.append(x) or float(x["n"]), BOUNDS, n_evals=3, x0=GOOD, y0=y0, rng=0)
    assert result.x_iters[0] == GOOD
    assert (seen[0] == GOOD) is (y0 is None)
    assert len(seen) == 3

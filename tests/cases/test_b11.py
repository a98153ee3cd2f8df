"""B11: bounds at the edge of what numbers hold."""

import pytest

import gssbo
from gssbo import Integer


def test_an_interval_wider_than_doubles_is_refused_by_name():
    with pytest.raises(ValueError, match=r"^bounds\['x'\] must have a finite high - low"):
        gssbo.Optimizer({"x": (-1.797e308, 1.797e308)})


def test_integers_beyond_64_bits_are_refused():
    with pytest.raises(ValueError, match=r"^Integer must have bounds and a width below 2\^63 - 1"):
        Integer(0, 10**25)


def test_large_integers_stay_exact():
    opt = gssbo.Optimizer({"n": Integer(0, 10**18)}, n_init=5, rng=0)
    opt.tell({"n": 2**53 + 1}, -1e30)
    opt.tell({"n": 10**18}, 0.0)
    assert opt.X == [{"n": 9007199254740993}, {"n": 10**18}]
    assert opt.best_x == {"n": 9007199254740993}
    for _ in range(10):
        x = opt.ask()
        assert type(x["n"]) is int and 0 <= x["n"] <= 10**18
        opt.tell(x, -float(x["n"]))


def test_a_large_finite_space_is_searched():
    result = gssbo.minimize(lambda x: float(x[0] + x[1]), [Integer(0, 10**18), Integer(0, 10**18)], n_evals=30, rng=0)
    assert result.fun < 4e17

"""B38: what an objective may return, and what it may not."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import gssbo
from tests.names import without_address


class Series:
    """What counts of a pandas Series of one number."""

    def __init__(self, *values):
        self._values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self._values, dtype=dtype)


GOOD = [
    0.25,
    np.float32(0.25),
    np.array([0.25]),
    np.array([[0.25]]),
    np.array(0.25),
    Decimal("0.25"),
    Fraction(1, 4),
    [0.25],
]
BAD = [None, "0.25", b"0.25", np.array([0.2, 0.3]), [], 1j, object(), [[0.25], [0.3, 0.4]]]


@pytest.mark.parametrize("value", [*GOOD, Series(0.25)], ids=without_address)
def test_one_number_in_any_wrapping(value):
    opt = gssbo.Optimizer([(0.0, 1.0)], rng=0)
    opt.tell(opt.ask(), value)
    result = gssbo.minimize(lambda x: value, [(0.0, 1.0)], n_evals=1, rng=0)
    assert opt.best_y == result.fun == 0.25


def test_a_truth_value_is_one_or_zero():
    for value in (True, np.True_):
        assert gssbo.minimize(lambda x, value=value: value, [(0.0, 1.0)], n_evals=1, rng=0).fun == 1.0


@pytest.mark.parametrize("value", [*BAD, Series(0.2, 0.3)], ids=without_address)
def test_what_is_no_number_is_refused_and_shown(value):
    opt = gssbo.Optimizer([(0.0, 1.0)], rng=0)
    x = opt.ask()
    with pytest.raises(ValueError, match=r"^y must be .*got"):
        opt.tell(x, value)
    assert opt.n_told == 0 and len(opt.pending) == 1
    with pytest.raises(ValueError, match=r"^fun must return one real number.*got"):
        gssbo.minimize(lambda x: value, [(0.0, 1.0)], n_evals=1, rng=0)


def test_tables_are_matched_by_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"act": ["u", "v"], "lr": [0.5, 0.25], "n": [3, 4]})
    opt = gssbo.Optimizer({"n": range(10), "lr": (0, 1), "act": ["u", "v"]}, rng=0)
    opt.tell(frame, pandas.Series([1.0, 2.0]))
    assert opt.X == [{"n": 3, "lr": 0.5, "act": "u"}, {"n": 4, "lr": 0.25, "act": "v"}]
    assert opt.predict(frame).shape == (2,)

"""B16: parameters keep their values, whatever their names and the order they come in."""

import numpy as np
import pytest

import gssbo

BOUNDS = {f"x{k}": (0.0, 1.0) for k in range(1, 13)}
POINT = {f"x{k}": k / 12 for k in range(1, 13)}


def value(x):
    return sum(k * x[f"x{k}"] for k in range(1, 13))


@pytest.mark.parametrize(
    "point", [POINT, dict(reversed(POINT.items())), dict(sorted(POINT.items())), list(POINT.values())]
)
def test_keys_in_any_order(point):
    opt = gssbo.Optimizer(BOUNDS, n_init=1, rng=0)
    opt.tell(point, value(POINT))
    assert value(opt.X[0]) == 54.16666666666667 == opt.best_y
    expected = gssbo.Optimizer([(0.0, 1.0)] * 12, n_init=1, rng=0)
    expected.tell(np.arange(1, 13) / 12, value(POINT))
    assert list(opt.ask().values()) == expected.ask().tolist()


def test_missing_and_unknown_keys_are_named():
    opt = gssbo.Optimizer(BOUNDS, rng=0)
    with pytest.raises(ValueError, match=r"; missing: 'x3'; unknown: 'x13'$"):
        opt.tell({("x13" if key == "x3" else key): v for key, v in POINT.items()}, 1.0)
    assert opt.n_told == 0

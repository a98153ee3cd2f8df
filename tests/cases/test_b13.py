"""B13: a grid of reals has the values it says, always the same doubles, and none above the bound."""

import pytest

import gssbo
from gssbo import Real

GRIDS = [
    (Real(0.1, 0.7, step=0.2), [0.1, 0.3, 0.5, 0.7]),
    (Real(0.4, 1.3, step=0.3), [0.4, 0.7, 1.0, 1.3]),
    (Real(0, 1, step=0.3), [0.0, 0.3, 0.6, 0.9]),
]


@pytest.mark.parametrize(("parameter", "values"), GRIDS)
def test_prior_asks_hit_every_value_equally_often(parameter, values):
    """Beside a free parameter, so that values may come again."""
    opt = gssbo.Optimizer({"s": parameter, "x": (0, 1)}, n_init=2000, subset_size=2500, rng=0)
    asked = opt.ask(2000)
    drawn = [x["s"] for x in asked]
    assert set(drawn) == set(values)
    assert all(403 <= drawn.count(value) <= 597 for value in values)
    opt.tell(asked, drawn)  # none is refused


@pytest.mark.parametrize("method", ["box", "portfolio"])
@pytest.mark.parametrize(("parameter", "values"), GRIDS)
def test_the_top_value_is_found(parameter, values, method):
    result = gssbo.minimize(lambda x: -x["s"], {"s": parameter}, n_evals=10, n_init=2, method=method, rng=0)
    assert (result.x, result.nfev) == ({"s": values[-1]}, 4)
    assert sorted(x["s"] for x in result.x_iters) == values

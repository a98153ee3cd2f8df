"""B10: the ends of a logarithmic parameter come back exactly."""

import math

import pytest

import gssbo


def test_asks_and_tells_at_the_ends():
    opt = gssbo.Optimizer({"p": gssbo.Real(0.003, 50, log=True)}, n_init=4, rng=0)
    assert math.exp(math.log(0.003)) < 0.003 and math.exp(math.log(50)) < 50.0
    opt.tell([{"p": 0.003}, {"p": 50}], [-0.003, -50.0])
    assert opt.X == [{"p": 0.003}, {"p": 50.0}]
    for _ in range(20):
        x = opt.ask()
        assert 0.003 <= x["p"] <= 50.0
        opt.tell(x, -x["p"])
    assert opt.best_x["p"] == 50.0
    assert max(x["p"] for x in opt.X[2:]) > 45.0


@pytest.mark.parametrize("method", ["box", "portfolio"])
@pytest.mark.parametrize(("sign", "end"), [(1, 1), (-1, 1000)])
def test_whole_numbers_reach_both_ends(method, sign, end):
    bounds = {"q": gssbo.Integer(1, 1000, log=True)}
    result = gssbo.minimize(lambda x: sign * x["q"], bounds, n_evals=40, n_init=5, method=method, rng=0)
    assert result.x == {"q": end}

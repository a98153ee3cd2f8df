"""B09: no suggestion is outside the bounds by a rounding unit, and none is refused when it is told."""

import pytest

import gssbo


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("name", ["a", "b"])
def test_plain_comparison_holds(sign, name):
    bounds = {"a": (-0.921, 0.014), "b": (1.0, 15.0)}
    opt = gssbo.Optimizer(bounds, n_init=20, subset_size=30, n_candidates=500, rng=0)
    for x in opt.ask(2000):
        assert all(low <= x[key] <= high for key, (low, high) in bounds.items())
        if len(opt.X) < 20:
            opt.tell(x, sign * x[name])
    opt.forget()
    for _ in range(50):
        x = opt.ask()
        assert all(low <= x[key] <= high for key, (low, high) in bounds.items())
        opt.tell(x, sign * x[name])
    portfolio = gssbo.Optimizer(bounds, method="portfolio", rng=0)
    for _ in range(50):
        x = portfolio.ask()
        assert all(low <= x[key] <= high for key, (low, high) in bounds.items())
        portfolio.tell(x, sign * x[name])
    assert portfolio.best_x[name] == bounds[name][0 if sign > 0 else 1]
    edge = bounds[name][0 if sign > 0 else 1]
    assert abs(opt.best_x[name] - edge) < 0.01 * (bounds[name][1] - bounds[name][0])


def test_the_ends_themselves_can_be_told():
    opt = gssbo.Optimizer({"a": (-0.921, 0.014), "b": (1.0, 15.0)}, rng=0)
    opt.tell({"a": 0.014, "b": 1.0}, 0.0)
    opt.tell({"a": -0.921 + 1.0 * (0.014 + 0.921), "b": 15.0}, 1.0)  # 0.014000000000000012
    assert opt.best_x == {"a": 0.014, "b": 1.0}

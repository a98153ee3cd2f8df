"""B07: an optimum at a bound is not asked for again and again."""

import numpy as np
import pytest

import gssbo


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("seed", [0, 1])
def test_no_point_is_suggested_twice(dim, seed):
    opt = gssbo.Optimizer([(-1.0, 1.0)] * dim, n_init=4, rng=seed)
    opt.tell(np.ones(dim), dim * 0.03999999999999998)
    opt.tell(np.ones(dim), dim * 0.03999999999999998)  # told twice: two observations
    assert opt.n_told == 2
    points = []
    for _ in range(30):
        points.append(opt.ask())
        opt.tell(points[-1], float(np.sum((points[-1] - 1.2) ** 2)))
    assert len(np.unique(points, axis=0)) == 30
    assert not (np.array(points) == 1.0).all(axis=1).any()
    assert opt.best_y == dim * 0.03999999999999998


@pytest.mark.parametrize("dim", [1, 3])
@pytest.mark.parametrize("seed", range(5))
def test_a_portfolio_asks_for_the_bound_itself(dim, seed):
    opt = gssbo.Optimizer([(-1.0, 1.0)] * dim, n_init=4, method="portfolio", rng=seed)
    points = []
    for _ in range(34):
        points.append(opt.ask())
        opt.tell(points[-1], float(np.sum((points[-1] - 1.2) ** 2)))
    assert len(np.unique(points, axis=0)) == 34
    assert (np.array(points[4:16]) == 1.0).all(axis=1).any()
    assert opt.best_y == pytest.approx(dim * 0.04, rel=1e-14)


def test_a_noisy_objective_may_repeat_points():
    for duplicates, n_distinct in (("allow", 4), ("avoid", 8)):
        opt = gssbo.Optimizer({"n": range(8)}, n_init=4, duplicates=duplicates, rng=0)
        for _ in range(8):
            x = opt.ask()
            opt.tell(x, (x["n"] - 5) ** 2 + 0.01 * opt.n_told)
        assert len({x["n"] for x in opt.X}) in range(n_distinct, 8 + (duplicates == "avoid"))
        assert opt.best_x == {"n": 5}

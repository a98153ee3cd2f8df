"""B08: a finite space, and a budget beyond it."""

import itertools
import time

import pytest

import gssbo
from gssbo.exceptions import SpaceExhausted

SPACES = {
    "integer and category": {"n": range(4), "c": ["a", "b"]},
    "categories": {"p": [-2, -1, 3, 7], "q": [-2, -1, 3, 7]},
}


def objective(x):
    return sum(3.0 * i * ord(v) % 7 if isinstance(v, str) else (v - 1) ** 2 for i, v in enumerate(x.values()))


@pytest.mark.parametrize("method", ["box", "portfolio"])
@pytest.mark.parametrize("n_init", [3, 20])
@pytest.mark.parametrize("name", SPACES)
def test_every_point_once_and_then_the_end(name, n_init, method):
    space = SPACES[name]
    points = [dict(zip(space, values, strict=True)) for values in itertools.product(*space.values())]
    opt = gssbo.Optimizer(space, n_init=n_init, method=method, rng=0)
    seen = []
    for _ in points:
        start = time.process_time()
        x = opt.ask()
        assert time.process_time() - start < 1.0
        assert x in points and x not in seen
        seen.append(x)
        opt.tell(x, objective(x))
    with pytest.raises(SpaceExhausted, match=rf"all {len(points)} points of the space are told"):
        opt.ask()
    assert opt.best_y == min(map(objective, points))
    opt.tell(points[0], 5.0)  # data are welcome all the same
    assert opt.n_told == len(points) + 1


@pytest.mark.parametrize("name", SPACES)
def test_minimize_stops_and_says_so(name):
    size = 8 if name == "integer and category" else 16
    result = gssbo.minimize(objective, SPACES[name], n_evals=20, rng=0)
    assert (result.nfev, result.status, result.success) == (size, 3, True)
    assert "exhausted" in result.message
    exact = gssbo.minimize(objective, SPACES[name], n_evals=size, rng=0)
    assert (exact.nfev, exact.status) == (size, 0)


def test_repeats_on_request():
    opt = gssbo.Optimizer({"n": range(4), "c": ["a", "b"]}, n_init=4, duplicates="allow", rng=0)
    for _ in range(20):
        x = opt.ask()
        opt.tell(x, objective(x))
    assert opt.n_told == 20 and opt.best_y == 0.0
    distinct = {tuple(x.values()) for x in opt.X}
    assert 4 <= len(distinct) <= 8
    # All pending, and asked once more: a worker is not sent home.
    assert len({tuple(x.values()) for x in opt.ask(8)}) == 8 == len({tuple(x.values()) for x in opt.ask(8)})


def test_pending_points_are_taken():
    opt = gssbo.Optimizer([range(3), range(3)], n_init=2, rng=0)
    opt.tell([[0, 0], [1, 1], [2, 2]], [1.0, 0.5, 2.0])
    points = opt.ask(9)  # as many as there are
    assert len(points) == 6 and len({tuple(x) for x in [*points, *opt.X]}) == 9
    with pytest.raises(SpaceExhausted, match=r"9 points of the space are told \(3 distinct\) or pending \(6\)"):
        opt.ask()
    opt.forget(points[0])
    assert opt.ask() == points[0]

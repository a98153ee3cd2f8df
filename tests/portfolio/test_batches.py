"""Several points of the portfolio at a time: how they keep apart, and who makes them."""

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint
from scipy.spatial.distance import pdist

from gssbo import Optimizer
from gssbo.portfolio import Portfolio, apart, waiting
from gssbo.portfolio.strategy import GLOBAL, LOCAL
from gssbo.portfolio.waiting import Waiting
from tests.portfolios import run, sphere


def test_asking_again_gives_another_point():
    optimizer = run(3, sphere, 40)
    asked = np.array([optimizer.ask() for _ in range(12)])
    assert len(np.unique(asked.round(9), axis=0)) == 12
    optimizer.tell(asked[::-1], [sphere(x) for x in asked[::-1]])
    assert optimizer.ask().shape == (3,)


@pytest.mark.parametrize(("n", "fewest", "most"), [(4, 1, 2), (8, 2, 4), (16, 3, 4)])
def test_points_of_one_call_are_distinct_and_of_more_searchers_where_they_are_many(n, fewest, most):
    """Of many, all but one of the regions make some."""
    optimizer = run(4, sphere, 60)
    batch = optimizer.ask(n)
    assert len(np.unique(batch.round(9), axis=0)) == n
    makers = {each.searcher for each in optimizer._strategy._issued}
    assert fewest <= len(makers) <= most
    assert not {LOCAL, GLOBAL} <= makers or n < 6


@pytest.mark.parametrize("seed", [5, 10, 25, 27, 38])
def test_points_of_one_call_keep_apart_where_little_is_known(seed):
    optimizer = Optimizer([(0.0, 1.0)] * 2, rng=seed, n_init=6)
    X = np.random.default_rng(seed).random((10, 2))
    optimizer.tell(X, (X**2).sum(axis=1))
    assert pdist(optimizer.ask(8)).min() > 1e-3


@pytest.mark.parametrize("n_told", [0, 20])
def test_no_more_of_a_large_batch_is_looked_for_apart_than_there_is_room_for(monkeypatch, n_told):
    looked_for = 0

    def one(*args):
        nonlocal looked_for
        looked_for += 1
        return original(*args)

    original = Portfolio._one
    monkeypatch.setattr(Portfolio, "_one", one)
    opt = Optimizer([(0.0, 1.0)], n_init=2, rng=0)
    if n_told:
        x = np.linspace(0.0, 1.0, n_told)
        opt.tell(x[:, None], np.sin(9.0 * x))
    points = opt.ask(3000)
    assert len(np.unique(points)) == 3000
    assert looked_for < 600


def test_what_is_waited_for_does_not_crowd():
    """Of eight asked without telling, none is closer to another than a quarter of its distance to what is known."""
    for seed in range(6):
        opt = Optimizer([(0.0, 1.0)] * 2, n_init=10, rng=seed)
        X = opt.ask(10)
        opt.tell(X, ((X - 0.3) ** 2).sum(axis=1))
        P = np.array([opt.ask() for _ in range(8)])
        apart = np.abs(P[:, None] - P[None]).max(axis=2)
        known = np.abs(P[:, None] - X[None]).max(axis=2).min(axis=1)
        for later in range(8):
            assert (apart[later, :later] >= 0.25 * known[later]).all()


@pytest.mark.parametrize(("module", "name", "value"), [(waiting, "ROOM", 1), (apart, "FEW", 0)])
def test_how_a_large_batch_is_counted_decides_nothing(monkeypatch, module, name, value):
    X = np.random.default_rng(0).random((40, 3))
    batches = []
    for patched in (False, True):
        if patched:
            monkeypatch.setattr(module, name, value)
        opt = Optimizer([(0.0, 1.0)] * 3, rng=0)
        opt.tell(X, ((X - 0.3) ** 2).sum(axis=1))
        opt.announce([[0.9, 0.9, 0.9]])
        batches.append(opt.ask(40))
    np.testing.assert_array_equal(*batches)


@pytest.mark.parametrize("dim", [1, 3, 30])
def test_only_what_is_near_in_one_column_is_looked_at_in_all(monkeypatch, dim):
    """And what is not may have any distance: the points are those that looking at everything gives."""
    looked_at = []
    distances = apart._distances

    def counted(points, x):
        looked_at.append(len(points))
        assert np.array_equal(distances(points, x), np.abs(points - x).max(axis=1))
        return distances(points, x)

    monkeypatch.setattr(apart, "_distances", counted)
    opt = Optimizer([(0.0, 1.0)] * dim, n_init=4, rng=0)
    X = np.random.default_rng(0).random((20, dim))
    opt.tell(X, X.sum(axis=1))
    opt.announce(np.hstack([np.linspace(0.0, 1.0, 2000)[:, None], np.full((2000, dim - 1), 0.5)]))
    opt.ask(3)
    assert 0 < max(looked_at) <= 2000 * (2 * apart.APART) + 4


@pytest.mark.parametrize(("n", "constrained"), [(100, False), (400, False), (700, False), (100, True)])
def test_where_nothing_is_known_points_drawn_together_are_those_drawn_one_by_one(n, constrained):
    """Of 600 points, and with the same numbers drawn, even where there are not so many."""
    bounds, asked = [range(20), range(15), ["u", "v"]], []

    def spy(x):
        asked.append(tuple(x))
        return x[0] + x[1]

    constraints = NonlinearConstraint(spy, 0.0, 20.0) if constrained else None
    together, alone = (Optimizer(bounds, rng=3, constraints=constraints) for _ in range(2))
    none = np.empty((0, together.space.dim))
    points = together._strategy.suggest(together._history, none, n, together._proposals._admission)
    calls, asked[:] = asked.copy(), []
    one_by_one = Waiting(none, n)
    view = alone._strategy._view(alone._history, 0)
    alone._strategy._search(n, view, one_by_one, alone._proposals._admission)
    np.testing.assert_array_equal(points, one_by_one.added)
    assert together._strategy._rng.random() == alone._strategy._rng.random()
    assert calls == asked


def test_where_nothing_is_known_many_are_drawn_at_once(monkeypatch):
    """8,000 of 9,000 points take some 20,000 draws."""
    optimizer = Optimizer({"a": range(100), "b": range(90)}, rng=0)
    rounds = []
    place = type(optimizer.space).place
    monkeypatch.setattr(type(optimizer.space), "place", lambda space, draws: rounds.append(0) or place(space, draws))
    batch = optimizer.ask(8000)
    assert len({(x["a"], x["b"]) for x in batch}) == 8000
    assert len(rounds) < 400

"""The retained subset: forced members, windows, rotating pools, data told in bulk."""

import numpy as np
import pytest

from gssbo import GaussianProcess
from gssbo import reference as ref
from gssbo.buffer import Buffer
from gssbo.history import History
from gssbo.retention import Retention
from gssbo.timings import Timings
from tests.optimizers import RULES, bowl, quick, told

pytestmark = pytest.mark.usefixtures("single_thread")


@pytest.mark.parametrize("rule", RULES)
def test_retained_is_visible_and_holds_the_forced_set(rule):
    optimizer = quick(rule=rule)
    assert optimizer.retained.size == 0
    assert optimizer.switched_at is None
    for n in range(30):
        x = optimizer.ask()
        retained = optimizer.retained
        if n < 5:
            assert retained.size == 0
        elif n <= 10:
            assert retained.tolist() == list(range(n))
            assert optimizer.switched_at is None
        else:
            assert len(retained) == 10
            assert np.all(np.diff(retained) > 0)
            assert set(retained.tolist()) >= {0, 1, 2, 3, 4, n - 1}
            assert optimizer.switched_at == 11
            fitted_on = optimizer.surrogate.X_train_
            np.testing.assert_array_equal(fitted_on, optimizer.space.to_unit(optimizer.X[retained]))
        optimizer.tell(x, bowl(x))
    assert optimizer.M == 10
    retained = optimizer.retained
    optimizer.retained[:] = -1
    np.testing.assert_array_equal(optimizer.retained, retained)


def test_window_is_the_pool():
    optimizer = told(200, pool=15)
    optimizer.ask()
    assert set(optimizer.retained.tolist()) <= {*range(5), *range(185, 200)}
    optimizer = told(200)
    optimizer.ask()
    assert set(optimizer.retained.tolist()) <= {*range(5), *range(160, 200)}  # automatic: the newest 4 M


def test_residual_rules_choose_from_a_rotating_pool():
    """What matters is found wherever in a long history it stands, and kept; the vector rule sees the newest only."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.uniform(0.0, 3.0, (200, 2)), np.full((6000, 2), 1.5) + 1e-3 * rng.random((6000, 2))])
    y = np.array([bowl(x) for x in X])
    for rule, reaches_back in (("residual", True), ("variance", True), ("vector", False)):
        optimizer = quick(rule=rule)
        optimizer.tell(X, y)
        kept = set()
        for _ in range(5):
            x = optimizer.ask()
            kept = set(optimizer.retained.tolist()) & set(range(5, 200))
            optimizer.tell(x, bowl(x))
        assert bool(kept) == reaches_back, rule


def test_predicting_does_not_turn_the_rotating_pool():
    X = np.random.default_rng(0).uniform(0.0, 3.0, (5000, 2))
    runs = []
    for predicts in (False, True):
        optimizer = quick(rule="residual")
        optimizer.tell(X, np.array([bowl(x) for x in X]))
        for _ in range(3):
            x = optimizer.ask()
            optimizer.tell(x, bowl(x))
            if predicts:
                optimizer.predict(X[:3])
        runs.append(optimizer.X)
    np.testing.assert_array_equal(*runs)


def test_cached_embeddings_of_a_rotating_pool_are_those_recomputed():
    """Members enter in the middle of the pool, where the cache cannot append them."""
    rng = np.random.default_rng(3)
    X = rng.uniform(0.0, 3.0, (2500, 2))
    runs = []
    for refresh in ("cached", "recompute"):
        optimizer = quick(pool="rotating", refresh=refresh, refit="frozen", subset_size=40, n_candidates=50)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("gssbo.buffer.SLICE", 20)
            optimizer.tell(X[:1000], np.array([bowl(x) for x in X[:1000]]))
            for _ in range(6):
                x = optimizer.ask()
                optimizer.tell(x, bowl(x))
        runs.append(optimizer.retained)
    np.testing.assert_array_equal(*runs)


class Pools(Buffer):
    """A buffer with one pool after the other."""

    def __init__(self, pools):
        super().__init__(5, n_init=0, retain_newest=False)
        self.pools = iter(pools)

    def pool(self, n, retained=None):
        return next(self.pools)


def test_cached_embeddings_follow_a_pool_that_grows_and_shrinks():
    """By replacement, and by removals or appends where more leave than enter, or the reverse."""
    pools = [np.arange(30), np.r_[0:4, 6:32], np.r_[2:4, 6:29, 31:33], np.r_[3, 6:29, 31:39]]
    X = np.random.default_rng(0).random((39, 2))
    history = History(2)
    history.append(X, X, X[:, 0])
    gp = GaussianProcess(lengthscale=0.4, noise=1e-3, fit_hyperparameters=False).fit(X, X[:, 0])
    chosen = []
    for refresh in ("cached", "recompute"):
        retention = Retention(Pools(pools), refresh=refresh, rng=np.random.default_rng(0), timings=Timings())
        chosen.append([retention.choose(history, gp, stands=True) for _ in pools])
        if refresh == "cached":
            np.testing.assert_array_equal(retention._cache.X, history.unit[pools[-1]])
            assert retention._cache.n_refactorized == 1
    np.testing.assert_array_equal(*chosen)


@pytest.mark.parametrize("rule", RULES)
def test_bulk_tell_of_thousands(rule):
    X = np.random.default_rng(0).uniform(0.0, 3.0, (3000, 2))
    y = np.array([bowl(x) for x in X])
    optimizer = quick(rule=rule)
    optimizer.tell(X, y)
    np.testing.assert_array_equal(optimizer.X, X)
    np.testing.assert_array_equal(optimizer.y, y)
    assert optimizer.n_told == 3000
    x = optimizer.ask()
    assert x.shape == (2,)
    assert optimizer.switched_at == 3000
    assert len(optimizer.retained) == 10
    assert set(optimizer.retained.tolist()) >= {0, 1, 2, 3, 4, 2999}
    one_by_one = quick(rule=rule)
    for row, value in zip(X, y, strict=True):
        one_by_one.tell(row, value)
    np.testing.assert_array_equal(one_by_one.ask(), x)


def test_first_hyperparameters_of_bulk_data_come_from_forced_and_evenly_spaced_ones(monkeypatch):
    members = []
    original = GaussianProcess.condition

    def condition(self, X, y, **keywords):
        members.append(X)
        return original(self, X, y, **keywords)

    monkeypatch.setattr(GaussianProcess, "condition", condition)
    optimizer = told(200)
    optimizer.ask()
    expected = ref.bulk_indices(200, 10, np.array([0, 1, 2, 3, 4, 199]))
    np.testing.assert_array_equal(members[0], optimizer.space.to_unit(optimizer.X)[expected])
    assert len(members) == 2


@pytest.mark.parametrize("pool", ["auto", 15])
def test_of_repeats_what_is_retained_is_of_the_pool(pool):
    """The best, and what stands for its point, are retained from wherever they are in the history."""
    optimizer = quick(pool=pool, posterior="projected", duplicates="allow")
    X = np.random.default_rng(0).uniform(0.0, 3.0, (30, 2))[np.arange(150) % 30]
    y = np.where(np.arange(150) == 7, 1.0, np.nan)
    optimizer.tell(X, y)
    optimizer.ask()
    assert 7 in optimizer.retained
    assert optimizer.best("model").y == pytest.approx(1.0)

"""The trust region: its counters, its sides, where candidates lie, and how it ends and begins anew."""

import numpy as np
import pytest

import gssbo
from gssbo.baselines.turbo import INITIAL, LARGEST, SMALLEST, Region, TrustRegionSearch, sides


def test_three_successes_in_a_row_double():
    region = Region(6)
    for improved in (True, True, False, True, True):  # a failure ends the row
        region.count(improved=improved, size=1)
    assert region.length == INITIAL == 0.8
    region.count(improved=True, size=1)
    assert region.length == 1.6
    for _ in range(3):
        region.count(improved=True, size=1)
    assert region.length == LARGEST == 1.6


@pytest.mark.parametrize(("d", "tolerance"), [(1, 4), (4, 4), (6, 6), (50, 50)])
def test_as_many_failures_as_parameters_halve(d, tolerance):
    region = Region(d)
    for _ in range(tolerance - 1):
        region.count(improved=False, size=1)
    assert region.length == 0.8
    region.count(improved=True, size=1)  # ends the row
    for _ in range(tolerance - 1):
        region.count(improved=False, size=1)
    assert region.length == 0.8
    region.count(improved=False, size=1)
    assert region.length == 0.4
    for _ in range(tolerance - 1):  # the row began anew
        region.count(improved=False, size=1)
    assert region.length == 0.4


def test_a_batch_is_one_success_or_as_many_failures_as_it_has_points():
    region = Region(6)
    region.count(improved=False, size=5)
    region.count(improved=False, size=5)
    assert region.length == 0.4
    for _ in range(3):
        region.count(improved=True, size=5)
    assert region.length == 0.8


def test_it_is_exhausted_below_the_smallest_length():
    region = Region(4)
    halvings = 0
    while not region.exhausted:
        region.count(improved=False, size=4)
        halvings += 1
    assert halvings == 7
    assert region.length == 0.8 / 2**7 < SMALLEST == 2**-7 < 0.8 / 2**6


def test_sides_follow_the_lengthscales_and_keep_the_volume():
    rng = np.random.default_rng(0)
    for d in (1, 2, 6, 50):
        scales = 10.0 ** rng.uniform(-2, 0, d)
        found = sides(0.4, scales)
        np.testing.assert_allclose(np.log(found).sum(), d * np.log(0.4), rtol=1e-12)
        np.testing.assert_allclose(found / found[0], scales / scales[0], rtol=1e-12)


def optimizer(d=3, **options):
    return gssbo.Optimizer([(0.0, 1.0)] * d, method="turbo", **{"n_init": 8, "refit": 5, "rng": 0, **options})


def strategy(opt):
    assert isinstance(opt._strategy, TrustRegionSearch)
    return opt._strategy


@pytest.mark.parametrize(("d", "count"), [(1, 100), (6, 600), (60, 5000)])
def test_candidates_are_perturbations_of_the_centre_in_the_region(d, count):
    rng = np.random.default_rng(0)
    opt = optimizer(d)
    X = rng.random((12, d))
    opt.tell(X, np.sum((X - 0.4) ** 2, axis=1))
    opt.ask()
    search = strategy(opt)
    search.region.length = 0.25
    points = next(search.candidates(opt._history, 1))
    assert points.shape == (count, d) == (min(100 * d, 5000), d)
    centre = X[np.argmin(opt.predict(X))]
    half = 0.5 * sides(0.25, opt.surrogate.lengthscale_)
    assert (points >= np.maximum(centre - half, 0.0)).all() and (points <= np.minimum(centre + half, 1.0)).all()
    moved = points != centre
    assert moved.any(axis=1).all()
    assert moved.mean() == pytest.approx(min(1.0, 20.0 / d), abs=0.02)
    low, high = np.maximum(centre - half, 0.0), np.minimum(centre + half, 1.0)
    filled = (np.where(moved, points, np.nan) - low) / (high - low)
    assert np.nanmin(filled, axis=0).max() < 0.05 and np.nanmax(filled, axis=0).min() > 0.95


def test_the_region_counts_what_the_suggestions_gave():
    """Told by hand: a success is a strict improvement on the best member, the design does not count."""
    opt = optimizer(d=4, n_candidates=20)
    rng = np.random.default_rng(0)
    for _ in range(8):
        opt.ask()
    opt.tell(rng.random((8, 4)), 10.0 + np.arange(8.0))
    told = [9.0, 9.0, 8.0, 7.0, 6.0, 6.0, 7.0, 6.0, 9.0]  # success, failure, three successes, four failures
    lengths = []
    for y in told:
        opt.tell(opt.ask(), y)
        lengths.append(strategy(opt).region.length)
    opt.ask()
    lengths.append(strategy(opt).region.length)
    # The length at each ask follows from what was told before it; the first ask counts nothing.
    assert lengths[1:] == [0.8, 0.8, 0.8, 0.8, 1.6, 1.6, 1.6, 1.6, 0.8]


def test_an_exhausted_region_is_left_for_a_fresh_design():
    opt = optimizer(d=2, n_candidates=20)
    rng = np.random.default_rng(1)
    n = 0
    while strategy(opt)._first == 0:
        x = opt.ask()
        opt.tell(x, 0.0 if n == 0 else 2.0 + rng.random())
        n += 1
        assert n < 60
    # Seven halvings of four failures each, after the design.
    first = strategy(opt)._first
    assert first == 8 + 7 * 4
    fresh = opt.X[first:]
    assert len(fresh) == 1
    for _ in range(3):
        x = opt.ask()
        opt.tell(x, 2.0)
    design = opt.X[first : first + 4]
    np.testing.assert_array_equal(np.sort((design * 4).astype(int), axis=0), np.tile(np.arange(4)[:, None], 2))
    x = opt.ask()
    np.testing.assert_array_equal(opt.retained, np.arange(first, first + 4))
    assert strategy(opt).region.length == 0.8
    opt.tell(x, 1.5)  # worse than the first region's best, better than the second's: a success
    opt.ask()
    assert (strategy(opt).region.successes, strategy(opt).region.failures) == (1, 0)
    assert opt.best_y == 0.0


def test_an_interrupted_count_is_made_once_more(monkeypatch):
    opt = optimizer(d=4, n_candidates=20)
    opt.tell(np.random.default_rng(0).random((8, 4)), 10.0 + np.arange(8.0))
    opt.tell(opt.ask(), 9.0)
    count = Region.count

    def interrupted(self, **arguments):
        count(self, **arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Region, "count", interrupted)
        opt.ask()
    assert strategy(opt).region.successes == 0
    opt.ask()
    assert strategy(opt).region.successes == 1

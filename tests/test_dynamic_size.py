"""The size that the clock sets, and the time that is charged to what."""

import itertools
import pickle

import numpy as np
import pytest

from gssbo import reference as ref
from tests.optimizers import BOX, bowl, drive, fixed, quick

pytestmark = pytest.mark.usefixtures("single_thread")


class ScriptedClock:
    """Every reading is `tick` seconds after the last, so an iteration takes a time proportional to it."""

    def __init__(self):
        self.now, self.tick = 0.0, 1.0

    def __call__(self):
        self.now += self.tick
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = ScriptedClock()
    monkeypatch.setattr("time.perf_counter", clock)
    return clock


SECONDS = [*[1.0] * 8, 30.0, *[1.0] * 4, *[4.5] * 20]  # an interruption, which does not count, then slow for good


def test_dynamic_size_is_set_as_the_reference_sets_it(clock):
    optimizer = quick(subset_size="dynamic", surrogate=fixed(2), pool="full")
    for i in range(5 + len(SECONDS)):
        clock.tick = SECONDS[i - 5] if i >= 5 else 77.0  # the design's time does not count
        x = optimizer.ask()
        if optimizer.n_told < 5 + 8 + 1 + 4 + 2:
            assert optimizer.M is None
            assert optimizer.switched_at is None
        clock.now += 1e6  # the objective
        optimizer.tell(x, bowl(x))
    readings = itertools.chain.from_iterable((0.0, seconds) for seconds in SECONDS)
    run = ref.reference_loop(
        bowl,
        BOX,
        5 + len(SECONDS),
        n_init=5,
        dynamic_factor=4.0,
        theta=np.log([0.4, 0.4, 1.0, 1e-2]),
        n_candidates=100,
        rng=0,
        clock=lambda: next(readings),
    )
    # The second slow iteration (the 15th) was asked with 19 observations, and ended with 20.
    assert optimizer.M == run.M == 20
    assert optimizer.switched_at == 21
    np.testing.assert_array_equal(optimizer.X, run.X)
    np.testing.assert_array_equal(optimizer.retained, run.retained[-1])


def test_dynamic_factor(clock):
    optimizer = quick(subset_size="dynamic", surrogate=fixed(2), dynamic_factor=5.0)
    for seconds in [1.0] * 5 + SECONDS:
        clock.tick = seconds
        drive(optimizer, 1)
    assert optimizer.M is None
    assert optimizer.retained.tolist() == list(range(optimizer.n_told - 1))


def test_dynamic_rule_sees_iterations_that_ask_for_more_than_one_point(clock):
    optimizer = quick(subset_size="dynamic", surrogate=fixed(2))
    drive(optimizer, 5)
    for seconds in [1.0] * 6 + [9.0] * 6:
        clock.tick = seconds
        batch = [optimizer.ask(), optimizer.ask()]
        optimizer.tell(batch, [bowl(x) for x in batch])
    assert optimizer.M == 5 + 2 * 8  # the second slow iteration


def test_dynamic_size_survives_a_copy(clock):
    optimizer = quick(subset_size="dynamic", surrogate=fixed(2))
    for seconds in [1.0] * 12 + [9.0]:
        clock.tick = seconds
        drive(optimizer, 1)
    again = pickle.loads(pickle.dumps(optimizer))
    clock.tick = 9.0
    assert optimizer.M is None
    np.testing.assert_array_equal(drive(again, 10), drive(optimizer, 10))
    assert again.M == optimizer.M == 14


def test_timings_add_up():
    optimizer = quick()
    spent = 0.0
    for _ in range(20):
        drive(optimizer, 1)
        assert optimizer.last_ask_seconds > 0.0
        spent += optimizer.last_ask_seconds
    timings = optimizer.timings
    assert set(timings) == {"refit", "embed", "select", "acquisition", "other"}
    assert all(seconds > 0.0 for seconds in timings.values())
    assert sum(timings.values()) == pytest.approx(timings.total)
    assert timings.total == pytest.approx(spent, rel=0.05)


def test_timings_exclude_the_objective_and_predict(clock):
    optimizer = quick()
    drive(optimizer, 14)
    before = dict(optimizer.timings), optimizer.timings.total, optimizer.last_ask_seconds
    clock.now += 1e9
    optimizer.predict([[0.0, 1.0]])
    assert (dict(optimizer.timings), optimizer.timings.total, optimizer.last_ask_seconds) == before
    clock.now += 1e9
    optimizer.ask()
    assert optimizer.timings.total < 1e6

"""Timings: parts, total, and what lies between them."""

import pickle
from types import SimpleNamespace

import pytest

from gssbo.timings import Timings


@pytest.fixture
def clock(monkeypatch):
    hands = SimpleNamespace(now=100.0)
    monkeypatch.setattr("time.perf_counter", lambda: hands.now)
    return hands


def test_parts_add_up_to_the_total(clock):
    timings = Timings()
    for _ in range(2):
        with timings.whole():
            clock.now += 1.0
            for part, seconds in (("refit", 4.0), ("embed", 2.0), ("select", 0.5), ("acquisition", 8.0)):
                with timings.part(part):
                    clock.now += seconds
        clock.now += 1000.0  # the objective
    assert dict(timings) == {"refit": 8.0, "embed": 4.0, "select": 1.0, "acquisition": 16.0, "other": 2.0}
    assert timings.total == 31.0
    assert sum(timings.values()) == timings.total
    assert timings.shares() == {part: 100.0 * seconds / 31.0 for part, seconds in timings.items()}


def test_starts_at_zero():
    timings = Timings()
    assert list(timings) == ["refit", "embed", "select", "acquisition", "other"]
    assert len(timings) == 5
    assert timings.total == 0.0
    assert set(timings.values()) == set(timings.shares().values()) == {0.0}


def test_time_counts_when_the_block_fails(clock):
    timings = Timings()
    with pytest.raises(ZeroDivisionError), timings.whole(), timings.part("refit"):
        clock.now += 3.0
        raise ZeroDivisionError
    assert timings["refit"] == timings.total == 3.0


def test_other_is_never_negative(clock):
    timings = Timings()
    with timings.part("refit"):  # outside any whole
        clock.now += 3.0
    assert timings["other"] == 0.0


def test_unknown_part(clock):
    timings = Timings()
    with pytest.raises(KeyError, match=r"fit"):
        timings["fit"]
    assert "fit" not in timings
    with pytest.raises(KeyError), timings.part("other"):
        pass


def test_survives_pickling_and_shows_itself(clock):
    timings = Timings()
    with timings.whole(), timings.part("embed"):
        clock.now += 1.5
    again = pickle.loads(pickle.dumps(timings))
    assert dict(again) == dict(timings)
    assert again.total == 1.5
    assert repr(again) == "Timings(refit=0 s, embed=1.5 s, select=0 s, acquisition=0 s, other=0 s)"

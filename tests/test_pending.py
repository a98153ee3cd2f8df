"""The books of what was asked."""

import numpy as np
import pytest

from gssbo.pending import FORGOTTEN, OPEN, STALE, Pending


@pytest.fixture
def pending():
    pending = Pending(2)
    for k in range(5):
        assert pending.add(np.array([k % 4, 0.5]), np.array([k / 10, 0.5])) == k
    return pending


def test_empty():
    pending = Pending(3)
    assert (len(pending), pending.n_asked, pending.ids) == (0, 0, [])
    assert pending.unit.shape == (0, 3)
    assert pending.matches(np.zeros(1)) == []


def test_matches_go_to_the_oldest_of_equals(pending):
    row = np.array([0, 0.5])
    assert pending.n_distinct == 4
    assert pending.matches(row) == [0, 4]
    pending.settle(0, 7)
    assert pending.matches(row) == [4]
    pending.forget(4)
    assert pending.matches(row) == []
    assert pending.seen(np.array([[0, 0.5], [1, 0.5], [1, 0.25]])).tolist() == [False, True, False]
    np.testing.assert_array_equal(pending.unit, [[0.1, 0.5], [0.2, 0.5], [0.3, 0.5]])


def test_outcomes(pending):
    pending.settle(2, 11)
    pending.forget(1)
    assert [pending.outcome(k) for k in range(5)] == [OPEN, FORGOTTEN, 11, OPEN, OPEN]
    pending.settle(1, 12)  # told after all
    assert pending.outcome(1) == 12
    assert pending.ids == [0, 3, 4]
    for unknown in (-1, 5):
        with pytest.raises(IndexError):
            pending.outcome(unknown)


def test_the_overtaken_are_forgotten_in_time(pending):
    pending.clock = 50
    late = pending.add(np.array([9.0, 9.0]), np.zeros(2))
    for clock, left in ((STALE, 6), (STALE + 1, 1), (STALE + 51, 0)):
        pending.clock = clock
        pending.expire()
        assert len(pending) == left
    assert pending.outcome(0) == pending.outcome(late) == FORGOTTEN
    assert pending.forgotten(late).tolist() == [9.0, 9.0]  # it may be told all the same
    pending.settle(late, 3)
    assert pending.forgotten(late) is None


def test_the_queue_gives_what_stands_at_its_head(pending):
    rows = [np.array([0.0, 1.0]), np.array([2.0, 3.0])]
    pending.queue.extend(rows)
    assert [pending.dequeue(row) for row in (rows[1], rows[0], rows[0], rows[1], rows[1])] == [
        False, True, False, True, False,
    ]  # fmt: skip
    assert len(pending.queue) == 0

"""The buffer: when a subset is retained, what is forced into it, what it is chosen from."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gssbo import reference as ref
from gssbo.buffer import Buffer


def test_fixed_size_switches_above_it_and_remembers_when():
    buffer = Buffer(30, n_init=20)
    assert not buffer.switched(30)
    assert buffer.switched_at is None
    assert buffer.switched(35)
    assert buffer.switched(90)
    assert buffer.switched_at == 35
    assert buffer.size == 30


@pytest.mark.parametrize("initial", [True, False])
@pytest.mark.parametrize("newest", [True, False])
@pytest.mark.parametrize("n", [1, 4, 5, 6, 60])
def test_forced_and_pool_are_the_references(initial, newest, n):
    for pool in ("full", 3, 12, 100):
        if pool == 3 and not initial:
            continue  # too small a window for M
        buffer = Buffer(8, n_init=5, retain_initial=initial, retain_newest=newest, pool=pool)
        forced = ref.forced_indices(n, 5, initial, newest)
        np.testing.assert_array_equal(buffer.forced(n), forced)
        np.testing.assert_array_equal(buffer.pool(n), ref.pool_indices(n, pool, forced))


def test_forced_by_hand():
    assert Buffer(30, n_init=3).forced(10).tolist() == [0, 1, 2, 9]
    assert Buffer(30, n_init=3).forced(3).tolist() == [0, 1, 2]
    assert Buffer(30, n_init=3).forced(2).tolist() == [0, 1]
    assert Buffer(30, n_init=3, retain_initial=False).forced(10).tolist() == [9]
    assert Buffer(30, n_init=3, retain_initial=False, retain_newest=False).forced(10).size == 0


def test_automatic_pool_is_full_and_then_a_window_of_four_times_the_size():
    buffer = Buffer(10, n_init=4)
    np.testing.assert_array_equal(buffer.pool(40), np.arange(40))
    np.testing.assert_array_equal(buffer.pool(100), [*range(4), *range(60, 100)])


def test_pool_is_full_while_the_size_is_not_known():
    buffer = Buffer("dynamic", n_init=4, pool=5)
    np.testing.assert_array_equal(buffer.pool(100), np.arange(100))


@given(
    n_init=st.integers(1, 20),
    extra=st.integers(1, 30),
    initial=st.booleans(),
    newest=st.booleans(),
    pool=st.one_of(st.sampled_from(["auto", "full"]), st.integers(1, 200)),
    beyond=st.integers(1, 300),
)
def test_pool_is_ascending_holds_the_forced_set_and_is_large_enough(n_init, extra, initial, newest, pool, beyond):
    n_forced = n_init * initial + newest
    size = n_forced + extra
    if isinstance(pool, int) and pool + n_init * initial < size:
        with pytest.raises(ValueError, match=r"^pool must leave at least subset_size"):
            Buffer(size, n_init=n_init, retain_initial=initial, retain_newest=newest, pool=pool)
        return
    buffer = Buffer(size, n_init=n_init, retain_initial=initial, retain_newest=newest, pool=pool)
    n = size + beyond
    members = buffer.pool(n)
    assert len(members) >= size
    assert np.all(np.diff(members) > 0)
    assert members[0] >= 0
    assert members[-1] < n
    assert set(buffer.forced(n).tolist()) <= set(members.tolist())
    assert len(buffer.forced(n)) == n_forced == buffer.n_forced


# ---- the rotating pool


def test_rotating_pool_is_everything_while_that_is_little():
    buffer = Buffer(10, n_init=4, pool="rotating")
    for n in (11, 40, 500, 1040):  # 4 M newest and up to 1,000 older ones
        np.testing.assert_array_equal(buffer.pool(n), np.arange(n))
    assert len(buffer.pool(1041)) < 1041


def test_rotating_pool_by_hand():
    """3,000 older observations in three turns of 1,000, each spread over all of them."""
    buffer = Buffer(10, n_init=4, pool="rotating")
    retained = np.array([1, 700, 2501])
    for turn in (0, 1, 2, 0):
        expected = {0, 1, 2, 3, *range(turn, 3000, 3), *range(3000, 3040), 700, 2501}
        members = buffer.pool(3040, retained)
        assert set(members.tolist()) == expected
        assert np.all(np.diff(members) > 0)


@given(
    n=st.integers(1_000, 30_000),
    step=st.integers(1, 9),
    size=st.integers(25, 300),
    retained_seed=st.integers(0, 2**32 - 1),
)
def test_rotating_pool_comes_back_to_every_observation(n, step, size, retained_seed):
    """Whatever number of observations a suggestion brings; and it stays small, holding the retained and the forced."""
    buffer = Buffer(size, n_init=20, pool="rotating")
    retained = np.random.default_rng(retained_seed).permutation(n)[: min(size, n)]
    turns = max(-(-(n - 4 * size) // 1000), 1)
    seen = np.zeros(n, dtype=bool)
    for ask in range(2 * turns + 1):
        now = n + ask * step
        members = buffer.pool(now, retained)
        assert len(members) <= 1000 + 4 * size + len(retained) + 21
        assert set(retained.tolist()) | set(buffer.forced(now).tolist()) <= set(members.tolist())
        assert members[-1] == now - 1
        seen[members[members < n]] = True
    assert seen.all()


def test_turns_belong_to_one_buffer_and_travel_with_it():
    buffer = Buffer(10, n_init=4, pool="rotating")
    first = buffer.pool(9000)
    twin = copy.deepcopy(buffer)
    second = twin.pool(9000)
    assert not np.array_equal(first, second)
    np.testing.assert_array_equal(buffer.pool(9000), second)
    np.testing.assert_array_equal(Buffer(10, n_init=4, pool="rotating").pool(9000), first)


# ---- the dynamic rule


def feed(buffer, seconds, first=21):
    """Record one iteration after another, each with one more observation; the n at which M was fixed."""
    for n, spent in enumerate(seconds, start=first):
        buffer.record(spent, n)
        if buffer.size is not None:
            return n
    return None


def test_dynamic_size_is_what_is_held_when_iterations_have_become_slow():
    buffer = Buffer("dynamic", n_init=20)
    assert buffer.size is None
    assert not buffer.switched(10**6)
    # Median of the last three above 4 times the mean of the first five: at the second slow one.
    assert feed(buffer, [1.0] * 10 + [4.1, 4.1, 4.1]) == 32
    assert buffer.size == 32
    assert not buffer.switched(32)
    assert buffer.switched(33)
    assert buffer.switched_at == 33
    buffer.record(1e9, 50)
    assert buffer.size == 32  # and stays


def test_dynamic_rule_needs_more_than_the_factor():
    assert feed(Buffer("dynamic", n_init=20), [1.0] * 10 + [4.0] * 20) is None
    assert feed(Buffer("dynamic", n_init=20, factor=3.9), [1.0] * 10 + [4.0] * 20) == 32


def test_dynamic_rule_is_not_fooled_by_one_interruption():
    assert feed(Buffer("dynamic", n_init=20), [1.0] * 7 + [500.0] + [1.0] * 20) is None


def test_dynamic_rule_waits_for_a_baseline_and_for_room_beside_the_forced_set():
    assert feed(Buffer("dynamic", n_init=20, factor=1.01), [1.0, 1.0, 9.0, 9.0]) is None
    slow = [1.0, 1.0, 1.0, 1.0, 1.0, *[50.0] * 30]
    assert feed(Buffer("dynamic", n_init=20), slow, first=1) == 22
    assert feed(Buffer("dynamic", n_init=20, retain_initial=False), slow, first=1) == 7


@given(st.lists(st.floats(1e-3, 10.0), max_size=40), st.floats(1.01, 6.0))
def test_dynamic_rule_is_the_references(seconds, factor):
    expected = None
    for i in range(len(seconds)):
        if ref.switch_now(seconds[: i + 1], factor):
            expected = 21 + i + 1
            break
    assert feed(Buffer("dynamic", n_init=20, factor=factor), seconds, first=22) == expected


def test_fixed_size_ignores_the_clock():
    buffer = Buffer(30, n_init=20)
    assert feed(buffer, [1.0] * 5 + [99.0] * 5) == 21  # the size was there before
    assert buffer.size == 30


def test_a_window_smaller_than_the_size_found_is_widened():
    buffer = Buffer("dynamic", n_init=4, pool=5)
    assert feed(buffer, [1.0] * 5 + [50.0] * 30) == 27
    assert len(buffer.pool(200)) >= 27


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"size": 0}, "^subset_size must be at least 1, got 0"),
        ({"size": 21}, r"^subset_size must be larger than the forced set \(21.*, got 21"),
        ({"size": 20, "retain_newest": False}, r"^subset_size must be larger than the forced set \(20.*, got 20"),
        ({"size": 1, "retain_initial": False}, r"^subset_size must be larger than the forced set \(1.*, got 1"),
        ({"size": 30.0}, "^subset_size must be an integer, got 30.0"),
        ({"size": True}, "^subset_size must be an integer, got True"),
        ({"size": None}, "^subset_size must be an integer, got None"),
        ({"size": "auto"}, "^subset_size must be an integer or 'dynamic', got 'auto'"),
        ({"factor": 1.0}, "^dynamic_factor must be greater than 1.*got 1"),
        ({"factor": np.nan}, "^dynamic_factor must be finite, got nan"),
        ({"factor": "4"}, "^dynamic_factor must be a real number, got '4'"),
        ({"retain_initial": 1}, "^retain_initial must be True or False, got 1"),
        ({"retain_newest": None}, "^retain_newest must be True or False, got None"),
        ({"pool": 0}, "^pool must be at least 1, got 0"),
        ({"pool": 9}, r"^pool must leave at least subset_size \(30\).*window of 9 beside 20"),
        ({"pool": "window"}, "^pool must be 'auto', 'full', 'rotating' or a window size, got 'window'"),
        ({"pool": 50.5}, "^pool must be an integer, got 50.5"),
        ({"pool": None}, "^pool must be an integer, got None"),
    ],
)
def test_bad_arguments(keywords, message):
    with pytest.raises(ValueError, match=message):
        Buffer(**{"size": 30, "n_init": 20, **keywords})


@pytest.mark.parametrize("keywords", [{"size": 22}, {"size": 1, "retain_initial": False, "retain_newest": False}])
def test_smallest_sizes(keywords):
    assert Buffer(**{"n_init": 20, **keywords}).size == keywords["size"]

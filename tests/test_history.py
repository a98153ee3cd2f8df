"""The history: append-only, cheap to grow, and it knows its best."""

import pickle

import numpy as np
import pytest

from gssbo.history import History


def rows(n, d=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, d)), rng.random((n, d)), rng.standard_normal(n)


def test_empty():
    history = History(2)
    assert len(history) == 0
    assert history.best == -1
    assert history.X.shape == history.unit.shape == (0, 2)
    assert history.y.shape == (0,)


@pytest.mark.parametrize("chunks", [[500], [1] * 500, [63, 1, 1, 300, 135]])
def test_holds_everything_in_order_however_it_came(chunks):
    X, unit, y = rows(500)
    history = History(3)
    for start, length in zip(np.cumsum([0, *chunks[:-1]]), chunks, strict=True):
        part = slice(start, start + length)
        history.append(X[part], unit[part], y[part])
        assert len(history) == start + length
        assert history.best == int(np.argmax(y[: start + length]))
    np.testing.assert_array_equal(history.X, X)
    np.testing.assert_array_equal(history.unit, unit)
    np.testing.assert_array_equal(history.y, y)


def test_keeps_copies():
    X, unit, y = rows(5)
    history = History(3)
    history.append(X, unit, y)
    kept = X.copy(), unit.copy(), y.copy()
    for array in (X, unit, y):
        array[:] = -99.0
    for got, expected in zip((history.X, history.unit, history.y), kept, strict=True):
        np.testing.assert_array_equal(got, expected)


def test_best_is_the_first_of_equals():
    history = History(1)
    for y in ([1.0], [2.0, 2.0], [2.0], [0.0, 2.0]):
        history.append(np.zeros((len(y), 1)), np.zeros((len(y), 1)), np.array(y))
    assert history.best == 1
    history.append(np.zeros((2, 1)), np.zeros((2, 1)), np.array([3.0, 3.0]))
    assert history.best == 6


def test_growth_is_amortised():
    history, moves, base = History(1), 0, None
    for _ in range(5000):
        history.append(np.zeros((1, 1)), np.zeros((1, 1)), np.zeros(1))
        moves += history.y.base is not base
        base = history.y.base
    assert moves <= 8  # 64, 128, ..., 8192
    assert len(base) <= 2 * 5000


def test_failures_have_no_value_and_are_never_the_best():
    history = History(1)
    for y in ([np.nan, np.nan], [-3.0], [np.nan, -2.0, np.nan], [np.nan]):
        history.append(np.zeros((len(y), 1)), np.zeros((len(y), 1)), np.array(y))
    assert (len(history), history.n_failed, history.best) == (7, 5, 4)
    np.testing.assert_array_equal(history.y, [np.nan, np.nan, -3.0, np.nan, -2.0, np.nan, np.nan])


def test_all_failed_have_no_best():
    history = History(1)
    history.append(np.zeros((2, 1)), np.zeros((2, 1)), np.full(2, np.nan))
    assert history.best == -1


def test_noise_is_kept_once_it_is_known():
    history, noise = History(1), np.zeros(200)
    assert history.noise_std is None
    for k in range(200):
        known = np.array([0.1 * k]) if k >= 70 and k % 3 else None
        noise[k] = 0.0 if known is None else known[0]
        history.append(np.zeros((1, 1)), np.zeros((1, 1)), np.zeros(1), known)
        assert (history.noise_std is None) is (k < 70)
    np.testing.assert_array_equal(history.noise_std, noise)


@pytest.mark.parametrize("dtype", [None, [("0", "i8"), ("1", "f8")]])
def test_rows_seen_are_known_to_the_bit(dtype):
    rng = np.random.default_rng(0)
    X = rng.random((300, 2)) if dtype is None else np.array(list(zip(range(300), rng.random(300), strict=True)), dtype)
    history = History(2, X[:0])
    for first in range(0, 200, 50):
        history.append(X[first : first + 50], np.zeros((50, 2)), np.zeros(50))
        assert history.seen(X).tolist() == [True] * (first + 50) + [False] * (250 - first)
    history.append(X[:20], np.zeros((20, 2)), np.full(20, np.nan))
    assert history.n_distinct == 200
    nearly = X[:1].copy()
    nearly[nearly.dtype.names[1] if dtype else (..., 1)] *= 1 + 1e-15
    assert not history.seen(nearly)[0]


def test_pickles_hold_the_data_and_nothing_else():
    X, unit, y = rows(1000)
    history = History(3)
    for k in range(1000):
        history.append(X[k : k + 1], unit[k : k + 1], y[k : k + 1])
    history.seen(X)
    data = pickle.dumps(history)
    assert len(data) < 1000 * 7 * 8 + 2000
    again = pickle.loads(data)
    again.append(X[:1], unit[:1], np.array([9.0]))
    assert (len(again), again.best, again.n_distinct, len(history)) == (1001, 1000, 1000, 1000)

"""The history: append-only, cheap to grow, and it knows its best."""

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

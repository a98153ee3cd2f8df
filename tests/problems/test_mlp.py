"""The small network: layout, initial law, gradient, one RMSprop step by hand, overflow."""

import warnings

import numpy as np
import pytest

from gssbo.problems.mlp import ALPHA, EPS, draw_weights, predict_labels, train, unpack


def loss(theta, X, y):
    W1, b1, w2, b2 = unpack(theta, X.shape[1])
    z = np.maximum(X @ W1 + b1, 0.0) @ w2 + b2
    return np.mean(np.logaddexp(0.0, z) - y * z)


def make(n=40, p=3, h=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    return X, (rng.random(n) < 0.4).astype(float), draw_weights(p, h, rng)


def test_unpack_returns_views_in_the_documented_order():
    theta = np.arange(31.0)
    W1, b1, w2, b2 = unpack(theta, 8)
    np.testing.assert_array_equal(np.concatenate([W1.ravel(), b1, w2, b2]), theta)
    W1[0, 0] = -1.0
    assert theta[0] == -1.0


@pytest.mark.parametrize("size", [1, 10, 30])
def test_unpack_checks_the_length(size):
    with pytest.raises(ValueError, match="theta must have length"):
        unpack(np.zeros(size), 8)


def test_initial_law():
    rng = np.random.default_rng(1)
    draws = np.array([draw_weights(8, 5, rng) for _ in range(4_000)])
    for part, fan_in in ((draws[:, :45], 8), (draws[:, 45:], 5)):
        bound = 1.0 / np.sqrt(fan_in)
        assert np.abs(part).max() <= bound
        assert np.abs(part).max() > 0.99 * bound
        assert part.mean() == pytest.approx(0.0, abs=0.02 * bound)
        assert part.var() == pytest.approx(bound**2 / 3.0, rel=0.03)


def test_two_steps_against_finite_differences():
    X, y, theta = make(n=40)
    decay, rate = 0.3, 0.01
    path = train(theta, X, y, np.arange(40)[None], batch_size=25, learning_rate=rate, weight_decay=decay)
    assert path.shape == (3, theta.size)

    def gradient(at, rows):
        step = 1e-6 * np.eye(theta.size)
        rise = [loss(at + e, X[rows], y[rows]) - loss(at - e, X[rows], y[rows]) for e in step]
        return np.array(rise) / 2e-6 + decay * at

    first = gradient(path[0], slice(25))
    second = gradient(path[1], slice(25, 40))  # the short batch is averaged over its own 15 rows
    square = (1.0 - ALPHA) * first**2
    np.testing.assert_allclose(path[1], path[0] - rate * first / (np.sqrt(square) + EPS), atol=1e-8)
    square = ALPHA * square + (1.0 - ALPHA) * second**2
    np.testing.assert_allclose(path[2], path[1] - rate * second / (np.sqrt(square) + EPS), atol=1e-8)


def test_path_length_and_untouched_input():
    X, y, theta = make(n=10)
    kept = theta.copy()
    order = np.tile(np.arange(10), (3, 1))
    path = train(theta, X, y, order, batch_size=4, learning_rate=0.01, weight_decay=0.0)
    assert path.shape == (3 * 3 + 1, theta.size)
    np.testing.assert_array_equal(path[0], kept)
    np.testing.assert_array_equal(theta, kept)


def test_batches_follow_the_order():
    X, y, theta = make(n=12)
    order = np.random.default_rng(3).permuted(np.tile(np.arange(12), (2, 1)), axis=1)
    options = {"batch_size": 5, "learning_rate": 0.05, "weight_decay": 0.1}
    whole = train(theta, X, y, order[:1], **options)
    again = train(theta, X[order[0]], y[order[0]], np.arange(12)[None], **options)
    np.testing.assert_array_equal(whole, again)


@pytest.mark.parametrize(("rate", "decay"), [(1e300, 1.0), (1.0, 1e300), (1e308, 1e308)])
def test_overflow_is_silent_and_nan_counts_as_class_zero(rate, decay):
    X, y, theta = make()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        order = np.tile(np.arange(40), (5, 1))
        path = train(theta, X, y, order, batch_size=8, learning_rate=rate, weight_decay=decay)
        labels = predict_labels(path[-1], X)
        diverged = predict_labels(np.full_like(theta, np.nan), X)
    assert set(labels.tolist()) <= {0, 1}
    assert (diverged == 0).all()

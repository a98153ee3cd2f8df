"""Embeddings are derivatives, as the paper defines them, and the cached ones choose as the recomputed ones do."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from gssbo import reference as ref
from gssbo.embedding import Embedding
from gssbo.kernels import Kernel
from gssbo.precision import PrecisionCache
from gssbo.selection.subset import select

KERNELS = ["matern52", "matern32", "rbf"]


def example(n=25, d=3, seed=0, noise=0.02):
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    z = ref.standardise(np.sin(5 * X[:, 0]) + X[:, -1] + 0.1 * rng.standard_normal(n))[0]
    theta = np.log([*rng.uniform(0.3, 1.2, d), 1.4, noise])
    return X, z, theta


def embedding_of(X, theta, name, cached=False):
    scales, variance, noise = ref.unpack(theta)
    kernel = Kernel(name, scales.copy(), variance)
    return Embedding(kernel, noise, X, PrecisionCache(kernel, noise, X) if cached else None)


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize("name", KERNELS)
def test_precision_cosines_and_scores_are_the_references(name, cached):
    X, z, theta = example()
    embedding = embedding_of(X, theta, name, cached)
    P = ref.precision(X, theta, name)
    assert len(embedding) == 25
    np.testing.assert_allclose(embedding.precision, P, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(embedding.cosines(), ref.cosines(P), atol=1e-10)
    np.testing.assert_allclose(np.diag(embedding.cosines()), 1.0, atol=1e-12)
    np.testing.assert_allclose(embedding.scores(z), ref.response_scores(P, z), rtol=1e-9, atol=1e-9)


def test_scores_are_the_gradient_of_the_likelihood_in_the_responses():
    X, z, theta = example(12)
    step = 1e-6 * np.eye(12)
    slope = [
        (ref.log_marginal_likelihood(X, z + e, theta)[0] - ref.log_marginal_likelihood(X, z - e, theta)[0]) / 2e-6
        for e in step
    ]
    np.testing.assert_allclose(embedding_of(X, theta, "matern52").scores(z), slope, rtol=1e-5, atol=1e-5)


def test_embeddings_are_the_gradients_of_the_scores():
    X, z, theta = example(12)
    embedding = embedding_of(X, theta, "matern52")
    jacobian = np.column_stack([embedding.scores(z + e) - embedding.scores(z) for e in np.eye(12)])  # linear in z
    np.testing.assert_allclose(jacobian, -embedding.precision, rtol=1e-8, atol=1e-8)


def test_source_tells_which_matrix_it_is():
    X, _, theta = example()
    P = ref.precision(X, theta)
    for cached, expected in ((False, P), (True, P @ P)):
        matrix, squared = embedding_of(X, theta, "matern52", cached).source()
        assert squared is cached
        np.testing.assert_allclose(matrix[:25, :25], expected, rtol=1e-8, atol=1e-8 * np.abs(expected).max())


def test_prepare_computes_once():
    X, _, theta = example()
    embedding = embedding_of(X, theta, "matern52")
    embedding.prepare()
    assert embedding.source()[0] is embedding.source()[0]


@pytest.mark.slow
def test_cached_refresh_chooses_as_recomputed_at_each_of_a_thousand_appends():
    rng = np.random.default_rng(1)
    d, start, noise = 6, 30, 1e-4
    X = rng.random((start + 1000, d))
    kernel = Kernel("matern52", np.full(d, 0.6), 1.0)
    cache = PrecisionCache(kernel, noise, X[:start])
    factorized = cache.n_refactorized
    with threadpool_limits(1):
        for n in range(start + 1, start + 1001):
            cache.append(X[n - 1])
            forced = np.array([*range(20), n - 1])
            chosen = [
                select(Embedding(kernel, noise, X[:n], held), 29, rule="vector", forced=forced, y=None, rng=None)
                for held in (cache, None)
            ]
            np.testing.assert_array_equal(*chosen, err_msg=f"{n} observations")
    assert len(cache) == start + 1000
    assert cache.n_refactorized == factorized  # it was the updates that did it


@pytest.mark.parametrize("rule", ["vector", "scalar", "kmeans++"])
def test_cached_refresh_of_a_moving_window(rule):
    rng = np.random.default_rng(2)
    d, noise, window = 4, 1e-4, 60
    X, y = rng.random((260, d)), rng.standard_normal(260)
    kernel = Kernel("rbf", np.full(d, 0.7), 1.0)
    cache = PrecisionCache(kernel, noise, X[:window])
    for n in range(window + 1, 261):
        cache.append(X[n - 1])
        cache.remove(10)  # ten stay for good, as an initial design would
        pool = np.r_[0:10, n - window + 10 : n]
        np.testing.assert_array_equal(cache.X, X[pool])
        chosen = [
            select(
                Embedding(kernel, noise, X[pool], held),
                25,
                rule=rule,
                forced=np.r_[0:10, window - 1],
                y=y[pool],
                rng=np.random.default_rng(n),
            )
            for held in (cache, None)
        ]
        np.testing.assert_array_equal(*chosen, err_msg=f"{n} observations")

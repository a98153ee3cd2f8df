"""The allocation of inducing points against determinants of all subsets, and its kernel against its definition."""

from itertools import combinations

import numpy as np
import pytest
from scipy.stats import norm

from gssbo.baselines.ipa import AllocatedProcess, greedy_map

pytest.importorskip("torch")


def kernel_of(n, seed):
    """A quality-diversity kernel of n members: q (n,), S (n, n), and L."""
    rng = np.random.default_rng([n, seed])
    V = rng.standard_normal((n, n + 1))
    S, q = V @ V.T / n, np.exp(0.7 * rng.standard_normal(n))
    return q, S, q[:, None] * S * q


def determinant(L, members):
    return np.linalg.det(L[np.ix_(members, members)])


@pytest.mark.parametrize("seed", range(5))
def test_each_choice_multiplies_the_determinant_most(seed):
    q, S, L = kernel_of(9, seed)
    expected = []
    for _ in range(9):
        others = [i for i in range(9) if i not in expected]
        expected.append(max(others, key=lambda i: determinant(L, [*expected, i])))
    found = greedy_map(lambda i: S[i], np.diag(S), np.log(q), 9)
    assert found.tolist() == expected
    assert greedy_map(lambda i: S[i], np.diag(S), np.log(q), 4).tolist() == expected[:4]


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_against_the_best_of_all_subsets(m, seed):
    """Greedy is the best for one, never below the best over (m!)^2; over all sizes determinants sum to |I + L|."""
    q, S, L = kernel_of(8, seed)
    best = max(determinant(L, members) for members in combinations(range(8), m))
    found = determinant(L, greedy_map(lambda i: S[i], np.diag(S), np.log(q), m))
    assert found <= best * (1 + 1e-12)
    assert found >= best / np.prod(np.arange(1.0, m + 1)) ** 2
    if m == 1:
        assert found == pytest.approx(best)
    total = sum(determinant(L, members) for k in range(1, 9) for members in combinations(range(8), k))
    assert 1.0 + total == pytest.approx(np.linalg.det(np.eye(8) + L))


def test_what_is_explained_or_worthless_is_not_chosen():
    S = np.kron(np.eye(3), np.ones((2, 2)))  # three pairs of twins
    chosen = greedy_map(lambda i: S[i], np.diag(S), np.log([1.0, 1.0, 3.0, 2.0, 1.0, 1.5]), 6)
    assert chosen.tolist() == [2, 5, 0]
    assert greedy_map(lambda i: S[i], np.diag(S), np.array([0.0, 0.0, -np.inf, -np.inf, 0.0, 0.0]), 6).tolist() == [
        0,
        4,
    ]


def fitted(n=60, epochs=10, **options):
    rng = np.random.default_rng(n)
    X = rng.random((n, 2))
    model = AllocatedProcess(n_inducing=10, epochs=epochs, rng=0, **options)
    model.prepare(2)
    model.condition(X[: n // 2], np.sin(5 * X[: n // 2]).sum(axis=1), optimize=True)
    return model, X, rng


def test_quality_is_expected_improvement_and_diversity_the_posterior_covariance():
    model, X, _ = fitted()
    column, variance, log_quality = model.quality_diversity(X, model.theta_)
    S = model.covariance(X, X)
    np.testing.assert_allclose(np.stack([column(i) for i in range(60)]), S, atol=1e-12)
    np.testing.assert_allclose(variance, np.diag(S), atol=1e-12)
    mean, std = model.posterior(X)
    u = (mean - mean.max()) / std
    np.testing.assert_allclose(np.exp(log_quality), std * (u * norm.cdf(u) + norm.pdf(u)), rtol=1e-8, atol=1e-300)
    L = np.exp(log_quality)[:, None] * S * np.exp(log_quality)
    chosen = model.start(X, model.theta_, np.random.default_rng(0))
    expected = []
    for _ in range(3):
        others = [i for i in range(60) if i not in expected]
        expected.append(max(others, key=lambda i: determinant(L, [*expected, i])))
    assert chosen[:3].tolist() == expected


def test_the_first_time_the_prior_decides():
    """Quality is the same everywhere: the pivots of the prior covariance with the largest conditional variance."""
    rng = np.random.default_rng(0)
    X = rng.random((50, 2))
    model = AllocatedProcess(n_inducing=6, epochs=0, lengthscale=0.3, rng=0)
    model.condition(X, X[:, 0], optimize=False)
    chosen = model.fit_info_["start"]
    K = model.kernel_(X, X)
    for k in range(1, 6):
        inside = K[np.ix_(chosen[:k], chosen[:k])]
        left = np.diag(K) - np.einsum("ij,ij->j", K[chosen[:k]], np.linalg.solve(inside, K[chosen[:k]]))
        assert left[chosen[k]] == pytest.approx(left.max(), rel=1e-8)
    assert chosen[0] == 0


def test_it_starts_where_chosen_and_fills_up_with_others():
    model, X, _ = fitted()
    model.epochs = 0
    model.condition(X, np.sin(5 * X).sum(axis=1), optimize=True)
    np.testing.assert_array_equal(model.inducing_, X[model.fit_info_["start"]])
    twins = np.repeat(X[:4], 5, axis=0)
    chosen = model.start(twins, model.theta_, np.random.default_rng(0))
    assert len(set(chosen.tolist())) == 10
    assert len({tuple(each) for each in twins[chosen[:4]]}) == 4


def test_better_places_get_more_points_than_at_random():
    """Of a function with one peak: the mean response at the points chosen is above that of all."""
    rng = np.random.default_rng(0)
    X = rng.random((200, 2))
    y = np.exp(-20 * ((X - 0.3) ** 2).sum(axis=1))
    model = AllocatedProcess(n_inducing=10, epochs=20, rng=0)
    model.prepare(2)
    model.condition(X, y, optimize=True)
    assert y[model.start(X, model.theta_, rng)].mean() > 2.0 * y.mean()

"""Selection rules: index for index the reference's, from the precision and from its cached square."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gssbo import GaussianProcess, select_subset
from gssbo import reference as ref
from gssbo._core import _select
from gssbo.embedding import Embedding
from gssbo.exceptions import NotFittedError
from gssbo.kernels import Kernel
from gssbo.precision import PrecisionCache, precision_matrix
from gssbo.selection import RULES
from gssbo.selection.subset import select

pytestmark = pytest.mark.usefixtures("single_thread")

PIVOTED = ["residual", "variance", "residual-ratio", "residual-exchange"]
NAMES = ["vector", "scalar", "random", "kmeans++", "maxmin", *PIVOTED]
KERNELS = ["matern52", "matern32", "rbf"]
N_POOLS = 200


def random_pool(seed):
    """A pool, hyperparameters, a size and a forced set; sizes, dimensions, noise and duplicates vary."""
    rng = np.random.default_rng(seed)
    d = 1 if seed % 10 == 0 else 50 if seed % 10 == 1 else int(rng.integers(1, 51))
    n = 300 if seed % 25 == 0 else int(np.exp(rng.uniform(np.log(4), np.log(300))))
    size = n if seed % 17 == 0 else int(rng.integers(2, min(n, 80) + 1))
    X = rng.random((n, d))
    if seed % 3 == 0:  # every fourth point stands somewhere twice
        X[rng.permutation(n)[: n // 4]] = X[rng.integers(0, n, n // 4)]
    y = np.sin(6 * X[:, 0]) + X.mean(axis=1) + 0.1 * rng.standard_normal(n)
    lengthscale = 0.5 * np.sqrt(d) * rng.uniform(0.3, 1.5, d)
    theta = np.log([*lengthscale, rng.uniform(0.5, 3.0), 10.0 ** rng.uniform(-4, -0.5)])
    n_forced = [0, 1, min(5, size - 1), size // 2, size - 1][seed % 5]
    forced = rng.permutation(n)[:n_forced]
    return X, y, theta, size, forced, KERNELS[seed % 3 - 1 if seed % 2 else seed % 3]


def embedding_of(X, theta, kernel, cached):
    scales, variance, noise = ref.unpack(theta)
    shape = Kernel(kernel, scales.copy(), variance)
    return Embedding(shape, noise, X, PrecisionCache(shape, noise, X) if cached else None)


def test_rules_by_name():
    assert list(RULES) == [*NAMES, "topk-random"]


def test_random_pools_cover_what_they_should():
    pools = [random_pool(seed) for seed in range(N_POOLS)]
    assert {len(pool[0]) for pool in pools} >= {300}
    assert {pool[0].shape[1] for pool in pools} >= {1, 50}
    assert {pool[5] for pool in pools} == set(KERNELS)
    assert sum(len(pool[4]) == 0 for pool in pools) >= 30
    assert sum(len(np.unique(pool[0], axis=0)) < len(pool[0]) for pool in pools) >= 50
    assert sum(pool[3] == len(pool[0]) for pool in pools) >= 10


@pytest.mark.parametrize("block", range(10))
@pytest.mark.parametrize("rule", NAMES)
def test_indices_are_the_references(rule, block):
    for seed in range(block * N_POOLS // 10, (block + 1) * N_POOLS // 10):
        X, y, theta, size, forced, kernel = random_pool(seed)
        expected = ref.select(rule, X, y, theta, size, forced, np.random.default_rng(seed), kernel)
        assert len(expected) == size
        for cached in (False, True):
            got = select(
                embedding_of(X, theta, kernel, cached),
                size,
                rule=rule,
                forced=forced,
                y=y,
                rng=np.random.default_rng(seed),
            )
            np.testing.assert_array_equal(got, expected, err_msg=f"pool {seed}, cached {cached}")


@pytest.mark.parametrize("rule", NAMES)
def test_public_function_is_the_reference_with_the_fitted_hyperparameters(rule):
    rng = np.random.default_rng(3)
    X = rng.random((120, 3))
    y = np.sin(5 * X[:, 0]) + X[:, 1]
    gp = GaussianProcess("matern32", rng=0).fit(X[:40], y[:40])
    before = X.copy(), y.copy(), gp.theta_.copy()
    got = select_subset(gp, X, 30, y=y, rule=rule, forced=[7, 119, 2], rng=5)
    expected = ref.select(rule, X, y, gp.theta_, 30, np.array([7, 119, 2]), np.random.default_rng(5), "matern32")
    np.testing.assert_array_equal(got, expected)
    for now, then in zip((X, y, gp.theta_), before, strict=True):
        np.testing.assert_array_equal(now, then)
    again = select_subset(
        gp,
        X.tolist(),
        np.int64(30),
        y=y,
        rule=rule,
        forced=np.array([7, 119, 2], np.int32),
        rng=np.random.default_rng(5),
    )
    np.testing.assert_array_equal(again, expected)


@settings(max_examples=60, deadline=None)
@given(
    rule=st.sampled_from([*NAMES, "topk-random"]),
    n=st.integers(1, 60),
    size=st.integers(1, 70),
    distinct=st.integers(1, 60),
    seed=st.integers(0, 2**32 - 1),
    data=st.data(),
)
def test_invariants(rule, n, size, distinct, seed, data):
    """Exact size, distinct members of the pool, forced ones first and in their order, whatever the duplicates."""
    rng = np.random.default_rng(seed)
    X = rng.random((distinct, 2))[rng.integers(0, distinct, n)]
    forced = np.array(data.draw(st.permutations(range(n))), dtype=np.intp)
    forced = forced[: data.draw(st.integers(0, min(n, size - 1)))]
    theta = np.log([0.3, 0.6, 1.0, 1e-3])
    y = rng.standard_normal(n)
    chosen = select(embedding_of(X, theta, "matern52", seed % 2 == 0), size, rule=rule, forced=forced, y=y, rng=rng)
    assert len(chosen) == min(size, n)
    assert len(set(chosen.tolist())) == len(chosen)
    assert chosen.min() >= 0
    assert chosen.max() < n
    np.testing.assert_array_equal(chosen[: len(forced)], forced)
    if size >= n:
        np.testing.assert_array_equal(chosen[len(forced) :], np.setdiff1d(np.arange(n), forced))


@pytest.mark.parametrize("rule", ["vector", "maxmin", "variance"])
@pytest.mark.parametrize("cached", [False, True])
def test_identical_points_are_taken_from_the_front(rule, cached):
    embedding = embedding_of(np.full((40, 3), 0.3), np.log([0.5, 0.5, 0.5, 1.0, 1e-4]), "rbf", cached)
    got = select(embedding, 6, rule=rule, forced=np.array([9]), y=None, rng=None)
    np.testing.assert_array_equal(got, [9, 0, 1, 2, 3, 4])


@pytest.mark.parametrize("scale", [1e-25, 1.0, 1e12, 1e25])
@pytest.mark.parametrize("n", [257, 300, 402])
def test_vector_rule_on_large_pools_of_any_scale(n, scale):
    """Beyond 256 members cosines are screened in single precision; it must not show, whatever the units."""
    rng = np.random.default_rng(n)
    for kind in range(4):
        X = rng.random((n, 3))
        if kind == 1:
            X[n // 2 :] = X[: n - n // 2]  # everything twice
        elif kind == 2:
            X = np.round(4 * X) / 4  # a grid: symmetric, many ties
        kernel = Kernel("matern52", np.full(3, [0.1, 0.5, 0.5, 2.0][kind]), 1.0)
        noise = [1e-2, 1e-2, 1e-2, 1e-6][kind]
        P = precision_matrix(kernel, X, noise)[0]
        for n_forced in (0, 1, 21):
            forced = rng.permutation(n)[:n_forced]
            chosen = np.empty(60, dtype=np.intp)
            _select.greedy_cosine(n, scale * P, False, forced, chosen)
            np.testing.assert_array_equal(chosen, ref.select_vector(P[:, :n], 60, forced))


@pytest.mark.parametrize("rule", ["vector", "kmeans++"])
def test_of_cached_cosines_the_upper_triangle_is_read(rule):
    rng = np.random.default_rng(8)
    X, forced = rng.random((70, 3)), np.array([3, 69])
    embedding = embedding_of(X, np.log([0.4, 0.4, 0.4, 1.0, 1e-3]), "matern52", True)
    chosen = []
    for _ in range(2):
        chosen.append(select(embedding, 30, rule=rule, forced=forced, y=None, rng=np.random.default_rng(0)))
        embedding.source()[0][np.tril_indices(70, -1)] = np.nan
    np.testing.assert_array_equal(*chosen)


def test_vector_rule_starts_at_the_first_and_goes_to_the_most_opposed():
    X = np.array([[0.0], [0.5], [1.0]])
    embedding = embedding_of(X, np.log([0.5, 1.0, 0.01]), "matern52", False)
    got = select(embedding, 2, rule="vector", forced=np.array([], dtype=np.intp), y=None, rng=None)
    np.testing.assert_array_equal(got, [0, 1])  # cosine -0.82 against 0.52


def test_maxmin_takes_the_far_corner_first():
    X = np.array([[0.1], [0.2], [0.9], [0.3], [0.6]])
    embedding = embedding_of(X, np.log([0.5, 1.0, 0.01]), "rbf", False)
    got = select(embedding, 4, rule="maxmin", forced=np.array([], dtype=np.intp), y=None, rng=None)
    np.testing.assert_array_equal(got, [0, 2, 4, 3])


def test_random_rule_is_a_permutation_of_the_unforced():
    X = np.random.default_rng(0).random((30, 2))
    embedding = embedding_of(X, np.log([1.0, 1.0, 1.0, 0.1]), "rbf", False)
    forced = np.array([4, 0])
    got = select(embedding, 10, rule="random", forced=forced, y=None, rng=np.random.default_rng(11))
    free = np.setdiff1d(np.arange(30), forced)
    expected = free[np.random.default_rng(11).permutation(28)[:8]]
    np.testing.assert_array_equal(got, [*forced, *expected])


@pytest.mark.parametrize("seed", range(40))
def test_topk_random_takes_a_quarter_of_the_best_and_draws_the_rest(seed):
    """Against a loop over sorted pairs; a third of the responses are equal, the lower index of equals comes first."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 200))
    y = rng.standard_normal(n)
    y[::3] = y[-1]
    size = int(rng.integers(4, n))
    forced = rng.permutation(n)[: [0, 1, size // 2, size - 1][seed % 4]]
    left = [i for i in range(n) if i not in set(forced.tolist())]
    best = [i for _, i in sorted((-y[i], i) for i in left)][: min(size // 4, size - len(forced))]
    rest = [i for i in left if i not in best]
    drawn = np.random.default_rng(seed).permutation(rest)[: size - len(forced) - len(best)]
    got = select(
        embedding_of(rng.random((n, 2)), np.log([0.3, 0.6, 1.0, 1e-3]), "rbf", False),
        size,
        rule="topk-random",
        forced=forced,
        y=1e6 + 1e3 * y,
        rng=np.random.default_rng(seed),
    )
    np.testing.assert_array_equal(got, [*forced, *best, *drawn])


def test_topk_random_draws_uniformly_from_what_is_not_best():
    y = np.arange(20.0)
    gp = GaussianProcess(lengthscale=0.4, fit_hyperparameters=False).fit([[0.0], [1.0]], [0.0, 1.0])
    counts, rng = np.zeros(20), np.random.default_rng(0)
    for _ in range(2000):
        counts[select_subset(gp, y[:, None], 8, y=y, rule="topk-random", rng=rng)] += 1
    assert (counts[18:] == 2000).all()
    assert np.abs(counts[:18] - 2000 * 6 / 18).max() < 5 * np.sqrt(2000 * (1 / 3) * (2 / 3))


def test_kmeans_draws_its_first_uniformly():
    X = np.random.default_rng(0).random((50, 2))
    embedding = embedding_of(X, np.log([1.0, 1.0, 1.0, 0.1]), "rbf", False)
    none = np.array([], dtype=np.intp)
    first = [
        select(embedding, 2, rule="kmeans++", forced=none, y=None, rng=np.random.default_rng(s))[0] for s in range(20)
    ]
    assert first == [int(np.random.default_rng(s).random(2)[0] * 50) for s in range(20)]


def test_scalar_rule_ignores_offset_scale_and_sign_of_the_responses():
    rng = np.random.default_rng(2)
    X = rng.random((80, 2))
    y = rng.standard_normal(80)
    gp = GaussianProcess(lengthscale=0.4, fit_hyperparameters=False).fit(X, y)
    base = select_subset(gp, X, 20, y=y, rule="scalar", forced=[3])
    for other in (4.0 * y, y + 8.0, -y):
        np.testing.assert_array_equal(select_subset(gp, X, 20, y=other, rule="scalar", forced=[3]), base)
    assert not np.array_equal(select_subset(gp, X, 20, y=y[::-1], rule="scalar", forced=[3]), base)


@pytest.mark.parametrize("rule", ["vector", "kmeans++", "maxmin", "random", "variance"])
def test_other_rules_do_not_look_at_the_responses(rule):
    rng = np.random.default_rng(2)
    X, y = rng.random((60, 2)), rng.standard_normal(60)
    gp = GaussianProcess(lengthscale=0.4, fit_hyperparameters=False).fit(X, y)
    with_y = select_subset(gp, X, 20, y=100.0 * y[::-1], rule=rule, rng=1)
    np.testing.assert_array_equal(select_subset(gp, X, 20, rule=rule, rng=1), with_y)


def test_scalar_rule_on_constant_responses():
    X = np.random.default_rng(0).random((20, 2))
    gp = GaussianProcess(lengthscale=0.4, fit_hyperparameters=False).fit(X, np.ones(20))
    np.testing.assert_array_equal(select_subset(gp, X, 5, y=np.full(20, 3.0), rule="scalar"), np.arange(5))


GP = GaussianProcess(lengthscale=0.4, fit_hyperparameters=False).fit([[0.0, 0.0], [1.0, 1.0]], [0.0, 1.0])
POOL = np.random.default_rng(0).random((10, 2))


@pytest.mark.parametrize(
    ("argument", "keywords", "message"),
    [
        ("X", {"X": POOL[:, :1]}, "2 columns"),
        ("X", {"X": POOL[0]}, r"shape \(n, d\)"),
        ("X", {"X": np.where(POOL[3, 1] == POOL, np.nan, POOL)}, r"finite, got nan at index \(3, 1\)"),
        ("X", {"X": POOL[:0]}, "empty"),
        ("size", {"size": 0}, "at least 1, got 0"),
        ("size", {"size": 2.5}, "integer, got 2.5"),
        ("size", {"size": True}, "integer, got True"),
        ("size", {"size": 2, "forced": [0, 1]}, r"larger than the number of forced members \(2\), got 2"),
        (
            "rule",
            {"rule": "best"},
            "one of 'vector', 'scalar', 'random', 'kmeans.*', 'maxmin', .*, got 'best'",
        ),
        ("forced", {"forced": [0, 10]}, r"\[0, 10\), got \[0, 10\]"),
        ("forced", {"forced": [-1]}, r"\[0, 10\), got \[-1\]"),
        ("forced", {"forced": [1, 1]}, "distinct"),
        ("forced", {"forced": [0.5]}, "integers"),
        ("forced", {"forced": [True, False]}, "integers"),
        ("y", {"rule": "scalar"}, "given with rule='scalar'"),
        ("y", {"rule": "residual"}, "given with rule='residual'"),
        ("y", {"rule": "residual-ratio"}, "given with rule='residual-ratio'"),
        ("y", {"rule": "topk-random"}, "given with rule='topk-random'"),
        ("y", {"y": np.zeros(9)}, "10 entries, got 9"),
        ("y", {"y": np.r_[np.zeros(9), np.inf]}, "finite, got inf"),
        ("rng", {"rng": "seed"}, "got 'seed'"),
        ("rng", {"rng": -1}, "got -1"),
    ],
)
def test_bad_arguments(argument, keywords, message):
    with pytest.raises(ValueError, match=rf"^{argument} .*{message}"):
        select_subset(GP, **{"X": POOL, "size": 5, **keywords})


@pytest.mark.parametrize("gp", [None, GaussianProcess, "matern52"])
def test_needs_a_model(gp):
    with pytest.raises(ValueError, match=r"^gp must be a GaussianProcess, got "):
        select_subset(gp, POOL, 5)


def test_needs_a_fitted_model():
    with pytest.raises(NotFittedError, match=r"gp must be fitted"):
        select_subset(GaussianProcess(), POOL, 5)

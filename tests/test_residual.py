"""Pivots of the residual rules: as by dense solves, at every size of block and strip, and where nothing is left."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gssbo import reference as ref
from gssbo._core import _residual
from gssbo.embedding import Embedding
from gssbo.kernels import KERNELS, Kernel
from gssbo.selection import RULES
from tests.pools import chosen_by, log_theta, make_pool

NAMES = ["residual", "variance", "residual-ratio"]


def expected_by(rule, X, z, theta, size, forced=(), kernel="matern52"):
    return ref.select_pivots(rule, ref.noisy_covariance(X, theta, kernel), z, size, forced).tolist()


# ---- by hand


def test_by_hand():
    """Two far pairs of neighbours at correlation rho, no noise to speak of."""
    X = np.array([[0.0], [0.1], [50.0], [50.1]])
    theta = np.log([1.0, 3.0, 1e-9])
    rho = float(ref.kernel_matrix(X, X, theta)[0, 1]) / 3.0
    assert 0.98 < rho < 0.995
    z = np.array([0.1, 1.5, -1.0, -0.6])
    # At first S = 1 everywhere. After 1, its neighbour is known to within 1 - rho^2 but for a residual of -1.4, which
    # counts nearly six times; 2 and 3 are as they were.
    far, near = (1.0 + 1.0) / 1.2, (1.0 - rho**2 + (0.1 - 1.5 * rho) ** 2) / (1.0 - rho**2 + 0.2)
    assert near > 5.0 * far
    assert chosen_by("residual", X, z, theta, 4) == [1, 0, 2, 3]
    # Where the neighbour is predicted well, what is far comes first.
    assert chosen_by("residual", X, np.array([1.4, 1.5, -1.0, -0.6]), theta, 4) == [1, 2, 3, 0]
    assert chosen_by("variance", X, z, theta, 3) == [0, 2, 1]
    # z^2 first; then the neighbour, whose residual is many of its standard deviations.
    assert chosen_by("residual-ratio", X, z, theta, 3) == [1, 0, 2]
    assert (0.1 - 1.5 * rho) ** 2 / (1 - rho**2) > 1.0


def test_signal_variance_weighs_nothing():
    """Variance and noise times four leave shares and residuals as they are, to the bit."""
    X, z = make_pool(300, 3)
    for rule in NAMES:
        base = chosen_by(rule, X, z, log_theta(3, variance=1.5, noise=0.125), 40, [7])
        scales, variance, noise = np.full(3, 0.4), 6.0, 0.5
        embedding = Embedding(Kernel("matern52", scales, variance), noise, X)
        rng = np.random.default_rng(0)
        assert RULES[rule](embedding, 40, np.array([7], dtype=np.intp), z, rng).tolist() == base


def test_constant_responses_leave_the_variance():
    X, z = make_pool(200, 2)
    zero = np.zeros_like(z)
    assert chosen_by("residual", X, zero, log_theta(2), 30, [5]) == chosen_by("variance", X, z, log_theta(2), 30, [5])
    assert chosen_by("residual-ratio", X, zero, log_theta(2), 6, [5]) == [5, 0, 1, 2, 3, 4]


def test_sign_of_the_responses_does_not_matter():
    X, z = make_pool(150, 2)
    for rule in NAMES:
        assert chosen_by(rule, X, -z, log_theta(2), 30) == chosen_by(rule, X, z, log_theta(2), 30)


# ---- against dense solves


@pytest.mark.parametrize("kernel", sorted(KERNELS))
@pytest.mark.parametrize("rule", NAMES)
def test_large_pool_where_predictions_fail(rule, kernel):
    """Beyond a chunk of columns, with more forced members than a block; noise alternates in the responses."""
    X, z = make_pool(600, 2, seed=3)
    z = ref.standardise(z + 0.3 * np.random.default_rng(4).standard_normal(len(z)))[0]
    theta = np.log([0.1, 0.15, 1.2, 1e-2])
    forced = np.random.default_rng(5).permutation(600)[:37].tolist()
    assert chosen_by(rule, X, z, theta, 110, forced, kernel) == expected_by(rule, X, z, theta, 110, forced, kernel)


@pytest.mark.parametrize("rule", NAMES)
@pytest.mark.parametrize("n", [2, 3, 15, 16, 17, 31, 32, 33, 48, 255, 256, 257, 272])
def test_edges_of_strips_and_chunks(rule, n):
    for d, f in ((1, 0), (5, 1)):
        X, z = make_pool(n, d, seed=n)
        theta = log_theta(d, lengthscale=0.15)
        sizes, forced = {f + 1, min((n + f) // 2, 67), min(n - 1, 60)} - set(range(f + 1)), list(range(n - f, n))
        expected = expected_by(rule, X, z, theta, max(sizes, default=f), forced)  # smaller ones begin alike
        for size in sizes:
            assert chosen_by(rule, X, z, theta, size, forced) == expected[:size]


@settings(max_examples=60, deadline=None)
@given(
    rule=st.sampled_from(NAMES),
    kernel=st.sampled_from(sorted(KERNELS)),
    side=st.integers(2, 7),
    copies=st.integers(1, 3),
    f=st.integers(0, 6),
    noise=st.sampled_from([1e-3, 0.02, 0.5]),
    seed=st.integers(0, 2**32 - 1),
)
def test_grids_full_of_ties(rule, kernel, side, copies, f, noise, seed):
    """Symmetry and duplicates make scores equal but for rounding: the lowest member must win all the same."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*[np.arange(side) / (side - 1)] * 2), axis=-1).reshape(-1, 2)
    X = np.tile(grid, (copies, 1))
    z = np.tile(np.sign(grid[:, 0] - 0.5), copies)
    forced = rng.permutation(len(X))[: min(f, len(X) - 2)].tolist()
    size = int(rng.integers(len(forced) + 1, len(X)))
    theta = np.log([0.7, 0.7, 1.0, noise])
    assert chosen_by(rule, X, z, theta, size, forced, kernel) == expected_by(rule, X, z, theta, size, forced, kernel)


def test_conditional_variances_of_greedy_pivots_fall():
    """And nothing left out is more uncertain than the last one chosen."""
    X, z = make_pool(400, 3, seed=8)
    theta = log_theta(3)
    K = ref.noisy_covariance(X, theta)
    chosen = chosen_by("variance", X, z, theta, 60)
    on_entry = [ref.conditional(K, z, chosen[:k])[0][chosen[k]] for k in range(60)]
    assert np.all(np.diff(on_entry) <= 1e-12)
    left = np.setdiff1d(np.arange(400), chosen)
    assert ref.conditional(K, z, chosen[:59])[0][left].max() <= on_entry[-1] + 1e-12


def test_the_gap_of_theorem_5_1_shrinks():
    """On a smooth function and a tenth of the pool: what the rule is for."""
    rng = np.random.default_rng(1)
    X = rng.random((400, 2))
    z = ref.standardise(np.sin(9 * X[:, 0]) * np.cos(7 * X[:, 1]))[0]
    theta, Q = np.log([0.3, 0.3, 1.0, 1e-5]), rng.random((500, 2))
    K, k = ref.kernel_matrix(X, X, theta), ref.kernel_matrix(X, Q, theta)
    forced = list(range(10))

    def gap(chosen):
        return float(np.max(np.abs(ref.mean_gap(ref.posterior_gap(K, k, z, 1e-5, chosen)))))

    P = ref.precision(X, theta)
    gaps = {rule: gap(chosen_by(rule, X, z, theta, 40, forced)) for rule in NAMES}
    assert gaps["residual"] < 0.2 * gap(ref.select_vector(P, 40, forced))
    assert gaps["residual"] < 0.2 * gap(ref.select_random(400, 40, forced, rng))
    assert gaps["residual"] < gaps["variance"]


# ---- where nothing is left


@pytest.mark.parametrize("rule", NAMES)
def test_without_noise_a_duplicate_comes_after_everything_else(rule):
    X, z = make_pool(40, 2, seed=2)
    twice = np.concatenate([X, X[:25]])
    responses = np.concatenate([z, -z[:25]])  # the copies contradict: residuals stay large, variances are nothing
    theta = np.log([0.2, 0.2, 1.0, 1e-300])
    chosen = chosen_by(rule, twice, responses, theta, 50)
    assert sorted(i % 40 for i in chosen[:40]) == list(range(40))
    expected = [i for i in range(65) if i not in chosen[:40]][:10]
    assert chosen[40:] == expected


@pytest.mark.parametrize("rule", NAMES)
def test_forced_duplicates_without_noise(rule):
    X, z = make_pool(30, 2, seed=2)
    X[[4, 9, 20]] = X[1]
    embedding = Embedding(Kernel("matern52", np.full(2, 0.2), 1.0), 0.0, X)
    forced = np.array([9, 1, 4], dtype=np.intp)
    chosen = RULES[rule](embedding, 29, forced, z, np.random.default_rng(0)).tolist()
    assert chosen[:3] == [9, 1, 4]
    assert 20 not in chosen  # the only one that tells nothing, and there is room for all others
    assert sorted([*chosen, 20]) == list(range(30))


@pytest.mark.parametrize("rule", NAMES)
@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_a_pool_in_one_point_without_noise(rule, kernel):
    embedding = Embedding(Kernel(kernel, np.full(3, 0.5), 2.0), 0.0, np.full((20, 3), 0.3))
    z = np.linspace(-1, 1, 20)
    none = np.array([], dtype=np.intp)
    chosen = RULES[rule](embedding, 6, none, z, np.random.default_rng(0)).tolist()
    first = 0  # |z| is largest at both ends, the variance everywhere
    assert chosen == [first, *(i for i in range(20) if i != first)][:6]


def test_a_smooth_kernel_runs_out_of_pivots():
    """Without noise a thousand points on a line are some twenty pivots to working precision; the rest is in order."""
    X = np.linspace(0.0, 1.0, 1000)[:, None]
    embedding = Embedding(Kernel("rbf", np.array([1.0]), 1.0), 0.0, X)
    none = np.array([], dtype=np.intp)
    chosen = RULES["variance"](embedding, 200, none, np.zeros(1000), np.random.default_rng(0))
    assert len(set(chosen.tolist())) == 200
    tail = chosen[30:]
    assert np.all(np.diff(tail) > 0)
    assert tail[-1] < 250


# ---- the core


def test_repeats_itself_to_the_bit_and_leaves_its_inputs_alone():
    X, z = make_pool(700, 4)
    scales = np.full(4, 0.5)
    forced = np.arange(20, dtype=np.intp)
    form = np.array([1.0, 1.0, 1.0, 0.2])
    before = X.copy(), z.copy(), scales.copy(), forced.copy(), form.copy()
    runs = []
    for _ in range(3):
        chosen = np.full(90, -1, dtype=np.intp)
        _residual.pivots(KERNELS["matern52"], X, scales, 1.0, 1e-4, z, form, forced, chosen)
        runs.append(chosen.tolist())
        junk = np.random.default_rng(1).random(10**6)  # what the next allocation may find
        del junk
    assert runs[0] == runs[1] == runs[2]
    for now, then in zip((X, z, scales, forced, form), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_memory_is_linear_in_the_pool():
    resource = pytest.importorskip("resource")
    n, size = 30_000, 40
    X, z = make_pool(n, 2)
    chosen_by("residual", X[:500], z[:500], log_theta(2), size)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert len(set(chosen_by("residual", X, z, log_theta(2), size))) == size
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < 8 * n * (size + 40)  # an n x n array would be 7.2 GB

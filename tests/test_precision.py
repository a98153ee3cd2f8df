"""The precision cache against dense inverses, through long runs and random sequences of changes."""

import copy
import logging
import pickle

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gssbo import reference as ref
from gssbo._core import _linalg
from gssbo.journal.graph import decode, encode
from gssbo.kernels import KERNELS, Kernel
from gssbo.precision import BEYOND, TOLERANCE, PrecisionCache, Workspace, precision_matrix

NOISE = 1e-4


def covariance(kernel, X, noise):
    return ref.noisy_covariance(X, np.log([*kernel.lengthscale, kernel.variance, noise]), kernel.name)


def check(cache, tolerance=1e-8):
    """P and Q of the cache against its definition and against a dense inverse."""
    n = len(cache)
    K = covariance(cache.kernel, cache.X, cache.noise)
    assert cache.P.shape == cache.Q.shape == (n, n)
    assert np.abs(cache.P @ K - np.eye(n)).max(initial=0.0) < tolerance
    P = np.linalg.inv(K) if n else K
    np.testing.assert_allclose(cache.P, P, rtol=0, atol=tolerance * np.abs(P).max(initial=1.0))
    square = P @ P
    np.testing.assert_allclose(cache.Q, square, rtol=0, atol=tolerance * np.abs(square).max(initial=1.0))


@pytest.mark.parametrize("name", sorted(KERNELS))
@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 33, 64, 65, 129, 257])
def test_precision_matrix(name, n):
    X = np.random.default_rng(n).random((n, 4))
    kernel = Kernel(name, np.full(4, 0.5), 1.3)
    P, jitter = precision_matrix(kernel, X, 1e-2)
    assert jitter == 0.0
    assert np.array_equal(P[:, :n], P[:, :n].T) and not P[:, n:].any()
    K = covariance(kernel, X, 1e-2)
    assert np.abs(P[:, :n] @ K - np.eye(n)).max() < 1e-10


def test_precision_matrix_says_what_jitter_it_took():
    kernel = Kernel("rbf", np.ones(1), 2.0)
    X = np.zeros((3, 1))
    P, jitter = precision_matrix(kernel, X, 0.0)
    assert jitter == pytest.approx(2e-10)
    assert np.isfinite(P).all()


@pytest.mark.parametrize(("d", "scale"), [(2, 0.5), (6, 0.5)])
def test_a_thousand_appended_observations(d, scale):
    """max |P K_y - I| < 1e-8 all the way, at unit variance and noise 1e-4, without factorizing anew.

    In two dimensions the condition number of K_y reaches 1e7, and a plain update drifts to 5e-6.
    """
    X = np.random.default_rng(d).random((1000, d))
    kernel = Kernel("matern52", np.full(d, scale), 1.0)
    cache = PrecisionCache(kernel, NOISE, X[:1])
    K = covariance(kernel, X, NOISE)
    for n in range(2, 1001):
        cache.append(X[n - 1])
        assert len(cache) == n
        assert cache.drift < 1e-8  # what the cache measured
        if n % 50 == 0:
            residual = np.abs(cache.P @ K[:n, :n] - np.eye(n)).max()
            assert residual < 1e-8
            assert cache.drift > 0.2 * residual  # and it saw the worst of it
    assert cache.residual() < 1e-8
    assert cache.n_refactorized == 1  # the updates did the work
    square = cache.P @ cache.P
    assert np.abs(cache.Q - square).max() < 1e-8 * np.abs(square).max()


@pytest.mark.parametrize("at_once", [False, True])
@pytest.mark.parametrize(("d", "scale"), [(1, 0.2), (2, 0.5), (6, 0.5)])
def test_a_sliding_window(d, scale, at_once):
    """Oldest out, newest in: no drift beyond the tolerance, or four times a fresh inverse's, goes unnoticed."""
    X = np.random.default_rng(d).random((400, d))
    kernel = Kernel("matern52", np.full(d, scale), 1.0)
    cache = PrecisionCache(kernel, NOISE, X[:100])
    for step in range(300):
        if at_once:
            cache.replace(0, X[100 + step])
        else:
            cache.remove(0)
            cache.append(X[100 + step])
        if step % 20 == 0:
            assert np.array_equal(cache.X, X[step + 1 : step + 101])
            check(cache, 5e-8)
    assert cache.n_refactorized < 150


@pytest.mark.parametrize("n", [1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 30, 33])
@pytest.mark.parametrize("how", ["remove", "replace"])
def test_whoever_leaves_the_others_stay_in_order(n, how):
    """Every place, at sizes around those of the vectors; what is below the diagonal is not read."""
    rng = np.random.default_rng(n)
    X = rng.random((n + 2, 2))
    for index in range(n):
        cache = PrecisionCache(Kernel("matern52", np.array([0.5, 0.5]), 1.0), 1e-3, X[:n])
        for array in cache.buffers:
            array[np.tril_indices(n, -1)] = np.nan
        if how == "remove":
            cache.remove(index)
        else:
            cache.replace(index, X[n])
        cache.append(X[n + 1])
        assert np.array_equal(cache.X, np.delete(X, [index, n] if how == "remove" else [index], axis=0))
        assert cache.n_refactorized == 1
        check(cache)


@pytest.mark.parametrize("leave", [lambda cache: cache.remove(8), lambda cache: cache.replace(8, np.array([0.3, 0.6]))])
def test_nothing_is_read_of_the_covariances_of_the_last_as_it_leaves(leave):
    cache = PrecisionCache(Kernel("matern52", np.array([0.5, 0.5]), 1.0), 1e-3, np.random.default_rng(0).random((9, 2)))
    cache._K[:9, 8] = np.inf
    leave(cache)
    assert cache.n_refactorized == 1
    check(cache)


@pytest.mark.parametrize("twins", [False, True])
@pytest.mark.parametrize("noise", [1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1e-1])
@pytest.mark.parametrize("d", [1, 2, 6])
def test_hundreds_of_changes_leave_no_more_than_a_fresh_factorization(d, noise, twins):
    """|P K_y - I| stays within the tolerance or a multiple of what one leaves, and so do the cosines, which Q is for.

    Where there are twins, or next to no noise, one factorization leaves a thousand times as much as another, and the
    cache is as good as its last.
    """
    multiple = 5000.0 if twins or noise < 1e-7 else 50.0
    rng = np.random.default_rng(d)
    X = rng.random((260, d))
    if twins:
        for i in range(5, 260, 7):
            X[i] = X[i - rng.integers(1, 5)] + 10.0 ** -rng.integers(3, 12) * rng.standard_normal(d)
    kernel = Kernel("matern52", np.full(d, 0.4), 1.0)
    cache = PrecisionCache(kernel, noise, X[:60])
    for step, x in enumerate(X[60:]):
        if step % 2 == 0:
            cache.append(x)
            cache.remove(int(rng.integers(len(cache))))
        else:
            cache.replace(int(rng.integers(len(cache))), x)
        if step % 20 == 19:
            fresh = PrecisionCache(kernel, noise, cache.X).residual()
            assert cache.residual() <= max(TOLERANCE, multiple * fresh)
            square = cache.P @ cache.P
            lengths = np.sqrt(np.diagonal(square))
            assert np.abs((cache.Q - square) / np.outer(lengths, lengths)).max() < 5e-8
    assert cache.n_refactorized == 1 or noise < 1e-4 or twins


@pytest.mark.parametrize("seed", range(3))
def test_random_appends_removals_and_replacements(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 5))
    kernel = Kernel(sorted(KERNELS)[seed], rng.uniform(0.2, 1.0, d), float(rng.uniform(0.5, 2.0)))
    rows = list(rng.random((40, d)))
    cache = PrecisionCache(kernel, 1e-3, np.array(rows))
    for step in range(300):
        what, x = rng.integers(3), rng.random(d)
        if what == 0 and len(rows) < 70:
            cache.append(x)
            rows.append(x)
        elif what == 1 and len(rows) > 1:
            index = int(rng.integers(len(rows)))
            cache.remove(index)
            del rows[index]
        else:
            index = int(rng.integers(len(rows)))
            cache.replace(index, x)
            del rows[index]
            rows.append(x)
        assert np.array_equal(cache.X, np.array(rows))
        if step % 10 == 9:
            check(cache)
    check(cache)


class CacheMachine(RuleBasedStateMachine):
    """Any sequence of changes, on a grid so coarse that duplicates are common."""

    points = st.tuples(*[st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0])] * 2)

    def __init__(self):
        super().__init__()
        self.rows = []
        self.cache = PrecisionCache(Kernel("matern52", np.array([0.4, 0.8]), 1.0), 1e-2, np.empty((0, 2)))

    @rule(x=points)
    def append(self, x):
        self.cache.append(np.array(x))
        self.rows.append(x)

    @precondition(lambda self: self.rows)
    @rule(data=st.data())
    def remove(self, data):
        index = data.draw(st.integers(0, len(self.rows) - 1))
        self.cache.remove(index)
        del self.rows[index]

    @precondition(lambda self: self.rows)
    @rule(data=st.data(), x=points)
    def replace(self, data, x):
        index = data.draw(st.integers(0, len(self.rows) - 1))
        self.cache.replace(index, np.array(x))
        del self.rows[index]
        self.rows.append(x)

    @invariant()
    def right(self):
        assert np.array_equal(self.cache.X, np.array(self.rows).reshape(-1, 2))
        check(self.cache)


TestCacheMachine = CacheMachine.TestCase
TestCacheMachine.settings = settings(max_examples=30, stateful_step_count=30, deadline=None, derandomize=True)


def test_agrees_with_the_reference_updates():
    rng = np.random.default_rng(5)
    X = rng.random((12, 2))
    kernel = Kernel("matern52", np.array([0.5, 0.5]), 1.0)
    cache = PrecisionCache(kernel, 1e-2, X[:10])
    P = np.linalg.inv(covariance(kernel, X[:10], 1e-2))
    P2 = P @ P
    K = covariance(kernel, X, 1e-2)
    P, P2 = ref.append_point(P, P2, K[:10, 10], K[10, 10])
    cache.append(X[10])
    np.testing.assert_allclose(cache.P, P, rtol=1e-9)
    np.testing.assert_allclose(cache.Q, P2, rtol=1e-8)
    P, P2 = ref.remove_point(P, P2, 3)
    cache.remove(3)
    np.testing.assert_allclose(cache.P, P, rtol=1e-9)
    np.testing.assert_allclose(cache.Q, P2, rtol=1e-8)


def test_a_duplicate_without_noise_does_not_break_the_cache():
    """The conditional variance is 0 or rounding there; a documented jitter carries on."""
    kernel = Kernel("matern52", np.array([0.5]), 1.0)
    cache = PrecisionCache(kernel, 0.0, np.array([[0.1], [0.6]]))
    cache.append(np.array([0.1]))
    assert len(cache) == 3
    assert np.isfinite(cache.P).all() and np.isfinite(cache.Q).all()
    assert cache.n_refactorized == 2


def test_nor_does_one_that_replaces_another():
    kernel = Kernel("matern52", np.array([0.5]), 1.0)
    cache = PrecisionCache(kernel, 0.0, np.array([[0.1], [0.3], [0.6]]))
    cache.replace(1, np.array([0.1]))
    assert np.array_equal(cache.X, [[0.1], [0.6], [0.1]])
    assert np.isfinite(cache.P).all() and np.isfinite(cache.Q).all()
    assert cache.n_refactorized == 2


@pytest.mark.parametrize("appended", [False, True])
@pytest.mark.parametrize("leave", [lambda cache: cache.remove(8), lambda cache: cache.replace(8, np.array([0.55]))])
@pytest.mark.parametrize(
    ("noise", "near"),
    [
        (1e-10, 0.5),
        (1e-8, 0.5),  # P is right within the tolerance, Q is not
        (1e-10, 1e-4),  # another near twin stays: Q's diagonal is right, P drifts by more than a fresh one would
    ],
)
def test_what_a_twin_made_huge_goes_with_it(leave, appended, noise, near):
    """P and Q are 1 / noise and its square beside it, and their rounding is all that is left once it is gone."""
    X = np.array([0.0, near, *np.linspace(0.15, 1.0, 6), 0.0])[:, None]
    cache = PrecisionCache(Kernel("matern52", np.array([0.1]), 1.0), noise, X[:8] if appended else X)
    if appended:
        cache.append(X[8])
    assert np.diagonal(cache.Q).max() > 0.1 / noise**2
    leave(cache)
    check(cache)


def test_a_spoilt_cache_notices_and_starts_afresh(caplog):
    kernel = Kernel("matern52", np.array([0.5]), 1.0)
    X = np.linspace(0, 1, 10)[:, None]
    cache = PrecisionCache(kernel, NOISE, X[:9])
    P, Q = cache.buffers
    P[:9, :9] *= 1.0 + 1e-4
    Q[:9, :9] *= 1.0 + 2e-4
    with caplog.at_level(logging.DEBUG, logger="gssbo.precision"):
        cache.append(X[9])
    assert cache.n_refactorized == 2
    assert "drift" in caplog.text
    check(cache)


def test_empties_and_fills_again():
    kernel = Kernel("rbf", np.array([0.5]), 1.0)
    cache = PrecisionCache(kernel, NOISE, np.array([[0.2], [0.8]]))
    cache.remove(0)
    cache.remove(0)
    assert len(cache) == 0 and cache.residual() == 0.0
    cache.append(np.array([0.4]))
    assert cache.P[0, 0] == pytest.approx(1.0 / 1.0001, rel=1e-14)
    assert cache.Q[0, 0] == pytest.approx(1.0 / 1.0001**2, rel=1e-14)


@pytest.mark.parametrize("n", [0, 1, 40])
def test_a_copy_has_no_spare_room_and_goes_on_to_the_bit(n):
    X = np.random.default_rng(0).random((60, 2))
    cache = PrecisionCache(Kernel("matern52", np.array([0.5, 0.4]), 1.0), NOISE, X[:n])
    for x in X[n : n + 20]:
        cache.append(x)
    for _ in range(10):
        cache.remove(0)
    room = _linalg.padded(len(cache))
    assert len(cache.buffers[0]) > room
    twins = [copy.deepcopy(cache), pickle.loads(pickle.dumps(cache))]
    assert all(buffer.shape == (room, room + BEYOND) for twin in twins for buffer in twin.buffers)
    for each in (cache, *twins):
        each.append(np.array([0.3, 0.3]))
        each.replace(2, np.array([0.6, 0.1]))
        each.remove(1)
        for x in np.random.default_rng(1).random((30, 2)):
            each.append(x)
    for twin in twins:
        assert (twin.P.tobytes(), twin.Q.tobytes(), twin.drift) == (cache.P.tobytes(), cache.Q.tobytes(), cache.drift)


def test_a_copy_that_is_kept_holds_no_lower_triangles():
    n = 150
    X = np.random.default_rng(0).random((n, 2))
    cache = PrecisionCache(Kernel("matern52", np.array([0.5, 0.4]), 1.0), NOISE, X)
    assert len(pickle.dumps(cache)) < 3 * 8 * n * (n + 1) // 2 + 8 * 2 * n + 2_000
    for twin in (copy.deepcopy(cache), decode(encode(cache))):
        spoilt = copy.deepcopy(twin)
        below = np.tril(np.ones((n, n), dtype=bool), -1)
        for square in (spoilt._K, spoilt._P, spoilt._Q):
            square[:n, :n][below] = np.nan
        for each in (twin, spoilt):
            for index, x in enumerate(np.random.default_rng(1).random((30, 2))):
                each.replace(3 * index, x)
                each.append(1.0 - x)
                each.remove(index)
        assert (twin.P.tobytes(), twin.Q.tobytes(), twin.drift) == (
            spoilt.P.tobytes(),
            spoilt.Q.tobytes(),
            spoilt.drift,
        )
        assert twin.residual() < 1e-6


@pytest.mark.parametrize("change", [{"_n": 10**9}, {"_n": 4}, {"_Q": np.zeros(14)}, {"_P": np.zeros((5, 5))}])
def test_a_state_that_is_none_is_refused(change):
    cache = PrecisionCache(Kernel("rbf", np.array([0.5]), 1.0), NOISE, np.linspace(0.0, 1.0, 5)[:, None])
    with pytest.raises(ValueError, match="the state must hold triangles of 5 observations"):
        PrecisionCache.__new__(PrecisionCache).__setstate__(cache.__getstate__() | change)


def test_matches_only_its_own_hyperparameters():
    kernel = Kernel("rbf", np.array([0.5]), 1.0)
    cache = PrecisionCache(kernel, NOISE, np.array([[0.2]]))
    assert cache.matches(Kernel("rbf", np.array([0.5]), 1.0), NOISE)
    assert not cache.matches(kernel, np.nextafter(NOISE, 1.0))
    assert not cache.matches(Kernel("rbf", np.array([np.nextafter(0.5, 1.0)]), 1.0), NOISE)


def test_the_pool_given_is_not_shared():
    X = np.random.default_rng(0).random((5, 2))
    kept = X.copy()
    cache = PrecisionCache(Kernel("rbf", np.array([0.5, 0.5]), 1.0), NOISE, X)
    cache.replace(0, np.array([0.9, 0.9]))
    assert np.array_equal(X, kept)
    X[:] = 0.0
    assert cache.residual() < 1e-8


@pytest.mark.parametrize("n", [200, 257, 300, 517])
def test_the_precision_does_not_depend_on_the_threads(n):
    X = np.random.default_rng(n).random((n, 3))
    kernel = Kernel("matern52", np.full(3, 0.5), 1.3)
    alone, _ = precision_matrix(kernel, X, 1e-2)
    assert np.array_equal(
        alone, alone.T if alone.shape[1] == n else np.pad(alone[:, :n].T, ((0, 0), (0, alone.shape[1] - n)))
    )
    for threads in (2, 3, 7):
        assert np.array_equal(precision_matrix(kernel, X, 1e-2, threads=threads)[0], alone)
    np.testing.assert_allclose(alone[:, :n] @ (kernel(X) + 1e-2 * np.eye(n)), np.eye(n), atol=1e-9)


def test_a_workspace_gives_the_same_precision_and_its_memory_again():
    workspace, kernel = Workspace(), Kernel("matern52", np.array([0.3, 0.6]), 1.5)
    rng = np.random.default_rng(3)
    held = []
    for n in (70, 71, 40, 72):
        X = rng.random((n, 2))
        alone, _ = precision_matrix(kernel, X, 1e-2)
        P, _ = precision_matrix(kernel, X, 1e-2, workspace=workspace)
        np.testing.assert_array_equal(P[:, :n], alone[:, :n])
        held.append(P)
    assert np.shares_memory(held[0], held[1]) and np.shares_memory(held[1], held[3])
    assert not np.shares_memory(workspace.arrays(72)[0], copy.deepcopy(workspace).arrays(72)[0])
    assert len(pickle.dumps(workspace)) < 1_000

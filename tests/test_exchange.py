"""Exchange after the residual rule: as by dense solves, where ties and rounding decide, and what it is for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gssbo import reference as ref
from gssbo._core import _exchange
from gssbo.kernels import KERNELS
from tests.pools import chosen_by, log_theta, make_pool

FORM = np.array([1.0, 1.0, 1.0, 0.2])


def exchanged(X, z, theta, chosen, n_forced=0, most=10**6, kernel="matern52"):
    """What becomes of `chosen`, and how many were exchanged."""
    scales, variance, noise = ref.unpack(np.asarray(theta, dtype=float))
    chosen = np.array(chosen, dtype=np.intp)
    count = _exchange.exchange(KERNELS[kernel], X, scales.copy(), variance, noise, z, FORM, n_forced, most, chosen)
    return chosen.tolist(), count


def scores_given(K_y, z, retained):
    S, r = ref.conditional(K_y / K_y[0, 0], z, retained)
    return (S + r**2) / (S + 0.2)


def test_by_hand():
    """Of two near neighbours one says nothing the other does not; the far one is what is missing."""
    X = np.array([[0.0], [0.1], [50.0], [100.0]])
    z = np.array([1.0, 1.0, 1.5, 0.2])
    theta = np.log([1.0, 3.0, 1e-6])
    assert exchanged(X, z, theta, [0, 1]) == ([2, 1], 1)
    assert exchanged(X, z, theta, [0, 1], n_forced=1) == ([0, 2], 1)
    assert exchanged(X, z, theta, [0, 1], n_forced=2) == ([0, 1], 0)
    assert exchanged(X, z, theta, [0, 1], most=0) == ([0, 1], 0)
    # 3 is known no better than 2, and its response is less of a surprise: nothing to gain.
    assert exchanged(X, z, theta, [2, 1]) == ([2, 1], 0)


@pytest.mark.parametrize("kernel", sorted(KERNELS))
@pytest.mark.parametrize(("n", "d", "size", "f"), [(600, 2, 110, 37), (257, 5, 64, 0), (320, 3, 270, 3)])
def test_as_by_dense_solves(n, d, size, f, kernel):
    """Beyond a chunk of columns, and of orders whose factor is packed."""
    X, z = make_pool(n, d, seed=3)
    z = ref.standardise(z + 0.3 * np.random.default_rng(4).standard_normal(n))[0]
    theta = log_theta(d, lengthscale=0.25, noise=1e-2)
    forced = np.random.default_rng(5).permutation(n)[:f]
    K_y = ref.noisy_covariance(X, theta, kernel)
    greedy = chosen_by("residual", X, z, theta, size, forced, kernel)
    got = chosen_by("residual-exchange", X, z, theta, size, forced, kernel)
    assert got != greedy
    assert got[:f] == forced.tolist()
    assert got == ref.exchange_members(K_y, z, greedy, f).tolist()


@settings(max_examples=60, deadline=None)
@given(
    kernel=st.sampled_from(sorted(KERNELS)),
    side=st.integers(2, 6),
    copies=st.integers(1, 3),
    f=st.integers(0, 6),
    noise=st.sampled_from([1e-3, 0.02, 0.5]),
    seed=st.integers(0, 2**32 - 1),
)
def test_grids_full_of_ties(kernel, side, copies, f, noise, seed):
    """Symmetry and duplicates make scores equal but for rounding: the lowest position and member are taken."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*[np.arange(side) / (side - 1)] * 2), axis=-1).reshape(-1, 2)
    X = np.tile(grid, (copies, 1))
    z = np.tile(np.sign(grid[:, 0] - 0.5), copies)
    f = min(f, len(X) - 2)
    size = int(rng.integers(f + 1, len(X)))
    theta = np.log([0.7, 0.7, 1.0, noise])
    chosen = rng.permutation(len(X))[:size]
    expected = ref.exchange_members(ref.noisy_covariance(X, theta, kernel), z, chosen, f).tolist()
    assert exchanged(X, z, theta, chosen, f, size // 4, kernel)[0] == expected


@pytest.mark.parametrize("seed", range(5))
def test_at_the_end_no_single_exchange_gains(seed):
    """From a random subset; those that were given up on the way, which do not come back, aside."""
    X, z = make_pool(200, 3, seed)
    theta = log_theta(3)
    K_y = ref.noisy_covariance(X, theta, "matern52")
    start = np.random.default_rng(seed).permutation(200)[:40].tolist()
    members, count = exchanged(X, z, theta, start, n_forced=5)
    assert count > 10 and members[:5] == start[:5]
    seen = {a for k in range(count) for a in exchanged(X, z, theta, start, n_forced=5, most=k)[0]}
    alone = [scores_given(K_y, z, members[:i] + members[i + 1 :])[a] for i, a in enumerate(members)]
    weakest = 5 + int(np.argmin(alone[5:]))
    scores = scores_given(K_y, z, members[:weakest] + members[weakest + 1 :])
    never = np.setdiff1d(np.arange(200), [*members, *seen])
    assert scores[never].max() <= alone[weakest] * (1.0 + 1e-9)


def test_no_more_than_a_quarter():
    X, z = make_pool(200, 3)
    theta = log_theta(3)
    start = np.random.default_rng(0).permutation(200)[:40]
    members, count = exchanged(X, z, theta, start, most=10)
    assert count == 10 and sum(a != b for a, b in zip(members, start, strict=True)) <= 10
    greedy = chosen_by("residual", X, z, theta, 3)
    assert chosen_by("residual-exchange", X, z, theta, 3) == greedy


def test_what_determines_one_another_is_left_alone():
    """Copies without noise: their factor is singular, and the residual rule's choice stands."""
    X, z = make_pool(40, 2)
    X, z = np.vstack([X, X]), np.r_[z, z]
    theta = log_theta(2, noise=1e-30)
    forced = [0, 40, 1, 41]
    greedy = chosen_by("residual", X, z, theta, 20, forced)
    assert chosen_by("residual-exchange", X, z, theta, 20, forced) == greedy


def test_scale_and_sign_of_the_responses():
    X, z = make_pool(150, 2)
    base = chosen_by("residual-exchange", X, z, log_theta(2), 30)
    assert chosen_by("residual-exchange", X, -z, log_theta(2), 30) == base
    assert chosen_by("residual-exchange", X, z, log_theta(2, variance=4 * 1.7, noise=4e-3), 30) == base


def test_posterior_is_nearer_to_that_of_all_data():
    """Supremum of the mean's gap over 500 points, geometric mean over ten pools: what the exchange is for."""
    ratios = []
    for seed in range(10):
        X, z = make_pool(400, 4, seed)
        theta = log_theta(4, lengthscale=0.6, noise=1e-4)
        points = np.random.default_rng(seed).random((500, 4))
        whole = ref.posterior(X, z, points, theta)[0]
        gaps = []
        for rule in ("residual", "residual-exchange"):
            U = chosen_by(rule, X, z, theta, 60, range(20))
            gaps.append(np.max(np.abs(ref.posterior(X[U], z[U], points, theta)[0] - whole)))
        ratios.append(gaps[1] / gaps[0])
    assert np.exp(np.mean(np.log(ratios))) < 0.97

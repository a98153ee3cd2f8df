"""The average information of the exact likelihood, and the search that uses it."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from gssbo import reference as ref
from gssbo._core import _mle
from gssbo._mle import Climb, Likelihood, Prior, maximize_likelihood
from gssbo.kernels import KERNELS


def found(likelihood, theta):
    """M of the core, whole, and its diagonal."""
    likelihood(theta)
    p = len(theta)
    M = np.full((p, -(-p // 16) * 16), 7.0)
    _mle.average_information(likelihood.z, likelihood.factors, likelihood.known, theta, likelihood.work, M)
    upper = np.triu(M[:, :p])
    return upper + np.triu(upper, 1).T


def dense(name, X, z, theta, factors, known, step=1e-4):
    """g_k^T P g_l / 2, with derivatives of the covariance by central differences."""
    noise = np.diag(known) + np.exp(theta[-1]) * np.diag(factors)
    K = ref.kernel_matrix(X, X, theta, name)
    alpha = np.linalg.solve(K + noise, z)
    columns = []
    for move in step * np.eye(len(theta))[:-1]:
        above, below = (ref.kernel_matrix(X, X, theta + sign * move, name) for sign in (1.0, -1.0))
        columns.append((above - below) @ alpha / (2.0 * step))
    G = np.column_stack([*columns, np.exp(theta[-1]) * factors * alpha])
    return 0.5 * G.T @ np.linalg.solve(K + noise, G)


@pytest.mark.parametrize("name", sorted(KERNELS))
@pytest.mark.parametrize(
    ("n", "d"), [(1, 1), (2, 3), (16, 1), (17, 7), (40, 30), (255, 2), (256, 3), (257, 8), (300, 20)]
)
def test_it_is_the_formula(name, n, d):
    rng = np.random.default_rng([n, d])
    X, z = rng.random((n, d)), rng.standard_normal(n)
    factors, known = 1.0 / rng.integers(1, 5, n), rng.exponential(0.1, n)
    theta = np.log([*rng.uniform(0.3, 2.0, d) * np.sqrt(d), 1.4, 0.05])
    expected = dense(name, X, z, theta, factors, known)
    M = found(Likelihood(KERNELS[name], X, z, known, factors, curved=True), theta)
    np.testing.assert_allclose(M, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("shift", [0, 3])
@pytest.mark.parametrize("curved", [False, True])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (9, 14), (60, 30), (256, 6), (257, 8), (300, 20), (20, 254)])
def test_nothing_is_written_beside_the_scratch(n, d, curved, shift):
    rng = np.random.default_rng([n, d])
    likelihood = Likelihood(KERNELS["matern52"], rng.random((n, d)), rng.standard_normal(n), curved=curved)
    climb = Climb(likelihood, np.zeros(d + 2), np.tile([-9.0, 9.0], (d + 2, 1)), np.zeros(d), 1e-9)
    rooms = []
    for owner, name in ((likelihood, "work"), (climb, "_state")):
        size = len(getattr(owner, name))
        room = np.full(size + 300, -7.25)
        inside = slice(100 + shift, 100 + shift + size)
        room[inside] = 0.0
        setattr(owner, name, room[inside])
        rooms.append((room, inside))
    climb.advance(12)
    climb.advance(9)
    for room, inside in rooms:
        assert (np.delete(room, inside) == -7.25).all()


def test_it_is_near_the_hessian_where_the_model_is_right():
    """Responses drawn from the process itself: the mean of M and of the Hessian over many of them agree."""
    rng = np.random.default_rng(0)
    X, theta, step = rng.random((40, 2)), np.log([0.4, 0.8, 1.0, 0.05]), 1e-4
    root = np.linalg.cholesky(ref.kernel_matrix(X, X, theta) + 0.05 * np.eye(40))
    informations, hessians = [], []
    for z in rng.standard_normal((300, 40)) @ root.T:
        likelihood = Likelihood(KERNELS["matern52"], X, z, curved=True)
        informations.append(found(likelihood, theta))
        slopes = [(likelihood(theta + e)[1] - likelihood(theta - e)[1]) / (2.0 * step) for e in step * np.eye(4)]
        hessians.append(-np.array(slopes))
    expected = np.mean(hessians, axis=0)
    np.testing.assert_allclose(np.mean(informations, axis=0), expected, rtol=0, atol=0.1 * np.abs(expected).max())


def test_it_is_not_known_where_rounding_would_be_too_large():
    X = np.array([[0.0], [1.0], [1.0 + 1e-9]])
    M = found(Likelihood(KERNELS["matern52"], X, np.array([1.0, 2.0, -2.0]), curved=True), np.log([1e-9, 1.0, 1e-12]))
    assert np.isnan(np.diag(M)).all()


def waves(n, d, seed, noise=0.1):
    rng = np.random.default_rng([seed, n, d])
    X = rng.random((n, d))
    z = ref.standardise(np.sin(X @ rng.uniform(0.0, 6.0, d)) + noise * rng.standard_normal(n))[0]
    bounds = np.log([*[(1e-2, 1e3)] * d, (1e-4, 1e4), (1e-6, 1e1)])
    return X, z, np.log([*[0.5 * np.sqrt(d)] * d, 1.0, 1e-2]), bounds


@pytest.mark.parametrize(("n", "d"), [(60, 5), (200, 6), (100, 20), (60, 40)])
def test_with_it_a_climb_ends_as_high_in_fewer_evaluations(n, d):
    """Not each of them: where there are several maxima, now one search finds the higher one and now the other."""
    values, spent = [], []
    for seed in range(6):
        X, z, start, bounds = waves(n, d, seed)
        for curved in (False, True):
            climb = Climb(Likelihood(KERNELS["matern52"], X, z, curved=curved), start, bounds, np.zeros(d), 1e-7)
            climb.advance(2000)
            assert climb.status == _mle.CONVERGED
            values.append(climb.value)
            spent.append(climb._likelihood.n_evaluations)
    assert np.median(np.subtract(values[1::2], values[::2])) > -1e-3
    assert np.sum(spent[1::2]) < 0.8 * np.sum(spent[::2])


def test_a_prior_is_part_of_the_curvature():
    """A narrow prior far from what the responses say: the search ends at its mean, in a few steps."""
    X, z, start, bounds = waves(60, 5, 0)
    centre = start + 1.0
    prior = Prior(centre, np.full(7, 1e6))
    climb = Climb(Likelihood(KERNELS["rbf"], X, z, curved=True), start, bounds, np.full(5, np.inf), 1e-9, prior=prior)
    climb.advance(2000)
    np.testing.assert_allclose(climb.theta, centre, atol=1e-3)
    assert climb._likelihood.n_evaluations < 20


def test_a_climb_in_parts_ends_where_a_whole_one_does():
    X, z, start, bounds = waves(60, 5, 1)
    values = []
    for part in (1, 3, 7, 2000):
        climb = Climb(Likelihood(KERNELS["matern52"], X, z, curved=True), start, bounds, np.zeros(5), 1e-9)
        while climb.status == _mle.LIMIT:
            climb.advance(part)
        values.append(climb.value)
    np.testing.assert_allclose(values, values[-1], atol=1e-3)


def test_climbs_may_share_a_workspace():
    """Taking turns with one they end where they do with two of their own."""
    X, z, start, bounds = waves(60, 5, 2)
    starts = [start, start + 0.5]

    def ends(*likelihoods):
        climbs = [
            Climb(likelihood, start, bounds, np.zeros(5), 1e-7)
            for likelihood, start in zip(likelihoods, starts, strict=True)
        ]
        for _ in range(40):
            for climb in climbs:
                climb.advance(5)
        return [(climb.value, climb.theta.tolist()) for climb in climbs]

    shared = Likelihood(KERNELS["matern52"], X, z, curved=True)
    assert ends(shared, shared) == ends(shared.twin(), shared.twin())


@pytest.mark.parametrize("n_starts", [1, 3])
def test_the_search_does_not_depend_on_threads(n_starts):
    X, z, _, bounds = waves(280, 3, 3)
    starts = np.log(np.random.default_rng(1).uniform(0.1, 1.0, (n_starts, 5)))
    outcomes = []
    for threads in (1, 2, 4):
        with threadpool_limits(threads):
            likelihood = Likelihood(KERNELS["matern52"], X, z, curved=True)
            best = maximize_likelihood(likelihood, starts, bounds, np.zeros(3), threads=threads)
            outcomes.append((best.value, best.n_evaluations, best.theta.tolist()))
    assert outcomes[0] == outcomes[1] == outcomes[2]


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_what_interrupts_it_ends_the_search(error):
    X, z, start, bounds = waves(280, 3, 4)
    likelihood = Likelihood(KERNELS["matern52"], X, z, curved=True)

    def interrupted(theta, M):
        raise error

    likelihood._inform = interrupted
    with pytest.raises(error):
        maximize_likelihood(likelihood, start[None], bounds, np.zeros(3), threads=2)


def test_a_search_that_never_gets_it_goes_on_without():
    """What is known of the curvature by differences is kept then."""
    X, z, start, bounds = waves(280, 5, 5)
    spent = []
    for curved in (False, True):
        likelihood = Likelihood(KERNELS["matern52"], X, z, curved=curved)
        likelihood._inform = lambda theta, M: np.asarray(M).fill(np.nan)
        spent.append(maximize_likelihood(likelihood, start[None], bounds, np.zeros(5), threads=2).n_evaluations)
    assert spent[1] < 1.5 * spent[0]


def test_of_very_many_parameters_none_is_made():
    rng = np.random.default_rng(0)
    for d, curved in ((254, True), (255, False)):
        assert Likelihood(KERNELS["rbf"], rng.random((5, d)), rng.standard_normal(5), curved=True).curved is curved

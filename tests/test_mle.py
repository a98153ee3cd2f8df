"""The likelihood, its gradient and the search for its maximum."""

import threading
from functools import partial

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from gssbo import _parallel
from gssbo import reference as ref
from gssbo._mle import Climb, Likelihood, maximize_likelihood
from gssbo.kernels import KERNELS

NAMES = sorted(KERNELS)
EDGES = [1, 2, 3, 8, 15, 16, 17, 31, 33, 64, 65, 128, 129, 255, 256, 257, 258, 300]


def no_reach(d):
    """Every lengthscale searched by its logarithm."""
    return np.full(d, np.inf)


def setting(n, d, seed):
    rng = np.random.default_rng([seed, n, d])
    theta = np.log([*rng.uniform(0.2, 2.0, d) * np.sqrt(d), rng.uniform(0.5, 2.0), 10 ** rng.uniform(-3, -1)])
    return rng.random((n, d)), rng.standard_normal(n), theta


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("n", EDGES)
def test_value_and_gradient_are_the_references(name, n):
    """Value relative to itself, gradient relative to its largest entry."""
    X, z, theta = setting(n, 3, 0)
    value, gradient = Likelihood(KERNELS[name], X, z)(theta)
    expected, slope = ref.log_marginal_likelihood(X, z, theta, name)
    assert value == pytest.approx(expected, rel=1e-11)
    np.testing.assert_allclose(gradient, slope, rtol=0, atol=1e-10 * np.abs(slope).max())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 3), (20, 1), (40, 6), (70, 20)])
def test_gradient_by_finite_differences(name, n, d):
    X, z, theta = setting(n, d, 1)
    likelihood, step = Likelihood(KERNELS[name], X, z), 1e-3
    gradient = likelihood(theta)[1]
    slope = np.empty_like(theta)
    for j, e in enumerate(step * np.eye(len(theta))):
        a, b, c, f = (likelihood(theta + m * e)[0] for m in (-2, -1, 1, 2))
        slope[j] = (a - 8 * b + 8 * c - f) / (12 * step)
    np.testing.assert_allclose(gradient, slope, rtol=0, atol=1e-8 * max(1.0, np.abs(slope).max()))


@pytest.mark.parametrize("n", [1, 17, 64, 300])
def test_noise_factors_weigh_the_diagonal(n):
    """L and its slope in the noise against the dense formulas, the other slopes against differences."""
    X, z, theta = setting(n, 2, 4)
    factors, known = 1.0 / np.random.default_rng(n).integers(1, 20, n), np.linspace(0.0, 0.1, n)
    likelihood = Likelihood(KERNELS["matern52"], X, z, known, factors)
    value, gradient = likelihood(theta)
    noise = np.exp(theta[-1]) * np.diag(factors)
    K = ref.kernel_matrix(X, X, theta) + noise + np.diag(known)
    P = np.linalg.inv(K)
    assert value == pytest.approx(-0.5 * (z @ P @ z + np.linalg.slogdet(2 * np.pi * K)[1]), rel=1e-11)
    assert gradient[-1] == pytest.approx(0.5 * np.trace((np.outer(P @ z, P @ z) - P) @ noise), rel=1e-9, abs=1e-11)
    for j, step in enumerate(1e-5 * np.eye(4)):
        slope = (likelihood(theta + step)[0] - likelihood(theta - step)[0]) / 2e-5
        assert gradient[j] == pytest.approx(slope, abs=1e-6 * max(1.0, np.abs(gradient).max()))
    np.testing.assert_array_equal(likelihood.twin()(theta)[1], gradient)


def test_duplicates_give_a_finite_gradient_in_every_kernel():
    X, z = np.array([[0.2, 0.6], [0.2, 0.6], [0.8, 0.6]]), np.array([-0.5, -0.3, 0.8])
    for name in NAMES:
        value, gradient = Likelihood(KERNELS[name], X, z)(np.log([0.4, 0.7, 1.5, 0.02]))
        assert np.isfinite(value) and np.isfinite(gradient).all()


def test_nan_where_the_covariance_is_singular():
    likelihood = Likelihood(KERNELS["rbf"], np.zeros((3, 1)), np.ones(3))
    theta = np.array([0.0, 0.0, -np.inf])
    assert np.isnan(likelihood(theta)[0])
    assert likelihood.n_evaluations == 1


def test_the_search_reaches_the_references_maximum():
    X, z, _ = setting(30, 2, 3)
    z = ref.standardise(np.sin(6 * X[:, 0]) + X[:, 1] + 0.1 * z)[0]
    bounds = np.log([(1e-2, 1e2), (1e-2, 1e2), (1e-4, 1e4), (1e-6, 1e1)])
    starts = np.log([[0.7, 0.7, 1.0, 1e-2], [0.1, 3.0, 2.0, 1e-4]])
    found = maximize_likelihood(Likelihood(KERNELS["matern52"], X, z), starts, bounds, no_reach(2))
    theta = ref.fit_theta(X, z, starts[0], np.random.default_rng(0), "matern52", 3, bounds)
    best = ref.log_marginal_likelihood(X, z, theta)[0]
    assert found.success and found.n_starts == 2 and found.n_evaluations > 2
    assert found.value == pytest.approx(best, abs=1e-4)
    value, gradient = ref.log_marginal_likelihood(X, z, found.theta)
    assert found.value == pytest.approx(value, rel=1e-10)
    assert np.abs(gradient).max() < 1e-2
    assert (bounds[:, 0] <= found.theta).all() and (found.theta <= bounds[:, 1]).all()


def test_the_best_start_wins():
    """Alone, the bad start ends in a worse maximum; beside a good one it does no harm, whatever the order."""
    X = np.linspace(0, 1, 20)[:, None]
    z = ref.standardise(np.sin(20 * X[:, 0]))[0]
    bounds = np.log([(1e-2, 1e2), (1e-4, 1e4), (1e-6, 1e1)])
    bad, good = np.log([[50.0, 1e-3, 5.0]]), np.log([[0.2, 1.0, 1e-3]])
    likelihood = Likelihood(KERNELS["matern52"], X, z)
    alone = maximize_likelihood(likelihood, bad, bounds, no_reach(1))
    best = maximize_likelihood(likelihood, good, bounds, no_reach(1))
    assert alone.value < best.value - 1.0
    for starts in (np.vstack([bad, good]), np.vstack([good, bad])):
        both = maximize_likelihood(likelihood, starts, bounds, no_reach(1))
        assert both.value == best.value and np.array_equal(both.theta, best.theta)


def test_a_start_far_behind_runs_half_of_a_race():
    X = np.linspace(0, 1, 60)[:, None]
    z = ref.standardise(np.sin(20 * X[:, 0]))[0]
    bounds = np.log([(1e-2, 1e2), (1e-4, 1e4), (1e-6, 1e1)])
    good, close, far = [0.2, 1.0, 1e-3], [0.21, 1.0, 1e-3], [50.0, 1e-3, 5.0]

    def search(*starts):
        likelihood = Likelihood(KERNELS["matern52"], X, z)
        return maximize_likelihood(likelihood, np.log(starts), bounds, no_reach(1))

    best, beside_close, beside_far = search(good), search(good, close), search(good, far)
    assert beside_far.value == best.value and np.array_equal(beside_far.theta, best.theta)
    assert beside_close.n_evaluations - best.n_evaluations >= 8
    assert beside_far.n_evaluations - best.n_evaluations == 4


def test_an_earlier_maximum_waits_for_the_others():
    X = np.linspace(0, 1, 20)[:, None]
    z = ref.standardise(np.sin(20 * X[:, 0]))[0]
    bounds = np.log([(1e-2, 1e2), (1e-4, 1e4), (1e-6, 1e1)])

    def search(*starts, **options):
        likelihood = Likelihood(KERNELS["matern52"], X, z)
        return maximize_likelihood(likelihood, np.log(starts), bounds, no_reach(1), **options)

    bad, good = [50.0, 1e-3, 5.0], [0.2, 1.0, 1e-3]
    best = search(good)
    passed = search(bad, good, warm=True)
    assert passed.value == best.value and np.array_equal(passed.theta, best.theta)
    assert passed.n_evaluations == best.n_evaluations + 1
    stands = search(np.exp(best.theta), bad, warm=True)
    assert stands.value >= best.value and stands.n_evaluations < search(bad).n_evaluations


def steep(n=40):
    """Responses that depend on both inputs, and bounds in which a lengthscale may be switched off."""
    X = np.random.default_rng(8).random((n, 2))
    bounds = np.log([(1e-3, 1e5), (1e-3, 1e5), (1e-4, 1e4), (1e-6, 1e1)])
    return X, ref.standardise(np.sin(5 * X[:, 0]) + np.cos(4 * X[:, 1]))[0], bounds


def test_the_reach_does_not_move_the_maximum():
    X, z, bounds = steep()
    start = np.log([[0.5, 0.5, 1.0, 1e-2]])
    likelihood = Likelihood(KERNELS["matern52"], X, z)
    plain, soft = (
        maximize_likelihood(likelihood, start, bounds, reach, tol=1e-10) for reach in (no_reach(2), np.zeros(2))
    )
    assert soft.value == pytest.approx(plain.value, abs=1e-5)
    np.testing.assert_allclose(soft.theta, plain.theta, atol=2e-2)


def test_a_switched_off_lengthscale_comes_back():
    """By its logarithm it would stay: there the likelihood is flat to the last digit."""
    X, z, bounds = steep()
    off, on = np.log([[0.5, 1e5, 1.0, 1e-2]]), np.log([[0.5, 0.5, 1.0, 1e-2]])
    likelihood = Likelihood(KERNELS["matern52"], X, z)
    best = maximize_likelihood(likelihood, on, bounds, np.zeros(2))
    back = maximize_likelihood(likelihood, off, bounds, np.zeros(2))
    stuck = maximize_likelihood(likelihood, off, bounds, no_reach(2))
    assert back.value == pytest.approx(best.value, abs=1e-2)
    assert stuck.value < best.value - 10.0 and stuck.theta[1] > bounds[1, 1] - 1e-3


def test_a_climb_goes_on_where_it_stopped():
    X, z, bounds = steep()
    start = np.log([0.1, 2.0, 1.0, 0.5])
    whole = Climb(Likelihood(KERNELS["matern52"], X, z), start, bounds, np.zeros(2), 1e-6)
    whole.advance(1000)
    likelihood = Likelihood(KERNELS["matern52"], X, z)
    parts = Climb(likelihood, start, bounds, np.zeros(2), 1e-6)
    heights = []
    for _ in range(200):
        parts.advance(2)
        heights.append(parts.value)
    assert heights[0] < heights[3] < heights[-1] == whole.value
    assert np.array_equal(parts.theta, whole.theta) and parts.status == whole.status
    spent = likelihood.n_evaluations
    parts.advance(100)
    assert likelihood.n_evaluations == spent


def test_a_hopeless_search_says_so():
    X, z = np.zeros((3, 1)), np.array([1.0, 2.0, 3.0])
    start = np.array([[0.0, 0.0, np.log(1e-30)]])
    bounds = np.array([[0.0, 0.0], [0.0, 0.0], np.log([1e-30, 1e-30])])
    found = maximize_likelihood(Likelihood(KERNELS["rbf"], X, z), start, bounds, no_reach(1))
    assert not found.success and "finite" in found.message
    assert np.array_equal(found.theta, start[0])


def test_starts_outside_the_bounds_are_clipped_and_not_changed():
    X, z, _ = setting(10, 1, 4)
    bounds = np.log([(0.1, 1.0), (0.5, 2.0), (1e-3, 1e-1)])
    starts = np.log([[1e6, 1e6, 1e-12]])
    kept = starts.copy()
    found = maximize_likelihood(Likelihood(KERNELS["rbf"], X, z), starts, bounds, no_reach(1))
    assert found.success and np.array_equal(starts, kept)
    assert (bounds[:, 0] <= found.theta).all() and (found.theta <= bounds[:, 1]).all()


def test_results_do_not_depend_on_blas_threads():
    X, z, theta = setting(300, 5, 6)
    outcomes = []
    for threads in (1, 2):
        with threadpool_limits(threads, user_api="blas"):
            outcomes.append(Likelihood(KERNELS["matern52"], X, z)(theta))
    assert outcomes[0][0] == outcomes[1][0]
    assert np.array_equal(outcomes[0][1], outcomes[1][1])


# ---- several threads


@pytest.mark.parametrize(("n", "d"), [(256, 2), (257, 1), (300, 5), (390, 21), (523, 9)])
def test_the_likelihood_does_not_depend_on_our_threads(n, d):
    X, z, theta = setting(n, d, n)
    known = np.random.default_rng(n).exponential(0.1, n)
    alone = Likelihood(KERNELS["matern52"], X, z, known)(theta)
    for threads in (2, 3, 8):
        together = Likelihood(KERNELS["matern52"], X, z, known, threads=threads)
        for _ in range(3):
            value, gradient = together(theta)
            assert value == alone[0] and np.array_equal(gradient, alone[1])


def test_several_threads_agree_that_there_is_no_value():
    """Singular from the first pivot on, in the second and third block of rows, and only by rounding."""
    n = 400
    for twin in (1, 150, 399):
        X = np.linspace(0.0, 30.0, n)[:, None] ** 2
        X[twin] = X[0]
        for noise in (1e-40, 1e-16):
            theta = np.log([1e-3, 1.0, noise])
            for threads in (1, 2, 4):
                value, _ = Likelihood(KERNELS["rbf"], X, np.ones(n), threads=threads)(theta)
                assert np.isnan(value)


@pytest.mark.parametrize("n_starts", [1, 3])
def test_the_search_does_not_depend_on_our_threads(n_starts):
    X, z, bounds = steep(280)
    starts = np.log(np.random.default_rng(1).uniform(0.1, 1.0, (n_starts, 4)))
    found = [
        maximize_likelihood(Likelihood(KERNELS["matern52"], X, z), starts, bounds, np.zeros(2), threads=threads)
        for threads in (1, 2, 4)
    ]
    for other in found[1:]:
        assert np.array_equal(found[0].theta, other.theta)
        assert (found[0].value, found[0].n_evaluations) == (other.value, other.n_evaluations)


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_what_interrupts_a_shared_evaluation_ends_the_search(error):
    X, z, bounds = steep(280)
    likelihood = Likelihood(KERNELS["matern52"], X, z)
    evaluate, calls = likelihood._evaluate, []

    def interrupted(theta):
        calls.append(theta)
        if len(calls) == 3:
            raise error
        return evaluate(theta)

    likelihood._evaluate = interrupted
    with pytest.raises(error):
        maximize_likelihood(likelihood, np.log([[0.1, 2.0, 1.0, 0.5]]), bounds, np.zeros(2), threads=2)
    assert len(calls) == 3


def test_threads_that_are_busy_elsewhere_are_not_waited_for():
    """All workers are held up: the caller does everything itself."""
    X, z, theta = setting(300, 4, 0)
    expected = Likelihood(KERNELS["matern52"], X, z)(theta)
    release = threading.Event()
    try:
        _parallel._workers.submit(partial(release.wait, 60.0), 3)
        value, gradient = Likelihood(KERNELS["matern52"], X, z, threads=4)(theta)
    finally:
        release.set()
    assert value == expected[0] and np.array_equal(gradient, expected[1])


# ---- known noise


@pytest.mark.parametrize("name", list(KERNELS))
def test_known_noise_is_on_the_diagonal_of_the_likelihood(name):
    """Value against the dense formula, gradient against central differences of it."""
    rng = np.random.default_rng(0)
    X, z, known = rng.random((30, 2)), rng.standard_normal(30), rng.exponential(0.3, 30) * (rng.random(30) < 0.5)
    theta = np.log([0.4, 0.9, 1.3, 0.05])

    def dense(theta):
        K = ref.kernel_matrix(X, X, theta, name) + np.diag(np.exp(theta[-1]) + known)
        return -0.5 * z @ np.linalg.solve(K, z) - 0.5 * np.linalg.slogdet(K)[1] - 15.0 * np.log(2.0 * np.pi)

    value, gradient = Likelihood(KERNELS[name], X, z, known)(theta)
    np.testing.assert_allclose(value, dense(theta), rtol=1e-12)
    for k in range(4):
        step = np.zeros(4)
        step[k] = 1e-5
        np.testing.assert_allclose(
            gradient[k], (dense(theta + step) - dense(theta - step)) / 2e-5, rtol=1e-6, atol=1e-8
        )
    without = Likelihood(KERNELS[name], X, z, np.zeros(30))(theta)
    assert without[0] == Likelihood(KERNELS[name], X, z)(theta)[0]

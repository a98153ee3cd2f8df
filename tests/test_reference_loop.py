"""The oracle's loop: Algorithm 1, step by step."""

import numpy as np
import pytest
from scipy.stats import norm, qmc

from gssbo import reference as ref
from tests.oracles import RULES, normal_h, sklearn_model

BOX = np.array([(-2.0, 3.0), (10.0, 14.0)])
THETA = np.log([0.4, 0.6, 1.0, 1e-3])


def bowl(x):
    return float((x[0] - 0.5) ** 2 + np.cos(x[1]))


def run(**options):
    settings = {"n_init": 5, "subset_size": 9, "theta": THETA, "n_candidates": 60, "rng": 0} | options
    return ref.reference_loop(bowl, BOX, settings.pop("n_evals", 16), **settings)


class Clock:
    """Every iteration takes the next of the given seconds."""

    def __init__(self, seconds):
        self.seconds, self.now, self.calls = seconds, 0.0, 0

    def __call__(self):
        self.calls += 1
        if self.calls % 2 == 0:
            self.now += self.seconds[self.calls // 2 - 1]
        return self.now


@pytest.mark.parametrize("rule", RULES)
def test_loop_repeats_itself(rule):
    one, two, other = run(rule=rule), run(rule=rule), run(rule=rule, rng=1)
    np.testing.assert_array_equal(one.X, two.X)
    np.testing.assert_array_equal(one.y, two.y)
    assert [kept.tolist() for kept in one.retained] == [kept.tolist() for kept in two.retained]
    assert not np.array_equal(one.X, other.X)


def test_loop_first_steps_by_hand():
    got = run(n_evals=7)
    design_rng, _, _, candidate_rng = np.random.default_rng(0).spawn(4)

    U = qmc.LatinHypercube(2, rng=design_rng).random(5)
    np.testing.assert_allclose(got.X[:5], BOX[:, 0] + U * (BOX[:, 1] - BOX[:, 0]))
    for n in (5, 6):
        y = -np.array([bowl(x) for x in got.X[:n]])
        candidates = candidate_rng.random((60, 2))
        X = (got.X[:n] - BOX[:, 0]) / (BOX[:, 1] - BOX[:, 0])
        mean, std = sklearn_model(X, (y - y.mean()) / y.std(), THETA, "matern52").predict(candidates, return_std=True)
        best = candidates[np.argmax(mean + np.sqrt(2) * np.sqrt(std**2 - 1e-3))]
        np.testing.assert_allclose(got.X[n], BOX[:, 0] + best * (BOX[:, 1] - BOX[:, 0]))


def test_loop_retains_what_algorithm_1_says():
    got = run()
    assert [len(kept) for kept in got.retained] == [5, 6, 7, 8, 9, 9, 9, 9, 9, 9, 9]
    assert (got.M, got.switched_at) == (9, 10)
    for n, kept in enumerate(got.retained, start=5):
        assert {0, 1, 2, 3, 4, n - 1} <= set(kept.tolist())
        assert np.all(np.diff(kept) > 0)
    X, y = ref.to_unit(got.X, BOX), -got.y
    for n in (10, 13, 15):
        P = np.linalg.inv(ref.noisy_covariance(X[:n], THETA))
        assert sorted(ref.select_vector(P, 9, [0, 1, 2, 3, 4, n - 1])) == got.retained[n - 5].tolist()
    assert np.ptp(y) > 0


def test_loop_draws_its_selections_from_the_second_stream():
    got, stream = run(rule="random"), np.random.default_rng(0).spawn(4)[1]
    for n in range(10, 16):
        free = np.arange(5, n - 1)
        expected = [0, 1, 2, 3, 4, n - 1, *free[stream.permutation(len(free))[:3]]]
        assert got.retained[n - 5].tolist() == sorted(expected)


@pytest.mark.parametrize(("d", "count"), [(10, 10_000), (11, 5_000), (50, 5_000), (51, 2_000)])
def test_candidates_by_dimension(monkeypatch, d, count):
    seen = []

    def posterior(X, z, Q, theta, kernel):
        seen.append(Q.shape)
        return np.zeros(len(Q)), np.ones(len(Q))

    monkeypatch.setattr(ref.loop, "posterior", posterior)
    ref.reference_loop(np.sum, [(0, 1)] * d, 4, n_init=3, theta=np.zeros(d + 2), rng=0)
    assert seen == [(count, d)]


def test_loop_options_change_what_is_retained():
    window = run(pool=3, n_evals=20)
    assert window.retained[-1].tolist() == [0, 1, 2, 3, 4, 16, 17, 18]  # 8 of M = 9: the pool is smaller
    free = run(rule="random", retain_initial=False, n_evals=24)
    assert any(0 not in kept for kept in free.retained)
    assert all(n - 1 in kept for n, kept in enumerate(free.retained, start=5))
    assert any(n - 1 not in kept for n, kept in enumerate(run(retain_newest=False).retained, start=5))


def test_maximize_mirrors_the_sign():
    up = ref.reference_loop(
        lambda x: -bowl(x),
        BOX,
        16,
        n_init=5,
        subset_size=9,
        theta=THETA,
        n_candidates=60,
        rng=0,
        maximize=True,
    )
    np.testing.assert_array_equal(up.X, run().X)


def test_dynamic_rule_switches_once():
    slow = Clock([1, 1, 1, 1, 1, 3, 9, 9, 9, 9, 9])  # medians of three: 1, 3, then 9 > 4 after the eighth
    got = run(dynamic_factor=4.0, clock=slow)
    assert (got.M, got.switched_at) == (13, 14)  # 5 initial and 8 suggestions, then one more
    assert [len(kept) for kept in got.retained] == [5, 6, 7, 8, 9, 10, 11, 12, 13, 13, 13]
    assert run(dynamic_factor=4.0, clock=Clock([1] * 5 + [3.9] * 6)).M is None
    one_spike = run(dynamic_factor=4.0, clock=Clock([1] * 6 + [50] + [1] * 4))
    assert (one_spike.M, one_spike.switched_at) == (None, None)


def test_fitted_loop_refits_as_asked():
    every = run(theta=None, n_evals=13, n_restarts=0)
    assert all(not np.array_equal(a, b) for a, b in zip(every.theta[:-1], every.theta[1:], strict=True))
    third = run(theta=None, n_evals=13, n_restarts=0, refit=3)
    changed = [not np.array_equal(a, b) for a, b in zip(third.theta[:-1], third.theta[1:], strict=True)]
    assert changed == [False, False, True, False, False, True, False]
    frozen = run(theta=None, n_evals=14, n_restarts=0, refit="frozen")
    assert all(np.array_equal(theta, frozen.theta[4]) for theta in frozen.theta[4:])  # switched at n = 10
    assert not np.array_equal(frozen.theta[3], frozen.theta[4])


def test_a_long_history_before_any_fit_starts_from_an_even_subset():
    got = run(theta=None, n_init=12, subset_size=6, retain_initial=False, n_evals=14, n_restarts=0)
    assert [len(kept) for kept in got.retained] == [6, 6]
    assert ref.bulk_indices(12, 6, np.array([11])).tolist() == [0, 2, 5, 8, 10, 11]


@pytest.mark.parametrize("acquisition", ["ei", "log_ei", "pi"])
def test_other_acquisitions_pick_from_the_same_candidates(acquisition):
    got = run(acquisition=acquisition, n_evals=6)
    candidates = np.random.default_rng(0).spawn(4)[3].random((60, 2))
    y = -got.y[:5]
    z = ref.standardise(y)[0]
    moments = ref.posterior(ref.to_unit(got.X[:5], BOX), z, candidates, THETA)
    best = np.max(z)
    t = (moments[0] - best) / moments[1]
    scores = norm.cdf(t) if acquisition == "pi" else moments[1] * normal_h(t)
    np.testing.assert_array_equal(got.X[5], ref.to_user(candidates[np.argmax(scores)], BOX))


def test_units_round_trip_and_clip():
    x = np.array([[-2.0, 14.0], [0.3, 11.0]])
    np.testing.assert_allclose(ref.to_user(ref.to_unit(x, BOX), BOX), x, rtol=1e-15)
    np.testing.assert_array_equal(ref.to_unit(np.array([-3.0, 20.0]), BOX), [0, 1])
    np.testing.assert_array_equal(ref.to_user(np.array([-0.1, 1.1]), BOX), [-2, 14])

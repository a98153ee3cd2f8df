"""The oracle's selection rules and acquisitions, against numbers worked by hand."""

import numpy as np
import pytest
from scipy.stats import norm

from gssbo import reference as ref
from tests.oracles import LOG_H, LOG_H_SLOPES, RULES, make_data, normal_h

# Four points worked by hand. P is diagonal plus one pair: columns (1,0,0,0), (0,2,0,0), (0,0,1,1), (0,0,1,2).
# Norms 1, 2, sqrt(2), sqrt(5); only points 2 and 3 are not orthogonal: C_23 = (1 + 2) / sqrt(10) = 0.948683.
HAND_P = np.array([[1.0, 0, 0, 0], [0, 2, 0, 0], [0, 0, 1, 1], [0, 0, 1, 2]])


def test_hand_cosines():
    expected = np.eye(4)
    expected[2, 3] = expected[3, 2] = 3 / np.sqrt(10)
    np.testing.assert_allclose(ref.cosines(HAND_P), expected, atol=1e-15)


@pytest.mark.parametrize(
    ("size", "forced", "expected"),
    [
        (3, (), [0, 1, 2]),  # h = 0 throughout: 0; then 1, 2, 3 tie at 0
        (2, (3,), [3, 0]),  # h = (0, 0, 0.95): 0 and 1 tie
        (3, (3, 1), [3, 1, 0]),  # h_0 = 0 against h_2 = 0.95
        (4, (2, 0), [2, 0, 1, 3]),  # everything: forced, the rest ascending
        (6, (3,), [3, 0, 1, 2]),  # more than there are
    ],
)
def test_hand_vector(size, forced, expected):
    assert ref.select_vector(HAND_P, size, forced).tolist() == expected


def test_hand_vector_takes_opposite_directions_first():
    # Columns at 0, 60 and 120 degrees of one plane, and one apart: C_02 = -1/2 beats the orthogonal point 3.
    angle = np.pi / 3
    V = np.array([[1, 0, 0], [np.cos(angle), np.sin(angle), 0], [np.cos(2 * angle), np.sin(2 * angle), 0], [0, 0, 1]])
    C = V @ V.T
    assert ref.greedy_cosine(C, 2, (0,)).tolist() == [0, 2]
    assert ref.greedy_cosine(C, 3, (0,)).tolist() == [0, 2, 3]  # h_1 = 1/2 + 1/2, h_3 = 0


def test_hand_scalar():
    # Signs + + - +: after 0 the first negative one (h = -1), then h = (., 0, ., 0): 1 before 3.
    assert ref.select_scalar(np.array([2.0, 0.1, -3.0, 1.0]), 3).tolist() == [0, 2, 1]
    # |s| < 1e-12 counts by its size over the floor: v = (1, -1e-4, -0.5, -1), so 3 is the most negative.
    assert ref.select_scalar(np.array([5.0, -1e-16, -5e-13, -1e-3]), 3, (0,)).tolist() == [0, 3, 1]


def test_hand_random():
    rng = np.random.default_rng(3)
    drawn = np.random.default_rng(3).permutation(3)  # of the unforced 0, 1, 3
    assert ref.select_random(4, 3, (2,), rng).tolist() == [2, *np.array([0, 1, 3])[drawn[:2]]]
    before = rng.bit_generator.state
    assert ref.select_random(4, 4, (2,), rng).tolist() == [2, 0, 1, 3]
    assert rng.bit_generator.state == before


@pytest.mark.parametrize(
    ("forced", "uniforms", "expected"),
    [
        # From 3: D = (2, 2, 2 - 6 / sqrt(10)) = (2, 2, 0.1026), cumulative 2, 4, 4.1026.
        ((3,), [0.0], [3, 0]),
        ((3,), [0.48], [3, 0]),  # 0.48 * 4.1026 = 1.969 < 2
        ((3,), [0.49], [3, 1]),  # 2.010 > 2
        ((3,), [0.97], [3, 1]),  # 3.980 < 4
        ((3,), [0.98], [3, 2]),  # 4.021 > 4
        ((3,), [0.49, 0.99], [3, 1, 2]),  # then D = (2, 0.1026) over 0 and 2: 2.0816 > 2
        ((), [0.74, 0.0], [2, 0]),  # floor(0.74 * 4)
        ((), [0.99, 0.97], [3, 1]),
    ],
)
def test_hand_kmeans(forced, uniforms, expected):
    size = len(expected)
    assert ref.select_kmeans(HAND_P, size, forced, np.array(uniforms)).tolist() == expected


def test_hand_topk_random():
    """Of five in nine the best quarter is one; the forced are taken already, whatever their responses."""
    y = np.array([5.0, 1.0, 9.0, 3.0, 8.0, 2.0, 7.0, 8.0, 0.0])
    drawn = np.random.default_rng(4).permutation([0, 1, 3, 5, 6, 7, 8])[:3]
    assert ref.select_topk_random(y, 5, [2], np.random.default_rng(4)).tolist() == [2, 4, *drawn]
    assert ref.select_topk_random(y, 9, [2], np.random.default_rng(4)).tolist() == [2, 0, 1, 3, 4, 5, 6, 7, 8]


def test_kmeans_of_nothing_left_is_the_lowest():
    C = np.ones((4, 4))  # all columns parallel
    assert ref.select_kmeans(C, 3, (2,), np.array([0.99, 0.99])).tolist() == [2, 0, 1]


def test_kmeans_never_draws_what_has_no_weight():
    P = np.eye(5)
    P[:4, :4] = 1  # four parallel columns of norm 2, so D = (0, 0, 0, 2) from 0
    assert ref.select_kmeans(P, 2, (0,), np.array([0.0])).tolist() == [0, 4]


def test_hand_maxmin():
    # On a line at 0, 1, 2.5 and 3: after 0 comes 3, then min(1, 2) at 1 against min(2.5, 0.5) at 2.5.
    K = ref.kernel_matrix(*[np.array([[0.0], [1.0], [2.5], [3.0]])] * 2, np.log([1.0, 2.0, 0.1]))
    assert ref.select_maxmin(K, 2.0, 3).tolist() == [0, 3, 1]
    assert ref.select_maxmin(K, 2.0, 3, (3,)).tolist() == [3, 0, 1]
    assert ref.select_maxmin(K, 2.0, 2, (1,)).tolist() == [1, 3]


def test_rounding_does_not_decide_ties():
    C = np.eye(4)
    C[0, 1:] = [3e-10, 2e-10, 1e-10]  # h after 0, read down column 0
    C[1:, 0] = C[0, 1:]
    assert ref.greedy_cosine(C, 2).tolist() == [0, 1]
    C[3, 0] = -2e-9
    assert ref.greedy_cosine(C, 2).tolist() == [0, 3]
    K = 5e3 - np.array([[0, 4e3, 4e3 + 3e-6], [4e3, 0, 1], [4e3 + 3e-6, 1, 0]]) / 2  # tolerance 1e-9 * 4e3
    assert ref.select_maxmin(K, 5e3, 2).tolist() == [0, 1]
    K[2, 0] -= 1e-5
    assert ref.select_maxmin(K, 5e3, 2).tolist() == [0, 2]


def test_h_update_is_the_brute_force_sum():
    X, _, theta = make_data(18, 2)
    C = ref.cosines(ref.precision(X, theta))
    forced = [4, 17]
    picked = ref.select_vector(ref.precision(X, theta), 12, forced).tolist()
    retained = list(forced)
    while len(retained) < 12:
        sums = {i: sum(C[i, j] for j in retained) for i in range(18) if i not in retained}
        retained.append(min(i for i in sums if sums[i] <= min(sums.values()) + 1e-9))
    assert picked == retained


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_through_the_dispatcher(rule):
    X, z, theta = make_data(16, 2)
    y = 500 + 3 * z  # far from standardised
    picks = ref.select(rule, X, y, theta, 9, [2, 15], np.random.default_rng(5), "matern52")
    assert picks[:2].tolist() == [2, 15]
    assert len(set(picks.tolist())) == 9
    P, draw = ref.precision(X, theta), np.random.default_rng(5)
    direct = {
        "vector": lambda: ref.select_vector(P, 9, [2, 15]),
        "scalar": lambda: ref.select_scalar(-P @ (y - y.mean()) / y.std(), 9, [2, 15]),
        "random": lambda: ref.select_random(16, 9, [2, 15], draw),
        "topk-random": lambda: ref.select_topk_random(y, 9, [2, 15], draw),
        "kmeans++": lambda: ref.select_kmeans(P, 9, [2, 15], draw.random(7)),
        "maxmin": lambda: ref.select_maxmin(ref.kernel_matrix(X, X, theta), np.exp(theta[-2]), 9, [2, 15]),
        **{
            name: lambda name=name: ref.select_pivots(name, ref.noisy_covariance(X, theta), z, 9, [2, 15])
            for name in ("residual", "variance", "residual-ratio")
        },
        "residual-exchange": lambda: ref.exchange_members(
            ref.noisy_covariance(X, theta),
            z,
            ref.select_pivots("residual", ref.noisy_covariance(X, theta), z, 9, [2, 15]),
            2,
        ),
    }
    np.testing.assert_array_equal(picks, direct[rule]())
    whole = ref.select(rule, X, y, theta, 16, [2, 15], np.random.default_rng(5), "matern52")
    assert whole.tolist() == [2, 15, *(i for i in range(16) if i not in (2, 15))]


def test_unknown_rule():
    X, y, theta = make_data(5, 2)
    with pytest.raises(ValueError, match=r"vector.*'nearest'"):
        ref.select("nearest", X, y, theta, 3, (), np.random.default_rng(0), "matern52")


@pytest.mark.parametrize(("t", "expected"), LOG_H.items())
def test_log_h(t, expected):
    assert float(ref.log_h(np.array(t, dtype=float))) == pytest.approx(expected, rel=1e-12)
    std = np.array([0.25])
    assert ref.log_ei(t * std + 3, std, 3.0)[0] == pytest.approx(expected + np.log(0.25), rel=1e-9)


@pytest.mark.parametrize(("t", "expected"), LOG_H_SLOPES.items())
def test_log_h_slope(t, expected):
    slope = np.diff(ref.log_h(np.array([t - 1e-4, t + 1e-4])))[0] / 2e-4
    assert slope == pytest.approx(expected, rel=1e-7)


def test_log_h_is_smooth_where_its_formulas_meet_and_finite_far_out():
    for t in (-1.0, -1000.0):
        gap = 1e-9
        jump = np.diff(ref.log_h(np.array([t - gap, t + gap])))[0]
        slope = np.diff(ref.log_h(np.array([t + gap, t + 1e-3])))[0] / (1e-3 - gap)
        assert jump == pytest.approx(2 * gap * slope, rel=1e-2, abs=1e-9 * abs(float(ref.log_h(np.array(t)))) * 1e-3)
    far = ref.log_h(np.array([-1e9, -1e6, -1e4, 0, 1e4]))
    assert np.all(np.isfinite(far)) and np.all(np.diff(far) > 0)


def test_log_ei_ranks_where_ei_is_zero():
    mean, std = np.array([-40.0, -41.0]), np.ones(2)
    assert np.all(ref.ei(mean, std, 0.0) == 0)
    assert np.diff(ref.log_ei(mean, std, 0.0))[0] < 0


def test_plain_acquisitions():
    mean, std, best = np.array([0.3, -0.2, 1.5]), np.array([0.5, 1.0, 0.1]), 0.4
    t = (mean - best) / std
    np.testing.assert_allclose(ref.ei(mean, std, best), std * normal_h(t), rtol=1e-12)
    np.testing.assert_allclose(ref.log_ei(mean, std, best), np.log(std * normal_h(t)), rtol=1e-12)
    np.testing.assert_allclose(ref.pi(mean, std, best), norm.cdf(t), rtol=1e-12)
    np.testing.assert_allclose(ref.ucb(mean, std), mean + 1.4142135623730951 * std, rtol=1e-15)
    draws = mean + std * np.random.default_rng(0).standard_normal((200_000, 3))
    np.testing.assert_allclose(ref.ei(mean, std, best), np.maximum(draws - best, 0).mean(axis=0), atol=5e-3)


def test_acquisitions_without_spread():
    # Case B21, for the negative of a function to be minimised with best value 1.
    mean, std = -np.array([0.7, 1.2, 1.0, 0.7, 1.2]), np.array([0, 0, 1e-12, 1e-12, 1e-12])
    expected = [0.3, 0, 3.9894228040143e-13, 0.3, 0]
    np.testing.assert_allclose(ref.ei(mean, std, -1.0), expected, rtol=1e-12)
    logs = ref.log_ei(mean, std, -1.0)
    np.testing.assert_allclose(logs[[0, 2, 3]], np.log(np.array(expected)[[0, 2, 3]]), rtol=1e-12)
    assert logs[4] == pytest.approx(-2.0e22, rel=1e-6) and logs[1] < -1e100
    assert ref.pi(mean, std, -1.0).tolist() == [1, 0, 0.5, 1, 0]

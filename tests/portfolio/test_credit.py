import numpy as np

from gssbo.portfolio.credit import Credit


def shares(credit, weights=(1.0, 1.0, 1.0), n=2000):
    rng = np.random.default_rng(0)
    return np.bincount([credit.choose(np.array(weights), rng) for _ in range(n)], minlength=3) / n


def test_without_rewards_all_are_alike():
    assert np.abs(shares(Credit(3)) - 1.0 / 3.0).max() < 0.04


def test_who_gains_is_asked_more_and_nobody_is_forgotten():
    credit = Credit(3)
    for _ in range(20):
        credit.reward(0, gain=2.0, own=2.0)
        credit.reward(1, gain=-1.0, own=-1.0)
        credit.reward(2, gain=-1.0, own=-1.0)
    found = shares(credit)
    assert found[0] > 0.6 and found[1:].min() > 0.12


def test_old_gains_are_forgotten():
    credit = Credit(3)
    for _ in range(20):
        credit.reward(0, gain=1e6, own=1e6)
    for _ in range(300):
        credit.reward(0, gain=-1.0, own=-1.0)
        credit.reward(1, gain=0.1, own=0.1)
    found = shares(credit)
    assert found[1] > 0.6 > found[0]


def test_catching_up_counts():
    credit = Credit(3)
    for _ in range(30):
        credit.reward(0, gain=-10.0, own=1.0)  # eleven behind, one nearer: there in eleven such steps
        credit.reward(1, gain=-1e6, own=1.0)
        credit.reward(2, gain=-1.0, own=-1.0)
    found = shares(credit)
    assert found[0] > 0.6


def test_weight_zero_is_never_asked():
    assert shares(Credit(3), (1.0, 0.0, 2.0))[1] == 0.0

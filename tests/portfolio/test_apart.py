import numpy as np
import pytest

from gssbo.portfolio.apart import apart


def largest_side(points, x):
    return np.abs(points - x).max(axis=1)


@pytest.mark.parametrize("dim", [1, 2, 20])
def test_a_point_is_apart_by_its_distances_to_all_others(dim):
    rng = np.random.default_rng(0)
    answers = []
    for _ in range(300):
        known, pending = rng.random((rng.integers(2, 9), dim)), rng.random((4, dim))
        x = np.clip(pending[0] + 10.0 ** rng.uniform(-4.0, 0.0) * rng.uniform(-1.0, 1.0, dim), 0.0, 1.0)
        beside, nearest = largest_side(pending, x).min(), known[largest_side(known, x).argmin()]
        spacing = np.sort(largest_side(known, nearest))[1]
        expected = beside >= 0.25 * largest_side(known, x).min() and (beside >= 0.05 or beside >= 0.05 * spacing)
        answers.append(expected)
        assert apart(x, known, pending) == expected
    assert 30 < sum(answers) < 270


def test_a_point_that_is_known_is_not_apart():
    known, none = np.array([[0.25, 0.5], [1.0, 0.0]]), np.empty((0, 2))
    assert not apart(known[0], known, none) and apart(np.array([0.25, 0.5 + 1e-9]), known, none)

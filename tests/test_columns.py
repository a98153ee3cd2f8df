import numpy as np
import pytest

from gssbo.columns import MANY, deviations, still_columns


def test_a_column_without_a_spread_is_measured_by_the_others():
    X = np.column_stack([np.ones(50), np.linspace(0.0, 2.0, 50), 1e-9 * np.arange(50.0)])
    found = deviations(X)
    np.testing.assert_allclose(found[1], X[:, 1].std())
    np.testing.assert_allclose(found[[0, 2]], 1e-3 * found[1])
    assert (deviations(np.ones((5, 3))) > 0.0).all()


@pytest.mark.parametrize("n_still", [MANY - 1, MANY])
def test_columns_that_nothing_moves_are_told_from_others_where_they_are_many(n_still):
    X = np.hstack([np.zeros((3, 2)), np.eye(3), np.full((3, n_still - 2), 0.5)])
    found = np.flatnonzero(still_columns(X)).tolist()
    assert found == ([] if n_still < MANY else [0, 1, *range(5, MANY + 3)])

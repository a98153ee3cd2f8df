"""The initial design."""

import numpy as np
import pytest
from scipy.stats import qmc

from gssbo.design import Design
from gssbo.space import Space


def taken(design):
    return np.array([design.take() for _ in range(design.size)])


@pytest.mark.parametrize("n", [1, 8, 20])
def test_reals_are_the_sequences_themselves(n):
    space = Space([(0, 1)] * 3)
    expected = qmc.LatinHypercube(3, rng=np.random.default_rng(0)).random(n)
    np.testing.assert_array_equal(taken(Design(space, n, "lhs", np.random.default_rng(0))), expected)
    expected = qmc.Sobol(3, rng=np.random.default_rng(0)).random_base2(5)[:n]
    np.testing.assert_allclose(taken(Design(space, n, "sobol", np.random.default_rng(0))), expected, rtol=1e-12)


def test_values_are_balanced():
    """Each value of a discrete parameter takes its share of a Latin hypercube, give or take what does not divide."""
    space = Space({"c": ["u", "v", "w"], "n": range(4), "x": (0, 1), "k": [7]})
    points = space.show(space.from_unit(taken(Design(space, 24, "lhs", np.random.default_rng(0)))))
    assert [sum(p["c"] == c for p in points) for c in "uvw"] == [8, 8, 8]
    assert [sum(p["n"] == n for p in points) for n in range(4)] == [6, 6, 6, 6]
    assert np.sort(np.floor([24 * p["x"] for p in points])).tolist() == list(range(24))


def test_is_handed_out_once():
    design = Design(Space([(0, 1)]), 3, "lhs", np.random.default_rng(0))
    assert len(taken(design)) == 3
    assert design.take() is None
    assert design.n_taken == design.size == 3


@pytest.mark.parametrize(
    ("n", "kind", "message"), [(0, "lhs", "^n_init must be at least 1"), (3, "grid", "^initial_design must be one of")]
)
def test_bad_designs(n, kind, message):
    with pytest.raises(ValueError, match=message):
        Design(Space([(0, 1)]), n, kind, np.random.default_rng(0))

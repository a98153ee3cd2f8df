"""Points that linear constraints leave, found by a program."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, OptimizeResult

from gssbo.space import Categorical, Integer, Real, Space, program

CASES = {
    "a corner": ([(-3.0, 7.0)] * 3, [[1, 1, 1]], -np.inf, -9.0),
    "one point inside": ([(0.0, 1.0)] * 3, [[1, 1, 0], [1, -1, 0], [0, 1, 1]], [1.0, 0.0, 0.8], [1.0, 0.0, 0.8]),
    "one of 8^30": ([range(8)] * 30, np.ones((1, 30)), 210, np.inf),
    "an order": ([range(31)] * 30, np.eye(30)[1:] - np.eye(30)[:-1], 1, np.inf),
    "categories": ([Categorical([1, 3, 7, 20])] * 12 + [["u", "v"], [4]], [[1] * 12 + [0, 2]], 247, np.inf),
    "steps": ([Real(0.0, 1.0, step=0.01)] * 6, np.ones((1, 6)), 5.99, 5.99),
    "logarithms": ([Real(1e-3, 1.0, log=True)] * 2 + [Integer(1, 1000, log=True)] * 3, np.ones((1, 5)), 3001.9, np.inf),
    "a mixture": ([range(20)] * 3 + [(0.0, 1.0)] * 3 + [(0.5, 0.5)], np.ones((1, 7)), 60.0, 60.0),
    "numbers near the largest": ([(0.0, 1e308)] * 2, [[1, 1]], 1.79e308, np.inf),
    "large numbers": ([(0.0, 1e12), Integer(0, 10**9)], [[1e-9, 1e9], [1.0, 0.0]], [1e18, 5e11], [np.inf, 5e11]),
}


@pytest.mark.parametrize("name", CASES)
def test_they_meet_the_constraints(name):
    bounds, A, lower, upper = CASES[name]
    space, rng = Space(bounds, LinearConstraint(np.array(A, dtype=float), lower, upper)), np.random.default_rng(0)
    rows = space.from_unit(space.place(rng.random((4, space.n_draws))))
    assert not space.feasible(rows).any()
    found = space.linear_extremes(rows, rng)
    assert len(found) == 4
    assert space.feasible(space.from_unit(space.to_unit(found))).all()


def test_they_are_several_where_there_are():
    space, rng = Space([range(1000)] * 5, LinearConstraint(np.ones((1, 5)), 2500, 2500)), np.random.default_rng(0)
    rows = space.linear_extremes(space.from_unit(space.place(rng.random((8, 5)))), rng)
    assert len(np.unique(rows)) > 4


@pytest.mark.parametrize(
    ("bounds", "constraint"),
    [
        ([(0.0, 1.0)] * 2, None),
        ([range(9)] * 2, LinearConstraint([[2, 4]], 7, 7)),  # an odd sum of even numbers
        ([Categorical(range(5000))] * 2, LinearConstraint([[1, 1]], ub=0)),  # more variables than are worth it
    ],
)
def test_there_may_be_none(bounds, constraint):
    space, rng = Space(bounds, constraint), np.random.default_rng(0)
    rows = space.from_unit(space.place(rng.random((3, space.n_draws))))
    assert len(space.linear_extremes(rows, rng)) == 0


def test_a_large_program_has_fewer_nodes_and_the_clock_is_the_last_resort(monkeypatch):
    given = []
    monkeypatch.setattr(program, "milp", lambda *_, options, **__: given.append(options) or OptimizeResult(x=None))
    for d in (10, 1_000):
        space, rng = Space([range(9)] * d, LinearConstraint(np.ones((10, d)), 7, 7)), np.random.default_rng(0)
        assert len(space.linear_extremes(space.at(np.zeros(1, dtype=int)), rng)) == 0
    assert [options["node_limit"] for options in given] == [1_000, 50]
    assert min(options["time_limit"] for options in given) >= 60.0

"""Which points may be suggested, and where the last of them are found."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

from gssbo import Integer
from gssbo.admission import Admission
from gssbo.exceptions import InfeasibleError, SpaceExhausted
from gssbo.history import History
from gssbo.pending import Pending
from gssbo.space import Space


def books(bounds, told=(), asked=(), *, constraints=None, repeats=False):
    space = Space(bounds, constraints)
    history, pending = History(space.dim, space.empty()), Pending(space.dim)
    if len(told):
        rows, _ = space.read("x", told)
        history.append(rows, space.to_unit(rows), np.zeros(len(rows)))
    if len(asked):
        rows, _ = space.read("x", asked)
        for row, unit in zip(rows, space.to_unit(rows), strict=True):
            pending.add(row, unit, n_told=0)
    return space, Admission(space, history, pending, repeats=repeats)


def found(space, admission, n, seed=0):
    return space.show(space.from_unit(admission.some(n, np.random.default_rng(seed))))


@pytest.mark.parametrize(
    ("repeats", "expected"), [(False, [False, False, True, False]), (True, [True, False, True, False])]
)
def test_the_mask(repeats, expected):
    space, admission = books(
        [(0.0, 1.0), ["u", "v"]], [[0.25, "u"]], [[0.5, "v"]], repeats=repeats,
        constraints=NonlinearConstraint(lambda x: x[0], 0, 0.8),
    )  # fmt: skip
    points = space.to_unit(space.read("x", [[0.25, "u"], [0.5, "v"], [0.25, "v"], [0.9, "u"]])[0])
    assert admission(points).tolist() == expected


def test_some_of_a_box_are_the_first_draws():
    _, admission = books([(0.0, 1.0)] * 2)
    np.testing.assert_array_equal(admission.some(5, np.random.default_rng(3)), np.random.default_rng(3).random((5, 2)))


def test_the_last_points_of_a_finite_space():
    bounds = [range(20), range(20), range(20)]
    space = Space(bounds)
    points = space.show(space.at(np.random.default_rng(0).permutation(8000)))
    space, admission = books(bounds, points[:7000], points[7000:7997])
    assert sorted(found(space, admission, 100)) == sorted(points[7997:])
    assert found(space, admission, 1)[0] in points[7997:]
    space, admission = books(bounds, points[:7000], points[7000:])
    for attempt in (admission.require_more, lambda: found(space, admission, 1)):
        with pytest.raises(SpaceExhausted, match=r"all 8000 points .* told \(7000 distinct\) or pending \(1000\)"):
            attempt()


def test_the_last_point_of_a_space_too_large_to_list():
    """Where drawing finds nothing, trying in order must: no more can be taken than there are books for."""
    bounds = [range(400), range(300)]
    space = Space(bounds)
    told = [point for point in space.show(space.at(np.arange(120_000))) if point != [399, 299]]
    space, admission = books(bounds, told)
    admission.require_more()
    assert found(space, admission, 3) == [[399, 299]]


def test_constraints_on_a_finite_space():
    bounds = [range(10), range(10)]
    equal = LinearConstraint([[1, 1]], 7, 7)
    space, admission = books(bounds, [[3, 4], [4, 3]], [[0, 7]], constraints=equal)
    assert sorted(found(space, admission, 20)) == [[1, 6], [2, 5], [5, 2], [6, 1], [7, 0]]
    space, admission = books(bounds, [[k, 7 - k] for k in range(8)], constraints=equal)
    with pytest.raises(SpaceExhausted, match=r"all 8 feasible of 100 points of the space are told \(8 distinct\)"):
        admission.some(1, np.random.default_rng(0))
    space, admission = books(bounds, constraints=LinearConstraint([[1, 1]], 30, 40))
    with pytest.raises(InfeasibleError, match=r"^constraints must leave points .* none of the space's 100"):
        admission.some(1, np.random.default_rng(0))


def test_constraints_on_a_box():
    corner = LinearConstraint([[1.0, 1.0]], lb=1.97)  # 0.045 per cent of it
    _, admission = books([(0.0, 1.0)] * 2, constraints=corner)
    points = admission.some(5, np.random.default_rng(0))
    assert len(points) == 5 and (points.sum(axis=1) >= 1.97).all()
    for impossible in (LinearConstraint([[1.0, 1.0]], 1.0, 1.0), LinearConstraint([[1.0, 1.0]], lb=3.0)):
        _, admission = books([(0.0, 1.0)] * 2, constraints=impossible)
        with pytest.raises(InfeasibleError, match=r"none among 100000 tried; equalities"):
            admission.some(1, np.random.default_rng(0))


def test_a_large_finite_space_that_is_infeasible():
    _, admission = books([Integer(0, 10**6), range(10)], constraints=LinearConstraint([[1, 1]], lb=1e9))
    with pytest.raises(InfeasibleError, match=r"none among 100000 tried"):
        admission.some(1, np.random.default_rng(0))


def test_repeats_are_never_exhausted():
    space, admission = books([["u", "v"]], [["u"], ["v"]], repeats=True)
    admission.require_more()
    assert len(found(space, admission, 5)) == 2
    space, admission = books([["u", "v"]], asked=[["u"], ["v"]], repeats=True)
    assert len(found(space, admission, 5)) == 2


def test_a_neighbour_of_a_refused_point():
    bounds = [range(30), ["u", "v", "w"]]
    space, admission = books(bounds, [[n, "v"] for n in range(10, 20)], [[14, "u"], [14, "w"]])
    refused = space.to_unit(space.read("x", [15, "v"])[0])[0]
    assert not admission(refused[None, :])[0]
    found = admission.near(refused, np.random.default_rng(0))
    assert found.shape == (1, space.dim) and admission(found)[0]
    ((n, c),) = space.show(space.from_unit(found))
    # The next free one with the same category is 5 or 6 steps of 1/30 away, another category a whole side.
    assert (n, c) in ((9, "v"), (20, "v"))
    everything = [[n, c] for n in range(30) for c in "uvw"]
    _, admission = books(bounds, everything)
    assert admission.near(refused, np.random.default_rng(0)).shape == (0, space.dim)


def test_a_neighbour_meets_the_constraints():
    _, admission = books([(0.0, 1.0)] * 2, constraints=LinearConstraint([[1.0, 1.0]], ub=0.9))
    for seed in range(20):
        found = admission.near(np.array([0.5, 0.5]), np.random.default_rng(seed))[0]
        assert found.sum() <= 0.9 and np.abs(found - 0.5).max() < 0.2

"""Points of a finite space by their numbers."""

import numpy as np
from scipy.optimize import NonlinearConstraint

from gssbo import Real
from gssbo.history import History
from gssbo.listing import Listing
from gssbo.pending import Pending
from gssbo.space import Space


def test_what_is_told_and_pending_is_marked_as_it_comes():
    space = Space({"a": range(4), "s": Real(0.0, 1.0, step=0.25), "c": ["u", "v", "w"], "k": (3.0, 3.0)})
    history, pending = History(space.dim, space.empty()), Pending(space.dim)
    listing, rng = Listing(space, history, pending), np.random.default_rng(0)
    rows = space.at(np.arange(60))
    for _ in range(4):
        told, asked = rng.integers(60, size=(2, 7))
        history.append(rows[told], space.to_unit(rows[told]), np.full(7, np.nan))
        for row, unit in zip(rows[asked], space.to_unit(rows[asked]), strict=True):
            pending.add(row, unit)
        np.testing.assert_array_equal(listing.told(), history.seen(rows))
        np.testing.assert_array_equal(listing.pending(), pending.seen(rows))
    pending.withdraw(0)
    assert not listing.pending().any()


def test_constraints_are_asked_about_each_point_once():
    asked = []

    def below(x):
        asked.append(tuple(x))
        return sum(x)

    space = Space([range(5), range(6)], NonlinearConstraint(below, 0, 4))
    listing = Listing(space, History(space.dim, space.empty()), Pending(space.dim))
    assert listing.may_meet().all()
    some = np.array([29, 0, 7, 28])
    assert listing.meets(some).tolist() == [False, True, True, False]
    assert listing.meets(some[::-1]).tolist() == [False, True, True, False]
    assert np.flatnonzero(~listing.may_meet()).tolist() == [28, 29]
    assert len(listing.feasible) == 15
    assert sorted(asked) == [(a, b) for a in range(5) for b in range(6)]

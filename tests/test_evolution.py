"""A population that comes to a point at which nothing is missed."""

import numpy as np
import pytest

from gssbo.evolution import FLAT, POPULATION, evolve
from gssbo.space import Space


def test_it_goes_along_a_narrow_valley_that_is_bent():
    rng = np.random.default_rng(0)

    def miss(U):
        x = 4.0 * U - 2.0
        value = (100.0 * (x[:, 1:] - x[:, :-1] ** 2) ** 2 + (1.0 - x[:, :-1]) ** 2).sum(axis=1)
        return np.maximum(value - 1e-2, 0.0)

    found = evolve(rng.random((200, 4)), miss, lambda U: U, rng)
    assert 1 <= len(found) < POPULATION
    assert (miss(found) == 0.0).all()


def test_it_finds_an_order_among_whole_numbers():
    space, rng = Space([range(15)] * 14), np.random.default_rng(1)

    def miss(U):
        assert np.array_equal(space.project(U), U)
        return np.maximum(-np.diff(U, axis=1), 0.0).sum(axis=1)

    found = evolve(space.place(rng.random((200, 14))), miss, space.project, rng)
    assert len(found) and (np.diff(found, axis=1) >= 0.0).all()


@pytest.mark.parametrize("value", [1.0, np.inf])
def test_where_there_is_nothing_to_go_by_it_ends(value):
    rng, calls = np.random.default_rng(0), []

    def miss(U):
        calls.append(len(U))
        return np.full(len(U), value)

    assert len(evolve(rng.random((100, 3)), miss, lambda U: U, rng)) == POPULATION
    assert len(calls) <= FLAT + 1

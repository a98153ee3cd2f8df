"""The books of a run: what is known in them, and the best that is feasible, against looking at everything."""

import pickle
import tracemalloc

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

from gssbo import books as module
from gssbo.books import Books
from gssbo.entry import Entry
from gssbo.space import Space


def tell(books, rows, y):
    books.change(Entry("tell", rows, (None,) * len(y), np.asarray(y, dtype=float)))()


def table(rng, space, n):
    """Rows (n) of which many are repeated, and values (n,) of which some are, and some are missing."""
    rows, _ = space.read("x", rng.integers(0, 4, (n, 2)).tolist())
    return rows, rng.choice([0.0, -0.0, 1.0, 2.0, np.nan], n)


@pytest.mark.parametrize("seed", range(3))
def test_known_are_the_points_told_with_these_values(seed):
    rng, books = np.random.default_rng(seed), Books(Space([range(4), range(4)]), 1.0)
    told = [table(rng, books.space, n) for n in (6, 1, 9)]
    for rows, y in told:
        tell(books, rows, y)
    pairs = [(row.tobytes(), repr(value + 0.0)) for rows, y in told for row, value in zip(rows, y, strict=True)]
    rows, y = table(rng, books.space, 60)
    expected = [(row.tobytes(), repr(value + 0.0)) in pairs for row, value in zip(rows, y, strict=True)]
    assert 0 < sum(expected) < 60
    np.testing.assert_array_equal(books.known(rows, y), expected)


def test_what_is_new_or_a_retry_is_no_reason_to_look_through_the_history(monkeypatch):
    books = Books(Space([(0.0, 1.0)]), 1.0)
    rows, _ = books.space.read("x", np.linspace(0.0, 1.0, 50)[:, None])
    tell(books, rows[:40], np.arange(40.0))
    looked = []
    pairs = module._pairs
    monkeypatch.setattr(module, "_pairs", lambda rows, y: looked.append(len(y)) or pairs(rows, y))
    np.testing.assert_array_equal(books.known(rows, np.arange(50.0)), np.arange(50) < 40)
    assert looked == []
    assert not books.known(rows[3:4], np.array([7.0]))[0] and looked == [40, 1]


def test_what_is_no_evaluation_of_the_run_is_counted_wherever_it_comes():
    rng, books = np.random.default_rng(0), Books(Space([range(4), range(4)]), 1.0)
    flags = []
    for n, prior in ((3, True), (1, False), (70, True), (1, True), (40, False), (200, True)):
        rows, y = table(rng, books.space, n)
        books.change(Entry("tell", rows, (None,) * n, y, prior=prior))()
        flags += [prior] * n
        twin = pickle.loads(pickle.dumps(books))
        for each in (books, twin):
            assert each.n_prior == sum(flags)
            assert all(each.n_evaluated(first) == flags[first:].count(False) for first in range(len(flags) + 1))


def test_prior_observations_in_turn_with_others_cost_no_more_than_themselves():
    books = Books(Space([(0.0, 1.0)]), 1.0)
    rows, _ = books.space.read("x", [[0.5]])
    changes = [Entry("tell", rows, (None,), np.ones(1), prior=prior) for prior in (True, False)]
    for k in range(6_000):
        books.change(changes[k % 2])()
    tracemalloc.start()
    try:
        books.change(changes[0])()
        assert tracemalloc.get_traced_memory()[1] < 8_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("least", [0.0, 1.5, 3.0])
def test_the_best_feasible_is_that_of_all_however_they_are_told(least):
    space = Space([range(4), range(4)], LinearConstraint([[1.0, 1.0]], lb=2.0 * least))
    rng, books = np.random.default_rng(0), Books(space, 1.0)
    every, values = [], []
    for n in (5, 1, 40, 1, 1, 30):
        rows, y = table(rng, space, n)
        tell(books, rows, y)
        every += list(space.show(rows))
        values += y.tolist()
        met = [k for k, (a, b) in enumerate(every) if a + b >= 2.0 * least and not np.isnan(values[k])]
        assert books.best_feasible() == max(met, key=lambda k: values[k], default=None)


def test_many_infeasible_observations_are_judged_together(monkeypatch):
    books = Books(Space([(0.0, 1.0)] * 2, LinearConstraint([[1.0, 1.0]], ub=0.5)), 1.0)
    rows, _ = books.space.read("x", np.random.default_rng(0).uniform(0.3, 1.0, (1_000, 2)))
    tell(books, rows, np.arange(1_000.0))
    judged, feasible = [], Space.feasible
    monkeypatch.setattr(Space, "feasible", lambda space, rows: judged.append(len(rows)) or feasible(space, rows))
    assert books.best_feasible() is None and books.best_feasible() is None
    assert sum(judged) == 1_000 and len(judged) == 10

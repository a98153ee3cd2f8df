"""Candidates and climbs among the points that there are, where parameters are whole numbers or categories."""

import pickle

import numpy as np
import pytest

import gssbo
from gssbo.map_gp import Improvement, MapGaussianProcess
from gssbo.portfolio.lattice import FEW, Lattice, unknown
from gssbo.space import Categorical, Integer, Real, Space

SPACE = Space(
    [
        Categorical(list("abcde")),
        [True, False],
        Integer(0, 3),
        Integer(0, 999),
        Real(0.0, 1.0),
        Real(1.0, 2.0, step=0.25),
    ]
)
REAL = SPACE.unit_columns(4).start


def model(rng, n=40):
    X = SPACE.place(rng.random((n, SPACE.n_draws)))
    z = np.sin(4.0 * X[:, REAL]) + X[:, 0] - X[:, SPACE.unit_columns(3).start] ** 2
    z = (z - z.mean()) / z.std()
    gp = MapGaussianProcess()
    gp.set_theta(X, z, gp.most_probable(X, z, start=None, max_evaluations=25)[0])
    return gp, X, float(z.max())


def changed(points, x):
    """How many parameters differ."""
    return sum((points[:, SPACE.unit_columns(i)] != x[SPACE.unit_columns(i)]).any(axis=1) for i in range(6))


def test_candidates_are_points_of_the_space_with_some_choices_made_anew():
    rng = np.random.default_rng(0)
    lattice, centre = Lattice(SPACE), SPACE.place(rng.random((1, SPACE.n_draws)))[0]
    found = lattice.spread(np.tile(centre, (2000, 1)) + 1e-3 * rng.standard_normal((2000, SPACE.dim)), centre, rng)
    np.testing.assert_array_equal(found, SPACE.project(found))
    for i in (0, 1, 2, 5):
        columns = SPACE.unit_columns(i)
        share = (found[:, columns] != centre[columns]).any(axis=1).mean()
        assert 0.1 < share < 0.6
        assert len(np.unique(found[:, columns], axis=0)) == SPACE.kinds[i].n_values
    assert np.abs(found[:, REAL] - centre[REAL]).max() < 0.01  # a real one stays where it was put


def test_beside_a_point_are_all_single_changes():
    rng = np.random.default_rng(0)
    lattice = Lattice(SPACE)
    for x in SPACE.place(rng.random((20, SPACE.n_draws))):
        found = lattice.beside(x, rng, x[None, :])
        assert (changed(found, x) == 1).all()
        steps = SPACE.from_unit(x[None, :])["3"][0]
        assert len(found) == 4 + 1 + 3 + 4 + (1 if steps in (0, 999) else 2)
        assert len(np.unique(found, axis=0)) == len(found)
    assert FEW < 1000


def test_of_very_many_beside_a_point_some_are_tried(monkeypatch):
    rng = np.random.default_rng(0)
    lattice, x = Lattice(SPACE), SPACE.place(rng.random((1, SPACE.n_draws)))[0]
    every = {row.tobytes() for row in lattice.beside(x, rng, x[None, :])}
    monkeypatch.setattr(gssbo.portfolio.lattice, "ENTRIES", 8 * SPACE.dim)
    monkeypatch.setattr(gssbo.portfolio.lattice, "LEAST", 6)
    drawn = [{row.tobytes() for row in lattice.beside(x, rng, x[None, :])} for _ in range(60)]
    assert all(each <= every for each in drawn)
    assert min(map(len, drawn)) >= 8 - 4 and max(map(len, drawn)) <= 8  # those that are x itself are left out
    assert set.union(*drawn) == every
    monkeypatch.setattr(gssbo.portfolio.lattice, "ENTRIES", 0)
    assert 1 < len(lattice.beside(x, rng, x[None, :])) <= 6


def test_a_category_of_thousands_of_values_takes_no_square_of_them():
    space = Space({"c": [f"v{i}" for i in range(5_000)], "x": (0.0, 1.0)})
    lattice = Lattice(space)
    assert len(pickle.dumps(lattice)) < 1_000_000
    x = space.place(np.array([[0.5, 0.5]]))[0]
    assert lattice.beside(x, np.random.default_rng(0), x[None, :]).size < 11_000_000


def test_of_a_choice_among_very_many_those_that_are_known_and_others_are_beside_a_point():
    space = Space({"c": [f"v{i}" for i in range(5_000)], "b": bool})
    rng = np.random.default_rng(0)
    known = space.place(rng.random((50, 2)))
    found = [point["c"] for point in space.show(space.from_unit(Lattice(space).beside(known[0], rng, known)))]
    assert {point["c"] for point in space.show(space.from_unit(known))} <= set(found)
    assert len(set(found)) > 250 and len(found) < 350


def test_a_climb_ends_higher_and_where_nothing_is_known():
    rng = np.random.default_rng(0)
    gp, X, best = model(rng)
    lattice, improvement = Lattice(SPACE), Improvement(gp, best)
    cube = np.zeros(SPACE.dim), np.ones(SPACE.dim)
    climbed = far = 0
    whole = SPACE.unit_columns(3).start
    for start in unknown(lattice.anywhere(20, rng), X):
        x, value = lattice.climb(improvement, start, cube, X, max_evaluations=15, rng=rng)
        before = improvement.at(start[None, :])[0]
        assert value >= before
        climbed += value > before + 0.1
        far += abs(x[whole] - start[whole]) > 0.01  # a scale of a thousand values is climbed, not stepped along
        np.testing.assert_array_equal(x, SPACE.project(x[None, :])[0])
        assert len(unknown(x[None, :], X)) == 1
    assert climbed > 10 and far > 5


def test_where_everything_beside_is_known_a_climb_stays():
    space = Space([[True, False], [True, False]])
    lattice = Lattice(space)
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    gp = MapGaussianProcess()
    gp.set_theta(X, np.array([0.0, 1.0, -1.0]), np.log([1.0, 1.0, 1.0, 1e-3]))
    x, _ = lattice.climb(
        Improvement(gp, 1.0), np.ones(2), (np.zeros(2), np.ones(2)), X, max_evaluations=5, rng=np.random.default_rng(0)
    )
    np.testing.assert_array_equal(x, [1.0, 1.0])


def test_unknown_are_those_that_differ_in_a_bit():
    X = np.array([[0.0, 0.5], [-0.0, 1.0], [0.25, 0.5]])
    np.testing.assert_array_equal(unknown(X, np.array([[0.0, 1.0], [0.25, 0.5 + 1e-16]])), X[[0, 2]])
    np.testing.assert_array_equal(unknown(X, X[:0]), X)


@pytest.mark.parametrize("seed", range(3))
def test_the_default_finds_the_right_categories_soon(seed):
    """Fifteen pairs of categories, each with a function of its own of two reals: twice as many were too few before."""
    depths = np.random.default_rng(1).permutation(15).reshape(3, 5)

    def cost(x):
        i, j, a, b = x
        return 15.0 - depths[i, j] + 30.0 * ((a - 0.1 * i - 0.3) ** 2 + (b - 0.1 * j - 0.3) ** 2)

    space = [Categorical([0, 1, 2]), Categorical([0, 1, 2, 3, 4]), (0.0, 1.0), (0.0, 1.0)]
    result = gssbo.minimize(cost, space, n_evals=80, rng=seed)
    assert result.fun < 1.05


@pytest.mark.parametrize("seed", range(3))
def test_noisy_categories_are_repeated_where_they_may_be(seed):
    """Six of them: most evaluations of the second half are of the best one, once all are known."""
    rng, picks = np.random.default_rng(seed), []
    optimizer = gssbo.Optimizer([Categorical(list(range(6)))], rng=seed, duplicates="allow")
    for _ in range(60):
        (arm,) = optimizer.ask()
        picks.append(arm)
        optimizer.tell([arm], 0.2 * arm + 0.1 * rng.standard_normal())
    assert np.mean(np.equal(picks[30:], 0)) > 0.8

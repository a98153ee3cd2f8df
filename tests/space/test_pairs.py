"""Columns that the values of a category share where there are very many."""

import numpy as np
import pytest

from gssbo import Categorical
from gssbo.space import Space, pairs
from gssbo.space.categorical import MANY
from gssbo.space.pairs import HALF, Pairs


@pytest.mark.parametrize("k", [MANY + 1, HALF**2, HALF**2 + 1, 100_000])
def test_values_come_back_and_are_mostly_one_side_apart(k):
    coded = Pairs(k)
    columns = np.column_stack(coded._columns)
    assert len(np.unique(columns, axis=0)) == k and columns.max() < coded.n_columns
    shared = np.bincount(columns.ravel())
    assert shared.max() <= -(-k // (coded.n_columns // 2)) and coded.n_columns <= max(2 * HALF, 2 * np.sqrt(k) + 2)
    some = np.random.default_rng(0).integers(k, size=300)
    unit = coded.encode(some)
    np.testing.assert_array_equal(coded.decode(unit), some)
    distances = ((unit[:, None] - unit) ** 2).sum(axis=2)[some[:, None] != some]
    assert set(np.unique(distances)) <= {0.5, 1.0} and (distances == 1.0).mean() > 0.95


@pytest.mark.parametrize("looked_at", [pairs.LOOKED_AT, 3_000])
def test_columns_between_values_are_the_nearest_value(monkeypatch, looked_at):
    """However many are looked at together."""
    monkeypatch.setattr(pairs, "LOOKED_AT", looked_at)
    coded, rng = Pairs(1_000), np.random.default_rng(0)
    every = coded.encode(np.arange(1_000))
    unit = rng.random((40, coded.n_columns))
    unit[::4] = every[:10]
    found = coded.decode(unit)
    np.testing.assert_array_equal(found, ((unit[:, None] - every) ** 2).sum(axis=2).argmin(axis=1))
    assert coded.decode(unit[:0]).shape == (0,)


def test_up_to_256_values_have_a_column_each():
    few, many = (Space({"c": Categorical(range(k)), "x": (0.0, 1.0)}) for k in (MANY, MANY + 1))
    assert (few.dim, many.dim) == (MANY + 1, 2 * HALF + 1)
    point = few.project(np.full((1, few.dim), 0.3))
    assert point.tolist() == [[np.sqrt(0.5), *[0.0] * (MANY - 1), 0.3]]


def test_uniform_draws_give_all_of_very_many_values():
    space = Space([[f"v{i}" for i in range(300)]])
    points = space.place(np.linspace(0.0, 1.0, 300, endpoint=False)[:, None] + 1e-6)
    assert [value for (value,) in space.show(space.from_unit(points))] == [f"v{i}" for i in range(300)]
    np.testing.assert_array_equal(space.project(points), points)

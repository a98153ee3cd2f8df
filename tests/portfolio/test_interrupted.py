"""Interrupts while the portfolio takes in what was told."""

import contextlib
import copy

import numpy as np
import pytest

from gssbo import Optimizer
from gssbo.portfolio import Portfolio
from tests.portfolios import sphere


@pytest.mark.parametrize("step", ["_view", "_lead"])
def test_an_interrupted_update_goes_on_where_it_was(monkeypatch, step):
    """With more told than a view holds, and interrupts wherever the update makes a view or chooses leaders."""
    rng = np.random.default_rng(0)
    X = rng.random((2_100, 2))
    calm = Optimizer([(0.0, 1.0)] * 2, n_init=4, rng=0)
    calm.tell(X, [sphere(x) for x in X])
    asked = calm.ask(6)
    hit = copy.deepcopy(calm)
    for opt in (calm, hit):
        opt.tell(asked, [sphere(x) for x in asked])
    original, calls = getattr(Portfolio, step), []

    def interrupted(self, *arguments):
        found = original(self, *arguments)
        calls.append(0)
        if len(calls) % 2:
            raise KeyboardInterrupt
        return found

    with monkeypatch.context() as patch:
        patch.setattr(Portfolio, step, interrupted)
        for _ in range(20):
            with contextlib.suppress(KeyboardInterrupt):
                hit._strategy.update(hit._history)
                break
    assert len(calls) > 4
    np.testing.assert_array_equal(hit.ask(), calm.ask())
    ours, theirs = hit._strategy, calm._strategy
    np.testing.assert_array_equal(ours._leaders, theirs._leaders)
    np.testing.assert_array_equal(ours._credit._counts, theirs._credit._counts)
    np.testing.assert_array_equal(ours._origin, theirs._origin)
    assert len(set(ours._leaders.tolist())) == 1_000 and len(ours._issued) == len(theirs._issued)
    np.testing.assert_array_equal(hit.predict(asked), calm.predict(asked))


def test_a_first_update_that_was_interrupted_is_made_once_more(monkeypatch):
    opt = Optimizer([(0.0, 1.0)] * 2, n_init=4, rng=0)
    opt.tell([[0.1, 0.2], [0.5, 0.7], [0.9, 0.3]], [1.0, 2.0, 3.0])

    def interrupted(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Portfolio, "_view", interrupted)
        opt._strategy.update(opt._history)
    assert opt._strategy.update(opt._history) and len(opt.retained) == 3

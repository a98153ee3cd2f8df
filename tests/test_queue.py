"""Points to be suggested first, observations made before, and what others announce."""

import numpy as np
import pytest

from gssbo import Optimizer
from gssbo.ledger import Ledger
from gssbo.pending import Pending, Suggestion
from gssbo.space import Space
from tests.ledgers import MIXED, POINT, asked, books


def test_what_is_enqueued_is_suggested_first_and_in_order():
    first = [POINT, {**POINT, "n": 4}, {**POINT, "c": "u"}]
    opt, twin = (Optimizer(MIXED, n_init=3, rng=0) for _ in range(2))
    opt.enqueue(first[:2])
    opt.enqueue(first[2])
    assert opt.queue == first and opt.pending == []
    suggestions = [*opt.ask(2, ids=True), *opt.ask(2, ids=True)]
    assert [s.x for s in suggestions[:3]] == first and opt.queue == []
    assert [s.id for s in suggestions] == [0, 1, 2, 3] and opt.pending == suggestions
    assert suggestions[3].x == twin.ask()  # then the design, from its beginning
    assert opt.n_suggested == 0
    opt.tell(suggestions[1], 2.0)
    assert opt.n_told == 1 and opt.n_prior == 0


@pytest.mark.parametrize("none", [{"n": [], "x": [], "c": []}, np.empty((0, 3))], ids=["columns", "table"])
def test_to_announce_nothing_changes_nothing(tmp_path, none):
    with Optimizer(MIXED, rng=0, journal=tmp_path / "run.jsonl") as opt:
        suggestion = opt.ask(ids=True)
        assert opt.announce(none) == [] and opt.pending == [suggestion]
        opt.tell(suggestion, 1.0)
    with Optimizer(MIXED, journal=tmp_path / "run.jsonl") as opt:
        assert (opt.n_told, opt.pending) == (1, [])


@pytest.mark.parametrize("masked", [np.ma.masked, np.ma.masked_array(0.5, mask=True)])
def test_what_is_masked_is_no_value_of_a_parameter(masked):
    for parameter in ((0.0, 1.0), range(2), [0.0, 0.5, 1.0], bool):
        ledger = Ledger(Space({"x": parameter}))
        for x in ({"x": masked}, [{"x": 1}, {"x": masked}], {"x": [1, masked]}):
            with pytest.raises(ValueError, match=r"^x must .*masked"):
                ledger.announce(x)
        assert ledger.pending == []


@pytest.mark.parametrize("once", [1.0, "no", None, NotImplemented])
def test_once_is_a_flag(once):
    ledger = Ledger(Space([(0.0, 1.0)]))
    for call in (lambda: ledger.enqueue([0.1], once=once), lambda: ledger.tell_prior([[0.1]], [1.0], once=once)):
        with pytest.raises(ValueError, match=r"^once must be True or False, got"):
            call()
    assert (len(ledger.queue), ledger.n_told) == (0, 0)


def test_points_of_the_queue_are_taken_as_they_are():
    opt = Optimizer([range(2)], rng=0)
    opt.tell([[0], [1]], [1.0, 2.0])
    opt.enqueue([[1], [1]])
    assert opt.ask(5) == [[1], [1]]
    with pytest.raises(ValueError, match=r"^x must lie within bounds, got 2 "):
        opt.enqueue([2])


def test_a_model_sees_the_queue_only_when_it_is_asked_for():
    opt, twin = (Optimizer([(0.0, 1.0)], n_init=3, n_candidates=100, rng=0) for _ in range(2))
    for each in (opt, twin):
        each.tell([[0.1], [0.5], [0.8]], [3.0, 1.0, 2.0])
    opt.enqueue(0.25)
    opt.forget(opt.ask())
    assert opt.ask().tolist() == twin.ask().tolist()
    assert (opt.n_suggested, twin.n_suggested) == (1, 1)


def test_prior_observations_are_told_apart_by_their_number():
    opt = Optimizer([(0.0, 1.0)], rng=0)
    opt.tell_prior([[0.1], [0.2]], [1.0, np.nan], noise_std=0.5)
    opt.tell(opt.ask(), 0.5)
    opt.tell_prior(0.9, 0.25)
    assert (opt.n_told, opt.n_prior, opt.n_failed, opt.best_y, opt.best_index) == (4, 3, 1, 0.25, 3)
    with pytest.raises(ValueError, match=r"^b must have 2 entries, got 1"):
        opt.tell_prior([[0.1], [0.2]], [1.0], names=("a", "b"))
    assert opt.n_prior == 3


def test_announced_points_are_pending_like_our_own():
    opt, _ = asked(n=2)
    others = opt.announce([POINT, {**POINT, "n": 4}])
    assert [each.id for each in others] == [2, 3]
    assert opt.announce({**POINT, "n": 5}) == Suggestion(4, {**POINT, "n": 5})
    assert opt.pending[2:] == [*others, Suggestion(4, {**POINT, "n": 5})]
    opt.tell(others[1], 0.5)
    opt.tell(POINT, 0.25)  # by its values
    assert [each.id for each in opt.pending] == [0, 1, 4]
    before = books(opt)
    with pytest.raises(ValueError, match="x must lie within bounds, got 10 for parameter 'n'"):
        opt.announce([POINT, {**POINT, "n": 10}])
    assert books(opt) == before


def test_announced_points_are_not_suggested():
    opt = Optimizer({"n": range(4)}, n_init=2, rng=0)
    opt.announce([{"n": 0}, {"n": 3}])
    assert sorted(point["n"] for point in opt.ask(2)) == [1, 2]


def test_what_was_known_before_does_not_age_suggestions():
    opt = Optimizer([(0.0, 1.0)], rng=0)
    opt.ask(3)
    opt.tell_prior(np.linspace(0.0, 1.0, 2000)[:, None], np.zeros(2000))
    assert len(opt.pending) == 3
    opt.tell(np.linspace(0.0, 0.9, 1001)[:, None], np.zeros(1001))
    assert not opt.pending


def test_equal_rows_answer_suggestions_in_turn():
    opt = Optimizer([(0.0, 1.0)], rng=0)
    opt.announce([[0.5], [0.5], [0.5]])
    opt.tell([[0.5], [0.5]], [1.0, 2.0])
    assert [each.id for each in opt.pending] == [2]


def test_the_queue_is_not_copied():
    opt = Optimizer([(0.0, 1.0)], n_init=3, rng=0)
    queue = opt._pending.queue
    for k in range(50):
        opt.enqueue([k / 50])
    for _ in range(5):
        opt.ask()
    assert opt._pending.queue is queue and len(queue) == 45  # added to and taken from, not copied
    assert opt.queue[0].tolist() == [0.1]


def test_what_an_interrupted_ask_took_from_the_queue_is_put_back(monkeypatch):
    opt = Optimizer([(0.0, 1.0)], n_init=3, rng=0)
    opt.enqueue([[0.1], [0.2], [0.3], [0.4]])
    add, asked = Pending.add, []

    def interrupted(self, *arguments):
        asked.append(add(self, *arguments))
        if len(asked) == 2:
            raise KeyboardInterrupt
        return asked[-1]

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Pending, "add", interrupted)
        opt.ask(3)
    assert np.ravel(opt.queue).tolist() == [0.1, 0.2, 0.3, 0.4] and opt.pending == []


def test_evaluations_are_told_from_what_was_observed_before():
    ledger = Ledger(Space([(0.0, 1.0)]))
    is_prior = [True, True, False, False, True, False, True, True, True, False]
    for k, prior in enumerate(is_prior):
        (ledger.tell_prior if prior else ledger.tell)([[0.1 * k]], [1.0])
    assert ledger.n_prior == sum(is_prior)
    for first in range(11):
        assert ledger.n_evaluated(first) == len(is_prior[first:]) - sum(is_prior[first:])

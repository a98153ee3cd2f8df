"""Which suggestion is answered, or forgotten: by itself, its id, or its point."""

import numpy as np
import pytest

from gssbo import Optimizer
from gssbo.pending import Suggestion
from gssbo.recorded import read_ledger
from tests.ledgers import POINT, asked, books


def test_suggestions_are_told_by_themselves_by_id_and_by_value():
    opt, suggestions = asked()
    assert [s.id for s in suggestions] == [0, 1, 2, 3] and all(isinstance(s, Suggestion) for s in suggestions)
    opt.tell(suggestions[3], 3.0)
    opt.tell(suggestions[1].x, 1.0)
    opt.tell(id=[2, 0], y=[2.0, 0.0])
    assert [suggestions[k].x for k in (3, 1, 2, 0)] == opt.X
    assert opt.y.tolist() == [3.0, 1.0, 2.0, 0.0] and opt.pending == []


def test_suggestions_and_points_are_not_mixed():
    opt = Optimizer([(0.0, 1.0)], rng=0)
    first, _ = opt.ask(2, ids=True)
    with pytest.raises(ValueError, match=r"x must be of suggestions alone, or of points alone, got \[1.0\] as x\[1\]"):
        opt.tell([first, [1.0]], [1.0, 2.0])
    assert opt.n_told == 0 and len(opt.pending) == 2


def test_many_suggestions_at_once():
    for what in (lambda s: s, lambda s: tuple(s), lambda s: [each.x for each in s]):
        opt, suggestions = asked()
        opt.tell(what(suggestions), [0.0, 1.0, 2.0, 3.0])
        assert [s.x for s in suggestions] == opt.X and opt.pending == []


def test_what_was_evaluated_instead():
    opt, suggestions = asked()
    opt.tell(POINT, 1.0, id=2)
    opt.tell(POINT, 1.0, id=2)
    assert opt.X == [POINT] and [s.id for s in opt.pending] == [0, 1, 3]
    opt.tell([POINT, suggestions[0].x], [5.0, 6.0], id=[3, 0])
    assert [POINT, POINT, suggestions[0].x] == opt.X


def test_a_foreign_point_answers_nobody():
    opt, suggestions = asked()
    opt.tell(POINT, 1.0)
    assert opt.pending == suggestions
    opt.tell(suggestions[0].x, 1.0)
    opt.tell(suggestions[0].x, 2.0)  # observed once more
    assert opt.n_told == 3 and opt.pending == suggestions[1:]


def test_arrays_match_pending_suggestions_to_the_bit():
    opt, suggestions = asked([(0.0, 1.0), (1.0, 1e5)])
    opt.tell(suggestions[0].x * (1 + 1e-15), 1.0)
    assert len(opt.pending) == 4
    opt.tell(np.array([s.x for s in suggestions]), np.arange(4.0))
    assert opt.pending == []


@pytest.mark.parametrize("what", [{"id": 9}, {"id": 0}, {"x": POINT}, {"x": Suggestion(0, POINT)}])
def test_only_pending_suggestions_are_forgotten(what):
    opt, suggestions = asked()
    opt.tell(suggestions[0], 0.5)
    before = books(opt)
    with pytest.raises(ValueError, match=r"^x or id must be of a pending suggestion, got "):
        opt.forget(**what)
    assert books(opt) == before


def test_one_suggestion_is_forgotten_at_a_time():
    opt, suggestions = asked()
    before = books(opt)
    for id in (None, 1):
        with pytest.raises(ValueError, match=r"^x must be one point, got 2"):
            opt.forget([each.x for each in suggestions[:2]], id=id)
    assert books(opt) == before


def test_no_ids_are_of_no_suggestion():
    opt, _ = asked()
    before = books(opt)
    with pytest.raises(ValueError, match=r"^id must be of one suggestion at least, got none"):
        opt.tell(id=[], y=[])
    assert books(opt) == before


def test_what_is_forgotten_may_be_told_by_its_id():
    opt, suggestions = asked()
    opt.forget(id=1)
    opt.tell(id=1, y=3.0)
    assert [suggestions[1].x] == opt.X and [each.id for each in opt.pending] == [0, 2, 3]


def test_another_point_under_an_id_that_is_told_is_no_retry():
    opt = Optimizer([(0.0, 1.0)], rng=0)
    first = opt.ask(ids=True)
    opt.tell(first, failed=True)
    opt.tell(first, failed=True)  # a retry
    with pytest.raises(ValueError, match="x must be the point told before for suggestion 0, got another one"):
        opt.tell([0.123], id=0, failed=True)
    assert opt.n_told == 1


def test_an_id_may_be_an_array_of_one_number():
    opt = Optimizer([(0.0, 1.0)], rng=0)
    opt.ask(2)
    opt.tell(id=np.array(1), y=2.0)
    assert [each.id for each in opt.pending] == [0]


@pytest.mark.parametrize("id", [True, 1.0, "1", -1, np.bool_(True)], ids=repr)
@pytest.mark.parametrize("call", ["tell", "forget"])
@pytest.mark.parametrize("within", [False, True], ids=["id", "suggestion"])
def test_a_wrong_id_is_refused_and_the_journal_stays_readable(tmp_path, id, call, within):
    path = tmp_path / "run.jsonl"
    with Optimizer([(0.0, 1.0)], rng=0, journal=path) as opt:
        asked = opt.ask(2, ids=True)
        before = path.read_bytes()
        given = {"x": Suggestion(id, asked[1].x)} if within else {"id": id}
        with pytest.raises(ValueError, match=r"id must be (an integer|at least 0), got"):
            opt.tell(**given, y=1.0) if call == "tell" else opt.forget(**given)
        assert path.read_bytes() == before and [each.id for each in opt.pending] == [0, 1]


def test_ids_of_numpy_are_written_as_numbers(tmp_path):
    path = tmp_path / "run.jsonl"
    with Optimizer([(0.0, 1.0)], rng=0, journal=path) as opt:
        asked = opt.ask(4, ids=True)
        opt.forget(id=np.int64(1))
        opt.forget(Suggestion(np.int64(2), asked[2].x))
        opt.tell(Suggestion(np.int64(3), asked[3].x), 1.0)
    assert [each.id for each in read_ledger(path).pending] == [0]


def test_a_point_and_an_id_of_different_suggestions_are_refused():
    opt = Optimizer([(0.0, 1.0)], rng=0)
    opt.enqueue([[0.25], [0.25], [0.5]])
    first, twin, other = opt.ask(3, ids=True)
    for x in (first, first.x):
        with pytest.raises(ValueError, match="x and id must be of the same suggestion, got"):
            opt.forget(x, id=other.id)
    with pytest.raises(ValueError, match="x and id must be of the same suggestion, got"):
        opt.tell(first, 1.0, id=other.id)
    assert opt.n_told == 0 and len(opt.pending) == 3
    opt.forget(first.x, id=twin.id)  # both are of that point
    opt.forget(other, id=other.id)
    assert [each.id for each in opt.pending] == [first.id]
    opt.tell(first, 1.0, id=first.id)


def test_noise_told_again_is_as_it_was():
    opt, _ = asked()
    opt.tell(id=[0, 1], y=[1.0, 2.0], noise_std=[0.5, 0.0])
    for noise_std in (None, [0.5, 0.0]):
        opt.tell(id=[0, 1], y=[1.0, 2.0], noise_std=noise_std)
    for id, before, noise_std in ((0, 0.5, 9.0), (0, 0.5, 0.0), (1, 0.0, 9.0)):
        with pytest.raises(ValueError, match=f"^noise_std must be that told before .* {id}, {before}, got {noise_std}"):
            opt.tell(id=id, y=id + 1.0, noise_std=noise_std)
    opt, _ = asked()
    opt.tell(id=0, y=1.0)
    opt.tell(id=0, y=1.0, noise_std=0.0)
    with pytest.raises(ValueError, match=r"^noise_std must be that told before for suggestion 0, 0.0, got 0.1"):
        opt.tell(id=[0, 1], y=[1.0, 2.0], noise_std=0.1)
    assert opt.n_told == 1

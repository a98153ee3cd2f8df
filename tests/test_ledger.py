"""What may be told, in which forms, and that a bad tell leaves no trace."""

import copy
import pickle
import threading
from decimal import Decimal

import numpy as np
import pytest

from gssbo import GaussianProcess, Optimizer
from gssbo.ledger import Ledger, read_ledger
from gssbo.pending import Pending, Suggestion
from gssbo.resume import set_states, states_of
from gssbo.space import Space

MIXED = {"n": range(10), "x": (0.0, 1.0), "c": ["u", "v"]}
POINT = {"n": 3, "x": 0.5, "c": "v"}


class Series:
    """What counts here of a column of a data frame that holds objects."""

    iloc = None

    def __init__(self, items):
        self._items = items

    def __iter__(self):
        return iter(self._items)

    def __array__(self, dtype=None, copy=None):
        return np.array(self._items, dtype=object if dtype is None else dtype)


def asked(bounds=MIXED, n=4):
    opt = Optimizer(bounds, n_init=6, rng=0)
    return opt, opt.ask(n, ids=True)


def books(opt):
    return opt.X if isinstance(opt.X, list) else opt.X.tolist(), opt.y.tolist(), opt.pending, opt.n_failed


# ---- forms


@pytest.mark.parametrize("x", [POINT, [3, 0.5, "v"], (3.0, 0.5, "v"), [POINT], [[3, 0.5, "v"]]])
def test_forms_of_one_point(x):
    ledger = Ledger(Space(MIXED))
    ledger.tell(x, [2.0])
    assert (ledger.X, ledger.y.tolist(), ledger.best_x, ledger.best_y) == ([POINT], [2.0], POINT, 2.0)


def test_forms_of_many_points():
    points = [POINT, {**POINT, "n": 4}]
    tables = [points, {"n": [3, 4], "x": [0.5, 0.5], "c": ["v", "v"]}, [[3, 0.5, "v"], [4, 0.5, "v"]]]
    for x in tables:
        for y in ([2.0, 1.0], np.array([2.0, 1.0]), (2, 1)):
            ledger = Ledger(Space(MIXED), maximize=True)
            ledger.tell(x, y)
            assert (ledger.X, ledger.y.tolist(), ledger.best_x) == (points, [2.0, 1.0], POINT)


# ---- suggestions


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


def test_ask_gives_points_in_the_form_of_the_bounds():
    opt = Optimizer([(0.0, 1.0)] * 2, rng=0)
    one, many = opt.ask(), opt.ask(3)
    assert one.shape == (2,) and many.shape == (3, 2)
    again = Optimizer([(0.0, 1.0)] * 2, rng=0)
    np.testing.assert_array_equal(again.ask(4), np.vstack([one, many]))
    number, x = again.ask(ids=True)
    assert number == 4 and x.shape == (2,)
    assert [type(x) for x in Optimizer(MIXED, rng=0).ask(2)] == [dict, dict]
    assert [type(x) for x in Optimizer(list(MIXED.values()), rng=0).ask(2)] == [list, list]


@pytest.mark.parametrize(
    ("n", "message"), [(0, "^n must be at least 1"), (1.5, "^n must be an integer"), (True, "^n must")]
)
def test_bad_asks(n, message):
    opt = Optimizer(MIXED, rng=0)
    with pytest.raises(ValueError, match=message):
        opt.ask(n)
    with pytest.raises(ValueError, match=r"^ids must be True or False"):
        opt.ask(ids=1)
    assert opt.pending == []


# ---- failures


def test_a_column_of_objects_that_are_numbers():
    ledger = Ledger(Space(MIXED))
    ledger.tell([POINT] * 3, Series([1.0, Decimal(2), np.nan]), noise_std=Series([1, np.float32(0), True]))
    np.testing.assert_array_equal(ledger.y, [1.0, 2.0, np.nan])


def test_ways_to_say_that_it_failed():
    ledger = Ledger(Space(MIXED))
    for failure in (
        {"y": np.nan},
        {"y": np.inf},
        {"failed": True},
        {"y": 3.0, "failed": True},
        {"y": None, "failed": True},
    ):
        ledger.tell(POINT, **failure)
    ledger.tell([POINT] * 3, [1.0, 2.0, 3.0], failed=[True, False, True])
    ledger.tell([POINT] * 2, failed=[True, True])
    assert (ledger.n_told, ledger.n_failed, ledger.best_y) == (10, 9, 2.0)
    np.testing.assert_array_equal(np.flatnonzero(~np.isnan(ledger.y)), [6])


# ---- noise


def test_noise_is_kept_in_units_of_y():
    ledger = Ledger(Space([(0.0, 1.0)]))
    ledger.tell([[0.1], [0.2]], [1.0, 2.0], noise_std=0.5)
    ledger.tell([0.3], 3.0)
    ledger.tell([[0.4], [0.5]], [1.0, 2.0], noise_std=[0.0, 2.0])
    np.testing.assert_array_equal(ledger._history.noise_std, [0.5, 0.5, 0.0, 0.0, 2.0])


def test_noise_reaches_the_model_in_its_own_units():
    rng = np.random.default_rng(0)
    X = rng.random((20, 1))
    y = 100.0 * X[:, 0]
    y[7] += 60.0
    fixed = GaussianProcess(lengthscale=0.5, noise=1e-4, fit_hyperparameters=False)
    predictions = []
    for noise_std in (None, np.where(np.arange(20) == 7, 60.0, 0.0)):
        opt = Optimizer([(0.0, 1.0)], n_init=5, surrogate=fixed, rng=0)
        opt.tell(X, y, noise_std=noise_std)
        predictions.append(float(opt.predict(X[7:8])[0]))
    assert abs(predictions[0] - 100.0 * X[7, 0]) > 20.0
    assert abs(predictions[1] - 100.0 * X[7, 0]) < 3.0


def test_noise_is_that_of_the_retained_ones():
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    noise_std = 0.01 * np.arange(60.0)
    opt = Optimizer([(0.0, 1.0)] * 2, n_init=5, subset_size=12, rng=0)
    opt.tell(X, X.sum(axis=1), noise_std=noise_std)
    opt.ask()
    assert len(opt.retained) == 12
    gp = opt.surrogate
    np.testing.assert_allclose(gp.known_noise_, (noise_std[opt.retained] / gp.y_std_) ** 2, rtol=1e-12)


# ---- what is refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": {"n": 3}, "y": 1.0}, "^x must have the keys"),
        ({"x": {**POINT, "n": 11}, "y": 1.0}, "^x must lie within bounds, got 11 for parameter 'n'"),
        ({"x": [POINT, {**POINT, "c": "w"}], "y": [1.0, 2.0]}, "^x must be one of the values, got 'w'"),
        ({"x": POINT}, "^y must be a number, or NaN where an evaluation failed, got None"),
        ({"x": [POINT, POINT], "y": [1.0, None]}, "^y must be a number, or NaN"),
        ({"x": [POINT, POINT], "y": Series([1.0, None])}, r"^y must be a number, or NaN .* got None at index \(1,\)"),
        (
            {"x": [POINT, POINT], "y": np.array([1.0, "2"], object)},
            "^y must be an array of real numbers, got .* not str",
        ),
        (
            {"x": [POINT, POINT], "y": [1.0, 2.0], "noise_std": [1.0, None]},
            "^noise_std must be an array of real numbers",
        ),
        ({"x": POINT, "y": -np.inf}, r"^y must be finite, got -inf at index \(0,\)"),
        ({"x": POINT, "y": [1.0, 2.0]}, r"^y must be one number for one point x, got shape \(2,\)"),
        ({"x": [POINT, POINT], "y": [1.0]}, "^y must have 2 entries, got 1"),
        ({"x": [POINT, POINT], "y": 1.0}, r"^y must have shape \(n,\), got shape \(\)"),
        ({"x": POINT, "y": 1.0, "failed": 1}, "^failed must be True or False"),
        (
            {"x": POINT, "y": 1.0, "failed": [True, False]},
            r"^failed must be True or False, or one of them a point \(1\)",
        ),
        (
            {"x": [POINT, POINT], "y": [1.0, 2.0], "failed": np.ma.array([True, False], mask=[True, False])},
            "^failed must have no masked entries, got masked_array",
        ),
        ({"x": [POINT], "y": [1.0], "failed": [np.ma.masked]}, "^failed must have no masked entries"),
        ({"x": [POINT, POINT], "failed": [True, False]}, "^y must be a number, or NaN"),
        ({"x": POINT, "y": 1.0, "noise_std": -1.0}, "^noise_std must be at least 0, got -1.0"),
        ({"x": POINT, "y": 1.0, "noise_std": np.nan}, "^noise_std must be finite"),
        ({"x": POINT, "y": 1.0, "noise_std": [1.0, 2.0]}, "^noise_std must have 1 entries, got 2"),
        ({"x": [POINT] * 3, "y": [1.0] * 3, "noise_std": [1.0, 2.0]}, "^noise_std must have 3 entries, got 2"),
        ({"id": 9, "y": 1.0}, "^id must be of a suggestion, got 9 where 4 were asked"),
        ({"id": -1, "y": 1.0}, "^id must be at least 0, got -1"),
        ({"id": 1.5, "y": 1.0}, "^id must be an integer, got 1.5"),
        ({"id": "1", "y": 1.0}, "^id must be an integer, got '1'"),
        ({"id": [1, 1], "y": [1.0, 1.0]}, r"^id must hold each number once, got \[1, 1\]"),
        ({"id": [1, 2], "y": 1.0}, r"^y must have shape \(n,\)"),
        ({"id": 1, "y": [1.0, 2.0]}, "^y must be one number for one point x"),
        ({"x": [POINT, POINT], "id": 1, "y": [1.0, 2.0]}, r"^id must have one entry a point \(2\), got 1"),
        ({"id": [1, 2, 99], "y": [1.0, 1.0, 1.0]}, "^id must be of a suggestion, got 99"),
        ({"id": [1, 0], "y": [1.0, 9.0]}, "^y must be the value told before for suggestion 0, 0.5, got 9.0"),
        ({"x": [2, 0.5, "v"], "id": 0, "y": 0.5}, "^x must be the point told before for suggestion 0, got another one"),
    ],
)
def test_a_bad_tell_leaves_no_trace(arguments, message):
    opt, suggestions = asked()
    opt.tell(suggestions[0], 0.5)
    opt.forget(suggestions[3])
    before = books(opt)
    with pytest.raises(ValueError, match=message):
        opt.tell(**arguments)
    assert books(opt) == before


@pytest.mark.parametrize("what", [{"id": 9}, {"id": 0}, {"x": POINT}, {"x": Suggestion(0, POINT)}])
def test_only_pending_suggestions_are_forgotten(what):
    opt, suggestions = asked()
    opt.tell(suggestions[0], 0.5)
    before = books(opt)
    with pytest.raises(ValueError, match=r"^x or id must be of a pending suggestion, got "):
        opt.forget(**what)
    assert books(opt) == before


# ---- points to be suggested first, and observations made before


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


# ---- announced by others


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


def test_another_point_under_an_id_that_is_told_is_no_retry():
    opt = Optimizer([(0.0, 1.0)], rng=0)
    first = opt.ask(ids=True)
    opt.tell(first, failed=True)
    opt.tell(first, failed=True)  # a retry
    with pytest.raises(ValueError, match="x must be the point told before for suggestion 0, got another one"):
        opt.tell([0.123], id=0, failed=True)
    assert opt.n_told == 1


def test_the_place_of_a_missing_value_is_named():
    with pytest.raises(ValueError, match=r"y must be a number, or NaN .* got None at index \(57,\)$"):
        Optimizer([(0.0, 1.0)], rng=0).tell(np.linspace(0, 1, 100)[:, None], [1.0] * 57 + [None] * 43)


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
    for x in (first, first.x, [[0.25], [0.5]]):
        with pytest.raises(ValueError, match="x and id must be of the same suggestion, got"):
            opt.forget(x, id=other.id)
    with pytest.raises(ValueError, match="x and id must be of the same suggestion, got"):
        opt.tell(first, 1.0, id=other.id)
    assert opt.n_told == 0 and len(opt.pending) == 3
    opt.forget(first.x, id=twin.id)  # both are of that point
    opt.forget(other, id=other.id)
    assert [each.id for each in opt.pending] == [first.id]
    opt.tell(first, 1.0, id=first.id)


@pytest.mark.parametrize("made", [copy.deepcopy, copy.copy, lambda opt: pickle.loads(pickle.dumps(opt))])
def test_a_copy_is_of_one_moment_while_others_tell(made):
    """Telling is done while the copy is made, by a thread that waits for it to begin."""
    opt = Optimizer([(0.0, 1.0)], rng=0)
    opt.tell([[0.25], [0.5]], [1.0, 2.0])
    teller = threading.Thread(target=lambda: opt.tell([0.75], 3.0))

    class Interrupts:  # someone else's turn comes in the middle of the copy
        def __deepcopy__(self, memo):
            if not teller.ident:
                teller.start()
                teller.join(0.2)
            return None

    opt.__dict__ = {"_first": Interrupts(), **vars(opt)}
    twin = made(opt)
    teller.join()
    assert (twin.n_told, opt.n_told) == (2, 3)
    twin.tell([0.1], 4.0)
    assert opt.n_told == 3 and twin.space is not opt.space


def test_what_is_shared_with_a_copy_stays_shared():
    opt = Optimizer([(0.0, 1.0)], rng=0)
    twin, space = copy.deepcopy((opt, opt.space))
    assert twin.space is space
    assert copy.deepcopy([opt, opt])[0].n_told == 0


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


@pytest.mark.parametrize("maximize", [False, True])
def test_what_is_better_is_settled_at_the_beginning(maximize):
    opt = Optimizer([(0.0, 1.0)], maximize=maximize)
    assert opt.maximize is maximize
    with pytest.raises(AttributeError, match="maximize"):
        opt.maximize = not maximize
    assert copy.deepcopy(opt).maximize is pickle.loads(pickle.dumps(opt)).maximize is maximize


@pytest.mark.parametrize("times", [1, 2, 5])
@pytest.mark.parametrize(
    ("step", "call"),
    [
        ("add", lambda opt: opt.announce([[0.1], [0.2], [0.3]])),
        ("forget", lambda opt: opt.forget()),
        ("settle", lambda opt: opt.tell(id=[0, 1], y=[1.0, 2.0])),
    ],
)
@pytest.mark.parametrize("copied", [False, True])
@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, TimeoutError])
def test_what_a_signal_interrupts_is_completed(monkeypatch, step, call, times, copied, error):
    """At once, or with the next call where another one comes; what its handler raises makes no difference."""
    calm, hit = (Optimizer([(0.0, 1.0)], n_init=9, rng=0) for _ in range(2))
    for opt in (calm, hit):
        opt.ask(3)
    call(calm)
    original, left = getattr(Pending, step), [times]

    def interrupted(*arguments, **options):
        found = original(*arguments, **options)
        left[0] -= 1
        if left[0] >= 0:
            raise error
        return found

    with monkeypatch.context() as patch:
        patch.setattr(Pending, step, interrupted)
        with pytest.raises(error):
            call(hit)
    if copied:
        hit = copy.deepcopy(hit)
    for opt in (calm, hit):
        opt.tell([0.5], 1.0)
    assert books(calm) == books(hit)
    assert calm.ask(ids=True) == hit.ask(ids=True)


@pytest.mark.parametrize("times", [1, 2])
def test_all_generators_are_reseeded_or_none(monkeypatch, times):
    calm, hit = (Optimizer([(0.0, 1.0)] * 2, n_init=3, rng=0) for _ in range(2))
    left = [times]

    class Interrupting:
        def __init__(self, generator):
            self.bit_generator = self
            self._generator = generator

        def __setattr__(self, name, value):
            if name == "state":
                left[0] -= 1
                if left[0] >= 0:
                    raise KeyboardInterrupt
                self._generator.bit_generator.state = value
            else:
                super().__setattr__(name, value)

    calm.reseed(1)
    design, *others = hit._generators
    with monkeypatch.context() as patch:
        fake = Interrupting(others[0])
        patch.setattr("gssbo.optimizer.set_states", lambda _, states: set_states([design, fake, *others[1:]], states))
        with pytest.raises(KeyboardInterrupt):
            hit.reseed(1)
        for opt in (calm, hit):
            opt.tell([0.5, 0.5], 1.0)
    assert states_of(calm._generators) == states_of(hit._generators)


def test_the_queue_is_not_copied():
    opt = Optimizer([(0.0, 1.0)], n_init=3, rng=0)
    queue = opt._pending.queue
    for k in range(50):
        opt.enqueue([k / 50])
    for _ in range(5):
        opt.ask()
    assert opt._pending.queue is queue and len(queue) == 45  # added to and taken from, not copied
    assert opt.queue[0].tolist() == [0.1]


def test_the_books_are_not_gone_through_for_each_suggestion():
    passes = []

    class Watched(dict):
        def __iter__(self):
            passes.append(1)
            return super().__iter__()

    ledger = Ledger(Space([(0.0, 1.0)]))
    ledger.announce(np.linspace(0.0, 1.0, 1100)[:, None])
    books = ledger._pending
    books._open, books._forgotten = Watched(books._open), Watched(books._forgotten)
    for k in range(40):
        ledger.forget(id=k)
    ledger.announce([0.5])
    assert passes == []
    ledger.tell(np.full((1001, 1), 0.5), np.zeros(1001))
    assert len(ledger.pending) == 0 and books.n_asked == 1101
    assert len(passes) <= 2  # one look for what was overtaken, one at what is pending


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

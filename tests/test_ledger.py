"""What may be told, in which forms, and that a bad tell leaves no trace."""

import copy
import pickle
from decimal import Decimal

import numpy as np
import pytest

from gssbo import GaussianProcess, Optimizer
from gssbo.ledger import Ledger
from gssbo.recorded import read_ledger
from gssbo.space import Space
from tests.ledgers import MIXED, POINT, asked, books


class Series:
    """What counts here of a column of a data frame that holds objects."""

    iloc = None

    def __init__(self, items):
        self._items = items

    def __iter__(self):
        return iter(self._items)

    def __array__(self, dtype=None, copy=None):
        return np.array(self._items, dtype=object if dtype is None else dtype)


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


def test_what_was_told_is_there_as_rows_of_the_space():
    ledger = Ledger(Space(MIXED))
    ledger.tell([POINT, POINT], [1.0, 2.0])
    rows = ledger.rows
    assert list(ledger.space.show(rows)) == ledger.X == [POINT, POINT]
    rows[:] = ledger.space.read_many("x", Optimizer(MIXED, rng=0).ask(2))
    assert ledger.X == [POINT, POINT]


# ---- suggestions


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


def test_values_may_be_a_column():
    column = np.array([[3.0], [np.nan], [1.0]])
    ledger = Ledger(Space([(0.0, 1.0)] * 2))
    X = np.random.default_rng(0).random((3, 2))
    ledger.tell(X, column, noise_std=np.array([[0.1], [0.2], [0.3]]))
    np.testing.assert_array_equal(ledger.y, [3.0, np.nan, 1.0])
    np.testing.assert_array_equal(ledger._history.noise_std, [0.1, 0.2, 0.3])
    assert ledger.was_told(X, column).all()
    for wrong in (column.T, np.hstack([column, column]), column[:, :, None]):
        with pytest.raises(ValueError, match=r"^y must have shape \(n,\)"):
            ledger.tell(X, wrong)
    assert ledger.n_told == 3


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


def test_why_evaluations_failed_is_kept():
    ledger = Ledger(Space(MIXED))
    ledger.tell(POINT, 1.0)
    ledger.tell(POINT, failed=True)
    ledger.tell(POINT, failed=True, reason="out of memory")
    ledger.tell([POINT] * 2, failed=True, reason="out of time")
    suggestion = ledger.announce(POINT)
    for _ in range(2):  # a retry is no second failure
        ledger.tell(suggestion, np.nan, reason="")
    reasons = ["out of memory", "out of time", "out of time", ""]
    assert ledger.failures == [(ledger.X[0], reason) for reason in reasons]
    assert copy.deepcopy(ledger).failures == pickle.loads(pickle.dumps(ledger)).failures == ledger.failures
    for reason, failed in (("none", False), ("none", [True, False]), (5, True)):
        with pytest.raises(ValueError, match=f"^reason must be text, and of evaluations that failed, got {reason!r}"):
            ledger.tell([POINT] * 2, [1.0, 2.0], failed=failed, reason=reason)
    assert (ledger.n_told, len(ledger.failures)) == (6, 4)


def test_the_last_reason_counts_and_comes_late_to_its_place(tmp_path):
    path = tmp_path / "run.jsonl"
    with Optimizer(MIXED, rng=0, journal=path) as opt:
        first, second, third, good = opt.ask(4, ids=True)
        opt.tell([second, first], failed=True)
        opt.tell(third, failed=True, reason="it fell")
        opt.tell(good, 1.0)
        opt.tell([second, third], failed=True, reason="it boiled over")
        opt.tell([third, first], failed=True, reason="spilt")
        size = path.stat().st_size
        for again in ({"reason": "spilt"}, {}):  # nothing new
            opt.tell([first, third], failed=True, **again)
        assert path.stat().st_size == size
        expected = [(second.x, "it boiled over"), (first.x, "spilt"), (third.x, "spilt")]
        assert opt.failures == expected
        with pytest.raises(ValueError, match=r"^reason must be text, and of evaluations that failed, got 'late'"):
            opt.tell(good, 1.0, reason="late")
        fifth = opt.ask(ids=True)
        with pytest.raises(ValueError, match=r"^y must be the value told before"):
            opt.tell([fifth, good], failed=True, reason="late")
        opt.tell([fifth, first], failed=True, reason="late")  # one new, one told before
        expected = [expected[0], (first.x, "late"), expected[2], (fifth.x, "late")]
        assert opt.failures == expected and opt.n_told == 5
    assert read_ledger(path).failures == expected
    with Optimizer(MIXED, rng=0, journal=path) as opt:
        assert opt.failures == expected and opt.n_told == 5


# ---- noise


def test_noise_is_kept_in_units_of_y():
    ledger = Ledger(Space([(0.0, 1.0)]))
    ledger.tell([[0.1], [0.2]], [1.0, 2.0], noise_std=0.5)
    ledger.tell([0.3], 3.0)
    ledger.tell([[0.4], [0.5]], [1.0, 2.0], noise_std=[0.0, 2.0])
    np.testing.assert_array_equal(ledger._history.noise_std, [0.5, 0.5, 0.0, 0.0, 2.0])


@pytest.mark.parametrize("noise_std", [[0.5], [[0.5]], [0.5, 0.5]])
def test_noise_of_other_points_than_those_told_is_refused(noise_std):
    ledger = Ledger(Space([(0.0, 1.0)]))
    with pytest.raises(ValueError, match=r"^noise_std must have "):
        ledger.tell([[0.1], [0.2], [0.3]], [1.0, 2.0, 3.0], noise_std=noise_std)
    assert ledger.n_told == 0
    ledger.tell([0.1], 1.0, noise_std=[0.5])
    assert ledger._history.noise_std.tolist() == [0.5]


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
        ({"x": POINT, "y": "55.2"}, r"^y must be a number, not text: float\(\.\.\.\) reads it, got '55.2'$"),
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


def test_the_place_of_a_missing_value_is_named():
    with pytest.raises(ValueError, match=r"y must be a number, or NaN .* got None at index \(57,\)$"):
        Optimizer([(0.0, 1.0)], rng=0).tell(np.linspace(0, 1, 100)[:, None], [1.0] * 57 + [None] * 43)


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


def test_a_number_alone_is_no_point_of_several_parameters():
    opt = Optimizer([(0.0, 1.0)] * 2, rng=0)
    opt.ask()
    for number in (0, np.int64(0)):
        with pytest.raises(ValueError, match=r"^x must be a point, got 0; the number of a suggestion is told by id=0$"):
            opt.tell(number, 1.0)
    assert opt.n_told == 0
    one = Optimizer([(0.0, 1.0)], rng=0)
    one.tell(1, 2.0)
    assert one.best_x == [1.0]

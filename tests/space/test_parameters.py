"""The kinds of parameters: what they take, and what they refuse."""

import inspect
import math
import pydoc
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from gssbo import Categorical, Integer, Real
from gssbo.space import Space
from gssbo.space.parameter import Misfit


def shown(parameter, values):
    kind = parameter.resolved()
    return kind.show(kind.store(values))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Real(2, 1), r"^Real must have low <= high, got \(2.0, 1.0\)"),
        (lambda: Real(math.nan, 1), "^low must be finite, got nan"),
        (lambda: Real(0, math.inf), "^high must be finite, got inf"),
        (lambda: Real(-1e308, 1e308), "^Real must have a finite high - low"),
        (lambda: Real("0", 1), "^low must be a real number, got '0'"),
        (lambda: Real(True, 2), "^low must be a real number, got True"),
        (lambda: Real(0, 1, log=True), "^Real must have low > 0 with log=True"),
        (lambda: Real(1, 2, log="yes"), "^log must be True or False, got 'yes'"),
        (lambda: Real(0, 1, step=0), "^step must be greater than 0"),
        (lambda: Real(1, 2, step=0.1, log=True), "^step must not be given with log=True"),
        (lambda: Real(0, 1, step=3), r"^step must be at most high - low \(1.0\), got 3.0"),
        (lambda: Integer(2, 9, step=8), r"^step must be at most high - low \(7\), got 8"),
        (lambda: Real(0, 1, step=1e-9), r"^step must be taken at most 1000000 times between 0\.0 and 1\.0, got 1e-09"),
        (lambda: Real(0, 1, step=1 / 1_000_001), "^step must be taken at most 1000000 times"),
        (lambda: Real(1e16, 1e16 + 4, step=0.5), "^step must tell values apart"),
        (lambda: Integer(3, 2), r"^Integer must have low <= high, got \(3, 2\)"),
        (lambda: Integer(0.5, 2), "^low must be an integer, got 0.5"),
        (lambda: Integer(0, True), "^high must be an integer, got True"),
        (lambda: Integer(0, 10**25), r"^Integer must have bounds and a width below 2\^63 - 1"),
        (lambda: Integer(-(2**62), 2**62), r"^Integer must have bounds and a width below 2\^63 - 1"),
        (lambda: Integer(0, 9, log=True), "^Integer must have low >= 1 with log=True"),
        (lambda: Integer(1, 9, log=True, step=2), "^step must be 1 with log=True, got 2"),
        (lambda: Integer(0, 9, step=0), "^step must be at least 1, got 0"),
        (lambda: Integer(0, 0, step=10**19), "^step must be at most 9223372036854775807, got 10000000000000000000"),
        (lambda: Categorical(np.array(0.5)), r"^values must be a list or tuple of values, got array\(0.5\)"),
        (lambda: Categorical([]), "^values must not be empty"),
        (lambda: Categorical("abc"), "^values must be a list or tuple of values, got 'abc'"),
        (lambda: Categorical({"a", "b"}), "^values must be a list or tuple of values"),
        (lambda: Categorical(["a", "b", "a"]), "^values must be distinct, got 'a' twice"),
        (lambda: Categorical([True, 1]), "^values must be distinct, got 1, which equals True$"),
        (lambda: Categorical([math.nan, 1, float("nan")]), "^values must be distinct, got nan twice"),
        (lambda: Categorical([(math.nan, 1), (float("nan"), 1)]), r"^values must be distinct, got \(nan, 1\) twice"),
        (lambda: Categorical([np.zeros(2), 1]), "^values must be equal to themselves"),
        (lambda: Categorical([(np.zeros(2), 1), 1]), "^values must be equal to themselves"),
    ],
)
def test_bad_parameters(make, message):
    with pytest.raises(ValueError, match=message):
        kind = make()
        kind.resolved()


def test_options_are_keywords():
    for kind in (Real, Integer):
        with pytest.raises(TypeError):
            kind(1, 2, True)


@pytest.mark.parametrize(
    ("parameter", "values"),
    [
        (Real(0.1, 0.7, step=0.2), [0.1, 0.3, 0.5, 0.7]),
        (Real(0.4, 1.3, step=0.3), [0.4, 0.7, 1.0, 1.3]),
        (Real(0, 1, step=0.3), [0.0, 0.3, 0.6, 0.9]),
        (Real(-1e-3, 1e-3, step=5e-4), [-0.001, -0.0005, 0.0, 0.0005, 0.001]),
        (Real(5, 5, step=2), [5.0]),
        (Real(0.1, 0.3, step=0.2), [0.1, 0.3]),
        (Integer(1, 10, step=4), [1, 5, 9]),
        (Integer(-3, -1), [-3, -2, -1]),
        (Categorical(["a", (64, 64), None, 2.5]), ["a", (64, 64), None, 2.5]),
    ],
)
def test_the_values_of_discrete_parameters(parameter, values):
    kind = parameter.resolved()
    assert kind.n_values == len(values)
    got = kind.show(kind.at(np.arange(len(values))))
    assert got == values
    assert [type(value) for value in got] == [type(value) for value in values]
    assert shown(parameter, values) == values
    n_columns = len(values) if isinstance(parameter, Categorical) else min(len(values) - 1, 1)
    assert kind.n_columns == n_columns
    if n_columns:
        np.testing.assert_array_equal(kind.decode(kind.encode(kind.store(values))), kind.store(values))


def test_the_finest_grid():
    assert Real(0, 1, step=1e-6).resolved().n_values == 1_000_001


def test_a_category_is_the_object_that_was_given():
    kinds = ("relu", object())
    parameter = Categorical([*kinds, True])
    assert [value is kind for value, kind in zip(shown(parameter, [*kinds, 1]), [*kinds, True], strict=True)] == [
        True
    ] * 3


def test_lists_are_copied_wherever_they_are_and_what_they_hold_is_not():
    inside = object()
    given = [[1, [inside]], ([2],), {"a": [3]}, {4}, np.array([5])]
    parameter = Categorical(given)
    for _ in range(2):
        nested, pair, table, some, array = shown(parameter, [[1, [inside]], ([2],), {"a": [3]}, {4}, 5])
        assert nested[1][0] is inside
        nested[1].clear(), pair[0].clear(), table["a"].clear(), some.clear(), array.fill(0)
    given[0].clear()
    assert shown(parameter, [[1, [inside]], ([2],)]) == [[1, [inside]], ([2],)]
    flat = (1, (2, inside))
    assert shown(Categorical([flat, 0]), [flat])[0] is flat


def test_numpy_scalars_are_taken_for_built_in_ones():
    assert [type(value) for value in Categorical(np.array(["a", "b"])).values] == [str, str]
    assert [type(value) for value in Categorical(np.array([1, 2])).values] == [int, int]
    assert Integer(np.int8(1), np.uint8(9)) == Integer(1, 9)
    assert type(Real(np.float32(1), 2).low) is float
    assert shown(Categorical(["a", True]), [np.str_("a"), np.True_]) == ["a", True]


@pytest.mark.parametrize(
    ("parameter", "values", "expected"),
    [
        (Real(0, 1), [0, 1, np.float32(0.5), Decimal("0.25"), Fraction(1, 8)], [0.0, 1.0, 0.5, 0.25, 0.125]),
        (Real(0, 1), np.array([0, 1], dtype=np.uint8), [0.0, 1.0]),
        (Integer(0, 100), [64.0, np.int8(3), np.float64(7), 5], [64, 3, 7, 5]),
        (Integer(0, 100), np.array([64.0, 3.0]), [64, 3]),
        (Integer(0, 100), np.array([64, 3], dtype=np.uint16), [64, 3]),
        (Integer(-(2**60), 2**60), [2**53 + 1, -(2**53) - 1], [2**53 + 1, -(2**53) - 1]),
        (
            Integer(-(2**60), 2**60),
            [Fraction(2**53 + 1), Decimal(2**53 + 1), np.array(2**53 + 1), np.longdouble(2**53 - 1)],
            [2**53 + 1] * 3 + [2**53 - 1],
        ),
        (Real(0, 1, step=0.1), [0.30000000000000004, 0.7999999999999999], [0.3, 0.8]),
    ],
)
def test_values_taken(parameter, values, expected):
    got = shown(parameter, values)
    assert got == expected
    assert [type(value) for value in got] == [type(value) for value in expected]


@pytest.mark.parametrize(
    ("parameter", "value", "rule"),
    [
        (Real(0, 1), 1.1, "lie within bounds"),
        (Real(0, 1), math.nan, "be finite"),
        (Real(0, 1), "0.5", "be a real number"),
        (Real(0, 1), True, "be a real number"),
        (Real(0, 1), None, "be a real number"),
        (Real(0, 1), 10**400, "be a real number"),
        (Real(0, 1), [0.5], "be a real number"),
        (Real(0, 1), np.complex128(0.5), "be a real number"),
        (Real(0, 1), np.timedelta64(1, "ns"), "be a real number"),
        (Integer(0, 10**18), np.datetime64(1, "ns"), "be a real number"),
        (Integer(0, 9), np.array(5 + 0j), "be a real number"),
        (Integer(0, 9), np.array(True), "be a real number"),
        (Real(1e-4, 1e-1, log=True), 0, "lie within bounds"),
        (Real(1e-300, 1e10, log=True), 0.0, "lie within bounds"),
        (Real(1e-300, 1e10, log=True), 1e11, "lie within bounds"),
        (Real(5e-324, 1.7e308, log=True), 0.0, "lie within bounds"),
        (Real(0, 0.3), 0.3000001, "lie within bounds"),
        (Real(1e6 + 0.02, 1e6 + 0.03), np.float32(1e6 + 0.02), "lie within bounds"),  # which is 1e6
        (Real(0, 1, step=0.1), np.nextafter(np.float32(0.3), np.float32(1.0)), "lie on the steps"),
        (Real(0, 1, step=0.25), 0.3, "lie on the steps"),
        (Real(0, 1, step=0.3), 1.0, "lie on the steps"),
        (Real(0, 1, step=0.25), 1.25, "lie within bounds"),
        (Integer(16, 256), 300, "lie within bounds"),
        (Integer(16, 256), 64.5, "be a whole number"),
        (Integer(16, 256), Fraction(2**60 + 1, 2**54), "be a whole number"),
        (Integer(16, 256), Decimal("64.0000000000000000000001"), "be a whole number"),
        (Integer(16, 256), Decimal("NaN"), "be a whole number"),
        (Integer(16, 256), Decimal("Infinity"), "be a whole number"),
        (Integer(16, 256), "64", "be a real number"),
        (Integer(0, 1), True, "be a real number"),
        (Integer(16, 256), 10**30, "lie within bounds"),
        (Integer(16, 256), math.inf, "be a whole number"),
        (Integer(1, 9, step=4), 4, "lie on the steps"),
        (Categorical(["relu", "gelu"]), "tanh", "be one of the values"),
        (Categorical(["relu", "gelu"]), np.zeros(2), "be one of the values"),
    ],
)
def test_values_refused(parameter, value, rule):
    good = parameter.resolved().show(parameter.resolved().at(np.array([0])))[0]
    with pytest.raises(Misfit) as caught:
        parameter.resolved().store([good, value, value])
    assert (caught.value.where, caught.value.rule) == (1, rule)


@pytest.mark.parametrize(
    ("parameter", "values"),
    [
        (Real(0.9, 1.7), [0.9, 1.7]),
        (Real(-0.3, 0.3), [-0.3, 0.3]),
        (Real(1e-5, 0.1, log=True), [1e-5, 0.1]),
        (Real(0, 1, step=0.1), [0.0, 0.1, 0.3, 0.7, 0.9, 1.0]),
        (Real(0.1, 0.7, step=0.2), [0.1, 0.3, 0.5, 0.7]),
    ],
    ids=str,
)
def test_values_come_back_from_single_precision(parameter, values):
    told = np.array(values, dtype=np.float32)
    assert (told.astype(np.float64) != values).any()
    for given in (told, list(told), told.astype(np.float64)):
        assert parameter.resolved().store(given).tolist() == values


def test_parameters_are_values():
    assert Real(0, 1) == Real(0.0, 1.0) != Real(0, 1, log=False, step=0.5)
    assert Integer(1, 3) != Integer(1, 3, step=2)
    assert len({Real(0, 1), Real(0.0, 1.0), Categorical(["a"]), Categorical(("a",))}) == 2
    with pytest.raises(AttributeError):
        Real(0, 1).low = 5


@pytest.mark.parametrize("kind", [Real, Integer, Categorical])
def test_help_stands_by_itself(kind):
    text = pydoc.render_doc(kind, renderer=pydoc.plaintext)
    assert "See `" not in text and "top of this module" not in text
    public = [
        name for name in dir(kind) if not name.startswith("_") and name not in ("dtype", "low", "high", "log", "step")
    ]
    assert {"store", "show", "encode", "decode", "place", "at", "limits", "n_values"} <= set(public)
    assert all(len(inspect.getdoc(getattr(kind, name)) or "") > 15 for name in public)


@pytest.mark.parametrize("low", [1, 2**30, 2**50, 2**53, 2**60])
@pytest.mark.parametrize("width", [1, 2, 200, 10**5])
def test_whole_numbers_on_a_log_scale_are_told_apart_wherever_they_are(low, width):
    kind = Integer(low, low + width, log=True)
    codes = np.unique(np.linspace(0, width, 201).astype(np.int64))
    values = kind.at(codes)
    unit = kind.encode(values)
    assert ((unit >= 0.0) & (unit <= 1.0)).all() and (np.diff(unit[:, 0]) > 0.0).all()
    assert kind.decode(unit).tolist() == values.tolist()
    drawn = kind.decode(kind.place(np.random.default_rng(0).random(1000)))
    assert drawn.min() >= low and drawn.max() <= low + width


def test_a_log_scale_of_a_few_doubles_is_a_linear_one():
    low = 2.2e-308
    high = np.nextafter(np.nextafter(low, 1.0), 1.0)
    kind = Real(low, high, log=True)
    assert kind.decode(np.array([[0.0], [1.0]])).tolist() == [low, high]
    assert kind.encode(np.array([low, high])).tolist() == [[0.0], [1.0]]


@pytest.mark.parametrize("kind", [Real(0.0, 1e9), Real(1e-4, 1.0, log=True)])
def test_what_rounding_takes_beyond_a_bound_is_the_bound(kind):
    beyond = [np.nextafter(kind.low, -1.0), np.nextafter(kind.high, 1e10)]
    assert kind.store(beyond).tolist() == [kind.low, kind.high]


def test_categories_are_found_without_comparing_them_all():
    compared = 0

    class Name:
        def __init__(self, number):
            self.number = number

        def __hash__(self):
            return hash(self.number)

        def __eq__(self, other):
            nonlocal compared
            compared += 1
            return isinstance(other, Name) and self.number == other.number

    n = 500
    categories = Categorical([Name(number) for number in range(n)])
    assert categories.store([Name(number) for number in range(n)]).tolist() == list(range(n))
    assert compared < 5 * n
    with pytest.raises(ValueError, match="distinct"):
        Categorical([*categories.values, Name(7)])


class Hashless:
    """Equal to the text it was made of, and without a hash, though it has the method."""

    def __init__(self, text):
        self.text = text

    def __hash__(self):
        raise RuntimeError

    def __eq__(self, other):
        return str(other) == self.text

    def __str__(self):
        return self.text


class Vector:
    """Of several numbers: whether two are equal has no answer."""

    __hash__ = None

    def __eq__(self, other):
        raise RuntimeError("the truth value of several numbers is ambiguous")


def test_what_cannot_be_compared_is_no_category():
    with pytest.raises(ValueError, match=r"^values must be equal to themselves, got <.*Vector"):
        Categorical(["a", Vector()])
    with pytest.raises(ValueError, match=r"must be one of the values, got <.*Vector"):
        Categorical(["a", "b"]).store([Vector()])


def test_categories_without_a_hash_are_compared():
    values = [Hashless("u"), [1, 2], "v", {3}, frozenset({4})]
    categories = Categorical(values)
    assert categories.store([{4}, Hashless("v"), [1, 2], "u", frozenset({3})]).tolist() == [4, 2, 1, 0, 3]
    for more in ("u", Hashless("v"), [1, 2], frozenset({3}), {4}):
        with pytest.raises(ValueError, match="distinct"):
            Categorical([*values, more])


def test_nan_is_a_category_like_others():
    """What scikit-learn calls missing, say; one that was read from somewhere is another object."""
    categories = Categorical([0, math.nan, (math.nan, 1), [math.nan]])
    assert categories.store([[float("nan")], (float("nan"), 1), np.float64("nan"), 0]).tolist() == [3, 2, 1, 0]
    for other in ((math.nan,), (1, math.nan), [math.nan, 1], math.inf):
        with pytest.raises(ValueError, match="must be one of the values"):
            categories.store([other])
    assert math.isnan(Categorical([math.nan, 1]).largest)  # no number, as far as constraints are concerned


def test_a_message_shows_some_of_many_values():
    space = Space({"c": [f"v{i}" for i in range(9_000)]})
    with pytest.raises(ValueError, match=r"parameter 'c' .* whose values are 'v0', .*... \(9,000\)$"):
        space.read("x", {"c": "w"})

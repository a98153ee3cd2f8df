"""Points as users write them."""

import collections
from array import array

import numpy as np
import pytest

from gssbo import minimize
from gssbo.space import Space
from gssbo.space.points import by_name

NAMED = Space({"n": range(16, 257), "rate": (0.0, 1.0), "act": ["relu", "gelu"]})
LISTED = Space([range(16, 257), (0.0, 1.0), ["relu", "gelu"]])
POINTS = [[16, 0.5, "gelu"], [200, 0.25, "relu"]]
DICTS = [dict(zip(("n", "rate", "act"), point, strict=True)) for point in POINTS]


class Frame:
    """The part of a pandas data frame that is used."""

    class Column(list):
        tolist = list.copy

    iloc = None

    def __init__(self, columns):
        self._columns = columns

    @property
    def columns(self):
        return list(self._columns)

    def __len__(self):
        return len(self[self.columns[0]])

    def __getitem__(self, name):
        return self.Column(self._columns[name])


class PolarsFrame:
    """The part of a Polars data frame that is used."""

    def __init__(self, columns):
        self._columns = columns

    columns = property(lambda self: list(self._columns))

    def __len__(self):
        return len(self[self.columns[0]])

    def __getitem__(self, name):
        return tuple(self._columns[name])


class Series:
    """The part of a pandas Series, such as a row of a data frame, that is used."""

    iloc = None

    def __init__(self, values, index):
        self._values = dict(zip(index, values, strict=True))

    def __len__(self):
        return len(self._values)

    def __iter__(self):
        return iter(self._values.values())

    def items(self):
        return self._values.items()


SHUFFLED = ("rate", "act", "n")
Row = collections.namedtuple("Row", SHUFFLED)
ROWS = [(0.5, "gelu", 16), (0.25, "relu", 200)]
RECORDS = np.array(ROWS, dtype=[("rate", float), ("act", "U4"), ("n", int)])


@pytest.mark.parametrize(
    "value",
    [
        POINTS,
        tuple(map(tuple, POINTS)),
        np.array(POINTS, dtype=object),
        DICTS,
        [collections.OrderedDict(reversed(point.items())) for point in DICTS],
        {"rate": [0.5, 0.25], "act": ["gelu", "relu"], "n": np.array([16, 200])},
        Frame({"act": ["gelu", "relu"], "n": [16, 200], "rate": [0.5, 0.25]}),
        PolarsFrame({"act": ["gelu", "relu"], "n": [16, 200], "rate": [0.5, 0.25]}),
        Frame(dict(enumerate(zip(*POINTS, strict=True)))),
        [Row(*row) for row in ROWS],
        [Series(row, SHUFFLED) for row in ROWS],
        [Series(point, range(3)) for point in POINTS],
        RECORDS,
        list(RECORDS),
    ],
)
def test_many_points(value):
    rows, single = NAMED.read("x", value)
    assert not single
    assert NAMED.show(rows) == DICTS
    assert NAMED.show(NAMED.read_many("x", value)) == DICTS


@pytest.mark.parametrize(
    "value",
    [
        POINTS[0],
        tuple(POINTS[0]),
        np.array(POINTS[0], dtype=object),
        DICTS[0],
        Row(*ROWS[0]),
        Series(ROWS[0], SHUFFLED),
        Series(POINTS[0], range(3)),
        RECORDS[0],
        RECORDS.astype([(name, object) for name in SHUFFLED])[0],
    ],
)
def test_one_point(value):
    rows, single = NAMED.read("x", value)
    assert single
    assert NAMED.show(rows) == DICTS[:1]
    with pytest.raises(ValueError, match=r"^X must be a list of points, got one point"):
        NAMED.read_many("X", value)


NAMELESS = np.array([tuple(point) for point in POINTS], dtype="i8,f8,U4")


@pytest.mark.parametrize(
    "value",
    [POINTS, np.array(POINTS, dtype=object), [Series(point, "abc") for point in POINTS], NAMELESS, list(NAMELESS)],
)
def test_lists_of_values(value):
    assert LISTED.show(LISTED.read("x", value)[0]) == POINTS
    one, single = LISTED.read("x", value[0])
    assert single and LISTED.show(one) == POINTS[:1]


@pytest.mark.parametrize("kind", [Frame, PolarsFrame])
def test_a_frame_is_read_in_its_order_where_parameters_have_no_names(kind):
    frame = kind(dict(zip("zyx", zip(*POINTS, strict=True), strict=True)))
    assert LISTED.show(LISTED.read("x", frame)[0]) == LISTED.show(LISTED.read_many("x", frame)) == POINTS
    with pytest.raises(ValueError, match=r"^x must have 3 values.*got 2"):
        LISTED.read("x", kind({"z": [16], "y": [0.5]}))


def test_a_frame_that_computes_nothing_yet_is_refused():
    class Lazy:
        columns = ("n", "rate", "act")

        def __getitem__(self, name):
            raise TypeError("not subscriptable")

    with pytest.raises(ValueError, match=r"^x must have 3 values.*got <.*Lazy"):
        NAMED.read("x", Lazy())


def test_one_parameter():
    space = Space([["u", "vw"]])
    assert space.show(space.read("x", "vw")[0]) == [["vw"]]
    assert space.show(space.read("x", ["vw"])[0]) == [["vw"]]
    assert space.show(space.read("x", [["u"], ["vw"]])[0]) == [["u"], ["vw"]]
    whole = Space({"n": range(5)})
    assert whole.show(whole.read("x", {"n": [1, 2, 3]})[0]) == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert whole.show(whole.read("x", np.int64(3))[0]) == [{"n": 3}]


def test_tuples_that_are_values():
    space = Space({"layers": [(64, 64), (128, 128)], "n": range(3)})
    assert space.show(space.read("x", {"layers": (64, 64), "n": 1})[0]) == [{"layers": (64, 64), "n": 1}]
    assert space.show(space.read("x", [(128, 128), 2])[0]) == [{"layers": (128, 128), "n": 2}]


@pytest.mark.parametrize("values", [[[1], [1, 2]], [(1,), (2,)], [[1], "none"]])
@pytest.mark.parametrize("named", [False, True])
def test_lists_that_are_values_of_the_only_parameter(values, named):
    space = Space({"a": values} if named else [values])
    points = [{"a": value} if named else [value] for value in values]
    for point in points:
        rows, single = space.read("x", point)
        assert space.show(rows) == [point] and single
    rows, single = space.read("x", points)
    assert space.show(rows) == points and not single


@pytest.mark.parametrize(
    ("bounds", "point"),
    [
        ({"a": [[1], [1, 2]]}, {"a": [1]}),
        ({"a": [[1], [1, 2]]}, {"a": [1, 2]}),
        ({"a": [[1], [1, 2]], "b": [[3], [4]]}, {"a": [1], "b": [4]}),
        ({"a": [[1], [1, 2]], "b": range(3)}, {"a": [1, 2], "b": 2}),
        ([[[1], [1, 2]]], [[1]]),
        ([[[1], [1, 2]]], [[1, 2]]),
        ([[[1, 2], [3, 4]], [[5, 6], [7, 8]]], [[1, 2], [7, 8]]),
        ([[(64, 64), (32, 32)], [(64, 64), (16, 16)]], [(32, 32), (64, 64)]),
        ([[(64,), (32, 32)]], [(64,)]),
        ([[{"k": 1}, {"k": 2}]], [{"k": 2}]),
        ([[{"k": 1}, {"k": 2}]] * 2, [{"k": 2}, {"k": 1}]),
        ({"a": [{"a": 1}, {"a": 2}]}, {"a": {"a": 2}}),
    ],
)
def test_one_point_of_categories_that_are_sequences_or_dicts(bounds, point):
    space = Space(bounds)
    rows, single = space.read("x", point)
    assert single
    assert space.show(rows) == [point]
    many = [point, space.show(space.at(np.array([0])))[0], point]
    rows, single = space.read("x", many)
    assert not single
    assert space.show(rows) == many


def test_columns_of_categories_that_are_lists():
    space = Space({"a": [[1], [1, 2]], "b": [[3], [4]]})
    points = [{"a": [1], "b": [4]}, {"a": [1, 2], "b": [3]}]
    columns = {"a": [[1], [1, 2]], "b": [[4], [3]]}
    for many in (columns, Frame(columns)):
        rows, single = space.read("x", many)
        assert not single
        assert space.show(rows) == points


@pytest.mark.parametrize("bounds", [{"a": [[1], [1, 2], [3]]}, [[[1], [1, 2], [3]]]])
def test_a_run_over_lists(bounds):
    tried = []

    def cost(point):
        value = point["a"] if isinstance(bounds, dict) else point[0]
        tried.append(value)
        return float(sum(value))

    result = minimize(cost, bounds, n_evals=12, rng=0)
    assert sorted(tried) == [[1], [1, 2], [3]]
    assert (result.x, result.fun, result.nfev) == ({"a": [1]} if isinstance(bounds, dict) else [[1]], 1.0, 3)


@pytest.mark.parametrize(
    ("space", "value", "message"),
    [
        (NAMED, {"n": 16, "rate": 0.5}, r"must have the keys 'n', 'rate', 'act'; missing: 'act'$"),
        (NAMED, {**DICTS[0], "seed": 3}, r"'act'; unknown: 'seed'$"),
        (NAMED, [DICTS[0], {"n": 16}], r"missing: 'rate', 'act'$"),
        (NAMED, {"n": 16, "rate": 0.5, "a": 1}, r"missing: 'act'; unknown: 'a'$"),
        (NAMED, {"n": [16], "rate": [0.5, 0.6], "act": ["gelu"]}, r"columns of one length, got \[1, 2, 1\]"),
        (NAMED, POINTS[0][:2], "must have 3 values.*got 2"),
        (NAMED, np.zeros((4, 2)), "must have 3 values.*got 2"),
        (NAMED, [POINTS[0], POINTS[0][:2]], "must have 3 values.*got 2 in point 1$"),
        (NAMED, 3, "must have 3 values.*got 3$"),
        (NAMED, "abc", "must have 3 values.*got 'abc'$"),
        (NAMED, iter(POINTS), "must have 3 values.*got <list_iterator object"),
        (NAMED, [], "must have 3 values.*got 0"),
        (NAMED, collections.namedtuple("Other", "Index rate act n")(0, *ROWS[0]), r"'act'; unknown: 'Index'$"),
        (LISTED, DICTS[0], "must be a list of 3 values.*they have no names"),
        (NAMED, {**DICTS[0], "n": 300}, r"must lie within bounds, got 300 for parameter 'n' of point 0.*\(16, 256\)"),
        (NAMED, [DICTS[0], {**DICTS[0], "act": "tanh"}], "got 'tanh' for parameter 'act' of point 1.*'relu', 'gelu'"),
        (LISTED, [*POINTS, [64.5, 0.5, "relu"]], "must be a whole number, got 64.5 for parameter 0 of point 2"),
    ],
)
def test_points_refused(space, value, message):
    with pytest.raises(ValueError, match=rf"^x0 .*{message}"):
        space.read("x0", value)


class Unitful(np.ndarray):
    """Numbers that may not be added and compared as others are, such as quantities with a unit."""

    def __array_ufunc__(self, *args, **options):
        raise TypeError


REALS = np.array([[0.5, 0.25, 0.0], [0.25, 1.0, 0.5]])


@pytest.mark.parametrize("bounds", [{"a": (0, 1), "b": (0, 1), "c": (0, 1)}, [(0, 1)] * 3])
@pytest.mark.parametrize(
    "value",
    [
        REALS.view(np.matrix),
        REALS.view(Unitful),
        np.ma.masked_array(REALS),
        memoryview(REALS),
        [array("d", row) for row in REALS],
        [memoryview(row) for row in REALS],
        REALS.astype(np.longdouble),
        REALS.astype(np.float16),
        REALS.astype(">f4"),
    ],
)
def test_numbers_in_other_arrays(bounds, value):
    space = Space(bounds)
    rows, single = space.read("x", value)
    points = REALS.tolist() if space.names is None else [dict(zip("abc", row, strict=True)) for row in REALS.tolist()]
    assert not single
    shown = space.show(rows)
    assert (shown.tolist() if space.names is None else shown) == points


@pytest.mark.parametrize("bounds", [{"a": (0, 1), "n": range(2)}, [(0, 1), range(2)], [(0, 1)] * 2])
@pytest.mark.parametrize("field", [float, int])
def test_what_is_masked_in_a_table_is_no_value(bounds, field):
    table = np.array([[0, 1], [1, 0], [1, 1]], dtype=field)
    mask = [[False, False], [True, False], [False, False]]
    records = np.ma.masked_array(
        np.array(list(map(tuple, table)), dtype=[("a", field), ("n", field)]), mask=list(map(tuple, mask))
    )
    for value in (np.ma.masked_array(table, mask), records, records[1]):
        with pytest.raises(ValueError, match=r"^x must have no masked entries"):
            Space(bounds).read("x", value)


@pytest.mark.parametrize("bounds", [{"a": (0, 1), "b": (0, 1)}, [(0, 1)] * 2])
@pytest.mark.filterwarnings("error")
def test_numbers_beyond_doubles_are_infinite(bounds):
    if np.finfo(np.longdouble).max == np.finfo(float).max:
        pytest.skip("no number is beyond doubles here")
    with pytest.raises(ValueError, match=r"^x must .*finite, got (inf|.*1e\+400)"):
        Space(bounds).read("x", np.array([["0.5", "1e400"]], dtype=np.longdouble))


def test_no_name_is_searched_for_in_a_point_that_has_them_all():
    """That would take the square of a thousand parameters a point."""

    class Names(tuple):
        def __contains__(self, name):
            raise AssertionError(name)

    assert by_name("x", {"b": 2, "a": 1}, 2, Names("ab")) == [1, 2]


def test_a_frame_with_a_column_twice_is_refused():
    class Twice(Frame):
        columns = ("n", "rate", "n", "act")

    with pytest.raises(ValueError, match=r"^x must have each column once, got \['n', 'rate', 'n', 'act'\]"):
        NAMED.read("x", Twice({"n": [16], "rate": [0.5], "act": ["gelu"]}))


@pytest.mark.parametrize(
    "point",
    [
        {"a": np.array(0.1), "b": np.array(1), "c": np.array("u")},
        [np.array(0.1), np.array(1), np.array("u")],
        [np.array(0.1), np.array(1), "u"],
    ],
)
def test_arrays_of_no_dimension_are_values(point):
    bounds = {"a": (0.0, 1.0), "b": range(3), "c": ["u", "v"]}
    space = Space(bounds if isinstance(point, dict) else list(bounds.values()))
    rows, single = space.read("x", point)
    assert single
    shown = space.show(rows)[0]
    assert (list(shown.values()) if isinstance(shown, dict) else shown) == [0.1, 1, "u"]

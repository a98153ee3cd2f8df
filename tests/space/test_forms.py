"""Bounds in every form."""

import math
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint
from scipy.stats import loguniform, norm, randint, uniform

import gssbo
from gssbo import Categorical, Integer, Real
from gssbo.space import Space


class Tensor:
    """A tensor without a dimension that wants a gradient: it is no array, and says what number it is."""

    shape = ()
    dtype = "float32"

    def __init__(self, number):
        self.item = lambda: number


@pytest.mark.parametrize(
    "bounds",
    [
        Bounds([-1.0, 0.0], [1.0, 4.0]),
        Bounds(lb=np.array([-1, 0]), ub=np.array([1, 4])),
        [[-1, 1], [0, 4]],
        ((-1.0, 1.0), (0.0, 4.0)),
        np.array([[-1, 1], [0, 4]], dtype=np.int8),
        [np.array([-1, 1]), (np.float32(0), np.int64(4))],
        [Real(-1, 1), (0, 4)],
        [(-1, 1, "uniform"), (0, 4, float)],
        [(Tensor(-1), Decimal(1)), [np.array(0), np.array(4.0)]],
    ],
)
def test_forms_of_a_box(bounds):
    space = Space(bounds)
    assert space.parameters == (Real(-1, 1), Real(0, 4))
    assert space.is_array


def test_a_space_is_bounds_too():
    rule = LinearConstraint([[1.0, 0.0]], ub=0.5)
    given = Space({"a": (0, 1), "b": Integer(1.0, 5.0)}, rule)
    same = Space(given)
    assert same.parameters == given.parameters == (Real(0, 1), Integer(1, 5))
    assert same.names == given.names and same.constraints == (rule,)
    assert Space(given, ()).constraints == ()
    assert gssbo.Optimizer(given, rng=0).ask().keys() == {"a", "b"}


def test_bounds_may_be_an_iterator():
    assert Space(zip([0, 1], [1, 2], strict=True)).parameters == (Real(0, 1), Real(1, 2))


def test_scalar_scipy_bounds():
    assert Space(Bounds(0.0, 2.0)).parameters == (Real(0, 2),)
    assert Space(Bounds(0.0, [2.0, 3.0])).parameters == (Real(0, 2), Real(0, 3))


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (Real(1, 2, log=True), Real(1, 2, log=True)),
        ((1e-4, 1.0, "log-uniform"), Real(1e-4, 1, log=True)),
        ([1, 100, "log-uniform"], Real(1, 100, log=True)),
        ((0, 10, int), Integer(0, 10)),
        (range(5), Integer(0, 4)),
        (range(10, 1, -3), Integer(4, 10, step=3)),
        (range(7, 8, 100), Integer(7, 7)),
        (bool, Categorical([False, True])),
        (["a", "b"], Categorical(["a", "b"])),
        (("a", "b"), Categorical(["a", "b"])),
        ([1, 2, 4], Categorical([1, 2, 4])),
        ([1, "a"], Categorical([1, "a"])),
        ((True, False), Categorical([True, False])),
        ([None, "sqrt", "log2"], Categorical([None, "sqrt", "log2"])),
        ([(64, 64), (128,)], Categorical([(64, 64), (128,)])),
        ([2.5], Categorical([2.5])),
        (np.array(["a", "b"]), Categorical(["a", "b"])),
        ((3.0, 3.0), Real(3, 3)),
        ((np.array(1.0), np.array(2)), Real(1, 2)),
        ([np.array(1.0, dtype=np.float32), 2], Real(1, 2)),
        ((Decimal("0.1"), Decimal(2)), Real(0.1, 2)),
        ((Fraction(1, 2), Decimal(2)), Real(0.5, 2)),
        ((Tensor(1.0), Tensor(2.0)), Real(1, 2)),
        ((np.array(1), Tensor(9), int), Integer(1, 9)),
        ((Decimal("1e-4"), np.array(1.0), "log-uniform"), Real(1e-4, 1, log=True)),
        ((np.array("a"), np.array("b")), Categorical(["a", "b"])),
        ([1j, 2j], Categorical([1j, 2j])),
        ([date(2020, 1, 1), date(2021, 1, 1)], Categorical([date(2020, 1, 1), date(2021, 1, 1)])),
    ],
)
def test_forms_of_a_parameter(item, expected):
    listed, named = Space([item, (0, 1)]), Space({"p": item, "q": (0, 1)})
    assert listed.parameters == named.parameters == (expected, Real(0, 1))
    assert listed.names is None
    assert named.names == ("p", "q")
    assert not named.is_array


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ([], r"not be empty, got \[\]$"),
        ({}, "not be empty"),
        (np.empty((0, 2)), "empty"),
        (None, "an entry a parameter, .* got None"),
        (3.0, "an entry a parameter"),
        ([np.array(3.0)], r"a pair \(low, high\).* got array\(3\.\)"),
        ("unit", "an entry a parameter, .* got .unit.$"),
        ((0.0, 1.0), r"a pair \(low, high\).*got 0.0"),
        (np.zeros((1, 3)), r"pairs, shape \(d, 2\), got shape \(1, 3\)"),
        ([(0.0, 1.0), (2.0, 1.0)], r"low <= high, got \(2.0, 1.0\)"),
        ([(2.0, 1.0), "a"], r"low <= high, got \(2.0, 1.0\)"),
        ({"lr": (2, 1)}, r"low <= high, got \(2.0, 1.0\)"),
        ([(0.0, np.inf)], "finite, got inf"),
        ([(np.nan, 1.0)], "finite, got nan"),
        ([(None, 1.0)], "a real number, got None"),
        ({"a": [None, 5]}, r"a real number, got None; .*, write Categorical\(\[None, 5\]\)$"),
        ([(0, 1), np.ma.masked_array([1, 2, 3], [0, 1, 0])], "have no masked entries"),
        ([(0, 1), ["a", np.ma.masked]], "have no masked entries"),
        ([(0, 1), (0, None)], "a real number, got None"),
        ([(0, 1), (None, None)], r"have finite ends, got \(None, None\)$"),
        ([(0.0, 1.0 + 1.0j)], "a real number, got"),
        ([(-1e308, 1e308)], "finite high - low"),
        ({"x": (-1.797e308, 1.797e308)}, "finite high - low"),
        ([(0, 1, "log-uniform")], "low > 0 with log=True"),
        ([["a", "a"]], "distinct, got 'a' twice"),
        ([[]], "not be empty"),
        ([range(0)], "not be empty"),
        ([range(10**30)], r"bounds and a width below 2\^63 - 1, got \(0, 9+\)$"),
        ([(0.5, 2, int)], "an integer, got 0.5"),
        ([("0", 1)], "a range of numbers, .* got .'0', 1.$"),
        ({"lr": ("1e-5", 0.1)}, "text and numbers are categories, got .'1e-5', 0.1.$"),
        ({"lr": (1e-5, 0.1, "log_uniform")}, "'uniform' or 'log-uniform' behind it at most"),
        ({"lr": [1e-5, 0.1, "Log"]}, "'uniform' or 'log-uniform' behind it at most"),
        ([(1j, 2j)], r"a pair \(low, high\), or a list or Categorical for values, got \(1j, 2j\)"),
        ([(0, 1), (np.complex128(1), np.complex128(2))], "real numbers as a pair"),
        ([(date(2020, 1, 1), date(2021, 1, 1))], "real numbers as a pair"),
        ([(timedelta(1), timedelta(2))], "real numbers as a pair"),
        ([(np.datetime64(1, "ns"), np.datetime64(2, "ns"))], "real numbers as a pair"),
        ({"t": (np.timedelta64(1, "ns"), np.timedelta64(2, "s"))}, "real numbers as a pair"),
        ([(np.timedelta64(1, "ns"), 2)], "a real number, got"),
        ([(-3, 3), (3, 4, 5)], r"a pair \(low, high\), or a list or Categorical for values, got \(3, 4, 5\)"),
        ([(0.0, 1.0), (1,)], r"a pair \(low, high\), .* got \(1,\)"),
        ({"n": (1, Decimal(2), np.array(3.0))}, r"a pair \(low, high\), or a list"),
        ([(date(2020, 1, 1), date(2021, 1, 1), date(2022, 1, 1))], r"a pair \(low, high\), or a list"),
        (
            (-5, 5),
            r"got -5; one parameter is \[\(low, high\)\], and a point to begin with goes to x0$",
        ),
        ([0.5], r"got 0.5; one parameter is"),
        ([[-5] * 3, [5] * 3], r"got -5 twice; lower ends and upper ends apart are scipy.optimize.Bounds\(low, high\)$"),
        ((np.full(3, -5.0), np.full(3, 5.0)), r"twice; lower ends and upper ends apart are scipy"),
        (np.array([[-5.0] * 3, [5.0] * 3]), r"got shape \(2, 3\); lower ends and upper ends apart are"),
        ([[0, 1], [1, 1, 2]], r"got 1 twice$"),
        ({"a": 3}, r"got 3; a list of one value, \[3\], fixes it$"),
        ({"a": "relu"}, r"got 'relu'; a list of one value, \['relu'\], fixes it$"),
        ({"a": None}, r"a list of one value, \[None\], fixes it$"),
        ({"a": np.float64(0.5)}, r"a list of one value, \[0\.5\], fixes it$"),
        ({"a": object}, r"or a list of values, got <class 'object'>$"),
        ([(1, 10, 100, "many")], "a range of numbers"),
        (["ab", (0, 1)], "or a list of values, got 'ab'"),
        ([{"a", "b"}], "or a list of values, got"),
        ({3: (0, 1)}, "text as names, got 3"),
        (Bounds(), "finite"),
        (
            SimpleNamespace(lb=[0, 0, 0], ub=[1, 1]),
            r"as many lower as upper bounds, got lb of shape \(3,\) and ub of \(2,\)",
        ),
    ],
)
def test_bad_bounds(bounds, message):
    with pytest.raises(ValueError, match=rf"^bounds(\[.*\])? must .*{message}"):
        Space(bounds)


@pytest.mark.parametrize("kind", ["M8[ns]", "m8[ns]", "m8[M]", "M8[D]", "m8[s]"])
def test_times_in_an_array_are_categories_that_keep_their_type(kind):
    times = np.array([1, 2], dtype=kind)
    for bounds in ([times], [list(times)], [Categorical(times)]):
        space = Space(bounds)
        shown = [point[0] for point in space.show(space.at([0, 1]))]
        assert space.size == 2 and not isinstance(shown[0], int) and np.isnan(space.parameters[0].largest)
        assert np.array(shown, dtype=kind).tolist() == times.tolist()
        assert space.to_unit(space.read_many("x", [[value] for value in times])).tolist() == [[0.0], [1.0]]


def test_the_parameter_at_fault_is_named():
    for bounds, name in (({"lr": (1, 2), "n": (2, 1)}, r"bounds\['n'\]"), ([(1, 2), (2, 1)], r"bounds\[1\]")):
        with pytest.raises(ValueError, match=rf"^{name} must have low <= high"):
            Space(bounds)


def test_the_size_of_a_space():
    assert Space([range(4), ["a", "b"], bool, [1]]).size == 16
    assert Space([range(4), (0, 1)]).size == math.inf
    assert Space([Integer(0, 10**18), Integer(0, 10**18)]).size == (10**18 + 1) ** 2
    for many in ([bool] * 1100, [Integer(0, 2**60)] * 18):
        assert Space([*many, (0.0, 1.0)]).size == Space([(0.0, 1.0), *many]).size == math.inf
    assert Space([bool] * 1100).size == 2**1100


@pytest.mark.parametrize(
    "values",
    [np.linspace(-10.0, 10.0, 100), np.logspace(-5, -1, 8), np.arange(8)[::-1], [8, 16, 32, 64, 128, 256, 512, 1024]],
    ids=["even", "powers", "downwards", "list"],
)
def test_a_grid_that_goes_for_categories_is_warned_of(values):
    message = (
        rf"^bounds\['x'\] is read as {len(values)} categories, any two equally far apart, though .* none is meant$"
    )
    with pytest.warns(UserWarning, match=message) as caught:
        space = Space({"x": values})
    assert [each.filename for each in caught] == [__file__]
    assert space.parameters == Space({"x": Categorical(values)}).parameters == (Categorical(list(values)),)


@pytest.mark.parametrize(
    "values",
    [
        np.arange(7),
        [3, 1, 4, 15, 9, 2, 6, 5],
        [*range(7), math.nan],
        [*range(7), "more"],
        [*range(2, 9), True],
        range(8),
        list("abcdefgh"),
        Categorical(range(8)),
    ],
)
def test_categories_that_are_few_or_in_no_order_are_not_warned_of(values):
    Space({"x": values})


@pytest.mark.parametrize(
    "given", [uniform(0, 10), loguniform(1e-5, 1e-1), randint(0, 10), norm()], ids=lambda g: g.dist.name
)
def test_a_distribution_is_told_what_to_write_for_it(given):
    with pytest.raises(
        ValueError, match=r"^bounds\['x'\] must be a pair .* write the ends: Real\(low, high\), with log=True"
    ):
        Space({"x": given})

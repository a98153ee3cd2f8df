"""Checks of user input: the clean value, or a ValueError with the argument, the rule and the value."""

from decimal import Decimal

import numpy as np
import pytest

from gssbo import _validation as v
from gssbo.space import Space


def test_matrix_is_a_fresh_contiguous_float_copy():
    given = np.asfortranarray(np.arange(6.0).reshape(3, 2))
    got = v.check_matrix("X", given, columns=2)
    assert got.flags.c_contiguous
    assert got.dtype == np.float64
    assert not np.shares_memory(got, given)
    np.testing.assert_array_equal(got, given)
    contiguous = np.ones((2, 2))
    assert not np.shares_memory(v.check_matrix("X", contiguous), contiguous)
    vector = np.ones(3)
    assert not np.shares_memory(v.check_vector("y", vector), vector)


@pytest.mark.parametrize(
    "value",
    [
        [[1, 2]],
        [[True, False]],
        np.float32([[1, 0]]),
        np.uint8([[1, 0]]),
        np.array([[1, 0.5]], dtype=object),
        [[Decimal(1), np.float64(0)]],
    ],
)
def test_real_numbers_of_every_kind(value):
    np.testing.assert_array_equal(v.check_matrix("X", value), np.array(value, dtype=float))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1.0, 2.0], r"must have shape \(n, d\), got shape \(2,\)"),
        (np.zeros((2, 2, 2)), r"must have shape \(n, d\), got shape \(2, 2, 2\)"),
        (np.zeros((0, 3)), r"must not be empty, got shape \(0, 3\)"),
        (np.zeros((3, 0)), r"must not be empty, got shape \(3, 0\)"),
        (np.zeros((2, 4)), r"must have 3 columns, got shape \(2, 4\)"),
        ([[0.0, 1.0, np.nan]], r"must be finite, got nan at index \(0, 2\)"),
        ([[0.0, -np.inf, np.nan]], r"must be finite, got -inf at index \(0, 1\)"),
        ([[0.0, 1.0], [1.0]], "must be an array of real numbers"),
        ([["a", "b", "c"]], r"must be an array of real numbers, got \[\['a', 'b', 'c'\]\] of dtype <U1$"),
        ([[1j, 2.0, 3.0]], "must be an array of real numbers, got .* of dtype complex"),
        (np.array([[1j, 0, 0]], dtype=object), "must be an array of real numbers"),
        (np.array([[np.complex128(1), 0, 0]], dtype=object), "must be an array of real numbers, got .*not complex128"),
        (np.array([[np.timedelta64(1, "ns"), 0, 0]], dtype=object), "must be an array of real numbers, .*timedelta64"),
        (np.array([["1", 0, 0]], dtype=object), "must be an array of real numbers, got .* not str"),
        (np.array([[b"1", 0, 0]], dtype=object), "must be an array of real numbers, got .* not bytes"),
        (np.array([[None, 0, 0]], dtype=object), "must be an array of real numbers, got .* not 'NoneType'"),
        (np.zeros((1, 3), dtype="M8[s]"), "must be an array of real numbers, got .* of dtype datetime"),
        ([[10**400, 0, 0]], "must be an array of real numbers"),
        ([[{}, 0, 0]], "must be an array of real numbers"),
    ],
)
def test_bad_matrix(value, message):
    with pytest.raises(ValueError, match=rf"^inputs {message}"):
        v.check_matrix("inputs", value, columns=3)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (1.0, r"must have shape \(n,\), got shape \(\)"),
        ([[1.0, 2.0]], r"must have shape \(n,\), got shape \(1, 2\)"),
        ([1.0, 2.0, 3.0], "must have 2 entries, got 3"),
        ([1.0, np.nan], r"must be finite, got nan at index \(1,\)"),
        ([1.0, None], "must be an array of real numbers, got .1.0, None.: float"),
    ],
)
def test_bad_vector(value, message):
    with pytest.raises(ValueError, match=rf"^y {message}"):
        v.check_vector("y", value, size=2)


@pytest.mark.parametrize("value", [2, 2.0, np.float32(2), np.int64(2), np.array(2.0)])
def test_real(value):
    got = v.check_real("noise", value, above=1.0, at_least=2.0, at_most=2.0)
    assert type(got) is float
    assert got == 2.0


@pytest.mark.parametrize(
    ("value", "limits", "message"),
    [
        (None, {}, "must be a real number, got None"),
        ("one", {}, "must be a real number, got 'one'"),
        ("4.0", {}, "must be a real number, got '4.0'"),
        (b"4.0", {}, "must be a real number, got b'4.0'"),
        (True, {}, "must be a real number, got True"),
        (np.True_, {}, "must be a real number, got"),
        (1j, {}, "must be a real number, got 1j"),
        (np.complex128(1), {}, "must be a real number, got"),
        (np.array(1j), {}, r"must be a real number, got array\(0\.\+1\.j\)"),
        (np.datetime64(1, "ns"), {}, "must be a real number, got"),
        (np.timedelta64(1, "ns"), {}, "must be a real number, got"),
        (bytearray(b"4.0"), {}, "must be a real number, got bytearray"),
        (np.array("4.0"), {}, "must be a real number, got array"),
        ([1.0, 2.0], {}, "must be a real number"),
        (10**400, {}, "must be a real number, got 1000"),
        (np.ma.masked, {}, "must have no masked entries, got masked"),
        (np.nan, {}, "must be finite, got nan"),
        (np.inf, {}, "must be finite, got inf"),
        (1.0, {"above": 1.0}, "must be greater than 1.0, got 1.0"),
        (0.5, {"at_least": 1.0}, "must be at least 1.0, got 0.5"),
        (1.5, {"at_most": 1.0}, "must be at most 1.0, got 1.5"),
    ],
)
def test_bad_real(value, limits, message):
    with pytest.raises(ValueError, match=rf"^noise {message}"):
        v.check_real("noise", value, **limits)


@pytest.mark.parametrize("value", [3, np.int8(3), np.uint64(3), np.array(3)])
def test_integer(value):
    got = v.check_integer("n", value, at_least=3, at_most=3)
    assert type(got) is int
    assert got == 3


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (True, "must be an integer, got True"),
        (np.False_, "must be an integer, got"),
        (3.0, "must be an integer, got 3.0"),
        ("3", "must be an integer, got '3'"),
        (None, "must be an integer, got None"),
        ([3], r"must be an integer, got \[3\]"),
        (0, "must be at least 1, got 0"),
        (10, "must be at most 9, got 10"),
    ],
)
def test_bad_integer(value, message):
    with pytest.raises(ValueError, match=rf"^n_evals {message}"):
        v.check_integer("n_evals", value, at_least=1, at_most=9)


def test_flag():
    assert v.check_flag("maximize", np.True_) is True
    assert v.check_flag("maximize", False) is False
    for value in (1, 0, None, "yes", np.array([True])):
        with pytest.raises(ValueError, match=r"^maximize must be True or False, got "):
            v.check_flag("maximize", value)


def test_choice():
    assert v.check_choice("rule", "b", {"a": 1, "b": 2}) == "b"
    for value in ("c", "A", None, 1, ["a"], {}, ""):
        with pytest.raises(ValueError, match=r"^rule must be one of 'a', 'b', got "):
            v.check_choice("rule", value, {"a": 1, "b": 2})


def test_interval():
    assert v.check_interval("bounds", (1, 2.5)) == (1.0, 2.5)
    assert v.check_interval("bounds", [0.5, 0.5], above=0.0) == (0.5, 0.5)
    for value in ((2.0, 1.0), (0.0, 1.0), (-1.0, 1.0)):
        with pytest.raises(ValueError, match=r"^bounds must satisfy 0.0 < low <= high, got \("):
            v.check_interval("bounds", value, above=0.0)
    for value in ((1.0,), (1.0, 2.0, 3.0), (1.0, np.inf), 1.0, None):
        with pytest.raises(ValueError, match=r"^bounds must "):
            v.check_interval("bounds", value, above=0.0)


def test_indices():
    for value in ([2, 0], (2, 0), np.array([2, 0], dtype=np.uint8)):
        got = v.check_indices("forced", value, below=3)
        assert got.dtype == np.intp
        np.testing.assert_array_equal(got, [2, 0])
    for empty in ((), [], np.empty(0)):
        assert v.check_indices("forced", empty, below=3).shape == (0,)
    for value in ([3], [-1], [0, 0], [0.0], [[0, 1]], 1, "a", [True], [np.ma.masked], [[1], [1, 2]]):
        with pytest.raises(ValueError, match=r"^forced must "):
            v.check_indices("forced", value, below=3)


@pytest.mark.parametrize(
    ("value", "flags"),
    [
        (True, True),
        (np.bool_(False), False),
        ([True, False], [True, False]),
        (np.array([True, False], dtype=object), [True, False]),  # what NumPy makes of a nullable column
    ],
)
def test_flags(value, flags):
    assert v.check_flags("failed", value, size=2).tolist() == flags


@pytest.mark.parametrize(
    "value", [1, "a", None, [1, 0], [True], [True, None], [[True], [True, False]], [[True, False]]]
)
def test_what_are_no_flags(value):
    with pytest.raises(ValueError, match=r"^failed must be True or False, or one of them a point \(2\), got "):
        v.check_flags("failed", value, size=2)


def test_noise_std():
    assert v.check_noise_std([0, 1.5], size=2).tolist() == [0.0, 1.5]
    for value, message in (
        ([0.5, -0.25], "^noise_std must be at least 0, got -0.25$"),
        ([0.5], "^noise_std must have 2 entries, got 1$"),
        ([0.5, np.nan], "^noise_std must be finite, got nan"),
    ):
        with pytest.raises(ValueError, match=message):
            v.check_noise_std(value, size=2)


def test_generator():
    generator = np.random.default_rng(0)
    assert v.as_generator("rng", generator) is generator
    assert v.as_generator("rng", 3).random() == np.random.default_rng(np.int64(3)).random()
    for value in (-1, "seed", 1.5, object()):
        with pytest.raises(ValueError, match=r"^rng must be None, a seed >= 0 or a numpy Generator, got "):
            v.as_generator("rng", value)


def test_long_values_are_cut_short():
    with pytest.raises(ValueError, match=r"\.\.\.$") as info:
        v.check_choice("rule", "x" * 5000, ["a"])
    assert len(str(info.value)) < 200


def test_masked_entries_within_a_list_are_refused():
    rows = list(np.ma.masked_array([[0.1, 0.2], [0.3, 0.4]], mask=[[True, False], [False, False]]))
    with pytest.raises(ValueError, match="X must have no masked entries"):
        v.check_array("X", rows)


@pytest.mark.filterwarnings("ignore:Warning. converting a masked element to nan")
@pytest.mark.parametrize("value", [[[np.ma.masked]], [(0.5, np.ma.masked)], ([1.0], [np.ma.masked])])
def test_masked_entries_within_lists_of_a_list_are_refused(value):
    """NumPy makes NaN of them, which as a value is a failed evaluation."""
    with pytest.raises(ValueError, match="y must have no masked entries"):
        v.check_array("y", value)
    np.testing.assert_array_equal(v.check_array("y", [[np.nan, 1.0]]), [[np.nan, 1.0]])


def test_whatever_a_type_does_that_is_asked_for_a_number_or_compared_is_refused():
    class Hostile:
        __hash__ = None

        def __float__(self):
            raise RuntimeError("no number")

        def __eq__(self, other):
            raise RuntimeError("no comparison")

        def __repr__(self):
            return "hostile"

    space = Space({"x": (0.0, 1.0), "n": range(3), "c": [[1], [2]]})
    good = {"x": 0.5, "n": 1, "c": [1]}
    for name in good:
        with pytest.raises(ValueError, match=rf"^x must be .*, got hostile for parameter '{name}'"):
            space.read("x", good | {name: Hostile()})
    with pytest.raises(ValueError, match=r"^timeout must be a real number, got hostile$"):
        v.check_real("timeout", Hostile())

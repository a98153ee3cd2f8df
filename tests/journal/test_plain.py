"""Rows, entries and spaces in JSON's terms, and back."""

import json

import numpy as np
import pytest

import gssbo
from gssbo.entry import Entry
from gssbo.exceptions import JournalError
from gssbo.journal.header import describe_run, space_of
from gssbo.journal.lines import read_line, write_line
from gssbo.journal.plain import RowCodec, plain_value
from gssbo.recorded import continue_ledger
from gssbo.space import Space
from tests.journals import MIXED, POINT


def test_rows_survive_to_the_bit():
    codec = RowCodec(Space(MIXED))
    rows, _ = codec.space.read("x", [POINT, {**POINT, "rate": 1e-5, "act": None, "n": 10**18}])
    written = json.loads(json.dumps(codec.write(rows)))
    assert written[0] == [0.1, 0.7, 9007199254740993, {"tuple": ["a", 1]}, True, 2.5]
    assert codec.read(written).tobytes() == rows.tobytes()


def test_categories_that_json_does_not_have_are_read_by_their_repr(tmp_path):
    path = tmp_path / "run.jsonl"
    with gssbo.Optimizer({"f": [abs, "abs", (max, 1.5)]}, rng=0, journal=path) as opt:
        for x in opt.ask(3):
            opt.tell(x, 1.0)
    with continue_ledger(path) as ledger:
        found = {each["f"] for each in ledger.X}
        assert found == {"<built-in function abs>", "abs", ("<built-in function max>", 1.5)}
    with gssbo.Optimizer({"f": [abs, "abs", (max, 1.5)]}, rng=0, journal=path) as opt:
        assert opt.n_told == 3


def test_entries_survive_to_the_bit():
    codec = RowCodec(Space([(-1.0, 1.0)]))
    rows = np.array([[0.1], [-1.0]])
    entry = Entry("tell", rows, (None, 4), np.array([np.nan, 1e-300]), np.array([0.0, 0.1]), prior=True)
    again = read_line(write_line(entry, codec), codec)
    np.testing.assert_array_equal(again.y, entry.y)
    np.testing.assert_array_equal(again.noise_std, entry.noise_std)
    assert (again.kind, again.ids, again.prior, again.rows.tobytes()) == ("tell", (None, 4), True, rows.tobytes())
    asked = Entry("ask", rows, (7, 8), seconds=0.012345)
    assert read_line(write_line(asked, codec), codec).seconds == 0.012345


def test_a_header_gives_its_space_back():
    header = json.loads(json.dumps(describe_run(Space(MIXED), {}, [], "1")))
    again = space_of(header)
    assert list(again.names) == list(MIXED)
    assert again.parameters == Space(MIXED).parameters


def test_categories_that_read_alike_are_refused(tmp_path):
    class Same:
        def __repr__(self):
            return "same"

    with pytest.raises(JournalError, match=r"^categories must read differently, addresses"):
        gssbo.Optimizer([[Same(), Same()]], journal=tmp_path / "run.jsonl")
    # Read without the space, a repr is text.
    for values in ([b"a", "b'a'"], [(1, b"a"), (1, "b'a'")]):
        with pytest.raises(JournalError, match=r"^categories must read differently, addresses"):
            gssbo.Optimizer([values], journal=tmp_path / "run.jsonl")


def test_categories_read_alike_in_another_process(tmp_path):
    def function():
        def relu(x):
            return max(x, 0.0)

        return relu

    path = tmp_path / "run.jsonl"
    values = [
        [function(), {8, 0}, frozenset({16, 0}), {"a": [{8, 0}], "b": ({8, 0},)}],
        [function(), {0, 8}, frozenset({0, 16}), {"a": [{0, 8}], "b": ({0, 8},)}],
    ]
    assert repr(values[0]) != repr(values[1])  # another address, another order
    for k, given in enumerate(values):
        with gssbo.Optimizer([gssbo.Categorical(given), (0.0, 1.0)], n_init=2, rng=0, journal=path) as opt:
            assert opt.n_told == k
            opt.tell([given[1], 0.5], 1.0)
    assert "0x" not in path.read_text()


@pytest.mark.parametrize(
    "value", [[1, "a", (1,), (), [], {}], {"a": [1, (2, 3)], "b": {}}, {1: None, 2.5: float("inf")}], ids=str
)
def test_categories_without_sets_read_as_in_python(value):
    assert plain_value(value) == {"repr": repr(value)}

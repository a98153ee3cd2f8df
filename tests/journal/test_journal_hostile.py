"""Files that no run has written: each is refused with its name, its line and the rule, and stays as it is."""

import json
import os
import stat
import subprocess
import sys

import numpy as np
import pytest

import gssbo
from gssbo.exceptions import JournalError, JournalWarning
from gssbo.journal import Journal, compact, read_journal
from gssbo.recorded import continue_ledger, read_ledger
from gssbo.resume import plain_options

BOUNDS = {"a": (0.0, 1.0), "n": gssbo.Integer(0, 9), "c": ["u", "v", 4]}
POINT = [0.5, 3, "u"]
DEEP = b"[" * 100_000


def fresh(path, **options):
    return gssbo.Optimizer(BOUNDS, n_init=20, rng=5, journal=path, **options)


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """A header; numbers 0 to 2 asked, 3 announced; 0 told, 1 forgotten, 2 and 3 pending."""
    path = tmp_path_factory.mktemp("journal") / "run.jsonl"
    with fresh(path) as opt:
        first, second, _ = opt.ask(3, ids=True)
        opt.announce(dict(zip(BOUNDS, POINT, strict=True)))
        opt.tell(first, 1.0)
        opt.forget(second)
        opt.enqueue({"a": 0.25, "n": 4, "c": "v"})
        opt.reseed(1)
    found = path.read_bytes().splitlines(keepends=True)
    assert [next(iter(json.loads(line))) for line in found] == [
        "gssbo", "ask", "announce", "tell", "forget", "enqueue", "reseed",
    ]  # fmt: skip
    return found


def tell(**fields):
    return {"tell": [POINT], "id": [2], "y": [1.0]} | fields


def refused(path, data, match):
    """Every way to read it says so, and leaves it as it is."""
    path.write_bytes(data)
    for read in (fresh, read_journal, read_ledger, continue_ledger, compact):
        with pytest.raises(JournalError, match=match) as caught:
            read(path)
        assert str(path) in str(caught.value) and len(str(caught.value)) < 1000
        assert path.read_bytes() == data
    assert os.listdir(path.parent) == [path.name]


WRONG = [
    (DEEP, "nested too deeply"),
    (b'{"tell":' + DEEP, "nested too deeply"),
    (b'{"snapshot":null,"state":' + DEEP, "nested too deeply"),
    (b'{"snapshot":null,"state":{"a":' + DEEP[:300] + b"]" * 300 + b"}}", "nested too deeply"),
    (b"\xff\xfe", "can't decode"),
    (5, "an entry is an object"),
    ({}, "entries are ask, announce"),
    ({"told": [POINT]}, "entries are ask, announce"),
    ({"y": [1.0], "tell": [POINT]}, "entries are ask, announce"),
    # ids
    (tell(id=[99]), "id must be of a suggestion, got 99 where 4 were asked"),
    (tell(id=[10**4000]), "id must be of a suggestion, got 1000"),
    (tell(id=["a"]), "id must be a whole number from 0, got 'a'"),
    (tell(id=[8.0]), "id must be a whole number from 0, got 8.0"),
    (tell(id=[True]), "id must be a whole number from 0, got True"),
    (tell(id=[-1]), "id must be a whole number from 0, got -1"),
    (tell(id=[0]), "id must be of a suggestion that was not told before, got 0"),
    (tell(id=2), r"id must hold one number a point \(1\), got 2"),
    (tell(id=[2, 3]), r"id must hold one number a point \(1\)"),
    (tell(id=None), "id must hold one number a point"),
    (tell(id={"2": 2}), "id must hold one number a point"),
    ({"tell": [POINT, POINT], "id": [2, 2], "y": [1.0, 1.0]}, "id must hold each number once"),
    ({"forget": None, "id": [99]}, "id must be of a suggestion, got 99"),
    ({"forget": None, "id": ["a"]}, "id must be a whole number"),
    ({"forget": None, "id": "a"}, "id must hold some numbers"),
    ({"forget": None, "id": [None]}, "id must be a whole number from 0, got None"),
    ({"forget": None, "id": None}, "id must hold some numbers"),
    ({"forget": None, "id": []}, "id must hold some numbers"),
    ({"forget": None, "id": [0]}, "id must be of a pending suggestion, got 0, which was told"),
    ({"forget": None, "id": [1]}, "id must be of a pending suggestion, got 1, which was forgotten"),
    ({"forget": None, "id": [2, 2]}, "id must hold each number once"),
    ({"forget": None}, "forget has a field id"),
    ({"forget": [POINT], "id": [2]}, "forget has no points"),
    ({"ask": [POINT], "id": [5]}, r"id must count on from 4, got \[5\]"),
    ({"ask": [POINT], "id": [3]}, r"id must count on from 4, got \[3\]"),
    ({"ask": [POINT, POINT], "id": [4, 6]}, r"id must count on from 4, got \[4, 6\]"),
    ({"announce": [POINT], "id": [5]}, r"id must count on from 4, got \[5\]"),
    ({"announce": [POINT], "id": [None]}, "id must be a whole number from 0, got None"),
    ({"ask": [POINT]}, "ask has a field id"),
    # what entries are made of
    ({"ask": None, "id": []}, "ask has a list of points, got None"),
    ({"announce": None, "id": []}, "announce has a list of points, got None"),
    ({"announce": [], "id": []}, "announce has a list of points"),
    ({"enqueue": None}, "enqueue has a list of points, got None"),
    ({"enqueue": {"0": POINT}}, "enqueue has a list of points"),
    ({"tell": None, "y": [1.0]}, "tell has a list of points"),
    ({"tell": [POINT]}, "tell has a field y"),
    (tell(when="now"), "tell has no field 'when'"),
    ({"ask": [POINT], "id": [4], "y": [1.0]}, "ask has no field 'y'"),
    ({"reseed": None}, "reseed has a field state"),
    ({"reseed": None, "state": []}, r"state must hold one state a generator \(4\)"),
    ({"reseed": None, "state": [None] * 4}, "state must hold states of PCG64"),
    ({"reseed": None, "state": 7}, "state must hold one state a generator"),
    ({"snapshot": None, "state": []}, "state must be an object"),
    # values
    (tell(y=[float("-inf")]), "JSON has no -Infinity"),
    (tell(y=[float("nan")]), "JSON has no NaN"),
    (b'{"tell":[[0.5,3,"u"]],"y":[1e999]}', "y must be finite"),
    (tell(y=[10**400]), "y must be finite"),
    (tell(y=["-inf"]), "y must be a number or null, got '-inf'"),
    (tell(y=["5"]), "y must be a number or null, got '5'"),
    (tell(y=[True]), "y must be a number or null, got True"),
    (tell(y=[[1.0]]), "y must be a number or null"),
    (tell(y="5"), "y must hold one number a point"),
    (tell(y={"-7": 1}), "y must hold one number a point"),
    (tell(y=[1.0, 2.0]), r"y must hold one number a point \(1\)"),
    (tell(noise_std=[0.1, 0.1]), r"noise_std must hold one number a point \(1\)"),
    (tell(noise_std=[[0.1]]), "noise_std must be a number, got"),
    (tell(noise_std=[-0.1]), "noise_std must be at least 0, got -0.1"),
    (tell(noise_std=[None]), "noise_std must be a number, got None"),
    (tell(noise_std=None), "noise_std must hold one number a point"),
    (tell(noise_std=[float("nan")]), "JSON has no NaN"),
    (tell(y=[None], reason=["why"]), "reason must be text, of evaluations that failed, got \\['why'\\]"),
    (tell(y=[None], reason=None), "reason must be text, of evaluations that failed, got None"),
    (tell(reason="why"), "reason must be text, of evaluations that failed, got 'why'"),
    ({"explain": None, "id": [0], "reason": "why"}, "id must be of an evaluation that failed, got 0"),
    ({"explain": None, "id": [2], "reason": "why"}, "id must be of an evaluation that failed, got 2"),
    ({"explain": None, "id": [99], "reason": "why"}, "id must be of an evaluation that failed, got 99"),
    ({"explain": None, "id": [], "reason": "why"}, "id must hold some numbers"),
    ({"explain": None, "id": [0], "reason": 5}, "reason must be text, of evaluations that failed, got 5"),
    ({"explain": None, "id": [0]}, "explain has a field reason"),
    ({"explain": [POINT], "id": [0], "reason": "why"}, "explain has no points"),
    (tell(prior="no"), "prior must be true or false, got 'no'"),
    ({"ask": [POINT], "id": [4], "seconds": "x"}, "seconds must be a number, got 'x'"),
    ({"ask": [POINT], "id": [4], "seconds": -1.0}, "seconds must be at least 0, got -1.0"),
    ({"ask": [POINT], "id": [4], "seconds": None}, "seconds must be a number"),
    # points
    (tell(tell=[[0.5, 1.7, "u"]]), "parameter 'n' must be a whole number, got 1.7"),
    (tell(tell=[[0.5, True, "u"]]), "parameter 'n' must be a whole number, got True"),
    (tell(tell=[[0.5, "4", "u"]]), "parameter 'n' must be a whole number, got '4'"),
    (tell(tell=[[0.5, None, "u"]]), "parameter 'n' must be a whole number, got None"),
    (tell(tell=[[0.5, 10, "u"]]), "parameter 'n' must lie within bounds, got 10"),
    (tell(tell=[[0.5, 10**400, "u"]]), "parameter 'n' must lie within bounds, got 1000"),
    (tell(tell=[["0.5", 3, "u"]]), "parameter 'a' must be a number, got '0.5'"),
    (tell(tell=[[True, 3, "u"]]), "parameter 'a' must be a number, got True"),
    (tell(tell=[[None, 3, "u"]]), "parameter 'a' must be a number, got None"),
    (tell(tell=[[10**400, 3, "u"]]), "parameter 'a' must lie within bounds"),
    (b'{"tell":[[1e999,3,"u"]],"y":[1.0]}', "parameter 'a' must be finite"),
    (tell(tell=[[0.5, 3, "w"]]), "parameter 'c' must be among the categories, got 'w'"),
    (tell(tell=[[0.5, 3, 4.0]]), "parameter 'c' must be among the categories, got 4.0"),
    (tell(tell=[[0.5, 3]]), "points must be lists of 3 values"),
    (tell(tell=["034"]), "points must be lists of 3 values, got '034'"),
    (tell(tell=[{"a": 0.5, "n": 3, "c": "u"}]), "points must be lists of 3 values"),
]


@pytest.mark.parametrize(("line", "rule"), WRONG, ids=range(len(WRONG)))
def test_a_line_that_no_run_writes_is_named(tmp_path, lines, line, rule):
    path = tmp_path / "run.jsonl"
    line = line if isinstance(line, bytes) else json.dumps(line).encode()
    data = b"".join([*lines, line, b"\n"])
    refused(path, data, rf"damaged in line {len(lines) + 1} \(.*{rule}")
    with pytest.warns(JournalWarning, match=f"line {len(lines) + 1} is damaged and left out"):
        ledger = read_ledger(path, skip_damaged=True)
    assert ([each.id for each in ledger.pending], ledger.n_told, len(ledger.queue)) == ([2, 3], 1, 1)


@pytest.mark.parametrize("source", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_states_of_generators_must_be_such(tmp_path, source):
    path = tmp_path / "run.jsonl"
    kind = getattr(np.random, source)
    with gssbo.Optimizer([(0.0, 1.0)], journal=path, rng=np.random.Generator(kind(3))) as opt:
        opt.tell([0.5], 1.0)
        opt.reseed(np.random.Generator(kind(4)))
    with gssbo.Optimizer([(0.0, 1.0)], journal=path) as opt:
        assert opt.n_told == 1
    *lines, last = path.read_bytes().splitlines(keepends=True)
    written = json.loads(last)
    other = "SFC64" if source == "PCG64" else "PCG64"
    changes = [{"bit_generator": other}, {"state": None}, {"state": {"state": -1, "inc": 1e30}}]
    changes += {"Philox": [{"buffer_pos": -1}, {"buffer_pos": 5}]}.get(source, [])
    if source == "MT19937":  # beyond its table, where NumPy would read what is not there
        changes.append({"state": written["state"][0]["state"] | {"pos": 10**6}})
    else:
        changes.append({"has_uint32": 7})
    for change in changes:
        wrong = {"reseed": None, "state": [written["state"][0] | change, *written["state"][1:]]}
        path.write_bytes(b"".join([*lines, json.dumps(wrong).encode(), b"\n"]))
        with pytest.raises(JournalError, match=f"damaged in line 3 .*states of {source}"):
            gssbo.Optimizer([(0.0, 1.0)], journal=path)


def test_the_grid_of_a_step_is_made_once_however_many_lines_there_are(tmp_path, monkeypatch):
    made = []
    with gssbo.Optimizer([gssbo.Real(0.0, 1.0, step=0.01)], journal=Journal(tmp_path / "run.jsonl")) as opt:
        for k in range(9):
            opt.tell([0.01 * k], 1.0)
    data = (tmp_path / "run.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "run.jsonl").write_bytes(b"".join([*data[:3], b"XX\n", *data[4:]]))
    resolved = gssbo.Real.resolved
    monkeypatch.setattr(gssbo.Real, "resolved", lambda real: made.append(real) or resolved(real))
    with pytest.warns(JournalWarning):
        assert len(read_journal(tmp_path / "run.jsonl", skip_damaged=True).entries) == 8
    assert len(made) <= 2


def test_numbers_may_be_missing_where_a_line_was_left_out(tmp_path, lines):
    path = tmp_path / "run.jsonl"
    line = json.dumps({"ask": [POINT], "id": [5]}).encode() + b"\n"
    path.write_bytes(b"".join([*lines, b"XX\n", line]))
    with pytest.raises(JournalError, match=f"line {len(lines) + 1}"):
        read_ledger(path)
    with pytest.warns(JournalWarning) as record:
        assert [each.id for each in read_ledger(path, skip_damaged=True).pending] == [2, 3, 5]
    assert len(record) == 1
    with pytest.warns(JournalWarning):
        compact(path, skip_damaged=True)
    assert [each.id for each in read_ledger(path).pending] == [2, 3, 5]  # the file says of itself that there are gaps
    far = json.dumps({"ask": [POINT], "id": [10**9]}).encode() + b"\n"
    path.write_bytes(b"".join([*lines, b"XX\n", far]))
    with pytest.warns(JournalWarning) as record:
        assert [each.id for each in read_ledger(path, skip_damaged=True).pending] == [2, 3]
    assert len(record) == 2


def without(header, name):
    return {key: value for key, value in header.items() if key != name}


def with_first(header, name, change):
    first, *others = header[name]
    return header | {name: [first | change, *others]}


def seeded(change):
    return lambda header: with_first(header, "rng", change)


def low(value):
    return lambda header: with_first(header, "space", {"low": value})


def third(**change):
    return lambda header: header | {"space": [*header["space"][:2], header["space"][2] | change]}


HEADERS = [
    (lambda header: without(header, "space"), "space must be a list, got None"),
    (lambda header: without(header, "options"), "options must be an object"),
    (lambda header: without(header, "rng"), "rng must be a list"),
    (lambda header: without(header, "version"), "version must be text"),
    (lambda header: header | {"space": {"a": 1}}, "space must be a list"),
    (lambda header: header | {"space": []}, "space must hold parameters"),
    (lambda header: header | {"space": [None]}, r"space\[0\]: a parameter has a kind"),
    (lambda header: header | {"options": {"a": json.loads(DEEP[:300] + b"]" * 300)}}, "it is nested too deeply"),
    (lambda header: header | {"options": []}, "options must be an object"),
    (lambda header: header | {"options": {"maximize": "no"}}, "maximize must be true or false, got 'no'"),
    (lambda header: header | {"constraints": [3]}, "constraints must be a list of objects"),
    (lambda header: header | {"left_out": 3}, "left_out must be true or false"),
    (low("a"), r"space\[0\]: low must be a real number, got 'a'"),
    (low(None), r"space\[0\]: low must be a real number"),
    (low(10**400), r"space\[0\]: low must be a real number, got 1000"),
    (low(2.0), r"space\[0\]: Real must have low <= high"),
    (low(True), r"space\[0\]: low must be a real number"),
    (lambda header: with_first(header, "space", {"kind": "Complex"}), r"space\[0\]: a parameter has a kind"),
    (lambda header: with_first(header, "space", {"kind": "Categorical"}), r"space\[0\]: Categorical has kind, values"),
    (lambda header: with_first(header, "space", {"name": 3}), r"space\[0\]: name must be text"),
    (lambda header: with_first(header, "space", {"name": "n"}), "names must be one a parameter, all different"),
    (third(values="uv"), r"space\[2\]: values must be a list"),
    (third(values=[["u"], "v"]), r"space\[2\]: values must be a list"),
    (third(values=[{"tuple": 3}, "v"]), r"space\[2\]: values must be a list"),
    (third(values=[{"repr": 3}, "v"]), r"space\[2\]: values must be a list"),
    (seeded({"pool_size": 10**10}), r"rng\[0\]: pool_size must be a whole number from 4 to 1024"),
    (seeded({"pool_size": 1e10}), r"rng\[0\]: pool_size"),
    (seeded({"bit_generator": "BitGenerator"}), r"rng\[0\]: bit_generator must be one of"),
    (seeded({"bit_generator": None}), r"rng\[0\]: bit_generator must be one of"),
    (seeded({"n_spawned": 1e30}), r"rng\[0\]: a generator has"),
    (seeded({"entropy": "x"}), r"rng\[0\]: entropy must be"),
    (seeded({"entropy": [-1]}), r"rng\[0\]: entropy must be"),
    (seeded({"spawn_key": [2**32]}), r"rng\[0\]: spawn_key must be"),
    (seeded({"spawn_key": 0}), r"rng\[0\]: spawn_key must be"),
    (lambda header: header | {"rng": header["rng"][:3]}, "rng must hold 4 generators, got 3"),
    (lambda header: header | {"rng": []}, "rng must hold 4 generators, got 0"),
    (lambda header: header | {"rng": [1, 2, 3, 4]}, r"rng\[0\]: a generator has"),
]


@pytest.mark.parametrize(("change", "rule"), HEADERS, ids=range(len(HEADERS)))
def test_a_header_that_no_run_writes_says_what_is_wrong(tmp_path, lines, change, rule):
    header = json.dumps(change(json.loads(lines[0]))).encode() + b"\n"
    refused(tmp_path / "run.jsonl", b"".join([header, *lines[1:]]), rf"damaged in line 1, its header \({rule}")


@pytest.mark.parametrize("line", [DEEP, b'{"gssbo":' + DEEP, b'{"gssbo":true}', b"[1]", b'"gssbo"', b"5", b"", b"\xff"])
def test_what_is_no_header_is_no_journal(tmp_path, lines, line):
    refused(tmp_path / "run.jsonl", b"".join([line, b"\n", *lines[1:]]), "first line that is no header")


@pytest.mark.parametrize("data", [b'{"my": "results"}', b"notes", b'{"gssbo": 1', b'{"gssbo":2,"ver', b"\0\0\0", b"7"])
def test_another_file_of_one_line_is_left_alone(tmp_path, data):
    refused(tmp_path / "notes.json", data, "first line that is no header")


def test_every_beginning_of_a_header_is_begun_again(tmp_path, lines):
    path = tmp_path / "run.jsonl"
    for cut in (1, 5, 9, 10, 25, len(lines[0]) - 2):
        path.write_bytes(lines[0][:cut])
        with pytest.warns(JournalWarning, match="half a line"), fresh(path) as opt:
            opt.ask(3)
        assert path.read_bytes().startswith(lines[0])
        assert len(read_journal(path).entries) == 1


@pytest.mark.parametrize("count", range(1, 8))
def test_a_last_line_without_its_end_is_whole(tmp_path, lines, count):
    path, other = tmp_path / "run.jsonl", tmp_path / "other.jsonl"
    whole = b"".join(lines[:count])
    for each, data in ((path, whole[:-1]), (other, whole)):
        each.write_bytes(data)
        with fresh(each):
            pass
        assert each.read_bytes() == data  # opening changes nothing
        with fresh(each) as opt:
            opt.tell(dict(zip(BOUNDS, POINT, strict=True)), 7.0)
            opt.tell({"a": 0.75, "n": 1, "c": 4}, 8.0)
    assert path.read_bytes() == other.read_bytes()
    path.write_bytes(whole[:-1])
    assert len(read_journal(path).entries) == count - 1
    compact(path)
    assert path.read_bytes() == whole


def test_a_last_line_without_its_end_stays_when_the_next_cannot_be_written(tmp_path, lines, monkeypatch):
    path = tmp_path / "run.jsonl"
    whole = b"".join(lines)
    path.write_bytes(whole[:-1])
    with fresh(path) as opt:
        write = os.write

        def fails(descriptor, data):
            write(descriptor, bytes(data)[:1])
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "write", fails)
        with pytest.raises(JournalError, match="No space left"):
            opt.tell({"a": 0.75, "n": 1, "c": 4}, 8.0)
        monkeypatch.undo()
        assert path.read_bytes() == whole[:-1]
        opt.tell({"a": 0.75, "n": 1, "c": 4}, 8.0)
    assert path.read_bytes().startswith(whole)
    assert read_ledger(path).n_told == 2


def test_a_wrong_last_line_without_its_end_is_no_half_a_line(tmp_path, lines):
    data = b"".join([*lines, json.dumps(tell(id=[99])).encode()])
    refused(tmp_path / "run.jsonl", data, f"damaged in line {len(lines) + 1}")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_pipes_and_devices_are_refused_at_once(tmp_path):
    pipe, lock = tmp_path / "pipe", f"{os.devnull}.lock"
    before = os.path.exists(lock)
    os.mkfifo(pipe)
    code = (
        "import sys, gssbo\n"
        "from gssbo.journal import compact, read_journal\n"
        "for path in sys.argv[1:]:\n"
        "    for use in (read_journal, compact, lambda path: gssbo.Optimizer([(0.0, 1.0)], journal=path)):\n"
        "        try:\n"
        "            use(path)\n"
        "        except gssbo.exceptions.JournalError as error:\n"
        "            print(error)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(pipe), os.devnull], capture_output=True, text=True, timeout=60, check=True
    )
    found = ran.stdout.splitlines()
    assert len(found) == 6 and all("must be a regular file" in line for line in found)
    assert stat.S_ISFIFO(os.stat(pipe).st_mode) and os.listdir(tmp_path) == ["pipe"]
    assert os.path.exists(lock) == before


@pytest.mark.parametrize("path", [5, "a\0b", None, b"bytes"])
def test_what_is_no_path_is_said_to_be_none(path):
    for name, use in (("path", read_journal), ("path", compact), ("journal", Journal)):
        with pytest.raises(ValueError, match=f"^{name} must be"):
            use(path)


@pytest.mark.parametrize("factor", [float("inf"), float("nan"), np.float32("inf")])
def test_options_that_json_does_not_have_are_refused_as_without_a_journal(tmp_path, factor):
    with pytest.raises(ValueError, match="dynamic_factor must be finite"):
        gssbo.Optimizer([(0.0, 1.0)], dynamic_factor=factor, rng=0, journal=tmp_path / "run.jsonl")


def test_infinite_options_are_kept():
    options = {"a": float("inf"), "b": {"c": np.float32("-inf")}, "d": np.float64("nan"), "e": np.int64(3)}
    assert plain_options(options) == {"a": "inf", "b": {"c": "-inf"}, "d": None, "e": 3}

"""The journal's file: what is written and what is read."""

import json
import os
import stat
import time
import tracemalloc
import warnings

import numpy as np
import pytest

import gssbo
from gssbo.exceptions import JournalError, JournalWarning
from gssbo.journal import Journal, journal, read_journal
from gssbo.recorded import continue_ledger
from tests.journals import MIXED, POINT, fresh, ten_rows


def test_many_lines_are_read_a_part_at_a_time(tmp_path, monkeypatch):
    path, n = tmp_path / "run.jsonl", 4_000
    monkeypatch.setattr(journal, "AT_ONCE", 100)
    with gssbo.Optimizer([(0.0, 1.0)] * 2, rng=0, journal=Journal(path, sync=False)) as opt:
        for x in np.random.default_rng(0).random((n, 2)):
            opt.tell(x, 1.0)
    tracemalloc.start()
    try:
        entries = read_journal(path).entries
        held, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(entries) == n and peak - held < 5 * path.stat().st_size  # 12 times where all are parsed at once


def test_damaged_lines_are_found_in_whatever_part_they_are(tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    ten_rows(path)
    monkeypatch.setattr(journal, "AT_ONCE", 3)
    assert [entry.y.tolist() for entry in read_journal(path).entries] == [[float(k)] for k in range(10)]
    lines = path.read_bytes().splitlines(keepends=True)
    lines[6], lines[9] = b"XX\n", b'{"forget":null,"id":[4]}\n'  # one is no JSON, the other cannot be
    path.write_bytes(b"".join(lines))
    with pytest.raises(JournalError, match="damaged in line 7 "):
        read_journal(path)
    with pytest.warns(JournalWarning) as warned:
        entries = read_journal(path, skip_damaged=True).entries
    assert [str(each.message).split(": ")[1] for each in warned] == ["line 7 is damaged and left out"]
    assert [entry.kind for entry in entries] == ["tell"] * 7 + ["forget"] + ["tell"]


def test_going_on_with_a_journal_reads_it_once(tmp_path, monkeypatch):
    path, read = tmp_path / "run.jsonl", []
    ten_rows(path)
    read_lines = journal.read_lines
    monkeypatch.setattr(journal, "read_lines", lambda lines, codec: read.extend(lines) or read_lines(lines, codec))
    with continue_ledger(path) as ledger:
        assert ledger.n_told == 10
    assert len(read) == 10


@pytest.mark.parametrize(
    "options", [{"subset_size": -1}, {"refit": "never"}, {"initial_design": "grid"}, {"acquisition": "luck"}]
)
def test_bad_options_leave_the_journal_free(tmp_path, options):
    path = tmp_path / "run.jsonl"
    with pytest.raises(ValueError, match=next(iter(options))):
        gssbo.Optimizer([(0.0, 1.0)], rng=0, journal=path, **options)
    with gssbo.Optimizer([(0.0, 1.0)], rng=0, journal=path) as opt:
        opt.tell([0.5], 1.0)


@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_suggestions_keep_their_numbers_where_lines_before_are_left_out(tmp_path, method):
    path, options = tmp_path / "run.jsonl", {"rng": 0, "n_init": 4, "method": method}
    with gssbo.Optimizer([(0.0, 1.0)] * 2, journal=Journal(path, snapshots=False), **options) as opt:
        for _ in range(8):
            first, second = opt.ask(2, ids=True)
            opt.tell(second, float(second.x.sum()))
            opt.tell(first, float(first.x.sum()))
        waiting, X = opt.ask(2, ids=True), opt.X
    lines = path.read_bytes().splitlines(keepends=True)
    asks = [k for k, line in enumerate(lines) if json.loads(line).get("ask")]
    for k in asks:
        path.write_bytes(b"".join([*lines[:k], b"XX\n", *lines[k + 1 :]]))
        with (
            pytest.warns(JournalWarning),
            gssbo.Optimizer([(0.0, 1.0)] * 2, journal=Journal(path, skip_damaged=True), **options) as opt,
        ):
            np.testing.assert_array_equal(opt.X, X)
            lost = k == asks[-1]
            assert [each.id for each in opt.pending] == ([] if lost else [each.id for each in waiting])
            opt.tell([0.25, 0.25], 1.0)
            assert opt.ask(ids=True).id == (16 if lost else 18)


def test_a_suggestion_that_is_on_the_disk_stands_when_ctrl_c_follows(tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    opt = gssbo.Optimizer([(0.0, 1.0)], rng=0, journal=path)
    opt.ask()
    append = Journal.append

    def interrupted(journal, entry):
        append(journal, entry)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Journal, "append", interrupted)
        opt.ask()
    assert [each.id for each in opt.pending] == [0, 1]
    third = opt.ask(ids=True)
    opt.close()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with gssbo.Optimizer([(0.0, 1.0)], rng=0, journal=path) as again:
            assert [each.id for each in again.pending] == [0, 1, 2] and again.pending[2].x == third.x


def test_an_objective_may_go_elsewhere(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)

    def cost(x):
        monkeypatch.chdir(tmp_path / "elsewhere")
        return x[0]

    assert gssbo.minimize(cost, [(0.0, 1.0)], n_evals=3, rng=0, journal="run.jsonl").nfev == 3
    assert len(read_journal(tmp_path / "run.jsonl").entries) >= 6
    assert os.listdir(tmp_path / "elsewhere") == []


def test_a_journal_is_json_lines(tmp_path):
    path = tmp_path / "run.jsonl"
    with gssbo.Optimizer(MIXED, journal=path, n_init=2, rng=0) as opt:
        x = opt.ask()
        opt.tell(x, 1.5)
        opt.tell(POINT, failed=True)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0]["gssbo"] == 1 and lines[0]["options"]["n_init"] == 2
    assert lines[1]["id"] == [0] and list(lines[1]) == ["ask", "id", "seconds"]
    assert lines[2]["tell"] == lines[1]["ask"] and (lines[2]["id"], lines[2]["y"]) == ([0], [1.5])
    assert lines[3]["y"] == [None]


def test_nothing_is_written_before_the_first_entry(tmp_path):
    path = tmp_path / "run.jsonl"
    with pytest.raises(ValueError, match="rule must be"):
        fresh(path, rule="none")
    fresh(path).close()
    assert path.read_bytes() == b""
    assert os.listdir(tmp_path) == ["run.jsonl"]  # the lock is gone


def test_a_big_tell_is_quick_and_so_is_a_long_journal(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.random((20_000, 20)), rng.random(20_000)
    path = tmp_path / "bulk.jsonl"
    with gssbo.Optimizer([(0.0, 1.0)] * 20, journal=path) as opt:
        opt.tell(X, y)
    with gssbo.Optimizer([(0.0, 1.0)] * 20, journal=path) as opt:
        np.testing.assert_array_equal(opt.X, X)
        np.testing.assert_array_equal(opt.y, y)
    path = tmp_path / "long.jsonl"
    with gssbo.Optimizer([(0.0, 1.0)] * 3, journal=Journal(path, sync=False)) as opt:
        for k in range(5_000):
            opt.tell(X[k, :3], y[k])
    begin = time.process_time()
    with gssbo.Optimizer([(0.0, 1.0)] * 3, journal=path) as opt:
        assert opt.n_told == 5_000
    assert time.process_time() - begin < 3.0  # 0.3 s where nothing else runs: 20,000 entries a second


def test_half_a_line_is_left_out_and_written_over(tmp_path):
    path = tmp_path / "run.jsonl"
    ten_rows(path)
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for cut in range(last + 1, len(whole), 7):
        path.write_bytes(whole[:cut])
        with pytest.warns(JournalWarning, match="half a line") as record, fresh(path) as opt:
            assert opt.n_told == 9
        assert len(record) == 1 and record[0].filename == fresh.__code__.co_filename
        assert path.read_bytes() == whole[:cut]  # opening changes nothing
    with pytest.warns(JournalWarning), fresh(path) as opt:
        opt.tell([0.9, 0.5], 9.0)
    assert path.read_bytes() == whole


def test_half_a_header_is_no_run(tmp_path):
    path = tmp_path / "run.jsonl"
    path.write_bytes(b'{"gssbo":1,"vers')
    with pytest.warns(JournalWarning, match="half a line"), fresh(path) as opt:
        opt.tell([0.1, 0.5], 1.0)
    with fresh(path) as opt:
        assert opt.n_told == 1


def test_a_damaged_line_is_named_and_nothing_deleted(tmp_path):
    path = tmp_path / "run.jsonl"
    ten_rows(path)
    lines = path.read_bytes().splitlines(keepends=True)
    for garbage in (
        b"garbage\n",
        b"\x00\x00\n",
        b'{"tell":[[0.5]],"y":[1.0]}\n',
        b'{"tell":[[0.5,7]],"y":[1]}\n',
        b"[]\n",
    ):
        damaged = b"".join([*lines[:5], garbage, *lines[6:]])
        path.write_bytes(damaged)
        with pytest.raises(JournalError, match="damaged in line 6"):
            fresh(path)
        assert path.read_bytes() == damaged
        with pytest.warns(JournalWarning, match="line 6"), fresh(Journal(path, skip_damaged=True)) as opt:
            assert opt.n_told == 9
        with pytest.raises(JournalError, match="line 6"):
            read_journal(path)


def test_what_is_no_journal_is_refused(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("a line\nanother\n")
    with pytest.raises(JournalError, match="no header"):
        fresh(path)
    path.write_text('{"gssbo":99}\n')
    with pytest.raises(JournalError, match="format 99"):
        fresh(path)
    with pytest.raises(JournalError, match="must be a regular file"):
        fresh(tmp_path)
    with pytest.raises(JournalError, match="file that can be written"):
        fresh(tmp_path / "none" / "run.jsonl")
    for path in (3.5, "a\0b") if os.name == "nt" else (3.5, "a\0b", "\ud800"):  # half a character is a name on Windows
        with pytest.raises(ValueError, match=r"^journal must be a path"):
            fresh(path)


def test_an_entry_that_cannot_be_written_did_not_happen(tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    with fresh(path) as opt:
        opt.tell([0.1, 0.1], 1.0)
        before = path.read_bytes()
        full = os.write

        def fails(descriptor, data):
            full(descriptor, bytes(data)[:5])
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "write", fails)
        with pytest.raises(JournalError, match="No space left"):
            opt.tell([0.2, 0.2], 2.0)
        with pytest.raises(JournalError, match="No space left"):
            opt.ask()
        with pytest.raises(JournalError, match="No space left"):
            opt.enqueue([0.3, 0.3])
        assert (opt.n_told, len(opt.pending), len(opt.queue)) == (1, 0, 0)
        monkeypatch.undo()
        assert path.read_bytes() == before
        opt.tell([0.2, 0.2], 2.0)
    assert [entry.kind for entry in read_journal(path).entries] == ["tell", "tell"]


def test_reading_needs_a_run(tmp_path):
    with pytest.raises(JournalError, match="cannot be read"):
        read_journal(tmp_path / "none.jsonl")
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(JournalError, match="not begun"):
        read_journal(tmp_path / "empty.jsonl")


def test_reading_leaves_the_filters_of_warnings_alone(tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    ten_rows(path)
    path.write_bytes(path.read_bytes()[:-5])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        monkeypatch.setattr(warnings, "simplefilter", lambda *_: pytest.fail("they are everyone's"))
        monkeypatch.setattr(warnings, "catch_warnings", lambda *_: pytest.fail("they are everyone's"))
        assert len(read_journal(path).entries) == 9
        monkeypatch.undo()
    with pytest.warns(JournalWarning, match="half a line"):
        assert len(read_journal(path, skip_damaged=True).entries) == 9


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, TimeoutError])
def test_what_was_written_before_an_interrupt_is_told_once(tmp_path, monkeypatch, error):
    path, append = tmp_path / "run.jsonl", Journal.append

    def interrupted(self, entry):
        append(self, entry)
        monkeypatch.undo()
        raise error

    with fresh(path) as opt:
        suggestion = opt.ask(ids=True)
        monkeypatch.setattr(Journal, "append", interrupted)
        with pytest.raises(error):
            opt.tell(suggestion, 2.0)
        assert (opt.n_told, len(opt.pending)) == (1, 0)
        opt.tell(suggestion, 2.0)  # a retry, as the caller cannot know
        opt.tell([0.25, 0.25], 3.0)
    assert [entry.kind for entry in read_journal(path).entries] == ["ask", "tell", "tell"]


@pytest.mark.skipif(os.name != "posix", reason="folders are not opened on Windows")
def test_a_new_journal_has_its_name_on_the_disk(tmp_path, monkeypatch):
    synced, fsync = [], os.fsync

    def watched(descriptor):
        synced.append(stat.S_ISDIR(os.fstat(descriptor).st_mode))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    ten_rows(tmp_path / "run.jsonl")
    assert synced == [False, True] + [False] * 9


def test_a_process_may_go_to_another_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    with fresh("run.jsonl") as opt:
        monkeypatch.chdir(tmp_path / "elsewhere")
        opt.tell([0.1, 0.2], 1.0)
    assert os.listdir(tmp_path / "elsewhere") == []
    assert read_journal(tmp_path / "run.jsonl").entries[0].y == [1.0]


def test_nan_and_tuples_with_it_are_read_as_the_categories_they_are(tmp_path):
    def space():
        return {"missing": [float("nan"), -1, "nan"], "both": [(float("nan"), 1), (2.0, 3.0)]}

    with gssbo.Optimizer(space(), journal=tmp_path / "j", rng=0) as optimizer:
        for y in range(6):
            optimizer.tell(optimizer.ask(), y)
        told = repr(optimizer.X)
    values = [parameter.values for parameter in read_journal(tmp_path / "j").space.parameters]
    assert repr(values) == repr([tuple(each) for each in space().values()])
    with gssbo.Optimizer(space(), journal=tmp_path / "j", rng=0) as optimizer:
        assert repr(optimizer.X) == told


def test_infinite_categories_are_read_as_the_numbers_they_are(tmp_path):
    """Without the space, too: as text they would be another point to a program."""
    space = {"clip": [1.0, np.inf, -np.inf, "inf"], "both": [(1.0, np.inf), (2.0, 3.0)]}
    with gssbo.Optimizer(space, journal=tmp_path / "j", rng=0) as optimizer:
        optimizer.tell(optimizer.ask(), 1.0)
        told = optimizer.X
    found = read_journal(tmp_path / "j")
    assert [parameter.values for parameter in found.space.parameters] == [tuple(space["clip"]), tuple(space["both"])]
    with gssbo.Optimizer(space, journal=tmp_path / "j", rng=0) as optimizer:
        assert told == optimizer.X

"""Compaction of a journal: the last snapshot alone is left."""

import os

import numpy as np
import pytest

import gssbo
from gssbo.exceptions import JournalError
from gssbo.journal import compact, read_journal
from gssbo.recorded import read_ledger
from tests.journals import BOX, kinds, run


@pytest.fixture
def journal(tmp_path, soon):
    path = tmp_path / "run.jsonl"
    with gssbo.Optimizer(BOX, n_init=5, rng=0, journal=path) as opt:
        run(opt, 46)
    return path


def test_compaction_leaves_the_last_snapshot(journal):
    entries = [entry for entry in read_journal(journal).entries if entry.kind != "snapshot"]
    size = journal.stat().st_size
    with journal.open("ab") as file:
        file.write(b'{"tell":[[0.5')
    with pytest.warns(gssbo.exceptions.JournalWarning, match="half a line"):
        before, after = compact(journal, skip_damaged=True)
    assert before == size + 13 and after == journal.stat().st_size < size / 2
    assert kinds(journal).count("snapshot") == 1
    for ours, theirs in zip(
        (entry for entry in read_journal(journal).entries if entry.kind != "snapshot"), entries, strict=True
    ):
        assert (ours.kind, ours.ids, ours.seconds) == (theirs.kind, theirs.ids, theirs.seconds)
        assert ours.rows.tobytes() == theirs.rows.tobytes()
    with gssbo.Optimizer(BOX, n_init=5, rng=0) as whole, gssbo.Optimizer(BOX, n_init=5, rng=0, journal=journal) as opt:
        run(whole, 46)
        np.testing.assert_array_equal(opt.ask(), whole.ask())
    assert os.listdir(journal.parent) == ["run.jsonl"]


@pytest.mark.parametrize("function", [compact, read_journal, read_ledger])
def test_whether_damaged_lines_are_left_out_is_a_flag(tmp_path, function):
    with gssbo.Optimizer([(0.0, 1.0)], journal=tmp_path / "run.jsonl") as opt:
        opt.ask()
    with pytest.raises(ValueError, match=r"^skip_damaged must be True or False, got 'no'"):
        function(tmp_path / "run.jsonl", skip_damaged="no")


def test_after_compactions_nothing_is_asked_again(journal, monkeypatch):
    with gssbo.Optimizer(BOX, n_init=5, rng=0) as whole:
        run(whole, 46)
        expected = whole.ask()
    for _ in range(2):
        compact(journal)
    asked = []
    ask = gssbo.Optimizer._ask
    with monkeypatch.context() as patch:
        patch.setattr(gssbo.Optimizer, "_ask", lambda self, n, **given: asked.append(given) or ask(self, n, **given))
        with gssbo.Optimizer(BOX, n_init=5, rng=0, journal=journal) as opt:
            assert asked == []
            np.testing.assert_array_equal(opt.ask(), expected)


def test_a_journal_in_use_is_left_alone(journal):
    with (
        gssbo.Optimizer(BOX, n_init=5, rng=0, journal=journal),
        pytest.raises(JournalError, match="is being written by this very process"),
    ):
        compact(journal)


@pytest.mark.parametrize(("text", "message"), [("", "is empty"), ("{}\n", "no header"), (None, "No such file")])
def test_what_is_no_journal_is_refused(tmp_path, text, message):
    path = tmp_path / "run.jsonl"
    if text is not None:
        path.write_text(text)
    with pytest.raises(JournalError, match=message):
        compact(path)
    assert sorted(os.listdir(tmp_path)) == ([] if text is None else ["run.jsonl"])


def test_a_damaged_journal_is_left_as_it_is(journal):
    lines = journal.read_text().splitlines(keepends=True)
    journal.write_text("".join([*lines[:3], "x\n", *lines[3:]]))
    before = journal.read_bytes()
    with pytest.raises(JournalError, match="damaged in line 4"):
        compact(journal)
    assert journal.read_bytes() == before
    with pytest.warns(gssbo.exceptions.JournalWarning, match="line 4 is damaged"):
        compact(journal, skip_damaged=True)
    assert len(read_journal(journal).entries) == 2 * 46 + 1


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_compaction_that_fails_changes_nothing(journal, monkeypatch, step):
    before = journal.read_bytes()

    def fail(*_):
        raise OSError("no space left")

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(JournalError, match="it is as it was"):
        compact(journal)
    monkeypatch.undo()
    assert journal.read_bytes() == before and os.listdir(journal.parent) == ["run.jsonl"]

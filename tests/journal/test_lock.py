"""Who may write a journal, until when, and what happens to it meanwhile."""

import copy
import errno
import gc
import itertools
import linecache
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

import gssbo
from gssbo.exceptions import JournalError
from gssbo.journal import Journal, compact, lock, read_journal
from gssbo.journal.lock import Lock
from gssbo.ledger import Ledger
from gssbo.recorded import continue_ledger
from tests.journals import fresh, ten_rows


@pytest.mark.skipif(sys.platform == "win32", reason="locks differ")
@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
def test_a_file_system_without_locks_is_named(tmp_path, monkeypatch, number):
    def lockf(*args):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("fcntl.lockf", lockf)
    with pytest.raises(JournalError, match=r"run\.jsonl \(.*the file system has no locks here"):
        gssbo.minimize(pytest.fail, [(0.0, 1.0)], n_evals=3, journal=tmp_path / "run.jsonl")
    assert not (tmp_path / "run.jsonl").exists()


def test_a_link_is_no_other_journal(tmp_path):
    path, link = tmp_path / "run.jsonl", tmp_path / "link.jsonl"
    link.symlink_to(path)
    with gssbo.Optimizer([(0.0, 1.0)], rng=0, journal=path) as opt:
        opt.tell([0.5], 1.0)
        locks = {each.name for each in tmp_path.glob("*.lock")}
        with pytest.raises(JournalError, match="is being written"):
            gssbo.Optimizer([(0.0, 1.0)], rng=0, journal=link)
    with gssbo.Optimizer([(0.0, 1.0)], rng=0, journal=link) as opt:  # whichever name another process takes
        assert {each.name for each in tmp_path.glob("*.lock")} == locks == {"run.jsonl.lock"}
        opt.tell([0.6], 2.0)
    path.chmod(0o600)
    (tmp_path / "run.jsonl.new").write_text("mine")
    compact(link)
    assert link.is_symlink() and len(read_journal(path).entries) == 2
    assert path.stat().st_mode & 0o777 == 0o600
    assert sorted(each.name for each in tmp_path.iterdir()) == ["link.jsonl", "run.jsonl", "run.jsonl.new"]
    assert (tmp_path / "run.jsonl.new").read_text() == "mine"


def test_one_writer_at_a_time_in_this_process(tmp_path):
    path = tmp_path / "run.jsonl"
    with fresh(path) as opt:
        opt.tell([0.1, 0.1], 1.0)
        with pytest.raises(JournalError, match="this very process"):
            fresh(path)
        assert len(read_journal(path).entries) == 1  # a reader is no writer
    with fresh(path) as opt:
        assert opt.n_told == 1


def test_one_writer_at_a_time_among_processes(tmp_path):
    path = tmp_path / "run.jsonl"
    code = (
        "import sys, gssbo\n"
        f"opt = gssbo.Optimizer([(0.0, 1.0)] * 2, n_init=3, rng=5, journal={str(path)!r})\n"
        "opt.tell([0.1, 0.1], 1.0)\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
    )
    holder = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        assert holder.stdout.readline() == "ready\n"
        with pytest.raises(JournalError, match="another process") as caught:
            fresh(path)
        if sys.platform == "linux":
            assert str(holder.pid) in str(caught.value)
    finally:
        holder.kill()
        holder.communicate()
    with fresh(path) as opt:  # a lock dies with its process
        assert opt.n_told == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_copy_does_not_write(tmp_path):
    path = tmp_path / "run.jsonl"
    with fresh(path) as opt:
        opt.tell([0.1, 0.1], 1.0)
        before = path.read_bytes()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads
            child = os.fork()
        if child == 0:
            try:
                opt.tell([0.2, 0.2], 2.0)
            except JournalError:
                os._exit(7)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert path.read_bytes() == before


def test_after_closing_nothing_is_asked_or_told(tmp_path):
    opt = fresh(tmp_path / "run.jsonl")
    opt.tell([0.1, 0.1], 1.0)
    opt.close()
    opt.close()
    for call in (opt.ask, lambda: opt.tell([0.2, 0.2], 1.0)):
        with pytest.raises(JournalError, match="closed"):
            call()
    assert (opt.n_told, opt.best_y) == (1, 1.0)


def test_a_copy_has_no_journal(tmp_path):
    path = tmp_path / "run.jsonl"
    with fresh(path) as opt:
        opt.tell([0.1, 0.1], 1.0)
        before = path.read_bytes()
        for twin in (copy.copy(opt), copy.deepcopy(opt), pickle.loads(pickle.dumps(opt))):
            twin.tell([0.2, 0.2], 2.0)
            assert (twin.n_told, opt.n_told) == (2, 1)
            twin.ask()
            assert (len(twin.pending), len(opt.pending)) == (1, 0)
        assert path.read_bytes() == before


# On Windows an open file stays where it is.
@pytest.mark.parametrize("trouble", ["cut"] if sys.platform == "win32" else ["cut", "replaced", "removed", "moved"])
def test_what_would_be_lost_is_not_told(tmp_path, trouble):
    path, other = tmp_path / "run.jsonl", tmp_path / "other.jsonl"
    with fresh(path) as opt:
        opt.tell([0.1, 0.1], 1.0)
        opt.tell([0.2, 0.2], 2.0)
        whole = path.read_bytes()
        if trouble == "replaced":
            other.write_bytes(whole)
            os.replace(other, path)
        elif trouble == "removed":
            path.unlink()
        elif trouble == "moved":
            path.rename(other)
        else:
            os.truncate(path, len(whole) - 30)
        for _ in range(2):
            with pytest.raises(JournalError, match="while it was open; the entry is not in it"):
                opt.tell([0.3, 0.3], 3.0)
            with pytest.raises(JournalError, match="while it was open; the entry is not in it"):
                opt.ask()
        assert (opt.n_told, len(opt.pending)) == (2, 0)
        if trouble == "cut":
            path.write_bytes(whole)
            opt.tell([0.3, 0.3], 3.0)
        kept = other if trouble == "moved" else path
    if trouble != "removed":
        assert len(read_journal(kept).entries) == 2 + (trouble == "cut")


def test_a_hard_link_is_no_other_journal(tmp_path):
    path, other = tmp_path / "run.jsonl", tmp_path / "other.jsonl"
    with fresh(path) as opt:
        opt.tell([0.1, 0.1], 1.0)
        os.link(path, other)
        with pytest.raises(JournalError, match="by this very process"):
            fresh(other)
        if sys.platform != "win32":
            code = f"import gssbo; gssbo.Optimizer([(0.0, 1.0)] * 2, n_init=3, rng=5, journal={str(other)!r})"
            got = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
            assert "is being written by another process, under another name" in got.stderr
        opt.tell([0.2, 0.2], 2.0)
    with fresh(other) as opt:
        assert opt.n_told == 2
    assert sorted(each.name for each in tmp_path.iterdir()) == ["other.jsonl", "run.jsonl"]


def test_the_lock_goes_with_its_file(tmp_path):
    lock = Lock(Path(tmp_path / "a"))
    assert (tmp_path / "a.lock").exists()
    lock.release()
    lock.release()
    assert not (tmp_path / "a.lock").exists()


@pytest.mark.parametrize("when", ["before", "after"])
def test_ctrl_c_as_a_journal_is_closed_lets_others_have_it(tmp_path, monkeypatch, when):
    path, close = tmp_path / "run.jsonl", os.close
    opt = fresh(path)
    opt.tell([0.5, 0.5], 1.0)

    def interrupted(descriptor):
        monkeypatch.setattr(os, "close", close)
        if when == "after":
            close(descriptor)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "close", interrupted)
    with pytest.raises(KeyboardInterrupt):
        opt.close()
    with fresh(path) as other:
        opt.close()
        with pytest.raises(JournalError, match="is closed"):
            opt.tell([0.2, 0.2], 2.0)
        other.tell([0.3, 0.3], 3.0)
    assert read_journal(path).entries[-1].y.tolist() == [3.0]


def test_closing_once_more_completes_what_ctrl_c_interrupted_at_any_line(tmp_path):
    path = tmp_path / "run.jsonl"
    files = {function.__code__.co_filename for function in (Journal.close, Lock.release)}

    def interrupt(frame, event, _):
        if frame.f_code.co_filename not in files:
            return None
        # At the edges of a with block a trace sees lines where no signal is handled, and the lock would stay taken.
        source = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
        if event == "line" and not source.startswith(("with ", "try:")):
            lines.append(frame.f_lineno)
            if len(lines) == last:
                raise KeyboardInterrupt
        return interrupt

    for last in itertools.count(1):
        opt, lines, before = fresh(path), [], sys.gettrace()
        sys.settrace(interrupt)
        try:
            opt.close()
        except KeyboardInterrupt:
            pass
        finally:
            sys.settrace(before)
        opt.close()
        with fresh(path):
            pass
        if len(lines) < last:
            break
    assert last > 10
    assert "count=0" in repr(lock._guard)  # else whoever comes next waits for ever


def test_a_lock_whose_release_was_interrupted_is_not_released_twice(tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    lock = Lock(path)

    def interrupted(self):
        monkeypatch.undo()
        unlink(self)
        raise KeyboardInterrupt

    unlink = Path.unlink
    monkeypatch.setattr(Path, "unlink", interrupted)
    with pytest.raises(KeyboardInterrupt):
        lock.release()
    theirs = Lock(path)
    lock.release()
    assert theirs._path.exists()
    with pytest.raises(JournalError, match="by this very process"):
        Lock(path)
    theirs.release()


def test_a_descriptor_that_was_closed_by_others_is_an_error_of_the_journal(tmp_path):
    opt = fresh(tmp_path / "run.jsonl")
    opt.tell([0.5, 0.5], 1.0)
    os.close(opt._journal._descriptor)
    with pytest.raises(JournalError, match="the entry is not in it"):
        opt.tell([0.2, 0.2], 2.0)
    assert opt.n_told == 1
    with pytest.raises(OSError):
        opt.close()
    with fresh(tmp_path / "run.jsonl") as opt:
        assert opt.n_told == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_a_ledger_that_could_not_be_made_lets_go_of_its_journal(tmp_path, monkeypatch, error):
    path = tmp_path / "run.jsonl"
    ten_rows(path)

    def interrupted(*arguments):
        raise error

    with monkeypatch.context() as patch, pytest.raises(error):
        patch.setattr(Ledger, "_book", interrupted)
        continue_ledger(path)
    with monkeypatch.context() as patch, pytest.raises(error):
        patch.setattr("gssbo.resume.make_generator", interrupted)
        fresh(path)
    with continue_ledger(path) as ledger:
        assert ledger.n_told == 10


def test_a_journal_that_nobody_holds_is_closed(tmp_path):
    path = tmp_path / "run.jsonl"
    opt = fresh(path)
    opt.tell([0.1, 0.2], 1.0)
    with pytest.raises(JournalError, match="is being written by this very process"):
        fresh(path)
    del opt
    gc.collect()
    with fresh(path) as opt:
        assert opt.n_told == 1

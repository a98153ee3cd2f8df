"""B27: a journal that is damaged, locked or overwritten."""

import os
import subprocess
import sys

import pytest

import gssbo
from gssbo.exceptions import JournalError, JournalWarning
from gssbo.journal import read_journal


def opened(path):
    return gssbo.Optimizer({"x": (0.0, 1.0)}, n_init=3, rng=0, journal=path)


@pytest.fixture
def path(tmp_path):
    """A journal of ten rows."""
    path = tmp_path / "run.jsonl"
    with opened(path) as opt:
        for k in range(10):
            opt.tell({"x": k / 10}, float(k))
    return path


def test_a_row_cut_in_the_middle(path):
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.warns(JournalWarning) as record, opened(path) as opt:
        assert len(record) == 1
        assert list(opt.y) == [float(k) for k in range(9)]
        opt.tell({"x": 0.95}, 9.5)
    with opened(path) as opt:
        assert list(opt.y) == [*map(float, range(9)), 9.5]
        assert opt.X[-1] == {"x": 0.95}


def test_a_row_of_garbage(path):
    lines = path.read_bytes().splitlines(keepends=True)
    lines[5] = b"\xffgarbage{\n"
    path.write_bytes(b"".join(lines))
    with pytest.raises(JournalError, match="damaged in line 6"):
        opened(path)
    assert path.read_bytes() == b"".join(lines)


def test_opening_and_closing_changes_nothing(path):
    before = path.read_bytes()
    opened(path).close()
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]


def test_an_empty_file_is_a_new_run(tmp_path):
    path = tmp_path / "run.jsonl"
    path.touch()
    with opened(path) as opt:
        assert opt.n_told == 0
        opt.tell({"x": 0.5}, 1.0)
    with opened(path) as opt:
        assert opt.n_told == 1


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no such permissions here")
def test_a_file_that_may_only_be_read(path, monkeypatch):
    if os.geteuid() == 0:  # whom permissions do not stop
        real = os.open

        def refuses(name, flags, *mode):
            if os.fspath(name) == str(path) and flags & os.O_RDWR:
                raise PermissionError(13, "Permission denied", str(name))
            return real(name, flags, *mode)

        monkeypatch.setattr(os, "open", refuses)
    else:
        path.chmod(0o444)
    calls = []
    with pytest.raises(JournalError, match="file that can be written"):
        gssbo.minimize(calls.append, {"x": (0.0, 1.0)}, n_evals=12, n_init=3, rng=0, journal=path)
    assert calls == []
    assert len(read_journal(path).entries) == 10


TELLS = """
import os, signal, sys, time, gssbo

def tell(path, log):
    opt = gssbo.Optimizer({"x": (0.0, 1.0)}, n_init=3, rng=0, journal=path)
    k = opt.n_told
    while True:
        opt.tell({"x": (k % 1000) / 1000}, float(k))
        k += 1
        os.write(log, b".")

path, log = sys.argv[1], os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
gssbo.Optimizer({"x": (0.0, 1.0)})  # imports the rest
for round in range(20):  # forked, so that all is imported once
    before = os.fstat(log).st_size
    child = os.fork()
    if child == 0:
        tell(path, log)
    while os.fstat(log).st_size == before:
        time.sleep(0.001)
    time.sleep(0.001 * (round * round % 17))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_killed_while_it_tells(path):
    log = path.with_name("log")
    subprocess.run([sys.executable, "-c", TELLS, str(path), str(log)], check=True, timeout=60)
    entries = read_journal(path).entries
    assert [entry.y[0] for entry in entries] == [float(k) for k in range(len(entries))]
    assert len(entries) >= 10 + log.stat().st_size >= 30  # every tell that returned, and perhaps those it killed

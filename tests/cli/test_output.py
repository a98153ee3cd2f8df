"""What is printed where nobody can read it."""

import os
import subprocess
import sys

import pytest

import gssbo

CODE = "import sys; from gssbo.cli import main; sys.exit(main(sys.argv[1:]))"
BEST = ["best", "run.jsonl"]
TELL = ["tell", "run.jsonl", "x=0.25", "--value", "-1"]
TUNE = ["tune", "echo {x}", "--n-evals", "6", "--journal", "run.jsonl"]


@pytest.fixture
def run(tmp_path):
    gssbo.minimize(lambda x: x["x"], {"x": (0.0, 1.0)}, n_evals=4, journal=tmp_path / "run.jsonl", rng=0)

    def run(words, **streams):
        command = [sys.executable, "-c", CODE, *words]
        return subprocess.run(command, cwd=tmp_path, check=False, timeout=60, text=True, **streams)

    return run


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize("words", [BEST, TELL, TUNE, ["export", "run.jsonl"]])
def test_a_full_disk_is_an_error_of_one_line(run, words):
    with open("/dev/full", "w") as full:
        done = run(words, stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("gssbo: error: the output could not be written ([Errno 28]")
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no streams to close")
@pytest.mark.parametrize("closed", [(2,), (0, 1, 2)], ids=str)
def test_closed_streams_are_no_error(run, tmp_path, closed):
    def close():
        for stream in closed:
            os.close(stream)

    before = (tmp_path / "run.jsonl").read_bytes()
    for words in (BEST, TUNE, TELL, ["ask", "run.jsonl"]):
        assert run(words, preexec_fn=close).returncode == 0, words
    record = gssbo.journal.read_journal(tmp_path / "run.jsonl")
    assert (tmp_path / "run.jsonl").read_bytes().startswith(before)  # nothing was printed into it
    assert sum(entry.kind == "tell" for entry in record.entries) == 7

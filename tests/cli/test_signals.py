"""Signals, and what else ends `gssbo tune` and its commands."""

import os
import pathlib
import signal
import subprocess
import sys
import threading
import time

import pytest

from gssbo.cli import main
from gssbo.cli.signals import Endings
from gssbo.recorded import continue_ledger, read_ledger
from tests.commands import PYTHON, TUNE

# The first two commands give a value, the others stay until they are killed, as does what they start.
SLOW = """
import os, subprocess, sys, time
name = f"pid-{os.getpid()}"
child = None
if len([each for each in os.listdir() if each.startswith("pid-")]) >= 2:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
with open(name + ".new", "w") as file:
    file.write(f"{os.getpid()} {child.pid if child else ''}")
os.rename(name + ".new", name)
if child:
    child.wait()
print(len(name))
"""


def begin_slow(here, *, workers, **options):
    """Start a run of its own process with the signals' default handlers; return it when its last commands run."""
    (here / "slow.py").write_text(SLOW)
    command = f"{PYTHON} slow.py {{lr}} {{n}} {{act}}"
    arguments = ["tune", command, "--space", "space.toml", "--n-evals", "9", "--journal", "run.jsonl"]
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "for number in (signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_DFL)\n"
        f"from gssbo.cli import main; sys.exit(main({[*arguments, '--workers', str(workers)]!r}))"
    )
    process = subprocess.Popen([sys.executable, "-c", code], **options)
    deadline = time.monotonic() + 60
    while len([name for name in os.listdir(here) if name.startswith("pid-") and "." not in name]) < 2 + workers:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    return process


def assert_no_command_is_left(here):
    pids = [int(word) for path in here.glob("pid-*") for word in path.read_text().split()]
    assert len(pids) >= 6
    deadline = time.monotonic() + 30  # a child of a command is reaped by whoever adopts it
    while any(_alive(pid) for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return not pathlib.Path("/proc/self").exists()  # there is no /proc, or it has ended meanwhile


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_ends_the_commands_too(here, name, code):
    with begin_slow(here, workers=2, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.send_signal(getattr(signal, name))
        if name != "SIGINT":  # as `timeout` does, to the process and to its group
            process.send_signal(getattr(signal, name))
        out, err = process.communicate(timeout=30)  # not the 60 s of the command
    assert process.returncode == code, err
    assert "Traceback" not in err and "best value" in out
    by = "the user, Ctrl-C" if name == "SIGINT" else name
    kept = "what was told is in run.jsonl, and the same line goes on from there"
    assert f"Ended by {by}; {kept}.\n" in out
    assert (f"gssbo tune: ended by {name}; {kept}\n" in err) == (name != "SIGINT")
    assert_no_command_is_left(here)
    ledger = read_ledger("run.jsonl")
    assert (ledger.n_told, ledger.n_failed, len(ledger.pending)) == (2, 0, 2)
    with continue_ledger("run.jsonl") as ledger:  # nobody holds it any more
        ledger.tell(id=ledger.pending[0].id, y=1.0)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_run_that_is_killed_takes_its_commands_along(here):
    with begin_slow(here, workers=2, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert_no_command_is_left(here)
    ledger = read_ledger("run.jsonl")
    assert (ledger.n_told, ledger.n_failed, len(ledger.pending)) == (2, 0, 2)


@pytest.mark.skipif(os.name != "posix", reason="terminals")
def test_a_terminal_that_goes_away_ends_the_commands_too(here):
    import pty

    controller, terminal = pty.openpty()
    with begin_slow(here, workers=2, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        os.close(controller)  # from now on writing there is an error
        process.send_signal(signal.SIGHUP)  # the system sends it where the terminal is the controlling one
        process.wait(timeout=30)
    assert process.returncode == 129
    assert_no_command_is_left(here)
    assert read_ledger("run.jsonl").n_told == 2


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_handlers_are_put_back_and_ignored_signals_stay_so():
    def handler(number, frame):
        raise AssertionError("not this one")

    before = signal.signal(signal.SIGTERM, handler), signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with pytest.raises(KeyboardInterrupt), Endings() as endings:
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            signal.raise_signal(signal.SIGHUP)
            assert endings.received is None
            signal.raise_signal(signal.SIGTERM)
        assert (endings.received, endings.code) == (signal.SIGTERM, 143)
        assert signal.getsignal(signal.SIGTERM) is handler
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before[0])
        signal.signal(signal.SIGHUP, before[1])


def test_in_another_thread_tune_handles_no_signals(here):
    codes = []
    thread = threading.Thread(target=lambda: codes.append(main([*TUNE, "--n-evals", "2"])))
    thread.start()
    thread.join(timeout=60)
    assert codes == [0]


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_run_without_a_journal_says_that_it_is_over(here, capsys):
    (here / "program.py").write_text(
        "import os, signal, time\n"
        "if os.path.exists('ran'):\n"
        "    os.kill(os.getppid(), signal.SIGINT)\n"
        "    time.sleep(60)\n"
        "open('ran', 'w')\n"
        "print(1)\n"
    )
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main([*TUNE, "--n-evals", "9"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().out.endswith(
        "Ended by the user, Ctrl-C; without --journal, nothing goes on from here.\n"
    )

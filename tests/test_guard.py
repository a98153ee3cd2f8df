"""What ends the commands of a run that is killed."""

import os
import subprocess
import time

import pytest

from gssbo.cli import guard as guard_module
from gssbo.cli.guard import Guard

pytestmark = pytest.mark.skipif(os.name != "posix", reason="process groups")


def sleeper():
    return subprocess.Popen(["sleep", "60"], start_new_session=True)


def test_what_is_watched_ends_with_the_guard_and_nothing_else():
    with sleeper() as one, sleeper() as two, sleeper() as three, sleeper() as other:
        gone = sleeper()
        with Guard() as guard:
            for process in (gone, one, two, three):
                guard.watch(process.pid)
            gone.kill()  # and still named: that must not keep the others
            gone.wait()
            guard.release(two.pid)
        assert one.wait(timeout=10) == three.wait(timeout=10) == -9
        time.sleep(0.05)
        assert two.poll() is other.poll() is None
        assert guard._shell.returncode is not None
        two.kill()
        other.kill()


def test_a_guard_whose_shell_is_gone_is_in_nobodys_way(monkeypatch):
    with Guard() as guard:
        guard._shell.kill()
        guard._shell.wait()
        guard.watch(2**22 + 1)
        guard.release(2**22 + 1)
    monkeypatch.setattr(guard_module, "SHELL", "/no/such/shell")
    with Guard() as guard:
        guard.watch(2**22 + 1)
    Guard().watch(2**22 + 1)

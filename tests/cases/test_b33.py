"""B33: Ctrl-C is heard, and nothing is lost by it."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import gssbo
from gssbo.journal import read_journal

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_during_ask(method):
    opt = gssbo.Optimizer([(0.0, 1.0)] * 20, n_init=10, subset_size=400, rng=0, method=method, threads=1)
    X = np.random.default_rng(0).random((1_000, 20))
    opt.tell(X, ((X - 0.3) ** 2).sum(1))
    arrived = None
    timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    sent = time.monotonic() + 0.05
    try:
        while time.monotonic() < sent + 30.0:
            opt.ask()
    except KeyboardInterrupt:
        arrived = time.monotonic()
    timer.join()
    assert arrived is not None and arrived - sent < 5.0  # within 1 s where the machine is not busy
    assert opt.n_told == 1_000
    x = opt.ask()
    assert ((x >= 0) & (x <= 1)).all()


def test_during_the_objective():
    calls = []

    def fun(x):
        calls.append(x.copy())
        if len(calls) == 7:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(30)
        return float((x**2).sum())

    begin = time.monotonic()
    result = gssbo.minimize(fun, [(0.0, 1.0)] * 2, n_evals=20, n_init=4, rng=0)
    assert time.monotonic() - begin < 20
    assert (result.nfev, result.success) == (6, False)
    np.testing.assert_array_equal(result.x_iters, calls[:6])


TELLS = """
import itertools, sys, gssbo
opt = gssbo.Optimizer({"x": (0.0, 1.0)}, n_init=3, rng=0, journal=sys.argv[1])
for interrupts in range(50):
    try:
        for k in itertools.count(first := opt.n_told):
            opt.tell({"x": (k % 1000) / 1000}, float(k))
            if k == first:
                print("telling", flush=True)
    except KeyboardInterrupt:
        pass
assert list(opt.y) == [float(k) for k in range(opt.n_told)]
opt.ask()
print(opt.n_told, flush=True)
"""


@pytest.mark.slow
def test_fifty_times_during_tell_with_a_journal(tmp_path):
    path = tmp_path / "run.jsonl"
    process = subprocess.Popen(
        [sys.executable, "-c", TELLS, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    for k in range(50):
        if process.stdout.readline() != "telling\n":
            break
        time.sleep(0.0005 * (k * k % 23))
        process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    entries = [entry for entry in read_journal(path).entries if entry.kind == "tell"]
    assert [entry.y[0] for entry in entries] == [float(k) for k in range(len(entries))]
    assert len(entries) == int(output) >= 50

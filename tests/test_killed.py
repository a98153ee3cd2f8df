"""A run that is killed while it writes its journal."""

import os
import subprocess
import sys

import numpy as np
import pytest

import gssbo
from gssbo.journal import read_journal
from tests.objectives import bowl

KILLED = """
import os, random, signal, sys, time, gssbo
from concurrent.futures import ThreadPoolExecutor

def bowl(x):
    return float(((x - 0.3) ** 2).sum())

def minimize(path, log, workers, n_evals):
    with ThreadPoolExecutor(4) as executor:
        gssbo.minimize(
            bowl, [(0.0, 1.0)] * 2, n_evals=n_evals, n_init=5, rng=2, n_candidates=200, journal=path,
            callback=lambda _: os.write(log, b".") and None, workers=executor if workers == 4 else 1,
        )

path, log = sys.argv[1], os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
workers, n_evals, kills = map(int, sys.argv[3:])
delays = random.Random(4)
gssbo.minimize(bowl, [(0.0, 1.0)] * 2, n_evals=8, n_init=5, n_candidates=200)  # imports the rest
while True:  # forked, so that all is imported once
    before = os.fstat(log).st_size
    child = os.fork()
    if child == 0:
        minimize(path, log, workers, n_evals)
        os._exit(0)
    over = False
    while os.fstat(log).st_size == before and not over:
        time.sleep(0.001)
        over = os.waitpid(child, os.WNOHANG) != (0, 0)
    if over:  # everything had been evaluated
        break
    if kills == 0:
        os.waitpid(child, 0)
        break
    time.sleep(delays.uniform(0.0, 0.03))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    kills -= 1
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.parametrize("workers", [1, 4])
def test_a_run_killed_at_twenty_random_moments_loses_nothing(tmp_path, workers):
    path, log, n_evals = tmp_path / "run.jsonl", tmp_path / "log", 400
    arguments = [path, log, workers, n_evals, 20]
    subprocess.run([sys.executable, "-c", KILLED, *map(str, arguments)], check=True, timeout=240)
    entries = read_journal(path).entries
    told = [tuple(row) for entry in entries if entry.kind == "tell" for row in entry.rows.tolist()]
    asked = [tuple(row) for entry in entries if entry.kind == "ask" for row in entry.rows.tolist()]
    assert len(told) == n_evals == len(set(told)) == len(asked)
    assert log.stat().st_size >= n_evals - 20 * workers  # all but what was told at the moment it was killed
    if workers == 1:
        whole = gssbo.minimize(bowl, [(0.0, 1.0)] * 2, n_evals=n_evals, n_init=5, rng=2, n_candidates=200)
        np.testing.assert_array_equal(np.array(told), whole.x_iters)

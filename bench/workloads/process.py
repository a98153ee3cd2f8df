"""What only a process of its own shows: import time and memory."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from bench.workloads.base import Disagreement, Target, Timed, Workload

PIECES = """
import sys, gssbo
parts = {name for name in sys.modules if name.startswith("scipy.") and name.count(".") == 1}
print(" ".join(sorted(name for name in parts if "._" not in name and name != "scipy.version")))
"""

STOPWATCH = """
import time
start = time.perf_counter()
import {modules}
print(time.perf_counter() - start)
"""

# Peak resident memory in KiB. Where there is no /proc, getrusage: it may have inherited the parent's peak on Linux.
PEAK = """
import json, os
def peak():
    if os.path.exists("/proc/self/status"):
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
    import resource, sys
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (1024 if sys.platform == "darwin" else 1)
"""

# With the data alone, after telling them, after one ask.
MEMORY = """
import numpy as np
import gssbo
small = gssbo.Optimizer([(0.0, 1.0)] * {d}, method="box", rng=0)
small.tell(np.random.default_rng(0).random(({small}, {d})), np.arange({small}.0) % 7)
small.ask()
X = np.random.default_rng(1).random(({n}, {d}))
y = X.sum(axis=1)
marks = [peak()]
optimizer = gssbo.Optimizer([(0.0, 1.0)] * {d}, method="box", rng=0)
optimizer.tell(X, y)
marks.append(peak())
optimizer.ask()
marks.append(peak())
print(json.dumps(marks))
"""

CANDIDATES = """
import numpy as np
from gssbo.gp import GaussianProcess
rng = np.random.default_rng(0)
X = rng.random((100, 6))
gp = GaussianProcess(fit_hyperparameters=False).fit(X, X.sum(axis=1))
C = rng.random(({m}, 6))
gp.posterior(C[:500])
start = peak()
gp.posterior(C)
print(json.dumps([start, peak()]))
"""


def run(code: str) -> str:
    """Run code in a fresh interpreter and return what it printed."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout.strip()


def import_time() -> Workload:
    """`import gssbo` in a fresh interpreter, beside NumPy and the parts of SciPy that it loads."""
    pieces = ["numpy", *run(PIECES).split()]

    def stopwatch(modules: str) -> Timed:
        return Timed(float(run(STOPWATCH.format(modules=modules))), None)

    label = "NumPy and SciPy parts"
    return Workload(
        name="import gssbo",
        unit="ms",
        ours=lambda: stopwatch("gssbo"),
        references={label: lambda: stopwatch(", ".join(pieces))},
        check=lambda _, __: f"SciPy parts: {', '.join(pieces[1:])}",
        targets=(Target(label, 1 / 1.3),),
        least=5,
    )


def memory(n: int = 20_000, d: int = 10) -> dict[str, float]:
    """Megabytes: the data, and how far the peak rises above it when they are told and a suggestion is asked for.

    Compared with a process that has asked once with 150 observations, so that code and workspaces are loaded.
    """
    start, told, asked = json.loads(run(PEAK + MEMORY.format(n=n, d=d, small=150)))
    data = n * (2 * d + 1) * 8 / 1e6  # user points, unit points, responses
    extra = (asked - start) * 1024 / 1e6 - data
    return {"data": data, "after tell": (told - start) * 1024 / 1e6 - data, "after ask": extra}


def candidates_memory(m: int = 200_000) -> float:
    """Bytes a candidate that scoring m of them adds to the peak; mean and standard deviation are 16."""
    start, end = json.loads(run(PEAK + CANDIDATES.format(m=m)))
    return (end - start) * 1024 / m


def result_of(measurement: Any) -> Any:
    """Unwrap a measurement, turning a missing `resource` module (Windows) into a disagreement."""
    try:
        return measurement()
    except subprocess.CalledProcessError as error:
        raise Disagreement(error.stderr.strip().splitlines()[-1]) from error

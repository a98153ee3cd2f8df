"""Count the machine instructions of a compiled call under callgrind.

As a script it is what callgrind runs: ``python bench/instructions.py NAME CALLS``. It then loads the compiled modules
alone, without the packages around them and without NumPy, so that a run takes seconds; the difference between two
numbers of calls leaves the interpreter's own start out. The instruction set in use is printed: callgrind knows no
AVX-512, so it need not be the one outside.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import types
from array import array
from typing import Any

WORKLOADS = {"likelihood n=100 d=6": 40, "greedy cosine n=400 M=100": 4}
"""Names, and the calls of the longer run over those of the shorter."""


def valgrind() -> str | None:
    """Where valgrind is."""
    return shutil.which("valgrind")


def versions() -> dict[str, str]:
    """What the counts depend on beside the instruction set."""
    command = [str(valgrind()), "--version"]
    version = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    return {"python": platform.python_version(), "valgrind": version, "machine": platform.machine()}


def count(name: str) -> tuple[str, int]:
    """Instruction set under callgrind, and instructions of a call of the workload."""
    more = WORKLOADS[name]
    (instruction_set, few), (_, many) = _run(name, 1), _run(name, 1 + more)
    return instruction_set, round((many - few) / more)


def _run(name: str, calls: int) -> tuple[str, int]:
    tool = [str(valgrind()), "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    command = [*tool, sys.executable, "-sP", __file__, name, str(calls)]
    # Hashes that differ from run to run would show in the interpreter's own count.
    environment = os.environ | {"PYTHONHASHSEED": "0"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    collected = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or collected is None:
        raise RuntimeError(f"callgrind failed:\n{done.stdout}{done.stderr}")
    return done.stdout.strip(), int(collected[1])


# ---- under callgrind


def _core(*names: str) -> list[Any]:
    """Compiled modules, imported without what surrounds them."""
    spec = importlib.util.find_spec("gssbo")
    if spec is None or not spec.submodule_search_locations:
        raise ImportError("gssbo is not installed")
    root = str(spec.submodule_search_locations[0])
    for name, path in (("gssbo", root), ("gssbo._core", f"{root}/_core")):
        package = types.ModuleType(name)
        package.__path__ = [path]
        sys.modules[name] = package
    return [importlib.import_module(f"gssbo._core.{name}") for name in names]


def _doubles(*shape: int) -> Any:
    return memoryview(array("d", bytes(8 * math.prod(shape)))).cast("B").cast("d", shape)


def _points(n: int, d: int) -> Any:
    rng, X = random.Random(0), _doubles(n, d)
    for i in range(n):
        for k in range(d):
            X[i, k] = rng.random()
    return X


def main(name: str, calls: int) -> None:
    """Run a workload so many times."""
    gp, kernels, linalg, select = _core("_gp", "_kernels", "_linalg", "_select")
    kind, d = kernels.KINDS["matern52"], 6
    n = int(re.search(r"n=(\d+)", name)[1])  # type: ignore[index]
    X, lengthscale = _points(n, d), array("d", [1.0] * d)
    ld = linalg.padded(n)
    if name.startswith("likelihood"):
        z = array("d", (X[i, 0] - 0.5 for i in range(n)))
        theta = array("d", [0.0] * (d + 1) + [math.log(1e-2)])
        factors, known = array("d", [1.0] * n), array("d", [0.0] * n)
        work, gradient = array("d", [0.0]) * gp.work_size(n, d), array("d", [0.0] * (d + 2))
        for _ in range(calls):
            value = gp.log_likelihood(kind, X, z, factors, known, theta, work, gradient)
        assert math.isfinite(value)
    else:
        gram, chosen, forced = _doubles(n, ld), array("q", [0] * 100), array("q", range(20))
        kernels.gram(kind, X, lengthscale, 1.0, array("d", [1e-2] * n), True, gram)
        for _ in range(calls):
            select.greedy_cosine(n, gram, False, forced, chosen)
        assert len(set(chosen)) == len(chosen)
    print(linalg.simd_name())


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))

"""Benchmarks of gssbo: `python -m bench.report`, `python -m bench.gate`, `python -m pytest bench`; see bench/README.md.

Two variables make OpenBLAS run another machine's kernels than this one's. They are taken out of the environment here,
before NumPy loads, so that the references run as fast as they can; `REMOVED` says what was there.
"""

import os
import sys

TUNING = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
REMOVED: dict[str, str] = {}
TOO_LATE: dict[str, str] = {}
"""The same, where NumPy was loaded already and had seen them."""

for _name in TUNING:
    if _name in os.environ:
        if "numpy" in sys.modules:
            TOO_LATE[_name] = os.environ[_name]
        else:
            REMOVED[_name] = os.environ.pop(_name)

"""What an installation runs on: versions, processor, BLAS, optional packages."""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import platform
import re
import subprocess
from typing import Any

import numpy as np
import scipy

from gssbo._core import _linalg
from gssbo._parallel import usable_processors

__all__ = ["describe", "extras"]

DEVELOPMENT = ("lint", "test", "docs", "bench")  # extras for work on gssbo itself, which others bring in part
REQUIREMENT = re.compile(r"""([\w.-]+) [^;]* ; .* \bextra \s* == \s* ["']([\w.-]+)["']""", re.VERBOSE)


def extras() -> dict[str, str]:
    """Return the extra that brings each optional package, from what the installed gssbo says of itself.

    Examples
    --------
    >>> extras()["scikit-learn"]
    'sklearn'
    """
    found = map(REQUIREMENT.match, importlib.metadata.requires("gssbo") or ())
    pairs = [match.groups() for match in found if match is not None]
    return {package: extra for package, extra in pairs if extra not in DEVELOPMENT}


def describe() -> dict[str, Any]:
    """Describe the installation, for bug reports and beside measurements.

    Returns
    -------
    dict
        `gssbo`, `python`, `numpy`, `scipy` (versions), `system`, `instruction_set` (of the compiled core), `cpu`,
        `cores`, `usable_cores`, `blas` (a list of dicts: user, name, version), `thread_pools` (a list of dicts, or None
        where threadpoolctl is not installed), `optional` (versions by package, None where it is not installed).

    Examples
    --------
    >>> sorted(describe()["optional"])
    ['distributed', 'matplotlib', 'optuna', 'rich', 'scikit-learn', 'torch']
    """
    return {
        "gssbo": importlib.metadata.version("gssbo"),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "instruction_set": _linalg.simd_name(),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "usable_cores": usable_processors(),
        "blas": [_blas(module) for module in (np, scipy)],
        "thread_pools": _thread_pools(),
        "optional": {package: _version(package) for package in extras()},
    }


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _blas(module: Any) -> dict[str, str]:
    """What NumPy or SciPy says it was built with."""
    config = module.show_config(mode="dicts") or {}
    found = config.get("Build Dependencies", {}).get("blas", {})
    return {
        "user": module.__name__,
        "name": str(found.get("name", "unknown")),
        "version": str(found.get("version", "unknown")),
    }


def _thread_pools() -> list[dict[str, Any]] | None:
    if importlib.util.find_spec("threadpoolctl") is None:
        return None
    pools = importlib.import_module("threadpoolctl").threadpool_info()
    keys = ("user_api", "internal_api", "version", "num_threads")
    return [{key: pool.get(key) for key in keys} for pool in pools]


def _cpu() -> str:
    """Model name of the processor, as far as the system tells."""
    system = platform.system()
    try:
        if system == "Linux":
            with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
                for line in file:
                    key, _, value = line.partition(":")
                    if key.strip() == "model name":
                        return value.strip()
        elif system == "Darwin":
            command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
            return subprocess.run(command, capture_output=True, text=True, timeout=5, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        pass
    return platform.processor() or platform.machine() or "unknown"

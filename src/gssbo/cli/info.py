"""`gssbo info`: what this installation runs on."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from gssbo.cli.text import table
from gssbo.machine import describe, extras

__all__ = ["add_commands"]


def add_commands(commands: Any) -> None:
    """Add `info` to the parser."""
    parser = commands.add_parser("info", help="versions, processor, BLAS and threads, optional packages")
    parser.set_defaults(command=_info)


def _info(_: argparse.Namespace) -> int:
    facts = describe()
    rows = [
        ("gssbo", facts["gssbo"]),
        ("Python", facts["python"]),
        ("NumPy", facts["numpy"]),
        ("SciPy", facts["scipy"]),
        ("system", facts["system"]),
        ("processor", facts["cpu"]),
        ("cores", f"{facts['cores']}, of which this process may use {facts['usable_cores']}"),
        ("core's instructions", facts["instruction_set"]),
    ]
    rows += [(f"BLAS of {blas['user']}", f"{blas['name']} {blas['version']}") for blas in facts["blas"]]
    pools = facts["thread_pools"]
    if pools is None:
        rows.append(("threads", "not known: pip install threadpoolctl"))
    else:
        rows += [
            (
                f"threads, {pool['user_api']}",
                f"{pool['num_threads']} ({pool['internal_api']} {pool['version'] or ''}".rstrip() + ")",
            )
            for pool in pools
        ]
    brought_by = extras()
    for package, found in facts["optional"].items():
        extra = brought_by[package]
        rows.append((package, f"{found} (extra {extra})" if found else f"not installed: pip install 'gssbo[{extra}]'"))
    sys.stdout.write(table(rows, left=2) + "\n")
    return 0

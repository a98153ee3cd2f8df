"""`gssbo problems` and `gssbo methods`: what `gssbo run` knows by name."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

from gssbo._text import number
from gssbo.cli.text import WIDTH, paragraph, table
from gssbo.methods import METHODS, OWN
from gssbo.problems import PROBLEMS, Problem, get_problem

__all__ = ["add_commands", "methods_table"]


def add_commands(commands: Any) -> None:
    """Add `problems` and `methods` to the parser."""
    problems = commands.add_parser("problems", help="list the test problems")
    problems.set_defaults(command=_problems)
    methods = commands.add_parser("methods", help="list the methods that can be compared")
    methods.set_defaults(command=_methods)


def methods_table() -> str:
    """Return names and descriptions of the methods."""
    rows = [(name, method.description) for name, method in METHODS.items()]
    return table([*rows, *OWN.items()], left=2)


def _methods(_: argparse.Namespace) -> int:
    note = (
        "All but 'portfolio' and 'box' run the protocol of gssbo.presets.paper, except for what the description says. "
        "PyTorch is in the extra: pip install 'gssbo[torch]'."
    )
    sys.stdout.write(f"{methods_table()}\n\n{paragraph(note)}\n")
    return 0


def _problems(_: argparse.Namespace) -> int:
    known = [get_problem(name) for name in PROBLEMS]
    rows = [(p.name, str(p.dim), _box(p), _optimum(p), "yes" if p.stochastic else "no") for p in known]
    sys.stdout.write(table(rows, header=("problem", "d", "box", "optimum", "noisy"), left=5) + "\n\nsources\n")
    for problem in known:
        sys.stdout.write(paragraph(f"{problem.name}: {problem.source}", indent="  ") + "\n")
    note = (
        "All are minimised. --dim changes d where the function allows (not eggholder, hartmann, branin, shekel, "
        "pendulums, diabetes), and a name may carry it: levy7. Where the optimum holds beyond the box, -shifted and "
        "-rotated move the function about: levy7-shifted, discus5-shifted-rotated. An optimum with an error is an "
        "estimate."
    )
    sys.stdout.write(f"\n{paragraph(note)}\n")
    return 0


def _box(problem: Problem) -> str:
    sides, counts = np.unique(problem.bounds, axis=0, return_counts=True)
    if len(sides) == 1:
        low, high = sides[0]
        return f"[{low:g}, {high:g}]" + (f"^{counts[0]}" if counts[0] > 1 else "")
    text = " x ".join(f"[{low:g}, {high:g}]" for low, high in problem.bounds)
    return text if len(text) <= WIDTH // 2 else f"{problem.dim} sides, of {len(sides)} kinds"


def _optimum(problem: Problem) -> str:
    error = f" +/- {problem.optimum_error:.2g}" if problem.optimum_error else ""
    return number(problem.optimum, 6) + error

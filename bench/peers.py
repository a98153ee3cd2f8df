"""Seconds a suggestion takes here, in Optuna and in BoTorch: ``python -m bench.peers``.

The peers are large and pinned, so they get an environment of their own::

    python -m bench.peers --create .venv-peers
    .venv-peers/bin/python -m bench.peers

Everybody is told the same history, Hartmann6 at uniform points, and then makes suggestions that are evaluated and told.
A suggestion is everything between what was told last and the next point: fit, search, choice. Of each, the median of a
few after a first one that is not counted, all in one process. Peers run with their own defaults; BoTorch, which has no
loop, as its documentation shows: a fresh SingleTaskGP, UCB with beta = 2, 10 restarts from 512 samples.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import statistics
import subprocess
import sys
import time
import venv
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

import gssbo
from bench import markdown
from gssbo.machine import describe
from gssbo.presets import paper
from gssbo.problems import get_problem

GP_SIZES = (100, 300, 1_000, 2_000)
TPE_SIZES = (5_000, 10_000, 20_000)
REQUIREMENTS = Path(__file__).with_name("peers-requirements.txt")


class Peer(Protocol):
    """Somebody who suggests points of the unit cube, to be minimised over."""

    def suggest(self) -> np.ndarray:
        """Return a point (d,)."""

    def tell(self, x: np.ndarray, y: float) -> None:
        """Take note of what was observed at the point suggested last."""


class Gssbo:
    """The optimizer that all of this is about."""

    def __init__(self, X: np.ndarray, y: np.ndarray, **options: Any) -> None:
        self.optimizer = gssbo.Optimizer([(0.0, 1.0)] * X.shape[1], rng=0, **options)
        self.optimizer.tell(X, y)

    def suggest(self) -> np.ndarray:  # noqa: D102
        return self.optimizer.ask()

    def tell(self, x: np.ndarray, y: float) -> None:  # noqa: D102
        self.optimizer.tell(x, y)


class Optuna:
    """A study in memory with one of Optuna's samplers."""

    def __init__(self, X: np.ndarray, y: np.ndarray, sampler: str) -> None:
        import optuna

        optuna.logging.set_verbosity(optuna.logging.WARNING)
        self.study = optuna.create_study(sampler=getattr(optuna.samplers, sampler)(seed=0))
        ranges = {f"x{k}": optuna.distributions.FloatDistribution(0.0, 1.0) for k in range(X.shape[1])}
        self.ranges = ranges
        trials = [
            optuna.trial.create_trial(
                params=dict(zip(ranges, map(float, row), strict=True)), distributions=ranges, value=float(value)
            )
            for row, value in zip(X, y, strict=True)
        ]
        self.study.add_trials(trials)

    def suggest(self) -> np.ndarray:  # noqa: D102
        self.trial = self.study.ask(self.ranges)
        return np.array([self.trial.params[name] for name in self.ranges])

    def tell(self, x: np.ndarray, y: float) -> None:  # noqa: D102
        self.study.tell(self.trial, y)


class BoTorch:
    """The loop of BoTorch's documentation on all observations."""

    def __init__(self, X: np.ndarray, y: np.ndarray) -> None:
        import torch

        torch.manual_seed(0)
        self.X, self.y = X, y

    def suggest(self) -> np.ndarray:  # noqa: D102
        import torch
        from botorch.acquisition import UpperConfidenceBound
        from botorch.fit import fit_gpytorch_mll
        from botorch.models import SingleTaskGP
        from botorch.optim import optimize_acqf
        from gpytorch.mlls import ExactMarginalLogLikelihood

        d = self.X.shape[1]
        model = SingleTaskGP(torch.from_numpy(self.X), torch.from_numpy(-self.y[:, None]))
        fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
        bounds = torch.tensor([[0.0] * d, [1.0] * d], dtype=torch.float64)
        acquisition = UpperConfidenceBound(model, beta=2.0)
        point, _ = optimize_acqf(acquisition, bounds, q=1, num_restarts=10, raw_samples=512)
        return point[0].numpy()

    def tell(self, x: np.ndarray, y: float) -> None:  # noqa: D102
        self.X, self.y = np.vstack([self.X, x]), np.append(self.y, y)


OURS = "gssbo, defaults"
# Name, package it needs, how to make it, sizes it is tried at.
PEERS: dict[str, tuple[str, Callable[[np.ndarray, np.ndarray], Peer], str]] = {
    OURS: ("gssbo", Gssbo, "gp tpe"),
    "gssbo, paper's preset, M=100": ("gssbo", lambda X, y: Gssbo(X, y, **paper(100)), "gp"),
    "Optuna GPSampler": ("optuna", lambda X, y: Optuna(X, y, "GPSampler"), "gp"),
    "Optuna TPESampler": ("optuna", lambda X, y: Optuna(X, y, "TPESampler"), "tpe"),
    "BoTorch": ("botorch", BoTorch, "gp"),
}


def suggestion_seconds(peer: Peer, fun: Callable[[np.ndarray], float], repeats: int, limit: float) -> float:
    """Median seconds of `repeats` suggestions after an uncounted one; the first alone where it is above the limit."""
    seconds = []
    for _ in range(1 + repeats):
        start = time.perf_counter()
        x = peer.suggest()
        seconds.append(time.perf_counter() - start)
        if seconds[0] > limit:
            return seconds[0]
        peer.tell(x, fun(x))
    return statistics.median(seconds[1:])


def compare(
    names: Sequence[str], gp_sizes: Sequence[int], tpe_sizes: Sequence[int], repeats: int, limit: float
) -> dict[str, dict[int, float]]:
    """Seconds by peer and number of observations; a peer is not tried beyond the size at which it passed the limit."""
    problem = get_problem("hartmann6")
    X = np.random.default_rng(0).random((max([*gp_sizes, *tpe_sizes]), problem.dim))
    y = np.asarray(problem(X))
    found: dict[str, dict[int, float]] = {}
    for name in names:
        package, make, kinds = PEERS[name]
        if importlib.util.find_spec(package) is None:
            print(f"{name}: {package} is not installed here (--create)", file=sys.stderr)
            continue
        found[name] = {}
        for n in [*(gp_sizes if "gp" in kinds else []), *(tpe_sizes if "tpe" in kinds else [])]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                peer = make(X[:n], y[:n])
                found[name][n] = suggestion_seconds(peer, lambda x: float(problem(x)), repeats, limit)
            print(f"{name}, n={n:,}: {found[name][n]:.4g} s", file=sys.stderr, flush=True)
            if found[name][n] > limit:
                break
    return found


def table(found: dict[str, dict[int, float]]) -> str:
    """Markdown: a row a peer, a column a size; in brackets, how many times our defaults' seconds that is."""
    sizes = sorted({n for seconds in found.values() for n in seconds})
    rows = []
    for name, seconds in found.items():
        cells = []
        for n in sizes:
            ours = found.get(OURS, {}).get(n)
            if n not in seconds:
                cells.append("")
            elif name == OURS or ours is None:
                cells.append(f"{seconds[n]:.3g}")
            else:
                cells.append(f"{seconds[n]:.3g} ({seconds[n] / ours:.3g}x)")
        rows.append([name, *cells])
    return markdown.table(["seconds a suggestion", *(f"n = {n:,}" for n in sizes)], rows)


def create(folder: Path) -> None:
    """Make a virtual environment with the pinned peers and this checkout."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    checkout = Path(__file__).parents[1]
    subprocess.run([python, "-m", "pip", "install", "--requirement", REQUIREMENTS, checkout], check=True)
    print(f"Now: {python} -m bench.peers")


def versions() -> str:
    """Versions of everybody, the processor and the threads."""
    packages = {}
    for package in ("gssbo", "optuna", "botorch", "gpytorch", "torch", "numpy", "scipy"):
        if importlib.util.find_spec(package) is not None:
            packages[package] = importlib.metadata.version(package)
    facts = describe()
    threads = ""
    if "torch" in sys.modules:
        threads = f", {sys.modules['torch'].get_num_threads()} PyTorch threads"
    pins = ", ".join(f"{name} {version}" for name, version in packages.items())
    return f"{pins}, {facts['python']}; {facts['cpu']}, {facts['usable_cores']} cores{threads}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, or create the environment."""
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--create", type=Path, metavar="DIR", help="make an environment with the peers and stop")
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=list(PEERS), metavar="NAME", help=", ".join(PEERS))
    parser.add_argument("--gp-sizes", type=int, nargs="*", default=GP_SIZES, metavar="N")
    parser.add_argument("--tpe-sizes", type=int, nargs="*", default=TPE_SIZES, metavar="N")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds beyond which a peer is tried no further")
    options = parser.parse_args(arguments)
    if options.create is not None:
        create(options.create)
        return 0
    found = compare(options.peers, options.gp_sizes, options.tpe_sizes, options.repeats, options.limit)
    print(f"{table(found)}\n\nHartmann6, told in bulk; {versions()}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())

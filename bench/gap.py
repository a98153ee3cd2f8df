"""Measure what each selection rule loses against the full data, as Markdown: ``python -m bench.gap``.

The protocol is that of the residual diagnostics in the appendix of [1]: full-data GP-UCB leaves a history of n
observations; hyperparameters are fitted on all of them and shared; each rule retains M, among them the initial design
and the newest; suprema are taken over 2,000 uniform points and the observations; rules that draw are averaged over ten
draws. One thing is ours: n counts the initial design.

It also says what a tolerance in the place of M comes to: how many are retained, 4 M at most, and the largest gap.

With ``--refitted`` it also measures what fitting hyperparameters on a subset alone does to them, as the loop does it:
select, refit, select again, five times from the full-data fit on.

Notation
--------
U, R        retained and discarded observations
r_U, c_U    residual of the discarded responses; of their covariances with a point (theorem 5.1)
rho_U       sup |c_U(x)|
s_R         response scores of the discarded, a part of -K_y^-1 z
S           conditional covariance of the discarded responses
mu, sigma   posterior of all data (D) and of the retained ones (U), in units of z

References
----------
1. Wei et al., Gradient-based Sample Selection for Faster Bayesian Optimization, TMLR 2026: theorem 5.1, corollary 5.4,
   and the residual-quantity diagnostics of the appendix.
"""

from __future__ import annotations

import argparse
import copy
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

import bench  # noqa: F401  (before NumPy's first product: it clears the environment)
import gssbo
from bench.markdown import table
from gssbo import reference
from gssbo.embedding import Embedding
from gssbo.gp import GaussianProcess
from gssbo.machine import describe
from gssbo.methods import method_options
from gssbo.presets import paper
from gssbo.problems import get_problem
from gssbo.responses import standardize
from gssbo.selection.rules import DRAWING, RULES
from gssbo.selection.size import sufficient_size
from gssbo.selection.subset import select

Array = np.ndarray

PROBLEMS = ("eggholder2", "hartmann6")
N_INIT = 20
N_UNIFORM = 2_000
DRAWS = 10
SQRT_BETA = 2.0**0.5
ROUNDS = 5
SPREAD = "evenly spread"
TOLERANCES = (0.3, 0.1, 0.03)
TARGETS = {"eggholder2": 0.05, "hartmann6": 0.3}  # of the residual rule's mean gap over the vector rule's
QUANTITIES = {
    "r": "norm of r_U",
    "rho": "rho_U",
    "s": "norm of s_R",
    "S": "norm of 1/S",
    "mean": "sup mean gap",
    "std": "sup std gap",
    "ucb": "sup UCB gap",
}


class Case(NamedTuple):
    """A history with the hyperparameters of all of it."""

    X: Array  # (n, d), in the unit cube
    z: Array  # (n,), standardised, to be maximised
    theta: Array  # (d + 2,)
    points: Array  # (m, d), where suprema are taken

    @property
    def forced(self) -> Array:
        """The initial design and the newest observation."""
        return reference.forced_indices(len(self.z), N_INIT)


def history(problem: str, seed: int, n: int, refit: int) -> tuple[Array, Array]:
    """Full-data GP-UCB in the paper's protocol: n points in the unit cube, and values to be maximised."""
    fun = get_problem(problem)
    optimizer = gssbo.Optimizer(fun.bounds, rng=seed, **method_options("gp-ucb") | {"refit": refit})
    while optimizer.n_told < n:
        x = optimizer.ask()
        optimizer.tell(x, fun(x))
    return optimizer.space.to_unit(optimizer.X), -optimizer.y


def fitted(X: Array, z: Array, rng: np.random.Generator, start: Array | None = None) -> GaussianProcess:
    """The paper's surrogate by maximum likelihood; from `start` on, if given, as the loop refits."""
    gp = copy.deepcopy(paper()["surrogate"])
    if start is not None:
        gp.warm_start = True
        gp.condition(X, z, optimize=False)
        gp.theta_ = start
    gp.condition(X, z, optimize=True, rng=rng)
    return gp


def make_case(X: Array, y: Array, seed: int) -> Case:
    """Fit the shared hyperparameters and draw the points."""
    rng = np.random.default_rng([seed, len(y)])
    z = standardize(y)[0]
    points = np.vstack([rng.random((N_UNIFORM, X.shape[1])), X])
    return Case(X, z, fitted(X, z, rng).theta_, points)


def embedded(case: Case, theta: Array) -> Embedding:
    """The pool under these hyperparameters."""
    scales, variance, noise = reference.unpack(theta)
    return Embedding(gssbo.kernels.Kernel("matern52", scales.copy(), variance), noise, case.X)


def retained(case: Case, rule: str, size: int, theta: Array, seed: int = 0) -> Array:
    """What a rule retains, ascending."""
    rng = np.random.default_rng(seed)
    return np.sort(select(embedded(case, theta), size, rule=rule, forced=case.forced, y=case.z, rng=rng))


class Gap:
    """The quantities of a case, for one retained subset after another."""

    def __init__(self, case: Case) -> None:
        self._case = case
        self._noise = reference.unpack(case.theta)[2]
        self._K = reference.kernel_matrix(case.X, case.X, case.theta)
        self._k = reference.kernel_matrix(case.X, case.points, case.theta)
        self._mean, self._std = reference.posterior(case.X, case.z, case.points, case.theta)

    def __call__(self, U: Array) -> dict[str, float]:
        """All `QUANTITIES`."""
        case = self._case
        blocks = reference.posterior_gap(self._K, self._k, case.z, self._noise, U)
        mean, std = reference.posterior(case.X[U], case.z[U], case.points, case.theta)
        return {
            "r": float(np.linalg.norm(blocks["r_U"])),
            "rho": float(np.max(np.linalg.norm(blocks["c_U"], axis=0))),
            "s": float(np.linalg.norm(blocks["s_R"])),
            "S": float(1.0 / np.linalg.eigvalsh(blocks["S"])[0]),
            "mean": float(np.max(np.abs(self._mean - mean))),
            "std": float(np.max(np.abs(self._std - std))),
            "ucb": float(np.max(np.abs(self._mean - mean + SQRT_BETA * (self._std - std)))),
        }


def tolerated(case: Case, most: int) -> dict[float, tuple[int, float]]:
    """How many the residual rule retains within each tolerance, and the largest gap of their mean."""
    whole, found = reference.posterior(case.X, case.z, case.points, case.theta)[0], {}
    for tolerance in TOLERANCES:
        size = sufficient_size(
            embedded(case, case.theta), most, rule="residual", forced=case.forced, z=case.z, tolerance=tolerance
        )
        U = retained(case, "residual", size, case.theta)
        mean = reference.posterior(case.X[U], case.z[U], case.points, case.theta)[0]
        found[tolerance] = size, float(np.max(np.abs(whole - mean)))
    return found


def measured(case: Case, size: int) -> dict[str, dict[str, float]]:
    """The quantities of every rule, means over the draws of a rule that draws."""
    gap = Gap(case)
    found = {}
    for rule in RULES:
        draws = [gap(retained(case, rule, size, case.theta, seed)) for seed in range(DRAWS if rule in DRAWING else 1)]
        found[rule] = {name: float(np.mean([draw[name] for draw in draws])) for name in QUANTITIES}
    return found


def refitted(case: Case, source: str, size: int, seed: int) -> dict[str, float]:
    """Hyperparameters fitted on a subset over those of all data, in units of z, and what they cost.

    `source` is a rule, or `SPREAD` for observations spread evenly over the history, the forced ones among them.
    `lengthscale` is the geometric mean over the dimensions; "mean gap" is that of the residual rule's choice under
    these hyperparameters.
    """
    n, d = case.X.shape
    theta, rng = case.theta, np.random.default_rng(seed)
    for turn in range(ROUNDS):
        if source == SPREAD:
            U = reference.bulk_indices(n, size, case.forced)
        else:
            U = retained(case, source, size, theta, seed * ROUNDS + turn)
        gp = fitted(case.X[U], case.z[U], rng, theta)
        theta = gp.theta_
    W = retained(case, "residual", size, theta)
    in_units = theta.copy()
    in_units[d:] += 2.0 * np.log(gp.y_std_)  # the subset was standardised by itself
    level = case.z[W].mean()
    mean, _ = reference.posterior(case.X[W], case.z[W] - level, case.points, in_units)
    truth, _ = reference.posterior(case.X, case.z, case.points, case.theta)
    ratios = np.exp(in_units - case.theta)
    return {
        "lengthscale": geometric(ratios[:d]),
        "variance": float(ratios[d]),
        "noise": float(ratios[d + 1]),
        "mean gap": float(np.max(np.abs(truth - level - mean))),
    }


def geometric(values: Iterable[float]) -> float:
    """Geometric mean."""
    return float(np.exp(np.mean(np.log(list(values)))))


def gap_tables(by_seed: Sequence[Mapping[str, Mapping[str, float]]]) -> tuple[str, dict[str, dict[str, float]]]:
    """Geometric means over the seeds, and of the ratios to the vector rule's; the ratios as numbers too."""
    means, ratios, numbers = [], [], {}
    for rule in RULES:
        columns = {name: [seed[rule][name] for seed in by_seed] for name in QUANTITIES}
        over = {name: geometric(seed[rule][name] / seed["vector"][name] for seed in by_seed) for name in QUANTITIES}
        means.append([rule, *(f"{geometric(columns[name]):.3g}" for name in QUANTITIES)])
        ratios.append([rule, *(f"{over[name]:.3g}" for name in QUANTITIES)])
        numbers[rule] = over
    header = ["rule", *QUANTITIES.values()]
    text = f"Geometric means over the seeds:\n\n{table(header, means)}\n\nOver the vector rule's, paired by seed:\n\n"
    return text + table(header, ratios), numbers


def refit_table(by_seed: Sequence[Mapping[str, Mapping[str, float]]]) -> str:
    """Geometric means over the seeds, with the range."""
    names = list(by_seed[0]["vector"])
    rows = []
    for source in by_seed[0]:
        cells = []
        for name in names:
            values = [seed[source][name] for seed in by_seed]
            cells.append(f"{geometric(values):.3g} ({min(values):.3g} to {max(values):.3g})")
        rows.append([source, *cells])
    return table(["fitted on", *names], rows)


def tolerance_table(by_seed: Sequence[Mapping[float, tuple[int, float]]]) -> str:
    """Medians over the seeds, with the range."""
    rows = []
    for tolerance in TOLERANCES:
        columns = zip(*(seed[tolerance] for seed in by_seed), strict=True)
        rows.append([f"{tolerance:g}", *(f"{np.median(c):.3g} ({min(c):.3g} to {max(c):.3g})" for c in columns)])
    return table(["tolerance", "retained", "sup mean gap"], rows)


def cases(
    problem: str, seeds: Iterable[int], n: int, refit: int, cache: Path | None, note: Callable[[str], Any]
) -> Iterable[tuple[int, Case]]:
    """A case a seed; histories and fits are kept in `cache`, if given."""
    for seed in seeds:
        kept = None if cache is None else cache / f"{problem}-seed{seed}-n{n}-refit{refit}.npz"
        if kept is not None and kept.exists():
            with np.load(kept) as arrays:
                yield seed, Case(*(arrays[name] for name in Case._fields))
            continue
        started = time.perf_counter()
        case = make_case(*history(problem, seed, n, refit), seed)
        note(f"{problem}, seed {seed}: history and fit, {time.perf_counter() - started:.0f} s")
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            np.savez(kept, **case._asdict())
        yield seed, case


def produce(options: argparse.Namespace, write: Callable[[str], Any], note: Callable[[str], Any]) -> dict[str, Any]:
    """Measure and write; return the numbers."""
    records: dict[str, Any] = {}
    for problem in options.problems:
        found, sizes, biases = {}, {}, {}
        for seed, case in cases(problem, range(options.seeds), options.n, options.refit, options.cache, note):
            found[seed], sizes[seed] = measured(case, options.size), tolerated(case, 4 * options.size)
            if options.refitted and seed < options.refitted:
                biases[seed] = {each: refitted(case, each, options.size, seed) for each in (*RULES, SPREAD)}
        text, ratios = gap_tables(list(found.values()))
        write(f"\n## {problem}, n = {options.n}, M = {options.size}, {len(found)} seeds\n\n{text}")
        if (options.n, options.size) == (600, 100):
            for rule in ("residual", "residual-exchange"):
                for name, limit in (("mean", TARGETS[problem]), ("rho", 1.0), ("ucb", 1.0)):
                    ratio = ratios[rule][name]
                    verdict = "met" if ratio <= limit else "MISSED"
                    write(f"\n- {rule} over vector, {QUANTITIES[name]}: {ratio:.3g}, at most {limit:g}: {verdict}")
        write(
            f"\n### A tolerance instead of M: the residual rule, {4 * options.size} at most\n\n"
            f"Medians over the seeds, and the range.\n\n{tolerance_table(list(sizes.values()))}"
        )
        if biases:
            write(
                f"\n### Hyperparameters fitted on a subset, {len(biases)} seeds\n\n"
                "Over those fitted on all data: 1 is no bias. Geometric mean and range over the seeds; the last column "
                "is the sup mean gap of what the residual rule retains under these hyperparameters.\n\n"
                f"{refit_table(list(biases.values()))}"
            )
        records[problem] = {"gaps": found, "ratios": ratios, "tolerated": sizes, "refitted": biases}
    return records


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the tables; the exit status is 0."""
    parser = argparse.ArgumentParser(prog="python -m bench.gap", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--problems", nargs="+", default=PROBLEMS, choices=PROBLEMS)
    parser.add_argument("--seeds", type=int, default=10, help="seeds 0 to this")
    parser.add_argument("--n", type=int, default=600, help="observations, the initial design included")
    parser.add_argument("--size", type=int, default=100, help="M")
    parser.add_argument("--refit", type=int, default=1, help="iterations between fits while the history is made")
    parser.add_argument("--refitted", type=int, default=0, metavar="SEEDS", help="measure refitted hyperparameters too")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="keep histories there: half a minute each to make")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there as well")
    options = parser.parse_args(arguments)
    print("# What a retained subset loses against the full data", flush=True)
    with threadpool_limits(1, user_api="blas"):
        records = produce(
            options,
            lambda text: print(text, flush=True),
            lambda text: print(text, file=sys.stderr, flush=True),
        )
    facts = describe()
    command = ["python -m bench.gap", "--problems", *options.problems]
    for name in ("seeds", "n", "size", "refit", "refitted"):
        command += [f"--{name}", str(getattr(options, name))]
    print(f"\ngssbo {facts['gssbo']}, NumPy {np.__version__}, {facts['cpu']}; again: `{' '.join(command)}`")
    if options.json is not None:
        options.json.write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

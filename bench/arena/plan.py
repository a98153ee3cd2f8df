"""Which runs make the record: every method with its seeds and budget, the short runs first."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from .rows import LONG, PROBLEMS

__all__ = ["PLAN", "Job", "missing"]


class Job(NamedTuple):
    """A method on some problems, with the seeds from 0 on."""

    method: str
    problems: tuple[str, ...]
    n_seeds: int
    n_evals: int


HIGH = tuple(name for name in PROBLEMS if "50" in name or "100" in name)
"""Problems of 50 and 100 dimensions, where a suggestion is dear."""

LOW = tuple(name for name in PROBLEMS if name not in HIGH)

PLAN = (
    Job("random", PROBLEMS, 5, 1_000),
    Job("cma", PROBLEMS, 10, 1_000),
    Job("cma-random", PROBLEMS, 10, 1_000),
    Job("de", PROBLEMS, 10, 1_000),
    Job("cma", LONG, 3, 5_000),
    Job("gssbo", PROBLEMS, 10, 1_000),
    Job("gssbo", LONG, 3, 5_000),
    Job("tpe", LOW, 5, 1_000),
    Job("turbo-refit10", LOW, 5, 1_000),
    Job("gpsampler", LOW, 3, 300),
    Job("gssbo-gp-ei", LOW, 3, 500),
    Job("tpe", HIGH, 5, 1_000),
    Job("turbo-refit10", HIGH, 5, 1_000),
    Job("gpsampler", HIGH, 3, 300),
    Job("gssbo-gp-ei", HIGH, 3, 500),
    Job("tpe", LONG, 3, 5_000),
)


def missing(method: str, done: Collection[tuple[str, str, int, int]]) -> Iterator[tuple[str, int, int]]:
    """Yield problem, seed and budget of each planned run of a method that is not in `done`, seed by seed.

    `done` holds keys as `results.key` makes them.
    """
    for job in PLAN:
        if job.method != method:
            continue
        for seed in range(job.n_seeds):
            for problem in job.problems:
                if (problem, method, seed, job.n_evals) not in done:
                    yield problem, seed, job.n_evals

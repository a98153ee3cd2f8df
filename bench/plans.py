"""Which workloads a report runs, and at which sizes: quick (under 90 seconds), full, and tiny (for the tests)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from bench.workloads import Workload, dense, gaussian_process, loop, process, selection, vecchia


class Section(NamedTuple):
    """A heading, and how to build what is under it; nothing is built until its turn comes.

    A builder of several workloads has them timed in turn: their times are to be compared with one another.
    """

    title: str
    builders: tuple[Callable[[], Workload | tuple[Workload, ...]], ...]


class Bound(NamedTuple):
    """A bound on our own times at different sizes: the largest of `ratios` at most `limit`."""

    name: str
    workloads: tuple[str, ...]
    consecutive: bool  # each size over the one before; otherwise the slowest over the fastest
    limit: float

    def value(self, seconds: dict[str, float]) -> float:
        """The ratio that is bounded."""
        times = [seconds[name] for name in self.workloads]
        if self.consecutive:
            return max(later / earlier for earlier, later in itertools.pairwise(times))
        return max(times) / min(times)


class Total(NamedTuple):
    """Summed seconds of one path over those of another, across slices of a run; at least `at_least`, if given."""

    name: str
    above: tuple[tuple[str, str], ...]  # workloads and labels
    below: tuple[tuple[str, str], ...]
    at_least: float | None = None

    @property
    def workloads(self) -> tuple[str, ...]:
        """What must have been measured."""
        return tuple(name for name, _ in (*self.above, *self.below))

    def value(self, seconds: Mapping[str, Mapping[str, float]]) -> float:
        """The ratio, from seconds by workload and label."""
        above, below = (sum(seconds[name][label] for name, label in part) for part in (self.above, self.below))
        return above / below


class Plan(NamedTuple):
    """Sections, bounds across them, and how often to repeat: `budget` is seconds for a path of a workload."""

    sections: tuple[Section, ...]
    bounds: tuple[Bound, ...]
    repetitions: int
    budget: float
    memory: tuple[int, int] | None = (20_000, 10)
    totals: tuple[Total, ...] = ()


STEPS = (50, 99, 100, 101, 200)
BULK = (1_000, 10_000, 100_000)
OURS = (None, "box")  # methods of the optimizer; None is the default

BOUNDS = (
    Bound(
        "growth of the cached refresh, n=2000 over n=1000",
        ("cached refresh: append and select, n=1000, M=100", "cached refresh: append and select, n=2000, M=100"),
        True,
        4.5,
    ),
    *(
        Bound(
            f"largest jump of ask, {method or 'defaults'}, between n = {', '.join(map(str, STEPS))}",
            tuple(f"ask, {method or 'defaults'}, hartmann6, n={n}" for n in STEPS),
            True,
            2.0,
        )
        for method in OURS
    ),
    *(
        Bound(
            f"slowest over fastest ask, {options.get('method', 'defaults')}, n = {', '.join(f'{n:,}' for n in BULK)}",
            tuple(loop.bulk_name(n, **options) for n in BULK),
            False,
            1.3,
        )
        for options in ({}, {"method": "box"})
    ),
)


def _parts(
    *,
    refits: dict[str, tuple[tuple[int, ...], int]],
    slices: tuple[tuple[Any, ...], ...],
    asks: int,
    seeds: int,
) -> tuple[Section, ...]:
    gp, sel = gaussian_process, selection
    return (
        Section(
            "Gaussian process",
            (
                *(lambda n=n, d=d: gp.likelihood(n, d) for n, d in ((100, 6), (100, 50), (1000, 6))),
                *(lambda p=p, s=s, c=c: gp.refit(p, s, c) for p, (s, c) in refits.items()),
                lambda: gp.score(6, 10_000),
                lambda: gp.score(50, 5_000),
            ),
        ),
        Section(
            "Selection",
            (
                lambda: sel.full_pool(1000),
                lambda: (sel.cached_refresh(1000), sel.cached_refresh(2000)),
                lambda: sel.residual(1000),
                lambda: sel.residual(1000, exchange=True),
                *(lambda rule=rule: sel.greedy(rule, 400) for rule in ("scalar", "kmeans++", "maxmin")),
            ),
        ),
        Section(
            "Linear algebra and kernels",
            (
                *(lambda n=n: dense.cholesky(n) for n in (100, 1000)),
                *(lambda n=n: dense.inverse(n) for n in (100, 1000)),
                lambda: dense.gram(1000, 6),
                lambda: dense.cross(100, 10_000, 6),
            ),
        ),
        Section("Whole iterations", tuple(lambda s=s: loop.iterations(*s) for s in slices)),
        Section(
            "History length, telling, importing",
            (
                *(lambda m=m: tuple(loop.ask(n, seeds=seeds, sizes=STEPS, method=m) for n in STEPS) for m in OURS),
                lambda: tuple(loop.bulk_ask(n, count=8, seeds=32) for n in BULK),
                lambda: tuple(loop.bulk_ask(n, count=8, seeds=16, method="box") for n in BULK),
                lambda: tuple(loop.bulk_ask(n, count=8, **loop.RESIDUAL_200) for n in BULK[1:]),
                *(lambda p=p: loop.batch(p) for p in ("hartmann6", "levy20")),
                lambda: loop.tell(100_000, 20),
                lambda: loop.tell(100_000, 20, 100),
                lambda: loop.threads(asks),
                process.import_time,
            ),
        ),
    )


SLICES = (100, 300, 600, 1_000)


def _slices(problem: str, variant: str, label: str) -> tuple[tuple[str, str], ...]:
    start = 1 if "frozen" in variant else 0
    return tuple((loop.iteration_name(problem, n, variant), label) for n in SLICES[start:])


TOTALS = (
    *(
        Total(
            f"slices of {variant}, {problem}: scikit-learn loop over gssbo",
            _slices(problem, variant, loop.reference_label(variant)),
            _slices(problem, variant, "gssbo"),
            at_least,
        )
        for (problem, variant), at_least in loop.TARGETS.items()
    ),
    *(
        Total(
            f"slices of {problem}: GSSBO over full-data GP-UCB, both ours ({there} in the paper)",
            _slices(problem, "GSSBO", "gssbo"),
            _slices(problem, "full-data GP-UCB", "gssbo"),
        )
        for problem, there in (("hartmann6", "0.087"), ("powell50", "0.095"))
    ),
)

QUICK = Plan(
    _parts(
        refits={"hartmann6": ((120,), 4), "powell50": ((120,), 3)},
        slices=(
            ("hartmann6", 101, 1, "GSSBO"),
            ("hartmann6", 300, 1, "GSSBO"),
            ("hartmann6", 300, 1, "GSSBO, frozen and cached"),
            ("hartmann6", 200, 1, "full-data GP-UCB"),
            ("powell50", 101, 1, "GSSBO"),
        ),
        asks=8,
        seeds=8,
    ),
    BOUNDS,
    repetitions=5,
    budget=0.5,
)

FULL = Plan(
    _parts(
        refits={"hartmann6": ((120, 400, 800), 20), "powell50": ((120, 400, 800), 20)},
        slices=(
            *(("hartmann6", n, 20, "GSSBO") for n in SLICES),
            *(("hartmann6", n, 20, "GSSBO, frozen and cached") for n in SLICES[1:]),
            *(("hartmann6", n, 2, "full-data GP-UCB") for n in SLICES),
            *(("powell50", n, 5, "GSSBO") for n in SLICES),
            # scikit-learn's refit takes hours there.
            *(("powell50", n, 1, "full-data GP-UCB", 100, False) for n in SLICES),
        ),
        asks=50,
        seeds=20,
    ),
    BOUNDS,
    repetitions=15,
    budget=10.0,
    totals=TOTALS,
)

TINY = Plan(
    (
        Section(
            "Tiny",
            (
                lambda: gaussian_process.likelihood(12, 3),
                lambda: gaussian_process.score(3, 50, 12),
                lambda: vecchia.likelihood(30, 3),
                lambda: vecchia.score(30, 3, 20),
                lambda: selection.full_pool(30, 10, 3),
                lambda: selection.cached_refresh(30, 10, 3),
                lambda: selection.append(30, 3),
                lambda: selection.replace(30, 3),
                lambda: selection.residual(30, 10, 3),
                lambda: selection.residual(30, 10, 3, exchange=True),
                *(lambda r=r: selection.greedy(r, 30, 10, 3) for r in ("vector", "scalar", "kmeans++", "maxmin")),
                lambda: dense.cholesky(20),
                lambda: dense.inverse(20),
                lambda: dense.gram(20, 3),
                lambda: dense.cross(20, 30, 3),
                lambda: loop.ask(22, seeds=2),
                lambda: loop.bulk_ask(30, count=2),
                lambda: loop.bulk_ask(60, count=2, method="box", rule="residual", subset_size=25),
                lambda: loop.batch("hartmann6", 30, size=3, subset_size=25, seeds=2),
                lambda: loop.tell(50, 3),
                lambda: loop.tell(50, 3, 7),
            ),
        ),
    ),
    (),
    repetitions=2,
    budget=0.05,
    memory=None,
)

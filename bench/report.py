"""Print what every hot path costs, beside its references, as Markdown: ``python -m bench.report --quick``.

Everything runs in this process, ours and the references in turn, on the same inputs, after their results were found
equal. A time is the median of several samples.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import scipy
import sklearn
from threadpoolctl import threadpool_info, threadpool_limits

import bench
import gssbo
from bench.markdown import table
from bench.plans import FULL, QUICK, Plan
from bench.timing import Measurement, Trial, machine_rates, take_turns
from bench.workloads import Disagreement, Shortfall, Workload
from bench.workloads.base import SCALES
from bench.workloads.process import candidates_memory, memory, result_of
from gssbo.machine import describe

HEADER = ("what", "gssbo", "references", "times as fast", "target", "of the machine")
MEMORY_LIMIT = 64.0  # megabytes


def show(seconds: float, unit: str) -> str:
    """Three significant digits and the unit, a smaller one where the number would start with 0.0."""
    while unit != "µs" and seconds / SCALES[unit] < 0.1:
        unit = list(SCALES)[list(SCALES).index(unit) - 1]
    value = seconds / SCALES[unit]
    return f"{value:.0f} {unit}" if value >= 100 else f"{value:.3g} {unit}"


def row(measurement: Measurement, rates: dict[str, float]) -> list[str]:
    """Cells of a measurement, in the order of `HEADER`."""
    workload, seconds = measurement.workload, measurement.seconds
    fraction = measurement.fraction(rates)
    verdicts = [f"{target}: {'met' if met else 'MISSED'}" for target, met in measurement.targets.items()]
    return [
        workload.name,
        show(seconds["gssbo"], workload.unit),
        "; ".join(f"{label} {show(seconds[label], workload.unit)}" for label in measurement.ratios),
        "; ".join(f"{ratio:.3g}" for ratio in measurement.ratios.values()),
        "; ".join(verdicts),
        f"{100 * fraction:.0f} % of {workload.work.rate}" if fraction is not None and workload.work else "",
    ]


class Report:
    """Runs a plan at one number of BLAS threads, writing as it goes; `records` is the same for a machine to read."""

    def __init__(self, plan: Plan, n_threads: int, write: Callable[[str], Any], rates: dict[str, float]) -> None:
        self.plan, self.n_threads, self.write, self.rates = plan, n_threads, write, rates
        self.records: list[dict[str, Any]] = []
        self.wrong: list[str] = []
        self.missed: list[str] = []

    def run(self) -> None:
        """Measure every section, then the bounds across them."""
        self.write(
            f"\n## {self.n_threads} thread{'s' if self.n_threads > 1 else ''}, ours and the references' BLAS\n\n"
            f"This machine: dgemm "
            f"{self.rates['dgemm'] / 1e9:.3g} GFLOP/s, dpotrf {self.rates['dpotrf'] / 1e9:.3g} GFLOP/s, copy "
            f"{self.rates['copy'] / 1e9:.3g} GB/s."
        )
        for section in self.plan.sections:
            rows, remarks = [], []
            for build in section.builders:
                for cells, remark in self._measured(build):
                    rows.append(cells)
                    short = "SHORTFALL, " if isinstance(remark, Shortfall) else ""
                    remarks += [f"- {cells[0]}: {short}{remark}"] if remark else []
            self.write(
                "\n".join(
                    [f"\n### {section.title}\n", table(HEADER, rows, len(HEADER)), *([""] if remarks else []), *remarks]
                )
            )
        self._bounds()

    def _measured(self, build: Callable[[], Workload | tuple[Workload, ...]]) -> list[tuple[list[str], str | None]]:
        """Cells and remark of each workload that is built."""
        built = build()
        outcomes: list[Trial | tuple[list[str], str]] = []
        for workload in built if isinstance(built, tuple) else (built,):
            print(f"{workload.name} ...", file=sys.stderr, flush=True)
            try:
                trial = Trial(workload, repetitions=self.plan.repetitions, budget=self.plan.budget)
            except Disagreement as error:
                self.wrong.append(workload.name)
                outcomes.append(([workload.name, "WRONG RESULT", *[""] * (len(HEADER) - 2)], str(error)))
            else:
                outcomes.append(trial)
        take_turns([each for each in outcomes if isinstance(each, Trial)])
        return [self._recorded(each.measurement) if isinstance(each, Trial) else each for each in outcomes]

    def _recorded(self, found: Measurement) -> tuple[list[str], str | None]:
        workload = found.workload
        self.missed += [f"{workload.name}: {target}" for target, met in found.targets.items() if not met]
        self.records.append(
            {
                "name": workload.name,
                "blas_threads": self.n_threads,
                "seconds": found.seconds,
                "ratios": found.ratios,
                "samples": found.samples,
                "targets": found.targets,
                "of_machine": found.fraction(self.rates),
                "remark": found.remark,
            }
        )
        return row(found, self.rates), found.remark

    def _bounds(self) -> None:
        seconds = {record["name"]: record["seconds"]["gssbo"] for record in self.records}
        rows = []
        for bound in self.plan.bounds:
            if not set(bound.workloads) <= set(seconds):
                continue
            value = bound.value(seconds)
            met = value <= bound.limit
            self.missed += [] if met else [f"{bound.name}: {value:.3g}"]
            rows.append([bound.name, f"{value:.3g}", f"at most {bound.limit:g}: {'met' if met else 'MISSED'}"])
            self.records.append({"name": bound.name, "blas_threads": self.n_threads, "value": value, "met": met})
        by_label = {record["name"]: record["seconds"] for record in self.records if "seconds" in record}
        for total in self.plan.totals:
            if set(total.workloads) <= set(by_label):
                value = total.value(by_label)
                met = total.at_least is None or value >= total.at_least
                self.missed += [] if met else [f"{total.name}: {value:.3g}"]
                verdict = "" if total.at_least is None else f"at least {total.at_least:g}: {'met' if met else 'MISSED'}"
                rows.append([total.name, f"{value:.3g}", verdict])
                self.records.append({"name": total.name, "blas_threads": self.n_threads, "value": value, "met": met})
        if rows:
            self.write(f"\n### Across sizes\n\n{table(('what', 'ratio', 'target'), rows, texts=3)}")


def memory_section(n: int, d: int) -> tuple[str, dict[str, Any]]:
    """What telling n observations and asking once adds to the peak of a process, and what scoring candidates does."""
    try:
        found, each = result_of(lambda: memory(n, d)), result_of(candidates_memory)
    except Disagreement as error:
        return f"\n### Memory\n\nNot measured: {error}", {}
    met = found["after ask"] <= MEMORY_LIMIT
    text = (
        f"\n### Memory\n\nPeak beyond the {found['data']:.1f} MB of data, {n:,} x {d}: {found['after tell']:.1f} MB "
        f"after telling, {found['after ask']:.1f} MB after one suggestion (at most {MEMORY_LIMIT:g} MB: "
        f"{'met' if met else 'MISSED'}). Scoring 200,000 candidates adds {each:.0f} bytes to the peak for each of "
        "them; mean and standard deviation are 16."
    )
    return text, {"name": "memory", "megabytes": found, "bytes_a_candidate": each, "met": met}


def surroundings() -> tuple[str, dict[str, Any]]:
    """Machine, versions, BLAS libraries and what was done to the environment."""
    facts = describe()
    pools = [
        f"{pool['internal_api']} {pool['version']} ({pool.get('architecture', 'architecture unknown')})"
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    ]
    removed = ", ".join(f"{name}={value}" for name, value in bench.REMOVED.items()) or "neither was set"
    late = f"; TOO LATE for {', '.join(bench.TOO_LATE)}: NumPy was loaded already" if bench.TOO_LATE else ""
    lines = [
        f"- {facts['cpu']}, {facts['usable_cores']} of {facts['cores']} cores usable, {facts['system']}",
        f"- gssbo {gssbo.__version__} (instruction set {facts['instruction_set']}), {facts['python']}, NumPy "
        f"{np.__version__}, SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}",
        f"- BLAS: {', '.join(dict.fromkeys(pools)) or 'unknown'}",
        f"- `{'` and `'.join(bench.TUNING)}` are unset for this process before NumPy loads ({removed}{late})",
    ]
    if hasattr(os, "getloadavg"):
        lines.append(f"- load average at the end: {', '.join(f'{load:.2f}' for load in os.getloadavg())}")
    facts |= {"scikit-learn": sklearn.__version__, "blas_pools": pools, "removed_from_environment": bench.REMOVED}
    return "\n".join(lines), facts


@contextmanager
def own_threads(count: int) -> Iterator[None]:
    """Give gssbo's own threads by default as many as the references' BLAS has."""
    # What the default is made of: its function is held by every module that imports it.
    with mock.patch.multiple("gssbo._parallel", usable_processors=lambda: count, MOST=count):
        yield


def produce(
    plan: Plan, threads: Sequence[int], write: Callable[[str], Any], rates: dict[str, float] | None = None
) -> tuple[dict[str, Any], list[str], list[str]]:
    """Run a plan at each number of threads; return records, names of wrong results, and targets missed."""
    started = time.perf_counter()
    records, wrong, missed = [], [], []
    for count in threads:
        with threadpool_limits(count, user_api="blas"), own_threads(count):
            report = Report(plan, count, write, rates or machine_rates())
            report.run()
        records += report.records
        wrong += report.wrong
        missed += [f"{each} ({count} BLAS threads)" for each in report.missed]
    if plan.memory is not None:
        text, record = memory_section(*plan.memory)
        write(text)
        records += [record] if record else []
        missed += ["memory"] if record and not record["met"] else []
    text, facts = surroundings()
    write(f"\n## Measured on\n\n{text}\n- {time.perf_counter() - started:.0f} s in all")
    if missed:
        write("\n## Targets missed\n\n" + "\n".join(f"- {each}" for each in missed))
    return {"records": records, "machine": facts}, wrong, missed


def main(arguments: Sequence[str] | None = None) -> int:
    """Report; the exit status is 1 where a result was wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench.report", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="smaller sizes and fewer samples: under 90 seconds")
    parser.add_argument("--threads", type=int, nargs="+", help="BLAS threads of the references (1 2; quick: 1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there as well")
    options = parser.parse_args(arguments)
    threads = options.threads or ([1] if options.quick else [1, 2])

    print("# Speed\n\nMedians; the results were compared before anything was timed.")
    data, wrong, _ = produce(QUICK if options.quick else FULL, threads, lambda text: print(text, flush=True))
    if options.json is not None:
        options.json.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    for name in wrong:
        print(f"wrong result: {name}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

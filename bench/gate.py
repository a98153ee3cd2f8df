"""Fail when gssbo has lost speed against its references: ``python -m bench.gate``; ``--record`` writes `recorded.json`.

Absolute times depend on the machine and on what else it does, so ratios are compared: the reference's time over ours,
both in this process, one BLAS thread. A ratio below 70 % of the recorded one fails after three tries. Where valgrind
is installed, the instructions of two compiled calls are counted too; they may differ from the recorded counts by 10 %
where Python, valgrind and instruction set are the recorded ones.

Counts are recorded for an instruction set, ratios for a kind of processor: ours and the references' loops gain by
different amounts from wider vectors and larger caches. Where its kind has no record, one of its instruction set serves.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from threadpoolctl import threadpool_limits

from bench import instructions
from bench.timing import Measurement, measure
from bench.workloads import Disagreement, Workload, dense, gaussian_process, selection
from gssbo.machine import describe

RECORDED = Path(__file__).with_name("recorded.json")
FLOOR = 0.7
TRIES = 3
ROUNDS = 5
TOLERANCE = 0.1
REPETITIONS, BUDGET = 9, 1.0

# What is measured, and the reference of the ratio.
WATCHED: dict[str, tuple[Callable[[], Workload], str]] = {
    "likelihood, n=100, d=6": (lambda: gaussian_process.likelihood(100, 6), "scikit-learn"),
    "likelihood, n=100, d=50": (lambda: gaussian_process.likelihood(100, 50), "scikit-learn"),
    "likelihood, n=400, d=6": (lambda: gaussian_process.likelihood(400, 6), "scikit-learn"),
    "score 10,000 candidates, M=100, d=6": (lambda: gaussian_process.score(6, 10_000), "scikit-learn"),
    "full-pool selection, n=400, M=100": (lambda: selection.full_pool(400), selection.FLOOR),
    "cached refresh, n=400, M=100": (lambda: selection.cached_refresh(400), selection.ANEW),
    "Cholesky and inverse, n=400": (lambda: dense.inverse(400), "LAPACK"),
    "kernel Gram matrix, n=400, d=6": (lambda: dense.gram(400, 6), "NumPy"),
}


class Verdict(NamedTuple):
    """What came of one watched ratio; `best` is the largest of its tries."""

    name: str
    best: float
    recorded: float
    tries: int
    passed: bool


def judge(recorded: Mapping[str, float], ratio: Callable[[str], float]) -> list[Verdict]:
    """Measure every recorded ratio until it is at least `FLOOR` of the recorded one, `TRIES` times at most."""
    verdicts = []
    for name, wanted in recorded.items():
        best, used = 0.0, 0
        while used < TRIES and not best >= FLOOR * wanted:
            best, used = max(best, ratio(name)), used + 1
        verdicts.append(Verdict(name, best, wanted, used, best >= FLOOR * wanted))
    return verdicts


def judge_counts(recorded: Mapping[str, int], counted: Mapping[str, int]) -> list[str]:
    """Complaints about counts that are off by more than `TOLERANCE`; fewer instructions ask for a new record."""
    complaints = []
    for name, wanted in recorded.items():
        change = counted[name] / wanted - 1.0
        if abs(change) > TOLERANCE:
            advice = "record anew if that is meant" if change < 0 else f"at most {TOLERANCE:.0%} more are allowed"
            complaints.append(f"{name}: {counted[name]:,} instructions, recorded {wanted:,} ({change:+.1%}); {advice}")
    return complaints


def current_ratio(name: str) -> float:
    """Measure a watched ratio."""
    build, label = WATCHED[name]
    found: Measurement = measure(build(), repetitions=REPETITIONS, budget=BUDGET)
    return found.ratios[label]


def processor() -> str:
    """Maker, family and model of the processor, which its name need not tell; what the platform says elsewhere."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text(encoding="utf-8", errors="replace").splitlines() if about.exists() else []
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    if {"vendor_id", "cpu family", "model"} <= facts.keys():
        return f"{facts['vendor_id']} family {facts['cpu family']} model {facts['model']}"
    return platform.processor() or platform.machine()


def load(path: Path) -> dict[str, Any]:
    """Read what was recorded, or an empty record."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"ratios": {}, "instructions": {}}


def record(path: Path, write: Callable[[str], Any] = print) -> None:
    """Measure everything and write it as this machine's; other kinds keep their records."""
    data, facts = load(path), describe()
    # The smallest of rounds some time apart: a shared machine moves a ratio by half, and a lucky record would make the
    # gate fail for no reason.
    rounds = [{name: current_ratio(name) for name in WATCHED} for _ in range(ROUNDS)]
    ratios = {name: min(each[name] for each in rounds) for name in WATCHED}
    data["ratios"][f"{facts['instruction_set']}, {processor()}"] = {
        "on": {key: facts[key] for key in ("cpu", "gssbo", "python", "numpy", "scipy")},
        "values": {name: float(f"{value:.3g}") for name, value in ratios.items()},
    }
    if instructions.valgrind():
        counted = {name: instructions.count(name) for name in instructions.WORKLOADS}
        for instruction_set, _ in counted.values():
            data["instructions"][instruction_set] = {
                "on": instructions.versions(),
                "values": {name: number for name, (_, number) in counted.items()},
            }
    else:
        write("valgrind is not installed: no instructions recorded")
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    write(f"recorded in {path.name}: {len(ratios)} ratios")


def check_ratios(data: Mapping[str, Any], write: Callable[[str], Any]) -> bool:
    """Judge the ratios recorded for this kind of processor."""
    instruction_set = describe()["instruction_set"]
    kind = f"{instruction_set}, {processor()}"
    name = kind if kind in data["ratios"] else instruction_set
    if name not in data["ratios"]:
        write(f"ratios: SKIPPED, none recorded for {kind!r} (python -m bench.gate --record)")
        return True
    write(f"ratios: those recorded for {name!r}")
    verdicts = judge(data["ratios"][name]["values"], current_ratio)
    for each in verdicts:
        verdict = "ok" if each.passed else f"TOO SLOW: below {FLOOR:.0%} of the recorded ratio"
        write(
            f"{each.name}: {each.best:.3g}x {WATCHED[each.name][1]}, recorded {each.recorded:.3g}x, "
            f"{each.tries} {'try' if each.tries == 1 else 'tries'}: {verdict}"
        )
    return all(each.passed for each in verdicts)


def check_instructions(data: Mapping[str, Any], write: Callable[[str], Any]) -> bool:
    """Judge the instruction counts, where they can be."""
    if not instructions.valgrind():
        write("instructions: SKIPPED, valgrind is not installed")
        return True
    counted = {name: instructions.count(name) for name in instructions.WORKLOADS}
    name, versions = next(iter(counted.values()))[0], instructions.versions()
    found = data["instructions"].get(name)
    if found is None or found["on"] != versions:
        there = f"those recorded are for {found['on']}" if found else "none recorded"
        write(f"instructions: SKIPPED, {there}; this is {name!r}, {versions}")
        return True
    complaints = judge_counts(found["values"], {each: number for each, (_, number) in counted.items()})
    write("\n".join(complaints) or f"instructions ({name}): ok, {len(counted)} counts within {TOLERANCE:.0%}")
    return not complaints


def main(arguments: Sequence[str] | None = None) -> int:
    """Check or record; the exit status is 1 where something is too slow or wrong."""
    parser = argparse.ArgumentParser(prog="python -m bench.gate", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--record", action="store_true", help="measure and write the file instead of checking")
    parser.add_argument("--file", type=Path, default=RECORDED, help="the record (bench/recorded.json)")
    options = parser.parse_args(arguments)
    with threadpool_limits(1, user_api="blas"):
        try:
            if options.record:
                record(options.file)
                return 0
            data = load(options.file)
            passed = [check_ratios(data, print), check_instructions(data, print)]
        except Disagreement as error:
            print(f"WRONG RESULT: {error}")
            return 1
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())

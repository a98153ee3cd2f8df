"""The gate of speed: what it lets through, what it refuses, what it skips."""

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("sklearn")
pytest.importorskip("threadpoolctl")
sys.path.insert(0, str(Path(__file__).parents[1]))  # `bench` is no part of the package

from bench import gate, instructions
from bench.workloads import Disagreement

pytestmark = pytest.mark.usefixtures("single_thread")


def test_a_ratio_passes_at_once_at_the_third_try_or_not_at_all():
    answers = {"good": [10.0], "lucky": [5.0, 6.9, 7.0], "slow": [6.0, 6.5, 6.9, 100.0]}
    verdicts = gate.judge(dict.fromkeys(answers, 10.0), lambda name: answers[name].pop(0))
    assert [(each.passed, each.tries, each.best) for each in verdicts] == [
        (True, 1, 10.0),
        (True, 3, 7.0),
        (False, 3, 6.9),
    ]


def test_a_ratio_that_is_no_number_fails():
    assert not gate.judge({"x": 1.0}, lambda _: float("nan"))[0].passed


def test_counts_may_move_by_a_tenth():
    recorded = {"x": 1_000_000, "y": 1_000_000}
    assert gate.judge_counts(recorded, {"x": 1_090_000, "y": 910_000}) == []
    complaints = gate.judge_counts(recorded, {"x": 1_110_000, "y": 890_000})
    assert "+11.0%" in complaints[0]
    assert "record anew" in complaints[1]


def test_the_gate_fails_on_a_slow_ratio_and_skips_what_it_cannot_judge(monkeypatch, capsys, tmp_path):
    file = tmp_path / "recorded.json"
    monkeypatch.setattr(gate, "current_ratio", lambda name: 2.0)
    monkeypatch.setattr(instructions, "valgrind", lambda: None)
    assert gate.main(["--file", str(file)]) == 0  # nothing recorded
    assert capsys.readouterr().out.count("SKIPPED") == 2
    assert gate.main(["--file", str(file), "--record"]) == 0
    data = json.loads(file.read_text(encoding="utf-8"))
    ((kind, recorded),) = data["ratios"].items()
    assert recorded["values"] == dict.fromkeys(gate.WATCHED, 2.0)
    assert gate.main(["--file", str(file)]) == 0
    monkeypatch.setattr(gate, "current_ratio", lambda name: 1.3)
    assert gate.main(["--file", str(file)]) == 1
    assert "TOO SLOW" in capsys.readouterr().out
    instruction_set = kind.split(",")[0]
    slow, quick = recorded | {"values": dict.fromkeys(gate.WATCHED, 1.0)}, recorded
    for ratios, status in (
        ({f"{instruction_set}, another": recorded}, 0),
        ({instruction_set: quick}, 1),  # what is recorded for another kind of the instruction set
        ({instruction_set: quick, kind: slow}, 0),  # unless there is a record of this one
    ):
        file.write_text(json.dumps(data | {"ratios": ratios}), encoding="utf-8")
        assert gate.main(["--file", str(file)]) == status


def test_a_wrong_result_fails_the_gate(monkeypatch, tmp_path, capsys):
    def disagree(name):
        raise Disagreement(name)

    monkeypatch.setattr(gate, "current_ratio", disagree)
    assert gate.main(["--file", str(tmp_path / "x.json"), "--record"]) == 1
    assert "WRONG RESULT" in capsys.readouterr().out


def test_instruction_counts_hold_for_the_recorded_versions_only(monkeypatch):
    monkeypatch.setattr(instructions, "valgrind", lambda: "valgrind")
    monkeypatch.setattr(instructions, "versions", lambda: {"python": "3"})
    monkeypatch.setattr(instructions, "count", lambda name: ("v3", 200))
    values = dict.fromkeys(instructions.WORKLOADS, 100)
    lines = []
    data = {"instructions": {"v3": {"on": {"python": "3"}, "values": values}}}
    assert not gate.check_instructions(data, lines.append)
    data["instructions"]["v3"]["on"] = {"python": "4"}
    assert gate.check_instructions(data, lines.append)
    assert "SKIPPED" in lines[-1]
    assert gate.check_instructions({"instructions": {}}, lines.append)
    data = {"instructions": {"v3": {"on": {"python": "3"}, "values": dict.fromkeys(values, 200)}}}
    assert gate.check_instructions(data, lines.append)
    assert "ok" in lines[-1]


def test_every_recorded_ratio_is_watched():
    data = gate.load(gate.RECORDED)
    for recorded in data["ratios"].values():
        assert set(recorded["values"]) == set(gate.WATCHED)
    for recorded in data["instructions"].values():
        assert set(recorded["values"]) == set(instructions.WORKLOADS)

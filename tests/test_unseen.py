"""The bench of problems that nothing was tuned on."""

import json

import numpy as np
import pytest

from bench.unseen.__main__ import main
from bench.unseen.instances import ordinal
from bench.unseen.rivals import Objective, Spent
from bench.unseen.tasks import TASKS


@pytest.mark.parametrize("name", TASKS)
def test_instances_repeat_differ_by_seed_and_stay_above_their_optimum(name):
    if "bbob" in name:
        pytest.importorskip("ioh")
    objectives = [Objective(TASKS[name], seed) for seed in (0, 0, 1)]
    points = np.random.default_rng(0).random((30, len(TASKS[name].space)))
    for objective in objectives:
        for u in points:
            objective.unit(u)
        assert min(objective.true) > objective.instance.optimum
    same, again, other = (objective.told for objective in objectives)
    assert same == again != other


def test_the_optimum_of_grades_is_one_that_changes_of_pairs_reach():
    instance, rng = ordinal(0), np.random.default_rng(0)
    best = np.inf
    for _ in range(20):
        x, value = rng.integers(0, 5, 12), np.inf
        while True:
            others = np.tile(x, (12 * 25, 1))
            for i in range(12):
                others[25 * i : 25 * (i + 1), i] = np.repeat(np.arange(5), 5)
                others[25 * i : 25 * (i + 1), i - 1] = np.tile(np.arange(5), 5)
            values = [instance.value(each) for each in others]
            if not min(values) < value - 1e-12:
                break
            value, x = min(values), others[int(np.argmin(values))]
        best = min(best, value)
    assert best == pytest.approx(instance.optimum)


def test_a_budget_ends_and_regret_is_that_of_what_was_told_best():
    objective = Objective(TASKS["outliers, 5"], 0)
    points = np.random.default_rng(0).random((objective.task.n_evals, 5))
    for u in points:
        objective.unit(u)
    with pytest.raises(Spent):
        objective.unit(points[0])
    told = int(np.argmin(objective.told))
    assert objective.told[told] != objective.true[told]
    assert objective.regret()[-1] == objective.true[told] - objective.instance.optimum


def test_a_run_is_recorded_once_and_shown(tmp_path, capsys):
    file = tmp_path / "runs.jsonl"
    command = ["run", "--task", "needle, 3", "--method", "gssbo", "de", "--seeds", "0", "2", "--out", str(file)]
    assert main(command) == main(command) == 0
    runs = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(run["method"], run["seed"]) for run in runs] == [("gssbo", 0), ("gssbo", 1), ("de", 0), ("de", 1)]
    assert all(list(run["regret"]) == ["75", "150", "300"] for run in runs)
    capsys.readouterr()
    assert main(["table", str(file)]) == 0
    assert "| needle, 3 | 300 | " in capsys.readouterr().out

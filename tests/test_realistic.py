"""The bench of tasks as users bring them."""

import json

import numpy as np
import pytest

from bench.realistic.__main__ import TASKS, main
from bench.realistic.task import Task
from gssbo import Integer, Real
from gssbo.space import Categorical


@pytest.mark.parametrize(
    "name", [name for name in TASKS if name not in ("support vectors", "tree", "boosting", "pipeline")]
)
def test_tasks_have_values_in_their_box(name):
    if name == "network, diverging":
        pytest.importorskip("sklearn")  # its data
    task = TASKS[name]
    rng = np.random.default_rng(0)
    points = [
        task.point(u) for u in (np.zeros(len(task.space)), np.ones(len(task.space)), *rng.random((30, len(task.space))))
    ]
    for x in points:
        for key, kind in task.space.items():
            assert x[key] in kind.values if isinstance(kind, Categorical) else kind.low <= x[key] <= kind.high
    values = [task.value(x) for x in points]
    np.testing.assert_array_equal([task.value(x) for x in points], values)
    assert name == "island" or np.isfinite(values).sum() > 5


def test_a_run_is_recorded_once_and_shown(tmp_path, capsys):
    file = tmp_path / "runs.jsonl"
    command = ["run", "--task", "cliff, failing", "--method", "random", "de", "--seeds", "2", "--out", str(file)]
    assert main(command) == main(command) == 0
    runs = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(run["method"], run["seed"]) for run in runs] == [("random", 0), ("random", 1), ("de", 0), ("de", 1)]
    assert all(run["found"][0] >= run["found"][1] >= run["found"][2] > 0.0 and 0 < run["failed"] < 200 for run in runs)
    capsys.readouterr()
    assert main(["table", str(file)]) == 0
    assert "| cliff, failing | 200 | " in capsys.readouterr().out


def test_whole_numbers_and_categories_have_equal_parts():
    space = {"n": Integer(1, 4), "c": Categorical(["a", "b"]), "r": Real(1.0, 100.0, log=True)}
    task = Task(lambda x: 0.0, space, 10)
    seen = [task.point(np.full(3, (i + 0.5) / 8)) for i in range(8)]
    assert [x["n"] for x in seen] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert "".join(x["c"] for x in seen) == "aaaabbbb"
    assert task.point(np.full(3, 0.5))["r"] == pytest.approx(10.0)

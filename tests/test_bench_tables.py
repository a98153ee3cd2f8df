"""Benches that compare: with peers, between methods, on mixed spaces; and the tables they print."""

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")
pytest.importorskip("threadpoolctl")
sys.path.insert(0, str(Path(__file__).parents[1]))  # `bench` is no part of the package

from bench import markdown, methods_table, mixed, peers

pytestmark = pytest.mark.usefixtures("single_thread")


def test_numbers_stand_on_the_right_and_bars_within_cells_break_nothing():
    text = markdown.table(["who", "a|b", "n"], [["x", "y", "1"], iter(["z", "", "2"])], texts=2)
    assert text == "| who | a/b | n |\n| --- | --- | --: |\n| x | y | 1 |\n| z |  | 2 |"


class Waiter:
    def __init__(self):
        self.told = []

    def suggest(self):
        return np.array([0.5])

    def tell(self, x, y):
        self.told.append(y)


def test_a_peer_is_told_what_it_suggested_and_stopped_when_too_slow():
    peer = Waiter()
    assert peers.suggestion_seconds(peer, lambda x: 2.0 * x[0], 3, 60.0) >= 0.0
    assert peer.told == [1.0] * 4
    peer = Waiter()
    peers.suggestion_seconds(peer, lambda x: 1.0, 3, -1.0)
    assert peer.told == []


def test_peers_that_are_not_installed_are_named(monkeypatch, capsys):
    monkeypatch.setitem(peers.PEERS, "nobody", ("no_such_package_here", Waiter, "gp"))
    found = peers.compare([peers.OURS, "nobody"], [30], [40], 1, 60.0)
    assert found.keys() == {peers.OURS}
    assert set(found[peers.OURS]) == {30, 40}
    assert "nobody" in capsys.readouterr().err


def test_the_table_of_peers_shows_how_many_times_slower():
    text = peers.table({peers.OURS: {100: 0.01, 5000: 0.02}, "other": {100: 0.5}})
    assert text.splitlines()[-1] == "| other | 0.5 (50x) |  |"


def test_the_table_of_methods_has_a_row_for_each_and_shares_of_the_full_data_process(capsys):
    methods_table.main(["--sizes", "22", "25", "--repeats", "1", "--methods", "gp-ucb", "rembo", "rssbo"])
    header, _, *rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert [cell.strip() for cell in header.split("|")[1:-1]] == ["method", "n = 22", "n = 25", "of gp-ucb at the last"]
    cells = [[cell.strip() for cell in row.split("|")[1:-1]] for row in rows]
    assert [each[0] for each in cells] == ["gp-ucb", "rembo", "rssbo"]
    assert cells[0][3] == "1" and all(float(each[3]) > 0.0 for each in cells)
    assert all(cell.endswith("s") for each in cells for cell in each[1:3])


def test_a_method_that_keeps_everything_is_timed_on_a_history_of_its_own_design(monkeypatch):
    """So that all of it is in the subspace of those that search one."""
    sizes = []

    class Watched(methods_table.gssbo.Optimizer):
        def ask(self):
            x = super().ask()
            sizes.append(len(self.retained))
            return x

    monkeypatch.setattr(methods_table.gssbo, "Optimizer", Watched)
    methods_table.seconds("hesbo", 24, 2, 1)
    assert sizes == [0] * 24 + [24, 25, 26]
    sizes.clear()
    methods_table.seconds("topk-random", 30, 1, 1)
    assert sizes == [0] * 20 + [30, 31]


@pytest.mark.parametrize(
    ("problem", "best", "value"),
    [
        ("ackley53", lambda name: 0 if name.startswith("bit") else 0.0, 0.0),
        ("levy-whole", lambda name: 4, 0.0),
        ("functions", {"first": "camel", "second": "slope", "a": -1.937, "b": -1.003}.get, -2.4382),
        ("quadratic-bits", lambda name: 0, 0.0),
        ("pest-control", lambda name: 0, 23.69),
    ],
)
def test_values_of_mixed_problems(problem, best, value):
    fun, space = mixed.PROBLEMS[problem]
    assert fun({name: best(name) for name in space}) == pytest.approx(
        value, abs=1e-3 if problem != "pest-control" else 1
    )


def test_a_row_of_mixed_problems_holds_medians_of_the_best():
    fun, space = mixed.PROBLEMS["training"]
    values = [mixed.ours(fun, space, 8, seed) for seed in range(3)]
    expected = " | ".join(f"{np.median([each[:n].min() for each in values]):.4g}" for n in (2, 4, 8))
    assert mixed.row("training", "gssbo", 8, 3) == f"| training | gssbo | {expected} |"
    assert len(mixed.tpe(fun, space, 3, 0)) == 3

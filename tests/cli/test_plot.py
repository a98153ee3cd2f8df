"""`gssbo plot`: the picture of a journal."""

import pathlib

import numpy as np
import pytest

import gssbo
from gssbo.cli import main, record
from gssbo.plot import plot_run


def test_a_journal_with_failures_is_drawn_whole(here, monkeypatch):
    drawn = {}

    def keep(values, seconds, **options):
        drawn.update(values=values, seconds=seconds)
        return plot_run(values, seconds, **options)

    monkeypatch.setattr(record, "plot_run", keep)
    gssbo.minimize(lambda x: np.nan if x[0] > 0.8 else x[0], [(0, 1)], n_evals=30, rng=0, journal="run.jsonl")
    assert main(["plot", "run.jsonl", "--out", "run.png"]) == 0
    assert len(drawn["values"]) == len(drawn["seconds"]) == 30 and np.isnan(drawn["values"]).any()
    assert (np.diff(drawn["seconds"]) >= 0.0).all() and drawn["seconds"][-1] > 0.0
    figure = plot_run(drawn["values"], drawn["seconds"], n_init=0)
    marks = next(line for line in figure.axes[0].lines if line.get_label() == "failed")
    np.testing.assert_array_equal(marks.get_xdata(), np.flatnonzero(np.isnan(drawn["values"])) + 1)
    assert figure.axes[0].get_xlim() == (0, 30)


@pytest.mark.parametrize(
    ("maximize", "options", "label"),
    [
        (False, [], "objective (logarithmic)"),
        (False, ["--optimum", "0.25"], "objective above 0.25 (logarithmic)"),
        (True, [], "objective (logarithmic)"),
        (True, ["--optimum", "9"], "objective below 9 (logarithmic)"),
    ],
)
def test_values_on_a_logarithmic_axis(here, monkeypatch, maximize, options, label):
    values = np.array([4.0, np.nan, 2.0, 8.0, 0.5])
    with gssbo.Optimizer([(0.0, 1.0)], maximize=maximize, journal="run.jsonl") as opt:
        opt.tell(np.linspace(0.0, 1.0, 5)[:, None], values)
    figures = []
    monkeypatch.setattr(record, "plot_run", lambda *each, **more: figures.append(plot_run(*each, **more)) or figures[0])
    assert main(["plot", "run.jsonl", "--out", "run.svg", "--log", *options]) == 0
    axes = figures[0].axes[0]
    assert (axes.get_yscale(), axes.get_ylabel()) == ("log", label)
    best = next(line for line in axes.lines if line.get_label() == "best observed so far")
    plain = [4, 4, 4, 8, 8] if maximize else [4, 4, 2, 2, 0.5]
    expected = {"objective (logarithmic)": plain, "objective below 9 (logarithmic)": [5, 5, 5, 1, 1]}
    np.testing.assert_array_equal(best.get_ydata(), expected.get(label, [3.75, 3.75, 1.75, 1.75, 0.25]))


@pytest.mark.parametrize(
    ("maximize", "options", "message"),
    [
        (False, ["--log"], "--log must come with --optimum"),
        (True, ["--log"], "--log must come with --optimum"),
        (False, ["--optimum", "1"], "got 1 where the best told is -2"),
        (True, ["--optimum", "3"], "got 3 where the best told is 4"),
        (False, ["--optimum", "-inf"], "--optimum must be finite, got -inf"),
        (False, ["--optimum", "nan"], "--optimum must be finite, got nan"),
    ],
)
def test_what_a_logarithm_does_not_take_is_refused(here, capsys, maximize, options, message):
    with gssbo.Optimizer([(0.0, 1.0)], maximize=maximize, journal="run.jsonl") as opt:
        opt.tell([[0.0], [1.0]], [4.0, -2.0])
    with pytest.raises(SystemExit):
        main(["plot", "run.jsonl", "--out", "run.svg", *options])
    assert message in capsys.readouterr().err


def test_a_logarithm_has_something_to_show(here, capsys):
    with gssbo.Optimizer([(0.0, 1.0)], journal="run.jsonl") as opt:
        opt.tell([[0.0], [1.0]], [1.5, 1.5])
    with pytest.raises(SystemExit):
        main(["plot", "run.jsonl", "--out", "run.svg", "--log", "--optimum", "1.5"])
    assert "--log must have a value that is not the optimum, got 1.5 alone" in capsys.readouterr().err


def test_a_journal_is_read_once_for_its_picture(here, monkeypatch):
    gssbo.minimize(lambda x: x[0], [(0.0, 1.0)], n_evals=3, rng=0, journal="run.jsonl")
    read, opened = pathlib.Path.open, []
    monkeypatch.setattr(
        pathlib.Path, "open", lambda path, *how, **more: opened.append(path.name) or read(path, *how, **more)
    )
    assert main(["plot", "run.jsonl", "--out", "run.svg"]) == 0
    assert opened.count("run.jsonl") == 1

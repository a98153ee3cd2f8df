"""`gssbo tune`, `best`, `tell` and `plot`: any program, by its command line."""

import csv
import io
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

import gssbo
from gssbo import Categorical, Integer, Real
from gssbo.cli import main, record
from gssbo.cli.program import CannotStart, Program, ProgramFailed
from gssbo.cli.signals import Endings
from gssbo.cli.space_file import read_space
from gssbo.exceptions import JournalWarning
from gssbo.journal import read_journal
from gssbo.ledger import continue_ledger, read_ledger
from gssbo.plot import plot_run
from tests.commands import PYTHON, python

SPACE = """
[lr]
low = 1e-5
high = 0.1
log = true
[n]
low = 1
high = 8
[act]
values = ["relu", "gelu"]
"""
PROGRAM = """
import math, sys
lr, n, act = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
if n == 7:
    sys.exit("seven is bad")
print("training")
print("loss", (math.log10(lr) + 3) ** 2 + 0.1 * (n - 3) ** 2 + (act == "relu"))
"""


def loss(x):
    return (np.log10(x["lr"]) + 3) ** 2 + 0.1 * (x["n"] - 3) ** 2 + (x["act"] == "relu")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with a space and a program."""
    (tmp_path / "space.toml").write_text(SPACE)
    (tmp_path / "program.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    return tmp_path


COMMAND = f"{PYTHON} program.py {{lr}} {{n}} {{act}}"
TUNE = ["tune", COMMAND, "--space", "space.toml", "--quiet", "--seed", "1", "--n-init", "4"]


# ---- one command


def test_no_parameter_has_the_name_of_the_value_file(here, capsys):
    (here / "space.toml").write_text("[value_file]\nlow = 0\nhigh = 1\n")
    with pytest.raises(SystemExit) as exit_:
        main(["tune", f"{python('print(1)')} {{value_file}}", "--space", "space.toml", "--n-evals", "5", "--quiet"])
    assert exit_.value.code == 2
    assert "a parameter must have another name than value_file" in capsys.readouterr().err


# ---- the space


def test_a_space_of_every_kind(tmp_path):
    path = tmp_path / "space.toml"
    path.write_text(
        SPACE + "[f]\nlow = 0\nhigh = 1\ntype = 'real'\n[g]\nlow = 0\nhigh = 8\nstep = 4\n"
        "[h]\nlow = 0\nhigh = 1\nstep = 0.1\n[i]\nlow = 0\nhigh = 8\nstep = 2.0\n"
    )
    assert read_space(path) == {
        "lr": Real(1e-5, 0.1, log=True),
        "n": Integer(1, 8),
        "act": Categorical(("relu", "gelu")),
        "f": Real(0.0, 1.0),
        "g": Integer(0, 8, step=4),
        "h": Real(0, 1, step=0.1),
        "i": Integer(0, 8, step=2),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "a table for each parameter"),
        ("x = 3", r"\[x\]: must be a table"),
        ("[x]\nlow = 1", "must have low and high"),
        ("[x]\nlow = 1\nhigh = 0", "low <= high"),
        ("[x]\nlow = 1\nhigh = 2\nscale = 'log'", "got scale"),
        ("[x]\nvalues = ['a']\nlow = 1", "values must come alone"),
        ("[x]\nlow = 1\nhigh = 2\ntype = 'float'", "one of real, integer"),
        ("[x]\nlow = '0'\nhigh = 5", r"\[x\]: low must be a real number, got '0'"),
        ("[x]\nlow = 0\nhigh = true", r"\[x\]: high must be a real number, got True"),
        ("[x]\nlow = 0\nhigh = 5\nstep = nan", r"\[x\]: step must be finite, got nan"),
        ("[x", "TOML file"),
        ("[x]\nvalues = 'ab'", "values must be a list, got 'ab'"),
        ("[x]\nvalues = [1979-05-27]", "true, false, or lists of them, got 1979-05-27"),
        ("[x]\nvalues = [[{a = 1}], 'b']", "true, false, or lists of them, got {'a': 1}"),
    ],
)
def test_a_wrong_space_is_refused(tmp_path, text, message):
    path = tmp_path / "space.toml"
    path.write_text(text)
    with pytest.raises(ValueError, match=message):
        read_space(path)


def test_a_space_that_is_no_text_is_named(tmp_path):
    path = tmp_path / "space.toml"
    path.write_bytes(b"[x]\xff\n")
    with pytest.raises(ValueError, match=r"^the space must be a TOML file, got .*space.toml"):
        read_space(path)


# ---- the commands


def test_a_run_its_journal_and_more_of_it(here, capsys):
    assert main([*TUNE, "--n-evals", "12", "--journal", "run.jsonl", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)
    assert first["n_evals"] == 12 and first["value"] == pytest.approx(loss(first["best"]), rel=1e-12)
    again = ["tune", COMMAND, "--quiet", "--journal", "run.jsonl", "--n-init", "4", "--n-evals", "16", "--workers", "2"]
    assert main([*again, "--json"]) == 0  # the space is in the journal
    second = json.loads(capsys.readouterr().out)
    assert second["n_evals"] == 16 and second["value"] <= first["value"]
    ledger = read_ledger("run.jsonl")
    assert ledger.n_told == 16
    for x, y in zip(ledger.X, ledger.y, strict=True):
        assert np.isnan(y) if x["n"] == 7 else y == pytest.approx(loss(x), rel=1e-12)

    assert main(["best", "run.jsonl"]) == 0
    assert f"act = {second['best']['act']}" in capsys.readouterr().out
    assert main(["tell", "run.jsonl", "lr=0.001", "n=3", "act=gelu", "--value", "-1"]) == 0
    assert main(["tell", "run.jsonl", "lr=0.001", "n=4", "act=gelu", "--failed"]) == 0
    capsys.readouterr()
    assert main(["best", "run.jsonl", "--json"]) == 0
    best = json.loads(capsys.readouterr().out)
    assert (best["value"], best["n_told"], best["best"]) == (-1.0, 18, {"lr": 0.001, "n": 3, "act": "gelu"})
    assert main(["compact", "run.jsonl"]) == 0
    assert "bytes before" in capsys.readouterr().out
    assert main(["plot", "run.jsonl", "--out", "run.png"]) == 0
    assert (here / "run.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("text", ["True", "true"])
def test_a_switch_is_told_as_it_is_printed(here, capsys, text):
    with gssbo.Optimizer({"b": bool, "c": [None, 2, "x"]}, journal="run.jsonl") as opt:
        opt.tell({"b": False, "c": 2}, 1.0)
    assert main(["tell", "run.jsonl", f"b={text}", "c=None", "--value", "0.5"]) == 0
    assert main(["best", "run.jsonl"]) == 0
    assert "b = true\n  c = null\n" in capsys.readouterr().out
    assert read_ledger("run.jsonl").best_x == {"b": True, "c": None}


def test_lists_are_values_like_any_others(here, capsys):
    (here / "space.toml").write_text("[c]\nvalues = [[8, 16], ['a b', true]]\n")
    (here / "lists.py").write_text(
        "import json, os, sys\n"
        "c = json.loads(sys.argv[1])\n"
        "assert json.loads(os.environ['GSSBO_PARAMETERS']) == {'c': c}\n"
        "print(len(c))\n"
    )
    tune = ["tune", f"{PYTHON} lists.py {{c}}", "--n-evals", "2", "--quiet", "--journal", "run.jsonl", "--noisy"]
    assert main([*tune, "--space", "space.toml"]) == 0
    assert main(["tell", "run.jsonl", 'c=["a b", true]', "--value", "-1"]) == 0
    assert main(["tell", "run.jsonl", "c=(8, 16)", "--value", "-2"]) == 0  # as Python has it
    capsys.readouterr()
    assert main(["best", "run.jsonl"]) == 0
    assert "\n  c = [8, 16]\n" in capsys.readouterr().out
    assert main([*tune, "--n-evals", "5"]) == 0
    assert "\n  c = [8, 16]\n" in capsys.readouterr().out
    assert main(["best", "run.jsonl", "--json"]) == 0
    best = json.loads(capsys.readouterr().out)
    assert (best["best"], best["value"], best["n_failed"]) == ({"c": [8, 16]}, -2.0, 0)
    assert read_ledger("run.jsonl").X[2:4] == [{"c": ("a b", True)}, {"c": (8, 16)}]


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("c=8", "c must be one of the values, got '8'; its values are [8, 16], \"a b\", null"),
        ("b=yes", "b must be one of the values, got 'yes'; its values are false, true"),
        ("s=0.3", "s must lie on the steps, got '0.3'; its bounds are (0.0, 1.0) in steps of 0.25"),
        ("r=x", "r must be a real number, got 'x'; its bounds are (0.0, 1.0)"),
    ],
)
def test_a_wrong_value_is_named_as_it_was_written(here, capsys, word, message):
    point = {"c": "a b", "b": "true", "s": "0.5", "r": "0.5"}
    space = {"c": [(8, 16), "a b", None], "b": bool, "s": Real(0.0, 1.0, step=0.25), "r": (0.0, 1.0)}
    with gssbo.Optimizer(space, journal="run.jsonl") as opt:
        opt.enqueue({"c": "a b", "b": True, "s": 0.5, "r": 0.5})
    name, _, text = word.partition("=")
    with pytest.raises(SystemExit):
        main(["tell", "run.jsonl", *map("=".join, (point | {name: text}).items()), "--value", "1"])
    assert message in capsys.readouterr().err


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


@pytest.mark.parametrize("text", ["-1e-3", "-2.5E+05", "-.5", "-1"])
def test_negative_numbers_need_no_equals_sign(here, text):
    with gssbo.Optimizer({"x": (0.0, 1.0)}, journal="run.jsonl") as opt:
        opt.enqueue({"x": 0.25})
        opt.ask()
    assert main(["tell", "run.jsonl", "--id", "0", "--value", text]) == 0
    assert main(["tell", "run.jsonl", "x=0.5", f"--value={text}"]) == 0
    assert read_ledger("run.jsonl").y.tolist() == [float(text)] * 2


def test_a_logarithm_has_something_to_show(here, capsys):
    with gssbo.Optimizer([(0.0, 1.0)], journal="run.jsonl") as opt:
        opt.tell([[0.0], [1.0]], [1.5, 1.5])
    with pytest.raises(SystemExit):
        main(["plot", "run.jsonl", "--out", "run.svg", "--log", "--optimum", "1.5"])
    assert "--log must have a value that is not the optimum, got 1.5 alone" in capsys.readouterr().err


def test_a_journal_is_read_once_for_its_picture(here, monkeypatch):
    gssbo.minimize(lambda x: x[0], [(0.0, 1.0)], n_evals=3, rng=0, journal="run.jsonl")
    read, opened = pathlib.Path.read_bytes, []
    monkeypatch.setattr(pathlib.Path, "read_bytes", lambda path: opened.append(path.name) or read(path))
    assert main(["plot", "run.jsonl", "--out", "run.svg"]) == 0
    assert opened.count("run.jsonl") == 1


def test_a_pending_suggestion_is_told_by_its_number(here, capsys):
    with gssbo.Optimizer(read_space(here / "space.toml"), journal="run.jsonl") as opt:
        waiting = opt.ask(2, ids=True)
    assert main(["best", "run.jsonl"]) == 0
    assert "pending 1: " in capsys.readouterr().out
    assert main(["tell", "run.jsonl", "--id", "1", "--value", "2.5"]) == 0
    ledger = read_ledger("run.jsonl")
    assert [waiting[1].x] == ledger.X and [each.id for each in ledger.pending] == [0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tune", COMMAND, "--n-evals", "5"], "--space must be given"),
        (["tune", "run {z}", "--space", "space.toml", "--n-evals", "5"], "got {z}"),
        ([*TUNE, "--n-evals", "0"], "argument --n-evals: must be an integer of at least 1, got '0'"),
        ([*TUNE, "--n-evals", "5", "--workers", "0"], "argument --workers: must be an integer of at least 1, got '0'"),
        ([*TUNE, "--n-evals", "5", "--method", "magic"], "got 'magic'"),
        (["best", "none.jsonl"], "cannot be read"),
        (["tell", "none.jsonl", "--value", "1"], "cannot be read"),
        (["plot", "none.jsonl", "--out", "a.png"], "cannot be read"),
        (["export", "none.jsonl"], "cannot be read"),
        (["compact", "none.jsonl"], "No such file"),
        (["tell", "none.jsonl", "--from", "none.csv", "--value", "1"], "not allowed with argument --from"),
    ],
)
def test_wrong_arguments_end_in_an_error(here, capsys, arguments, message):
    with pytest.raises(SystemExit) as exit_:
        main(arguments)
    assert exit_.value.code == 2
    assert message in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tune", "echo {x}", "--space", "none.toml", "--n-evals", "5"], "the space must be a TOML file"),
        ([*TUNE, "--n-evals", "5", "--journal", "bad.jsonl"], "bad.jsonl is damaged in line 3"),
        (["best", "bad.jsonl"], "bad.jsonl is damaged in line 3"),
        (["tell", "bad.jsonl", "--id", "0", "--failed"], "bad.jsonl is damaged in line 3"),
        (["plot", "bad.jsonl", "--out", "a.png"], "bad.jsonl is damaged in line 3"),
        (["export", "bad.jsonl", "--out", "a.csv"], "bad.jsonl is damaged in line 3"),
        (["export", "free.jsonl", "--out", "./free.jsonl"], "--out must be another file than the journal, got free"),
        (["export", "free.jsonl", "--out", "no/a.csv"], "No such file or directory: 'no/a.csv'"),
        (["compact", "bad.jsonl"], "bad.jsonl is damaged in line 3"),
        (
            ["plot", "free.jsonl", "--out", "no.ending/a"],
            "--out must have an ending, .png, .pdf or .svg, got no.ending/a",
        ),
        (["tell", "held.jsonl", "--id", "0", "--failed"], "held.jsonl is being written by"),
        (["tell", "free.jsonl", "x1=0.5", "x1=0.75", "--value", "1"], "each parameter once, got x1 again in 'x1=0.75'"),
        (["compact", "held.jsonl"], "held.jsonl is being written by"),
    ],
)
def test_what_is_wrong_with_a_file_takes_one_line(here, capsys, arguments, message):
    main([*TUNE, "--n-evals", "3", "--journal", "bad.jsonl"])
    damage(here / "bad.jsonl", 3)
    with gssbo.Optimizer([(0.0, 1.0)], journal="free.jsonl") as free:
        free.tell([0.5], 1.0)
    capsys.readouterr()
    with gssbo.Optimizer([(0.0, 1.0)], journal="held.jsonl") as held:
        held.tell([0.5], 1.0)
        with pytest.raises(SystemExit) as exit_:
            main(arguments)
    assert exit_.value.code == 2
    err = capsys.readouterr().err
    assert len(err.splitlines()) == 1 and err.startswith(f"gssbo {arguments[0]}: error: ")
    assert message in err


def damage(path, number):
    """Cut the end of a line off, by its number counted from 1."""
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[: number - 1], lines[number - 1][:-9] + b"\n", *lines[number:]]))


@pytest.mark.parametrize(
    "arguments",
    [
        ["best", "run.jsonl"],
        ["tell", "run.jsonl", "lr=0.001", "n=3", "act=gelu", "--value", "-1"],
        ["plot", "run.jsonl", "--out", "a.png"],
        ["export", "run.jsonl", "--out", "a.csv"],
        ["compact", "run.jsonl"],
        [*TUNE, "--n-evals", "8", "--journal", "run.jsonl"],
        ["tune", *TUNE[1:2], *TUNE[4:], "--n-evals", "8", "--journal", "run.jsonl"],
    ],
)
def test_a_damaged_line_may_be_left_out(here, capsys, arguments):
    main([*TUNE, "--n-evals", "6", "--journal", "run.jsonl"])
    damage(here / "run.jsonl", 5)  # the header, then asked and told in turn: what came of the second
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(arguments)
    refused = capsys.readouterr().err
    assert "--skip-damaged goes on without that line" in refused and "skip_damaged" not in refused
    assert main([*arguments, "--skip-damaged"]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if "line 5" in line]
    assert said == [f"gssbo {arguments[0]}: warning: run.jsonl: line 5 is damaged and left out"]
    n_told = {"tune": 8, "tell": 6}.get(arguments[0], 5)
    if arguments[0] == "compact":
        assert read_ledger("run.jsonl").n_told == n_told  # whole again
    else:
        with pytest.warns(JournalWarning, match="line 5"):
            assert read_ledger("run.jsonl", skip_damaged=True).n_told == n_told


def test_wrong_arguments_show_the_usage(here, capsys):
    for arguments in ([*TUNE, "--n-evals", "0"], ["tune", COMMAND, "--n-evals", "5"], ["tell", "run.jsonl"]):
        with pytest.raises(SystemExit):
            main(arguments)
        assert capsys.readouterr().err.startswith(f"usage: gssbo {arguments[0]} ")


def test_a_wrong_point_is_refused_and_nothing_told(here, capsys):
    main([*TUNE, "--n-evals", "2", "--journal", "run.jsonl"])
    before = (here / "run.jsonl").read_bytes()
    for point in (["lr=0.001"], ["lr=0.001", "n=9", "act=gelu"], ["lr=0.001", "n=3", "act=tanh"], ["lr"]):
        with pytest.raises(SystemExit):
            main(["tell", "run.jsonl", *point, "--value", "1"])
    assert (here / "run.jsonl").read_bytes() == before


def test_a_command_that_always_fails_ends_the_run(here, capsys):
    wrong = ["tune", f"{PYTHON} no-such.py {{lr}} {{n}} {{act}}", *TUNE[2:5], "--n-evals", "100"]
    for again in range(2):  # what failed in an earlier call does not count
        assert main([*wrong, "--journal", "wrong.jsonl"]) == 1
        said = " ".join(capsys.readouterr().err.split())
        assert "can't open file" in said and "The first 5 evaluations all failed, which ended the run" in said
        assert read_ledger("wrong.jsonl").n_failed == 5 * (again + 1)


def test_earlier_values_do_not_excuse_a_command_that_always_fails(here, capsys):
    assert main([*TUNE, "--n-evals", "6", "--journal", "run.jsonl"]) == 0
    n_failed = read_ledger("run.jsonl").n_failed
    capsys.readouterr()
    wrong = ["tune", f"{PYTHON} no-such.py {{lr}} {{n}} {{act}}", "--n-init", "4", "--quiet", "--n-evals", "40"]
    assert main([*wrong, "--journal", "run.jsonl"]) == 1
    out, err = capsys.readouterr()
    said = " ".join(err.split())
    assert "no evaluation of this call gave a value; the last one: it ended with code 2: " in said
    assert "can't open file" in said
    assert "The first 5 evaluations all failed, which ended the run" in said
    assert "best value" in out  # what the journal has is there all the same
    ledger = read_ledger("run.jsonl")
    assert (ledger.n_told, ledger.n_failed) == (11, n_failed + 5)


def test_a_value_among_the_first_keeps_a_run_going(here):
    (here / "once.py").write_text(
        "import os, sys\nopen('n', 'a').write('x')\nprint(1 if os.path.getsize('n') == 3 else '')"
    )
    command = f"{PYTHON} once.py {{lr}} {{n}} {{act}}"
    assert main(["tune", command, *TUNE[2:], "--n-evals", "9", "--journal", "run.jsonl"]) == 0
    ledger = read_ledger("run.jsonl")
    assert (ledger.n_told, ledger.n_failed) == (9, 8)


# The first two commands give a value, the others stay until they are killed, as does what they start.
SLOW = """
import os, subprocess, sys, time
name = f"pid-{os.getpid()}"
child = None
if len([each for each in os.listdir() if each.startswith("pid-")]) >= 2:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
with open(name + ".new", "w") as file:
    file.write(f"{os.getpid()} {child.pid if child else ''}")
os.rename(name + ".new", name)
if child:
    child.wait()
print(len(name))
"""


def begin_slow(here, *, workers, **options):
    """Start a run of its own process with the signals' default handlers; return it when its last commands run."""
    (here / "slow.py").write_text(SLOW)
    command = f"{PYTHON} slow.py {{lr}} {{n}} {{act}}"
    arguments = ["tune", command, "--space", "space.toml", "--n-evals", "9", "--journal", "run.jsonl"]
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "for number in (signal.SIGTERM, signal.SIGHUP): signal.signal(number, signal.SIG_DFL)\n"
        f"from gssbo.cli import main; sys.exit(main({[*arguments, '--workers', str(workers)]!r}))"
    )
    process = subprocess.Popen([sys.executable, "-c", code], **options)
    deadline = time.monotonic() + 60
    while len([name for name in os.listdir(here) if name.startswith("pid-") and "." not in name]) < 2 + workers:
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.02)
    return process


def assert_no_command_is_left(here):
    pids = [int(word) for path in here.glob("pid-*") for word in path.read_text().split()]
    assert len(pids) >= 6
    deadline = time.monotonic() + 30  # a child of a command is reaped by whoever adopts it
    while any(_alive(pid) for pid in pids):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return not pathlib.Path("/proc/self").exists()  # there is no /proc, or it has ended meanwhile


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_ends_the_commands_too(here, name, code):
    with begin_slow(here, workers=2, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.send_signal(getattr(signal, name))
        if name != "SIGINT":  # as `timeout` does, to the process and to its group
            process.send_signal(getattr(signal, name))
        out, err = process.communicate(timeout=30)  # not the 60 s of the command
    assert process.returncode == code, err
    assert "Traceback" not in err and "best value" in out
    by = "the user, Ctrl-C" if name == "SIGINT" else name
    kept = "what was told is in run.jsonl, and the same line goes on from there"
    assert f"Ended by {by}; {kept}.\n" in out
    assert (f"gssbo tune: ended by {name}; {kept}\n" in err) == (name != "SIGINT")
    assert_no_command_is_left(here)
    ledger = read_ledger("run.jsonl")
    assert (ledger.n_told, ledger.n_failed, len(ledger.pending)) == (2, 0, 2)
    with continue_ledger("run.jsonl") as ledger:  # nobody holds it any more
        ledger.tell(id=ledger.pending[0].id, y=1.0)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_run_that_is_killed_takes_its_commands_along(here):
    with begin_slow(here, workers=2, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        process.kill()
    assert process.returncode == -signal.SIGKILL
    assert_no_command_is_left(here)
    ledger = read_ledger("run.jsonl")
    assert (ledger.n_told, ledger.n_failed, len(ledger.pending)) == (2, 0, 2)


def test_a_run_that_ends_before_any_value_says_why(here, capsys):
    assert main([*TUNE, "--n-evals", "9", "--timeout", "0"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith("gssbo: error: no evaluation gave a value. The time limit is over")


@pytest.mark.skipif(os.name != "posix", reason="terminals")
def test_a_terminal_that_goes_away_ends_the_commands_too(here):
    import pty

    controller, terminal = pty.openpty()
    with begin_slow(here, workers=2, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        os.close(controller)  # from now on writing there is an error
        process.send_signal(signal.SIGHUP)  # the system sends it where the terminal is the controlling one
        process.wait(timeout=30)
    assert process.returncode == 129
    assert_no_command_is_left(here)
    assert read_ledger("run.jsonl").n_told == 2


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_handlers_are_put_back_and_ignored_signals_stay_so():
    def handler(number, frame):
        raise AssertionError("not this one")

    before = signal.signal(signal.SIGTERM, handler), signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with pytest.raises(KeyboardInterrupt), Endings() as endings:
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            signal.raise_signal(signal.SIGHUP)
            assert endings.received is None
            signal.raise_signal(signal.SIGTERM)
        assert (endings.received, endings.code) == (signal.SIGTERM, 143)
        assert signal.getsignal(signal.SIGTERM) is handler
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before[0])
        signal.signal(signal.SIGHUP, before[1])


def test_in_another_thread_tune_handles_no_signals(here):
    codes = []
    thread = threading.Thread(target=lambda: codes.append(main([*TUNE, "--n-evals", "2"])))
    thread.start()
    thread.join(timeout=60)
    assert codes == [0]


def test_a_closed_program_starts_nothing(here):
    program = Program(python("open('ran', 'w'); print({x})"), ["x"])
    program.close()
    with pytest.raises(ProgramFailed, match="not started any more"):
        program({"x": 1})
    assert not (here / "ran").exists()


def test_a_broken_off_journal_may_be_read(here):
    main([*TUNE, "--n-evals", "3", "--journal", "run.jsonl"])
    with (here / "run.jsonl").open("ab") as file:
        file.write(b'{"tell":[[0.0')
    assert len(read_journal("run.jsonl").entries) == 6


# ---- a command that cannot be started


@pytest.mark.skipif(os.name != "posix", reason="permissions")
@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("no-such-program {x}", "got 'no-such-program' .*No such file"),
        ("./text {x}", "got './text' .*Permission denied"),
        ("./empty {x}", "got './empty' .*Exec format error"),
        ("sh -c 'no-such-program $1' sh {x}", "but it ended with code 127: .*not found"),
        ("sh -c './text $1' sh {x}", "but it ended with code 126: .*ermission denied"),
        ("env no-such-program {x}", "but it ended with code 127: .*No such file"),
    ],
)
def test_a_program_that_is_not_there_is_no_fault_of_the_point(here, command, reason):
    (here / "text").write_text("print(1)")
    (here / "empty").touch(mode=0o755)
    with pytest.raises(CannotStart, match=f"^the command must be one that can be started, {reason}"):
        Program(command, ["x"])({"x": 1})


@pytest.mark.skipif(os.name != "posix", reason="permissions")
def test_a_program_of_this_folder_is_pointed_out(here):
    (here / "train.sh").write_text("echo 1")
    with pytest.raises(CannotStart, match=r"got 'train.sh' .*; the file in this folder is ./train.sh$"):
        Program("train.sh {x}", ["x"])({"x": 1})


def test_a_command_without_parameters_is_pointed_out(here, capsys):
    tune = ["tune", python("print(1)"), "--space", "space.toml", "--n-evals", "2"]
    assert main(tune) == 0
    said = "gssbo tune: note: no {name} is in the command; it must read GSSBO_PARAMETERS\n"
    assert capsys.readouterr().err.startswith(said)
    assert main([*tune, "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["tune", "echo {lr} {n} {act} 1", *tune[2:]]) == 0
    assert said not in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_run_without_a_journal_says_that_it_is_over(here, capsys):
    (here / "program.py").write_text(
        "import os, signal, time\n"
        "if os.path.exists('ran'):\n"
        "    os.kill(os.getppid(), signal.SIGINT)\n"
        "    time.sleep(60)\n"
        "open('ran', 'w')\n"
        "print(1)\n"
    )
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main([*TUNE, "--n-evals", "9"]) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().out.endswith(
        "Ended by the user, Ctrl-C; without --journal, nothing goes on from here.\n"
    )


@pytest.mark.skipif(os.name != "posix", reason="a script")
def test_a_program_that_goes_away_fails_no_point(here, capsys):
    script = here / "program"
    script.write_text(f"#!/bin/sh\nexec {PYTHON} program.py $*\n")
    script.chmod(0o755)
    tune = ["tune", "./program {lr} {n} {act}", *TUNE[2:], "--journal", "run.jsonl"]
    assert main([*tune, "--n-evals", "4"]) == 0
    before = read_ledger("run.jsonl")
    script.rename(here / "elsewhere")
    for workers in ("1", "2"):
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit_:
            main([*tune, "--n-evals", "12", "--workers", workers])
        assert exit_.value.code == 2
        out, err = capsys.readouterr()
        assert f"best value {before.best_y:.10g} of 4 evaluations" in out  # what was found is said all the same
        assert err.startswith("gssbo tune: error: the command must be one that can be started, got './program'")
        assert err.endswith("; what was to be evaluated is pending in run.jsonl\n")
        ledger = read_ledger("run.jsonl")
        assert (ledger.n_told, ledger.n_failed, len(ledger.pending)) == (4, before.n_failed, int(workers))
    waiting = [each.x for each in ledger.pending]
    (here / "elsewhere").rename(script)
    assert main([*tune, "--n-evals", "6"]) == 0
    assert read_ledger("run.jsonl").X[4:] == waiting


# ---- the last number of a line


def test_a_json_object_asks_for_its_key(here):
    (here / "program.py").write_text("""print('{"loss": 0.5, "epoch": 3}')""")
    with pytest.raises(ProgramFailed, match="the last line it printed is a JSON object, of which --key must name an"):
        Program(f"{PYTHON} program.py", ["x"])({"x": 1})
    assert Program(f"{PYTHON} program.py", ["x"], key="loss")({"x": 1}) == 0.5


def test_a_value_infinitely_good_is_a_failure_and_not_the_end(here, capsys):
    command = python("n = {n}; print('-inf' if n == 2 else n)")
    pathlib.Path("n.toml").write_text("n = { low = 1, high = 4 }")
    arguments = ["tune", command, "--space", "n.toml", "--n-evals", "4", "--journal", "run.jsonl", "--quiet"]
    assert main(arguments) == 0
    assert "best value 1 of 4 evaluations, 1 of them failed" in capsys.readouterr().out


def test_numbers_are_told_as_people_write_them(here):
    space = {"s": (0.0, 9.0), "n": (1, 8, int), "c": [0.5, 2, "1.", "x"]}
    points = [("s=.5", "n=+3", "c=.5"), ("s=+0.5", "n=03", "c=2."), ("s=1.", "n=3", "c=1."), ("s=1", "n=3", "c=x")]
    with gssbo.Optimizer(space, journal="run.jsonl") as opt:
        opt.enqueue({"s": 0.0, "n": 1, "c": "x"})
    for point in points:
        assert main(["tell", "run.jsonl", *point, "--value", ".5"]) == 0
    told = [tuple(x.values()) for x in read_ledger("run.jsonl").X]
    assert told == [(0.5, 3, 0.5), (0.5, 3, 2), (1.0, 3, "1."), (1.0, 3, "x")]


def test_the_noise_of_a_value_is_told_too(here, capsys):
    with gssbo.Optimizer({"s": (0.0, 9.0)}, journal="run.jsonl", rng=0) as opt:
        opt.ask()
    assert main(["tell", "run.jsonl", "s=3", "--value", "1", "--noise-std", "0.5"]) == 0
    assert main(["tell", "run.jsonl", "--id", "0", "--value", "2", "--noise-std", "0.25"]) == 0
    told = [entry.noise_std.tolist() for entry in read_journal("run.jsonl").entries if entry.kind == "tell"]
    assert told == [[0.5], [0.25]]
    with pytest.raises(SystemExit, match="2"):
        main(["tell", "run.jsonl", "s=4", "--value", "1", "--noise-std=-1"])
    assert "noise_std must be at least 0" in " ".join(capsys.readouterr().err.split())


# ---- a journal as a table


def table(text):
    """Lines of a CSV table as dicts."""
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_a_tuned_run_is_exported_in_the_order_told(here, capsys):
    assert main([*TUNE, "--n-evals", "9", "--journal", "run.jsonl"]) == 0
    with gssbo.Optimizer(read_journal("run.jsonl").space, n_init=4, journal="run.jsonl") as opt:
        opt.ask(ids=True)  # pending
        opt.tell({"lr": 0.1, "n": 7, "act": "gelu"}, failed=True)
    capsys.readouterr()
    assert main(["export", "run.jsonl"]) == 0
    lines = table(capsys.readouterr().out)
    assert list(lines[0]) == ["number", "lr", "n", "act", "value", "failed", "prior"]
    ledger = read_ledger("run.jsonl")
    assert len(lines) == ledger.n_told == 10
    for number, (line, x, y) in enumerate(zip(lines, ledger.X, ledger.y, strict=True), start=1):
        assert (int(line["number"]), line["prior"]) == (number, "false")
        assert {"lr": float(line["lr"]), "n": int(line["n"]), "act": line["act"]} == x
        assert (line["value"], line["failed"]) == ("", "true") if np.isnan(y) else (repr(float(y)), "false")


def test_every_kind_of_value_is_exported(here, capsys):
    space = {
        "b": bool,
        "value": ["a,b", 'c"d', "e\nf", None, 2, 0.5],
        "l": [(8, 16), (True, "x")],
        "number": (0.0, 1.0),
    }
    with gssbo.Optimizer(space, maximize=True, journal="run.jsonl") as opt:
        opt.tell_prior({"b": True, "value": "a,b", "l": (8, 16), "number": 0.1}, 0.1 + 0.2)
        opt.tell({"b": False, "value": "e\nf", "l": (True, "x"), "number": 0.25}, -2.0, noise_std=0.5)
        opt.tell([[True, each, (8, 16), 1.0] for each in ('c"d', None, 2, 0.5)], [1, 2, np.nan, 4])
    assert main(["export", "run.jsonl", "--out", "run.csv"]) == 0
    assert capsys.readouterr().out == "run.csv\n"
    assert (here / "run.csv").read_bytes().decode() == (
        "number_,b,value,l,number,value_,failed,noise_std,prior\n"
        '1,true,"a,b","[8, 16]",0.1,0.30000000000000004,false,,true\n'
        '2,false,"e\nf","[true, ""x""]",0.25,-2.0,false,0.5,false\n'
        '3,true,"c""d","[8, 16]",1.0,1.0,false,,false\n'
        '4,true,null,"[8, 16]",1.0,2.0,false,,false\n'
        '5,true,2,"[8, 16]",1.0,,true,,false\n'
        '6,true,0.5,"[8, 16]",1.0,4.0,false,,false\n'
    )


@pytest.mark.parametrize(
    ("space", "x", "line"),
    [
        ([(0.0, 1.0), (0.0, 9.0)], [0.1, 2.0], "1,0.1,2.0,3.0,false,false"),
        ([(0.0, 1.0), ["u", "v"]], [0.1, "v"], "1,0.1,v,3.0,false,false"),
    ],
)
def test_parameters_without_names_are_exported(here, capsys, space, x, line):
    with gssbo.Optimizer(space, journal="run.jsonl") as opt:
        opt.ask()
        assert main(["export", "run.jsonl"]) == 0  # also while it runs
        opt.tell(x, 3.0)
    assert main(["export", "run.jsonl"]) == 0
    header = "number,x1,x2,value,failed,prior"
    assert capsys.readouterr().out == f"{header}\n{header}\n{line}\n"


def test_a_tuned_journal_opens_as_an_optimizer(here):
    (here / "space.toml").write_text("[b]\nvalues = [true, false]\n[c]\nvalues = ['u', 2, [8, 16]]\n" + SPACE)
    tune = ["tune", "echo {lr} {b} {n} {act} {c} 0.5", *TUNE[2:], "--noisy", "--maximize", "--journal", "run.jsonl"]
    assert main([*tune, "--n-evals", "6"]) == 0
    found = read_journal("run.jsonl")
    with gssbo.Optimizer(found.space, duplicates="allow", maximize=True, n_init=4, journal="run.jsonl") as opt:
        assert opt.n_told == 6 and {type(x["b"]) for x in opt.X} == {bool}
        assert {x["c"] for x in opt.X} <= {"u", 2, (8, 16)}
        opt.tell(opt.ask(), 1.0)
    assert main([*tune, "--n-evals", "8"]) == 0  # and back


# ---- another run than the journal's


@pytest.mark.parametrize(
    ("begun", "again", "message"),
    [
        (["--noisy"], [], "with --noisy, got no --noisy"),
        ([], ["--noisy"], "with no --noisy, got --noisy"),
        ([], ["--maximize"], "with no --maximize, got --maximize"),
        (["--n-init", "1"], [], "with --n-init 1, got no --n-init"),
        (["--n-init", "2"], ["--n-init", "1"], "with --n-init 2, got --n-init 1"),
        ([], ["--method", "box"], "with --method portfolio, got --method box"),
        (["--subset-size", "20"], ["--subset-size", "9"], "with --subset-size 20, got --subset-size 9"),
        (["--seed", "1"], ["--seed", "3"], "with another --seed, got --seed 3; without one, the run goes on with its"),
    ],
)
def test_what_differs_is_named_as_the_command_line_has_it(here, capsys, begun, again, message):
    tune = ["tune", "echo {lr} {n} {act} 0.5", "--quiet", "--journal", "run.jsonl"]
    assert main([*tune, "--n-evals", "1", "--space", "space.toml", *begun]) == 0
    before = (here / "run.jsonl").read_bytes()
    capsys.readouterr()
    with pytest.raises(SystemExit) as exit_:
        main([*tune, "--n-evals", "2", *again])
    assert exit_.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith(f"gssbo tune: error: run.jsonl was begun {message}") and len(err.splitlines()) == 1
    assert (here / "run.jsonl").read_bytes() == before


def test_an_option_that_the_command_line_has_not_is_named_as_it_is(here, capsys):
    with gssbo.Optimizer({"x": (0.0, 1.0)}, initial_design="sobol", journal="run.jsonl") as opt:
        opt.ask()
    with pytest.raises(SystemExit):
        main(["tune", "echo {x}", "--quiet", "--journal", "run.jsonl", "--n-evals", "2"])
    assert "run.jsonl was begun with initial_design='sobol', got 'lhs'" in capsys.readouterr().err


# ---- the best by a model


def test_the_best_by_a_model_is_not_the_luckiest(here, capsys):
    rng = np.random.default_rng(4)
    X = rng.random(60)
    y = -4.0 * (X - 0.3) ** 2 + rng.normal(scale=0.5, size=60)
    points = [{"x": x, "c": "u" if k % 2 else ("v", 1)} for k, x in enumerate(X)]
    with gssbo.Optimizer({"x": (0.0, 1.0), "c": ["u", ("v", 1)]}, maximize=True, journal="run.jsonl") as opt:
        opt.tell_prior(points[:20], y[:20])
        opt.tell(points[20:59], y[20:59])
        opt.tell(points[59], y[59], noise_std=0.1)
        opt.tell({"x": 0.5, "c": "u"}, failed=True)
        opt.ask()
    before = (here / "run.jsonl").read_bytes()
    outputs = []
    for options in ([], ["--by", "observed"], ["--by", "model"], ["--by", "model"]):
        assert main(["best", "run.jsonl", "--json", *options]) == 0
        outputs.append(json.loads(capsys.readouterr().out))
    assert outputs[0] == outputs[1] and outputs[2] == outputs[3]
    observed, found = outputs[0], outputs[2]
    assert observed["value"] == y.max() and "std" not in observed
    assert abs(found["best"]["x"] - 0.3) < 0.15 and abs(found["value"]) < 0.3 and 0.0 < found["std"] < 0.5
    assert abs(observed["best"]["x"] - 0.3) > 0.15
    assert (found["n_told"], found["n_failed"], len(found["pending"])) == (61, 1, 1)
    assert main(["best", "run.jsonl", "--by", "model"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"best mean {found['value']:.10g} (+/- {found['std']:.2g}), by a model of 61 told, 1 of them")
    assert f"\n  x = {found['best']['x']}\n" in out
    assert (here / "run.jsonl").read_bytes() == before


def test_the_best_by_a_model_before_there_is_a_value(here, capsys):
    with gssbo.Optimizer([(0.0, 1.0)], journal="run.jsonl") as opt:
        opt.tell([0.5], failed=True)
    assert main(["best", "run.jsonl", "--by", "model"]) == 0
    assert capsys.readouterr().out == "no value yet: 1 told, 1 of them failed\n"


def test_the_best_in_a_journal_meets_the_linear_constraints(here, capsys):
    space = {"a": (0.0, 1.0), "b": (0.0, 1.0), "act": ["u", "v"]}
    linear = LinearConstraint([1.0, 1.0, 0.0], ub=0.9)
    for constraints in (linear, [NonlinearConstraint(len, 3, 3), linear]):
        path = here / f"{type(constraints).__name__}.jsonl"
        with gssbo.Optimizer(space, constraints=constraints, rng=0, journal=path) as opt:
            opt.tell({"a": 0.5, "b": 0.5, "act": "u"}, -5.0)
            opt.tell({"a": 0.25, "b": 0.5, "act": "v"}, 1.0)
        assert main(["best", str(path), "--json"]) == 0
        out, err = capsys.readouterr()
        assert json.loads(out)["value"] == 1.0
        assert ("a constraint is not in the journal" in err) == (constraints is not linear)
    with gssbo.Optimizer(read_journal(here / "LinearConstraint.jsonl").space, journal="LinearConstraint.jsonl") as opt:
        assert opt.best_y == 1.0 and opt.space.constrained


def test_a_constraint_on_numbers_that_json_does_not_have_leaves_a_journal_readable(here):
    space = [gssbo.Categorical([Fraction(1, 3), Fraction(2, 3)]), (0.0, 1.0)]
    with gssbo.Optimizer(space, constraints=LinearConstraint([1.0, 1.0], ub=1.0), rng=0, journal="run.jsonl") as opt:
        opt.tell(opt.ask(), 1.0)
    assert read_ledger("run.jsonl").best_y == 1.0

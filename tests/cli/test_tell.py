"""`gssbo tell`: a value from the command line."""

import csv
import json
from pathlib import Path

import pytest

import gssbo
from gssbo import Real
from gssbo.cli import main
from gssbo.cli.space_file import read_space
from gssbo.journal import read_journal
from gssbo.recorded import read_ledger
from tests.commands import TUNE


@pytest.mark.parametrize("text", ["True", "true"])
def test_a_switch_is_told_as_it_is_printed(here, capsys, text):
    with gssbo.Optimizer({"b": bool, "c": [None, 2, "x"]}, journal="run.jsonl") as opt:
        opt.tell({"b": False, "c": 2}, 1.0)
    assert main(["tell", "run.jsonl", f"b={text}", "c=None", "--value", "0.5"]) == 0
    assert main(["best", "run.jsonl"]) == 0
    assert "b = true\n  c = null\n" in capsys.readouterr().out
    assert read_ledger("run.jsonl").best_x == {"b": True, "c": None}


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


@pytest.mark.parametrize("text", ["-1e-3", "-2.5E+05", "-.5", "-1"])
def test_negative_numbers_need_no_equals_sign(here, text):
    with gssbo.Optimizer({"x": (0.0, 1.0)}, journal="run.jsonl") as opt:
        opt.enqueue({"x": 0.25})
        opt.ask()
    assert main(["tell", "run.jsonl", "--id", "0", "--value", text]) == 0
    assert main(["tell", "run.jsonl", "x=0.5", f"--value={text}"]) == 0
    assert read_ledger("run.jsonl").y.tolist() == [float(text)] * 2


def test_a_pending_suggestion_is_told_by_its_number(here, capsys):
    with gssbo.Optimizer(read_space(here / "space.toml"), journal="run.jsonl") as opt:
        waiting = opt.ask(2, ids=True)
    assert main(["best", "run.jsonl"]) == 0
    assert "pending 1: " in capsys.readouterr().out
    assert main(["tell", "run.jsonl", "--id", "1", "--value", "2.5"]) == 0
    ledger = read_ledger("run.jsonl")
    assert [waiting[1].x] == ledger.X and [each.id for each in ledger.pending] == [0]


def test_why_an_evaluation_failed_is_said_and_shown(here, capsys):
    assert main([*TUNE, "--n-evals", "9", "--journal", "run.jsonl"]) == 0
    with gssbo.Optimizer(read_journal("run.jsonl").space, n_init=4, journal="run.jsonl") as opt:
        known = [failure.reason for failure in opt.failures]
        first, second = opt.ask(2, ids=True)
    point = ["lr=0.1", "n=2", "act=gelu"]
    tell = ["tell", "run.jsonl", "--failed"]
    assert main([*tell, "--id", str(second.id)]) == 0
    assert main([*tell, *point, "--reason", "the lab was closed"]) == 0
    assert main([*tell, *point, "--prior", "--reason", 'as ever, "dusty"']) == 0
    assert main([*tell, "--id", str(first.id), "--reason", "no"]) == 0
    for _ in range(2):
        assert main([*tell, "--id", str(second.id), "--reason", "out of\nmemory"]) == 0  # said later, and again
    said = ["out of\nmemory", "the lab was closed", 'as ever, "dusty"', "no"]
    ledger = read_ledger("run.jsonl")
    assert [failure.reason for failure in ledger.failures] == known + said
    capsys.readouterr()
    assert main(["best", "run.jsonl"]) == 0
    assert "\nthe last failure: no\n" in capsys.readouterr().out
    assert main(["best", "run.jsonl", "--json"]) == 0
    shown = [reason.removeprefix("ProgramFailed: ") for reason in known] + said
    assert json.loads(capsys.readouterr().out)["failures"] == shown
    assert main(["export", "run.jsonl", "--out", "run.csv"]) == 0
    with open("run.csv", newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    assert [line["reason"] for line in lines if line["failed"] == "true"] == shown
    assert {line["reason"] for line in lines if line["failed"] == "false"} == {""}


@pytest.mark.parametrize("outcome", [["--value", "1"], ["--from", "old.csv"]])
def test_a_reason_is_of_a_failure(here, capsys, outcome):
    (here / "old.csv").write_text("x,value\n0.5,\n")
    with gssbo.Optimizer({"x": (0.0, 1.0)}, journal="run.jsonl") as opt:
        opt.enqueue({"x": 0.25})
    point = ["x=0.5"] * (outcome[0] == "--value")
    with pytest.raises(SystemExit):
        main(["tell", "run.jsonl", *point, *outcome, "--reason", "late"])
    assert "--reason" in capsys.readouterr().err and read_ledger("run.jsonl").n_told == 0


def test_a_wrong_point_is_refused_and_nothing_told(here, capsys):
    main([*TUNE, "--n-evals", "2", "--journal", "run.jsonl"])
    before = (here / "run.jsonl").read_bytes()
    for point in (["lr=0.001"], ["lr=0.001", "n=9", "act=gelu"], ["lr=0.001", "n=3", "act=tanh"], ["lr"]):
        with pytest.raises(SystemExit):
            main(["tell", "run.jsonl", *point, "--value", "1"])
    assert (here / "run.jsonl").read_bytes() == before


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


@pytest.mark.parametrize(
    "words",
    [
        ["run.jsonl", "--value", "0.5", "a=x", "a=b=y=z"],
        ["--value", "0.5", "run.jsonl", "a=x", "--prior", "a=b=y=z"],
        ["run.jsonl", "a=b=y=z", "--value", "0.5", "--", "a=x"],
    ],
)
def test_options_stand_anywhere_and_names_may_hold_what_ends_them(here, words):
    with gssbo.Optimizer({"a": ["x", "b=x"], "a=b": ["x", "y=z"]}, journal="run.jsonl") as opt:
        opt.enqueue([{"a": "b=x", "a=b": text} for text in ("x", "y=z")])
        opt.ask(2)
    assert main(["tell", *words]) == 0
    assert read_ledger("run.jsonl").best_x == {"a": "x", "a=b": "y=z"}
    assert main(["forget", "run.jsonl", "0", "--wait", "1", "1"]) == 0
    assert read_ledger("run.jsonl").pending == []


def test_a_name_that_looks_like_an_option_stands_behind_two_dashes(here):
    with gssbo.Optimizer({"--x": (0.0, 1.0)}, journal="run.jsonl") as opt:
        opt.ask()
    assert main(["tell", "run.jsonl", "--value", "0.5", "--", "--x=0.25"]) == 0
    assert read_ledger("run.jsonl").best_x == {"--x": 0.25}


def test_text_that_stands_for_two_values_is_refused(here, capsys):
    with gssbo.Optimizer({"c": [True, "true", "x", 1.5, "1.5"]}, journal="run.jsonl") as opt:
        opt.tell({"c": "x"}, 1.0)
    assert main(["tell", "run.jsonl", "c=x", "--value", "0.5"]) == 0
    with pytest.raises(SystemExit):
        main(["tell", "run.jsonl", "c=true", "--value", "0.25"])
    assert "c must say which value it is, got 'true', which stands for true and \"true\"" in capsys.readouterr().err
    assert read_ledger("run.jsonl").n_told == 2


def test_a_line_that_is_waited_for_may_hold_such_text(here):
    with gssbo.Optimizer({"c": ["true", True, "x"]}, journal="run.jsonl") as opt:
        opt.enqueue([{"c": "true"}, {"c": "x"}])
        opt.ask(2)
    Path("run.csv").write_text("suggestion,c,value\n0,true,\n1,x,0.5\n")
    assert main(["tell", "run.jsonl", "--from", "run.csv"]) == 0
    assert [each.id for each in read_ledger("run.jsonl").pending] == [0]


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ([True, "true"], "true"),
        ([True, "true"], "TRUE"),
        ([1, "1", 2], "1"),
        ([1, "1", "1.5"], "1.0"),
        ([0.5, "0.5"], ".5"),
    ],
)
def test_of_text_that_stands_for_two_values_a_number_says_which(here, capsys, values, text):
    with gssbo.Optimizer({"c": values, "n": (0, 9, int)}, duplicates="allow", journal="run.jsonl") as opt:
        opt.enqueue([{"c": value, "n": 3} for value in values[:2] * 2])
        opt.ask(4)
        opt.tell(id=2, y=1.0)
        opt.forget(id=3)
    table = f"suggestion,c,n,value\n0,{text},4,0.25\n1,{text},3,0.5\n2,{text},3,1.0\n3,{text},3,2\n"
    Path("run.csv").write_text(table)
    assert main(["tell", "run.jsonl", "--from", "run.csv"]) == 0
    ledger = read_ledger("run.jsonl")
    assert [(x["c"], x["n"]) for x in ledger.X] == [(values[0], 3), (values[0], 4), (values[1], 3), (values[1], 3)]
    assert [type(x["c"]) for x in ledger.X] == [type(values[k]) for k in (0, 0, 1, 1)]
    for wrong, options in (
        (table.replace("\n0,", "\n,"), []),
        (table, ["--prior"]),
        (table.replace("\n3,", "\n99,"), []),
    ):
        Path("run.csv").write_text(wrong)
        with pytest.raises(SystemExit):
            main(["tell", "run.jsonl", "--from", "run.csv", *options])
        assert f"c must say which value it is, got {text!r}, which stands for" in capsys.readouterr().err
    assert read_ledger("run.jsonl").n_told == 4


def test_what_is_written_as_another_value_was_evaluated_instead(here):
    with gssbo.Optimizer({"c": ["1", "1.0", True, "x"]}, journal="run.jsonl") as opt:
        opt.enqueue([{"c": "1.0"}, {"c": True}])
        opt.ask(2)
    Path("run.csv").write_text("suggestion,c,value\n0,1,0.25\n1,x,0.5\n")
    assert main(["tell", "run.jsonl", "--from", "run.csv"]) == 0
    assert read_ledger("run.jsonl").X == [{"c": "1"}, {"c": "x"}]

"""`gssbo export`: a journal as a table of evaluations."""

import csv
import io

import numpy as np
import pytest

import gssbo
from gssbo.cli import main
from gssbo.journal import read_journal
from gssbo.recorded import read_ledger
from tests.commands import SPACE, TUNE


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
    assert list(lines[0]) == ["number", "lr", "n", "act", "value", "failed", "reason", "prior"]
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


def test_any_reason_is_exported(here, capsys):
    with gssbo.Optimizer({"reason": (0.0, 1.0)}, journal="run.jsonl") as opt:
        opt.tell({"reason": 0.5}, failed=True, reason="three \ud800, or\nfour")
        opt.tell({"reason": 0.25}, 1.0, noise_std=0.5)
    assert main(["export", "run.jsonl", "--out", "run.csv"]) == 0
    assert (here / "run.csv").read_bytes().decode() == (
        "number,reason,value,failed,reason_,noise_std,prior\n"
        '1,0.5,,true,"three \\ud800, or\nfour",,false\n'
        "2,0.25,1.0,false,,0.5,false\n"
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

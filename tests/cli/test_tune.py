"""`gssbo tune`: any program, by its command line; and the commands that take up what it leaves."""

import json
import os
import pathlib

import numpy as np
import pytest

import gssbo
from gssbo.cli import main
from gssbo.recorded import read_ledger
from tests.commands import COMMAND, PYTHON, TUNE, python


def loss(x):
    return (np.log10(x["lr"]) + 3) ** 2 + 0.1 * (x["n"] - 3) ** 2 + (x["act"] == "relu")


def test_no_parameter_has_the_name_of_the_value_file(here, capsys):
    (here / "space.toml").write_text("[value_file]\nlow = 0\nhigh = 1\n")
    with pytest.raises(SystemExit) as exit_:
        main(["tune", f"{python('print(1)')} {{value_file}}", "--space", "space.toml", "--n-evals", "5", "--quiet"])
    assert exit_.value.code == 2
    assert "a parameter must have another name than value_file" in capsys.readouterr().err


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


def test_wrong_arguments_show_the_usage(here, capsys):
    for arguments in ([*TUNE, "--n-evals", "0"], ["tune", COMMAND, "--n-evals", "5"], ["tell", "run.jsonl"]):
        with pytest.raises(SystemExit):
            main(arguments)
        assert capsys.readouterr().err.startswith(f"usage: gssbo {arguments[0]} ")


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


def test_a_run_that_ends_before_any_value_says_why(here, capsys):
    assert main([*TUNE, "--n-evals", "9", "--timeout", "0"]) == 1
    said = " ".join(capsys.readouterr().err.split())
    assert said.startswith("gssbo: error: no evaluation gave a value. The time limit is over")


# ---- a command that cannot be started


def test_a_command_without_parameters_is_pointed_out(here, capsys):
    tune = ["tune", python("print(1)"), "--space", "space.toml", "--n-evals", "2"]
    assert main(tune) == 0
    said = "gssbo tune: note: no {name} is in the command; it must read GSSBO_PARAMETERS\n"
    assert capsys.readouterr().err.startswith(said)
    assert main([*tune, "--quiet"]) == 0
    assert capsys.readouterr().err == ""
    assert main(["tune", "echo {lr} {n} {act} 1", *tune[2:]]) == 0
    assert said not in capsys.readouterr().err


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


def test_a_value_infinitely_good_is_a_failure_and_not_the_end(here, capsys):
    command = python("n = {n}; print('-inf' if n == 2 else n)")
    pathlib.Path("n.toml").write_text("n = { low = 1, high = 4 }")
    arguments = ["tune", command, "--space", "n.toml", "--n-evals", "4", "--journal", "run.jsonl", "--quiet"]
    assert main(arguments) == 0
    assert "best value 1 of 4 evaluations, 1 of them failed" in capsys.readouterr().out


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

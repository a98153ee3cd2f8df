"""`gssbo ask`, `gssbo forget`: suggestions that are evaluated elsewhere, and how their values come back."""

import csv
import io
import json
import os
import shlex
import sys
import threading
import time

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

import gssbo
from gssbo.cli import main
from gssbo.cli.begin import options_of
from gssbo.exceptions import JournalError, JournalInUse
from gssbo.journal.record import read_header
from gssbo.recorded import read_ledger

SPACE = """
[lr]
low = 1e-5
high = 0.1
log = true
[n]
low = 1
high = 8
[act]
values = ["relu", "a 'b'", "$HOME"]
[sizes]
values = [[8, 16], [32]]
"""
BEGIN = ["ask", "lab.jsonl", "--space", "space.toml", "--seed", "1"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    (tmp_path / "space.toml").write_text(SPACE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def output(capsys, *arguments, code=0):
    capsys.readouterr()
    assert main(list(arguments)) == code
    return capsys.readouterr().out


def refusal(capsys, *arguments):
    capsys.readouterr()
    with pytest.raises(SystemExit) as exit_:
        main(list(arguments))
    assert exit_.value.code == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err


def filled(path, values):
    """Write values into the table that `ask --out` made, one a line."""
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header[0] == "suggestion" and header[-1] == "value" and all(row[-1] == "" for row in rows)
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *([*row[:-1], value] for row, value in zip(rows, values, strict=True))])


# ---- there and back


def test_suggestions_are_those_of_python_and_told_as_they_are_printed(here, capsys):
    lines = output(capsys, *BEGIN, "-n", "4").splitlines()
    with gssbo.Optimizer(read_ledger("lab.jsonl").space, rng=1) as opt:
        assert [each.x for each in read_ledger("lab.jsonl").pending] == opt.ask(4)
    for k in (2, 0):
        number, _, words = lines[k].partition(": ")
        assert int(number) == k
        assert main(["tell", "lab.jsonl", *shlex.split(words), "--value", str(k)]) == 0
    assert main(["tell", "lab.jsonl", "--id", "3", "--failed"]) == 0
    ledger = read_ledger("lab.jsonl")
    assert [each.id for each in ledger.pending] == [1] and (ledger.n_told, ledger.best_y) == (3, 0.0)


def test_a_loop_of_ask_and_tell_is_the_run_of_python(here, capsys):
    def loss(x):
        return (np.log10(x["lr"]) + 3) ** 2 + 0.1 * (x["n"] - 3) ** 2

    for _ in range(9):
        (found,) = json.loads(output(capsys, *BEGIN, "--n-init", "4", "--json"))["suggestions"]
        assert main(["tell", "lab.jsonl", "--id", str(found["id"]), "--value", str(loss(found["x"]))]) == 0
    ledger = read_ledger("lab.jsonl")
    opt = gssbo.Optimizer(ledger.space, n_init=4, rng=1)
    for x in ledger.X:
        assert opt.ask() == x
        opt.tell(x, loss(x))


@pytest.mark.parametrize("space", [[(0.0, 1.0), (-5.0, 5.0)], [range(9), ["u", "v"]]], ids=["array", "list"])
def test_parameters_without_names_go_by_their_numbers(here, capsys, space):
    with gssbo.Optimizer(space, rng=0, journal="lab.jsonl") as opt:
        opt.tell(opt.ask(), 1.0)
    (found,) = json.loads(output(capsys, "ask", "lab.jsonl", "--json"))["suggestions"]
    assert output(capsys, "ask", "lab.jsonl", "--pending") == (f"1: x1={found['x'][0]} x2={found['x'][1]}\n")
    assert main(["tell", "lab.jsonl", f"x1={found['x'][0]}", f"x2={found['x'][1]}", "--value", "1"]) == 0
    assert not read_ledger("lab.jsonl").pending


def test_a_table_is_told_as_far_as_it_is_filled_in(here, capsys):
    assert output(capsys, *BEGIN, "-n", "4", "--out", "today.csv") == "today.csv\n"
    tell = ["tell", "lab.jsonl", "--from", "today.csv"]
    assert "0 of 0 observations in today.csv added; without a value yet: 4" in output(capsys, *tell)
    filled(here / "today.csv", ["2.5", "", "nan", ""])
    assert "2 of 2 observations in today.csv added; without a value yet: 2" in output(capsys, *tell)
    assert "0 of 2 observations in today.csv added; 2 were in the journal already" in output(capsys, *tell)
    ledger = read_ledger("lab.jsonl")
    assert [each.id for each in ledger.pending] == [1, 3]
    assert (ledger.n_told, ledger.n_failed, ledger.best_y) == (2, 1, 2.5)


def test_what_was_evaluated_instead_answers_by_its_number(here, capsys):
    """As where a spreadsheet rounds, or a robot sets what it can."""
    output(capsys, *BEGIN, "-n", "2", "--out", "today.csv")
    rounded = (here / "today.csv").read_text().splitlines()
    rounded[2] = f"1.0,0.02,{rounded[2].split(',', 2)[2]}7"
    (here / "today.csv").write_text("\n".join(rounded))
    assert main(["tell", "lab.jsonl", "--from", "today.csv"]) == 0
    ledger = read_ledger("lab.jsonl")
    assert [each.id for each in ledger.pending] == [0] and ledger.best_x["lr"] == 0.02


def test_equal_values_at_one_point_answer_each_suggestion(here):
    (here / "space.toml").write_text("[x]\nvalues = ['u', 'v']\n")
    for name in ("one.csv", "two.csv"):
        assert main(["ask", "lab.jsonl", "--space", "space.toml", "--noisy", "-n", "2", "--out", name]) == 0
        filled(here / name, ["1", "1"])
        assert main(["tell", "lab.jsonl", "--from", name]) == 0
    ledger = read_ledger("lab.jsonl")
    assert (ledger.n_told, ledger.pending) == (4, [])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("7", "1")], "id must be of a suggestion, got 7 where 3 were asked"),
        ([("0", "9"), ("1", "1")], "y must be the value told before for suggestion 0, 5.0, got 9.0"),
        ([("1", "1"), ("1", "2")], "today.csv: line 3: suggestion must be there once, got '1'"),
        ([("one", "1")], "today.csv: line 2: suggestion must be the number of a suggestion, or empty, got 'one'"),
        ([("-1", "1")], "line 2: suggestion must be the number of a suggestion, or empty, got '-1'"),
        ([("1.5", "1")], "line 2: suggestion must be the number of a suggestion, or empty, got '1.5'"),
        ([("1", "x")], "line 2: value must be a number"),
    ],
)
def test_of_a_table_with_a_wrong_number_nothing_is_told(here, capsys, rows, message):
    output(capsys, *BEGIN, "-n", "3")
    assert main(["tell", "lab.jsonl", "--id", "0", "--value", "5"]) == 0
    before = (here / "lab.jsonl").read_bytes()
    x = ",".join(["0.01", "3", "relu", "[32]"])
    point = read_ledger("lab.jsonl").X[0]
    told = f'{point["lr"]},{point["n"]},"{point["act"]}","{json.dumps(point["sizes"])}"'
    lines = [f"{number},{told if number == '0' else x},{value},0.1" for number, value in rows]
    extra = f",{x},3,0.2"  # a line without a number, and with another noise
    (here / "today.csv").write_text("\n".join(["suggestion,lr,n,act,sizes,value,noise_std", *lines, extra]))
    assert message in refusal(capsys, "tell", "lab.jsonl", "--from", "today.csv")
    assert (here / "lab.jsonl").read_bytes() == before


def test_what_was_made_before_the_run_answers_nothing(here, capsys):
    output(capsys, *BEGIN, "-n", "2", "--out", "old.csv")
    filled(here / "old.csv", ["1", ""])
    other = ["ask", "new.jsonl", "--space", "space.toml", "--from", "old.csv"]
    assert output(capsys, *other).startswith("0: lr=")
    assert output(capsys, *other).startswith("1: lr=")  # and the table is told once
    ledger = read_ledger("new.jsonl")
    assert (ledger.n_told, ledger.n_prior, len(ledger.pending)) == (1, 1, 2)


def test_a_parameter_may_be_called_suggestion(here, capsys):
    (here / "space.toml").write_text("[suggestion]\nlow = 0.0\nhigh = 1.0\n[value]\nlow = 0.0\nhigh = 1.0\n")
    output(capsys, *BEGIN, "--out", "today.csv")
    text = (here / "today.csv").read_text()
    assert text.startswith("suggestion_,suggestion,value,value_\n0,")
    (here / "today.csv").write_text(text.rstrip("\n") + "3\n")
    assert main(["tell", "lab.jsonl", "--from", "today.csv"]) == 0
    assert read_ledger("lab.jsonl").best_y == 3.0 and not read_ledger("lab.jsonl").pending


# ---- whose run it is


def test_what_began_a_run_need_not_be_said_again(here, capsys):
    begun = ["--maximize", "--noisy", "--n-init", "3", "--subset-size", "50"]
    output(capsys, *BEGIN, *begun)
    assert output(capsys, "ask", "lab.jsonl").startswith("1: ")
    assert output(capsys, *BEGIN, *begun).startswith("2: ")
    before = (here / "lab.jsonl").read_bytes()
    for arguments, message in [
        (["--n-init", "4"], "lab.jsonl was begun with --n-init 3, got --n-init 4"),
        (["--method", "box"], "lab.jsonl was begun with --method portfolio, got --method box"),
        (["--seed", "2"], "lab.jsonl was begun with another --seed, got --seed 2"),
    ]:
        assert message in refusal(capsys, "ask", "lab.jsonl", *arguments)
    assert (here / "lab.jsonl").read_bytes() == before


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"method": "turbo"},
        {"method": "gssbo-residual", "subset_size": 30, "n_candidates": 100},
        {"method": "gp-ucb"},
        {"rule": "residual", "pool": 150, "acquisition_options": {"beta": 1.5}},
        {"initial_design": "sobol", "n_init": 2, "maximize": True, "duplicates": "allow"},
    ],
)
def test_the_options_of_any_run_are_in_its_journal(here, capsys, options):
    with gssbo.Optimizer({"x": (0.0, 1.0)}, journal="lab.jsonl", **options) as opt:
        opt.tell(opt.ask(), 1.0)
    assert output(capsys, "ask", "lab.jsonl").startswith("1: x=")
    found = options_of(read_header("lab.jsonl"))
    assert found == {"method": opt.method} | options


def test_what_only_python_has_is_refused(here, capsys):
    with gssbo.Optimizer({"x": (0.0, 1.0)}, surrogate=gssbo.GaussianProcess(), journal="model.jsonl") as opt:
        opt.ask()
    assert "was begun with surrogate='GaussianProcess', got None" in refusal(capsys, "ask", "model.jsonl")
    rule = NonlinearConstraint(lambda x: x["x"], 0.0, 0.5)
    with gssbo.Optimizer({"x": (0.0, 1.0)}, constraints=rule, journal="rule.jsonl") as opt:
        opt.ask()
    for command in (["ask"], ["tune", "echo {x}", "--n-evals", "3", "--quiet", "--journal"]):
        assert "rule.jsonl must be of a run without constraints that are functions" in refusal(
            capsys, *command, "rule.jsonl"
        )


def test_linear_constraints_go_on(here, capsys):
    rule = LinearConstraint([[1.0, 1.0]], ub=0.5)
    with gssbo.Optimizer({"x": (0.0, 1.0), "y": (0.0, 1.0)}, constraints=rule, rng=0, journal="lab.jsonl") as opt:
        opt.ask()
    output(capsys, "ask", "lab.jsonl", "-n", "9")
    assert main(["tune", "echo {x} {y}", "--n-evals", "12", "--quiet", "--journal", "lab.jsonl"]) == 0
    assert all(x["x"] + x["y"] <= 0.5 for x in read_ledger("lab.jsonl").X)


@pytest.mark.parametrize("content", [None, b"", b'{"gssbo":1,"ver'])
def test_a_run_begins_with_a_space(here, capsys, content):
    if content is not None:
        (here / "lab.jsonl").write_bytes(content)
    err = refusal(capsys, "ask", "lab.jsonl")
    assert "--space must be given to begin a run" in err and err.startswith("usage: gssbo ask ")
    assert output(capsys, *BEGIN).startswith("0: ")


# ---- what may go wrong


def test_a_table_is_never_written_over(here, capsys):
    output(capsys, *BEGIN, "--out", "today.csv")
    before = {name: (here / name).read_bytes() for name in ("today.csv", "lab.jsonl")}
    for out in ("today.csv", "lab.jsonl", "."):
        assert f"--out must be a new file, as values may be filled in there, got {out}" in refusal(
            capsys, "ask", "lab.jsonl", "--out", out
        )
    assert {name: (here / name).read_bytes() for name in before} == before


def test_what_cannot_be_written_is_listed_again(here, capsys):
    err = refusal(capsys, *BEGIN, "--out", "no/today.csv")
    assert "`gssbo ask lab.jsonl --pending` has what was to be written" in err
    assert output(capsys, "ask", "lab.jsonl", "--pending", "--out", "today.csv") == "today.csv\n"
    assert (here / "today.csv").read_text().splitlines()[1].startswith("0,")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_names_are_printed_as_far_as_the_output_has_them(here, monkeypatch, encoding):
    with gssbo.Optimizer({"größe": ["süß", "日本"]}, journal="lab.jsonl") as opt:
        opt.enqueue([{"größe": "süß"}, {"größe": "日本"}])
    for command in (["ask", "lab.jsonl", "-n", "2"], ["ask", "lab.jsonl", "--pending"]):
        output = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
        monkeypatch.setattr(sys, "stdout", output)
        assert main(command) == 0
        printed = output.buffer.getvalue().decode(encoding)
        wanted = "0: 'größe=süß'\n1: 'größe=日本'\n"
        assert printed == wanted.encode(encoding, "backslashreplace").decode(encoding)
        assert output.errors == "strict"


def test_the_end_of_a_finite_space(here, capsys):
    (here / "space.toml").write_text("[n]\nlow = 1\nhigh = 3\n")
    capsys.readouterr()
    assert main([*BEGIN, "-n", "5"]) == 0
    out, err = capsys.readouterr()
    assert len(out.splitlines()) == 3
    assert err == "gssbo ask: note: nothing more is left to suggest than 3 of 5\n"
    assert main(BEGIN) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("gssbo ask: error: nothing is left to suggest")


def test_a_damaged_line_may_be_left_out(here, capsys):
    output(capsys, *BEGIN, "-n", "2")
    assert main(["tell", "lab.jsonl", "--id", "0", "--value", "1"]) == 0
    lines = (here / "lab.jsonl").read_bytes().splitlines(keepends=True)
    (here / "lab.jsonl").write_bytes(b"".join([*lines[:2], b'{"tell"\n', *lines[2:]]))
    for arguments in (["ask"], ["ask", "--pending"], ["forget", "--all"]):
        command = [arguments[0], "lab.jsonl", *arguments[1:]]
        assert "lab.jsonl is damaged in line 3" in refusal(capsys, *command)
        assert main([*command, "--skip-damaged"]) == 0


# ---- forgetting


def test_suggestions_are_forgotten_by_number_or_all(here, capsys):
    output(capsys, *BEGIN, "-n", "4")
    assert output(capsys, "forget", "lab.jsonl", "2", "0", "2") == "2 forgotten, 2 pending\n"
    assert [each.id for each in read_ledger("lab.jsonl").pending] == [1, 3]
    before = (here / "lab.jsonl").read_bytes()
    err = refusal(capsys, "forget", "lab.jsonl", "1", "2", "9")
    assert err == "gssbo forget: error: numbers must be of pending suggestions, got 2, 9; pending: 1, 3\n"
    for arguments in ([], ["1", "--all"]):
        assert "either numbers of pending suggestions must be given, or --all" in refusal(
            capsys, "forget", "lab.jsonl", *arguments
        )
    assert (here / "lab.jsonl").read_bytes() == before
    assert output(capsys, "forget", "lab.jsonl", "--all") == "2 forgotten, 0 pending\n"
    assert (here / "lab.jsonl").read_bytes().removeprefix(before) == b'{"forget":null,"id":[1,3]}\n'
    assert output(capsys, "forget", "lab.jsonl", "--all") == "0 forgotten, 0 pending\n"
    assert main(["tell", "lab.jsonl", "--id", "2", "--value", "1"]) == 0  # all the same
    assert output(capsys, "ask", "lab.jsonl").startswith("4: ")


# ---- taking turns


@pytest.mark.parametrize(
    "arguments", [["ask"], ["forget", "--all"], ["tell", "--id", "0", "--value", "1"]], ids=lambda each: each[0]
)
def test_who_comes_meanwhile_may_wait(here, capsys, arguments):
    output(capsys, *BEGIN)
    command = [arguments[0], "lab.jsonl", *arguments[1:]]
    with gssbo.Optimizer(read_ledger("lab.jsonl").space, journal="lab.jsonl") as opt:
        with pytest.raises(JournalInUse):
            gssbo.Optimizer(opt.space, journal="lab.jsonl")
        assert "lab.jsonl is being written by" in refusal(capsys, *command)
        begin = time.monotonic()
        assert "lab.jsonl is being written by" in refusal(capsys, *command, "--wait", "0.3")
        assert time.monotonic() - begin >= 0.3
        assert output(capsys, "ask", "lab.jsonl", "--pending").startswith("0: ")  # only reads
        later = threading.Timer(0.3, opt.close)
        later.start()
        assert main([*command, "--wait", "60"]) == 0
        later.join()
    assert "--wait must be at least 0.0, got -1.0" in refusal(capsys, *command, "--wait", "-1")


def test_a_header_that_cannot_be_read_is_named(here):
    (here / "text").write_text("no journal\n")
    with pytest.raises(JournalError, match="a first line that is no header"):
        read_header("text")
    with pytest.raises(JournalError, match="must be a regular file"):
        read_header(os.curdir)

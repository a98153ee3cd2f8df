"""Observations from a table: `gssbo tell --from`, `gssbo tune --from`, the counterpart of `gssbo export`."""

import csv
import json

import numpy as np
import pytest

import gssbo
from gssbo import Integer, Real
from gssbo.cli import main
from gssbo.cli.table import read_table
from gssbo.journal import read_journal
from gssbo.recorded import read_ledger
from gssbo.space import Space
from tests.commands import PYTHON

SPACE = {
    "lr": Real(1e-5, 0.1, log=True),
    "n": Integer(1, 8),
    "act": ["relu", "gelu"],
    "b": bool,
    "g": Real(0, 1, step=0.25),
}
OLD = "act,lr,n,b,g,value\nrelu,0.001,3,true,0.5,1.5\ngelu,1e-5,8,False,.25,\nrelu,1E-1,1,FALSE,1,nan\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def begin():
    """A journal of a run that was told nothing."""
    with gssbo.Optimizer(SPACE, rng=0, journal="run.jsonl") as opt:
        opt.ask()


def table(here, text, name="old.csv", **options):
    path = here / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table(path, Space(SPACE), **{"maximize": False, **options})


def test_a_table_is_read_as_an_observation_is_told(here):
    found = table(here, OLD)
    assert found.points == [
        {"lr": 0.001, "n": 3, "act": "relu", "b": True, "g": 0.5},
        {"lr": 1e-5, "n": 8, "act": "gelu", "b": False, "g": 0.25},
        {"lr": 0.1, "n": 1, "act": "relu", "b": False, "g": 1},
    ]
    np.testing.assert_array_equal(found.values, [1.5, np.nan, np.nan])
    assert (found.noise_std, found.prior, found.unread) == ([None] * 3, [False] * 3, [])


def test_a_reason_may_be_as_long_as_it_is(here):
    limit = csv.field_size_limit()
    reason = "r" * (2 * limit)
    found = table(here, f"act,lr,n,b,g,value,reason\nrelu,0.001,3,true,0.5,nan,{reason}\n")
    assert found.reasons == [reason] and csv.field_size_limit() == limit


@pytest.mark.parametrize(
    "text",
    [
        OLD.replace(",", "\t"),
        OLD.replace(",", ";"),
        OLD.replace(",", ", "),
        OLD.replace("\n", "\r\n"),
        "\ufeff" + OLD,
        OLD.rstrip("\n"),
        "\n" + OLD.replace("\n", "\n\n") + ",,,,,\n",
        OLD.replace("act", '"act"').replace("relu", '"relu"'),
    ],
)
def test_tables_are_written_in_many_ways(here, text):
    one, other = table(here, text), table(here, OLD)
    assert one.points == other.points
    np.testing.assert_array_equal(one.values, other.values)


def test_other_columns_are_said_and_left_out(here, capsys):
    begin()
    (here / "old.csv").write_text("day,number,lr,n,act,b,g,value\nMonday,7,0.1,1,relu,true,0,2\n")
    capsys.readouterr()
    assert main(["tell", "run.jsonl", "--from", "old.csv"]) == 0
    out, err = capsys.readouterr()
    assert out == "1 of 1 observations in old.csv added\n1 told, best value 2.0\n"
    assert err == "gssbo tell: note: old.csv: columns not read: day\n"


HEADER = "lr,n,act,b,g,value"
GOOD = "0.001,3,relu,true,0.5,1.5"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            [HEADER, GOOD, "1,3,relu,true,0.5,1"],
            "line 3: lr must lie within bounds, got '1'; its bounds are (1e-05, 0.1)",
        ),
        ([HEADER, "", "0.1,2.5,relu,true,0.5,1"], "line 3: n must be a whole number, got '2.5'; its bounds are (1, 8)"),
        ([HEADER, '0.1,2,"re\nlu",true,0.5,1'], "line 2: act must be one of the values, got 're\\nlu'; its values are"),
        (
            [HEADER, "0.1,2,relu,yes,0.5,1"],
            "line 2: b must be one of the values, got 'yes'; its values are false, true",
        ),
        ([HEADER, "0.1,2,relu,true,0.3,1"], "line 2: g must lie on the steps, got '0.3'; its bounds are (0.0, 1.0) in"),
        ([HEADER, "0.1,2,relu,true,,1"], "line 2: g must be a real number, got ''"),
        ([HEADER, GOOD, "0.1,2,relu,true,0,bad"], "line 3: value must be a number, or empty or nan where the"),
        ([HEADER, "0.1,2,relu,true,0,-inf"], "line 2: value must be finite: no failure is infinitely good, got '-inf'"),
        ([HEADER, GOOD, "0.1,2,relu,true,0"], "line 3 must have 6 fields, as the header has, got 5"),
        ([HEADER, '0.1,2,"relu,true,0,1'], "line 2 must be a line of a table, got unexpected end of data"),
        (
            [],
            "line 1 must be a header that names the columns lr, n, act, b, g, value; missing: lr, n, act",
        ),
        (["lr;n;act;b;g;loss"], "missing: value; got lr, n, act, b, g, loss"),
        ([HEADER + ",n"], "line 1 must name each column once, got n again"),
        ([HEADER + ",failed", GOOD + ",maybe"], "line 2: failed must be true or false, or empty, got 'maybe'"),
        ([HEADER + ",failed", GOOD[:-3] + ",false"], "line 2: value must be a number, or empty or nan where the"),
        ([HEADER + ",prior", GOOD + ",1"], "line 2: prior must be true or false, or empty, got '1'"),
        ([HEADER + ",noise_std", GOOD + ",-1"], "line 2: noise_std must be at least 0 and finite, or empty, got '-1'"),
        ([HEADER + ",noise_std", GOOD + ",x"], "line 2: noise_std must be at least 0 and finite, or empty, got 'x'"),
        (
            [HEADER + ",reason", GOOD + ",dust"],
            "line 2: reason must be empty where the evaluation did not fail, which `nan` as its value says, got 'dust'",
        ),
        ([HEADER + ",suggestion,reason", GOOD[:-1] + ",0,dust"], "line 2: reason must be empty where the evaluation"),
    ],
)
def test_what_is_wrong_in_a_table_is_named_and_nothing_told(here, capsys, lines, message):
    begin()
    before = (here / "run.jsonl").read_bytes()
    (here / "old.csv").write_text("".join(f"{line}\n" for line in lines))
    for command in (["tell", "run.jsonl"], ["tune", "echo 1", "--n-evals", "2", "--quiet", "--journal", "run.jsonl"]):
        capsys.readouterr()
        with pytest.raises(SystemExit) as exit_:
            main([*command, "--from", "old.csv"])
        assert exit_.value.code == 2
        err = capsys.readouterr().err
        assert err.startswith(f"gssbo {command[0]}: error: old.csv: line ") and message in err
        assert len(err.splitlines()) == 1
        assert (here / "run.jsonl").read_bytes() == before


@pytest.mark.parametrize("content", [None, b"lr,value\n\xff,1\n"])
def test_a_table_that_is_none_is_named(here, content):
    if content is not None:
        (here / "old.csv").write_bytes(content)
    with pytest.raises(ValueError, match=r"^the table must be a CSV or TSV file in UTF-8, got .*old.csv \("):
        read_table(here / "old.csv", Space(SPACE), maximize=False)


def test_the_bad_infinity_is_a_failure_and_so_is_what_is_said_to_be(here):
    text = f"{HEADER},failed\n{GOOD[:-3]}-inf,\n{GOOD},TRUE\n{GOOD},\n"
    np.testing.assert_array_equal(table(here, text, maximize=True).values, [np.nan, np.nan, 1.5])


@pytest.mark.parametrize(
    "arguments", [["lr=0.1"], ["--id", "0"], ["--noise-std", "1"], ["lr=0.1", "--id", "0", "--noise-std", "1"]]
)
def test_a_table_comes_alone(here, capsys, arguments):
    begin()
    (here / "old.csv").write_text(OLD)
    with pytest.raises(SystemExit):
        main(["tell", "run.jsonl", *arguments, "--from", "old.csv"])
    assert "--from must come without a point, --id, --noise-std and --reason" in capsys.readouterr().err


def exported(capsys, journal):
    capsys.readouterr()
    assert main(["export", journal]) == 0
    return capsys.readouterr().out


SPACES = {
    "every kind": {
        "b": bool,
        "value": ["a,b", 'c"d', "e\nf", None, 2, 0.5, " g", "", "TRUE"],
        "l": [(8, 16), (True, "x")],
        "number": (0.0, 1.0),
        "n": Integer(1, 1000, log=True),
        "r": Real(1e-9, 1e9, log=True),
    },
    "reals": [(0.0, 1.0), (0.0, 9.0)],
    "lists": [(0.0, 1.0), ["u", "v", ("w", 1)]],
    "one": {"x": (0.0, 1.0)},
    "one category": [[(1, 2), (3,)]],
}


@pytest.mark.parametrize("maximize", [False, True])
@pytest.mark.parametrize("name", SPACES)
def test_what_is_exported_comes_back(here, capsys, name, maximize):
    with gssbo.Optimizer(SPACES[name], maximize=maximize, duplicates="allow", rng=0, journal="run.jsonl") as opt:
        points = opt.space.show(opt.space.from_unit(np.random.default_rng(1).random((14, opt.space.dim))))
        y = np.random.default_rng(0).normal(size=14)
        y[[3, 9]] = np.nan
        opt.tell_prior(points[:3], y[:3])
        opt.tell_prior(points[3], y[3], reason='it fell\nover, "again"')
        opt.tell(points[4:8], y[4:8])
        opt.tell(points[8:12], y[8:12], noise_std=[0.5, 0.0, 0.25, 1e-9])
        opt.tell(points[12:], y[12:])
        opt.tell(points[:1], y[-1:])  # once more
        opt.tell(points[:1], y[-1:])
    text = exported(capsys, "run.jsonl")
    with gssbo.Optimizer(SPACES[name], maximize=maximize, journal="copy.jsonl") as opt:
        opt.ask()
    (here / "old.csv").write_text(text, newline="")
    assert main(["tell", "copy.jsonl", "--from", "old.csv"]) == 0
    assert "16 of 16 observations in old.csv added" in capsys.readouterr().out
    assert exported(capsys, "copy.jsonl") == text
    one, other = read_ledger("run.jsonl"), read_ledger("copy.jsonl")
    assert one.n_prior == other.n_prior == 4 and list(map(str, one.X)) == list(map(str, other.X))
    assert main(["tell", "copy.jsonl", "--from", "old.csv"]) == 0  # once more changes nothing
    assert "0 of 16 observations in old.csv added; 16 were in the journal already" in capsys.readouterr().out
    assert exported(capsys, "copy.jsonl") == text


def test_a_table_answers_what_is_pending(here):
    with gssbo.Optimizer(SPACE, rng=0, journal="run.jsonl") as opt:
        waiting = opt.ask(3, ids=True)
    rows = ["".join(json.dumps(value).strip('"') + "," for value in each.x.values()) for each in waiting]
    (here / "old.csv").write_text(f"{HEADER}\n{rows[2]}2\n{rows[0]}\n")
    assert main(["tell", "run.jsonl", "--from", "old.csv"]) == 0
    ledger = read_ledger("run.jsonl")
    assert [each.id for each in ledger.pending] == [1] and (ledger.n_told, ledger.n_failed) == (2, 1)


def test_suggestions_that_failed_say_why_in_a_table(here, capsys):
    with gssbo.Optimizer({"x": (0.0, 1.0)}, rng=0, journal="run.jsonl") as opt:
        first, second, third, fourth = opt.ask(4, ids=True)
    lines = [f"{each.id},{each.x['x']!r}" for each in (first, second, third, fourth)]
    reasons = ["nan,,spilt", ",true,closed", "0.5,,", "nan,,spilt"]
    rows = "".join(f"{line},{reason}\n" for line, reason in zip(lines, reasons, strict=True))
    (here / "old.csv").write_text(f"suggestion,x,value,failed,reason\n{rows},0.5,nan,,by hand\n")
    for n_new in (5, 0):
        assert main(["tell", "run.jsonl", "--from", "old.csv"]) == 0
        assert f"{n_new} of 5 observations" in capsys.readouterr().out
        ledger = read_ledger("run.jsonl")
        assert [failure.reason for failure in ledger.failures] == ["spilt", "closed", "spilt", "by hand"]
        assert [failure.x for failure in ledger.failures] == [first.x, second.x, fourth.x, {"x": 0.5}]
        assert (ledger.n_told, ledger.n_failed) == (5, 4)
    (here / "new.csv").write_text("suggestion,x,value,reason\n99,0.75,nan,none\n")
    before = (here / "run.jsonl").read_bytes()
    with pytest.raises(SystemExit):
        main(["tell", "run.jsonl", "--from", "new.csv"])
    assert (here / "run.jsonl").read_bytes() == before


def test_what_was_made_before_the_run_is_marked(here):
    begin()
    (here / "old.csv").write_text(OLD)
    assert main(["tell", "run.jsonl", "--from", "old.csv", "--prior"]) == 0
    assert main(["tell", "run.jsonl", "lr=0.01", "n=1", "act=relu", "b=true", "g=0", "--value", "1", "--prior"]) == 0
    assert main(["tell", "run.jsonl", "lr=0.02", "n=1", "act=relu", "b=true", "g=0", "--value", "1"]) == 0
    ledger = read_ledger("run.jsonl")
    assert (ledger.n_told, ledger.n_prior) == (5, 4)


def test_a_suggestion_was_not_made_before_the_run(here, capsys):
    begin()
    with pytest.raises(SystemExit):
        main(["tell", "run.jsonl", "--id", "0", "--value", "1", "--prior"])
    assert "--prior must not be given with --id" in capsys.readouterr().err


def test_a_run_begins_with_a_table(here, capsys):
    (here / "space.toml").write_text("[lr]\nlow = 1e-5\nhigh = 0.1\nlog = true\n[n]\nlow = 1\nhigh = 8\n")
    (here / "old.csv").write_text("lr,n,value,noise_std,prior\n0.001,3,-7,0.5,false\n0.002,4,,,\n")
    (here / "program.py").write_text("import sys\nprint(sys.argv[2])\n")
    tune = ["tune", f"{PYTHON} program.py {{lr}} {{n}}", "--from", "old.csv", "--quiet", "--journal", "run.jsonl"]
    assert main([*tune, "--space", "space.toml", "--n-evals", "3"]) == 0
    assert capsys.readouterr().out.startswith("best value -7 of 3 evaluations and 2 made before, 1 of them failed\n")
    (here / "old.csv").write_text("lr,n,value,noise_std,prior\n0.001,3,-7,0.5,false\n0.002,4,,,\n0.003,5,2,,\n")
    assert main([*tune, "--n-evals", "5", "--json"]) == 0  # what the run has is left out, what is new is added
    found = json.loads(capsys.readouterr().out)
    assert (found["n_evals"], found["n_prior"], found["n_failed"], found["value"]) == (5, 3, 1, -7.0)
    tells = [entry for entry in read_journal("run.jsonl").entries if entry.kind == "tell"]
    assert [entry.prior for entry in tells] == [True] * 2 + [False] * 3 + [True] + [False] * 2
    assert tells[0].noise_std.tolist() == [0.5]


def test_a_wrong_table_begins_no_run(here):
    (here / "space.toml").write_text("[lr]\nlow = 1e-5\nhigh = 0.1\nlog = true\n")
    (here / "old.csv").write_text("lr,value\n1,1\n")
    with pytest.raises(SystemExit):
        main(
            [
                "tune",
                "echo {lr}",
                "--space",
                "space.toml",
                "--from",
                "old.csv",
                "--n-evals",
                "2",
                "--journal",
                "run.jsonl",
            ]
        )
    assert not (here / "run.jsonl").exists()


def test_a_table_of_nothing_adds_nothing(here, capsys):
    begin()
    (here / "old.csv").write_text(HEADER + "\n")
    capsys.readouterr()
    assert main(["tell", "run.jsonl", "--from", "old.csv"]) == 0
    assert capsys.readouterr().out == "0 of 0 observations in old.csv added\n0 told, no value yet\n"

"""Journals that are damaged, held or missing, and what each command says of them."""

import pytest

import gssbo
from gssbo.cli import main
from gssbo.exceptions import JournalWarning
from gssbo.journal import read_journal
from gssbo.recorded import read_ledger
from tests.commands import TUNE


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


def test_a_broken_off_journal_may_be_read(here):
    main([*TUNE, "--n-evals", "3", "--journal", "run.jsonl"])
    with (here / "run.jsonl").open("ab") as file:
        file.write(b'{"tell":[[0.0')
    assert len(read_journal("run.jsonl").entries) == 6

"""The command line: what it prints, where, and how it ends."""

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gssbo
from gssbo._text import clock, number
from gssbo.cli import main
from gssbo.cli.loop import start
from gssbo.cli.summary import FRESH, summarize
from gssbo.cli.text import WIDTH, table
from gssbo.methods import METHODS, OWN, keeps_all, method_options
from gssbo.problems import get_problem

TORCH = ("sparse-gp", "ipa", "deep-kernel", "bnn")  # what needs PyTorch
SHORT = ["--method", "gssbo", "--n-evals", "25", "--quiet"]  # five iterations after the design


def run_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main(["run", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def without_clocks(document: Any) -> Any:
    return {key: value for key, value in document.items() if key not in ("timings", "files")}


# Methods


@pytest.mark.parametrize("name", [*METHODS, *OWN])
def test_method_runs(name: str) -> None:
    if name in TORCH:
        pytest.importorskip("torch")
    options = method_options(name, None if keeps_all(name) else 23)
    if name in TORCH:
        options |= importlib.import_module(str(METHODS[name].module)).options(epochs=10)
    result = gssbo.minimize(get_problem("levy", dim=2), [(-10, 10)] * 2, n_evals=25, rng=0, **options)
    assert len(result.retained) == (24 if keeps_all(name) else 23)


@pytest.mark.parametrize("name", OWN)
def test_own_methods_run_with_their_own_settings(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    document = run_json(capsys, "levy2", "--n-evals", "24", "--method", name, "--seed", "3")
    result = gssbo.minimize(get_problem("levy2"), get_problem("levy2").bounds, n_evals=24, method=name, rng=3)
    assert (document["method"], document["best"]["value"]) == (name, result.fun)
    assert document["subset"]["asked"] == 100
    document = run_json(capsys, "levy2", "--n-evals", "24", "--method", name, "--subset-size", "22")
    assert document["subset"]["M"] == 22 == document["subset"]["retained"]


def test_method_options_are_the_papers_but_for_the_size() -> None:
    ours, papers = method_options("gssbo", 100), gssbo.presets.paper(100)
    mine, theirs = vars(ours.pop("surrogate")), vars(papers.pop("surrogate"))
    assert ours == papers
    assert {key: str(value) for key, value in mine.items()} == {key: str(value) for key, value in theirs.items()}


def test_unknown_method_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"'gssbo'.*'gp-ucb'.*got 'x'"):
        method_options("x")


# Wrong arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "hartmann6.*got 'nowhere'"),
        (["diabetes", "--method", "magic"], "'gssbo'.*'gp-ucb'.*got 'magic'"),
        (["diabetes", "--dim", "3"], "dim must be 4"),
        (["hartmann6", "--method", "gssbo", "--subset-size", "21"], "subset_size must be larger than the forced set"),
        (["hartmann6", "--subset-size", "some"], "at least 1, got 'some'"),
        (["hartmann6", "--method", "gp-ucb", "--subset-size", "50"], "keeps all observations, got 50"),
        (
            ["branin2", "--subset-size", "dynamic", "--method", "portfolio"],
            "'dynamic' with method='box', got 'dynamic'",
        ),
        (["hartmann6", "--n-evals", "0"], "at least 1, got '0'"),
        (["hartmann6", "--seed", "-1"], "at least 0, got '-1'"),
        ([], "PROBLEM"),
    ],
)
def test_wrong_argument_ends_with_2(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["run", *arguments])
    captured = capsys.readouterr()
    assert (end.value.code, captured.out) == (2, "")
    assert re.search(message, captured.err)
    assert "Traceback" not in captured.err


def test_unusable_folder_is_found_before_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SystemExit) as end:
        main(["run", "hartmann6", *SHORT, "--out", str(tmp_path / "file")])
    assert end.value.code == 2
    assert "file" in capsys.readouterr().err


# Running


def test_run_is_the_run_of_minimize(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    document = run_json(capsys, "hartmann6", *SHORT, "--subset-size", "22", "--seed", "3", "--out", str(tmp_path))
    problem = get_problem("hartmann6")
    result = gssbo.minimize(problem, problem.bounds, n_evals=25, rng=3, **method_options("gssbo", 22))
    curves = json.loads((tmp_path / "hartmann6-gssbo-22-seed3.json").read_text())["curves"]
    assert curves["values"] == result.func_vals.tolist()
    assert document["best"]["value"] == result.fun
    assert document["best"]["x"] == result.x.tolist()
    assert document["subset"] == {"asked": 22, "M": 22, "began_at": 23, "retained": 22}


def test_regret_is_reported_three_ways(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    document = run_json(capsys, "hartmann6", *SHORT, "--out", str(tmp_path))
    y = np.array(json.loads((tmp_path / "hartmann6-gssbo-seed0.json").read_text())["curves"]["values"])
    problem = get_problem("hartmann6")
    scale, regret = problem.normalizer(), document["regret"]
    total = (y[20:] - problem.optimum).sum()
    assert regret["iterations"] == 5
    assert regret["raw"]["cumulative"] == pytest.approx(total)
    assert regret["in_std"]["cumulative"] == pytest.approx(total / scale.std)
    assert regret["of_random_search"]["cumulative"] == pytest.approx(total / (5 * scale.mean_regret))
    assert regret["raw"]["simple"] == pytest.approx(y.min() - problem.optimum)
    assert (tmp_path / "hartmann6-gssbo-seed0.png").read_bytes().startswith(b"\x89PNG")


def test_rounding_makes_no_regret_negative() -> None:
    run = start("branin2", dim=None, method="gssbo", subset_size=None, seed=0, n_evals=21)
    optimum = run.problem.optimum
    run.optimizer.tell(np.random.default_rng(0).random((21, 2)), [1.0] * 20 + [np.nextafter(optimum, 0.0)])
    regret = summarize(run)["regret"]
    for unit in ("raw", "in_std", "of_random_search"):
        assert regret[unit] == {"cumulative": 0.0, "simple": 0.0}


def test_shares_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    timings = run_json(capsys, "levy3", *SHORT)["timings"]
    assert sum(timings["shares_percent"].values()) == pytest.approx(100.0)
    assert sum(timings["seconds"].values()) == pytest.approx(timings["total_seconds"])
    assert timings["objective_seconds"] > 0


def test_diabetes_names_its_parameters_and_repeats(capsys: pytest.CaptureFixture[str]) -> None:
    document = run_json(capsys, "diabetes", *SHORT)
    assert without_clocks(run_json(capsys, "diabetes", *SHORT)) == without_clocks(document)
    for point in (document["best"], document["model_best"]):
        assert list(point["configuration"]) == ["batch size", "learning rate", "weight decay", "hidden units"]
        assert isinstance(point["configuration"]["batch size"], int)
        assert 0 < point["fresh_mean"] < 1
    assert document["model_best"]["posterior_mean"] <= document["best"]["posterior_mean"]
    assert document["regret"]["raw"]["simple"] is None


def test_noisy_report_says_what_luck_does(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "diabetes", *SHORT]) == 0
    out = capsys.readouterr().out
    assert "luckiest of 25" in " ".join(out.split())
    assert f"mean of {FRESH} fresh evaluations" in out
    assert "over the 5 iterations after the initial design of 20" in out
    assert "an estimate" in out
    assert out.isascii()
    assert max(map(len, out.splitlines())) <= WIDTH


def test_report_has_the_time_table_and_the_way_to_a_picture(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "rastrigin", "--dim", "13", *SHORT]) == 0
    out = capsys.readouterr().out
    for part in ("refit", "embed", "select", "acquisition", "other", "total", "objective, beside it"):
        assert re.search(rf"^{part} +\d+\.\d\d", out, re.MULTILINE)
    assert "--out DIR" in out
    assert "x = [" in out  # many parameters are a vector, not a row each
    assert "M = 100: not reached" in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "gp-ucb"], "No subset of size M: at the last suggestion the surrogate saw 24 observations"),
        (["--subset-size", "dynamic"], "M was not fixed|M = 2"),
        (["--subset-size", "22"], "M = 22: retention began when 23 observations were held"),
    ],
)
def test_report_says_how_many_were_retained(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", "eggholder2", *SHORT, *arguments]) == 0
    assert re.search(message, capsys.readouterr().out)


def test_a_run_within_the_design_reports_no_regret(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "hartmann6", "--n-evals", "3", "--quiet"]) == 0
    assert "no iteration came after the initial design" in capsys.readouterr().out


def test_out_without_matplotlib_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gssbo.cli.run._can_plot", lambda: False)
    assert main(["run", "hartmann6", *SHORT, "--out", str(tmp_path / "new")]) == 0
    assert "gssbo[plot]" in capsys.readouterr().out
    assert [path.suffix for path in (tmp_path / "new").iterdir()] == [".json"]


# Ends that nobody planned


@pytest.mark.skipif(sys.platform == "win32", reason="pipes differ")
def test_a_reader_that_leaves_is_no_error() -> None:
    code = "import sys; from gssbo.cli import main; sys.exit(main(['problems']))"
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-c", code], stdout=write, stderr=subprocess.PIPE, check=False, timeout=60)
    os.close(write)
    assert done.stderr == b""


def test_listings_need_neither_rich_nor_matplotlib() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['rich', 'matplotlib', 'threadpoolctl']))\n"
        "from gssbo.cli import main\n"
        "sys.exit(main(['problems']) or main(['methods']) or main(['run', 'levy2', '--n-evals', '5']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr


# Text


def test_table_pads_and_aligns() -> None:
    assert table([("a", "1"), ("bcd", "22")], header=("x", "n")).splitlines() == ["x     n", "a     1", "bcd  22"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), (3, "3"), (12_000, "12,000"), (0.27303, "0.273"), (12_345.678, "12,346"), (9.2e10, "9.2e+10")],
)
def test_number(value: float | None, text: str) -> None:
    assert number(value) == text


def test_clock() -> None:
    assert (clock(59.6), clock(75), clock(3671)) == ("1:00", "1:15", "1:01:11")


# The default


def test_without_a_method_the_default_runs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    document = run_json(capsys, "branin2", "--n-evals", "60", "--quiet", "--seed", "3", "--out", str(tmp_path))
    problem = get_problem("branin2")
    result = gssbo.minimize(problem, problem.bounds, n_evals=60, rng=3)
    assert (document["method"], document["best"]["value"]) == ("portfolio", result.fun)
    assert (tmp_path / "branin2-portfolio-seed3.json").exists()
    assert run_json(capsys, "branin2", "--n-evals", "21", "--subset-size", "dynamic", "--quiet")["method"] == "box"


@pytest.mark.parametrize(("arguments", "code"), [(["methods"], 0), (["best", "nothing.jsonl"], 2), (["tell"], 2)])
def test_the_package_is_the_command(tmp_path, capfd, arguments, code):
    root = str(Path(gssbo.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-m", "gssbo", *arguments], cwd=tmp_path, env=os.environ | {"PYTHONPATH": root}
    )
    module = capfd.readouterr()
    try:
        returned: Any = main(arguments)
    except SystemExit as error:
        returned = error.code
    assert (done.returncode, module) == (returned, capfd.readouterr()) and returned == code


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["tune", "echo 1", "--n-evals", "5", "--n-jobs", "2"],
            "unrecognized argument --n-jobs: did you mean --workers?",
        ),
        (
            ["tune", "echo 1", "--n-evals", "5", "--direction=x"],
            "unrecognized argument --direction: did you mean --maximize?",
        ),
        (
            ["tell", "run.jsonl", "--failed", "--reeson", "dust"],
            "unrecognized argument --reeson: did you mean --reason?",
        ),
        (["best", "run.jsonl", "--zzz"], "unrecognized arguments: --zzz"),
    ],
)
def test_a_misspelt_option_is_named_with_the_one_that_was_meant(capsys, arguments, said):
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2 and capsys.readouterr().err.endswith(f"error: {said}\n")

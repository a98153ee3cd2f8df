"""The command line: what it prints, where, and how it ends."""

import importlib
import importlib.metadata
import io
import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gssbo
from gssbo._text import clock, number
from gssbo.cli import main
from gssbo.cli.loop import start
from gssbo.cli.report import report
from gssbo.cli.summary import FRESH, summarize
from gssbo.cli.text import WIDTH, table
from gssbo.machine import extras
from gssbo.methods import METHODS, OWN, keeps_all, method_options
from gssbo.problems import PROBLEMS, get_problem
from gssbo.progress import LiveProgress, PlainProgress, Standing, make_display

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


# Listings


def test_problems_lists_every_problem(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["problems"]) == 0
    out = capsys.readouterr().out
    for name in PROBLEMS:
        assert re.search(rf"^{name} +{get_problem(name).dim} ", out, re.MULTILINE)
    assert out.isascii()
    assert max(map(len, out.splitlines())) <= WIDTH


def test_methods_lists_every_method(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["methods"]) == 0
    out = capsys.readouterr().out
    assert all(f"{name} " in out and method.description in out for name, method in METHODS.items())
    assert all(f"{name} " in out and description in out for name, description in OWN.items())


def test_info_names_versions_and_instructions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    facts = dict(re.split(r"  +", each, maxsplit=1) for each in capsys.readouterr().out.splitlines())
    assert facts["gssbo"] == gssbo.__version__
    assert facts["NumPy"] == np.__version__
    assert facts["core's instructions"]
    assert facts["cores"].startswith(str(os.cpu_count()))
    assert "BLAS of numpy" in facts
    assert "BLAS of scipy" in facts


def test_info_names_the_extra_of_each_optional_package(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = importlib.metadata.version
    absent = ("torch", "optuna")

    def version(package: str) -> str:
        if package in absent:
            raise importlib.metadata.PackageNotFoundError(package)
        return found(package)

    monkeypatch.setattr("importlib.metadata.version", version)
    assert main(["info"]) == 0
    facts = dict(re.split(r"  +", each, maxsplit=1) for each in capsys.readouterr().out.splitlines())
    optional = list(facts)[-6:]
    assert optional == ["rich", "distributed", "optuna", "matplotlib", "scikit-learn", "torch"]
    assert facts["torch"] == "not installed: pip install 'gssbo[torch]'"
    assert facts["optuna"] == "not installed: pip install 'gssbo[optuna]'"
    for package, extra in (("scikit-learn", "sklearn"), ("matplotlib", "plot"), ("rich", "cli")):
        assert facts[package] == f"{found(package)} (extra {extra})"


def test_the_extras_are_those_of_the_project() -> None:
    file = Path(__file__).parents[2] / "pyproject.toml"
    listed = tomllib.loads(file.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    development = ("lint", "test", "docs", "bench")
    names = {extra: re.match(r"[\w-]+", found[0]) for extra, found in listed.items() if extra not in development}
    assert extras() == {name[0]: extra for extra, name in names.items() if name}
    assert extras()["distributed"] == "dask"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert (end.value.code, capsys.readouterr().out) == (0, f"gssbo {gssbo.__version__}\n")


def test_help_of_run_lists_problems_and_methods(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["run", "--help"])
    out = capsys.readouterr().out
    assert end.value.code == 0
    assert all(name in out for name in [*PROBLEMS, *METHODS, *OWN])


# Wrong arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "hartmann6.*got 'nowhere'"),
        (["diabetes", "--method", "magic"], "'gssbo'.*'gp-ucb'.*got 'magic'"),
        (["diabetes", "--dim", "3"], "dim must be 4"),
        (["hartmann6", "--method", "gssbo", "--subset-size", "21"], "subset_size must be larger than the forced set"),
        (["hartmann6", "--subset-size", "some"], "at least 1, got 'some'"),
        (["hartmann6", "--method", "gp-ucb", "--subset-size", "50"], "keeps all observations"),
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


# Progress


def short_run() -> Any:
    return start("levy", dim=2, method="gssbo", subset_size=22, seed=0, n_evals=25)


def test_plain_progress_goes_to_stderr_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "levy2", "--method", "gssbo", "--n-evals", "22", "--json"]) == 0
    captured = capsys.readouterr()
    json.loads(captured.out)
    lines = captured.err.splitlines()
    assert lines[0].startswith("levy2 1/22  best ")
    assert "initial design" in lines[0]
    assert lines[-1].startswith("levy2 22/22  best ")
    assert re.search(r"ask \d+\.\d ms  retained 21 of 22  elapsed 0:\d\d  remaining 0:00", lines[-1])


def test_plain_progress_writes_at_most_one_line_an_interval() -> None:
    for every, expected in ((1e9, 2), (0.0, 25)):
        stream, run = io.StringIO(), short_run()
        with PlainProgress("levy2", stream, every) as show:
            run.go(show)
        assert len(stream.getvalue().splitlines()) == expected


def test_live_progress_draws_the_state() -> None:
    console = pytest.importorskip("rich.console").Console(file=io.StringIO(), force_terminal=True, width=100)
    run = short_run()
    with LiveProgress("levy2", run.n_evals, console) as show:
        run.go(show)
    drawn = console.file.getvalue()
    assert "25/25" in drawn
    assert "retained 22 of 25" in drawn


def test_live_progress_is_for_terminals_and_needs_rich(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rich")
    assert isinstance(make_display("levy2", 25), PlainProgress)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert isinstance(make_display("levy2", 25), LiveProgress)
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    assert isinstance(make_display("levy2", 25), PlainProgress)


def test_quiet_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "levy2", *SHORT]) == 0
    assert capsys.readouterr().err == ""


def test_however_long_a_run_is_the_display_is_of_the_latest_suggestions() -> None:
    cut = []

    class Seconds(list[float]):
        def __getitem__(self, index: Any) -> Any:
            found = super().__getitem__(index)
            cut.append(len(found))
            return found

    run = short_run()
    run.ask_seconds = Seconds(map(float, range(1_000)))
    assert run.standing.ask_seconds == 987.0 and cut == [25]


# Ends that nobody planned


def test_interrupt_keeps_what_was_found() -> None:
    run = short_run()

    def stop_at_24(standing: Standing) -> None:
        if standing.n_done == 24:
            raise KeyboardInterrupt

    run.go(stop_at_24)
    summary = summarize(run)
    assert summary["interrupted"]
    assert summary["n_evals"] == len(run.optimizer_seconds) == 24
    assert "24 of 25 evaluations, interrupted" in report(summary)


def test_interrupt_before_anything_was_evaluated() -> None:
    assert report(summarize(short_run())) == "Nothing was evaluated."


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to another process")
def test_ctrl_c_prints_the_report_and_ends_with_130() -> None:
    # A process started in the background inherits SIGINT ignored; Python raises KeyboardInterrupt only otherwise.
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from gssbo.cli import main; sys.exit(main(['run', 'levy2', '--n-evals', '100000']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        process.stderr.readline()  # the first evaluation is done
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "of 100,000 evaluations, interrupted" in out
    assert "Traceback" not in err


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

"""`gssbo run` while it goes on: what it shows, and how it is interrupted."""

import io
import json
import re
import signal
import subprocess
import sys
from typing import Any

import pytest

from gssbo.cli import main
from gssbo.cli.loop import start
from gssbo.cli.report import report
from gssbo.cli.summary import summarize
from gssbo.progress import LiveProgress, PlainProgress, Standing, make_display

SHORT = ["--method", "gssbo", "--n-evals", "25", "--quiet"]  # five iterations after the design


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

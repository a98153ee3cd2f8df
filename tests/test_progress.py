"""How a run is shown while it goes on, and that it does not depend on that."""

import errno
import io
import math
import time

import numpy as np
import pytest

import gssbo
from gssbo.progress import PlainProgress, Standing
from tests.objectives import bowl

BOX = [(0.0, 1.0)] * 2
FEW = {"n_init": 4, "rng": 0, "method": "box", "n_candidates": 200}


def test_a_display_of_ones_own_sees_every_evaluation():
    seen = []

    class Display:
        def __enter__(self):
            seen.append("in")
            return self

        def __exit__(self, *_):
            seen.append("out")

        def __call__(self, standing):
            seen.append(standing)

    values = iter([3.0, math.nan, 2.0])
    gssbo.minimize(lambda x: next(values), BOX, n_evals=3, progress=Display(), **FEW)
    assert seen[0] == "in" and seen[-1] == "out"
    assert [(each.n_done, each.best, each.n_failed) for each in seen[1:-1]] == [(1, 3.0, 0), (2, 3.0, 1), (3, 2.0, 1)]
    assert isinstance(seen[1], Standing)


def test_the_time_of_a_suggestion_is_the_median_of_the_latest():
    opt = gssbo.Optimizer([(0.0, 1.0)], n_init=2, rng=0)
    opt.tell([[0.25], [0.75]], [2.0, np.nan])
    before = Standing.of(opt, n_evals=9, n_done=2, ask_seconds=[])
    assert before == Standing(n_evals=9, n_done=2, best=2.0, n_told=2, n_failed=1, n_retained=opt.n_retained)
    assert Standing.of(opt, n_evals=9, n_done=2, ask_seconds=[9.0] * 30 + [1.0] * 25).ask_seconds == 1.0


def test_progress_goes_to_the_error_output(capsys):
    gssbo.minimize(bowl, BOX, n_evals=5, progress=True, **FEW)
    captured = capsys.readouterr()
    assert captured.out == "" and "5/5" in captured.err and "best" in captured.err
    gssbo.minimize(bowl, BOX, n_evals=5, **FEW)
    assert capsys.readouterr().err == ""
    with pytest.raises(ValueError, match="progress must be"):
        gssbo.minimize(bowl, BOX, n_evals=5, progress="bar", **FEW)


class Window:
    """What some programs with a window put in the place of stderr."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text


class FullDisk(io.StringIO):
    def write(self, text):
        raise OSError(errno.ENOSPC, "No space left on device")


def closed():
    stream = io.StringIO()
    stream.close()
    return stream


@pytest.mark.parametrize("stream", [None, closed(), FullDisk(), Window()], ids=lambda stream: type(stream).__name__)
def test_a_run_does_not_depend_on_who_watches_it(monkeypatch, stream):
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr("sys.stdout", stream)
    result = gssbo.minimize(bowl, BOX, n_evals=5, progress=True, **FEW)
    monkeypatch.undo()
    assert result.nfev == 5
    if isinstance(stream, Window):
        assert "1/5" in stream.text and "5/5" in stream.text


def test_plain_lines_do_not_flood():
    stream = io.StringIO()
    with PlainProgress("title", stream) as show:
        for k in range(1, 1001):
            show(Standing(n_evals=1000, n_done=k, best=1.0))
    lines = stream.getvalue().splitlines()
    assert 1 <= len(lines) <= 3 and "1000/1000" in lines[-1]


def test_a_display_need_not_return_itself():
    class Display:
        def __enter__(self):
            self.seen = []

        def __exit__(self, *_):
            pass

        def __call__(self, standing):
            self.seen.append(standing.n_done)

    display = Display()
    gssbo.minimize(bowl, BOX, n_evals=3, progress=display, **FEW)
    assert display.seen == [1, 2, 3]


@pytest.mark.parametrize("n_before", [0, 500])
def test_the_remaining_time_is_right_from_the_second_value_on(monkeypatch, n_before):
    """Eight workers, of which each takes 2 s to start and 1 s for an evaluation."""
    now, stream, total = [0.0], io.StringIO(), n_before + 80
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    with PlainProgress("title", stream) as show:
        for k in range(80):
            now[0] = 3.0 + k // 8
            show(Standing(n_evals=total, n_done=n_before + k + 1))
    remaining = [line.rpartition(" ")[2] for line in stream.getvalue().splitlines()]
    assert remaining == ["-", "0:05", "0:00"]  # at 3, 8 and 12 s


def test_one_evaluation_leaves_no_time():
    stream = io.StringIO()
    with PlainProgress("title", stream) as show:
        show(Standing(n_evals=1, n_done=1))
    assert stream.getvalue().endswith("remaining 0:00\n")

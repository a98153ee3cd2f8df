"""Figures of a run: what is drawn, from what, and that nothing global moves."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from gssbo.exceptions import MissingDependencyError
from gssbo.plot import plot_run
from gssbo.plot.canvas import MOST_POINTS

pytest.importorskip("matplotlib")

VALUES = np.array([5.0, 4.0, 4.5, 2.0, 3.0, 1.5])
SECONDS = np.cumsum([0.0, 0.1, 0.2, 0.2, 0.3, 0.2])


def line(axes: Any, label: str) -> Any:
    (found,) = [each for each in axes.lines if each.get_label() == label]
    return found.get_xydata()


def test_cumulative_regret_starts_after_the_design() -> None:
    figure = plot_run(VALUES, SECONDS, optimum=1.0, n_init=2, random_search_step=3.0)
    upper, lower, _ = figure.axes
    assert line(upper, "run").tolist() == [[2, 0.0], [3, 3.5], [4, 4.5], [5, 6.5], [6, 7.0]]
    assert line(upper, "uniform random search, expected")[-1].tolist() == [6, 12.0]
    assert lower.lines[0].get_ydata().tolist() == [4.0, 3.0, 3.0, 1.0, 1.0, 0.5]
    assert lower.get_yscale() == "log"


def test_simple_regret_of_zero_is_not_on_a_log_scale() -> None:
    assert plot_run(VALUES, SECONDS, optimum=1.5, n_init=2).axes[1].get_yscale() == "linear"


@pytest.mark.parametrize(("optimum", "noisy"), [(1.0, True), (None, False)])
def test_values_are_shown_where_regret_would_mislead(optimum: float | None, noisy: bool) -> None:
    figure = plot_run(VALUES, SECONDS, optimum=optimum, noisy=noisy, value_name="error (fraction)")
    left, _ = figure.axes
    assert left.collections[0].get_offsets()[:, 1].tolist() == VALUES.tolist()
    assert line(left, "best observed so far")[:, 1].tolist() == [5.0, 4.0, 4.0, 2.0, 2.0, 1.5]
    assert left.get_ylabel() == "error (fraction)"


def test_what_is_maximised_is_drawn_as_it_is() -> None:
    left = plot_run(-VALUES, SECONDS, maximize=True, optimum=-1.0, noisy=True).axes[0]
    assert line(left, "best observed so far")[:, 1].tolist() == [-5.0, -4.0, -4.0, -2.0, -2.0, -1.5]
    assert line(left, "highest expected value")[:, 1].tolist() == [-1.0, -1.0]
    simple = plot_run(-VALUES, SECONDS, maximize=True, optimum=-1.0).axes[1].lines[0]
    assert simple.get_ydata().tolist() == [4.0, 3.0, 3.0, 1.0, 1.0, 0.5]
    with pytest.raises(
        ValueError, match=r"^optimum must be the best value there is, got -2 where the best told is -1\.5"
    ):
        plot_run(-VALUES, SECONDS, maximize=True, optimum=-2.0)


def test_time_panel_shows_both_clocks_and_the_switch() -> None:
    figure = plot_run(VALUES, SECONDS, objective_seconds=2 * SECONDS, retention_began_at=4)
    right = figure.axes[-1]
    np.testing.assert_array_equal(line(right, "optimizer")[:, 1], SECONDS)
    np.testing.assert_array_equal(line(right, "objective")[:, 1], 2 * SECONDS)
    assert line(right, "retention began (4 held)")[:, 0].tolist() == [4, 4]
    assert "seconds" in right.get_ylabel()


def test_of_a_long_run_a_part_is_drawn_and_all_that_improves() -> None:
    n = 4 * MOST_POINTS
    y = np.random.default_rng(0).normal(size=n)
    y[1_000:2_000], y[5_001] = np.nan, -9.0
    seconds = np.linspace(0.0, 1.0, n)
    for optimum in (None, -10.0):
        figure = plot_run(y, seconds, objective_seconds=2.0 * seconds, optimum=optimum, random_search_step=1.0)
        sizes = [len(each.get_offsets()) for axes in figure.axes for each in axes.collections]
        sizes += [len(each.get_xdata()) for axes in figure.axes for each in axes.lines]
        assert len(sizes) >= 4 and max(sizes) <= MOST_POINTS + 20
    steps = figure.axes[1].lines[0].get_xydata()
    drawn = steps[np.searchsorted(steps[:, 0], np.arange(1, n + 1), side="right") - 1, 1]
    np.testing.assert_array_equal(drawn, np.fmin.accumulate(y) + 10.0)
    left = plot_run(y, seconds).axes[0]
    shown = left.collections[0]
    assert shown.get_label() == f"observed ({len(shown.get_offsets()):,} of 20,000 drawn)"
    assert [5_002.0, -9.0] in shown.get_offsets().tolist()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_run_no_longer_than_the_design_is_drawn(n: int, tmp_path: Any) -> None:
    figure = plot_run(VALUES[:n], SECONDS[:n], optimum=1.0, n_init=3, random_search_step=1.0)
    figure.savefig(tmp_path / "short.png")
    assert (tmp_path / "short.png").stat().st_size > 1000


def test_wrong_length_is_named() -> None:
    with pytest.raises(ValueError, match="optimizer_seconds must have 6 entries, got 5"):
        plot_run(VALUES, SECONDS[:5])


def test_pyplot_is_not_loaded() -> None:
    code = (
        "import sys; from gssbo.plot import plot_run; plot_run([2.0, 1.0], [0.1, 0.2]).canvas;"
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0


def test_missing_matplotlib_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingDependencyError, match=r"gssbo\[plot\]"):
        plot_run(VALUES, SECONDS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"optimum": "low"}, "^optimum must be a real number, got 'low'$"),
        ({"random_search_step": "one"}, "^random_search_step must be a real number, got 'one'$"),
        ({"retention_began_at": 2.5}, "^retention_began_at must be an integer, got 2.5$"),
    ],
)
def test_marks_are_numbers(options, message):
    with pytest.raises(ValueError, match=message):
        plot_run([3.0, 1.0, 2.0], [0.1, 0.2, 0.3], n_init=1, **options)


def test_an_optimum_that_was_beaten_is_refused():
    with pytest.raises(
        ValueError, match=r"^optimum must be the best value there is, got 2 where the best told is 1\.5$"
    ):
        plot_run(VALUES, SECONDS, optimum=2.0)
    assert plot_run(VALUES, SECONDS, optimum=2.0, noisy=True).axes  # noise may go below the lowest expected value
    simple = plot_run(VALUES, SECONDS, optimum=1.5 + 2e-16).axes[1].lines[0]
    assert simple.get_ydata()[-1] == 0.0

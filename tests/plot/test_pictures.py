"""Pictures of optimizers: what is drawn, and that a long history is no trouble."""

import builtins
import importlib
import io
import math
import time
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

import gssbo
from gssbo.exceptions import MissingDependencyError
from gssbo.plot import plot_convergence, plot_importance, plot_retained, plot_run, plot_slices, plot_times, plot_trust

SPACE = {
    "lr": gssbo.Real(1e-5, 1e-1, log=True),
    "n": gssbo.Integer(1, 8),
    "act": ["relu", "gelu", "tanh"],
    "fixed": (2.0, 2.0),
}


def value(x):
    return (np.log10(x["lr"]) + 3) ** 2 + 0.01 * (x["n"] - 3) ** 2 + (x["act"] == "relu")


@pytest.fixture(scope="module")
def mixed():
    opt = gssbo.Optimizer(SPACE, n_init=8, rng=0, threads=1)
    for _ in range(25):
        x = opt.ask()
        opt.tell(x, value(x))
    opt.ask()
    return opt


@pytest.fixture(scope="module", params=["box", "portfolio"])
def long(request):
    """50,000 observations of 10 parameters."""
    X = np.random.default_rng(0).random((50_000, 10))
    opt = gssbo.Optimizer([(0.0, 1.0)] * 10, rng=0, threads=1, method=request.param)
    opt.tell(X, ((X - 0.3) ** 2) @ np.arange(10.0))
    opt.ask()
    return opt


def test_what_is_counted_has_whole_ticks():
    """A quarter of an evaluation is none: axes that are short have a tick at every one."""
    opt = gssbo.Optimizer([(0.0, 1.0)] * 2, n_init=4, rng=0, threads=1)
    opt.tell(np.random.default_rng(0).random((7, 2)), np.arange(7.0))
    opt.ask()
    seconds = np.arange(7.0)
    figures = [plot_convergence(opt), plot_trust(opt), plot_run(seconds, seconds, optimum=-1.0)]
    ticks = [tick for figure in figures for axes in figure.axes for tick in axes.get_xticks()]
    assert ticks and all(float(tick).is_integer() for tick in ticks)


@pytest.mark.parametrize(
    "draw",
    [plot_convergence, plot_times, plot_retained, plot_slices, plot_importance, plot_trust],
    ids=lambda draw: draw.__name__,
)
def test_a_long_history_is_drawn_within_five_seconds(long, draw):
    begin = time.process_time()
    figure = draw(long)
    figure.savefig(io.BytesIO(), format="png", dpi=100)
    assert time.process_time() - begin < 5.0


def test_convergence_is_the_best_so_far(mixed):
    line = plot_convergence(mixed).axes[0].lines[0]
    np.testing.assert_array_equal(line.get_xdata(), np.arange(1, 26))
    np.testing.assert_array_equal(line.get_ydata(), np.minimum.accumulate(mixed.y))
    with_gap = plot_convergence([np.nan, 3.0, np.nan, 4.0, 1.0]).axes[0].lines[0]
    np.testing.assert_array_equal(with_gap.get_ydata(), [np.nan, 3.0, 3.0, 3.0, 1.0])


def test_convergence_of_seeds_is_a_median_and_a_band():
    runs = {"a": [[5.0, 3.0], [4.0, 2.0], [3.0, 1.0]], "b": [[2.0, 2.5]]}
    axes = plot_convergence(runs, optimum=1.0).axes[0]
    assert [line.get_ydata().tolist() for line in axes.lines] == [[3.0, 1.0], [1.0, 1.0]]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a (median of 3)", "b"]
    (band,) = axes.collections
    assert band.get_paths()[0].vertices[:, 1].min() == pytest.approx(0.5)
    assert axes.get_yscale() == "log"
    up = plot_convergence([[-5.0, -3.0]], optimum=0.0, maximize=True).axes[0].lines[0]
    assert up.get_ydata().tolist() == [5.0, 3.0]
    for nothing in ([], [np.nan, np.nan], [[]]):
        with pytest.raises(ValueError, match="each with a value"):
            plot_convergence(nothing)


@pytest.mark.parametrize(("maximize", "sign"), [(False, 1.0), (True, -1.0)])
def test_an_optimum_that_was_beaten_is_refused(maximize, sign):
    beaten = {"a": [[9.0 * sign, 7.0 * sign]], "b": [np.nan, 3.0 * sign, 4.0 * sign]}
    message = f"^optimum must be the best value there is, got {5 * sign:g} where the best told is {3 * sign:g}$"
    with pytest.raises(ValueError, match=message):
        plot_convergence(beaten, optimum=5.0 * sign, maximize=maximize)
    beyond = sign * (0.3 - 1e-16)
    line = plot_convergence([sign, beyond], optimum=0.3 * sign, maximize=maximize).axes[0].lines[0]
    assert line.get_ydata()[1] == 0.0
    line = plot_convergence([sign, -1e-16 * sign], optimum=0.0, maximize=maximize).axes[0].lines[0]
    assert line.get_ydata().tolist() == [1.0, 0.0]


def test_times_add_up(mixed):
    axes = plot_times({"mixed": mixed, "again": mixed.result()}).axes[0]
    widths = [patch.get_width() for patch in axes.patches]
    assert sum(widths) == pytest.approx(2 * mixed.timings.total)
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["mixed", "again"]


def test_the_retained_are_drawn_where_they_are(mixed):
    axes = plot_retained(mixed, ("lr", "act")).axes[0]
    observed, retained, best = (each.get_offsets() for each in axes.collections)
    places = ["relu", "gelu", "tanh"]
    expected = np.array([[x["lr"], places.index(x["act"])] for x in mixed.X])
    np.testing.assert_array_equal(observed, expected)
    np.testing.assert_array_equal(retained, expected[mixed.retained])
    np.testing.assert_array_equal(best[0], expected[int(np.argmin(mixed.y))])
    assert axes.get_xscale() == "log" and [t.get_text() for t in axes.get_yticklabels()] == places
    with pytest.raises(ValueError, match="parameters must be 0 to 3, or one of lr, n, act, fixed, got 'z'"):
        plot_retained(mixed, ("lr", "z"))
    with pytest.raises(ValueError, match="empty history"):
        plot_retained(gssbo.Optimizer(SPACE))


def test_the_best_that_is_drawn_meets_the_constraints():
    opt = gssbo.Optimizer([(0.0, 1.0)] * 2, constraints=LinearConstraint([[1.0, 1.0]], ub=1.0), n_init=3, rng=0)
    opt.tell([[0.9, 0.9], [0.2, 0.3], [0.4, 0.1]], [0.0, 2.0, 1.0])
    best = plot_retained(opt).axes[0].collections[-1].get_offsets()
    np.testing.assert_array_equal(best, [opt.best_x])


def test_a_thinned_history_keeps_the_retained(long):
    figure = plot_retained(long, (0, 9))
    observed, retained, _ = (each.get_offsets() for each in figure.axes[0].collections)
    assert len(observed) < 6_000 and len(retained) == len(long.retained)
    assert {tuple(row) for row in retained} <= {tuple(row) for row in observed}
    assert "of 50,000 drawn" in figure.legends[0].get_texts()[0].get_text()


def test_slices_are_the_posterior(mixed):
    at = {"lr": 1e-3, "n": 3, "act": "gelu", "fixed": 2.0}
    figure = plot_slices(mixed, ["lr", "act"], at=at)
    along, categories = figure.axes
    line = along.lines[0]
    points = [{**at, "lr": lr} for lr in line.get_xdata()]
    np.testing.assert_allclose(line.get_ydata(), mixed.predict(points), rtol=1e-9)
    means = categories.lines[0].get_ydata()
    np.testing.assert_allclose(means, mixed.predict([{**at, "act": act} for act in SPACE["act"]]), rtol=1e-9)
    assert along.get_xscale() == "log" and categories.get_xlabel() == "act"
    assert len(plot_slices(mixed).axes) == 4
    with pytest.raises(ValueError, match="at must"):
        plot_slices(mixed, at={"lr": 5.0, "n": 3, "act": "gelu", "fixed": 2.0})
    with pytest.raises(ValueError, match="told a value"):
        plot_slices(gssbo.Optimizer(SPACE))


def test_slices_of_many_parameters_are_of_those_that_matter_most():
    opt = gssbo.Optimizer([(0.0, 1.0)] * 30, n_init=8, rng=0, threads=1)
    X = np.random.default_rng(0).random((80, 30))
    opt.tell(X, np.sin(5 * X[:, 29]) + X[:, 26] ** 2)
    opt.ask()
    figure = plot_slices(opt)
    shown = [axes.get_xlabel() for axes in figure.axes]
    first = [tick.get_text() for tick in plot_importance(opt).axes[0].get_yticklabels()][:24]
    assert "x[29]" in shown and shown == sorted(first, key=lambda name: int(name[2:-1]))
    assert "6 parameters not shown" in figure.get_suptitle()


@pytest.mark.parametrize(
    ("ends", "labels"),
    [((200, 5000), ["200", "1000", "5000"]), ((16, 512), ["16", "91", "512"]), ((3, 3), ["3"]), ((1, 1000), None)],
)
def test_ticks_of_a_logarithmic_axis_do_not_collide(ends, labels):
    opt = gssbo.Optimizer([gssbo.Integer(*ends, log=True), (0.0, 1.0)], n_init=4, rng=0, threads=1)
    opt.tell([[ends[0], 0.5], [ends[1], 0.2]], [1.0, 2.0])
    figure = plot_slices(opt, [0])
    figure.draw_without_rendering()
    axis = figure.axes[0].xaxis
    assert not any(tick.label1.get_visible() for tick in axis.get_minor_ticks())
    if labels is not None:
        assert [text.get_text() for text in axis.get_majorticklabels()] == labels


def test_importance_is_by_the_shortest_lengthscale(mixed):
    axes = plot_importance(mixed).axes[0]
    names = [tick.get_text() for tick in axes.get_yticklabels()]
    assert set(names) == set(SPACE) and names[-1] == "fixed"
    scales = mixed.surrogate.lengthscale_
    expected = {"lr": 1 / scales[0], "n": 1 / scales[1], "act": 1 / scales[2:5].min(), "fixed": 0.0}
    widths = [patch.get_width() for patch in axes.patches]
    assert widths == pytest.approx([expected[name] for name in names]) and widths == sorted(widths, reverse=True)
    with pytest.raises(ValueError, match="GaussianProcess of the whole space that is fitted"):
        plot_importance(gssbo.Optimizer(SPACE, method="vecchia"))


def test_trust_shows_what_the_diagnostics_say():
    opt = gssbo.Optimizer([(-5.0, 5.0)], n_init=5, subset_size=20, rule="maxmin", rng=0)
    X = np.linspace(-5.0, 5.0, 60)[:, None]
    opt.tell(X, np.cos(2.0 * X[:, 0]))
    found = opt.diagnostics(rng=0)
    line, tolerance, now = plot_trust(found).axes[0].lines
    np.testing.assert_array_equal(line.get_ydata(), found.growth.mean_gap)
    assert tolerance.get_ydata()[0] == pytest.approx(found.tolerance * found.spread)
    assert (now.get_xdata()[0], now.get_ydata()[0]) == (20, found.largest_gap)


def test_without_matplotlib_the_error_says_what_to_install(monkeypatch):
    real = builtins.__import__

    def without(name, *rest, **kwargs):
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError(f"No module named {name!r}", name="matplotlib")
        return real(name, *rest, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    monkeypatch.setattr(importlib, "import_module", lambda name, package=None: without(name))
    with pytest.raises(MissingDependencyError, match=r"gssbo\[plot\]"):
        plot_convergence([1.0, 2.0])


# ---- wrong arguments

RESULT = gssbo.minimize(lambda x: x[0] ** 2, [(-1, 1)], n_evals=6, n_init=6, rng=0)


@pytest.mark.parametrize("draw", [plot_importance, plot_retained, plot_slices], ids=lambda draw: draw.__name__)
@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (RESULT, "a result; tell .* func_vals"),
        ("a.jsonl", "'a.jsonl'"),
        (None, "None"),
        ([1.0], r"\[1.0\]"),
    ],
)
def test_what_is_drawn_of_an_optimizer_takes_nothing_else(draw, given, shown):
    with pytest.raises(ValueError, match=rf"^optimizer must be an Optimizer, got {shown}$"):
        draw(given)


@pytest.mark.parametrize(
    "given", ["a.jsonl", Path("a.jsonl"), 3, None, ["a.jsonl"], {"a": "a.jsonl"}, [[1.0, "b"]], [[[1.0]]]]
)
def test_convergence_says_what_it_takes(given):
    with pytest.raises(ValueError, match=r"^runs must be an Optimizer, a result of minimize, values \(n,\), .*, got "):
        plot_convergence(given)


@pytest.mark.parametrize("given", [[], {"a": []}, [[]], [math.nan]])
def test_convergence_needs_a_value(given):
    with pytest.raises(ValueError, match="each with a value, got one without"):
        plot_convergence(given)


def test_runs_of_several_lengths_are_drawn_as_far_as_all_go():
    line = plot_convergence([[3.0, 1.0, 2.0], [5.0, 4.0]]).axes[0].lines[0]
    assert line.get_ydata().tolist() == [4.0, 2.5]
    line = plot_convergence(np.array([[3.0, 1.0], [5.0, 4.0]])).axes[0].lines[0]
    assert line.get_ydata().tolist() == [4.0, 2.5]


@pytest.mark.parametrize("n_runs", [1, 3])
def test_a_long_run_is_thinned_but_for_where_it_improves(n_runs):
    """Every level of the best so far is drawn, at the evaluation that reached it."""
    values = np.random.default_rng(0).random((n_runs, 20_000))
    values[:, 7_003::1_009] -= np.arange(1.0, 14.0)  # steps where no evenly spread point is
    axes = plot_convergence(values).axes[0]
    at, best = axes.lines[0].get_xdata(), axes.lines[0].get_ydata()
    exact = np.median(np.minimum.accumulate(values, axis=1), axis=0)
    assert len(at) < 2_200
    np.testing.assert_array_equal(best[np.searchsorted(at, np.arange(1, 20_001), side="right") - 1], exact)


@pytest.mark.parametrize("given", ["a.jsonl", [RESULT], None, {}, {"a": 3}])
def test_times_say_what_they_take(given):
    with pytest.raises(
        ValueError, match=r"^runs must be an Optimizer, a result of minimize, or a dict of those by name, got "
    ):
        plot_times(given)


@pytest.mark.parametrize("given", ["a.jsonl", RESULT, None])
def test_trust_says_what_it_takes(given):
    with pytest.raises(ValueError, match=r"^found must be an Optimizer, or what its diagnostics\(\) returned, got "):
        plot_trust(given)


def test_parameters_are_checked(mixed):
    with pytest.raises(ValueError, match=r"^parameters must be a pair of numbers or names, got 'lr'$"):
        plot_retained(mixed, "lr")
    with pytest.raises(ValueError, match=r"^parameters must be a list of numbers or names, got 'lr'$"):
        plot_slices(mixed, "lr")
    with pytest.raises(ValueError, match=r"^parameters must be a list of numbers or names, got \[\]$"):
        plot_slices(mixed, [])


# ---- directions


def test_a_result_says_what_its_best_value_is():
    down, up = (gssbo.minimize(lambda x: x[0], [(-1, 1)], n_evals=6, maximize=flag, rng=0) for flag in (False, True))
    assert (down.maximize, up.maximize) == (False, True)
    for run in (up, [up], {"a": up}, {"a": [up], "values": up.func_vals}):
        line = plot_convergence(run).axes[0].lines[0]
        np.testing.assert_array_equal(line.get_ydata(), np.maximum.accumulate(up.func_vals))
    line = plot_convergence(down).axes[0].lines[0]
    np.testing.assert_array_equal(line.get_ydata(), np.minimum.accumulate(down.func_vals))
    line = plot_convergence(up, maximize=False).axes[0].lines[0]  # whoever asks for it
    np.testing.assert_array_equal(line.get_ydata(), np.minimum.accumulate(up.func_vals))
    running = gssbo.Optimizer([(0, 1)], maximize=True)
    running.tell([0.5], 1.0)
    for mixed in ([down, up], {"down": down, "up": up}, {"down": [down], "up": running}):
        with pytest.raises(ValueError, match=r"^runs must be all minimised or all maximised"):
            plot_convergence(mixed)
    with pytest.raises(ValueError, match=r"^maximize must be"):
        plot_convergence(up, maximize="yes")


def test_convergence_of_no_runs_is_refused():
    with pytest.raises(ValueError, match=r"^runs must hold at least one run, got \{\}$"):
        plot_convergence({})


def test_parameters_are_whole_numbers_of_any_type(mixed):
    for given in ([np.int64(1), 0], np.array([1, 0]), (np.uint8(1), "lr"), np.array(["n", "lr"])):
        assert [axes.get_xlabel() for axes in plot_slices(mixed, given).axes] == ["n", "lr"]
        axes = plot_retained(mixed, given).axes[0]
        assert (axes.get_xlabel(), axes.get_ylabel()) == ("n", "lr")
    for wrong in ([True, 0], [np.True_, 0], np.array([True, False]), [1.0, 0], [-1, 0]):
        for draw in (plot_slices, plot_retained):
            with pytest.raises(ValueError, match=r"^parameters must be 0 to 3, or one of lr, n, act, fixed, got "):
                draw(mixed, wrong)
    for wrong in (np.array(1), b"ab", 1):
        with pytest.raises(ValueError, match=r"^parameters must be a list of numbers or names, got "):
            plot_slices(mixed, wrong)


@pytest.mark.parametrize("n", [12, 130])  # without a snapshot, and with one
def test_times_of_a_reopened_journal_are_those_of_the_run(tmp_path, n):
    path, options = tmp_path / "run.jsonl", {"n_init": 8, "rng": 0, "threads": 1}
    with gssbo.Optimizer([(0.0, 1.0)] * 2, journal=path, **options) as opt:
        spent = 0.0
        for _ in range(n):
            x = opt.ask()
            spent += opt.last_ask_seconds
            opt.tell(x, float(x @ x))
    with gssbo.Optimizer([(0.0, 1.0)] * 2, journal=path, **options) as again:
        assert again.timings.total == pytest.approx(spent)
        assert sum(again.timings.values()) == pytest.approx(again.timings.total)
        before = again.timings.total
        (text,) = (each.get_text() for each in plot_times(again).axes[0].texts)
        assert text == f"  {before:.3g} s, {1e3 * before / n:.3g} ms an evaluation"
        again.ask()
        assert again.timings.total > before


def texts(figure):
    """Every text of a figure, as it is drawn."""
    figure.savefig(io.BytesIO(), format="png", dpi=50)
    return {text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))}


def test_dollars_that_enclose_no_formula_stand_for_themselves():
    opt = gssbo.Optimizer({"$_$": (0.0, 1.0), "$\\beta$": ["$\\bad$", "5 $", "b"]}, n_init=4, rng=0, threads=1)
    for _ in range(8):
        x = opt.ask()
        opt.tell(x, x["$_$"])
    opt.ask()
    for drawn in (plot_importance(opt), plot_slices(opt), plot_retained(opt)):
        assert {"\\$_\\$", "$\\beta$"} <= texts(drawn)
    assert {"\\$\\bad\\$", "5 \\$", "b"} <= texts(plot_slices(opt))
    assert "\\$_\\$" in texts(plot_times({"$_$": opt}))
    drawn = texts(plot_convergence({"$_$": opt}, value_name="$^$"))
    assert {"\\$_\\$", "best \\$^\\$ so far"} <= drawn
    drawn = texts(plot_run([1.0, 2.0], [0.1, 0.2], title="$_$.jsonl", value_name="$^$"))
    assert {"\\$_\\$.jsonl", "\\$^\\$"} <= drawn

"""The arena: what is counted and recorded, who is first, what the commands do. Only methods without other packages."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from scipy.stats import mannwhitneyu

import gssbo

sys.path.insert(0, str(Path(__file__).parents[1]))  # `bench` is no part of the package

from bench.arena import __main__ as commands
from bench.arena import figure, methods, plan, repeats, results, rows, standing, versus
from bench.arena import table as tables
from bench.arena.objective import Objective
from bench.arena.problems import bbob_names, find_problem, packages_for
from bench.searches import Spent
from gssbo.problems import Problem, get_problem


def bowl(**changes):
    options = {
        "name": "bowl", "bounds": [(-1.0, 3.0)], "function": lambda X: (X**2).sum(axis=-1) - 1.0, "optimum": -1.0,
        "x_optimum": [0.0], "source": "test",
    }  # fmt: skip
    return Problem(**(options | changes))


def record(problem="p", method="m", seed=0, n_evals=100, simple=1.0, cumulative=10.0, **changes):
    mark = str(n_evals)
    return {
        "problem": problem, "method": method, "seed": seed, "n_evals": n_evals, "simple": {mark: simple},
        "cumulative": {mark: cumulative}, "seconds": {mark: 0.5}, "at": [1, 10], "best": [5.0, simple],
    } | changes  # fmt: skip


# ---- the objective


def test_what_is_evaluated_is_counted_and_no_more_than_the_budget():
    objective = Objective(bowl(), 3)
    assert [objective(np.array([x])) for x in (2.0, 1.0, 1.5)] == [3.0, 0.0, 1.25]
    with pytest.raises(Spent):
        objective(np.array([0.0]))
    assert objective.told == objective.true == [3.0, 0.0, 1.25]
    np.testing.assert_array_equal(objective.simple_regret(), [4.0, 1.0, 1.0])
    np.testing.assert_array_equal(objective.cumulative_regret(), [4.0, 5.0, 7.25])
    assert len(objective.stamps) == 3
    assert objective.stamps == sorted(objective.stamps)


def test_the_unit_cube_is_scaled_to_the_box():
    objective = Objective(bowl(), 2)
    assert [objective.unit(np.array([u])) for u in (0.0, 0.75)] == [0.0, 3.0]


class Function:
    """A stand-in for one of ioh's."""

    def __init__(self, number, instance, dim, suite):
        self.bounds = SimpleNamespace(lb=np.full(dim, -5.0), ub=np.full(dim, 5.0))
        self.optimum = SimpleNamespace(x=np.zeros(dim), y=7.0)

    def __call__(self, x):
        return float((np.asarray(x) ** 2).sum()) + 7.0


def test_bbob_functions_are_found_by_name_and_their_instance_by_seed(monkeypatch):
    asked = []

    def get_problem(*arguments):
        asked.append(arguments)
        return Function(*arguments)

    package = SimpleNamespace(get_problem=get_problem, ProblemClass=SimpleNamespace(BBOB="bbob"))
    monkeypatch.setitem(sys.modules, "ioh", package)
    problem = find_problem("bbob-f03-d2", 4)
    assert asked == [(3, 5, 2, "bbob")]
    assert (problem.name, problem.dim, problem.regret(problem([1.0, 2.0]))) == ("bbob-f03-d2", 2, 5.0)
    np.testing.assert_array_equal(problem([[1.0, 2.0], [0.0, 0.0]]), [12.0, 7.0])
    assert len(bbob_names(5)) == 24
    assert packages_for(bbob_names(5)[0]) == ("ioh",)
    assert packages_for("hartmann6") == ()
    for wrong in ("bbob-f00-d2", "bbob-f25-d2", "bbob-f03-d1"):
        with pytest.raises(ValueError, match=f"got '{wrong}'"):
            find_problem(wrong)


@pytest.mark.parametrize("x", [-1.1, 3.1, np.nan])
def test_points_outside_the_box_are_refused(x):
    objective = Objective(bowl(), 2)
    with pytest.raises(ValueError, match="within the bounds of bowl"):
        objective(np.array([x]))
    assert objective(np.array([3.0 + 1e-12])) == 8.0  # rounding is not refused


def test_noise_misleads_the_incumbent_and_regret_is_without_it():
    noise = iter([0.0, -5.0, 1.0])
    problem = bowl(
        function=lambda X, rng: (X**2).sum(axis=-1) - 1.0 + next(noise), stochastic=True,
        expectation=lambda X: (X**2).sum(axis=-1) - 1.0,
    )  # fmt: skip
    objective = Objective(problem, 3)
    for x in (1.0, 2.0, 0.0):
        objective(np.array([x]))
    assert objective.told == [0.0, -2.0, 0.0]
    np.testing.assert_array_equal(objective.simple_regret(), [1.0, 4.0, 4.0])
    np.testing.assert_array_equal(objective.cumulative_regret(), [1.0, 5.0, 5.0])


def test_the_objectives_seconds_are_not_the_optimizers():
    def slow(X):
        return np.array([np.linalg.svd(np.ones((250, 250)))[1].sum()])

    objective = Objective(bowl(function=slow), 5)
    for _ in range(5):
        objective(np.array([0.0]))
    assert objective.seconds > 5.0 * objective.optimizer_seconds
    assert objective.stamps[-1] <= objective.optimizer_seconds


# ---- methods


@pytest.mark.parametrize("name", ["random", "de", "gssbo", "gssbo-gp-ei", "rssbo"])
def test_methods_spend_the_budget_exactly_and_repeat(name):
    first, second, other = (commands.play(name, methods.find(name), "branin2", seed, 33) for seed in (1, 1, 2))
    assert first["n_evals"] == 33
    for what in ("simple", "cumulative", "at", "best"):
        assert first[what] == second[what]
    assert first["best"] != other["best"]
    assert first["best"] == sorted(first["best"], reverse=True)


def test_differential_evolution_begins_anew_when_it_has_converged():
    run = commands.play("de", methods.find("de"), "branin2", 0, 3_000)
    assert run["n_evals"] == 3_000
    assert run["simple"]["3000"] < 1e-8


def test_ours_is_the_optimizer_with_its_defaults_or_with_the_options_given():
    x = get_problem("branin2").bounds
    asked = {}
    for label, options in (("defaults", {}), ("other", {"acquisition": "thompson"})):
        objective = Objective(get_problem("branin2"), 25)
        with pytest.raises(Spent):
            methods.find("gssbo", options).run(objective, 3)
        asked[label] = objective.told
    assert asked["defaults"] == gssbo.minimize(get_problem("branin2"), x, n_evals=25, rng=3).func_vals.tolist()
    assert asked["other"] != asked["defaults"]


def test_unknown_methods_and_options_for_peers_are_refused():
    with pytest.raises(ValueError, match="method must be one of"):
        methods.find("nobody")
    with pytest.raises(ValueError, match=r"options are for gssbo's own methods.*'de'"):
        methods.find("de", {"rule": "random"})


def test_a_method_that_ends_early_is_an_error():
    lazy = methods.Method(lambda objective, seed: None)
    with pytest.raises(RuntimeError, match="lazy ended after 0 of 5 evaluations of branin2"):
        commands.play("lazy", lazy, "branin2", 0, 5)


# ---- records


def test_a_record_holds_the_checkpoints_and_the_curve():
    objective = Objective(bowl(), 250)
    values = np.random.default_rng(0).uniform(0.0, 2.0, 250)
    for x in values:
        objective(np.array([x]))
    run = results.describe_run("m", 4, methods.find("random"), objective, 9.0)
    assert list(run["simple"]) == list(run["cumulative"]) == list(run["seconds"]) == ["20", "100", "200", "250"]
    for mark in (20, 100, 200, 250):
        assert run["simple"][str(mark)] == pytest.approx((values[:mark] ** 2).min(), rel=1e-5)
        assert run["cumulative"][str(mark)] == pytest.approx((values[:mark] ** 2).sum(), rel=1e-5)
    assert run["seconds"]["250"] == 9.0
    n = np.arange(1, 251)
    np.testing.assert_allclose(figure.curve(run, n), np.maximum(np.minimum.accumulate(values**2), 1e-8), rtol=6e-4)
    assert np.isnan(figure.curve(run, np.array([251]))).all()
    assert len(run["at"]) == len(run["best"]) < 30
    assert set(run["versions"]) == {"python", "gssbo", "numpy", "scipy"}
    assert run["machine"]


def test_files_are_appended_to_and_the_newest_line_counts(tmp_path):
    for name, run in (("a", record(simple=1.0)), ("a", record(simple=2.0)), ("b", record(seed=1))):
        results.append(tmp_path / "new" / f"{name}.jsonl", run)
    loaded = results.load([tmp_path / "new"])
    assert [run["simple"]["100"] for run in loaded] == [2.0, 1.0]
    assert results.load([tmp_path / "new" / "b.jsonl"]) == [record(seed=1)]


# ---- standing


def test_first_ties_and_ranks():
    spread = np.linspace(0.9, 1.1, 10)
    runs = [
        record(method=method, seed=seed, simple=float(scale * spread[seed]))
        for method, scale in (("a", 1.0), ("b", 1.02), ("c", 3.0))
        for seed in range(10)
    ]
    (row,) = standing.rows(runs, ["p", "q"], 100)
    assert (row.first, row.tied()) == ("a", ["a", "b"])
    assert [row.rank(name) for name in "abc"] == [1, 2, 3]
    assert mannwhitneyu(spread, 1.02 * spread).pvalue > standing.P_TIED > mannwhitneyu(spread, 3.0 * spread).pvalue
    assert row.beats_median_peer("b", ["a", "c"])
    assert not row.beats_median_peer("c", ["a", "b"])
    assert row.beats_median_peer("a", ["nobody"]) is None
    assert standing.tally([row], "b") == standing.Tally(n_rows=1, first=0, tied=1, mean_rank=2.0)


def test_found_is_found():
    runs = [record(method=m, seed=s, simple=v) for m, v in (("a", 1e-15), ("b", 3e-9), ("c", 2e-8)) for s in range(9)]
    (row,) = standing.rows(runs, ["p"], 100)
    assert row.tied() == ["a", "b"]
    assert [row.rank(name) for name in "abc"] == [1, 1, 3]
    assert standing.p_value(np.ones(3), np.ones(5)) == 1.0


def test_the_shortest_run_with_the_checkpoint_counts():
    both = {"100": 1.0, "300": 0.5}
    long = record(n_evals=300, simple=0.5) | dict.fromkeys(("simple", "cumulative", "seconds"), both)
    short = record(simple=2.0)
    for runs in ([long, short], [short, long]):
        assert standing.rows(runs, ["p"], 100)[0].cells["m"].simple == (2.0,)
    assert standing.rows([long], ["p"], 100)[0].cells["m"].simple == (1.0,)
    assert standing.rows([short, long], ["p"], 300)[0].cells["m"].simple == (0.5,)
    assert standing.rows([short], ["p"], 300) == []


# ---- what is shown


def test_the_table_shows_losses_too():
    runs = [
        record(problem=problem, method=method, seed=seed, simple=value + 1e-3 * seed, cumulative=1e7 * value)
        for problem, values in (("p", {"gssbo": 5.0, "cma": 1.0}), ("q", {"gssbo": 0.0, "de": 2.0}))
        for method, value in values.items()
        for seed in range(5)
    ]
    text = tables.document(runs, ["p", "q", "r"], 100)
    assert "| problem | gssbo | cma | de |" in text
    assert "| p | 5.00 (2) | **1.00 (1)** |  |" in text
    assert "| q | **0.00200 (1)** |  | 2.00 (2) |" in text
    assert "| p | 5.0e7 | 1.0e7 |  |" in text
    assert "| gssbo | 2 | 1 | 1 | 1.50 | 1 of 2 |" in text
    assert "| cma | 1 | 1 | 1 | 1.00 | 1 of 1 |" in text
    assert "found" in tables.document([record(simple=1e-12)], ["p"], 100)
    assert "| problem | de |" in tables.document(runs, ["q"], 100, ["de"])
    assert "No runs" in tables.document(runs, ["p"], 200)


def test_the_table_says_how_many_seeds_there_are_at_least_and_at_most():
    runs = [record(problem=problem, seed=seed) for problem, n in (("p", 10), ("q", 3)) for seed in range(n)]
    assert "Seeds: m 3-10." in tables.document(runs, ["p", "q"], 100)
    assert "Seeds: m 3." in tables.document(runs, ["q"], 100)


def test_the_figure_takes_the_shortest_run_that_lasts():
    runs = [record(seed=seed, n_evals=n) for seed, n in ((0, 50), (0, 300), (0, 1000), (1, 50), (1, 100))]
    runs += [record(method="other"), record(problem="other")]
    assert [run["n_evals"] for run in figure.chosen(runs, "p", "m", 200)] == [300, 100]
    assert [run["n_evals"] for run in figure.chosen(runs, "p", "m", 50)] == [50, 50]
    assert figure.chosen(runs, "p", "nobody", 50) == []


def test_the_figure_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    runs = [record(problem=p, method=m, seed=s) for p in "pqrst" for m in "ab" for s in range(3)]
    figure.draw(runs, list("pqrst"), 100, ["a", "b", "nobody"], tmp_path / "new" / "x.png")
    assert (tmp_path / "new" / "x.png").read_bytes()[:4] == b"\x89PNG"


# ---- commands


def test_rows_are_problems_of_many_dimensions():
    problems = [get_problem(name) for name in rows.PROBLEMS]
    assert [problem.name for problem in problems] == list(rows.PROBLEMS)
    assert len(rows.SHAPES) >= 12
    assert (min(p.dim for p in problems), max(p.dim for p in problems)) == (2, 100)
    assert set(rows.LONG) <= set(rows.PROBLEMS)
    for problem in problems:
        centre = problem.bounds.mean(axis=1)
        if problem.name not in ("rastrigin100",):  # the paper's, which also comes shifted
            assert not np.allclose(problem.x_optimum, centre)


def test_a_run_is_written_once(tmp_path, capsys):
    file = tmp_path / "r.jsonl"
    arguments = [
        "run",
        "--method",
        "random",
        "--problem",
        "branin,shekel4-shifted",
        "--seeds",
        "0-1,5",
        "--n-evals",
        "120",
    ]
    assert commands.main([*arguments, "--out", str(file)]) == 0
    lines = file.read_text().splitlines()
    assert [(r["problem"], r["seed"]) for r in map(json.loads, lines)] == [
        (problem, seed) for problem in ("branin2", "shekel4-shifted") for seed in (0, 1, 5)
    ]
    assert commands.main([*arguments, "--out", str(file)]) == 0
    assert file.read_text().splitlines() == lines
    assert commands.main([*arguments, "--out", str(file), "--again", "--seeds", "5"]) == 0
    assert len(file.read_text().splitlines()) == 8
    capsys.readouterr()
    assert commands.main(["table", "--results", str(file), "--n-evals", "100", "120"]) == 0
    out = capsys.readouterr().out
    assert out.count("| branin2 | **") == 2
    assert "After 120 evaluations" in out
    pytest.importorskip("matplotlib")
    assert commands.main(["plot", "--results", str(file), "--n-evals", "120", "--out", str(tmp_path / "x.png")]) == 0
    assert (tmp_path / "x.png").exists()
    assert commands.main(["plot", "--results", str(file), "--n-evals", "121", "--out", str(tmp_path / "y.png")]) == 1


def test_the_plan_is_collected_once(tmp_path, capsys, monkeypatch):
    jobs = (plan.Job("random", ("branin2", "shekel4-shifted"), 2, 30), plan.Job("de", ("branin2",), 1, 20))
    monkeypatch.setattr(plan, "PLAN", jobs)
    arguments = ["collect", "--methods", "random,de", "--folder", str(tmp_path / "new")]
    assert commands.main([*arguments, "--dry"]) == 0
    assert not (tmp_path / "new").exists()
    assert commands.main(arguments) == 0
    assert [results.key(run) for run in results.load([tmp_path / "new"])] == [
        ("branin2", "de", 0, 20),
        ("branin2", "random", 0, 30),
        ("shekel4-shifted", "random", 0, 30),
        ("branin2", "random", 1, 30),
        ("shekel4-shifted", "random", 1, 30),
    ]
    capsys.readouterr()
    assert commands.main(arguments) == 0
    assert capsys.readouterr().out == "random: 0 runs to make\nde: 0 runs to make\n"
    done = {("branin2", "random", 0, 30)}
    assert next(plan.missing("random", done)) == ("shekel4-shifted", 0, 30)


def test_the_plan_covers_every_row():
    assert sorted(plan.LOW + plan.HIGH) == sorted(rows.PROBLEMS)
    assert all(get_problem(name).dim >= 50 for name in plan.HIGH)
    assert max(get_problem(name).dim for name in plan.LOW) <= 20
    for job in plan.PLAN:
        assert methods.find(job.method)


def test_options_need_a_label_of_their_own(tmp_path, capsys):
    file = tmp_path / "r.jsonl"
    arguments = ["run", "--method", "gssbo", "--problem", "branin2", "--n-evals", "22", "--out", str(file)]
    with pytest.raises(SystemExit):
        commands.main([*arguments, "--options", '{"rule": "random"}'])
    assert "--label" in capsys.readouterr().err
    assert commands.main([*arguments, "--options", '{"rule": "random"}', "--label", "trial"]) == 0
    (run,) = results.load([file])
    assert (run["method"], run["options"]) == ("trial", {"rule": "random"})


@pytest.mark.parametrize(("arguments", "message"), [
    (["--method", "nobody", "--problem", "branin2"], "method must be one of"),
    (["--method", "random", "--problem", "nowhere"], "name must be one of"),
])  # fmt: skip
def test_wrong_arguments(arguments, message, capsys, tmp_path):
    with pytest.raises(SystemExit) as end:
        commands.main(["run", *arguments, "--out", str(tmp_path / "x")])
    assert end.value.code == 2
    assert message in capsys.readouterr().err


def test_result_files_hold_rows_of_the_arena():
    runs = results.load([results.FOLDER])
    assert len(runs) > 500
    for run in runs:
        assert run["problem"] in rows.PROBLEMS
        assert str(run["n_evals"]) in run["simple"]
        assert len(run["at"]) == len(run["best"])
        assert not str(run["commit"]).endswith("+")


def test_a_comparison_of_cumulative_regrets_after_the_design():
    def run(method, seed, early, end):
        cumulative = {"20": early, "100": end}
        return {"problem": "p", "method": method, "seed": seed, "n_evals": 100, "cumulative": cumulative}

    runs = [run("a", 0, 1.0, 3.0), run("a", 1, 2.0, 6.0), run("a", 2, 0.0, 6.0)]
    runs += [run("b", 0, 1.0, 9.0), run("b", 1, 1.0, 10.0), run("b", 2, 1.0, 11.0)]
    assert versus.regrets(runs, "p", "a") == [2.0, 4.0, 6.0]
    found = versus.compare([2.0, 4.0, 6.0], [8.0, 9.0, 10.0])
    # Welch by hand: variances 4 and 1, error sqrt(5/3), 50/17 degrees of freedom.
    half = stats.t.ppf(0.975, 50 / 17) * np.sqrt(5 / 3)
    assert found == pytest.approx((4 / 9, -5.0 - half, -5.0 + half))
    assert not found.worse
    assert not versus.compare([8.0, 9.0, 10.0], [2.0, 4.0, 6.0]).high < 0.0
    assert "| p | 4 ± 2 (3) | 9 ± 1 (3) | 0.444, better" in versus.table(runs, ["p"], "a", ["b"])


def test_runs_made_again_are_held_against_the_record(tmp_path, capsys):
    def run(seed, end, seconds):
        return {
            **{"problem": "p", "method": "m", "seed": seed, "n_evals": 20, "at": [1, 7], "best": [4.0, end]},
            **{"simple": {"20": end}, "cumulative": {"20": 9.0}, "seconds": {"20": seconds}},
        }

    record = [run(0, 3.0, 1.0), run(1, 1.5, 1.0), run(0, 2.0, 1.0)]  # of seed 0 the last counts
    found = repeats.compare([run(0, 2.0, 5.0), run(1, 1.0, 1.0), run(2, 2.0, 1.0)], record)
    assert [len(group) for group in found] == [1, 1, 1]
    assert found.same[0]["seed"] == 0
    assert repeats.report(found).splitlines()[2:] == [
        "| m | 20 | 1 | 1 | 1 |",
        "",
        "- p m seed 1: simple regret 1 (cumulative 9) on record 1.5 (cumulative 9)",
    ]
    for name in repeats.NUMBERS:
        changed = run(0, 2.0, 1.0)
        changed[name] = {"20": 9.5} if isinstance(changed[name], dict) else [1, 8]
        assert repeats.compare([changed], record).changed
    more = run(0, 2.0, 1.0)
    more["simple"]["10"] = 4.0  # a checkpoint that was not looked at when the record was made
    assert repeats.compare([more], record).same

    again, old = tmp_path / "again.jsonl", tmp_path / "old.jsonl"
    results.append(again, run(0, 2.0, 5.0))
    results.append(old, run(0, 2.0, 1.0))
    assert commands.main(["repeated", str(again), "--record", str(old)]) == 0
    assert "| m | 20 | 1 | 0 | 0 |" in capsys.readouterr().out
    results.append(again, run(0, 1.0, 5.0))
    assert commands.main(["repeated", str(again), "--record", str(old)]) == 1

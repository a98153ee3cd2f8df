"""The benches themselves: what they compare is the same work, and their verdicts follow from the numbers."""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")
pytest.importorskip("threadpoolctl")
sys.path.insert(0, str(Path(__file__).parents[1]))  # `bench` is no part of the package

import gssbo
from bench import plans, report, timing
from bench.workloads import Disagreement, Shortfall, Target, Timed, Work, Workload, dense, gaussian_process, loop
from bench.workloads.base import require_close, require_equal
from bench.workloads.inputs import history

pytestmark = pytest.mark.usefixtures("single_thread")

RATES = {"dgemm": 1e10, "dpotrf": 1e10, "copy": 1e10}
TINY = [builder for section in plans.TINY.sections for builder in section.builders]


class Clock:
    """Time that passes only when told to."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def path(self, seconds, result=1.0, log=None, name=""):
        def run():
            self.now += seconds
            if log is not None:
                log.append(name)
            return result

        return run


def stub(clock, ours=0.010, other=0.030, **changes):
    log = []
    workload = Workload(
        name="stub",
        unit="ms",
        ours=clock.path(ours, log=log, name="gssbo"),
        references={"other": clock.path(other, log=log, name="other")},
        check=lambda result, results: require_close("result", result, results["other"]),
        work=Work(1e7, "dgemm"),
    )
    return replace(workload, **changes), log


# ---- workloads


@pytest.mark.parametrize("build", TINY)
def test_ours_and_the_references_do_the_same_work(build):
    build().verify()


@pytest.mark.parametrize("variant", loop.VARIANTS)
@pytest.mark.parametrize("n", [24, 32])
def test_iterations_are_those_of_the_loop_on_scikit_learn(variant, n):
    workload = loop.iterations("hartmann6", n, 2, variant, 30)
    assert loop.reference_label(variant) in workload.references
    for label in ("gssbo", *workload.references):
        assert workload.call(label).result.shape == (6,)
    assert workload.check(None, {}) is None


def test_refits_reach_the_likelihood_of_scikit_learn():
    remark = gaussian_process.refit("hartmann6", (30,), 2, 40).verify()
    assert "100% of 2 fits" in remark


def test_a_history_is_continued_not_repeated():
    X, y = history("hartmann6", 23)
    longer, responses = history("hartmann6", 26)
    assert longer.shape == (26, 6)
    np.testing.assert_array_equal(longer[:23], X)
    np.testing.assert_array_equal(responses[:23], y)


def test_a_wrong_result_is_refused():
    wrong = replace(dense.inverse(20), ours=lambda: np.zeros((20, 24)))
    with pytest.raises(Disagreement, match="inverse, LAPACK"):
        wrong.verify()
    with pytest.raises(Disagreement, match="shapes"):
        require_close("x", [1.0], [1.0, 2.0])
    with pytest.raises(Disagreement):
        require_close("x", [np.nan], [1.0])
    with pytest.raises(Disagreement, match="subset"):
        require_equal("subset", [1, 2], [1, 3])


# ---- timing


def test_paths_are_timed_in_turn():
    clock = Clock()
    workload, log = stub(clock)
    found = timing.measure(workload, repetitions=4, budget=10.0, clock=clock)
    assert found.seconds == pytest.approx({"gssbo": 0.010, "other": 0.030})
    assert found.samples == {"gssbo": 4, "other": 4}
    assert log[-8:] == ["gssbo", "other"] * 4
    assert found.ratios == pytest.approx({"other": 3.0})
    assert found.fraction(RATES) == pytest.approx(0.1)


def test_what_is_compared_across_workloads_is_timed_in_turn():
    clock, order = Clock(), []
    workload, _ = stub(clock)
    trials = [
        timing.Trial(
            replace(workload, ours=clock.path(0.02, log=order, name=name)), repetitions=3, budget=10.0, clock=clock
        )
        for name in ("small", "large")
    ]
    order.clear()
    timing.take_turns(trials)
    assert order == ["small", "large"] * 3
    assert [trial.measurement.samples for trial in trials] == [{"gssbo": 3, "other": 3}] * 2
    timing.take_turns([])


def test_nothing_is_timed_after_a_wrong_result():
    clock = Clock()
    workload, log = stub(clock, references={"other": clock.path(0.03, result=2.0)})
    with pytest.raises(Disagreement):
        timing.measure(workload, repetitions=4, budget=10.0, clock=clock)
    assert log == ["gssbo"]


def test_a_slow_path_is_run_once():
    clock = Clock()
    workload, log = stub(clock, other=5.0)
    found = timing.measure(workload, repetitions=4, budget=1.0, clock=clock)
    assert log.count("other") == 1
    assert found.seconds["other"] == 5.0
    assert found.samples == {"gssbo": 4, "other": 1}


def test_short_calls_are_timed_together():
    clock = Clock()
    workload, log = stub(clock, ours=1e-4)
    found = timing.measure(workload, repetitions=2, budget=1.0, clock=clock)
    assert log.count("gssbo") >= 2 * timing.SHORTEST / 1e-4
    assert found.seconds["gssbo"] == pytest.approx(1e-4)


def test_what_goes_before_does_not_count():
    clock = Clock()
    workload, log = stub(clock, ours=1e-4)
    workload = replace(workload, before=clock.path(1.0, log=log, name="before"))
    found = timing.measure(workload, repetitions=3, budget=1.0, clock=clock)
    assert found.seconds["gssbo"] == pytest.approx(1e-4)
    assert log.count("before") == log.count("gssbo")


def test_a_path_may_time_itself_and_hold_several_units():
    clock = Clock()
    workload, _ = stub(clock, ours=1.0, check=lambda *_: "fine", per=5)
    workload = replace(workload, ours=lambda: Timed(0.5, 1.0))
    found = timing.measure(workload, repetitions=3, budget=3.0, clock=clock)
    assert found.seconds["gssbo"] == pytest.approx(0.1)
    assert found.remark == "fine"


def test_machine_rates_are_positive():
    rates = timing.machine_rates(n=40, megabytes=1, repetitions=1)
    assert rates.keys() == RATES.keys()
    assert min(rates.values()) > 0.0


# ---- report


def test_targets():
    seconds = {"gssbo": 0.1, "other": 1.0}
    assert Target("other", 10.0).met(seconds)
    assert not Target("other", 10.5).met(seconds)
    assert Target(seconds=0.1).met(seconds)
    assert not Target(seconds=0.09).met(seconds)
    assert str(Target("other", 1 / 1.4)) == "at most 1.4x the time of other"
    assert str(Target("other", 18.0)) == "at least 18x other"
    assert str(Target(seconds=2.0)) == "at most 2 s"


def test_bounds_across_sizes():
    seconds = {"a": 1.0, "b": 1.5, "c": 1.2}
    assert plans.Bound("", ("a", "b", "c"), True, 2.0).value(seconds) == pytest.approx(1.5)
    assert plans.Bound("", ("a", "b", "c"), False, 2.0).value(seconds) == pytest.approx(1.5)
    assert plans.Bound("", ("c", "a"), True, 2.0).value(seconds) == pytest.approx(1 / 1.2)


@pytest.mark.parametrize(
    ("seconds", "unit", "text"),
    [(0.0123456, "ms", "12.3 ms"), (1.5e-6, "ms", "1.5 µs"), (123.4, "s", "123 s"), (0.02, "s", "20 ms")],
)
def test_times_are_shown_with_three_digits(seconds, unit, text):
    assert report.show(seconds, unit) == text


def stub_plan(*workloads):
    section = plans.Section("Stub", tuple(lambda w=w: w for w in workloads))
    bounds = (plans.Bound("growth", ("stub", "second"), True, 4.0),)
    return plans.Plan((section,), bounds, repetitions=2, budget=0.05, memory=None)


def test_a_report_has_times_ratios_targets_and_the_machine():
    met, _ = stub(Clock(), targets=(Target("other", 1e-9),))
    missed = replace(met, name="second", targets=(Target("other", 1e9), Target(seconds=3600.0)))
    wrong = replace(met, name="third", references={"other": lambda: 7.0})
    lines = []
    plan = stub_plan(met)
    section = plans.Section("Compared", (lambda: (missed, wrong),))
    plan = plan._replace(sections=(*plan.sections, section))
    data, wrongs, misses = report.produce(plan, [1, 2], lines.append, RATES)
    text = "\n".join(lines)
    assert text.count("| stub |") == 2
    assert "at most 1e+09x the time of other: met" in text
    assert "at least 1e+09x other: MISSED; at most 3600 s: met" in text
    assert "of dgemm" in text
    assert "| third | WRONG RESULT |" in text
    assert "growth" in text
    assert "OPENBLAS_CORETYPE" in text
    assert "scikit-learn" in text
    assert "## 2 threads, ours and the references' BLAS" in text
    assert wrongs == ["third", "third"]
    assert any(each.startswith("second: at least 1e+09x other") for each in misses)
    assert {record["blas_threads"] for record in data["records"]} == {1, 2}
    json.dumps(data)


@pytest.mark.parametrize("count", [1, 6])
def test_our_threads_are_as_many_as_the_references(count):
    with report.own_threads(count):
        portfolio, box = (gssbo.Optimizer([(0.0, 1.0)], method=method) for method in ("portfolio", "box"))
    assert portfolio._strategy._threads == box.surrogate.threads == count


def test_the_command_prints_a_report_and_its_status_tells_wrong_results(monkeypatch, capsys, tmp_path):
    workload, _ = stub(Clock())
    monkeypatch.setattr(report, "machine_rates", lambda: RATES)
    monkeypatch.setattr(report, "QUICK", stub_plan(workload))
    file = tmp_path / "numbers.json"
    assert report.main(["--quick", "--json", str(file)]) == 0
    assert "## 1 thread, ours and the references' BLAS\n" in capsys.readouterr().out
    assert json.loads(file.read_text(encoding="utf-8"))["records"][0]["name"] == "stub"
    monkeypatch.setattr(report, "QUICK", stub_plan(replace(workload, references={"other": lambda: 7.0})))
    assert report.main(["--quick", "--threads", "1"]) == 1


def test_a_worse_outcome_takes_the_targets_away():
    workload, _ = stub(Clock(), targets=(Target("other", 1e-9),), check=lambda *_: Shortfall("2 nats below"))
    lines = []
    _, wrong, missed = report.produce(stub_plan(workload), [1], lines.append, RATES)
    assert not wrong
    assert missed[0].startswith("stub: ")
    assert "SHORTFALL, 2 nats below" in "\n".join(lines)


def test_totals_over_slices():
    seconds = {"a": {"gssbo": 1.0, "other": 10.0}, "b": {"gssbo": 3.0, "other": 30.0}}
    total = plans.Total("", (("a", "other"), ("b", "other")), (("a", "gssbo"), ("b", "gssbo")), 10.0)
    assert total.value(seconds) == pytest.approx(10.0)
    assert total.workloads == ("a", "b", "a", "b")


def test_totals_are_of_slices_that_the_full_plan_measures():
    measured = {loop.iteration_name("hartmann6", n, "GSSBO") for n in plans.SLICES}
    assert measured <= {name for total in plans.TOTALS for name in total.workloads}

"""The books of the trials of a study."""

import contextlib
import copy
import math
import random

import numpy as np
import pytest

optuna = pytest.importorskip("optuna")

from optuna.search_space import intersection_search_space  # noqa: E402
from optuna.search_space.group_decomposed import _SearchSpaceGroup  # noqa: E402
from optuna.trial import TrialState, create_trial  # noqa: E402

from gssbo import Optimizer  # noqa: E402
from gssbo.integrations.optuna.trials import Trials  # noqa: E402
from tests.studies import SPACE, UNIT, bowl, only_model, study_with  # noqa: E402

pytestmark = pytest.mark.usefixtures("quiet")


@pytest.mark.parametrize("seed", range(5))
def test_books_agree_with_optuna_whatever_order_trials_finish_in(seed):
    draw = random.Random(seed)
    trials = []
    for number in range(40):
        names = draw.sample("abcde", draw.randint(1, 5)) if number % 3 else list("abcde")
        distributions = dict.fromkeys(sorted(names), UNIT)
        state = draw.choice([TrialState.COMPLETE, TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL])
        trial = create_trial(
            params=dict.fromkeys(distributions, 0.5),
            distributions=distributions,
            state=state,
            value=1.0 if state == TrialState.COMPLETE else None,
        )
        trial.number = number
        trials.append(trial)
    books, shown = Trials(), [copy.copy(trial) for trial in trials]
    for trial in shown:
        trial.state = TrialState.RUNNING
    order = draw.sample(range(40), 40)
    for start in range(0, 40, 7):
        for number in order[start : start + 7]:
            shown[number] = trials[number]
        books.read(shown)
        ended = order[: start + 7]
        assert sorted(books.finished) == sorted(ended)
        assert books.running == sorted(set(range(40)) - set(ended))
        assert books.intersection == intersection_search_space([trials[n] for n in ended], include_pruned=True)
        groups = _SearchSpaceGroup()
        for number in ended:
            if trials[number].state != TrialState.FAIL:
                groups.add_distributions(trials[number].distributions)
        assert {frozenset(group) for group in books.groups} == {frozenset(group) for group in groups.search_spaces}


def test_finished_trials_are_looked_at_once():
    class Watched(list):
        looked_at = 0

        def __getitem__(self, index):
            self.looked_at += 1
            return super().__getitem__(index)

    study = optuna.create_study()
    study.add_trials([create_trial(params={"x": 0.5}, distributions={"x": UNIT}, value=1.0)] * 300)
    books = Trials()
    books.read(Watched(study.trials))
    study.ask()
    again = Watched(study.trials)
    books.read(again)
    assert books.running == [300]
    assert again.looked_at <= 2


def test_trials_that_finish_late_are_read_in_the_end():
    study = study_with()
    study.optimize(bowl, n_trials=2)
    first, second, third = (study.ask(SPACE) for _ in range(3))
    study.tell(third, 7.0)
    fourth = study.ask(SPACE)
    assert only_model(study).y.tolist() == [study.trials[0].value, study.trials[1].value, 7.0]
    assert [each.x for each in only_model(study).pending] == [first.params, second.params, fourth.params]
    study.tell(first, 9.0)
    study.tell(fourth, 5.0)
    study.ask(SPACE)
    assert only_model(study).y[2:].tolist() == [7.0, 9.0, 5.0]
    assert only_model(study).X[2:] == [third.params, first.params, fourth.params]
    study.tell(second, 8.0)
    study.ask(SPACE)
    assert only_model(study).y[-1] == 8.0


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("step", ["tell", "announce", "ask", "forget"])
def test_what_ctrl_c_interrupts_is_read_once(monkeypatch, step, when):
    study = study_with(failed="ignore")
    study.optimize(bowl, n_trials=4)
    ours, ignored, others = study.ask(SPACE), study.ask(SPACE), {"x": 0.25, "y": 0.5}
    study.tell(ours, 7.0)
    study.tell(ignored, state=TrialState.FAIL)
    study.add_trial(create_trial(params=others, distributions=SPACE, value=9.0))
    original, hits = getattr(Optimizer, step), []

    def interrupted(*arguments, **options):
        if when == "after":
            original(*arguments, **options)
        hits.append(step)
        raise KeyboardInterrupt

    for _ in range(2):
        with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
            patch.setattr(Optimizer, step, interrupted)
            study.ask(SPACE)
    assert hits
    for trial in study.get_trials(deepcopy=False, states=[TrialState.RUNNING]):
        study.tell(trial.number, state=TrialState.FAIL)
    last = study.ask(SPACE)
    model = only_model(study)
    assert model.y[4:].tolist() == [7.0, 9.0] and model.X[4:] == [ours.params, others]
    assert [each.x for each in model.pending] == [last.params]


def test_books_interrupted_are_read_once_more(monkeypatch):
    study = optuna.create_study()
    for name in ("x", "y"):
        study.add_trial(create_trial(params={name: 0.5}, distributions={name: UNIT}, value=1.0))
    books, meet = Trials(), Trials._meet

    def interrupted(self, distributions):
        meet(self, distributions)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Trials, "_meet", interrupted)
        books.read(study.trials)
    books.read(study.trials)
    assert (books.finished, books.n_completed, books.intersection) == ([0, 1], 2, {})
    assert [list(group) for group in books.groups] == [["x"], ["y"]]


def test_what_is_no_value_counts_as_failed_or_not_at_all():
    def told(**options):
        study = study_with(**options)
        ends = [
            {"value": 1.0},
            {"value": math.inf},
            {"value": -math.inf},
            {"state": TrialState.FAIL},
            {"state": TrialState.PRUNED, "intermediate_values": {0: -5.0}},
            {"value": 2.0},
        ]
        for i, end in enumerate(ends):
            study.add_trial(create_trial(params={"x": i / 8, "y": 0.5}, distributions=SPACE, **end))
        study.add_trial(create_trial(params={"x": 0.1}, distributions={"x": UNIT}, state=TrialState.FAIL))
        study.ask(SPACE)
        return only_model(study)

    assert np.array_equal(told().y, [1.0, *[math.nan] * 4, 2.0], equal_nan=True)
    assert np.array_equal(told(failed="ignore").y, [1.0, *[math.nan] * 3, 2.0], equal_nan=True)
    ignoring = told(failed="ignore", pruned="ignore")
    assert np.array_equal(ignoring.y, [1.0, math.nan, math.nan, 2.0], equal_nan=True)
    assert (ignoring.best_y, ignoring.best_x) == (1.0, {"x": 0.0, "y": 0.5})


@pytest.mark.skipif(not hasattr(optuna.trial.Trial, "set_constraint"), reason="trials have no constraints there")
def test_a_trial_that_violates_a_constraint_counts_as_failed():
    study = study_with()
    for value, violation in [(1.0, -1.0), (0.0, 0.5), (2.0, 0.0)]:
        trial = study.ask(SPACE)
        trial.set_constraint("c", violation)
        study.tell(trial, value)
    study.ask(SPACE)
    assert np.array_equal(only_model(study).y, [1.0, math.nan, 2.0], equal_nan=True)


def test_an_ignored_end_sets_the_suggestion_free():
    study = study_with(failed="ignore")
    study.optimize(bowl, n_trials=3)
    trial = study.ask(SPACE)
    study.tell(trial, state=TrialState.FAIL)
    study.ask(SPACE)
    assert only_model(study).n_told == 3
    assert [each.x for each in only_model(study).pending] == [study.trials[-1].params]


def test_enqueued_trials_are_observations_at_their_own_parameters():
    study = study_with()
    study.optimize(bowl, n_trials=3)
    study.enqueue_trial({"x": 0.25, "y": 0.5})
    study.enqueue_trial({"y": 0.125})
    asked = only_model(study)._pending.n_asked
    study.optimize(bowl, n_trials=3)
    model = only_model(study)
    # The one whose parameters were all given is announced when it is over; nothing was suggested for it.
    assert model._pending.n_asked == asked + 3
    study.ask(SPACE)
    assert model.X[3] == {"x": 0.25, "y": 0.5}
    assert (model.X[4]["y"], model.n_told) == (0.125, 6)
    assert len(model.pending) == 1

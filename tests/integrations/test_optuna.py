import contextlib
import copy
import logging
import math
import multiprocessing
import os
import pickle
import random
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

optuna = pytest.importorskip("optuna")

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution  # noqa: E402
from optuna.search_space import intersection_search_space  # noqa: E402
from optuna.search_space.group_decomposed import _SearchSpaceGroup  # noqa: E402
from optuna.trial import TrialState, create_trial  # noqa: E402

from gssbo import Optimizer  # noqa: E402
from gssbo.integrations.optuna import GSSBOSampler  # noqa: E402
from gssbo.integrations.optuna.relative_space import RelativeSpace  # noqa: E402
from gssbo.integrations.optuna.trials import Trials  # noqa: E402

UNIT = FloatDistribution(0.0, 1.0)
SPACE = {"x": UNIT, "y": UNIT}


@pytest.fixture(autouse=True)
def quiet():
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    yield
    optuna.logging.set_verbosity(before)


def bowl(trial):
    return (trial.suggest_float("x", 0, 1) - 0.3) ** 2 + (trial.suggest_float("y", 0, 1) - 0.7) ** 2


def study_with(*, storage=None, name=None, direction="minimize", **options):
    options = {"seed": 0, "n_startup_trials": 4, "threads": 1, "warn_independent_sampling": False} | options
    return optuna.create_study(
        sampler=GSSBOSampler(**options), storage=storage, study_name=name, direction=direction, load_if_exists=True
    )


def only_model(study):
    (model,) = study.sampler._models.values()
    return model.optimizer


def points(study):
    return [tuple(sorted(trial.params.items())) for trial in study.trials]


# ---- distributions and codes


def awkward_distributions():
    real = st.floats(-1e6, 1e6)
    return st.one_of(
        st.builds(lambda a, w: FloatDistribution(a, a + w), real, st.floats(1e-3, 1e6)),
        st.builds(lambda a, r: FloatDistribution(a, a * r, log=True), st.floats(1e-12, 1e6), st.floats(1.001, 1e9)),
        st.builds(
            lambda a, k, s: FloatDistribution(a, float(Decimal(str(a)) + k * Decimal(str(s))), step=s),
            st.sampled_from([-10.2, 0.1, 0.0, 3.0]),
            st.integers(1, 300),
            st.sampled_from([0.1, 0.2, 0.25, 1e-3, 7.0]),
        ),
        st.builds(
            lambda a, k, s: IntDistribution(a, a + k * s, step=s),
            st.integers(-(10**9), 10**9),
            st.integers(1, 10**9),
            st.integers(1, 9),
        ),
        st.builds(lambda a, w: IntDistribution(a, a + w, log=True), st.integers(1, 100), st.integers(1, 10**6)),
        st.sampled_from([(1, "a"), (None, True, 1, 1.0), (float("nan"), 2.0), ("u", "v", "w")]).map(
            CategoricalDistribution
        ),
    )


@given(distribution=awkward_distributions(), u=st.lists(st.floats(0.0, 1.0), min_size=1, max_size=5))
def test_every_suggestion_is_one_of_the_distributions_values(distribution, u):
    space = RelativeSpace({"p": distribution})
    if distribution.single():
        assert len(space) == 0
        return
    kind = space.parameters["p"]
    for code in kind.show(kind.decode(kind.place(np.array(u)))):
        value = space.values({"p": code})["p"]
        internal = distribution.to_internal_repr(value)
        assert distribution._contains(internal)
        assert value == distribution.to_external_repr(internal) or math.isnan(value)
        assert space.codes({"p": distribution.to_external_repr(internal)}) == {"p": code}


def test_steps_are_many_and_those_of_optunas_samplers():
    space = RelativeSpace({"x": FloatDistribution(0.1, 0.7, step=0.2), "z": FloatDistribution(0, 1e4, step=1e-4)})
    assert [space.values({"x": k, "z": 0})["x"] for k in range(4)] == [0.1, 0.1 + 0.2, 0.5, 0.7]
    assert space.parameters["z"].n_values == 100_000_001
    assert space.values({"x": 0, "z": 12_345_678})["z"] == 1234.5678
    assert space.codes({"x": 0.3, "z": 0.0}) == {"x": 1, "z": 0}  # the same value in decimal


@pytest.mark.parametrize("params", [{}, {"x": 1.5}, {"x": -0.1}, {"x": "text"}, {"x": float("nan")}])
def test_values_of_another_range_have_no_codes(params):
    assert RelativeSpace({"x": UNIT}).codes(params) is None


def test_what_no_parameter_can_stand_for_is_left_out():
    space = {
        "x": UNIT,
        "wide": FloatDistribution(-1.7e308, 1.7e308),
        "wide in steps": FloatDistribution(-1.7e308, 1.7e308, step=1e307),
        "huge": IntDistribution(0, 2**70),
    }
    assert list(RelativeSpace(space).distributions) == ["x"]


# ---- the books


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


# ---- a study


def test_finds_the_minimum_of_a_mixed_space():
    def objective(trial):
        rate = trial.suggest_float("rate", 1e-5, 1e-1, log=True)
        units = trial.suggest_int("units", 16, 512, log=True)
        drop = trial.suggest_float("drop", 0.0, 0.5, step=0.1)
        kind = trial.suggest_categorical("kind", ["relu", "gelu", None])
        return abs(math.log10(rate) + 3) + abs(math.log2(units / 100)) + drop + (kind != "gelu")

    study = study_with(n_startup_trials=10)
    study.optimize(objective, n_trials=70)
    assert study.best_params["kind"] == "gelu"
    assert study.best_params["drop"] == 0.0
    assert study.best_value < 0.5


def test_same_seed_same_study_and_another_seed_another():
    runs = []
    for seed in (3, 3, 4):
        study = study_with(seed=seed)
        study.optimize(bowl, n_trials=12)
        runs.append(points(study))
    assert runs[0] == runs[1]
    assert not set(runs[0]) & set(runs[2])


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


def test_a_finite_space_is_repeated_only_when_nothing_new_is_left():
    study = study_with()
    study.optimize(lambda trial: trial.suggest_int("n", 1, 3) * trial.suggest_categorical("c", [1, 2]), n_trials=10)
    assert len(set(points(study)[:6])) == 6
    assert set(points(study)[6:]) <= set(points(study)[:6])


def test_parameters_whose_range_changes_are_sampled_without_the_model():
    study = study_with()
    study.optimize(widening, n_trials=8)
    assert list(only_model(study).space.names) == ["x"]


def test_group_gives_conditional_parameters_a_model():
    def objective(trial):
        if trial.suggest_categorical("side", ["left", "right"]) == "left":
            return 1.0 + (trial.suggest_float("x", 0, 1) - 0.3) ** 2
        return (trial.suggest_float("y", 0, 1) - 0.6) ** 2 + (trial.suggest_float("z", 0, 1) - 0.2) ** 2

    study = study_with(group=True)
    study.optimize(objective, n_trials=50)
    study.ask({"side": CategoricalDistribution(["left", "right"]), "x": UNIT, "y": UNIT, "z": UNIT})
    models = {tuple(model.space.distributions): model.optimizer for model in study.sampler._models.values()}
    n_left = sum(trial.params["side"] == "left" for trial in study.trials[:50])
    assert {names: model.n_told for names, model in models.items()} == {
        ("side",): 50,
        ("x",): n_left,
        ("y", "z"): 50 - n_left,
    }
    assert study.best_value < 1e-3


@pytest.fixture
def said():
    """What the sampler logs."""
    messages = []
    handler = logging.Handler()
    handler.emit = lambda record: messages.append(record.getMessage())
    logger = logging.getLogger("optuna.gssbo.integrations.optuna.sampler")
    logger.addHandler(handler)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    yield messages
    logger.removeHandler(handler)


def widening(trial):
    return trial.suggest_float("x", 0, 1) + trial.suggest_float("y", 0, 1 + trial.number)


@pytest.mark.parametrize(
    ("group", "why"),
    [(False, "not all trials had it with the same distribution; group=True"), (True, "not that of the last trial")],
)
def test_a_parameter_without_a_model_is_named_once(said, group, why):
    study = study_with(warn_independent_sampling=True, n_startup_trials=3, group=group)

    def moving(trial):
        return trial.suggest_float("x", 0, 1) + trial.suggest_float("y", 2 * trial.number, 2 * trial.number + 1)

    study.optimize(moving, n_trials=7)
    (message,) = said
    sampler = type(study.sampler._independent).__name__
    assert f"'y' of trial 3 is sampled by {sampler}, without a model of ours, as " in message
    assert why in message


def test_a_parameter_of_every_trial_is_not_said_to_be_of_some(said):
    study = study_with(warn_independent_sampling=True, n_startup_trials=None)
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1) + math.nan, n_trials=12)
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=12)
    assert said == []


def test_a_parameter_that_no_model_can_have_is_named(said):
    at_random = optuna.samplers.RandomSampler(seed=0)  # TPE divides by zero in so wide a range
    study = study_with(warn_independent_sampling=True, n_startup_trials=2, independent_sampler=at_random)
    study.optimize(lambda trial: trial.suggest_int("n", 0, 2**70) / 2**70 + trial.suggest_float("x", 0, 1), n_trials=5)
    (message,) = said
    assert "'n' of trial 2" in message
    assert "as its range is too wide" in message


def test_nothing_is_said_of_conditional_parameters_in_startup_trials(said):
    study = study_with(warn_independent_sampling=True, n_startup_trials=None)

    def objective(trial):
        return trial.suggest_float("even" if trial.number % 2 == 0 else "odd", 0, 1)

    study.optimize(objective, n_trials=6)
    assert said == []
    study.optimize(objective, n_trials=6)
    assert ["'even' of trial 6" in said[0], "'odd' of trial 7" in said[1]] == [True, True]
    assert len(said) == 2


def test_the_verbosity_of_optuna_is_that_of_the_sampler(said):
    study = study_with(warn_independent_sampling=True, n_startup_trials=2)
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study.optimize(widening, n_trials=5)
    assert said == []


def test_several_objectives_are_refused():
    study = optuna.create_study(directions=["minimize", "minimize"], sampler=GSSBOSampler())
    with pytest.raises(ValueError, match="multi-objective"):
        study.optimize(lambda trial: (trial.suggest_float("x", 0, 1), 1.0), n_trials=1)


def test_a_sampler_starts_over_with_another_study():
    study = study_with()
    study.optimize(bowl, n_trials=6)
    other = optuna.create_study(sampler=study.sampler)
    other.optimize(bowl, n_trials=3)
    other.ask(SPACE)
    assert [trial.params for trial in other.trials[:3]] == only_model(other).X


def test_a_study_of_old_trials_goes_on_with_the_model():
    study = study_with()
    rng = np.random.default_rng(0)
    for x, y in rng.random((300, 2)):
        value = (x - 0.3) ** 2 + (y - 0.7) ** 2
        study.add_trial(create_trial(params={"x": x, "y": y}, distributions=SPACE, value=value))
    study.optimize(bowl, n_trials=10)
    assert only_model(study).n_told == 309
    near = [trial.value for trial in study.trials[300:]]
    assert np.median(near) < 0.01


# ---- parameters without a model of ours


def branches(trial):
    branch = trial.suggest_categorical("branch", ["a", "b"])
    return (branch == "b") + (trial.suggest_float(branch + "1", -5, 5) - 1) ** 2


def test_conditional_parameters_are_sampled_by_tpe_after_the_startup_trials():
    default = study_with()
    named = study_with(independent_sampler=optuna.samplers.TPESampler(seed=0, n_startup_trials=4))
    at_random = study_with(independent_sampler=optuna.samplers.RandomSampler(seed=0))
    for study in (default, named, at_random):
        study.optimize(branches, n_trials=40)
    assert points(default) == points(named)
    assert points(default)[:4] == points(at_random)[:4]
    assert points(default)[4:] != points(at_random)[4:]


def test_conditional_studies_with_one_seed_are_alike():
    runs = []
    for seed in (3, 3, 4):
        study = study_with(seed=seed)
        study.optimize(branches, n_trials=15)
        runs.append(points(study))
    assert runs[0] == runs[1] != runs[2]


def test_the_first_trial_of_a_fixed_space_is_random_and_the_rest_ours():
    runs = []
    for sampler in (None, optuna.samplers.RandomSampler(seed=0)):
        study = study_with(independent_sampler=sampler)
        study.optimize(bowl, n_trials=8)
        runs.append(points(study))
    assert runs[0] == runs[1]


# ---- threads, processes, copies


def test_threads_of_one_study_suggest_different_points():
    study = study_with()
    study.optimize(bowl, n_trials=24, n_jobs=4)
    assert {trial.state for trial in study.trials} == {TrialState.COMPLETE}
    assert len(set(points(study))) == 24
    study.ask(SPACE)
    assert only_model(study).n_told == 24


def test_reseeding_changes_suggestions_but_keeps_what_was_learnt():
    study = study_with()
    study.optimize(bowl, n_trials=8)
    copies = [copy.deepcopy(study) for _ in range(3)]
    copies[2].sampler.reseed_rng()
    first, second, third = (each.ask(SPACE).params for each in copies)
    assert first == second != third
    assert only_model(copies[2]).n_told == 8


def test_a_pickled_sampler_goes_on_as_the_original():
    study = study_with()
    study.optimize(bowl, n_trials=8)
    twin = pickle.loads(pickle.dumps(study))
    study.optimize(bowl, n_trials=4)
    twin.optimize(bowl, n_trials=4)
    assert points(study) == points(twin)


def test_a_copy_without_a_seed_has_its_own_numbers(monkeypatch):
    study = study_with(seed=None)
    study.optimize(bowl, n_trials=8)
    twin = pickle.loads(pickle.dumps(study))
    child = copy.copy(study.sampler)  # as after a fork: the same generators in another process
    # One suggestion may coincide: a corner of the box can be the best point whatever the candidates.
    suggested, of_twin = ([each.ask(SPACE).params for _ in range(6)] for each in (study, twin))
    assert suggested != of_twin
    state = child._rng.bit_generator.state
    monkeypatch.setattr(os, "getpid", lambda: -1)
    child._read(study)
    assert child._rng.bit_generator.state != state


@pytest.mark.parametrize("kind", ["sqlite", "journal"])
def test_workers_of_one_storage_know_each_others_running_trials(kind, tmp_path):
    def storage():
        if kind == "sqlite":
            return optuna.storages.RDBStorage(f"sqlite:///{tmp_path}/study.db")
        backend = pytest.importorskip("optuna.storages.journal").JournalFileBackend(str(tmp_path / "study.log"))
        return optuna.storages.JournalStorage(backend)

    ours = study_with(storage=storage(), name="shared")
    theirs = study_with(storage=storage(), name="shared")  # the same seed
    ours.optimize(bowl, n_trials=6)
    running = []
    for _ in range(3):
        for study in (ours, theirs):
            running.append(study.ask())
            running[-1].suggest_float("x", 0, 1)  # the other parameter is known before the objective asks for it
    suggested = [trial.relative_params for trial in running]
    pending = [each.x for each in only_model(theirs).pending]
    assert sorted(map(str, pending)) == sorted(map(str, suggested))
    assert len({tuple(params.values()) for params in suggested}) == 6
    running[3].suggest_float("y", 0, 1)
    ours.tell(running[3].number, 0.5)
    theirs.ask(SPACE)
    assert only_model(theirs).n_told == 7
    assert only_model(theirs).X[-1] == suggested[3]


@pytest.mark.parametrize("group", [False, True])
def test_another_process_may_evaluate_the_point_of_a_running_trial(group):
    study = optuna.create_study(sampler=GSSBOSampler(seed=0, n_startup_trials=3, group=group))
    space = {"n": optuna.distributions.IntDistribution(0, 5)}
    for value in range(4):
        study.tell(study.ask(space), value)
    running = study.ask(space)
    for value in (1.0, 2.0):  # the same parameters, twice, before ours is over
        study.add_trial(optuna.create_trial(params=running.params, distributions=space, value=value))
    study.ask(space)
    study.tell(running, 3.0)
    study.ask(space)
    model = only_model(study)
    told = [y for x, y in zip(model.X, model.y, strict=True) if x == running.params]
    assert told == [1.0, 2.0, 3.0]


def work(path, n_trials):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    backend = optuna.storages.journal.JournalFileBackend(path)
    study = study_with(storage=optuna.storages.JournalStorage(backend), name="shared", seed=None)
    study.optimize(bowl, n_trials=n_trials)


def test_processes_share_a_study(tmp_path):
    pytest.importorskip("optuna.storages.journal")
    path = str(tmp_path / "study.log")
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=work, args=(path, 15)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(120)
    assert [worker.exitcode for worker in workers] == [0, 0]
    study = optuna.load_study(
        study_name="shared", storage=optuna.storages.JournalStorage(optuna.storages.journal.JournalFileBackend(path))
    )
    assert [trial.state for trial in study.trials] == [TrialState.COMPLETE] * 30
    assert len(set(points(study))) >= 27  # of two that are asked for at the same moment neither knows of the other
    assert study.best_value < 0.02


# ---- options


def test_options_reach_the_optimizer():
    study = study_with(n_startup_trials=5, subset_size=17, rule="maxmin")
    study.optimize(bowl, n_trials=3)
    study.ask(SPACE)
    model = only_model(study)
    assert (model.n_init, model.rule, model.M) == (5, "maxmin", 17)


def test_a_subset_may_be_smaller_than_the_design():
    study = study_with(n_startup_trials=None, subset_size=8)  # the design of four parameters has 10 points
    study.optimize(lambda trial: sum(trial.suggest_float(name, 0, 1) for name in "abcd"), n_trials=12)
    assert (only_model(study).n_init, only_model(study).M) == (10, 8)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subset_size": 7, "method": "box"}, "larger than the forced set .21: 20 of the initial design, 1 newest., g"),
        (
            {"subset_size": 9, "n_startup_trials": 9, "method": "box"},
            "larger than the forced set .10: 9 of the initial",
        ),
        ({"maximize": True}, "maximize must not be given to GSSBOSampler: the study has a direction"),
        ({"constraints_func": len}, "constraints_func must not be given .*: call Trial.set_constraint"),
        ({"independent_sampler": "random"}, "independent_sampler must be a sampler of Optuna's, .* got 'random'"),
        ({"independent_sampler": 0}, "independent_sampler must be a sampler of Optuna's, .* got 0"),
        ({"rng": 0}, "it is called seed"),
        ({"journal": "run.jsonl"}, "the study's storage keeps the trials"),
        ({"subset": 50}, "options must be among .*subset_size.*, got 'subset'"),
        ({"rule": "best"}, "rule must be one of"),
        ({"failed": "retry"}, "failed must be one of 'avoid', 'ignore', got 'retry'"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"n_startup_trials": 0}, "n_startup_trials must be at least 1, got 0"),
        ({"group": "yes"}, "group must be True or False"),
    ],
)
def test_wrong_options_are_named_at_once(options, message):
    with pytest.raises(ValueError, match=message):
        GSSBOSampler(**options)


# ---- grids that are long, or far from 0

GRIDS = [(100_000, 100_001, 1e-6), (1_000, 1_001, 1e-7), (0, 1e5, 1e-4), (-7.3e6, -7.2e6, 0.01), (0.1, 0.7, 0.2)]


@pytest.mark.parametrize(("low", "high", "step"), GRIDS)
def test_values_of_any_grid_map_back_and_those_beside_it_do_not(low, high, step):
    distribution = FloatDistribution(low, high, step=step)
    space = RelativeSpace({"x": distribution})
    last = space.parameters["x"].high
    for code in {0, 1, last, *np.random.default_rng(0).integers(0, last + 1, 300).tolist()}:
        value = space.values({"x": code})["x"]
        assert space.codes({"x": value}) == {"x": code}
        decimal = float(Decimal(repr(float(low))) + code * Decimal(repr(step)))
        assert space.codes({"x": min(decimal, distribution.high)}) == {"x": code}
    assert space.codes({"x": low + 0.4 * step}) is None


@pytest.mark.parametrize(("low", "high", "step"), GRIDS)
def test_every_trial_on_any_grid_is_told(low, high, step):
    study = study_with(n_startup_trials=5)
    study.optimize(lambda trial: (trial.suggest_float("x", low, high, step=step) - low) ** 2, n_trials=15)
    study.ask({"x": FloatDistribution(low, high, step=step)})
    assert only_model(study).n_told >= 15


@pytest.mark.parametrize("theirs", [optuna.samplers.RandomSampler, optuna.samplers.TPESampler])
def test_a_value_of_a_grid_is_the_double_that_optunas_samplers_give(theirs):
    distribution = FloatDistribution(-1.0, 0.7, step=0.1)
    study = optuna.create_study(sampler=theirs(seed=0))
    study.optimize(lambda trial: trial.suggest_float("x", -1.0, 0.7, step=0.1) ** 2, n_trials=80)
    found = {trial.params["x"] for trial in study.trials}
    space = RelativeSpace({"x": distribution})
    assert found <= {space.values({"x": code})["x"] for code in range(18)}
    assert len(found) >= 10

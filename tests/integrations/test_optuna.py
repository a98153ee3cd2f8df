"""Studies of Optuna by `GSSBOSampler`."""

import logging
import math

import numpy as np
import pytest

optuna = pytest.importorskip("optuna")

from optuna.distributions import CategoricalDistribution  # noqa: E402
from optuna.trial import create_trial  # noqa: E402

from gssbo.integrations.optuna import GSSBOSampler  # noqa: E402
from tests.studies import SPACE, UNIT, bowl, only_model, points, study_with  # noqa: E402

pytestmark = pytest.mark.usefixtures("quiet")


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


def test_a_finite_space_is_repeated_only_when_nothing_new_is_left():
    study = study_with()
    study.optimize(lambda trial: trial.suggest_int("n", 1, 3) * trial.suggest_categorical("c", [1, 2]), n_trials=10)
    assert len(set(points(study)[:6])) == 6
    assert set(points(study)[6:]) <= set(points(study)[:6])


@pytest.mark.parametrize("storage", [None, "sqlite:///:memory:"])
@pytest.mark.parametrize("options", [{}, {"group": True}, {"method": "box"}])
def test_all_brackets_of_hyperband_are_read_by_one_model(storage, options):
    """Optuna shows the sampler the trials of the current one's bracket alone: numbers are no positions there."""

    def objective(trial):
        value = (trial.suggest_float("x", -5, 5) - 1) ** 2 + (trial.suggest_float("y", -5, 5) + 2) ** 2
        for step in range(9):
            trial.report(value + 10 / (step + 1), step)
            if trial.should_prune():
                raise optuna.TrialPruned
        return value

    pruner = optuna.pruners.HyperbandPruner(min_resource=1, max_resource=9, reduction_factor=3)
    sampler = GSSBOSampler(seed=0, n_startup_trials=5, warn_independent_sampling=False, **options)
    study = optuna.create_study(study_name="brackets", sampler=sampler, pruner=pruner, storage=storage)
    study.optimize(objective, n_trials=30)
    brackets = {pruner._get_bracket_id(study, trial) for trial in study.trials}
    ends = {trial.state.name for trial in study.trials}
    assert len(brackets) == 3 and ends == {"COMPLETE", "PRUNED"}
    assert len(set(points(study))) == 30
    model = only_model(study)
    assert model.n_told == 29
    assert model.n_failed == sum(trial.state.name == "PRUNED" for trial in study.trials[:29])


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


# ---- options


def test_options_reach_the_optimizer():
    study = study_with(n_startup_trials=5, subset_size=17, rule="maxmin")
    study.optimize(bowl, n_trials=3)
    study.ask(SPACE)
    model = only_model(study)
    assert (model.n_init, model.rule, model.M) == (5, "maxmin", 17)


def test_the_first_trial_is_a_startup_trial_whatever_is_given():
    """Other samplers of Optuna's take 0, too."""
    studies = [study_with(n_startup_trials=n) for n in (0, 1)]
    for study in studies:
        study.optimize(bowl, n_trials=5)
    assert points(studies[0]) == points(studies[1])
    assert only_model(studies[0]).n_init == 1


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
        ({"subset": 50}, r"options must be among .*subset_size.*, got 'subset': did you mean 'subset_size'\?"),
        ({"rule": "best"}, "rule must be one of"),
        ({"failed": "retry"}, "failed must be one of 'avoid', 'ignore', got 'retry'"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"n_startup_trials": -1}, "n_startup_trials must be at least 0, got -1"),
        ({"group": "yes"}, "group must be True or False"),
    ],
)
def test_wrong_options_are_named_at_once(options, message):
    with pytest.raises(ValueError, match=message):
        GSSBOSampler(**options)

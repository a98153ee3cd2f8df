"""B40: with direction "maximize" the sampler maximises, as bit for bit the twin study that minimises the negative."""

import pytest

optuna = pytest.importorskip("optuna")

from optuna.trial import TrialState  # noqa: E402

from gssbo.integrations.optuna import GSSBOSampler  # noqa: E402


@pytest.fixture(autouse=True)
def quiet():
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.CRITICAL)
    yield
    optuna.logging.set_verbosity(before)


def run(direction, sign, **options):
    def objective(trial):
        x = trial.suggest_float("x", -1.0, 2.0)
        if trial.number in (4, 11):
            raise RuntimeError("it failed")
        if trial.number in (7, 15):
            trial.report(sign * 1e6, 0)
            raise optuna.TrialPruned
        return sign * (1.0 - (x - 0.3) ** 2)

    study = optuna.create_study(direction=direction, sampler=GSSBOSampler(seed=5, n_startup_trials=8, **options))
    study.optimize(objective, n_trials=25, catch=RuntimeError)
    return study


@pytest.mark.parametrize(
    "options", [{"method": "box"}, {"method": "portfolio"}, {"failed": "ignore", "pruned": "ignore"}]
)
def test_maximising_is_minimising_the_negative(options):
    up, down = run("maximize", 1.0, **options), run("minimize", -1.0, **options)
    assert [trial.params for trial in up.trials] == [trial.params for trial in down.trials]
    assert [trial.state for trial in up.trials] == [trial.state for trial in down.trials]
    assert 0.999 <= up.best_value <= 1.0
    assert up.best_value == -down.best_value


def test_failed_and_pruned_trials_are_no_values_and_not_suggested_again():
    study = run("maximize", 1.0)
    states = [trial.state for trial in study.trials]
    assert [states.count(state) for state in (TrialState.COMPLETE, TrialState.FAIL, TrialState.PRUNED)] == [21, 2, 2]
    study.ask({"x": optuna.distributions.FloatDistribution(-1.0, 2.0)})
    (model,) = study.sampler._models.values()
    assert (model.optimizer.n_told, model.optimizer.n_failed) == (25, 4)
    assert model.optimizer.best_y == study.best_value <= 1.0  # not the million that was reported
    assert len({trial.params["x"] for trial in study.trials}) == 26

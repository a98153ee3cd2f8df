"""Threads, processes and copies of a sampler."""

import copy
import multiprocessing
import os
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

optuna = pytest.importorskip("optuna")

from optuna.trial import TrialState  # noqa: E402

from gssbo.integrations.optuna import GSSBOSampler  # noqa: E402
from gssbo.integrations.optuna.model import Model  # noqa: E402
from tests.studies import SPACE, bowl, only_model, points, study_with  # noqa: E402

pytestmark = pytest.mark.usefixtures("quiet")


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


def shared_study(path, **options):
    backend = pytest.importorskip("optuna.storages.journal").JournalFileBackend(str(path / "study.log"))
    return study_with(storage=optuna.storages.JournalStorage(backend), name="shared", **options)


@pytest.mark.parametrize("ends", ["running", "finished"])
def test_a_point_that_another_worker_suggests_meanwhile_is_left_to_it(ends, tmp_path, monkeypatch):
    ours, theirs = (shared_study(tmp_path) for _ in range(2))
    ours.optimize(bowl, n_trials=6)
    suggest, other = Model.suggest, []

    def meanwhile(model, number, **options):
        codes = suggest(model, number, **options)
        if not other:
            theirs.enqueue_trial(codes)
            other.append(theirs.ask(SPACE))
            if ends == "finished":
                theirs.tell(other[0], 1.0)
        return codes

    monkeypatch.setattr(Model, "suggest", meanwhile)
    mine = ours.ask(SPACE)
    assert mine.params != other[0].params
    ours.tell(mine, 2.0)
    if ends == "running":
        theirs.tell(other[0], 1.0)
    ours.ask(SPACE)
    told = dict(zip(map(str, only_model(ours).X), only_model(ours).y, strict=True))
    assert (told[str(mine.params)], told[str(other[0].params)]) == (2.0, 1.0)


def test_workers_with_the_same_numbers_that_meet_do_not_meet_again(tmp_path, monkeypatch):
    shared_study(tmp_path).optimize(bowl, n_trials=6)
    studies = [shared_study(tmp_path) for _ in range(2)]
    suggested, shown = threading.Barrier(2, timeout=60), threading.Barrier(2, timeout=60)
    met, suggest = {}, Model.suggest

    def together(model, number, **options):
        codes = suggest(model, number, **options)
        if number not in met:
            met[number] = codes
            suggested.wait()
        return codes

    monkeypatch.setattr(Model, "suggest", together)
    for study in studies:
        monkeypatch.setattr(study._storage, "set_trial_system_attr", shows_together(study._storage, shown))
    with ThreadPoolExecutor(2) as pool:
        trials = list(pool.map(lambda study: study.ask(SPACE), studies))
    assert len(met) == 2 and met[6] == met[7]
    assert trials[0].params != trials[1].params


def shows_together(storage, barrier):
    """What shows the parameters of a trial, and the first time waits for another that does."""
    show, first = storage.set_trial_system_attr, []

    def shows(*arguments):
        show(*arguments)
        if not first:
            first.append(None)
            barrier.wait()

    return shows


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
    assert len(set(points(study))) == 30
    assert study.best_value < 0.02

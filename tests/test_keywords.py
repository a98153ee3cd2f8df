"""Misspelt keywords: who was called, what was wrong, what was likely meant."""

import copy
import inspect
import pickle

import pytest

import gssbo
from gssbo._keywords import ATTRIBUTES, check_keywords


def bowl(x):
    return float((x**2).sum())


@pytest.mark.parametrize(
    ("keywords", "wrong", "meant"),
    [
        ({"n_eval": 5}, "n_eval", "n_evals"),
        ({"n_calls": 5}, "n_calls", "n_evals"),
        ({"n_trials": 5}, "n_trials", "n_evals"),
        ({"max_evals": 5}, "max_evals", "n_evals"),
        ({"maxiter": 5}, "maxiter", "n_evals"),
        ({"n_evals": 5, "seed": 0}, "seed", "rng"),
        ({"n_evals": 5, "random_state": 0}, "random_state", "rng"),
        ({"n_evals": 5, "random_seed": 0}, "random_seed", "rng"),
        ({"n_evals": 5, "n_jobs": 2}, "n_jobs", "workers"),
        ({"n_evals": 5, "subset_sise": 20}, "subset_sise", "subset_size"),
        ({"maxfun": 5}, "maxfun", "n_evals"),
        ({"maxfev": 5}, "maxfev", "n_evals"),
        ({"n_evals": 5, "disp": True}, "disp", "progress"),
        ({"n_evals": 5, "maxtime": 5}, "maxtime", "timeout"),
        ({"n_evals": 5, "f_min": 0.0}, "f_min", "target"),
        ({"n_evals": 5, "acq_func": "EI"}, "acq_func", "acquisition"),
        ({"n_evals": 5, "init": "sobol"}, "init", "initial_design"),
        ({"n_evals": 5, "direction": "maximize"}, "direction", "maximize"),
        ({"n_evals": 5, "points_to_evaluate": []}, "points_to_evaluate", "x0"),
        ({"n_evals": 5, "loss_threshold": 1}, "loss_threshold", "target"),
        ({"n_evals": 5, "storage": "run.db"}, "storage", "journal"),
        ({"n_evals": 5, "rstate": 0}, "rstate", "rng"),
    ],
)
def test_minimize_names_the_likely_keyword(keywords, wrong, meant):
    message = rf"^minimize\(\) got an unexpected keyword argument '{wrong}': did you mean '{meant}'\?$"
    with pytest.raises(TypeError, match=message):
        gssbo.minimize(bowl, [(0, 1)], **keywords)


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("seed", "rng"), ("random_state", "rng"), ("Maximize", "maximize"), ("n_initial_points", "n_init")],
)
def test_optimizer_names_the_likely_keyword(wrong, meant):
    message = rf"^Optimizer\(\) got an unexpected keyword argument '{wrong}': did you mean '{meant}'\?$"
    with pytest.raises(TypeError, match=message):
        gssbo.Optimizer([(0, 1)], **{wrong: 1})


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("seed", "rng"),
        ("length_scale", "lengthscale"),
        ("n_restarts_optimizer", "n_restarts"),
        ("normalise_y", "normalize_y"),
    ],
)
def test_a_gaussian_process_names_itself_and_the_likely_keyword(wrong, meant):
    message = rf"^GaussianProcess\(\) got an unexpected keyword argument '{wrong}': did you mean '{meant}'\?$"
    with pytest.raises(TypeError, match=message):
        gssbo.GaussianProcess(**{wrong: 1})


@pytest.mark.parametrize("name", ["noise_std", "noise", "sem"])
@pytest.mark.parametrize("call", [gssbo.Optimizer, lambda bounds, **options: gssbo.minimize(bowl, bounds, **options)])
def test_known_noise_is_sent_where_it_is_taken(call, name):
    with pytest.raises(TypeError, match=f"'{name}': .* goes to `tell` or .* `fit` of a GaussianProcess, as noise_std$"):
        call([(0, 1)], **{name: 0.1})
    with pytest.raises(TypeError, match="'sem': did you mean 'noise_std'"):
        gssbo.Optimizer([(0, 1)]).tell([0.5], 1.0, sem=0.1)
    with pytest.raises(TypeError, match=r"'noise_std': .* `fit` of a GaussianProcess"):  # not its `noise`, a variance
        gssbo.GaussianProcess(noise_std=0.1)


@pytest.mark.parametrize("name", ["polish", "updating", "integrality"])
def test_no_guess_at_what_another_package_has_and_this_one_has_not(name):
    with pytest.raises(TypeError, match=rf"^minimize\(\) got an unexpected keyword argument '{name}'$"):
        gssbo.minimize(bowl, [(0, 1)], n_evals=5, **{name: True})


def test_no_guess_where_nothing_is_near():
    with pytest.raises(TypeError, match=r"^Optimizer\(\) got an unexpected keyword argument 'zzz'$"):
        gssbo.Optimizer([(0, 1)], zzz=1)
    with pytest.raises(TypeError, match=r"^Optimizer\(\) got an unexpected keyword argument 'n_jobs'$"):
        gssbo.Optimizer([(0, 1)], n_jobs=2)  # it has no workers
    with pytest.raises(TypeError, match=r"^Optimizer\(\) got an unexpected keyword argument 'self_'$"):
        check_keywords("Optimizer", ["self_"], ["bounds", "rng"])


def test_a_missing_keyword_is_still_missing():
    with pytest.raises(TypeError, match="missing 1 required keyword-only argument: 'n_evals'"):
        gssbo.minimize(bowl, [(0, 1)])


def test_everything_may_be_given_by_name_and_signatures_stay():
    result = gssbo.minimize(fun=bowl, bounds=[(0, 1)], n_evals=3, n_init=3, rng=0)
    assert result.nfev == 3
    assert list(inspect.signature(gssbo.minimize).parameters)[:3] == ["fun", "bounds", "n_evals"]
    assert list(inspect.signature(gssbo.Optimizer).parameters)[:2] == ["bounds", "constraints"]


@pytest.mark.parametrize(
    ("called", "call", "wrong", "meant"),
    [
        ("ask", lambda opt: opt.ask(n_points=3), "n_points", "n"),
        ("tell", lambda opt: opt.tell([0.5], value=1.0), "value", "y"),
        ("tell", lambda opt: opt.tell([0.5], state="fail"), "state", "failed"),
        ("tell", lambda opt: opt.tell(trial_index=0, y=1.0), "trial_index", "id"),
        ("tell", lambda opt: opt.tell([0.5], 1.0, sem=0.1), "sem", "noise_std"),
        ("Real", lambda opt: gssbo.Real(1e-5, 1.0, prior="log-uniform"), "prior", "log"),
        ("Real", lambda opt: gssbo.Real(0.0, 1.0, q=0.1), "q", "step"),
        ("Integer", lambda opt: gssbo.Integer(1, 8, log_scale=True), "log_scale", "log"),
        ("Categorical", lambda opt: gssbo.Categorical(choices=["u", "v"]), "choices", "values"),
    ],
)
def test_methods_and_parameters_name_the_likely_keyword(called, call, wrong, meant):
    opt = gssbo.Optimizer([(0.0, 1.0)], rng=0)
    with pytest.raises(TypeError, match=rf"^{called}\(\) got an unexpected .* '{wrong}': did you mean '{meant}'\?$"):
        call(opt)
    assert (opt.n_told, opt.pending) == (0, [])


def test_parameters_are_made_as_ever():
    assert gssbo.Real(low=0.0, high=1.0, step=0.5) == gssbo.Real(0, 1, step=0.5)
    assert str(inspect.signature(gssbo.Integer)).startswith("(low: 'int', high: 'int', *, log: 'bool' = False")
    assert pickle.loads(pickle.dumps(gssbo.Real(1e-3, 1.0, log=True))) == gssbo.Real(1e-3, 1.0, log=True)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'high'"):
        gssbo.Real(1.0)


@pytest.mark.parametrize(
    ("args", "keywords", "got"),
    [
        ((bowl, [0.5]), {"bounds": [(0, 1)]}, "2, and bounds by keyword too"),  # as in scipy.optimize.minimize
        ((bowl, [0.5], 0.1), {}, "3"),  # as in cma.fmin2
    ],
)
def test_arguments_by_position_are_those_of_minimize(args, keywords, got):
    message = rf"^minimize\(\) takes fun, bounds by position and n_evals, x0 \.\.\. by keyword; got {got}$"
    with pytest.raises(TypeError, match=message):
        gssbo.minimize(*args, n_evals=5, **keywords)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("suggest", "ask"), ("register", "tell"), ("probe", "enqueue"), ("best_params", "best_x"), ("yi", "y")],
)
def test_attributes_of_other_packages_are_named_as_they_are_here(name, meant):
    opt = gssbo.Optimizer([(0.0, 1.0)], rng=0)
    assert not hasattr(opt, name) and hasattr(opt, meant)
    with pytest.raises(
        AttributeError, match=rf"^'Optimizer' object has no attribute '{name}': did you mean '{meant}'\?$"
    ):
        getattr(opt, name)
    with pytest.raises(AttributeError, match=r"^'Optimizer' object has no attribute 'zzz'$") as caught:
        opt.zzz  # noqa: B018
    assert (caught.value.name, caught.value.obj) == ("zzz", opt)


def test_every_attribute_that_is_named_is_there():
    assert set(ATTRIBUTES) <= set(dir(gssbo.Optimizer))
    assert not set().union(*ATTRIBUTES.values()) & set(dir(gssbo.Optimizer))


def test_what_a_property_raises_comes_out(monkeypatch):
    monkeypatch.setattr(gssbo.Optimizer, "broken", property(lambda self: self.space.zzz), raising=False)
    with pytest.raises(AttributeError, match=r"^'Space' object has no attribute 'zzz'"):
        gssbo.Optimizer([(0.0, 1.0)], rng=0).broken  # noqa: B018


def test_an_optimizer_is_copied_and_pickled_as_ever():
    opt = gssbo.Optimizer([(0.0, 1.0)], n_init=2, rng=0)
    opt.tell(opt.ask(), 1.0)
    expected = copy.deepcopy(opt).ask()
    assert pickle.loads(pickle.dumps(opt)).ask() == copy.copy(opt).ask() == expected


def test_run_goes_on_with_an_optimizer_and_checks_its_keywords():
    opt = gssbo.Optimizer([(0.0, 1.0)], n_init=3, rng=0)
    for n_evals in (4, 6):
        result = gssbo.run(opt, bowl, n_evals=n_evals)
        assert (result.nfev, opt.n_told) == (n_evals, n_evals)
    whole = gssbo.minimize(bowl, [(0.0, 1.0)], n_evals=6, n_init=3, rng=0)
    assert (result.x_iters == whole.x_iters).all()
    with pytest.raises(
        TypeError, match=r"^run\(\) got an unexpected keyword argument 'n_iter': did you mean 'n_evals'\?$"
    ):
        gssbo.run(opt, bowl, n_iter=3)
    with pytest.raises(
        TypeError, match=r"^run\(\) takes optimizer, fun by position and n_evals, args \.\.\. by keyword"
    ):
        gssbo.run(opt, bowl, 3)

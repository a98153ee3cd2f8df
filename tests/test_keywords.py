"""Misspelt keywords: who was called, what was wrong, what was likely meant."""

import inspect

import pytest

import gssbo
from gssbo._keywords import check_keywords


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

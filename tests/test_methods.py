"""Methods by name: each runs, stays in the box, repeats with its seed, and is the configuration it says."""

import copy
import inspect
import json
import pickle
import re
import subprocess
import sys
import types
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

import gssbo
from gssbo import methods
from gssbo.cli import main
from gssbo.exceptions import MissingDependencyError
from gssbo.methods import EVERYTHING, METHODS, Method, method_options
from gssbo.problems import get_problem

pytestmark = pytest.mark.usefixtures("single_thread")

GUIDE = Path(__file__).parents[1] / "CONTRIBUTING.md"


# Those of PyTorch, with settings that do for a short run.
SHORT: dict[str, dict[str, Any]] = {
    "sparse-gp": {"epochs": 2},
    "ipa": {"epochs": 2},
    "deep-kernel": {"epochs": 4, "hidden": (16,)},
    "bnn": {"epochs": 5, "hidden": (16,), "n_draws": 4},
}
NO_TORCH = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed")
RUNNABLE = [pytest.param(name, marks=NO_TORCH) if name in SHORT else name for name in METHODS]


def run(name, n_evals, seed=0, **options):
    """A run on Hartmann6 in units twice as wide, with short settings."""
    problem = get_problem("hartmann6")
    short = {"n_candidates": 200, "refit": 20} | ({} if METHODS[name].keeps_all else {"subset_size": 40})
    if name in SHORT:
        short |= {"refit": 1} | import_module(METHODS[name].module).options(**SHORT[name])
    optimizer = gssbo.Optimizer([(-1.0, 1.0)] * 6, method=name, rng=seed, **(short | options))
    for _ in range(n_evals):
        x = optimizer.ask()
        optimizer.tell(x, problem(0.5 * (x + 1.0)))
    return optimizer


# Best of the model's first 200 values, with room: uniform random search has about -2.3 there.
LIMITS = {"rembo": -0.5, "hesbo": -0.5, "lr-first": -2.4, "turbo": -3.1, "bnn": -2.4}


@pytest.mark.parametrize("name", RUNNABLE)
def test_two_hundred_iterations(name):
    optimizer = run(name, 220)
    assert optimizer.n_told == 220
    assert (np.abs(optimizer.X) <= 1.0).all()
    regret = np.cumsum(optimizer.y[20:] - get_problem("hartmann6").optimum)
    assert np.isfinite(regret).all() and (np.diff(regret) >= -1e-6).all()
    assert optimizer.best_y < LIMITS.get(name, -2.6)
    assert len(optimizer.retained) == 40 if not METHODS[name].keeps_all else len(optimizer.retained) <= 219
    again = run(name, 30, threads=2)
    np.testing.assert_array_equal(again.X, optimizer.X[:30])
    other = run(name, 22, seed=1)
    assert not np.array_equal(other.X[20:], optimizer.X[20:22])
    mean, std = optimizer.predict(optimizer.X[-3:], return_std=True)
    assert np.isfinite(mean).all() and (std >= 0.0).all()


@pytest.mark.parametrize("name", RUNNABLE)
def test_the_keyword_stands_for_the_options(name):
    bounds = get_problem("levy", dim=3).bounds
    rng = np.random.default_rng(0)
    X = rng.uniform(*bounds.T, (30, 3))
    asked = []
    for options in ({"method": name}, method_options(name)):
        optimizer = gssbo.Optimizer(bounds, rng=5, **(options | {"n_candidates": 100}))
        optimizer.tell(X, np.sum(X**2, axis=1))
        asked.append(optimizer.ask())
    np.testing.assert_array_equal(*asked)


@pytest.mark.parametrize("name", RUNNABLE)
def test_batches_failures_whole_numbers_and_constraints(name):
    """Several suggestions at once are different and feasible, told in any order, some of them as failed."""
    bounds = {"x": (0.0, 1.0), "y": (0.0, 1.0), "n": range(1, 8), "kind": ["u", "v", "w"]}

    def met(point):
        return point["x"] + point["y"]

    optimizer = gssbo.Optimizer(
        bounds, method=name, n_candidates=100, n_init=6, rng=0, constraints=NonlinearConstraint(met, -np.inf, 1.5),
        **({} if METHODS[name].keeps_all else {"subset_size": 12}),
        **(import_module(METHODS[name].module).options(**SHORT[name]) if name in SHORT else {}),
    )  # fmt: skip
    for turn in range(6):
        batch = optimizer.ask(4)
        assert len({tuple(each.values()) for each in batch}) == 4
        assert all(met(each) <= 1.5 for each in batch)
        values = [each["x"] + 0.1 * each["n"] + (each["kind"] == "v") for each in batch]
        optimizer.tell(batch[::-1], [np.nan if turn == 2 else value for value in values[::-1]])
    assert optimizer.n_told == 24 and optimizer.n_failed == 4
    x = optimizer.ask()
    assert np.isfinite(optimizer.predict([x], return_std=True)).all()


@pytest.mark.parametrize("name", RUNNABLE)
def test_predicting_and_copying_change_nothing(name):
    """A copy goes on as the original does, whether or not either has predicted meanwhile."""
    optimizer = run(name, 26)
    twin = copy.deepcopy(optimizer)
    problem = get_problem("hartmann6")
    for turn in range(3):
        if turn < 2:
            twin.predict(twin.X)
        points = [each.ask() for each in (optimizer, twin)]
        np.testing.assert_array_equal(*points)
        for each, x in zip((optimizer, twin), points, strict=True):
            each.tell(x, problem(0.5 * (x + 1.0)))


@pytest.mark.parametrize("name", RUNNABLE)
def test_a_fitted_surrogate_can_be_pickled(name):
    optimizer = run(name, 26)
    surrogate, points = optimizer.surrogate, np.random.default_rng(0).random((9, 6))
    points = points[:, :3].copy() if name in ("rembo", "hesbo") else points
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(surrogate)).posterior(points), surrogate.posterior(points))


@pytest.mark.parametrize("name", SHORT)
def test_a_journal_takes_up_a_run_with_pytorch(name, tmp_path):
    pytest.importorskip("torch")
    whole = run(name, 26)
    run(name, 23, journal=tmp_path / "run.jsonl").close()
    resumed = run(name, 3, journal=tmp_path / "run.jsonl")
    np.testing.assert_array_equal(resumed.X, whole.X)


def test_options_given_beside_the_method_come_first():
    optimizer = gssbo.Optimizer([(0.0, 1.0)], method="rssbo", subset_size=30, n_init=7, n_candidates=11)
    assert (optimizer.method, optimizer.rule, optimizer.M) == ("rssbo", "random", 30)
    assert (optimizer.n_init, optimizer.n_candidates) == (7, 11)
    optimizer = gssbo.Optimizer([(0.0, 1.0)], method="rssbo", rule="maxmin")
    assert optimizer.rule == "maxmin"


def test_the_signature_stays():
    parameters = inspect.signature(gssbo.Optimizer).parameters
    assert {"bounds", "method", "strategy", "rng"} <= set(parameters)
    assert all(each.kind is each.KEYWORD_ONLY for name, each in parameters.items() if name != "bounds")
    with pytest.raises(TypeError, match="unexpected keyword argument 'metod'"):
        gssbo.Optimizer([(0.0, 1.0)], metod="rssbo")


def test_wrong_methods_are_refused():
    with pytest.raises(ValueError, match=r"^method must be one of 'box', .*'turbo', got 'tubro'"):
        gssbo.Optimizer([(0.0, 1.0)], method="tubro")
    with pytest.raises(ValueError, match=r"^subset_size must not be given with 'vecchia'"):
        gssbo.Optimizer([(0.0, 1.0)], method="vecchia", subset_size=50)


def test_minimize_takes_a_method():
    result = gssbo.minimize(lambda x: x @ x, [(-1.0, 1.0)] * 2, n_evals=24, method="vecchia", n_candidates=50, rng=0)
    assert result.nfev == 24 and len(result.retained) == 23


def test_thompson_sampling_needs_the_exact_process():
    """Which is said before anything is evaluated, not after the initial design."""
    with pytest.raises(ValueError, match=r"^acquisition 'thompson' needs a GaussianProcess as surrogate, got Vecchia"):
        gssbo.Optimizer([(0.0, 1.0)], method="vecchia", acquisition="thompson", acquisition_options=None)


def test_nothing_of_a_method_is_imported_before_it_is_asked_for(tmp_path):
    code = """
        import json, sys, gssbo, gssbo.methods
        gssbo.Optimizer([(0.0, 1.0)], method="rssbo")
        before = [name for name in sys.modules if name.startswith("gssbo.baselines")]
        gssbo.Optimizer([(0.0, 1.0)], method="turbo")
        print(json.dumps([before, [name for name in sys.modules if name.startswith("gssbo.baselines.")]]))
    """
    done = subprocess.run(
        [sys.executable, "-c", inspect.cleandoc(code)], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout) == [[], ["gssbo.baselines.turbo"]]


def add(monkeypatch, name, method, source):
    """Put a method's module and line where they belong, for one test."""
    module = types.ModuleType(method.module)
    monkeypatch.setitem(sys.modules, method.module, module)
    exec(compile(source, method.module, "exec"), vars(module))
    monkeypatch.setattr(methods, "METHODS", {**METHODS, name: method})


def test_a_missing_package_is_named_with_its_extra(monkeypatch, capsys):
    source = """
from gssbo._optional import import_optional


def options():
    import_optional("no_such_package", extra="torch", purpose="the method 'dream'")
"""
    add(monkeypatch, "dream", Method("needs what is not there", {}, "gssbo.baselines.dream"), source)
    with pytest.raises(MissingDependencyError, match=r"^the method 'dream' needs .*pip install 'gssbo\[torch\]'"):
        gssbo.Optimizer([(0.0, 1.0)], method="dream")
    with pytest.raises(SystemExit) as end:
        main(["run", "hartmann6", "--method", "dream"])
    captured = capsys.readouterr()
    assert (end.value.code, captured.out) == (2, "")
    assert "pip install 'gssbo[torch]'" in captured.err and "Traceback" not in captured.err


@pytest.mark.parametrize("name", SHORT)
def test_without_pytorch_the_extra_is_named(name, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch", None)
    message = rf"^the method '{name}' needs the package 'torch': pip install 'gssbo\[torch\]'"
    with pytest.raises(MissingDependencyError, match=message):
        gssbo.Optimizer([(0.0, 1.0)], method=name)
    with pytest.raises(SystemExit) as end:
        main(["run", "hartmann6", "--method", name])
    assert end.value.code == 2 and "gssbo[torch]" in capsys.readouterr().err


@pytest.mark.skipif(not GUIDE.exists(), reason="the contributing guide is not here")
def test_the_example_of_the_contributing_guide(monkeypatch):
    section = GUIDE.read_text(encoding="utf-8").partition("## Adding a method")[2].partition("\n## ")[0]
    source, line, usage = re.findall(r"^```python\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    ((name, method),) = eval(f"{{{line}}}", {"Method": Method, "EVERYTHING": EVERYTHING}).items()
    add(monkeypatch, name, method, source)
    found = {"gssbo": gssbo}
    exec(usage, found)
    assert type(found["optimizer"]._strategy).__name__ == "EpsilonGreedy"
    assert found["result"].nfev == 30 and found["result"].fun < 0.5
    assert found["options"]["acquisition_options"] == {"beta": 0.0}
    sets = (next(found["optimizer"]._strategy.candidates(None, 1)) for _ in range(300))
    uniform = sum(len(each) == 1 for each in sets)
    assert 10 < uniform < 60  # of 300, at one in ten

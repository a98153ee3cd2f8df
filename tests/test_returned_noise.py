"""Objectives that return the noise of a value beside it."""

import math

import numpy as np
import pytest

import gssbo
from gssbo.journal import read_journal
from tests import objectives
from tests.optimizers import BOX, bowl
from tests.runs import assert_same_run, run

pytestmark = pytest.mark.usefixtures("single_thread")


def with_noise(x):
    return bowl(x), abs(float(x[0]))


def told_by_hand(fun, n_evals):
    """The run as it is with ask and tell."""
    optimizer = gssbo.Optimizer(BOX, n_init=5, rng=0)
    for suggestion in (optimizer.ask(ids=True) for _ in range(n_evals)):
        y, noise_std = fun(suggestion.x)
        optimizer.tell(suggestion, y, noise_std=noise_std)
    return optimizer


def test_it_is_told_with_the_value(tmp_path):
    result = gssbo.minimize(with_noise, BOX, n_evals=12, n_init=5, rng=0, returns_noise=True, journal=tmp_path / "j")
    by_hand = told_by_hand(with_noise, 12)
    np.testing.assert_array_equal(result.x_iters, by_hand.X)
    assert (result.fun_model, result.fun_model_std) == by_hand.best(by="model")[1:]
    told = [entry for entry in read_journal(tmp_path / "j").entries if entry.kind == "tell"]
    assert [entry.noise_std.tolist() for entry in told] == [[abs(x[0])] for x in result.x_iters]
    plain = run(bowl, n_evals=12)
    assert result.fun_model != plain.fun_model


@pytest.mark.parametrize("pair", [tuple, list, np.array, lambda pair: (np.float32(pair[0]), np.array(pair[1]))])
def test_it_comes_in_any_pair(pair):
    whole = run(lambda x: (round(bowl(x), 2), 0.25), n_evals=8, returns_noise=True)
    other = run(lambda x: pair((round(bowl(x), 2), 0.25)), n_evals=8, returns_noise=True)
    np.testing.assert_array_equal(other.x_iters, whole.x_iters)


def test_where_it_is_not_known_the_run_is_that_without_it():
    assert_same_run(run(lambda x: (bowl(x), None), returns_noise=True), run(bowl))


@pytest.mark.parametrize("failure", [math.nan, (math.nan, math.nan), (math.inf, 0.5), np.float64("nan")])
def test_failures_need_none(failure):
    result = run(lambda x: failure if x[0] > 0.5 else (bowl(x), 0.1), returns_noise=True)
    assert 0 < result.n_failed < result.nfev == 14


def test_other_processes_return_it():
    result = gssbo.minimize(objectives.with_noise, BOX, n_evals=6, n_init=6, rng=0, returns_noise=True, workers=2)
    assert result.nfev == 6


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.5, r"^fun must return \(value, noise_std\), as returns_noise=True says, got 0.5"),
        ((0.5, -1.0), "^noise_std must be at least 0.0, got -1.0"),
        ((0.5, math.nan), "^noise_std must be finite, got nan"),
        ((0.5, "0.1"), "^noise_std must be a real number, got '0.1'"),
        ((0.5, 0.1, 0.2), r"^fun must return \(value, noise_std\).*got \(0.5, 0.1, 0.2\)"),
        (("0.5", 0.1), "^fun must return one real number"),
        ({"loss": 0.5, "noise": 0.1}, r"^fun must return \(value, noise_std\).*got {'loss'"),
        (None, r"^fun must return \(value, noise_std\).*got None"),
    ],
)
def test_what_is_no_such_pair_says_so(value, said):
    with pytest.raises(ValueError, match=said) as caught:
        run(lambda x: value, returns_noise=True)
    assert caught.value.partial_result.nfev == 0


def test_a_pair_that_was_not_announced_says_how():
    with pytest.raises(ValueError, match=r"got \(0.5, 0.1\); a pair \(value, noise_std\) goes with returns_noise=True"):
        run(lambda x: (0.5, 0.1))
    with pytest.raises(ValueError, match=r"^returns_noise must be True or False, got 0\.1"):
        run(bowl, returns_noise=0.1)

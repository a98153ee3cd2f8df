"""Distributions of Optuna as parameters, and their values as codes."""

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

optuna = pytest.importorskip("optuna")

from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution  # noqa: E402

from gssbo.integrations.optuna.relative_space import RelativeSpace  # noqa: E402
from tests.studies import UNIT, only_model, study_with  # noqa: E402

pytestmark = pytest.mark.usefixtures("quiet")


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


@pytest.mark.parametrize(
    "choices", [("a", 1, True, 1.0, None, "b", 0, False), (float("nan"), 2.0, float("nan"), 2), ((1, 2), "c", (1, 2))]
)
@pytest.mark.filterwarnings("ignore:Choices for a categorical distribution")
def test_choices_that_are_equal_are_one_category(choices):
    distribution = CategoricalDistribution(choices)
    expected = {int(distribution.to_internal_repr(choice)) for choice in choices}
    (parameter,) = RelativeSpace({"c": distribution}).parameters.values()
    assert parameter.values == tuple(sorted(expected))


def test_thousands_of_choices_are_not_looked_for_one_by_one(monkeypatch):
    monkeypatch.setattr(CategoricalDistribution, "to_internal_repr", lambda *_: pytest.fail("all are looked through"))
    (parameter,) = RelativeSpace({"c": CategoricalDistribution([f"v{i}" for i in range(5_000)])}).parameters.values()
    assert parameter.values == tuple(range(5_000))


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

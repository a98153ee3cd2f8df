"""Whether a subset can be trusted, of a model and of a running optimizer."""

import sys

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, NonlinearConstraint

import gssbo
from gssbo import GaussianProcess, Optimizer
from gssbo import reference as ref
from gssbo.diagnostics import trust
from gssbo.kernels import Kernel
from tests.partitions import wave

pytestmark = pytest.mark.usefixtures("single_thread")


def trusted(rule="maxmin", scale=1.0, size=12, noise=1e-4, **options):
    X = np.linspace(0.0, 1.0, 40)[:, None]
    y = scale * np.sin(12.0 * X[:, 0])
    kernel = Kernel("matern52", np.array([0.2]), scale**2)
    kept = np.round(np.linspace(0, 39, size)).astype(int)
    return trust(kernel, X, y, kept, noise=noise * scale**2, rule=rule, **options)


def test_verdicts():
    close, covered, misleading = trusted(), trusted(size=7), trusted(size=4)
    assert [each.verdict for each in (close, covered, misleading)] == ["close", "covered", "misleading"]
    assert [each.trusted for each in (close, covered, misleading)] == [True, True, False]
    compared = "mean off theirs, under the same hyperparameters, by up to "
    assert str(close).startswith(f"close: M = 12 of 40; {compared}0.0")
    assert str(covered).startswith(f"covered: M = 7 of 40; {compared}")
    assert str(misleading).startswith(f"misleading: M = 4 of 40; {compared}")
    for each in (close, covered, misleading):
        assert "\n" not in str(each) and repr(each) == f"Trust({str(each)!r})"
        seen = each.gap.everywhere()
        far = np.abs(seen.mean_gap)
        assert each.largest_gap == far.max()
        assert each.typical_gap == pytest.approx(np.sqrt(np.mean(far**2)), rel=1e-12)
        spread = np.std(np.sin(12.0 * np.linspace(0.0, 1.0, 40)))
        assert each.spread == pytest.approx(spread, rel=1e-12)
        assert each.missed == np.mean((far > 0.1 * spread) & (far > 2.0 * seen.subset_std))
        assert each.gap.at(each.worst[None]).mean_gap[0] == pytest.approx(seen.mean_gap[far.argmax()], rel=1e-9)
        assert f"M = {each.size_to_halve}" in str(each) or each is close


def test_trust_has_no_units():
    small, large = trusted(size=5), trusted(size=5, scale=2.0**20)
    assert str(small) == str(large)
    assert large.largest_gap == pytest.approx(2.0**20 * small.largest_gap, rel=1e-9)


def test_tolerance_decides_what_is_close():
    loose = trusted(size=7, tolerance=trusted(size=7).largest_gap * 1.01 / trusted(size=7).spread)
    assert loose.verdict == "close"
    above = loose.growth.sizes[loose.growth.mean_gap > loose.tolerance * loose.spread]
    assert above.tolist() == [10, 11] and loose.size_to_trust == 12  # worse again before it gets better


def test_trust_with_nothing_discarded():
    X = np.linspace(0.0, 1.0, 6)[:, None]
    kernel = Kernel("rbf", np.array([0.3]), 1.0)
    found = trust(kernel, X, X[:, 0], np.arange(6), noise=0.1, max_pool=3)
    assert found.verdict == "close" and found.largest_gap == found.missed == 0.0
    assert found.size_to_halve == found.size_to_trust == found.size == 6
    assert str(found) == "close: all 6 observations are retained, the posterior is the full-data one"


def test_trust_against_a_sample():
    rng = np.random.default_rng(0)
    X, y = rng.random((5000, 2)), rng.standard_normal(5000)
    kernel = Kernel("matern52", np.array([0.3, 0.3]), 1.0)
    kept = rng.permutation(5000)[:60]
    found = trust(kernel, X, y, kept, noise=0.5, max_pool=200)
    assert len(found.pool) == 200 and np.array_equal(found.pool, np.unique(found.pool))
    assert np.array_equal(found.pool[found.gap.retained], kept)
    others = np.setdiff1d(found.pool, kept)
    assert np.diff(others).max() < 2 * 5000 / 140  # spread evenly
    again = trust(kernel, X[found.pool], y[found.pool], found.gap.retained, noise=0.5)
    assert again.largest_gap == found.largest_gap and again.size_to_halve == found.size_to_halve
    assert "M = 60 of 200 sampled from 5,000" in str(found)
    with pytest.raises(ValueError, match=r"max_pool must be larger than the retained subset \(60\), got 60"):
        trust(kernel, X, y, kept, noise=0.5, max_pool=60)


def test_the_pool_holds_the_subset_twice(monkeypatch):
    monkeypatch.setattr(sys.modules["gssbo.diagnostics.trust"], "POOL", 20)  # the package has a function of the name
    opt = Optimizer([(0.0, 1.0)] * 2, method="box", n_init=6, subset_size=20, rule="random", rng=0)
    X = np.random.default_rng(0).random((60, 2))
    opt.tell(X, X[:, 0])
    found = opt.diagnostics(rng=0)
    assert (len(found.pool), found.size) == (40, 20)
    assert len(opt.diagnostics(max_pool=21, rng=0).pool) == 21


def test_trust_with_equal_responses():
    X = np.random.default_rng(0).random((20, 2))
    gp = GaussianProcess(rng=0).fit(X, np.full(20, 3.0))
    found = trust(gp, X, np.full(20, 3.0), np.arange(5))
    assert found.verdict == "close" and found.largest_gap == 0.0 and found.spread == 1.0


@pytest.mark.parametrize(("method", "rule"), [("box", "vector"), ("portfolio", "residual")])
@pytest.mark.parametrize("maximize", [False, True])
def test_optimizer_is_diagnosed_in_user_units(maximize, method, rule):
    """The gap is that of the model `predict` shows, against the same model on everything told."""
    bounds = [(-2.0, 2.0), (10.0, 30.0)]
    opt = Optimizer(bounds, method=method, maximize=maximize, n_init=8, subset_size=15, rng=0)
    for _ in range(40):
        x = opt.ask()
        opt.tell(x, wave(x))
    found = opt.diagnostics()
    assert (found.size, found.n_observations, found.rule) == (15, 40, rule)
    assert np.all((found.worst >= [-2.0, 10.0]) & (found.worst <= [2.0, 30.0]))
    assert found.spread == pytest.approx(np.std(opt.y), rel=1e-12)
    opt.ask()  # the model of everything told, which `diagnostics` and `predict` had to make in a copy
    assert np.array_equal(found.pool[found.gap.retained], opt.retained)
    gp = opt.surrogate
    theta = gp.theta_
    Z = (opt.X - [-2.0, 10.0]) / [4.0, 20.0]
    z = ((1 if maximize else -1) * opt.y - gp.y_mean_) / gp.y_std_
    full = ref.posterior(Z, z, (found.worst[None] - [-2.0, 10.0]) / [4.0, 20.0], theta)[0][0]
    full = (1 if maximize else -1) * (gp.y_mean_ + gp.y_std_ * full)
    subset = opt.predict(found.worst[None])[0]
    assert abs(full - subset) == pytest.approx(found.largest_gap, rel=1e-5)


def test_diagnosing_changes_nothing():
    quiet, asked = (Optimizer([(0.0, 1.0)] * 2, n_init=6, subset_size=10, rule="random", rng=3) for _ in range(2))
    for _ in range(20):
        x, same_x = quiet.ask(), asked.ask()
        assert np.array_equal(x, same_x)
        quiet.tell(x, wave(x)), asked.tell(x, wave(x))
        assert asked.diagnostics(rng=0).n_observations == asked.n_told
    assert np.array_equal(quiet.ask(), asked.ask())


def test_diagnosing_a_long_history():
    opt = Optimizer([(0.0, 1.0)] * 3, subset_size=50, rng=0)
    rng = np.random.default_rng(0)
    X = rng.random((100_000, 3))
    opt.tell(X, np.sin(5.0 * X[:, 0]) + X[:, 1])
    found = opt.diagnostics(max_pool=300, candidates=X[:100])
    assert (len(found.pool), found.size, found.n_observations) == (300, 50, 100_000)
    assert len(found.gap.points) == 400
    np.testing.assert_allclose(found.gap.points[:100], X[:100], rtol=1e-15)
    assert "M = 50 of 300 sampled from 100,000" in str(found)


def test_diagnosing_a_mixed_space():
    """Points are realisable and meet the constraints; the worst comes in the form of the bounds."""
    bounds = {
        "rate": gssbo.Real(1e-3, 1.0, log=True),
        "units": range(2, 9),
        "act": ["relu", "gelu"],
        "fixed": (2.0, 2.0),
    }
    limit = NonlinearConstraint(lambda point: point["units"] * point["rate"], -np.inf, 1.0)
    opt = Optimizer(bounds, constraints=limit, n_init=6, subset_size=12, rule="residual", rng=0)
    for _ in range(30):
        x = opt.ask()
        opt.tell(x, np.log(x["rate"]) ** 2 + x["units"] + (x["act"] == "relu"))
    found = opt.diagnostics()
    assert (found.size, found.n_observations) == (12, 30)
    assert set(found.worst) == set(bounds) and found.worst["fixed"] == 2.0
    assert found.worst["units"] * found.worst["rate"] <= 1.0
    points = found.gap.points
    rows = opt.space.from_unit(points)
    np.testing.assert_allclose(opt.space.to_unit(rows), points, atol=1e-12)
    assert opt.space.feasible(rows).all() and 100 < len(points) < 2048 + 30
    two = [
        {"rate": 0.1, "units": 3, "act": "gelu", "fixed": 2.0},
        {"rate": 0.01, "units": 5, "act": "relu", "fixed": 2.0},
    ]
    assert len(opt.diagnostics(candidates=two).gap.points) == 32


def test_diagnosing_where_no_candidate_is_feasible():
    limit = LinearConstraint([[1.0, 1.0]], 1e-9, 2e-9)
    opt = Optimizer([(0.0, 1.0)] * 2, constraints=limit, n_init=2, subset_size=4, rng=0)
    opt.tell(np.random.default_rng(0).random((9, 2)), np.arange(9.0))
    assert len(opt.diagnostics().gap.points) == 9 + 9  # the pool takes the candidates' place


def test_a_run_is_diagnosed_by_the_tolerance_asked_for():
    X = np.random.default_rng(0).random((60, 2))
    opt = Optimizer([(0.0, 1.0)] * 2, n_init=5, subset_size=15, rng=0)
    opt.tell(X, np.sin(5.0 * X[:, 0]) + X[:, 1])
    gap = opt.diagnostics(tolerance=1.0).largest_gap / opt.diagnostics().spread
    assert opt.diagnostics(tolerance=1.01 * gap).verdict == "close" != opt.diagnostics(tolerance=0.99 * gap).verdict
    with pytest.raises(ValueError, match="tolerance must be greater than 0"):
        opt.diagnostics(tolerance=0.0)


def test_known_noise_of_a_run_is_in_its_diagnosis():
    rng = np.random.default_rng(2)
    X = rng.random((40, 2))
    opt = Optimizer([(0.0, 1.0)] * 2, n_init=5, subset_size=15, rng=0)
    opt.tell(X, np.sin(5.0 * X[:, 0]) + X[:, 1], noise_std=rng.uniform(0.0, 0.3, 40))
    opt.ask()
    found = opt.diagnostics()
    np.testing.assert_allclose(found.gap.at(X).subset_mean, -opt.predict(X), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_failed_evaluations_are_left_out(method):
    """What stands in their place is for the search: against values about 0 it would be a gap of many deviations."""
    rng = np.random.default_rng(1)
    X = rng.random((40, 2))
    y = np.sin(5.0 * X[:, 0]) + X[:, 1]
    y[[2, 7, 20, 33]] = np.nan
    opt = Optimizer([(0.0, 1.0)] * 2, method=method, n_init=5, subset_size=15, rng=0)
    opt.tell(X, y)
    opt.ask()
    found = opt.diagnostics()
    assert found.n_observations == 36
    np.testing.assert_array_equal(found.pool, np.flatnonzero(~np.isnan(y)))
    assert set(found.pool[found.gap.retained]) == set(opt.retained) - {2, 7, 20, 33}
    np.testing.assert_allclose(found.gap.at(X).subset_mean, -opt.predict(X), rtol=1e-6, atol=1e-9)
    clean = Optimizer([(0.0, 1.0)] * 2, method=method, n_init=5, subset_size=15, rng=0)
    clean.tell(X[~np.isnan(y)], y[~np.isnan(y)])
    assert found.largest_gap < 3.0 * clean.diagnostics().largest_gap


def test_diagnosing_where_all_that_is_retained_failed():
    optimizer = Optimizer([(0.0, 1.0)], subset_size=10, n_init=3, rule="vector", pool=10, rng=0)
    X = np.linspace(0.0, 1.0, 40)[:, None]
    optimizer.tell(X, np.where((X[:, 0] > 0.2) & (X[:, 0] < 0.7), X[:, 0], np.nan))
    with pytest.raises(ValueError, match="the retained subset must hold a value, got 10 observations without one"):
        optimizer.diagnostics()


def test_diagnosing_too_early_or_wrongly():
    opt = Optimizer([(0.0, 1.0)])
    with pytest.raises(ValueError, match="at least one observation that did not fail is needed"):
        opt.diagnostics()
    opt.tell(0.5, 1.0)
    with pytest.raises(ValueError, match="candidates must have 1 columns"):
        opt.diagnostics(candidates=[[0.0, 1.0]])
    assert opt.diagnostics().trusted


@pytest.mark.parametrize("tolerance", [0.1, 100.0])
def test_trust_in_responses_as_large_as_doubles_go(tolerance):
    """Gaps beyond the largest double count as that large."""
    rng = np.random.default_rng(0)
    X, signs = rng.random((60, 2)), np.sign(rng.standard_normal(60))
    options = {"lengthscale": 0.3, "noise": 1e-4, "fit_hyperparameters": False}
    kept = np.arange(15)
    plain, huge = (
        trust(GaussianProcess(**options).fit(X[kept], f * signs[kept]), X, f * signs, kept, tolerance=tolerance)
        for f in (1.0, 8e307)
    )
    assert plain.largest_gap > 2.5  # so that it is beyond
    assert huge.largest_gap == np.finfo(float).max and 0.0 < huge.typical_gap < huge.largest_gap
    assert huge.verdict == plain.verdict and huge.size_to_trust == plain.size_to_trust
    assert 0.0 <= huge.missed <= 1.0 and 15 < huge.size_to_halve <= 60
    assert "inf" not in str(huge) and "nan" not in str(huge)


def test_an_optimizer_of_huge_values_is_diagnosed():
    X = np.random.default_rng(0).random((160, 2))
    opt = Optimizer([(0.0, 1.0)] * 2, rng=0)
    opt.tell(X, 8e307 * np.sign(X[:, 0] - 0.5))
    assert opt.diagnostics(rng=0).verdict in ("close", "covered", "misleading")

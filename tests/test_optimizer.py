"""The loop: point for point the reference's, and what ask, tell and predict promise."""

import copy
import itertools
import pickle
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
from scipy.optimize import Bounds, OptimizeResult
from scipy.stats import qmc
from threadpoolctl import threadpool_limits

from gssbo import GaussianProcess, Optimizer
from gssbo import reference as ref
from gssbo.box_strategy import default_n_candidates
from gssbo.problems import get_problem

RULES = ["vector", "scalar", "random", "kmeans++", "maxmin", "residual", "variance", "residual-ratio"]
ACQUISITIONS = ["ucb", "ei", "log_ei", "pi", "thompson"]
BOX = [(-2.0, 3.0), (0.0, 4.0)]


@pytest.fixture(scope="module", autouse=True)
def single_thread():
    with threadpool_limits(1):  # the reference's small products crawl on several
        yield


def bowl(x):
    return float((x[0] - 1.0) ** 2 + (x[1] - 2.0) ** 2)


def fixed(d, noise=1e-2, **keywords):
    return GaussianProcess(lengthscale=[0.4] * d, noise=noise, fit_hyperparameters=False, **keywords)


def quick(**keywords):
    """A small optimizer that fits hyperparameters, switches at 11 and scores few candidates."""
    surrogate = GaussianProcess(n_restarts=0, lengthscale_bounds=(0.05, 10.0))
    settings = {"n_init": 5, "subset_size": 10, "n_candidates": 100, "surrogate": surrogate, "rng": 0}
    return Optimizer(BOX, **{**settings, **keywords})


def drive(optimizer, n, fun=bowl):
    """n turns of the loop; the points suggested."""
    points = []
    for _ in range(n):
        points.append(optimizer.ask())
        optimizer.tell(points[-1], fun(points[-1]))
    return np.array(points)


def told(n, d=2, seed=0, **keywords):
    """A quick optimizer told n points in bulk."""
    X = np.random.default_rng(seed).uniform(0.0, 3.0, (n, d))
    optimizer = quick(**keywords)
    optimizer.tell(X, [bowl(x) for x in X])
    return optimizer


# ---- the reference's run


def compare_with_reference(n_evals, *, fun, bounds, theta, kernel="matern52", rng=3, surrogate=None, **options):
    run = ref.reference_loop(fun, bounds, n_evals, theta=theta, kernel=kernel, rng=rng, **options)
    optimizer = Optimizer(bounds, surrogate=surrogate, rng=rng, **options)
    retained = []
    for i in range(n_evals):
        x = optimizer.ask()
        np.testing.assert_array_equal(x, run.X[i], err_msg=f"suggestion {i}")
        if i >= options.get("n_init", 20):
            retained.append(optimizer.retained)
        optimizer.tell(x, fun(x))
    np.testing.assert_array_equal(optimizer.y, run.y)
    assert len(retained) == len(run.retained)
    for got, expected in zip(retained, run.retained, strict=True):
        np.testing.assert_array_equal(got, expected)
    assert options.get("subset_size", 100) == optimizer.M
    assert run.M in (None, optimizer.M)  # the reference's is None until retention begins
    assert optimizer.switched_at == run.switched_at
    return optimizer


@pytest.mark.slow
@pytest.mark.parametrize("pool", ["full", 50])
@pytest.mark.parametrize("rule", RULES)
def test_two_hundred_iterations_are_the_references(rule, pool):
    problem = get_problem("hartmann6")
    optimizer = compare_with_reference(
        220,
        fun=problem,
        bounds=problem.bounds,
        theta=np.log([0.4] * 6 + [1.0, 1e-2]),
        surrogate=fixed(6),
        rule=rule,
        pool=pool,
        subset_size=60,
        n_candidates=300,
    )
    assert optimizer.switched_at == 61


@pytest.mark.parametrize(
    "options",
    [
        {"retain_initial": False},
        {"retain_newest": False, "rule": "kmeans++"},
        {"retain_initial": False, "retain_newest": False, "rule": "random"},
        {"retain_initial": False, "retain_newest": False, "rule": "maxmin", "pool": 30},
        {"maximize": True, "rule": "scalar"},
        {"acquisition": "ei"},
        {"acquisition": "log_ei"},
        {"subset_size": 11},
        {"subset_size": 100},
        {"pool": 17, "subset_size": 25},
    ],
    ids=str,
)
def test_other_settings_are_the_references(options):
    compare_with_reference(
        60,
        fun=bowl,
        bounds=BOX,
        theta=np.log([0.4, 0.4, 1.0, 1e-2]),
        surrogate=fixed(2),
        **{"n_init": 8, "subset_size": 20, "n_candidates": 200, "pool": "full", **options},
    )


@pytest.mark.parametrize("kernel", ["matern32", "rbf"])
def test_other_kernels_are_the_references(kernel):
    theta = np.log([0.3, 0.8, 2.0, 5e-3])
    surrogate = GaussianProcess(kernel, lengthscale=[0.3, 0.8], variance=2.0, noise=5e-3, fit_hyperparameters=False)
    compare_with_reference(
        45,
        fun=bowl,
        bounds=BOX,
        theta=theta,
        kernel=kernel,
        surrogate=surrogate,
        n_init=8,
        subset_size=20,
        n_candidates=200,
        pool="full",
    )


def test_default_candidates_are_the_references():
    compare_with_reference(
        24, fun=bowl, bounds=BOX, theta=np.log([0.4, 0.4, 1.0, 1e-2]), surrogate=fixed(2), pool="full"
    )


@pytest.mark.parametrize("pool", ["full", 40])
@pytest.mark.parametrize("rule", ["vector", "scalar", "kmeans++"])
def test_cached_refresh_is_the_recomputed_one(rule, pool):
    problem = get_problem("hartmann6")
    runs = []
    for refresh in ("recompute", "cached"):
        optimizer = Optimizer(
            problem.bounds,
            surrogate=fixed(6, noise=1e-4),
            rule=rule,
            pool=pool,
            refresh=refresh,
            subset_size=40,
            n_candidates=200,
            rng=1,
        )
        runs.append((drive(optimizer, 160, problem), optimizer.retained))
    np.testing.assert_array_equal(runs[0][0], runs[1][0])
    np.testing.assert_array_equal(runs[0][1], runs[1][1])


def test_cached_refresh_follows_refits_bulk_tells_and_a_window():
    runs = []
    for refresh in ("recompute", "cached"):
        optimizer = quick(refit=4, refresh=refresh, pool=14)
        points = [drive(optimizer, 25)]
        X = np.random.default_rng(1).uniform(0.0, 3.0, (9, 2))
        optimizer.tell(X, [bowl(x) for x in X])
        points.append(drive(optimizer, 12))
        runs.append(np.vstack(points))
    np.testing.assert_array_equal(*runs)


# ---- designs, streams, candidates


def test_initial_design_is_a_latin_hypercube_of_the_first_stream():
    optimizer = Optimizer(BOX, method="box", rng=9)
    design = qmc.LatinHypercube(2, rng=np.random.default_rng(9).spawn(4)[0]).random(20)
    got = np.array([optimizer.ask() for _ in range(20)])
    np.testing.assert_array_equal(got, ref.to_user(design, np.array(BOX)))
    strata = np.sort(np.floor((got - [-2.0, 0.0]) / [5.0, 4.0] * 20), axis=0)
    np.testing.assert_array_equal(strata, np.column_stack([np.arange(20)] * 2))


@pytest.mark.parametrize("n_init", [1, 8, 20])
def test_sobol_design(n_init):
    optimizer = quick(initial_design="sobol", n_init=n_init, subset_size=50, rng=9)
    expected = qmc.Sobol(2, rng=np.random.default_rng(9).spawn(4)[0]).random_base2(5)[:n_init]
    got = np.array([optimizer.ask() for _ in range(n_init)])
    np.testing.assert_allclose(got, ref.to_user(expected, np.array(BOX)), rtol=1e-12)


@pytest.mark.parametrize(("d", "m"), [(1, 10_000), (10, 10_000), (11, 5_000), (50, 5_000), (51, 2_000)])
def test_number_of_candidates(d, m):
    assert default_n_candidates(d) == m
    optimizer = Optimizer([(0.0, 1.0)] * d, n_init=1, surrogate=fixed(d), rng=2)
    optimizer.tell(np.full(d, 0.5), 1.0)
    candidates = np.random.default_rng(2).spawn(4)[3].random((m, d))
    x = optimizer.ask()
    assert np.any(np.all(candidates == x, axis=1))
    far = np.sum((candidates - 0.5) ** 2, axis=1)  # one observation at its own mean: the widest posterior wins
    np.testing.assert_allclose(np.sum((x - 0.5) ** 2), far.max(), rtol=0.02)


def test_observations_told_stand_in_for_the_design():
    optimizer = quick(n_init=5)
    design = np.array([quick(n_init=5).ask()])
    optimizer.tell([[0.0, 1.0]] * 3, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(optimizer.ask(), design[0])
    assert optimizer.retained.size == 0
    optimizer.tell([[0.5, 1.0]] * 2, [1.0, 2.0])
    optimizer.ask()
    assert optimizer.retained.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("n_told", [0, 5, 20])
def test_asking_without_telling_gives_other_points(n_told):
    optimizer = quick()
    drive(optimizer, n_told)
    points = np.array([optimizer.ask() for _ in range(12)])
    assert len(np.unique(points, axis=0)) == 12


def test_asking_ahead_does_not_refit():
    optimizer = quick()
    drive(optimizer, 15)
    optimizer.ask()
    theta = optimizer.surrogate.theta_.copy()
    refit = optimizer.timings["refit"]
    optimizer.ask()
    np.testing.assert_array_equal(optimizer.surrogate.theta_, theta)
    assert optimizer.timings["refit"] == refit


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
def test_every_acquisition_finds_the_bowls_floor(acquisition):
    optimizer = quick(acquisition=acquisition, n_candidates=1000)
    drive(optimizer, 25)
    assert optimizer.best_y < 0.05


# ---- the retained subset


@pytest.mark.parametrize("rule", RULES)
def test_retained_is_visible_and_holds_the_forced_set(rule):
    optimizer = quick(rule=rule)
    assert optimizer.retained.size == 0
    assert optimizer.switched_at is None
    for n in range(30):
        x = optimizer.ask()
        retained = optimizer.retained
        if n < 5:
            assert retained.size == 0
        elif n <= 10:
            assert retained.tolist() == list(range(n))
            assert optimizer.switched_at is None
        else:
            assert len(retained) == 10
            assert np.all(np.diff(retained) > 0)
            assert set(retained.tolist()) >= {0, 1, 2, 3, 4, n - 1}
            assert optimizer.switched_at == 11
            fitted_on = optimizer.surrogate.X_train_
            np.testing.assert_array_equal(fitted_on, optimizer.space.to_unit(optimizer.X[retained]))
        optimizer.tell(x, bowl(x))
    assert optimizer.M == 10
    retained = optimizer.retained
    optimizer.retained[:] = -1
    np.testing.assert_array_equal(optimizer.retained, retained)


def test_window_is_the_pool():
    optimizer = told(200, pool=15)
    optimizer.ask()
    assert set(optimizer.retained.tolist()) <= {*range(5), *range(185, 200)}
    optimizer = told(200)
    optimizer.ask()
    assert set(optimizer.retained.tolist()) <= {*range(5), *range(160, 200)}  # automatic: the newest 4 M


def test_residual_rules_choose_from_a_rotating_pool():
    """What matters is found wherever in a long history it stands, and kept; the vector rule sees the newest only."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.uniform(0.0, 3.0, (200, 2)), np.full((6000, 2), 1.5) + 1e-3 * rng.random((6000, 2))])
    y = np.array([bowl(x) for x in X])
    for rule, reaches_back in (("residual", True), ("variance", True), ("vector", False)):
        optimizer = quick(rule=rule)
        optimizer.tell(X, y)
        kept = set()
        for _ in range(5):
            x = optimizer.ask()
            kept = set(optimizer.retained.tolist()) & set(range(5, 200))
            optimizer.tell(x, bowl(x))
        assert bool(kept) == reaches_back, rule


def test_predicting_does_not_turn_the_rotating_pool():
    X = np.random.default_rng(0).uniform(0.0, 3.0, (5000, 2))
    runs = []
    for predicts in (False, True):
        optimizer = quick(rule="residual")
        optimizer.tell(X, np.array([bowl(x) for x in X]))
        for _ in range(3):
            x = optimizer.ask()
            optimizer.tell(x, bowl(x))
            if predicts:
                optimizer.predict(X[:3])
        runs.append(optimizer.X)
    np.testing.assert_array_equal(*runs)


def test_cached_embeddings_of_a_rotating_pool_are_those_recomputed():
    """Members enter in the middle of the pool, where the cache cannot append them."""
    rng = np.random.default_rng(3)
    X = rng.uniform(0.0, 3.0, (2500, 2))
    runs = []
    for refresh in ("cached", "recompute"):
        optimizer = quick(pool="rotating", refresh=refresh, refit="frozen", subset_size=40, n_candidates=50)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("gssbo.buffer.SLICE", 20)
            optimizer.tell(X[:1000], np.array([bowl(x) for x in X[:1000]]))
            for _ in range(6):
                x = optimizer.ask()
                optimizer.tell(x, bowl(x))
        runs.append(optimizer.retained)
    np.testing.assert_array_equal(*runs)


@pytest.mark.parametrize("rule", RULES)
def test_bulk_tell_of_thousands(rule):
    X = np.random.default_rng(0).uniform(0.0, 3.0, (3000, 2))
    y = np.array([bowl(x) for x in X])
    optimizer = quick(rule=rule)
    optimizer.tell(X, y)
    np.testing.assert_array_equal(optimizer.X, X)
    np.testing.assert_array_equal(optimizer.y, y)
    assert optimizer.n_told == 3000
    x = optimizer.ask()
    assert x.shape == (2,)
    assert optimizer.switched_at == 3000
    assert len(optimizer.retained) == 10
    assert set(optimizer.retained.tolist()) >= {0, 1, 2, 3, 4, 2999}
    one_by_one = quick(rule=rule)
    for row, value in zip(X, y, strict=True):
        one_by_one.tell(row, value)
    np.testing.assert_array_equal(one_by_one.ask(), x)


def test_first_hyperparameters_of_bulk_data_come_from_forced_and_evenly_spaced_ones(monkeypatch):
    members = []
    original = GaussianProcess.condition

    def condition(self, X, y, **keywords):
        members.append(X)
        return original(self, X, y, **keywords)

    monkeypatch.setattr(GaussianProcess, "condition", condition)
    optimizer = told(200)
    optimizer.ask()
    expected = ref.bulk_indices(200, 10, np.array([0, 1, 2, 3, 4, 199]))
    np.testing.assert_array_equal(members[0], optimizer.space.to_unit(optimizer.X)[expected])
    assert len(members) == 2


# ---- hyperparameters


def thetas(optimizer, n):
    """Hyperparameters after each model iteration, up to n observations."""
    found = []
    while optimizer.n_told < n:
        x = optimizer.ask()
        if optimizer.surrogate.fitted:
            found.append(tuple(optimizer.surrogate.theta_))
        optimizer.tell(x, bowl(x))
    return found


def test_refit_every_iteration_and_every_third():
    assert len(set(thetas(quick(), 17))) == 12
    found = thetas(quick(refit=3), 17)
    assert [len(set(found[i : i + 3])) for i in range(0, 12, 3)] == [1, 1, 1, 1]
    assert len(set(found)) == 4


def test_frozen_after_the_switch():
    found = thetas(quick(refit="frozen"), 20)
    # Iterations with 5 to 10 observations fit; from 11 on nothing moves.
    assert len(set(found[:6])) == 6
    assert len(set(found[5:])) == 1


def test_frozen_on_bulk_data_keeps_the_first_fit():
    optimizer = told(60, refit="frozen")
    assert len(set(thetas(optimizer, 66))) == 1
    assert optimizer.surrogate.fit_info_["n_evaluations"] == 0


def test_fixed_hyperparameters_never_move():
    optimizer = quick(surrogate=fixed(2))
    found = thetas(optimizer, 20)
    assert set(found) == {tuple(np.log([0.4, 0.4, 1.0, 1e-2]))}


def test_the_template_is_copied():
    template = GaussianProcess(n_restarts=0)
    optimizer = quick(surrogate=template)
    drive(optimizer, 8)
    assert not template.fitted
    assert optimizer.surrogate is not template


# ---- the dynamic rule


class ScriptedClock:
    """Every reading is `tick` seconds after the last, so an iteration takes a time proportional to it."""

    def __init__(self):
        self.now, self.tick = 0.0, 1.0

    def __call__(self):
        self.now += self.tick
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = ScriptedClock()
    monkeypatch.setattr("time.perf_counter", clock)
    return clock


SECONDS = [*[1.0] * 8, 30.0, *[1.0] * 4, *[4.5] * 20]  # an interruption, which does not count, then slow for good


def test_dynamic_size_is_set_as_the_reference_sets_it(clock):
    optimizer = quick(subset_size="dynamic", surrogate=fixed(2), pool="full")
    for i in range(5 + len(SECONDS)):
        clock.tick = SECONDS[i - 5] if i >= 5 else 77.0  # the design's time does not count
        x = optimizer.ask()
        if optimizer.n_told < 5 + 8 + 1 + 4 + 2:
            assert optimizer.M is None
            assert optimizer.switched_at is None
        clock.now += 1e6  # the objective
        optimizer.tell(x, bowl(x))
    readings = itertools.chain.from_iterable((0.0, seconds) for seconds in SECONDS)
    run = ref.reference_loop(
        bowl,
        BOX,
        5 + len(SECONDS),
        n_init=5,
        dynamic_factor=4.0,
        theta=np.log([0.4, 0.4, 1.0, 1e-2]),
        n_candidates=100,
        rng=0,
        clock=lambda: next(readings),
    )
    # The second slow iteration (the 15th) was asked with 19 observations, and ended with 20.
    assert optimizer.M == run.M == 20
    assert optimizer.switched_at == 21
    np.testing.assert_array_equal(optimizer.X, run.X)
    np.testing.assert_array_equal(optimizer.retained, run.retained[-1])


def test_dynamic_factor(clock):
    optimizer = quick(subset_size="dynamic", surrogate=fixed(2), dynamic_factor=5.0)
    for seconds in [1.0] * 5 + SECONDS:
        clock.tick = seconds
        drive(optimizer, 1)
    assert optimizer.M is None
    assert optimizer.retained.tolist() == list(range(optimizer.n_told - 1))


def test_dynamic_rule_sees_iterations_that_ask_for_more_than_one_point(clock):
    optimizer = quick(subset_size="dynamic", surrogate=fixed(2))
    drive(optimizer, 5)
    for seconds in [1.0] * 6 + [9.0] * 6:
        clock.tick = seconds
        batch = [optimizer.ask(), optimizer.ask()]
        optimizer.tell(batch, [bowl(x) for x in batch])
    assert optimizer.M == 5 + 2 * 8  # the second slow iteration


def test_dynamic_size_survives_a_copy(clock):
    optimizer = quick(subset_size="dynamic", surrogate=fixed(2))
    for seconds in [1.0] * 12 + [9.0]:
        clock.tick = seconds
        drive(optimizer, 1)
    again = pickle.loads(pickle.dumps(optimizer))
    clock.tick = 9.0
    assert optimizer.M is None
    np.testing.assert_array_equal(drive(again, 10), drive(optimizer, 10))
    assert again.M == optimizer.M == 14


# ---- timings


def test_timings_add_up():
    optimizer = quick()
    spent = 0.0
    for _ in range(20):
        drive(optimizer, 1)
        assert optimizer.last_ask_seconds > 0.0
        spent += optimizer.last_ask_seconds
    timings = optimizer.timings
    assert set(timings) == {"refit", "embed", "select", "acquisition", "other"}
    assert all(seconds > 0.0 for seconds in timings.values())
    assert sum(timings.values()) == pytest.approx(timings.total)
    assert timings.total == pytest.approx(spent, rel=0.05)


def test_timings_exclude_the_objective_and_predict(clock):
    optimizer = quick()
    drive(optimizer, 14)
    before = dict(optimizer.timings), optimizer.timings.total, optimizer.last_ask_seconds
    clock.now += 1e9
    optimizer.predict([[0.0, 1.0]])
    assert (dict(optimizer.timings), optimizer.timings.total, optimizer.last_ask_seconds) == before
    clock.now += 1e9
    optimizer.ask()
    assert optimizer.timings.total < 1e6


# ---- predict


@pytest.mark.parametrize("options", [{}, {"rule": "kmeans++", "acquisition": "thompson"}, {"refit": 3}])
def test_predict_never_changes_what_follows(options):
    curious, twin = quick(**options), quick(**options)
    for n in range(22):
        x = curious.ask()
        np.testing.assert_array_equal(x, twin.ask())
        for optimizer in (curious, twin):
            optimizer.tell(x, bowl(x))
        retained = curious.retained
        curious.predict([[0.0, 1.0], [2.0, 2.0]])
        curious.predict(np.random.default_rng(n).uniform(0.0, 3.0, (5, 2)), return_std=True)
        np.testing.assert_array_equal(curious.retained, retained)


@pytest.mark.parametrize("maximize", [False, True])
def test_predict_is_in_user_units_and_up_to_date(maximize):
    sign = -1.0 if maximize else 1.0
    optimizer = quick(maximize=maximize, subset_size=60)
    X = np.random.default_rng(0).uniform([-2.0, 0.0], [3.0, 4.0], (50, 2))
    y = sign * (100.0 + 10.0 * np.array([bowl(x) for x in X]))
    optimizer.tell(X, y)
    at = np.array([[1.0, 2.0], [0.0, 3.0]])
    mean, std = optimizer.predict(at, return_std=True)
    np.testing.assert_allclose(mean, sign * np.array([100.0, 120.0]), atol=1.0)
    assert mean.shape == std.shape == (2,)
    assert np.all((std > 0.0) & (std < 10.0))
    np.testing.assert_array_equal(optimizer.predict(at), mean)
    before = optimizer.predict(at)
    optimizer.tell(at[0], sign * 160.0)
    assert not np.array_equal(optimizer.predict(at), before)


def test_predict_is_the_posterior_of_the_retained_subset():
    optimizer = quick(surrogate=fixed(2))
    drive(optimizer, 25)
    at = np.array([[0.3, 1.2], [2.0, 2.0]])
    mean, std = optimizer.predict(at, return_std=True)
    optimizer.ask()
    kept, unit = optimizer.retained, optimizer.space.to_unit(optimizer.X)
    z, offset, scale = ref.standardise(optimizer.y[kept])
    expected = ref.posterior(unit[kept], z, optimizer.space.to_unit(at), np.log([0.4, 0.4, 1.0, 1e-2]))
    np.testing.assert_allclose(mean, offset + scale * expected[0], rtol=1e-9)
    np.testing.assert_allclose(std, scale * expected[1], rtol=1e-6)


# ---- copies


@pytest.mark.parametrize("n", [0, 3, 8, 18])
@pytest.mark.parametrize("clone", [copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))], ids=["deepcopy", "pickle"])
def test_a_copy_in_mid_run_continues_alike(clone, n):
    for options in ({"refit": 3, "rule": "kmeans++"}, {"acquisition": "thompson", "rule": "random", "refit": "frozen"}):
        optimizer = quick(**options)
        drive(optimizer, n)
        optimizer.ask()
        again = clone(optimizer)
        np.testing.assert_array_equal(drive(again, 8), drive(optimizer, 8))
        np.testing.assert_array_equal(again.X, optimizer.X)
        np.testing.assert_array_equal(again.retained, optimizer.retained)


def test_a_copy_is_its_own():
    optimizer = quick()
    drive(optimizer, 12)
    again = copy.deepcopy(optimizer)
    drive(again, 5)
    assert optimizer.n_told == 12
    np.testing.assert_array_equal(drive(optimizer, 5), again.X[12:])


# ---- what users see


def test_state_of_an_empty_optimizer():
    optimizer = quick()
    assert optimizer.n_told == 0
    assert optimizer.X.shape == (0, 2)
    assert optimizer.y.shape == (0,)
    assert optimizer.best_x is optimizer.best_y is None
    result = optimizer.result()
    assert isinstance(result, OptimizeResult)
    assert result.x is result.fun is None
    assert result.nfev == 0
    with pytest.raises(ValueError, match=r"at least one observation"):
        optimizer.predict([[0.0, 1.0]])


@pytest.mark.parametrize("maximize", [False, True])
def test_best_is_the_first_of_equals(maximize):
    sign = -1.0 if maximize else 1.0
    optimizer = quick(maximize=maximize)
    optimizer.tell([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [-1.0, 3.0]], sign * np.array([3.0, 1.0, 1.0, 2.0]))
    assert optimizer.best_y == sign
    assert type(optimizer.best_y) is float
    np.testing.assert_array_equal(optimizer.best_x, [1.0, 1.0])
    result = optimizer.result()
    assert result.fun == sign
    np.testing.assert_array_equal(result.func_vals, sign * np.array([3.0, 1.0, 1.0, 2.0]))
    for array in (optimizer.X, optimizer.y, optimizer.best_x, result.x, result.x_iters):
        array[:] = 99.0
    np.testing.assert_array_equal(optimizer.best_x, [1.0, 1.0])
    np.testing.assert_array_equal(optimizer.y, sign * np.array([3.0, 1.0, 1.0, 2.0]))


def test_told_arrays_are_copied():
    optimizer, x, y = quick(), np.array([[0.0, 1.0]]), np.array([2.0])
    optimizer.tell(x, y)
    x[:], y[:] = 1.5, 9.0
    np.testing.assert_array_equal(optimizer.X, [[0.0, 1.0]])
    np.testing.assert_array_equal(optimizer.y, [2.0])
    suggestion = optimizer.ask()
    kept = suggestion.copy()
    optimizer.tell(suggestion, 1.0)
    suggestion[:] = 2.0
    np.testing.assert_array_equal(optimizer.X[1], kept)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([0.0, 1.0], 2),
        ((0, 1), np.float32(2)),
        (np.array([0.0, 1.0]), np.array(2.0)),
        ([0.0, 1.0], [2.0]),
        ([[0.0, 1.0]], [2.0]),
        (np.array([[0, 1]]), np.array([2], dtype=object)),
    ],
)
def test_forms_of_one_observation(x, y):
    optimizer = quick()
    optimizer.tell(x, y)
    np.testing.assert_array_equal(optimizer.X, [[0.0, 1.0]])
    np.testing.assert_array_equal(optimizer.y, [2.0])


def test_one_dimension():
    optimizer = Optimizer([(0.0, 1.0)], n_init=3, subset_size=8, n_candidates=50, rng=0)
    optimizer.tell(0.5, 1.0)
    optimizer.tell([0.25], 2.0)
    optimizer.tell([[0.75], [1.0]], [3.0, 4.0])
    np.testing.assert_array_equal(optimizer.X, [[0.5], [0.25], [0.75], [1.0]])
    assert optimizer.ask().shape == (1,)


def test_scipy_bounds_and_a_fixed_parameter():
    optimizer = Optimizer(Bounds([0.0, 5.0], [1.0, 5.0]), n_init=3, subset_size=8, n_candidates=50, rng=0)
    points = drive(optimizer, 15, lambda x: float(x[0]))
    np.testing.assert_array_equal(points[:, 1], 5.0)
    assert len(np.unique(points[:, 0])) == 15


def test_suggestions_stay_inside_the_bounds():
    bounds = np.array([(0.1, 0.3), (-1e-3, 1e6), (1e8, 1e8 + 1.0)])
    optimizer = Optimizer(bounds, n_init=4, subset_size=8, n_candidates=50, rng=0)
    points = drive(optimizer, 20, lambda x: float(-x[0]))
    assert np.all((points >= bounds[:, 0]) & (points <= bounds[:, 1]))


# ---- bad input


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"maximize": 1}, "^maximize must be True or False, got 1"),
        ({"n_init": 0}, "^n_init must be at least 1, got 0"),
        ({"n_init": 2.0}, "^n_init must be an integer, got 2.0"),
        ({"initial_design": "grid"}, "^initial_design must be one of 'lhs', 'sobol', got 'grid'"),
        ({"method": "box", "subset_size": 20}, r"^subset_size must be larger than the forced set \(21.*got 20"),
        ({"method": "box", "subset_size": 21}, r"^subset_size must be larger than the forced set \(21.*got 21"),
        ({"subset_size": "auto"}, "^subset_size must be an integer, got 'auto'"),
        ({"dynamic_factor": 0.5}, "^dynamic_factor must be greater than 1.*got 0.5"),
        ({"rule": "best"}, "^rule must be one of 'vector', 'scalar', 'random', 'kmeans.*got 'best'"),
        ({"retain_initial": "no"}, "^retain_initial must be True or False, got 'no'"),
        ({"retain_newest": 0}, "^retain_newest must be True or False, got 0"),
        ({"pool": "window"}, "^pool must be 'auto', 'full', 'rotating' or a window size, got 'window'"),
        ({"pool": 10}, "^pool must leave at least subset_size"),
        ({"refit": 0}, "^refit must be at least 1, got 0"),
        ({"refit": "never"}, "^refit must be .*'frozen', got 'never'"),
        ({"refit": 1.5}, "^refit must be an integer, got 1.5"),
        ({"refresh": "lazy"}, "^refresh must be one of .*'recompute', 'cached', got 'lazy'"),
        ({"acquisition": "kg"}, "^acquisition must be one of 'ucb', 'ei', 'log_ei', 'pi', 'thompson', got 'kg'"),
        ({"acquisition_options": {"gamma": 1}}, "^acquisition_options must suit UpperConfidenceBound, got .*gamma"),
        ({"acquisition_options": 3}, "^acquisition_options must suit"),
        ({"acquisition_options": {"beta": -1.0}}, "^beta must be at least 0.*got -1"),
        ({"n_candidates": 0}, "^n_candidates must be at least 1, got 0"),
        ({"n_candidates": 10.0}, "^n_candidates must be an integer, got 10.0"),
        ({"n_candidates": 10**19}, "^n_candidates must be at most 10000000, got 1"),
        ({"surrogate": "gp"}, "^surrogate must be a GaussianProcess or .*, got 'gp'"),
        ({"surrogate": fixed(3)}, "^surrogate must have 1 or 2 lengthscales, got 3"),
        ({"rng": "seed"}, "^rng must be .*got 'seed'"),
        ({"rng": -7}, "^rng must be .*got -7"),
        ({"bounds": []}, "^bounds must "),
        ({"bounds": None}, "^bounds must have an entry a parameter, .* got None"),
        ({"bounds": 3}, "^bounds must have an entry a parameter, .* got 3"),
        ({"bounds": [(1.0, 0.0)]}, r"^bounds\[0\] must have low <= high, got \(1.0, 0.0\)"),
        ({"bounds": [(0.0, np.nan)]}, "^bounds must be finite, got nan"),
    ],
)
def test_bad_settings(keywords, message):
    with pytest.raises(ValueError, match=message):
        Optimizer(**{"bounds": BOX, **keywords})


def test_more_than_anyone_evaluates_is_not_asked_for():
    optimizer = Optimizer(BOX)
    with pytest.raises(ValueError, match=r"^n must be at most 1000000, got 1"):
        optimizer.ask(10**18)
    assert len(optimizer.pending) == 0


def test_settings_are_keywords():
    with pytest.raises(TypeError):
        Optimizer(BOX, True)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([0.0], 1.0, r"^x must have shape \(2,\) or \(n, 2\), got shape \(1,\)"),
        (0.0, 1.0, r"^x must have shape \(2,\) or \(n, 2\), got shape \(\)"),
        ([[0.0, 1.0, 2.0]], [1.0], r"^x must have 2 columns, got shape \(1, 3\)"),
        (np.zeros((1, 1, 2)), [1.0], r"^x must have shape"),
        (np.empty((0, 2)), [], "^x must not be empty"),
        ([0.0, np.nan], 1.0, "^x must be finite, got nan"),
        ([[0.0, 1.0], [np.inf, 1.0]], [1.0, 2.0], r"^x must be finite, got inf at index \(1, 0\)"),
        ([[0.0, 1.0], [0.0]], [1.0, 2.0], "^x must be an array of real numbers"),
        (["a", "b"], 1.0, "^x must be an array of real numbers"),
        (None, 1.0, "^x or id must say what was evaluated, got neither"),
        ([], [], "^x must "),
        ([0.0, 5.0], 1.0, r"^x must lie within bounds, got 5.0 for parameter 1 of point 0.*\(0.0, 4.0\)"),
        ([[0.0, 1.0], [-2.1, 1.0]], [1.0, 2.0], "^x must lie within bounds, got -2.1 for parameter 0 of point 1"),
        ([0.0, 1.0], -np.inf, r"^y must be finite, got -inf at index \(0,\)"),
        ([0.0, 1.0], None, "^y must be a number, or NaN where an evaluation failed, got None"),
        ([0.0, 1.0], 10**400, "^y must be an array of real numbers"),
        ([0.0, 1.0], "3", "^y must be an array of real numbers"),
        ([0.0, 1.0], 1j, "^y must be an array of real numbers"),
        ([0.0, 1.0], [1.0, 2.0], r"^y must be one number for one point x, got shape \(2,\)"),
        ([[0.0, 1.0], [1.0, 1.0]], [1.0], "^y must have 2 entries, got 1"),
        ([[0.0, 1.0], [1.0, 1.0]], 1.0, r"^y must have shape \(n,\), got shape \(\)"),
        ([[0.0, 1.0], [1.0, 1.0]], [[1.0], [2.0]], r"^y must have shape \(n,\), got shape \(2, 1\)"),
        ([[0.0, 1.0], [1.0, 1.0]], [1.0, -np.inf], r"^y must be finite, got -inf at index \(1,\)"),
    ],
)
@pytest.mark.parametrize("n", [0, 13])
def test_a_bad_observation_leaves_no_trace(n, x, y, message):
    optimizer = quick()
    drive(optimizer, n)
    twin = copy.deepcopy(optimizer)
    with pytest.raises(ValueError, match=message):
        optimizer.tell(x, y)
    assert optimizer.n_told == n
    np.testing.assert_array_equal(optimizer.y, twin.y)
    np.testing.assert_array_equal(optimizer.ask(), twin.ask())


@pytest.mark.parametrize("X", [[0.0, 1.0], [[0.0]], [[0.0, np.nan]], [], "x"])
def test_bad_points_to_predict_at(X):
    optimizer = quick()
    drive(optimizer, 7)
    twin = copy.deepcopy(optimizer)
    with pytest.raises(ValueError, match=r"^X must "):
        optimizer.predict(X)
    np.testing.assert_array_equal(optimizer.ask(), twin.ask())


# ---- hard data


def hard_responses(name, n=40):
    rng = np.random.default_rng(0)
    normal = rng.standard_normal(n)
    mixed = np.tile([1e300, 1e-300, 0.0, -1e300, 1.0], n // 5)
    spike = 1e-20 * normal
    spike[6] = -1e300
    return {
        "huge": 1e300 * np.tanh(normal),
        "mixed": mixed,
        "spike": spike,
        "spike up": -spike,
        "largest": np.where(normal > 0, 1.7e308, -1.7e308),
        "denormal": np.where(normal > 0, 5e-324, 1e-323),
        "tiny": 1e-310 * normal,
        "zero": np.zeros(n),
        "constant": np.full(n, 1.7e308),
        "offset": 1e15 + np.round(normal),
    }[name]


HARD = ["huge", "mixed", "spike", "spike up", "largest", "denormal", "tiny", "zero", "constant", "offset"]


@pytest.mark.parametrize("acquisition", ACQUISITIONS)
@pytest.mark.parametrize("name", HARD)
def test_extreme_responses(name, acquisition):
    y = hard_responses(name)
    X = np.random.default_rng(1).uniform([-2.0, 0.0], [3.0, 4.0], (len(y), 2))
    for options in ({}, {"rule": "random", "retain_initial": False}, {"rule": "scalar", "pool": "full"}):
        optimizer = quick(acquisition=acquisition, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            optimizer.tell(X[:4], y[:4])
            for i in range(4, 14):
                assert np.isfinite(optimizer.ask()).all()
                optimizer.tell(X[i], y[i])
            optimizer.tell(X[14:], y[14:])
            for value in (y.max(), 0.0):
                x = optimizer.ask()
                assert np.isfinite(x).all()
                optimizer.tell(x, value)
            if name not in ("largest", "constant"):
                mean, std = optimizer.predict(X, return_std=True)
                assert np.isfinite(mean).all()
                assert np.isfinite(std).all()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("refit", [1, "frozen"])
def test_a_hundred_duplicates(rule, refit):
    optimizer = quick(rule=rule, refit=refit)
    optimizer.tell([[0.5, 1.0]] * 100, np.random.default_rng(0).standard_normal(100))
    points = drive(optimizer, 5)
    assert np.isfinite(points).all()
    assert len(np.unique(points, axis=0)) == 5
    optimizer.tell([[0.5, 1.0]] * 30, [1e300] * 30)
    assert np.isfinite(optimizer.ask()).all()


@pytest.mark.parametrize("rule", RULES)
def test_a_constant_objective(rule):
    optimizer = quick(rule=rule)
    points = drive(optimizer, 20, lambda x: 3.0)
    assert len(np.unique(points, axis=0)) == 20
    np.testing.assert_array_equal(optimizer.predict(points), 3.0)


def test_no_noise_and_duplicates():
    surrogate = GaussianProcess(lengthscale=0.4, noise=0.0, fit_hyperparameters=False)
    optimizer = quick(surrogate=surrogate, refresh="cached", pool="full")
    optimizer.tell([[0.5, 1.0], [0.5, 1.0], [2.0, 2.0]] * 10, np.tile([1.0, 1.0, 2.0], 10))
    assert np.isfinite(drive(optimizer, 5)).all()


def test_memory_of_a_large_history():
    pytest.importorskip("resource")
    script = """
        import resource, sys, tracemalloc
        import numpy as np
        import gssbo
        peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
        box = [(0.0, 1.0)] * 10
        X = np.random.default_rng(0).random((20_000, 10))
        y = X.sum(axis=1)
        small = gssbo.Optimizer(box, rng=0)
        small.tell(X[:50], y[:50])
        small.ask()
        before = peak()
        tracemalloc.start()
        optimizer = gssbo.Optimizer(box, surrogate=gssbo.GaussianProcess(n_restarts=0), rng=0)
        optimizer.tell(X, y)
        optimizer.ask()
        print(tracemalloc.get_traced_memory()[1] / 2**20, (peak() - before) / 2**20, len(optimizer.retained))
    """
    out = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    traced, resident, retained = map(float, out.stdout.split())
    assert retained == 100
    assert traced < 64
    assert resident < 64


def test_reprs_say_where_things_stand():
    optimizer = Optimizer([(0, 1)], method="box", n_init=2, subset_size=5, rng=0)
    assert repr(optimizer) == "Optimizer(d=1, told=0, best_y=None, rule='vector', M=5, retained=0)"
    assert repr(GaussianProcess()) == "GaussianProcess('matern52', not fitted)"
    assert "n=2" in repr(GaussianProcess(rng=0).fit([[0.0], [1.0]], [0.0, 1.0]))


@pytest.mark.parametrize("method", ["box", "portfolio"])
@pytest.mark.parametrize("kind", [np.random.PCG64, np.random.Philox, np.random.MT19937])
def test_reseeded_copies_part_and_agree_with_each_other(method, kind):
    opt = Optimizer(BOX, method=method, n_init=4, rng=np.random.Generator(kind(3)))
    for _ in range(6):
        x = opt.ask()
        opt.tell(x, bowl(x))
    copies = [copy.deepcopy(opt) for _ in range(3)]
    for twin, seed in zip(copies, (1, 1, 2), strict=True):
        twin.reseed(seed)
    points = [tuple(each.ask()) for each in (*copies, opt)]
    assert points[0] == points[1]
    assert len(set(points)) == 3
    assert copies[0].X.tolist() == opt.X.tolist()


@pytest.mark.parametrize(("method", "tolerance"), [("portfolio", 1e-5), ("box", 0.02)])
def test_predictions_go_without_the_evaluations_that_failed(method, tolerance):
    """Failures that have nothing to do with where they are, beside values without noise."""
    rng = np.random.default_rng(5)
    opt = Optimizer(BOX, method=method, n_init=8, rng=1)
    for _ in range(90):
        x = opt.ask()
        opt.tell(x, np.nan if rng.random() < 0.15 else bowl(x))
    assert opt.n_failed > 5
    best = opt.best("model")
    assert bowl(best.x) <= opt.best_y + tolerance and abs(best.y - bowl(best.x)) < tolerance
    X = rng.uniform(*np.transpose(BOX), size=(50, 2))
    expected = np.array([bowl(x) for x in X])
    assert np.abs(opt.predict(X) - expected).max() < 0.05 * np.ptp(expected)
    assert opt.predict(X).tolist() == opt.predict(X).tolist()


@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_where_all_failed_there_is_still_a_subset(method):
    opt = Optimizer(BOX, method=method, n_init=3, rng=0)
    for _ in range(8):
        opt.tell(opt.ask(), np.nan)
    opt.ask()
    assert len(opt.retained) == opt.n_retained == 8
    assert opt.result().x is None and opt.surrogate.y_train_.tolist() == [0.0] * 8

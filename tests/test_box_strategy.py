"""The box: point for point the reference's run, its candidates and its hyperparameters."""

import itertools

import numpy as np
import pytest

from gssbo import GaussianProcess, Optimizer
from gssbo import reference as ref
from gssbo.baselines.lr_first import NystromProcess
from gssbo.box_strategy import default_n_candidates
from gssbo.problems import get_problem
from tests.optimizers import ACQUISITIONS, BOX, RULES, bowl, drive, fixed, quick, told

pytestmark = pytest.mark.usefixtures("single_thread")


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


def test_hyperparameters_may_be_fitted_on_observations_spread_over_the_history():
    optimizer = told(100, subset_size=15, rule="residual", fit_on="spread")
    optimizer.ask()
    rows = np.round(np.linspace(0, 99, 60)).astype(int)  # 4 M
    alone = GaussianProcess(n_restarts=0, lengthscale_bounds=(0.05, 10.0))
    alone.fit(optimizer.space.to_unit(optimizer.X[rows]), -optimizer.y[rows])
    np.testing.assert_allclose(optimizer.surrogate.theta_, alone.theta_, atol=1e-6)
    assert len(optimizer.retained) == len(optimizer.surrogate.y_train_) == 15


def test_before_retention_begins_spread_is_the_same_as_retained():
    np.testing.assert_array_equal(drive(quick(fit_on="spread"), 10), drive(quick(), 10))


def test_spread_hyperparameters_are_fitted_when_a_refit_is_due():
    optimizer = quick(fit_on="spread", refit=3, rule="residual")
    drive(optimizer, 12)
    found = []
    for _ in range(13):
        drive(optimizer, 1)
        found.append(optimizer.surrogate.theta_)
    changed = [not np.array_equal(a, b) for a, b in itertools.pairwise(found)]
    assert changed in ([i % 3 == first for i in range(12)] for first in range(3))


def test_frozen_hyperparameters_stand_wherever_they_are_fitted():
    optimizer = quick(fit_on="spread", refit="frozen", rule="residual")
    drive(optimizer, 11)
    theta = optimizer.surrogate.theta_
    drive(optimizer, 10)
    np.testing.assert_array_equal(optimizer.surrogate.theta_, theta)


def test_hyperparameters_may_be_fitted_on_so_many_observations():
    optimizer = told(100, subset_size=15, rule="residual", fit_on=30)
    optimizer.ask()
    rows = np.round(np.linspace(0, 99, 30)).astype(int)
    alone = GaussianProcess(n_restarts=0, lengthscale_bounds=(0.05, 10.0))
    alone.fit(optimizer.space.to_unit(optimizer.X[rows]), -optimizer.y[rows])
    np.testing.assert_allclose(optimizer.surrogate.theta_, alone.theta_, atol=1e-6)
    assert told(20, subset_size=15, fit_on=1000).ask() is not None  # more than there are


def dense(optimizer, rows, points, basis=None):
    """Mean and standard deviation at unit points of the observations `rows` projected on the basis, or the retained."""
    gp, space = optimizer.surrogate, optimizer.space
    X, Z = (space.to_unit(optimizer.X[which]) for which in (rows, optimizer.retained if basis is None else basis))
    z, mean, std = ref.standardise(-optimizer.y[rows])

    def Q(A, B):
        return gp.kernel_(A, Z) @ np.linalg.solve(gp.kernel_(Z, Z), gp.kernel_(Z, B))

    inverse = np.linalg.inv(Q(X, X) + gp.noise_ * np.eye(len(X)))
    variance = gp.kernel_.variance - np.einsum("ij,ji->i", Q(points, X) @ inverse, Q(X, points))
    return mean + std * (Q(points, X) @ inverse @ z), std * np.sqrt(variance)


def exactly(optimizer, rows, points):
    """Mean and standard deviation at unit points, the mean that of the exact process of the observations `rows`."""
    gp, space = optimizer.surrogate, optimizer.space
    X = space.to_unit(optimizer.X[rows])
    z, mean, std = ref.standardise(-optimizer.y[rows])
    weights = np.linalg.solve(gp.kernel_(X, X) + gp.noise_ * np.eye(len(X)), z)
    return mean + std * (gp.kernel_(points, X) @ weights), dense(optimizer, rows, points)[1]


@pytest.mark.parametrize("pool", ["full", 40])
@pytest.mark.parametrize(("posterior", "expected"), [("projected", dense), ("pooled", exactly)])
def test_the_pool_may_be_known_beside_the_retained_subset(pool, posterior, expected):
    """Suggestions are the best of the candidates by the bound of that posterior, and predictions are its own."""
    optimizer = told(90, subset_size=15, rule="residual", pool=pool, posterior=posterior, surrogate=fixed(2))
    x = optimizer.ask()
    rows = np.arange(90) if pool == "full" else np.union1d(np.arange(5), np.arange(50, 90))
    points = np.random.default_rng(1).random((400, 2))
    mean, std = expected(optimizer, rows, points)
    found_mean, found_std = optimizer.predict(optimizer.space.from_unit(points), return_std=True)
    np.testing.assert_allclose(found_mean, -mean, rtol=0, atol=1e-6 * np.ptp(mean))
    np.testing.assert_allclose(found_std, std, rtol=1e-4)
    at_x = expected(optimizer, rows, optimizer.space.to_unit(x[None]))
    assert (at_x[0] + np.sqrt(2) * at_x[1])[0] > np.quantile(mean + np.sqrt(2) * std, 0.98)


@pytest.mark.parametrize("posterior", ["projected", "pooled"])
def test_before_retention_begins_every_posterior_is_exact(posterior):
    np.testing.assert_array_equal(drive(quick(posterior=posterior), 11), drive(quick(), 11))


def test_a_search_by_the_pool_uses_more_than_it_retains():
    """With noise, 300 observations tell where the floor is; fifteen do not."""
    errors = []
    for posterior in ("exact", "projected", "pooled"):
        optimizer = quick(subset_size=15, rule="residual", posterior=posterior, pool="full", fit_on=100)
        rng = np.random.default_rng(0)
        X = np.column_stack([rng.uniform(-2, 3, 300), rng.uniform(0, 4, 300)])
        truth = np.array([bowl(x) for x in X])
        optimizer.tell(X, truth + 3.0 * rng.standard_normal(300))
        errors.append(np.sqrt(np.mean((optimizer.predict(X) - truth) ** 2)))
    assert max(errors[1:]) < 0.5 * errors[0]


@pytest.mark.parametrize("posterior", ["projected", "pooled"])
def test_batches_by_the_pool_keep_apart_and_resume(posterior):
    one, other = (quick(rule="residual", posterior=posterior, duplicates="allow") for _ in range(2))
    drive(one, 20)
    drive(other, 20)
    batch = np.array(one.ask(4))
    np.testing.assert_array_equal(batch, other.ask(4))
    assert len(np.unique(batch, axis=0)) == 4


@pytest.mark.parametrize("posterior", ["projected", "pooled"])
def test_predictions_by_the_pool_leave_failures_out(posterior):
    optimizer = quick(subset_size=15, rule="residual", posterior=posterior, pool="full", surrogate=fixed(2))
    X = np.column_stack([np.linspace(-2, 3, 60), np.tile(np.linspace(0, 4, 12), 5)])
    y = np.array([bowl(x) for x in X])
    failed = np.arange(60) % 7 == 3
    optimizer.tell(X, np.where(failed, np.nan, y))
    assert optimizer.ask() is not None
    basis = optimizer._strategy.subset_model()[1]
    assert not np.isin(np.flatnonzero(failed), basis).any()
    known, points = np.flatnonzero(~failed), optimizer.space.to_unit(X)
    mean = (
        dense(optimizer, known, points, basis)[0] if posterior == "projected" else exactly(optimizer, known, points)[0]
    )
    np.testing.assert_allclose(optimizer.predict(X), -mean, rtol=0, atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"posterior": "subset"}, "^posterior must be one of 'exact', 'projected', 'pooled', got 'subset'"),
        ({"posterior": "projected", "acquisition": "thompson"}, "^posterior must be 'exact' .*, got 'projected'"),
        ({"posterior": "pooled", "acquisition": "thompson"}, "^posterior must be 'exact' with acquisition='thompson'"),
        (
            {"posterior": "projected", "surrogate": NystromProcess()},
            "^posterior must be 'exact' with a surrogate other",
        ),
        ({"fit_on": 0}, "^fit_on must be at least 1, got 0"),
        ({"fit_on": "all"}, "^fit_on must be 'retained', 'spread' or an integer, got 'all'"),
    ],
)
def test_what_a_posterior_cannot_go_with_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        quick(**options)


def test_diagnostics_of_a_search_by_the_pool_are_of_the_retained_subset():
    found = [
        told(60, subset_size=15, rule="residual", posterior=posterior, surrogate=fixed(2)).diagnostics(rng=0)
        for posterior in ("exact", "projected", "pooled")
    ]
    assert str(found[0]) == str(found[1]) == str(found[2])

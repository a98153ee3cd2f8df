"""Predictions, and the best by them."""

import threading

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint

from gssbo import GaussianProcess, Optimizer
from gssbo import reference as ref
from gssbo.history import History
from gssbo.kernels import Kernel
from gssbo.modelled import _given_own
from gssbo.portfolio.region import Region
from gssbo.projected import ProjectedProcess
from tests.optimizers import BOX, bowl, drive, fixed, quick

pytestmark = pytest.mark.usefixtures("single_thread")


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
    errors = np.abs(opt.predict(X) - expected) / np.ptp(expected)
    assert np.median(errors) < 0.01 and errors.max() < 0.15  # 0.1 and 0.3, or more, where failures count as values
    assert opt.predict(X).tolist() == opt.predict(X).tolist()


@pytest.mark.parametrize("method", ["box", "portfolio"])
def test_where_all_failed_there_is_still_a_subset(method):
    opt = Optimizer(BOX, method=method, n_init=3, rng=0)
    for _ in range(8):
        opt.tell(opt.ask(), np.nan)
    opt.ask()
    assert len(opt.retained) == opt.n_retained == 8
    assert opt.result().x is None and opt.surrogate.y_train_.tolist() == [0.0] * 8


@pytest.mark.parametrize("look", [lambda opt: opt.retained, lambda opt: opt.surrogate])
def test_who_looks_at_a_portfolio_from_another_thread_leaves_no_older_model(monkeypatch, look):
    opt, calm = (Optimizer([(0.0, 1.0)] * 2, n_init=4, rng=0) for _ in range(2))
    X = np.random.default_rng(0).random((60, 2))
    for each in (opt, calm):
        each.tell(X[:30], X[:30].sum(axis=1))
        each.ask()
    begun, told, predictor = threading.Event(), threading.Event(), Region.predictor

    def slow(self, view):
        found = predictor(self, view)
        if threading.current_thread() is watcher:
            begun.set()
            told.wait(0.2)
        return found

    monkeypatch.setattr(Region, "predictor", slow)
    watcher = threading.Thread(target=look, args=(opt,))
    watcher.start()
    assert begun.wait(60.0)
    for each in (opt, calm):
        each.tell(X[30:], -X[30:].sum(axis=1))
        each.ask()
    told.set()
    watcher.join()
    assert opt.predict([[0.5, 0.5]]) == calm.predict([[0.5, 0.5]])


def test_what_was_observed_at_a_point_is_added_to_a_projection_as_by_the_dense_formula():
    """Prior covariance Q, and on the diagonal k, where Q = K_.Z K_ZZ^-1 K_Z.; Z the basis (Snelson and Ghahramani)."""
    rng = np.random.default_rng(0)
    X, noise, kernel = rng.random((50, 2)), 0.05, Kernel("matern52", np.array([0.3, 0.6]), 1.5)
    z, known = np.sin(6 * X).sum(axis=1), rng.choice([0.0, 0.4], 50)
    process = ProjectedProcess(kernel, noise, X[:12].copy(), scale=(3.0, 2.0))
    process.observe(X[:40].copy(), z[:40], process.unexplained(X[:40]) ** 2 + known[:40])
    history = History(2)
    history.append(X, X, 3.0 + 2.0 * z, 2.0 * np.sqrt(known))
    mean, std = process.posterior(X)
    found = _given_own(process, np.arange(40), history, 3.0 + 2.0 * mean, 2.0 * std)

    Q = kernel(X, X[:12]) @ np.linalg.solve(kernel(X[:12]), kernel(X[:12], X))
    prior = Q + np.diag(1.5 - np.diag(Q))
    for i, (value, deviation) in enumerate(zip(*found, strict=True)):
        rows = np.unique(np.append(np.arange(40), i))  # what was projected, and what was observed there
        K = prior[np.ix_(rows, rows)] + np.diag(noise + known[rows])
        k = prior[i, rows]
        assert value == pytest.approx(3.0 + 2.0 * k @ np.linalg.solve(K, z[rows]), abs=1e-6)
        assert deviation == pytest.approx(2.0 * np.sqrt(1.5 - k @ np.linalg.solve(K, k)), abs=1e-6)


@pytest.mark.parametrize("options", [{}, {"method": "box", "posterior": "projected"}])
@pytest.mark.filterwarnings("error")
def test_the_best_of_responses_as_large_as_floats_go(options):
    """Means and deviations elsewhere are beyond doubles."""
    X = np.random.default_rng(0).random((60, 2))
    opt = Optimizer([(0.0, 1.0)] * 2, rng=0, **{"subset_size": 30, **options})
    opt.tell(X, np.where(X.sum(axis=1) > 0.8, 1.7e308, -1.7e308))
    best = opt.best("model")
    assert best.x.sum() < 0.8 and best.y < -1e308 and best.std >= 0.0
    assert opt.result().fun_model == best.y


def test_repeats_of_a_point_tell_about_the_same():
    """As an exact process that had seen them, too."""
    X = np.array([[0.1], [0.5], [0.9], [0.3], [0.3], [0.3], [0.7]])
    y, noise_std = np.array([0.0, 1.0, 0.5, 3.0, -1.0, np.nan, 0.2]), np.array([0.0, 0.0, 0.0, 0.2, 0.4, 0.0, 0.0])
    gp = GaussianProcess(lengthscale=0.4, noise=0.1, fit_hyperparameters=False, normalize_y=False)
    gp.fit(X[:3], y[:3])
    history = History(1)
    history.append(X, X, y, noise_std)
    mean, std = _given_own(gp, np.arange(3), history, *gp.predict(X, return_std=True))
    gp.fit(X[:5], y[:5], noise_std=noise_std[:5])
    expected_mean, expected_std = gp.predict(X[3:4], return_std=True)
    np.testing.assert_allclose(mean[3:6], expected_mean[0], rtol=1e-9)
    np.testing.assert_allclose(std[3:6], expected_std[0], rtol=1e-9)


def test_the_luckiest_of_many_repeats_is_not_the_best_by_the_model():
    rng = np.random.default_rng(0)
    points = rng.random((30, 2))
    X = np.repeat(points, 20, axis=0)
    optimizer = Optimizer([(0.0, 1.0)] * 2, rng=0, n_init=5)
    y = np.array([bowl(4.0 * x) for x in X]) + rng.standard_normal(600)
    optimizer.tell(X, y)
    best = optimizer.best("model")
    truth = [bowl(4.0 * x) for x in points]
    assert bowl(4.0 * best.x) <= np.sort(truth)[1]
    assert best.y == pytest.approx(bowl(4.0 * best.x), abs=0.6)


class Measured:
    """A constraint's function that belongs to what cannot be copied."""

    def __init__(self):
        self.lock = threading.Lock()

    def total(self, x):
        with self.lock:
            return sum(x)


@pytest.mark.parametrize("method", ["portfolio", "box"])
def test_predicting_copies_nothing_of_the_users(method):
    rule = NonlinearConstraint(Measured().total, 0.0, 1.5)
    opt = Optimizer([(0.0, 1.0)] * 2, constraints=rule, method=method, n_init=4, rng=0)
    X = np.random.default_rng(0).random((12, 2))
    opt.tell(X, X.sum(axis=1))
    opt.ask()
    opt.tell([0.5, 0.5], 1.0)
    assert np.isfinite(opt.predict([[0.5, 0.5]])).all() and opt.result().x_model is not None


@pytest.mark.parametrize("method", ["portfolio", "box"])
def test_a_model_is_fitted_once_for_all_that_is_asked_of_it(monkeypatch, method):
    opt, calm = (Optimizer([(0.0, 1.0)] * 2, method=method, n_init=4, rng=0) for _ in range(2))
    X, fits = np.random.default_rng(0).random((40, 2)), []
    kind = type(opt._strategy)
    update = kind.update
    monkeypatch.setattr(kind, "update", lambda self, history: fits.append(len(history)) or update(self, history))
    for n in (30, 40):
        for each in (opt, calm):
            each.tell(X[each.n_told : n], X[each.n_told : n].sum(axis=1))
        first = opt.predict(X, return_std=True)
        np.testing.assert_array_equal(opt.predict(X, return_std=True), first)
        opt.result()
        opt.diagnostics()
        assert fits == [n]
        np.testing.assert_array_equal(calm.ask(), opt.ask())
        fits.clear()
        np.testing.assert_array_equal(opt.predict(X), calm.predict(X))
        assert fits == []


@pytest.mark.parametrize("infeasible", [0, 1, 2, 9, 40])
def test_the_best_by_the_model_meets_the_constraints_and_few_are_tried(infeasible):
    tried = []
    rule = NonlinearConstraint(lambda x: tried.append(1) or x[0], 0.5, 1.0)
    opt = Optimizer([(0.0, 1.0)], constraints=rule, method="box", n_init=4, surrogate=fixed(1, noise=1e-6), rng=0)
    X = np.append(np.linspace(0.0, 0.4, infeasible), np.linspace(0.5, 1.0, 40 - infeasible))[:, None]
    opt.tell(X[::-1], 3.0 + X[::-1, 0])  # the best are infeasible
    opt.best()
    tried.clear()
    best = opt.best("model").x[0]
    assert best == (0.5 if infeasible < 40 else 0.0)
    assert len(tried) <= 2 * infeasible + 1

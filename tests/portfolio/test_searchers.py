import numpy as np
import pytest

from gssbo.factor import Factor
from gssbo.kernels import Kernel
from gssbo.portfolio.additive import Additive, _covariances, _Fit, _Form, _lowest, _lowest_where_equal
from gssbo.portfolio.descent import STARTS, Descent, _least_known, _Quadratic
from gssbo.portfolio.region import Region
from gssbo.portfolio.trend import Trend
from gssbo.portfolio.view import OUTSIDE, View

NONE = np.empty((0, 0))


def run(searcher, number, f, X, n, rng):
    """Ask one searcher n times; return all points and values."""
    X, y, origin = X.copy(), np.array([f(x) for x in X]), np.full(len(X), OUTSIDE)
    for _ in range(n):
        view = View(X, y, origin, np.arange(len(y)))
        x = searcher.suggest(view, np.empty((0, X.shape[1])), rng)
        assert (x >= 0.0).all() and (x <= 1.0).all()
        value = f(x)
        searcher.observe(view, x, value, asked=x)
        X, y, origin = np.vstack([X, x]), np.append(y, value), np.append(origin, number)
    return X, y


def test_descent_follows_a_rotated_ellipsoid_of_condition_a_million():
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    scales = 10.0 ** np.linspace(0.0, 6.0, 6)
    f = lambda x: -float(scales @ (Q @ (x - 0.4)) ** 2)  # noqa: E731
    _, y = run(Descent(6), 2, f, rng.random((14, 6)), 120, rng)
    assert y[:14].max() < -1e3 and y.max() > -1e-4


def test_descent_starts_anew_where_it_has_ended():
    rng = np.random.default_rng(0)
    wells = np.array([[0.2, 0.2], [0.8, 0.7]])
    depth = np.array([1.0, 0.9])
    f = lambda x: float((depth * np.exp(-40.0 * ((x - wells) ** 2).sum(axis=1))).sum())  # noqa: E731
    X, _ = run(Descent(2), 2, f, np.vstack([wells + 0.08, rng.random((4, 2))]), 150, rng)
    for well in wells:
        assert np.abs(X - well).max(axis=1).min() < 1e-3


def test_descent_starts_far_away_where_all_the_best_are_near_known_ends():
    """A hundred points of a few hundred are outside the shallow well that all the best are in."""
    rng = np.random.default_rng(0)
    wells, depth = np.array([[0.2, 0.2], [0.8, 0.7]]), np.array([0.9, 1.0])
    f = lambda x: float((depth * np.exp(-60.0 * ((x - wells) ** 2).sum(axis=1))).sum())  # noqa: E731
    outside = rng.random((500, 2))
    outside = outside[((outside - wells[1]) ** 2).sum(axis=1) > 0.2**2][:100]
    X, y = run(Descent(2), 2, f, np.vstack([wells[0] + rng.normal(0.0, 0.005, (STARTS, 2)), outside]), 200, rng)
    assert y[: STARTS + 100].max() < 0.9 + 1e-6
    assert np.abs(X - wells[1]).max(axis=1).min() < 1e-3


@pytest.mark.parametrize(("best", "hopeless"), [(3.0, False), (5.1, True), (1.0, False)])
def test_descent_elsewhere_is_given_up_where_it_cannot_catch_up(best, hopeless):
    """Steps that gained 0.2 in all, and 4 to go at most: 20 times as much."""
    descent = Descent(2)
    descent._y, descent._path = 1.0, [0.5, *np.linspace(0.8, 1.0, 8).tolist()]
    assert descent._hopeless(best) is hopeless
    descent._path = descent._path[-7:]  # too few steps to tell
    assert not descent._hopeless(best)


@pytest.mark.parametrize(("gain", "expected"), [(0.0, True), (1e-4, True), (0.1, False)])
def test_a_view_is_stalled_where_the_newest_gained_little(gain, expected):
    y = np.append(np.linspace(-1.0, 1.0, 40), np.full(18, 1.0 + gain))
    view = View(np.zeros((58, 2)), y, np.zeros(58, dtype=int), np.arange(58))
    assert view.stalled is expected
    assert not view.only(np.arange(36)).stalled  # too few to tell


def test_trend_finds_the_bowl_under_ripples():
    rng = np.random.default_rng(0)
    f = lambda x: -float((20.0 * (x - 0.6) ** 2 + 0.3 * (1.0 - np.cos(60.0 * (x - 0.6)))).sum())  # noqa: E731
    X, _ = run(Trend(8, (OUTSIDE, 3)), 3, f, rng.random((18, 8)), 150, rng)
    away = np.abs(X[-20:].mean(axis=0) - 0.6)
    assert np.median(away) < 1e-3 and away.max() < 2.0 * np.pi / 60.0  # at most one ripple off


def test_trend_leaves_out_what_local_searchers_made():
    rng = np.random.default_rng(0)
    X = rng.random((60, 3))
    y = -((X - 0.5) ** 2).sum(axis=1)
    cluster = 0.9 + 0.01 * rng.random((40, 3))
    both = View(
        np.vstack([X, cluster]), np.append(y, y.max() - 1e-6 * np.arange(1, 41)), np.repeat([OUTSIDE, 2], [60, 40]),
        np.arange(100),
    )  # fmt: skip
    alone = View(X, y, np.full(60, OUTSIDE), np.arange(60))
    suggestions = [Trend(3, (OUTSIDE, 3)).suggest(each, NONE, np.random.default_rng(1)) for each in (both, alone)]
    assert np.array_equal(*suggestions)


def test_additive_solves_a_separable_function_with_many_optima():
    rng = np.random.default_rng(0)
    f = lambda x: float(np.sin(13.0 * x).sum() + x.sum())  # noqa: E731
    grid = np.linspace(0.0, 1.0, 10_001)
    best = 10.0 * float((np.sin(13.0 * grid) + grid).max())  # of about 1e15 local maxima
    _, y = run(Additive(10, 2), 4, f, rng.random((22, 10)), 200, rng)
    assert best - y.max() < 0.05


@pytest.mark.parametrize("trust", [True, False])
def test_region_finds_a_smooth_optimum_and_keeps_m(trust):
    rng = np.random.default_rng(0)
    f = lambda x: -float(np.sum((x - 0.3) ** 2) - 0.1 * np.prod(np.sin(3.0 * x)))  # noqa: E731
    region = Region(3, trust=trust, size=30)
    _, y = run(region, 0, f, rng.random((10, 3)), 60, rng)
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 41)] * 3), axis=-1).reshape(-1, 3)
    assert y.max() > max(f(x) for x in grid) - 5e-3
    assert len(region.gp.X_train_) == 30


def test_region_does_not_return_to_pending_points():
    rng = np.random.default_rng(0)
    X = rng.random((20, 2))
    view = View(X, -((X - 0.4) ** 2).sum(axis=1), np.full(20, OUTSIDE), np.arange(20))
    region = Region(2, trust=False)
    first = region.suggest(view, np.empty((0, 2)), np.random.default_rng(1))
    second = region.suggest(view, first[None, :], np.random.default_rng(1))
    assert np.abs(first - second).max() > 1e-3


@pytest.mark.parametrize(
    ("make", "step"),
    [
        (lambda: Descent(2), "gssbo.portfolio.descent._fit"),
        (lambda: Trend(2, (OUTSIDE, 3)), "gssbo.portfolio.trend.Factor"),
        (lambda: Additive(2, 2), "gssbo.portfolio.additive.Factor"),
        (lambda: Region(2, trust=False), "gssbo.map_gp.MapGaussianProcess.set_theta"),
    ],
)
def test_a_fit_that_was_interrupted_is_made_once_more(monkeypatch, make, step):
    rng = np.random.default_rng(0)
    X = rng.random((30, 2))
    y = -((X - 0.4) ** 2).sum(axis=1)
    first, second = (View(X[:n], y[:n], np.full(n, OUTSIDE), np.arange(n)) for n in (29, 30))
    calm, hit = make(), make()
    pending = np.full((1, 2), 0.9)
    for searcher in (calm, hit):
        searcher.suggest(first, NONE.reshape(0, 2), np.random.default_rng(1))

    def interrupted(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(step, interrupted)
        hit.suggest(second, pending, np.random.default_rng(2))
    np.testing.assert_array_equal(
        *(searcher.suggest(second, pending, np.random.default_rng(2)) for searcher in (calm, hit))
    )


def test_few_observations_in_many_dimensions_make_no_matrix_of_the_dimensions(monkeypatch):
    """Nor does their descent fall behind: half of the way to the optimum in twenty steps."""
    rng = np.random.default_rng(0)
    orders = []
    monkeypatch.setattr("gssbo.portfolio.ball.Factor", lambda A, *ridge: orders.append(len(A)) or Factor(A, *ridge))
    f = lambda x: -float(((x - 0.4) ** 2).sum())  # noqa: E731
    _, y = run(Descent(120), 2, f, rng.random((60, 120)), 20, rng)
    assert max(orders) < 80
    assert y.max() > 0.5 * y[:60].max()


@pytest.mark.parametrize("beta", [0.5, 2.0])
def test_additive_solves_for_no_more_values_than_may_be_lowest(monkeypatch, beta):
    rng = np.random.default_rng(0)
    X = rng.random((60, 40))
    view = View(X, np.sin(9.0 * X).sum(axis=1), np.full(60, OUTSIDE), np.arange(60))
    fit = Additive(40, 2)._model(view)
    values = rng.random(161)
    kernel = Kernel("rbf", np.array([fit.form.lengthscale]), 0.025)
    whiten, widths = Factor.whiten, []
    monkeypatch.setattr(Factor, "whiten", lambda self, b: widths.append(b.shape[1]) or whiten(self, b))
    for j in range(10):
        column, now = np.ascontiguousarray(fit.X[:, j : j + 1]), fit.X[:1, j : j + 1]
        change = kernel(column, values[:, None]) - kernel(column, now)
        V = whiten(fit.factor, change)
        left = np.maximum(0.05 - 2.0 * kernel(values[:, None], now)[:, 0] - (V * V).sum(axis=0), 0.0)
        bound = (change * fit.weights[:, None]).sum(axis=0) - beta * np.sqrt(left * fit.form.variance)
        assert _lowest(values, fit.X[:, j], fit.X[0, j], 40, fit, beta) == values[np.argmin(bound)]
    assert sum(widths) < 0.6 * 10 * 161


def test_the_additive_covariance_adds_up_its_terms_once(monkeypatch):
    X = np.random.default_rng(0).random((20, 3))
    made, padded_gram = [], Kernel.padded_gram
    monkeypatch.setattr(
        Kernel, "padded_gram", lambda self, *data, **how: made.append(self) or padded_gram(self, *data, **how)
    )
    covariance = _covariances(X)
    for lengthscale, shared in ((0.1, 0.0), (0.1, 0.3), (0.4, 0.3)):
        expected = 5.0 + np.exp(-0.5 * ((X[:, None] - X) / lengthscale) ** 2).mean(axis=2)
        expected += shared * np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / (0.18 * 3))
        assert np.allclose(np.triu(covariance(lengthscale, shared)), np.triu(expected), rtol=1e-12)
    assert len(made) == 2 * 3 + 1


def test_the_least_known_step_is_that_of_all_trials():
    rng = np.random.default_rng(0)
    U, trials = rng.standard_normal((9, 7)), 0.1 * rng.standard_normal((4, 7))
    along = 0.7 * np.concatenate([np.ones(7), -rng.random(7)])
    every = np.vstack([trials, np.eye(7) * along[:7], np.eye(7) * along[7:]])
    k = lambda A, B: A @ B.T + 0.25 * (A @ B.T) ** 2  # noqa: E731
    unknown = 1.0 - (k(every, U) * np.linalg.solve(k(U, U) + 0.1 * np.eye(9), k(U, every)).T).sum(axis=1) / np.diag(
        k(every, every)
    )
    model = _Quadratic(np.zeros(7), np.eye(7), 0.5, Factor(k(U, U), 0.1), np.ones(9))
    u, ratio = _least_known(trials, along, U, model)
    np.testing.assert_array_equal(u, every[np.argmax(unknown)])
    assert np.isclose(ratio, unknown.max(), rtol=1e-9)


def test_what_is_equal_in_very_many_coordinates_is_added_at_once(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.hstack([np.zeros((7, 3)), rng.random((7, 2)), np.ones((7, 4))])
    each = np.triu(_covariances(X)(0.2, 0.3))
    monkeypatch.setattr("gssbo.columns.MANY", 5)
    grams = []
    gram = Kernel.padded_gram
    monkeypatch.setattr(Kernel, "padded_gram", lambda *given, **options: grams.append(1) or gram(*given, **options))
    together = np.triu(_covariances(X)(0.2, 0.3))
    np.testing.assert_allclose(together, each, rtol=1e-12)
    assert len(grams) == 3 + 1  # the first column, the two that differ, and the part that is no sum


@pytest.mark.parametrize("beta", [0.0, 1.0])
def test_where_all_are_equal_the_lowest_value_is_found_at_once(beta):
    rng = np.random.default_rng(0)
    X = rng.random((30, 3))
    X[:, 1] = 0.25
    covariance = _covariances(X)
    for lengthscale in (0.2, 0.4):  # far beyond it all values promise the same
        form = _Form(lengthscale, 0.0, 1e-3, 1.0, 2.0)
        factor = Factor(covariance(lengthscale, 0.0), 1e-3)
        for _ in range(5):
            fit = _Fit(form, X, factor, factor.solve(rng.standard_normal(30)), np.zeros(3, dtype=bool))
            values = rng.random(60)
            found = _lowest_where_equal(values, X[:, 1], 0.25, 3, fit, beta)
            assert found == _lowest(values, X[:, 1], 0.25, 3, fit, beta)

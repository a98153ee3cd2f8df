import contextlib
import copy

import numpy as np
import pytest
from scipy.optimize import NonlinearConstraint, rosen
from scipy.spatial.distance import pdist
from threadpoolctl import threadpool_limits

import gssbo
from gssbo import Integer, Optimizer, Real
from gssbo.exceptions import SpaceExhausted
from gssbo.history import History
from gssbo.portfolio import Portfolio
from gssbo.portfolio.strategy import GLOBAL, LOCAL
from gssbo.problems import get_problem
from gssbo.space import Space
from gssbo.timings import Timings

BOX = [(-1.0, 2.0)]


def sphere(x):
    return float(((np.asarray(x) - 0.5) ** 2).sum())


def ripples(x):
    return float(((x - 0.3) ** 2).sum() + 0.1 * np.sin(9.0 * x).sum())


def run(d, f, n, **options):
    optimizer = Optimizer(BOX * d, method="portfolio", **{"rng": 0, "threads": 1, **options})
    for _ in range(n):
        x = optimizer.ask()
        optimizer.tell(x, f(x))
    return optimizer


def test_the_same_seed_gives_the_same_run():
    first, second = (run(3, sphere, 60) for _ in range(2))
    assert np.array_equal(first.X, second.X)
    assert not np.array_equal(first.X, run(3, sphere, 60, rng=1).X)


def test_blas_threads_do_not_matter():
    """With models as large as they become, and every searcher's turn."""
    rng = np.random.default_rng(0)
    X = rng.random((600, 8))
    asked = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            optimizer = Optimizer([(0.0, 1.0)] * 8, method="portfolio", rng=0)
            optimizer.tell(X, [ripples(x) for x in X])
            points = []
            for _ in range(25):
                points.append(optimizer.ask())
                optimizer.tell(points[-1], ripples(points[-1]))
            asked.append(np.vstack([*points, np.array([optimizer.predict(X[:8])])]))
            assert {each for each in optimizer._strategy._origin if each >= 0} == set(range(5))
    assert np.array_equal(*asked)


def test_a_copy_continues_alike_and_apart():
    optimizer = run(2, sphere, 40)
    twin = copy.deepcopy(optimizer)
    for each in (optimizer, twin):
        for _ in range(15):
            x = each.ask()
            each.tell(x, sphere(x))
    assert np.array_equal(optimizer.X, twin.X)


def test_predicting_changes_nothing():
    quiet, curious = (Optimizer(BOX * 2, method="portfolio", rng=0) for _ in range(2))
    for _ in range(40):
        x, same = quiet.ask(), curious.ask()
        assert np.array_equal(x, same)
        quiet.tell(x, sphere(x))
        curious.tell(x, sphere(x))
        curious.predict(np.zeros((2, 2)))
    mean, std = curious.predict([[0.5, 0.5], [1.5, -0.5]], return_std=True)
    assert np.allclose(mean, [0.0, 2.0], atol=0.02) and (std < 0.1).all()


def test_units_do_not_matter():
    """A power of two scales everything exactly."""
    plain = run(2, sphere, 60)
    assert np.array_equal(plain.X, run(2, lambda x: 2.0**40 * sphere(x), 60).X)
    assert np.array_equal(plain.X, run(2, lambda x: -sphere(x), 60, maximize=True).X)


@pytest.mark.parametrize(
    "f",
    [
        pytest.param(lambda x: 1.0, id="constant"),
        pytest.param(lambda x: 1e300 * sphere(x), id="huge"),
        pytest.param(lambda x: 1.5e308 * float(np.sin(9.0 * sphere(x))), id="as large as floats go"),
        pytest.param(lambda x: 1e-320 * sphere(x), id="denormal"),
        pytest.param(lambda x: float(np.floor(3.0 * np.asarray(x)).sum()), id="steps"),
        pytest.param(lambda x: float(x[0] > 0.5), id="binary"),
    ],
)
@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.filterwarnings("error")
def test_survives(d, f):
    optimizer = run(d, f, 50)
    assert len(np.unique(optimizer.X, axis=0)) == 50
    assert np.isfinite(optimizer.predict(np.zeros((2, d)))).all()


@pytest.mark.filterwarnings("error")
def test_survives_duplicates_with_different_values():
    optimizer = Optimizer(BOX * 2, method="portfolio", rng=0)
    for i in range(40):
        optimizer.ask()
        optimizer.tell([0.3, 0.4], 1.0 + i % 3)
    for _ in range(30):
        x = optimizer.ask()
        optimizer.tell(x, sphere(x))
    assert optimizer.best_y < 0.05  # half of the global searcher's points are random where nothing was gained


def test_a_hundred_dimensions():
    optimizer = run(100, sphere, 120)
    assert optimizer.best_y < 30.0  # a uniform point gives 75, the best of 120 about 60


@pytest.mark.filterwarnings("error")
def test_bulk_history():
    X = np.random.default_rng(0).uniform(-1.0, 2.0, (20_000, 5))
    optimizer = Optimizer(BOX * 5, method="portfolio", rng=0)
    optimizer.tell(X, ((X - 0.5) ** 2).sum(axis=1))
    for _ in range(30):
        x = optimizer.ask()
        optimizer.tell(x, sphere(x))
    assert optimizer.best_y < 1e-6 and len(optimizer.retained) == 100


def test_asking_again_gives_another_point():
    optimizer = run(3, sphere, 40)
    asked = np.array([optimizer.ask() for _ in range(12)])
    assert len(np.unique(asked.round(9), axis=0)) == 12
    optimizer.tell(asked[::-1], [sphere(x) for x in asked[::-1]])
    assert optimizer.ask().shape == (3,)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "gap", "seeds"), [("hartmann6", 0.11, (103, 104, 108)), ("shekel4-shifted", 5.0, (103, 105, 110))]
)
def test_a_basin_that_gives_nothing_more_is_left(name, gap, seeds):
    """Of three runs that converge to a local optimum first, two find the global one, however the core rounds."""
    problem = get_problem(name, rng=0)

    def found(result):
        return result.nfev >= 100 and result.fun - problem.optimum < 1e-3

    runs = []
    for seed in seeds:  # as many as are needed, each as long as it is
        if sum(map(found, runs)) < 2:
            options = {"n_evals": 600, "method": "portfolio", "rng": seed, "callback": found}
            runs.append(gssbo.minimize(problem, problem.bounds, **options))
    early = [min(result.func_vals[:100]) - problem.optimum for result in runs]
    assert max(early) > gap
    assert sum(map(found, runs)) == 2


@pytest.mark.parametrize(("n", "fewest", "most"), [(4, 1, 2), (8, 2, 4), (16, 3, 4)])
def test_points_of_one_call_are_distinct_and_of_more_searchers_where_they_are_many(n, fewest, most):
    """Of many, all but one of the regions make some."""
    optimizer = run(4, sphere, 60)
    batch = optimizer.ask(n)
    assert len(np.unique(batch.round(9), axis=0)) == n
    makers = {each.searcher for each in optimizer._strategy._issued}
    assert fewest <= len(makers) <= most
    assert not {LOCAL, GLOBAL} <= makers or n < 6


@pytest.mark.parametrize("seed", [5, 10, 25, 27, 38])
def test_points_of_one_call_keep_apart_where_little_is_known(seed):
    optimizer = Optimizer([(0.0, 1.0)] * 2, rng=seed, n_init=6)
    X = np.random.default_rng(seed).random((10, 2))
    optimizer.tell(X, (X**2).sum(axis=1))
    assert pdist(optimizer.ask(8)).min() > 1e-3


@pytest.mark.parametrize("n_told", [0, 20])
def test_no_more_of_a_large_batch_is_looked_for_apart_than_there_is_room_for(monkeypatch, n_told):
    looked_for = 0

    def one(*args):
        nonlocal looked_for
        looked_for += 1
        return original(*args)

    original = Portfolio._one
    monkeypatch.setattr(Portfolio, "_one", one)
    opt = Optimizer([(0.0, 1.0)], n_init=2, rng=0)
    if n_told:
        x = np.linspace(0.0, 1.0, n_told)
        opt.tell(x[:, None], np.sin(9.0 * x))
    points = opt.ask(3000)
    assert len(np.unique(points)) == 3000
    assert looked_for < 600


def test_a_long_history_is_seen_by_its_best_its_newest_and_a_spread():
    rng = np.random.default_rng(0)
    X = rng.random((7_000, 2))
    y = rng.permutation(7_000.0 * np.linspace(0.0, 1.0, 7_000))
    optimizer = Optimizer([(0.0, 1.0)] * 2, method="portfolio", maximize=True, rng=0)
    for part in np.array_split(np.arange(7_000), [30, 1_500, 1_501, 2_500, 5_000]):
        optimizer.tell(X[part], y[part])
        optimizer.ask()
        optimizer.forget()
        n = optimizer.n_told
        rows = optimizer._strategy._seen.rows
        if n <= 2_000:
            assert np.array_equal(rows, np.arange(n))
        else:
            assert np.isin(np.argsort(-y[:n])[:1_000], rows).all()
            assert np.isin(np.arange(n - 500, n), rows).all()
            assert len(rows) <= 2_000 and np.diff(rows).max() <= n / 499 + 1


def test_whole_numbers_are_descended_on():
    """The optimum of a rotated ellipsoid among a billion points, told from its neighbours by single steps."""
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0]
    goal = np.array([612, 250, 431])
    scales = np.array([1.0, 10.0, 100.0])
    optimizer = Optimizer([range(1_000)] * 3, method="portfolio", rng=0)
    for _ in range(90):
        x = optimizer.ask()
        optimizer.tell(x, float(scales @ (Q @ (np.array(x) - goal)) ** 2))
    assert optimizer.best_x == goal.tolist()


def test_known_noise_is_in_the_models():
    rng = np.random.default_rng(0)
    X = rng.random((60, 2))
    noise_std = np.where(X[:, 0] > 0.5, 0.5, 0.01)
    y = X.sum(axis=1) + noise_std * rng.standard_normal(60)
    optimizer = Optimizer([(0.0, 1.0)] * 2, method="portfolio", rng=0)
    optimizer.tell(X, y, noise_std=noise_std)
    optimizer.ask()
    _, std = optimizer.predict([[0.25, 0.5], [0.75, 0.5]], return_std=True)
    assert std[1] > 3.0 * std[0]
    for _ in range(30):  # so that both have had their turn
        optimizer.ask()
    for searcher in optimizer._strategy._searchers[:2]:
        assert (searcher.gp.known_noise_ > 0.0).all()


def test_told_from_outside_alone():
    rng = np.random.default_rng(0)
    optimizer = Optimizer(BOX * 2, method="portfolio", rng=0)
    for _ in range(30):
        x = rng.uniform(-1.0, 2.0, 2)
        optimizer.tell(x, sphere(x))
    x = optimizer.ask()
    assert (x >= -1.0).all() and (x <= 2.0).all()


def test_minimize_takes_it():
    result = gssbo.minimize(sphere, BOX * 4, n_evals=80, method="portfolio", rng=0)
    assert result.fun < 1e-10 and result.nfev == 80


def test_unknown_methods_are_refused():
    with pytest.raises(ValueError, match="method must be one of"):
        Optimizer(BOX, method="simplex")


def test_a_grid_is_searched_without_repeats_until_it_is_empty():
    optimizer = Optimizer([range(9), range(9)], method="portfolio", n_init=6, rng=0)
    for _ in range(81):
        x = optimizer.ask()
        optimizer.tell(x, (x[0] - 3) ** 2 + (x[1] - 4) ** 2)
    assert len({tuple(x) for x in optimizer.X}) == 81
    assert [tuple(x) for x in optimizer.X].index((3, 4)) < 30
    with pytest.raises(SpaceExhausted):
        optimizer.ask()


def test_names_categories_and_constraints():
    space = {"rate": Real(1e-4, 1.0, log=True), "units": Integer(1, 64), "act": ["relu", "gelu", "tanh"]}
    limits = NonlinearConstraint(lambda x: x["units"] * x["rate"], -np.inf, 4.0)
    optimizer = Optimizer(space, constraints=limits, method="portfolio", rng=0)
    for _ in range(80):
        x = optimizer.ask()
        assert x["units"] * x["rate"] <= 4.0
        optimizer.tell(x, (np.log10(x["rate"]) + 2.0) ** 2 + abs(x["units"] - 40) / 40 + (x["act"] != "gelu"))
    assert optimizer.best_x["act"] == "gelu" and optimizer.best_y < 0.05


def test_failures_are_kept_away_from():
    """A third of the box fails, the optimum stands at its edge."""
    optimizer = Optimizer(BOX * 2, method="portfolio", rng=0)
    for _ in range(80):
        x = optimizer.ask()
        optimizer.tell(x, np.nan if x[0] < 0.0 else sphere(x + 0.4))
    assert optimizer.best_y < 0.02  # (0, 0.1) is the best that works
    assert np.isnan(optimizer.y[40:]).sum() < 15


def test_where_everything_failed_the_whole_box_is_searched():
    """Each quarter of the square has its share of a hundred suggestions."""
    optimizer = Optimizer([(0.0, 1.0)] * 2, rng=0)
    for _ in range(100):
        optimizer.tell(optimizer.ask(), failed=True)
    quarters = np.bincount((optimizer.X > 0.5) @ [1, 2], minlength=4)
    assert quarters.min() >= 15
    assert pdist(optimizer.X).min() > 0.0


@pytest.mark.parametrize("option", [{"rule": "random"}, {"acquisition": "ei"}, {"pool": 50}, {"refit": "frozen"}])
def test_options_of_the_box_are_refused(option):
    (name,) = option
    with pytest.raises(ValueError, match=f"{name} must not be given with method='portfolio'"):
        Optimizer(BOX, method="portfolio", **option)
    with pytest.raises(ValueError, match="subset_size must be an integer"):
        Optimizer(BOX, method="portfolio", subset_size="dynamic")


@pytest.mark.parametrize("y", [1.0, 1e-160, 5e-324])
@pytest.mark.parametrize("noise", [1e140, 1e160, 1e300])
def test_an_observation_as_uncertain_as_doubles_go_says_nothing(y, noise):
    X = np.random.default_rng(0).random((10, 2))
    opt = Optimizer([(0.0, 1.0)] * 2, rng=0, n_init=4)
    opt.tell(X, y * X.sum(axis=1), noise_std=[noise] + [0.0] * 9)
    for _ in range(15):
        x = opt.ask()
        opt.tell(x, y * x.sum())
    assert np.isfinite(opt.predict([[0.5, 0.5]])).all() and opt.best(by="model").y is not None


def test_a_view_holds_a_subset_of_any_size():
    X = np.random.default_rng(0).random((6000, 2))
    for size in (100, 2500):
        strategy = Portfolio(
            Space([(0.0, 1.0)] * 2), size=size, n_init=6, rng=np.random.default_rng(0), timings=Timings()
        )
        history = History(2)
        history.append(X, X, X.sum(axis=1))
        strategy.update(history)
        assert size <= len(strategy._seen.rows) <= max(2000, 2 * size)


@pytest.mark.parametrize(("d", "n", "noise"), [(2, 80, 0.3), (2, 300, 0.3), (4, 600, 0.3), (2, 300, 0.0)])
def test_predictions_tell_noise_from_signal(d, n, noise):
    """Noise of so much of the values' spread: the model explains the function, and says how well it does."""

    def fun(X):
        return ((X - 0.4) ** 2).sum(axis=1) + 0.5 * np.sin(5.0 * X[:, 0])

    rng = np.random.default_rng(2)
    X, others = rng.random((n, d)), rng.random((500, d))
    values, truth = fun(X), fun(others)
    opt = Optimizer([(0.0, 1.0)] * d, rng=0)
    opt.tell(X, values + noise * values.std() * rng.standard_normal(n))
    mean, std = opt.predict(others, return_std=True)
    assert 1.0 - np.mean((mean - truth) ** 2) / truth.var() > 0.95
    assert np.mean(np.abs(mean - truth) <= 1.96 * std) > 0.9
    best = opt.best(by="model")
    assert fun(best.x[None])[0] < values.min() + 0.1 * values.std()


def test_where_residuals_are_noise_they_choose_nothing():
    """One in six of the values is another one, wherever: what has the largest residuals are just those."""
    rng = np.random.default_rng(0)
    opt = Optimizer([(0.0, 1.0)] * 3, rng=0)
    y = np.where(rng.random(500) < 1.0 / 6.0, 0.65, 0.35)
    opt.tell(rng.random((500, 3)), y)
    assert abs(opt.predict(rng.random((200, 3))).mean() - y.mean()) < 0.03


def test_much_noise_comes_to_be_known_as_noise():
    """From the first fits on, noise is signal here; the search with much noise finds the likelier explanation."""
    rng = np.random.default_rng(0)
    opt = Optimizer([(0.0, 1.0)] * 2, rng=0)
    for _ in range(80):
        x = opt.ask()
        opt.tell(x, float(((x - 0.4) ** 2).sum()) + 0.1 * rng.standard_normal())
    region = opt._strategy._global
    assert np.exp(region._theta[-1]) > 0.05


def test_what_the_model_thinks_best_is_given_the_values_observed():
    """Of functions without noise that is the best observed, though most of it is not retained."""
    for seed in range(3):
        result = gssbo.minimize(rosen, [(-2.0, 2.0)] * 8, n_evals=200, rng=seed)
        assert rosen(result.x_model) <= 1.5 * result.fun


def test_threads_are_for_predictions():
    opt = Optimizer([(0.0, 1.0)] * 2, rng=0, threads=7)
    opt.tell(np.random.default_rng(0).random((20, 2)), np.arange(20.0))
    opt.ask()
    assert opt.surrogate.threads == 7


def test_what_is_waited_for_does_not_crowd():
    """Of eight asked without telling, none is closer to another than a quarter of its distance to what is known."""
    for seed in range(6):
        opt = Optimizer([(0.0, 1.0)] * 2, n_init=10, rng=seed)
        X = opt.ask(10)
        opt.tell(X, ((X - 0.3) ** 2).sum(axis=1))
        P = np.array([opt.ask() for _ in range(8)])
        apart = np.abs(P[:, None] - P[None]).max(axis=2)
        known = np.abs(P[:, None] - X[None]).max(axis=2).min(axis=1)
        for later in range(8):
            assert (apart[later, :later] >= 0.25 * known[later]).all()


@pytest.mark.parametrize("step", ["_view", "_lead"])
def test_an_interrupted_update_goes_on_where_it_was(monkeypatch, step):
    """With more told than a view holds, and interrupts wherever the update makes a view or chooses leaders."""
    rng = np.random.default_rng(0)
    X = rng.random((2_100, 2))
    calm = Optimizer([(0.0, 1.0)] * 2, n_init=4, rng=0)
    calm.tell(X, [sphere(x) for x in X])
    asked = calm.ask(6)
    hit = copy.deepcopy(calm)
    for opt in (calm, hit):
        opt.tell(asked, [sphere(x) for x in asked])
    original, calls = getattr(Portfolio, step), []

    def interrupted(self, *arguments):
        found = original(self, *arguments)
        calls.append(0)
        if len(calls) % 2:
            raise KeyboardInterrupt
        return found

    with monkeypatch.context() as patch:
        patch.setattr(Portfolio, step, interrupted)
        for _ in range(20):
            with contextlib.suppress(KeyboardInterrupt):
                hit._strategy.update(hit._history)
                break
    assert len(calls) > 4
    np.testing.assert_array_equal(hit.ask(), calm.ask())
    ours, theirs = hit._strategy, calm._strategy
    np.testing.assert_array_equal(ours._leaders, theirs._leaders)
    np.testing.assert_array_equal(ours._credit._counts, theirs._credit._counts)
    np.testing.assert_array_equal(ours._origin, theirs._origin)
    assert len(set(ours._leaders.tolist())) == 1_000 and len(ours._issued) == len(theirs._issued)
    np.testing.assert_array_equal(hit.predict(asked), calm.predict(asked))


def test_a_first_update_that_was_interrupted_is_made_once_more(monkeypatch):
    opt = Optimizer([(0.0, 1.0)] * 2, n_init=4, rng=0)
    opt.tell([[0.1, 0.2], [0.5, 0.7], [0.9, 0.3]], [1.0, 2.0, 3.0])

    def interrupted(*arguments):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Portfolio, "_view", interrupted)
        opt._strategy.update(opt._history)
    assert opt._strategy.update(opt._history) and len(opt.retained) == 3


def test_searchers_are_credited_in_an_interval_of_few_doubles():
    low, width = 1e6, 1e-3  # a rounding unit of its points is a ten-millionth of the side
    opt = Optimizer([(low, low + width)] * 2, n_init=6, rng=0)
    for _ in range(40):
        x = opt.ask()
        opt.tell(x, sphere((x - low) / width))
    assert (opt._strategy._origin[:40] >= 0).sum() >= 20 and len(opt._strategy._issued) <= 1

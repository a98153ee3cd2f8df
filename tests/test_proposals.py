"""Suggestions in every kind of space: several at once, under constraints, and after an interruption."""

import pickle
import time

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

from gssbo import GaussianProcess, Optimizer, minimize
from gssbo.exceptions import SpaceExhausted
from gssbo.strategy import Strategy
from tests.mixed import MIXED, cost, settings


@pytest.mark.parametrize("rule", ["vector", "scalar", "random", "kmeans++", "maxmin"])
def test_a_mixed_space_is_searched(rule):
    result = minimize(cost, MIXED, n_evals=60, rule=rule, **settings())
    assert result.fun < 0.2
    assert (result.x["act"], result.x["bias"]) == ("gelu", False)
    random = np.random.default_rng(0)
    space = Optimizer(MIXED).space
    others = space.show(space.from_unit(space.place(random.random((60, 5)))))
    assert result.fun < 0.5 * min(map(cost, others))


@pytest.mark.parametrize("acquisition", ["ei", "log_ei", "pi", "thompson"])
def test_the_model_only_sees_points_there_are(acquisition):
    opt = Optimizer(MIXED, **settings(acquisition=acquisition, acquisition_options={}))
    for _ in range(30):
        x = opt.ask()
        opt.tell(x, cost(x))
    opt.ask()
    seen = opt.surrogate.X_train_
    np.testing.assert_allclose(opt.space.project(seen), seen, rtol=0, atol=1e-15)
    assert set(np.round(seen[:, 3:7].sum(axis=1), 12)) == {np.round(np.sqrt(0.5), 12)}


def test_renaming_and_reordering_categories_change_nothing():
    """But for the order of the candidates: the run is that of the other names with the same streams."""
    runs = []
    for names in (["relu", "gelu", "tanh"], ["x", "y", "z"]):
        opt = Optimizer({"act": names, "x": (0.0, 1.0)}, **settings())
        for _ in range(20):
            x = opt.ask()
            opt.tell(x, (x["x"] - 0.3) ** 2 + names.index(x["act"]))
        runs.append([(names.index(x["act"]), x["x"]) for x in opt.X])
    assert runs[0] == runs[1]


# ---- several at once


class CountingFits:
    def __init__(self, monkeypatch):
        self.n = 0
        original = GaussianProcess.condition

        def condition(gp, X, y, **keywords):
            self.n += 1
            return original(gp, X, y, **keywords)

        monkeypatch.setattr(GaussianProcess, "condition", condition)


@pytest.mark.parametrize("bounds", [[(0.0, 1.0)] * 2, MIXED], ids=["box", "mixed"])
def test_a_batch_takes_one_fit(monkeypatch, bounds):
    opt = Optimizer(bounds, **settings())
    for x in opt.ask(8):
        opt.tell(x, float(np.sum(x)) if bounds is not MIXED else cost(x))
    fits = CountingFits(monkeypatch)
    assert len(opt.ask(16)) == 16
    assert fits.n == 1
    opt.ask(16)
    assert fits.n == 1
    points = [s.x for s in opt.pending]
    assert len(points) == 32 == len({pickle.dumps(x) for x in points})


def test_the_first_of_a_batch_is_the_one_asked_alone():
    for bounds in ([(0.0, 1.0)] * 2, [range(30), (0.0, 1.0)]):
        one, many = (Optimizer(bounds, **settings()) for _ in range(2))
        X = [[int(30 * u) if bounds[0] == range(30) else u, v] for u, v in np.random.default_rng(0).random((10, 2))]
        for opt in (one, many):
            opt.tell(X, [sum(x) for x in X])
        assert list(one.ask()) == list(many.ask(4)[0])


def test_batches_of_the_design_and_beyond():
    opt = Optimizer([(0.0, 1.0)] * 2, **settings())
    points = opt.ask(12)  # 8 of the design, the others anywhere
    one_by_one = Optimizer([(0.0, 1.0)] * 2, **settings())
    np.testing.assert_array_equal(points, [one_by_one.ask() for _ in range(12)])
    opt.tell(points[:3], [1.0, 2.0, 3.0])
    assert len(opt.ask(20)) == 20


def test_more_than_there_are_candidates():
    opt = Optimizer([(0.0, 1.0)], **settings(n_candidates=3))
    opt.tell(np.linspace(0, 1, 8)[:, None], np.linspace(0, 1, 8) ** 2)
    assert len(np.unique(opt.ask(20))) == 20


@pytest.mark.parametrize("method", ["portfolio", "box"])
def test_a_call_for_most_of_a_finite_space_asks_no_searcher(monkeypatch, method):
    """Of 600 points: what the model thinks best comes first, and what is left then is found all the same."""
    opt = Optimizer([range(30), range(20)], method=method, rng=0, n_init=6)
    for x in opt.ask(40):
        opt.tell(x, x[0] + x[1])
    with monkeypatch.context() as patch:
        patch.setattr(type(opt._strategy), "suggest", lambda *_: pytest.fail("asked one by one"))
        batch = opt.ask(400)
    assert np.mean([sum(x) for x in batch[:200]]) < np.mean([sum(x) for x in batch[200:]])
    batch += opt.ask(150) + opt.ask(20)
    assert len(set(map(tuple, batch))) == 560
    with pytest.raises(SpaceExhausted):
        opt.ask()


@pytest.mark.slow
def test_sixteen_cost_less_than_four_at_a_subset_of_two_hundred():
    X = np.random.default_rng(0).random((300, 6))
    opt = Optimizer([(0.0, 1.0)] * 6, subset_size=200, rng=0, threads=1, surrogate=GaussianProcess(n_restarts=0))
    opt.tell(X[:250], np.sin(5 * X[:250]).sum(axis=1))
    opt.ask()
    seconds = {1: [], 16: []}
    for k in range(6):
        for n in seconds:
            opt.forget()
            opt.tell(X[250 + 2 * k + (n > 1)], 0.0)
            start = time.process_time()
            opt.ask(n)
            seconds[n].append(time.process_time() - start)
    assert min(seconds[16]) < 4.0 * min(seconds[1])


# ---- strategies that mind nothing


def test_what_a_strategy_proposes_is_made_realisable_and_new(monkeypatch):
    opt = Optimizer(MIXED, **settings())
    point = np.full(opt.space.dim, 0.61)
    monkeypatch.setattr(type(opt._strategy), "suggest", lambda self, history, pending, n, admit: np.tile(point, (n, 1)))
    opt.tell(opt.ask(8), [1.0] * 8)
    points = opt.ask(6)
    assert points[0] == opt.space.show(opt.space.from_unit(point[None, :]))[0]
    units = opt.space.to_unit(opt.space.read("x", points)[0])
    assert len(np.unique(units, axis=0)) == 6
    random = opt.space.place(np.random.default_rng(0).random((500, 5)))
    typical = np.median(np.linalg.norm(random - units[0], axis=1))
    assert np.linalg.norm(units - units[0], axis=1).max() < 0.5 * typical


# ---- when something goes wrong


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_ask_leaves_no_trace(monkeypatch, error):
    class Failing:
        def __call__(self, U):
            raise error

    opt = Optimizer([(0.0, 1.0)] * 2, **settings())
    opt.tell([[0.5, 0.5]] * 3, np.arange(3.0))
    twin = pickle.loads(pickle.dumps(opt))
    strategy: Strategy = opt._strategy
    with monkeypatch.context() as patch:
        patch.setattr(type(strategy), "suggest", lambda *arguments: Failing()(None))
        with pytest.raises(error):
            opt.ask(10)  # 8 of the design, then the strategy
    assert opt.pending == []
    np.testing.assert_array_equal(opt.ask(4), twin.ask(4))


# ---- the best


def test_the_best_by_the_model_is_nearer_than_the_luckiest():
    """A parabola, 100 evaluations, and noise that hides all but its rim."""
    observed, modelled = [], []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X = rng.uniform(-10.0, 10.0, (100, 1))
        opt = Optimizer([(-10.0, 10.0)], rng=seed)
        opt.tell(X, X[:, 0] ** 2 + 10.0 * rng.standard_normal(100))
        best, model = opt.best(), opt.best("model")
        assert best.x in opt.X and model.x in opt.X and best.y == opt.y.min() and best.std is None
        mean, std = opt.predict(opt.X, return_std=True)
        assert (model.y, model.std) == (mean.min(), std[np.argmin(mean)])
        result = opt.result()
        assert (result.x, result.fun, result.x_model, result.fun_model, result.fun_model_std) == (*best[:2], *model)
        observed.append(abs(best.x[0]))
        modelled.append(abs(model.x[0]))
    assert np.median(modelled) < 0.5 * np.median(observed)


def test_the_best_by_the_model_is_a_success():
    fixed = GaussianProcess(lengthscale=0.1, noise=1e-6, fit_hyperparameters=False)
    opt = Optimizer({"n": range(10)}, n_init=3, surrogate=fixed, maximize=True, rng=0)
    opt.tell([{"n": n} for n in (1, 2, 3, 8, 9)], [3.0, 2.0, np.nan, -np.inf, 2.5])
    assert opt.best("model").x == {"n": 1} == opt.best().x
    opt.tell({"n": 5}, np.nan)
    opt.tell({"n": 5}, 3.5)  # failed once, and then it worked: the model predicts without the failure
    assert opt.best("model").x == opt.best().x == {"n": 5}
    with pytest.raises(ValueError, match=r"^by must be one of 'observed', 'model', got 'luck'"):
        opt.best("luck")
    assert Optimizer([(0, 1)]).best("model") == (None, None, None)


# ---- copies


def test_a_copy_with_pending_points_continues_alike():
    opt = Optimizer(MIXED, **settings())
    for _ in range(12):
        x = opt.ask()
        opt.tell(x, cost(x))
    opt.ask(3)
    again = pickle.loads(pickle.dumps(opt))
    for _ in range(4):
        one, other = opt.ask(2, ids=True), again.ask(2, ids=True)
        assert one == other
        opt.tell(one[0], 1.0)
        again.tell(id=other[0].id, y=1.0)
    assert opt.pending == again.pending and opt.X == again.X


@pytest.mark.parametrize("constrained", [False, True])
@pytest.mark.parametrize("method", ["portfolio", "box"])
@pytest.mark.parametrize("told", [0, 5])
def test_as_many_as_are_asked_for_come_where_repeats_are_allowed(method, told, constrained):
    limit = LinearConstraint([[1, 0]], ub=0) if constrained else None
    opt = Optimizer([range(2), ["a", "b"]], method=method, constraints=limit, duplicates="allow", n_init=3, rng=0)
    for _ in range(told):
        x = opt.ask()
        opt.tell(x, float(x[0]))
    for n in (1, 2, 9, 9):
        points = opt.ask(n)
        assert len(points) == n
        assert not constrained or all(x[0] == 0 for x in points)
    assert len({tuple(x) for x in points}) == (2 if constrained else 4)

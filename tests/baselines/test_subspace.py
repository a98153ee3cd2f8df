"""Search in a random subspace: what is suggested lies in it, and what was told outside of it is left out."""

import numpy as np
import pytest

import gssbo
from gssbo.baselines import hesbo, rembo
from gssbo.baselines.subspace import SubspaceStrategy, default_dimensions
from gssbo.history import History
from gssbo.methods import method_options

BOUNDS = [(-5.0, 10.0)] * 8
METHODS = ["rembo", "hesbo"]


def optimizer(method, n_init=6, **options):
    return gssbo.Optimizer(BOUNDS, method=method, n_init=n_init, n_candidates=60, rng=0, **options)


def strategy(opt):
    assert isinstance(opt._strategy, SubspaceStrategy)
    return opt._strategy


def objective(x):
    return float(np.sum((x - 1.0) ** 2))


def unit(X):
    return (np.asarray(X) + 5.0) / 15.0


@pytest.mark.parametrize("method", METHODS)
def test_every_suggestion_is_an_image_and_becomes_an_observation(method):
    opt = optimizer(method)
    for _ in range(20):
        x = opt.ask()
        opt.tell(x, objective(x))
    low, told = strategy(opt).subspace, unit(opt.X)
    assert low.dim == 4
    opt.ask()
    np.testing.assert_array_equal(opt.retained, np.arange(20))
    W = strategy(opt)._history.unit
    assert W.shape == (20, 4)
    np.testing.assert_allclose(low.lift(W), told, atol=1e-9)
    np.testing.assert_array_equal(strategy(opt)._history.y, -opt.y)
    # The design is spread over the subspace's box: a Latin hypercube of 6.
    np.testing.assert_array_equal(np.sort((W[:6] * 6).astype(int), axis=0), np.tile(np.arange(6)[:, None], 4))


@pytest.mark.parametrize("method", METHODS)
def test_the_model_is_the_exact_process_in_the_subspace(method):
    opt = optimizer(method)
    for _ in range(12):
        x = opt.ask()
        opt.tell(x, objective(x))
    W = np.random.default_rng(1).random((7, 4))
    mean, std = opt.predict(-5.0 + 15.0 * strategy(opt).subspace.lift(strategy(opt)._history.unit), return_std=True)
    fitted = opt.surrogate
    surrogate = gssbo.GaussianProcess(
        lengthscale=fitted.lengthscale_, variance=fitted.variance_, noise=fitted.noise_, fit_hyperparameters=False
    )
    inside = strategy(opt)._history
    n = len(opt.surrogate.X_train_)
    surrogate.fit(inside.unit[:n], inside.y[:n])
    a, b = surrogate.predict(W, return_std=True)
    c, d = opt.surrogate.predict(W, return_std=True)
    np.testing.assert_allclose(a, c, rtol=1e-12)
    np.testing.assert_allclose(b, d, rtol=1e-12)
    assert np.isfinite(mean).all() and (std > 0.0).all()


@pytest.mark.parametrize("method", METHODS)
def test_what_lies_outside_is_left_out_of_the_model(method):
    opt = optimizer(method)
    outside = np.random.default_rng(0).uniform(-5.0, 10.0, (9, 8))
    inside = [opt.ask() for _ in range(6)]
    opt.tell(outside[:4], np.arange(4.0))
    opt.tell(inside, [objective(x) for x in inside])
    opt.tell(outside[4:], np.arange(5.0))
    x = opt.ask()
    np.testing.assert_array_equal(opt.retained, np.arange(4, 10))
    low = strategy(opt).subspace
    np.testing.assert_allclose(low.lift(strategy(opt)._coordinates(unit([x]))[0]), unit([x]), atol=1e-9)
    assert opt.n_told == 15


@pytest.mark.parametrize("method", METHODS)
def test_nothing_in_the_subspace(method):
    opt = optimizer(method)
    opt.tell(np.random.default_rng(0).uniform(-5.0, 10.0, (7, 8)), np.arange(7.0))
    x = opt.ask()  # a random point of the subspace
    assert len(opt.retained) == 0
    with pytest.raises(ValueError, match=r"^nothing was told in the subspace searched"):
        opt.predict([np.zeros(8)])
    opt.tell(x, 1.0)
    opt.ask()
    np.testing.assert_array_equal(opt.retained, [7])


@pytest.mark.parametrize("method", METHODS)
def test_a_clipped_suggestion_keeps_its_coordinates_when_predicted(method):
    """At the points told the model says about what was told there, clipped or not."""
    surrogate = gssbo.GaussianProcess(noise_bounds=(1e-6, 1e-4))  # else what clipping does may be noise to it
    opt = optimizer(method, surrogate=surrogate)
    for _ in range(30):
        x = opt.ask()
        opt.tell(x, objective(x))
    opt.ask()
    assert np.abs(opt.predict(opt.X) - opt.y).max() < 0.1 * np.ptp(opt.y)


@pytest.mark.parametrize("method", METHODS)
def test_a_fixed_parameter_hides_nothing(method):
    bounds = [*BOUNDS[:3], (2.0, 2.0), *BOUNDS[4:]]
    opt = gssbo.Optimizer(bounds, method=method, n_init=6, n_candidates=60, rng=0)
    for _ in range(12):
        x = opt.ask()
        opt.tell(x, objective(x))
    opt.ask()
    np.testing.assert_array_equal(opt.retained, np.arange(12))
    assert (opt.X[:, 3] == 2.0).all()
    lifted = strategy(opt).subspace.lift(strategy(opt)._history.unit)  # a fixed parameter is no draw
    np.testing.assert_allclose(lifted, np.delete(unit(opt.X), 3, axis=1), atol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_whole_numbers_and_categories_are_searched_too(method):
    """What was suggested is recognised though rounding has no way back, and a point that was not is left out."""
    bounds = [(0.0, 1.0), range(2, 30), (1, 5), ["u", "v", "w"], (0.0, 1.0), [True, False]]
    opt = gssbo.Optimizer(bounds, method=method, n_init=6, n_candidates=60, rng=0)
    opt.tell([0.123, 3, 4.5, "w", 0.9, True], 0.0)
    for _ in range(12):
        x = opt.ask()
        assert x[1] in range(2, 30) and x[3] in ("u", "v", "w")
        opt.tell(x, float(x[0] + x[1] + (x[3] == "v")))
    opt.ask()
    assert 0 not in opt.retained
    assert len(opt.retained) >= 11
    assert np.isfinite(opt.predict([[0.5, 7, 2.0, "u", 0.1, False]])).all()


def test_retention_works_inside():
    """The subset's indices are those of the history, over an observation that is left out."""
    options = method_options("hesbo") | {"subset_size": 10, "n_init": 6, "n_candidates": 60}
    opt = gssbo.Optimizer(BOUNDS, rng=0, **options)
    opt.tell([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], 0.0)
    for _ in range(25):
        x = opt.ask()
        opt.tell(x, objective(x))
    opt.ask()
    assert len(opt.retained) == 10 == opt.M
    assert set(range(1, 7)) <= set(opt.retained) and 25 in opt.retained and 0 not in opt.retained
    assert opt.switched_at == 11


def test_dimensions_can_be_chosen():
    for module in (rembo, hesbo):
        options = method_options("rembo") | module.options(n_dimensions=2) | {"n_init": 4}
        assert strategy(gssbo.Optimizer(BOUNDS, rng=0, **options)).subspace.dim == 2
        with pytest.raises(ValueError, match=r"^n_dimensions must be at most 8, got 9"):
            gssbo.Optimizer(BOUNDS, **(options | module.options(n_dimensions=9)))
    assert [default_dimensions(d) for d in (1, 2, 3, 19, 50)] == [1, 1, 2, 10, 10]


def test_a_seed_gives_the_subspace():
    a, b, c = (strategy(gssbo.Optimizer(BOUNDS, method="rembo", rng=seed)).subspace.A for seed in (1, 1, 2))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("method", METHODS)
def test_an_interrupted_update_is_completed_by_the_next(monkeypatch, method, when):
    hit, calm = optimizer(method), optimizer(method)
    for opt in (hit, calm):
        X = opt.ask(8)
        opt.tell(X[:6], [objective(x) for x in X[:6]])
        opt.tell(np.full(8, 9.5), 1.0)
        opt.tell(X[6:], [objective(x) for x in X[6:]])
    append = History.append

    def interrupted(*arguments):
        if when == "after":
            append(*arguments)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(History, "append", interrupted)
        strategy(hit).update(hit._history)
    for opt in (hit, calm):
        opt.tell(X[0], 3.0)
    np.testing.assert_array_equal(hit.ask(), calm.ask())
    np.testing.assert_array_equal(hit.retained, calm.retained)
    np.testing.assert_array_equal(strategy(hit)._history.y, strategy(calm)._history.y)


def test_what_was_suggested_is_kept_in_a_table_that_doubles():
    opt = optimizer("rembo")
    opt.ask(6)
    given = strategy(opt)._given
    tables = set()
    for _ in range(100):
        strategy(opt).place(np.random.default_rng(0).random((1, 8)))
        tables.add(id(given._unit))
    assert len(given) >= 106 and len(tables) <= 3

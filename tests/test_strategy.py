"""Every method's strategy has all that `gssbo.strategy.Strategy` asks for, also where its model knows nothing."""

import numpy as np
import pytest

import gssbo
from gssbo.methods import METHODS, OWN
from gssbo.strategy import Strategy

TORCH = {"sparse-gp", "ipa", "deep-kernel", "bnn"}
SUBSPACES = ["rembo", "hesbo"]
BOUNDS = [(-1.0, 2.0)] * 4


def made(method, bounds=BOUNDS):
    options = {} if method == "portfolio" else {"n_candidates": 50}
    return gssbo.Optimizer(bounds, method=method, n_init=5, rng=0, **options)


@pytest.mark.parametrize("method", [name for name in (*OWN, *METHODS) if name not in TORCH])
def test_a_strategy_has_every_member(method):
    opt = made(method)
    for _ in range(12):
        x = opt.ask()
        opt.tell(x, float(x @ x))
    opt.ask()
    strategy, history = opt._strategy, opt._history
    called = {
        "place": lambda: strategy.place(np.full((2, 4), 0.5)),
        "update": lambda: strategy.update(history),
        "suggest": lambda: strategy.suggest(history, history.unit[:0], 2, lambda U: np.ones(len(U), dtype=bool)),
        "posterior": lambda: strategy.posterior(history.unit[:3]),
        "predict": lambda: strategy.predict(history.unit[:3]),
        "predictor": strategy.predictor,
        "subset_model": strategy.subset_model,
        "record": lambda: strategy.record(0.1, len(history)),
        **{name: lambda name=name: getattr(strategy, name) for name in ("retained", "surrogate", "M", "switched_at")},
    }
    assert set(called) == {name for name in vars(Strategy) if not name.startswith("_")}
    found = {name: call() for name, call in called.items()}
    assert found["place"].shape == found["suggest"].shape == (2, 4)
    assert found["subset_model"][0].fitted
    for _, rows in (found["predictor"], found["subset_model"]):
        assert len(rows) > 0 and set(rows) <= set(range(12))
        np.testing.assert_array_equal(np.sort(rows), rows)
    result = opt.result()
    assert result.x_model is not None and np.isfinite(result.fun_model)
    try:
        opt.diagnostics(max_pool=200)
    except ValueError as error:
        assert str(error).startswith("diagnostics are of a ")


@pytest.mark.parametrize("method", SUBSPACES)
def test_where_everything_lies_outside_the_subspace_there_is_no_best_by_the_model(method):
    outside, values = np.random.default_rng(0).uniform(-1.0, 2.0, (6, 4)), np.arange(6.0)
    opt = made(method)
    opt.tell(outside, values)
    assert opt.best("model") == (None, None, None)
    assert opt.result().fun == 0.0 and opt.result().x_model is None
    with pytest.raises(ValueError, match=r"^nothing was told in the subspace"):
        opt.predict(outside)
    with pytest.raises(ValueError, match=r"^diagnostics are of a model of the whole space"):
        opt.diagnostics()
    result = gssbo.minimize(lambda x: float(x @ x), BOUNDS, n_evals=6, x0=outside, method=method, rng=0)
    assert result.nfev == 6 and result.x is not None and result.x_model is None

    def breaks(x):
        if np.array_equal(x, outside[3]):
            raise ZeroDivisionError("the objective's own")
        return float(x @ x)

    with pytest.raises(ZeroDivisionError, match="the objective's own") as caught:
        gssbo.minimize(breaks, BOUNDS, n_evals=6, x0=outside, method=method, rng=0)
    assert caught.value.partial_result.nfev == 3


@pytest.mark.parametrize("method", SUBSPACES)
def test_a_model_of_a_subspace_is_not_taken_for_one_of_a_space_of_as_many_dimensions(method):
    opt = made(method, [(-1.0, 2.0)])
    for _ in range(8):
        x = opt.ask()
        opt.tell(x, float(x @ x))
    with pytest.raises(ValueError, match=r"^diagnostics are of a model of the whole space"):
        opt.diagnostics()

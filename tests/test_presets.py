"""The paper's preset is the paper's protocol."""

import numpy as np
import pytest

import gssbo
from gssbo.methods import method_options
from gssbo.presets import paper, residual

pytestmark = pytest.mark.usefixtures("single_thread")


def test_settings():
    settings = paper(80)
    surrogate = settings.pop("surrogate")
    assert settings == {
        "n_init": 20,
        "initial_design": "lhs",
        "subset_size": 80,
        "dynamic_factor": 4.0,
        "rule": "vector",
        "retain_initial": True,
        "retain_newest": True,
        "pool": "full",
        "refit": 1,
        "refresh": "recompute",
        "acquisition": "ucb",
        "acquisition_options": {"beta": 2.0},
        "n_candidates": None,
    }
    assert surrogate.kernel == "matern52"
    assert surrogate.n_restarts == 2
    assert surrogate.fit_hyperparameters
    assert surrogate.normalize_y
    assert paper()["subset_size"] == "dynamic"


def test_each_call_gives_its_own_objects():
    a, b = paper(50), paper(50)
    assert a["surrogate"] is not b["surrogate"]
    assert a["acquisition_options"] is not b["acquisition_options"]


def test_works_in_the_optimizer():
    optimizer = gssbo.Optimizer([(0.0, 1.0)] * 3, rng=0, **paper(25))
    rng = np.random.default_rng(0)
    X = rng.random((130, 3))
    optimizer.tell(X, np.sin(5 * X[:, 0]) + X[:, 1])
    optimizer.ask()
    assert optimizer.M == 25
    assert optimizer.n_candidates == 10_000
    assert len(optimizer.retained) == 25
    assert set(optimizer.retained) >= {*range(20), 129}


def test_pool_is_the_full_history():
    gp = gssbo.GaussianProcess(lengthscale=[0.3] * 3, fit_hyperparameters=False)
    optimizer = gssbo.Optimizer([(0.0, 1.0)] * 3, rng=0, **{**paper(25), "surrogate": gp})
    X = np.random.default_rng(0).random((300, 3))  # far more than the 4 M of the automatic pool
    optimizer.tell(X, X[:, 0])
    optimizer.ask()
    chosen = gssbo.select_subset(gp.fit(X, X[:, 0]), X, 25, forced=[*range(20), 299])
    np.testing.assert_array_equal(optimizer.retained, np.sort(chosen))


def test_works_in_minimize():
    result = gssbo.minimize(lambda x: float(x @ x), [(-1.0, 1.0)] * 2, n_evals=24, rng=0, **paper(22))
    assert (result.nfev, result.nit, result.M, result.switched_at) == (24, 4, 22, 23)


@pytest.mark.parametrize("size", [21, 0, True, "large"])
def test_bad_size(size):
    with pytest.raises(ValueError, match=r"^subset_size must "):
        gssbo.Optimizer([(0.0, 1.0)], **paper(size))


@pytest.mark.parametrize(
    ("dim", "size", "method"),
    [(2, 100, "gssbo-residual"), (10, 100, "gssbo-residual"), (11, 100, "gssbo-variance-pooled")],
)
def test_the_residual_preset_is_the_method_that_suits_the_dimension(dim, size, method):
    ours, expected = residual(dim, size), {"posterior": "exact", "fit_on": "retained", **method_options(method, size)}
    assert vars(ours.pop("surrogate")).keys() == vars(expected.pop("surrogate")).keys()
    assert ours == expected


def test_a_larger_subset_is_enough_in_more_dimensions():
    assert residual(20, 100)["posterior"] == "pooled"
    assert residual(20, 200)["posterior"] == "exact"
    assert residual(50, 200)["fit_on"] == 2000


@pytest.mark.parametrize("dim", [2, 12])
def test_the_residual_preset_works_in_the_optimizer(dim):
    optimizer = gssbo.Optimizer([(0.0, 1.0)] * dim, rng=0, **residual(dim, 30))
    X = np.random.default_rng(0).random((90, dim))
    optimizer.tell(X, np.sin(5 * X[:, 0]) + X[:, 1])
    assert optimizer.ask().shape == (dim,)
    assert len(optimizer.retained) == 30


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((0,), "^dim must be at least 1, got 0"), ((2.5,), "^dim must be "), ((3, 0), "^subset_size must be at least 1")],
)
def test_what_the_residual_preset_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        residual(*arguments)

"""Every method has an independent check: against the reference or scikit-learn here, or in a file of its own."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

import gssbo
from gssbo import GaussianProcess, select_subset
from gssbo import reference as ref
from gssbo.methods import METHODS
from gssbo.problems import get_problem

pytestmark = pytest.mark.usefixtures("single_thread")

# What the reference's loop is told for the methods that are rules for a subset, in the paper's protocol.
BY_REFERENCE = {
    "gssbo": {"rule": "vector"},
    "gssbo-window": {"rule": "vector", "pool": 64},  # 4 M
    "gssbo-scalar": {"rule": "scalar"},
    "gssbo-kmeans": {"rule": "kmeans++"},
    "gssbo-maxmin": {"rule": "maxmin"},
    "gssbo-residual": {"rule": "residual"},
    "gssbo-exchange": {"rule": "residual-exchange"},
    "gssbo-residual-spread": {"rule": "residual"},
    "rssbo": {"rule": "random", "retain_initial": False},
    "topk-random": {"rule": "topk-random", "retain_initial": False, "retain_newest": False},
}


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_checked(name):
    module = METHODS[name].module
    if module is not None:
        stem = module.rpartition(".")[2]
        assert (Path(__file__).parent / "baselines" / f"test_{stem}.py").exists()
    else:
        here = {"gp-ucb", "gssbo-residual-projected", *BY_REFERENCE}
        assert name in here or name.endswith("-pooled") or name == "gssbo-tolerance"  # test_pooled, test_subset_size


@pytest.mark.parametrize("name", BY_REFERENCE)
def test_the_run_is_the_references(name):
    """96 evaluations of Hartmann6 with given hyperparameters, M = 16, a design of 8: the same points to the bit."""
    problem = get_problem("hartmann6")
    settings = {"subset_size": 16, "n_init": 8, "n_candidates": 100}
    surrogate = GaussianProcess(lengthscale=0.4, noise=1e-2, fit_hyperparameters=False)
    optimizer = gssbo.Optimizer(problem.bounds, method=name, surrogate=surrogate, rng=7, **settings)
    run = ref.reference_loop(
        problem, problem.bounds, 96, theta=np.log([0.4] * 6 + [1.0, 1e-2]), rng=7,
        **{"pool": "full", **settings, **BY_REFERENCE[name]},
    )  # fmt: skip
    for expected in run.X:
        x = optimizer.ask()
        np.testing.assert_array_equal(x, expected)
        optimizer.tell(x, problem(x))
    np.testing.assert_array_equal(optimizer.retained, run.retained[-1])


@pytest.mark.parametrize("n", [30, 120])
def test_gp_ucb_suggests_what_scikit_learn_makes_of_the_whole_history(n):
    """Among all points of a grid: the largest mean + sqrt(2) std of its process with the hyperparameters found."""
    rng = np.random.default_rng(n)
    optimizer = gssbo.Optimizer([range(40)] * 2, method="gp-ucb", rng=0)
    X = rng.integers(0, 40, (n, 2))
    y = np.sin(X[:, 0] / 6) + 0.05 * X[:, 1] + 0.1 * rng.standard_normal(n)
    optimizer.tell(X.tolist(), y)
    suggestion = optimizer.ask()
    model, space = optimizer.surrogate, optimizer.space
    kernel = ConstantKernel(model.variance_) * Matern(model.lengthscale_, nu=2.5) + WhiteKernel(model.noise_)
    theirs = GaussianProcessRegressor(kernel, optimizer=None)
    theirs.fit(space.to_unit(space.read_many("X", X.tolist())), (y.mean() - y) / y.std())
    rows = space.at(np.arange(1600))
    mean, std = theirs.predict(space.to_unit(rows), return_std=True)
    std = np.sqrt(std**2 - model.noise_)  # theirs is of the noisy response
    grid, told = space.show(rows), X.tolist()
    scores = np.where([x in told for x in grid], -np.inf, mean + np.sqrt(2.0) * std)
    assert suggestion == grid[np.argmax(scores)]
    # And no better hyperparameters from theirs: the likelihood is theirs, and at a maximum of it.
    free = GaussianProcessRegressor(kernel, n_restarts_optimizer=0).fit(theirs.X_train_, theirs.y_train_)
    assert free.log_marginal_likelihood_value_ <= model.log_marginal_likelihood_value_ + 1e-3


@pytest.mark.parametrize("n", [60, 150])
def test_a_projection_suggests_what_the_dense_formula_does(n):
    """Among all points of a grid: the largest mean + sqrt(2) std with Q = K_.Z K_ZZ^-1 K_Z., Z what is retained."""
    rng = np.random.default_rng(n)
    gp = GaussianProcess(lengthscale=[0.2, 0.3], noise=0.02, fit_hyperparameters=False)
    options = {"method": "gssbo-residual-projected", "subset_size": 25, "surrogate": gp, "rng": 0}
    optimizer = gssbo.Optimizer([range(40)] * 2, **options)
    X = np.column_stack(np.divmod(rng.permutation(1600)[:n], 40))
    y = np.sin(X[:, 0] / 6) + 0.05 * X[:, 1] + 0.1 * rng.standard_normal(n)
    optimizer.tell(X.tolist(), y)
    suggestion = optimizer.ask()
    space = optimizer.space
    rows = space.at(np.arange(1600))
    grid, told = space.to_unit(rows), space.to_unit(space.read_many("X", X.tolist()))
    Z, z, theta = told[optimizer.retained], (y.mean() - y) / y.std(), np.log([0.2, 0.3, 1.0, 0.02])

    def Q(A, B):
        inner = np.linalg.solve(ref.kernel_matrix(Z, Z, theta), ref.kernel_matrix(Z, B, theta))
        return ref.kernel_matrix(A, Z, theta) @ inner

    weights = np.linalg.solve(Q(told, told) + 0.02 * np.eye(n), Q(told, grid))
    mean, variance = weights.T @ z, 1.0 - np.einsum("ij,ij->j", Q(told, grid), weights)
    points, known = space.show(rows), X.tolist()
    scores = np.where([list(x) in known for x in points], -np.inf, mean + np.sqrt(2.0 * np.maximum(variance, 0.0)))
    assert suggestion == points[np.argmax(scores)]


@pytest.mark.parametrize("seed", range(5))
def test_maxmin_by_brute_force(seed):
    """Each member is the one whose least kernel distance to those before is the largest, over all of them anew."""
    rng = np.random.default_rng(seed)
    X = rng.random((60, 3))
    gp = GaussianProcess(lengthscale=[0.3, 0.5, 0.9], variance=1.7, noise=1e-3, fit_hyperparameters=False)
    gp.fit(X[:10], X[:10, 0])
    found = select_subset(gp, X, 15, rule="maxmin", forced=[4, 31])
    K = ref.kernel_matrix(X, X, gp.theta_)
    distance = np.diag(K)[:, None] + np.diag(K) - 2 * K
    for k in range(2, 15):
        least = np.array([min(distance[i, j] for j in found[:k]) for i in range(60)])
        assert found[k] == np.argmax(np.where(np.isin(np.arange(60), found[:k]), -1.0, least))

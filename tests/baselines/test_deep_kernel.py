"""The deep kernel: its likelihood and features against plain NumPy, its gradients against finite differences."""

import copy
import pickle
from itertools import pairwise

import numpy as np
import pytest

import gssbo
from gssbo import GaussianProcess
from gssbo import reference as ref
from gssbo.baselines.deep_kernel import DeepKernelProcess, log_likelihood, output
from gssbo.fantasy import fantasize
from gssbo.problems import get_problem

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.usefixtures("one_torch_thread")


def tensor(values, learned=False):
    return torch.tensor(np.asarray(values), dtype=torch.float64, requires_grad=learned)


def features(layers, X):
    """The network in plain NumPy."""
    h = 2.0 * X - 1.0
    for W, b in zip(layers[:-2:2], layers[1:-2:2], strict=True):
        h = np.tanh(h @ W + b)
    return h @ layers[-2] + layers[-1]


def setting(n=30, d=3, q=2, hidden=(5, 4), seed=0):
    rng = np.random.default_rng([n, d, seed])
    sizes = [d, *hidden, q]
    layers = []
    for fan_in, fan_out in pairwise(sizes):
        layers += [rng.standard_normal((fan_in, fan_out)) / np.sqrt(fan_in), 0.3 * rng.standard_normal(fan_out)]
    theta = np.log([*rng.uniform(0.5, 1.5, q), 1.3, 0.05])
    X = rng.random((n, d))
    return layers, theta, X, np.sin(4 * X).sum(axis=1), rng


@pytest.mark.parametrize("kernel", ["matern52", "matern32", "rbf"])
def test_the_likelihood_is_that_of_the_process_on_the_features(kernel):
    layers, theta, X, y, rng = setting()
    known = rng.choice([0.0, 0.4], 30)
    found = log_likelihood(
        kernel, [tensor(each) for each in layers], tensor(theta), tensor(X), tensor(y), tensor(known)
    )
    scales, variance, noise = ref.unpack(theta)
    exact = GaussianProcess(
        kernel, lengthscale=scales, variance=variance, noise=noise, fit_hyperparameters=False, normalize_y=False
    ).fit(features(layers, X), y, noise_std=np.sqrt(known))
    assert found.item() == pytest.approx(exact.log_marginal_likelihood_value_, rel=1e-10)


@pytest.mark.parametrize("kernel", ["matern52", "matern32", "rbf"])
def test_gradients_against_finite_differences(kernel):
    layers, theta, X, y, _ = setting(10)
    inputs, responses, known = tensor(X), tensor(y), tensor(np.zeros(10))
    parameters = tuple(tensor(each, True) for each in (*layers, theta))
    assert torch.autograd.gradcheck(
        lambda *each: log_likelihood(kernel, list(each[:-1]), each[-1], inputs, responses, known), parameters
    )
    assert torch.autograd.gradcheck(lambda *each: output(list(each), inputs), parameters[:-1])


def test_the_features_are_the_networks_output():
    X = np.random.default_rng(0).random((20, 3))
    model = DeepKernelProcess(hidden=(6, 5), n_outputs=3, epochs=4, rng=0).fit(X, X.sum(axis=1))
    assert [each.shape for each in model.layers_] == [(3, 6), (6,), (6, 5), (5,), (5, 3), (3,)]
    np.testing.assert_allclose(model.selection_features(X), features(model.layers_, X), atol=1e-14)


def test_the_posterior_is_that_of_the_process_on_the_features():
    _, _, X, y, rng = setting(40)
    points, known = rng.random((60, 3)), rng.choice([0.0, 0.5], 40)
    model = DeepKernelProcess(epochs=20, normalize_y=False, rng=0)
    model.condition(X, y, optimize=True, noise_std=known)
    f = [features(model.layers_, each) for each in (X, points)]
    K = ref.kernel_matrix(f[0], f[0], model.theta_) + np.diag(np.exp(model.theta_[-1]) + known**2)
    k = ref.kernel_matrix(f[0], f[1], model.theta_)
    mean, std = model.posterior(points)
    np.testing.assert_allclose(mean, k.T @ np.linalg.solve(K, y), atol=1e-8)
    variance = np.exp(model.theta_[-2]) - np.einsum("ij,ij->j", k, np.linalg.solve(K, k))
    np.testing.assert_allclose(std**2, variance, atol=1e-8)
    assert model.noise_ == pytest.approx(np.exp(model.theta_[-1]))


def test_training_climbs_the_likelihood_and_goes_on_from_the_last_fit():
    _, _, X, y, _ = setting(40)

    def value(model):
        return model.process_.log_marginal_likelihood_value_

    start = value(DeepKernelProcess(epochs=0, rng=0).fit(X, y))
    model = DeepKernelProcess(epochs=30, rng=0)
    model.prepare(3)
    reached = [start]
    for _ in range(3):
        model.condition(X, y, optimize=True)
        reached.append(value(model))
    assert (np.diff(reached) > 1.0).all()
    theta, layers = model.theta_, model.layers_
    model.condition(X, y, optimize=False)
    np.testing.assert_array_equal(model.theta_, theta)
    np.testing.assert_array_equal(model.layers_[0], layers[0])
    assert value(model) == pytest.approx(reached[-1])


def test_the_noise_stays_within_its_bounds():
    _, _, X, y, _ = setting(40)
    model = DeepKernelProcess(epochs=60, noise=0.03, noise_bounds=(0.0299, 0.0301), rng=0).fit(X, y)
    assert model.noise_ in (pytest.approx(0.0299, rel=1e-12), pytest.approx(0.0301, rel=1e-12))


def test_the_rule_chooses_by_the_features():
    """The vector rule of the reference on cosines of the network's centred outputs, forced ones first."""
    problem = get_problem("hartmann6")
    model = DeepKernelProcess(epochs=5)
    optimizer = gssbo.Optimizer(
        problem.bounds, method="deep-kernel", surrogate=model, subset_size=30, n_candidates=50, rng=0
    )
    X = np.random.default_rng(0).random((60, 6))
    optimizer.tell(X, problem(X))
    optimizer.ask()
    optimizer.tell(X[0] + 0.01, 0.5)
    before = copy.deepcopy(optimizer.surrogate)
    optimizer.ask()
    f = features(before.layers_, optimizer.X)
    f = f - f.mean(axis=0)
    f /= np.linalg.norm(f, axis=1)[:, None]
    expected = ref.greedy_cosine(f @ f.T, 30, [*range(20), 60])
    np.testing.assert_array_equal(optimizer.retained, np.sort(expected))


def test_pending_points_are_observed_at_their_mean():
    _, _, X, y, rng = setting(40)
    pending, query = rng.random((3, 3)), rng.random((50, 3))
    model = DeepKernelProcess(epochs=10, rng=0).fit(X, y)
    imagined = fantasize(model, pending)
    process = fantasize(model.process_, features(model.layers_, pending))
    np.testing.assert_allclose(imagined.posterior(query), process.posterior(features(model.layers_, query)), atol=1e-9)
    assert (imagined.posterior(query)[1] < model.posterior(query)[1] + 1e-12).all()
    assert imagined.process_ is not model.process_


def test_nothing_global_is_touched_or_matters_and_all_state_is_arrays(other_torch_settings):
    _, _, X, y, rng = setting(40)
    points = rng.random((30, 3))
    model = DeepKernelProcess(epochs=5, rng=0).fit(X, y)
    with other_torch_settings():
        again = DeepKernelProcess(epochs=5, rng=0).fit(X, y)
        np.testing.assert_array_equal(again.posterior(points), model.posterior(points))
    assert all(isinstance(each, np.ndarray) for each in model.layers_)
    assert not any(isinstance(each, torch.Tensor) for each in vars(model).values())
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.posterior(points), model.posterior(points))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_outputs": 0}, "^n_outputs must be at least 1, got 0"),
        ({"hidden": (8, 0)}, "^hidden must be at least 1, got 0"),
        ({"kernel": "linear"}, "^kernel must be one of"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        DeepKernelProcess(**options)

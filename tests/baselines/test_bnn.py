"""The Bayesian network: its bound against a plain formula, its gradients, and linear regression as a special case."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import norm

import gssbo
from gssbo import reference as ref
from gssbo.baselines.bnn import BayesianNetwork, bound, moments
from gssbo.fantasy import fantasize
from gssbo.problems import get_problem

torch = pytest.importorskip("torch")

pytestmark = pytest.mark.usefixtures("one_torch_thread")


def tensors(values, learned=False):
    return [torch.tensor(np.asarray(each), dtype=torch.float64, requires_grad=learned) for each in values]


def setting(n=25, d=3, hidden=(5, 4), S=3, seed=0):
    """Mu, sigma, draws, X, z."""
    rng = np.random.default_rng([n, d, seed])
    sizes = [d, *hidden, 1]
    mu, sigma = [], []
    for fan_in, fan_out in pairwise(sizes):
        for shape in ((fan_in, fan_out), (fan_out,)):
            mu.append(rng.standard_normal(shape))
            sigma.append(rng.uniform(0.1, 0.8, shape))
    draws = [rng.standard_normal((S, *each.shape)) for each in mu[:-2]]
    X = rng.random((n, d))
    return mu, sigma, draws, X, np.sin(4 * X).sum(axis=1), rng


def last_hidden(layers, X):
    h = 2.0 * X - 1.0
    for W, b in zip(layers[::2], layers[1::2], strict=True):
        h = np.tanh(h @ W + b)
    return h


def test_the_bound_is_its_definition():
    """E log N by quadrature over the output, which is normal given the hidden layers; KL by its formula."""
    mu, sigma, draws, X, z, rng = setting()
    noise = 0.3 + rng.choice([0.0, 0.5], 25)
    nodes, weights = np.polynomial.hermite_e.hermegauss(30)
    expected = 0.0
    for s in range(3):
        h = last_hidden([m + g * e[s] for m, g, e in zip(mu[:-2], sigma[:-2], draws, strict=True)], X)
        mean = (h @ mu[-2])[:, 0] + mu[-1]
        std = np.sqrt((h**2 @ sigma[-2] ** 2)[:, 0] + sigma[-1] ** 2)
        for node, weight in zip(nodes, weights / weights.sum(), strict=True):
            expected += weight * norm.logpdf(z, mean + node * std, np.sqrt(noise)).sum() / 3
    for m, g in zip(mu, sigma, strict=True):
        scale = 1.0 / np.sqrt(m.shape[0]) if m.ndim == 2 else 1.0
        expected -= (np.log(scale / g) + (g**2 + m**2) / (2 * scale**2) - 0.5).sum()
    found = bound(tensors(mu), tensors(sigma), tensors(draws), *tensors([noise, X, z]))
    assert found.item() == pytest.approx(expected, rel=1e-10)


def test_gradients_against_finite_differences():
    mu, sigma, draws, X, z, _ = setting(8, hidden=(3, 2), S=2)
    given, fixed = tensors(draws), tensors([X, z])
    parameters = (*tensors(mu, True), *tensors(sigma, True), *tensors([0.3], True))
    assert torch.autograd.gradcheck(
        lambda *each: bound(list(each[:6]), list(each[6:12]), given, each[12], *fixed), parameters
    )


def test_without_hidden_layers_it_is_linear_regression():
    """The best independent normal weights: the exact posterior mean, and one over the precision's diagonal."""
    rng = np.random.default_rng(0)
    X, noise = rng.random((40, 3)), 0.2
    z = (2 * X - 1) @ [1.0, -2.0, 0.5] + 0.3 + 0.4 * rng.standard_normal(40)
    F = np.column_stack([2 * X - 1, np.ones(40)])
    precision = F.T @ F / noise + np.diag([3.0, 3.0, 3.0, 1.0])
    mean, std = np.linalg.solve(precision, F.T @ z / noise), 1 / np.sqrt(np.diag(precision))
    mu, sigma = tensors([mean[:3, None], mean[3:]], True), tensors([std[:3, None], std[3:]], True)
    bound(mu, sigma, [], *tensors([noise, X, z])).backward()
    for each in (*mu, *sigma):
        np.testing.assert_allclose(each.grad, np.zeros(each.shape), atol=1e-9)
    # And training gets there.
    model = BayesianNetwork(
        hidden=(), epochs=1500, noise=noise, noise_bounds=(0.999 * noise, 1.001 * noise), normalize_y=False, rng=0
    ).fit(X, z)
    np.testing.assert_allclose(np.vstack([model.mu_[0], [model.mu_[1]]])[:, 0], mean, atol=2e-3)
    np.testing.assert_allclose(np.vstack([model.sigma_[0], [model.sigma_[1]]])[:, 0], std, rtol=2e-2)
    points = rng.random((20, 3))
    G = np.column_stack([2 * points - 1, np.ones(20)])
    found_mean, found_std = model.posterior(points)
    np.testing.assert_allclose(found_mean, G @ mean, atol=5e-3)
    np.testing.assert_allclose(found_std, np.sqrt(G**2 @ std**2), rtol=2e-2)


def test_the_posterior_is_the_mixture_of_its_draws():
    """Against 20,000 draws of the last layer under each of the hidden ones: within 5 standard errors."""
    _, _, _, X, z, rng = setting(40)
    points = rng.random((6, 3))
    model = BayesianNetwork(hidden=(5, 4), n_draws=3, epochs=20, rng=0).fit(X, z)
    samples = []
    for s in range(3):
        hidden = [m + g * e[s] for m, g, e in zip(model.mu_[:-2], model.sigma_[:-2], model.draws_, strict=True)]
        h = last_hidden(hidden, points)
        W = model.mu_[-2] + model.sigma_[-2] * rng.standard_normal((4, 20_000))
        samples.append(h @ W + model.mu_[-1] + model.sigma_[-1] * rng.standard_normal(20_000))
    outputs = np.hstack(samples)
    mean, std = model.posterior(points)
    assert (np.abs(outputs.mean(axis=1) - mean) < 5 * std / np.sqrt(60_000)).all()
    covariance = model.covariance(points, points)
    np.testing.assert_allclose(np.diag(covariance), std**2, rtol=1e-10)
    np.testing.assert_allclose(np.cov(outputs), covariance, atol=0.05 * (std**2).max())
    imagined = fantasize(model, points[:2])
    inverse = np.linalg.inv(covariance[:2, :2] + model.noise_ * np.eye(2))
    expected = std**2 - np.einsum("ij,ik,kj->j", covariance[:2], inverse, covariance[:2])
    np.testing.assert_allclose(imagined.posterior(points)[1] ** 2, expected, atol=1e-10)
    np.testing.assert_array_equal(imagined.posterior(points)[0], mean)


def test_features_are_the_outputs_gradient_in_the_last_layer():
    _, _, _, X, z, _ = setting(20)
    model = BayesianNetwork(hidden=(5, 4), epochs=5, rng=0).fit(X, z)
    found = model.selection_features(X)
    np.testing.assert_allclose(found, last_hidden(model.mu_[:-2], X), atol=1e-14)
    mu = tensors(model.mu_, True)
    zero = [torch.zeros_like(each) for each in mu]
    draws = [torch.zeros((1, *each.shape), dtype=torch.float64) for each in mu[:-2]]
    _, output, _ = moments(mu, zero, draws, *tensors([X]))
    for i in range(20):
        (gradient,) = torch.autograd.grad(output[0, i], mu[-2], retain_graph=True)
        np.testing.assert_allclose(gradient[:, 0], found[i], atol=1e-12)
    # By central differences of the plain network too.
    step, W = 1e-6, model.mu_[-2]
    for k in range(4):
        up, down = (last_hidden(model.mu_[:-2], X) @ (W + sign * step * np.eye(4)[:, k : k + 1]) for sign in (1, -1))
        np.testing.assert_allclose((up - down)[:, 0] / (2 * step), found[:, k], atol=1e-8)


def test_training_climbs_and_goes_on_from_the_last_fit():
    _, _, _, X, z, _ = setting(60)
    model = BayesianNetwork(epochs=40, rng=0)
    model.prepare(3)
    errors = []
    for _ in range(4):
        model.condition(X, z, optimize=True)
        errors.append(np.sqrt(np.mean((model.posterior(X)[0] - model.y_train_) ** 2)))
    assert errors[-1] < 0.6 * errors[0]
    mu, draws = model.mu_, model.draws_
    model.condition(X, z, optimize=False)
    np.testing.assert_array_equal(model.mu_[0], mu[0])
    assert model.draws_ is draws


def test_the_rule_chooses_by_the_features():
    """The vector rule of the reference on cosines of the centred hidden layer, forced ones first."""
    problem = get_problem("hartmann6")
    optimizer = gssbo.Optimizer(
        problem.bounds, method="bnn", surrogate=BayesianNetwork(epochs=5), subset_size=30, n_candidates=50, rng=0
    )
    X = np.random.default_rng(0).random((60, 6))
    optimizer.tell(X, problem(X))
    optimizer.ask()
    mu = optimizer.surrogate.mu_
    optimizer.tell(X[0] + 0.01, 0.5)
    optimizer.ask()
    f = last_hidden(mu[:-2], optimizer.X)
    f = f - f.mean(axis=0)
    f /= np.linalg.norm(f, axis=1)[:, None]
    expected = ref.greedy_cosine(f @ f.T, 30, [*range(20), 60])
    np.testing.assert_array_equal(optimizer.retained, np.sort(expected))


def test_nothing_global_is_touched_or_matters_and_all_state_is_arrays(other_torch_settings):
    _, _, _, X, z, rng = setting(40)
    points = rng.random((30, 3))
    model = BayesianNetwork(epochs=5, rng=0).fit(X, z)
    with other_torch_settings():
        again = BayesianNetwork(epochs=5, rng=0).fit(X, z)
        np.testing.assert_array_equal(again.posterior(points), model.posterior(points))
    for values in (model.mu_, model.sigma_, model.draws_):
        assert all(isinstance(each, np.ndarray) for each in values)
    twin = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(twin.posterior(points), model.posterior(points))
    assert not np.array_equal(BayesianNetwork(epochs=5, rng=1).fit(X, z).posterior(points), model.posterior(points))


def test_the_noise_is_not_free_to_explain_everything():
    """A free one grows where the function is rough; it is at most a hundredth of the responses' variance."""
    rng = np.random.default_rng(0)
    X, z = rng.random((40, 3)), rng.standard_normal(40)
    assert BayesianNetwork(epochs=60, rng=0).fit(X, z).noise_ == pytest.approx(0.01, rel=1e-12)
    assert BayesianNetwork(epochs=60, noise_bounds=(1e-6, 10.0), rng=0).fit(X, z).noise_ > 0.012


def test_bad_options():
    with pytest.raises(ValueError, match=r"^n_draws must be at least 1, got 0"):
        BayesianNetwork(n_draws=0)

"""The variational process against GPyTorch's, dense formulas, and the exact process as its limit."""

import copy
import pickle

import numpy as np
import pytest

from gssbo import GaussianProcess
from gssbo import reference as ref
from gssbo.baselines.sparse_gp import JITTER, SparseProcess, bound, optimum
from gssbo.fantasy import fantasize
from gssbo.kernels import Kernel

torch = pytest.importorskip("torch")
gpytorch = pytest.importorskip("gpytorch")

pytestmark = pytest.mark.usefixtures("one_torch_thread")

KERNELS = ["matern52", "matern32", "rbf"]


def setting(n=40, d=3, seed=0):
    rng = np.random.default_rng([n, d, seed])
    theta = np.log([*rng.uniform(0.3, 1.0, d) * np.sqrt(d), rng.uniform(0.5, 2.0), 10 ** rng.uniform(-2, -1)])
    X = rng.random((n, d))
    y = np.sin(4 * X).sum(axis=1) + 0.1 * rng.standard_normal(n)
    return X, (y - y.mean()) / y.std(), theta, rng


def fixed(theta, kernel="matern52", **options):
    scales, variance, noise = ref.unpack(theta)
    options = {"fit_hyperparameters": False, "normalize_y": False, "rng": 0, **options}
    return SparseProcess(kernel, lengthscale=scales, variance=variance, noise=noise, **options)


def tensor(values):
    return torch.tensor(np.asarray(values), dtype=torch.float64)


def shape(kernel, d):
    if kernel == "rbf":
        return gpytorch.kernels.RBFKernel(ard_num_dims=d)
    return gpytorch.kernels.MaternKernel(nu={"matern52": 2.5, "matern32": 1.5}[kernel], ard_num_dims=d)


def gpytorch_model(kernel, theta, Z, a, L):
    """GPyTorch's own variational process with these values."""
    scales, variance, noise = ref.unpack(theta)

    class Model(gpytorch.models.ApproximateGP):
        def __init__(self):
            distribution = gpytorch.variational.CholeskyVariationalDistribution(len(Z))
            super().__init__(gpytorch.variational.VariationalStrategy(self, tensor(Z), distribution, jitter_val=JITTER))
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(shape(kernel, Z.shape[1]))

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    model = Model().double()
    model.covar_module.base_kernel.lengthscale = tensor(scales)
    model.covar_module.outputscale = tensor(variance)
    strategy = model.variational_strategy
    strategy._variational_distribution.variational_mean.data = tensor(a)
    strategy._variational_distribution.chol_variational_covar.data = tensor(L)
    strategy.variational_params_initialized.fill_(1)
    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()
    likelihood.noise = tensor(noise)
    return model, likelihood


def gpytorch_exact(kernel, theta, X, y, points):
    """Mean and variance of GPyTorch's exact process."""
    scales, variance, noise = ref.unpack(theta)
    likelihood = gpytorch.likelihoods.GaussianLikelihood().double()

    class Model(gpytorch.models.ExactGP):
        def __init__(self):
            super().__init__(tensor(X), tensor(y), likelihood)
            self.mean_module = gpytorch.means.ZeroMean()
            self.covar_module = gpytorch.kernels.ScaleKernel(shape(kernel, X.shape[1]))

        def forward(self, x):
            return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))

    model = Model().double()
    model.covar_module.base_kernel.lengthscale = tensor(scales)
    model.covar_module.outputscale = tensor(variance)
    likelihood.noise = tensor(noise)
    model.eval()
    with torch.no_grad():
        f = model(tensor(points))
        return f.mean.numpy(), f.variance.numpy()


def values(theta, Z, a, L, requires_grad=True):
    scales, variance, noise = ref.unpack(theta)
    return tuple(tensor(each).requires_grad_(requires_grad) for each in (Z, a, L, scales, variance, noise))


def some_distribution(rng, m):
    return rng.standard_normal(m), np.tril(0.1 * rng.standard_normal((m, m))) + 0.5 * np.eye(m)


# The bound


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_bound_and_its_gradient_are_gpytorchs(kernel):
    X, y, theta, rng = setting()
    Z = rng.random((7, 3))
    a, L = some_distribution(rng, 7)
    model, likelihood = gpytorch_model(kernel, theta, Z, a, L)
    model.train()
    f = model(tensor(X))
    theirs = 40 * gpytorch.mlls.VariationalELBO(likelihood, model, num_data=40)(f, tensor(y))
    # GPyTorch adds its jitter to the variance at the observations too.
    theirs = theirs + 0.5 * 40 * JITTER / likelihood.noise[0]
    theirs.backward()
    mine = values(theta, Z, a, L)
    ours = bound(kernel, mine, tensor(X), tensor(y))
    ours.backward()
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-9)
    distribution = model.variational_strategy._variational_distribution
    for here, there in [
        (mine[0], model.variational_strategy.inducing_points),
        (mine[1], distribution.variational_mean),
        (mine[2], distribution.chol_variational_covar),
    ]:
        np.testing.assert_allclose(here.grad, there.grad, rtol=1e-6, atol=1e-6)
    # Theirs is in what the softplus is taken of.
    raw = model.covar_module.base_kernel.raw_lengthscale
    np.testing.assert_allclose(mine[3].grad * torch.sigmoid(raw.detach()[0]), raw.grad[0], rtol=1e-6)
    raw = model.covar_module.raw_outputscale
    np.testing.assert_allclose(mine[4].grad * torch.sigmoid(raw.detach()), raw.grad, rtol=1e-6)
    raw = likelihood.noise_covar.raw_noise
    np.testing.assert_allclose(mine[5].grad * torch.sigmoid(raw.detach()[0]), raw.grad[0], rtol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_gradients_against_finite_differences(kernel):
    X, y, theta, rng = setting(12)
    inputs, responses = tensor(X), tensor(y)
    values_here = values(theta, rng.random((4, 3)), *some_distribution(rng, 4))
    assert torch.autograd.gradcheck(
        lambda *each: bound(kernel, each, inputs, responses), values_here, eps=1e-6, atol=1e-5, rtol=1e-5
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_start_is_the_optimum_of_the_collapsed_bound(kernel):
    """Titsias: log N(z; 0, Q + noise) - tr(K - Q) / (2 noise), with single noises; nothing is left to climb."""
    X, y, theta, rng = setting()
    scales, variance, noise = ref.unpack(theta)
    noises = noise + rng.choice([0.0, 0.5], 40)
    Z = rng.random((9, 3))
    a, L = optimum(Kernel(kernel, scales, variance), Z, X, y, noises)
    mine = values(theta, Z, a, L)
    found = bound(kernel, (*mine[:5], tensor(noises)), tensor(X), tensor(y))
    Kzz = ref.kernel_matrix(Z, Z, theta, kernel) + JITTER * np.eye(9)
    Kzx = ref.kernel_matrix(Z, X, theta, kernel)
    Q = Kzx.T @ np.linalg.solve(Kzz, Kzx)
    C = Q + np.diag(noises)
    collapsed = -0.5 * (y @ np.linalg.solve(C, y) + np.linalg.slogdet(2 * np.pi * C)[1])
    collapsed -= 0.5 * ((variance - np.diag(Q)) / noises).sum()
    assert found.item() == pytest.approx(collapsed, rel=1e-9)
    found.backward()
    assert np.abs(mine[1].grad.numpy()).max() < 1e-7 and np.abs(mine[2].grad.tril().numpy()).max() < 1e-6


def test_adams_path_is_that_of_gpytorch():
    """15 epochs of GPyTorch's model, likelihood and bound under PyTorch's Adam, from the same start."""
    X, y, _, _ = setting(60)
    model = SparseProcess(
        n_inducing=12, epochs=15, lengthscale=0.5, noise=0.1, noise_bounds=(1e-4, 10.0), normalize_y=False, rng=3
    ).fit(X, y)
    theta = np.log([0.5, 0.5, 0.5, 1.0, 0.1])
    Z = X[model.fit_info_["start"]]
    start = optimum(Kernel("matern52", np.full(3, 0.5), 1.0), Z, X, y, np.full(60, 0.1))
    theirs, likelihood = gpytorch_model("matern52", theta, Z, *start)
    theirs.train()
    likelihood.train()
    elbo = gpytorch.mlls.VariationalELBO(likelihood, theirs, num_data=60)
    adam = torch.optim.Adam([*theirs.parameters(), *likelihood.parameters()], lr=0.01)
    for _ in range(15):
        adam.zero_grad()
        loss = -elbo(theirs(tensor(X)), tensor(y))
        loss.backward()
        adam.step()
    strategy = theirs.variational_strategy
    np.testing.assert_allclose(model.inducing_, strategy.inducing_points.detach(), atol=1e-4)
    np.testing.assert_allclose(model.mean_, strategy._variational_distribution.variational_mean.detach(), atol=1e-4)
    scale = theirs.covar_module
    np.testing.assert_allclose(model.lengthscale_, scale.base_kernel.lengthscale.detach()[0], rtol=1e-4)
    assert model.variance_ == pytest.approx(scale.outputscale.item(), rel=1e-4)
    assert model.noise_ == pytest.approx(likelihood.noise.item(), rel=1e-4)
    assert np.abs(model.inducing_ - Z).max() > 0.05 and abs(model.noise_ - 0.1) > 0.005


# The posterior


@pytest.mark.parametrize("kernel", KERNELS)
def test_predictions_are_gpytorchs(kernel):
    X, y, theta, rng = setting()
    points = np.vstack([rng.random((600, 3)), X[:3]])
    model = fixed(theta, kernel, n_inducing=11, epochs=3).fit(X, y)
    theirs, _ = gpytorch_model(kernel, model.theta_, model.inducing_, model.mean_, model.factor_)
    theirs.eval()
    with torch.no_grad():
        f = theirs(tensor(points))
        mean, std = model.predict(points, return_std=True)
        np.testing.assert_allclose(mean, f.mean, atol=1e-7)
        np.testing.assert_allclose(std**2 + JITTER, f.variance, atol=1e-7)
        np.testing.assert_allclose(model.covariance(points[:5], points[5:30]), f.covariance_matrix[:5, 5:30], atol=1e-7)
    np.testing.assert_allclose(np.diag(model.covariance(points[:9], points[:9])), std[:9] ** 2, atol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_exact_process_is_the_limit(kernel):
    """With the observations as inducing points the bound is the likelihood, and nothing is left to climb.

    To 1e-4 of a response's standard deviation, and 0.01 nats: the jitter is 1e-6, the noise 0.01 to 0.1.
    """
    X, y, theta, rng = setting()
    points = rng.random((200, 3))
    model = fixed(theta, kernel, n_inducing=40, epochs=0).fit(X, y)
    mean, variance = gpytorch_exact(kernel, theta, X, y, points)
    found_mean, found_std = model.predict(points, return_std=True)
    np.testing.assert_allclose(found_mean, mean, atol=1e-4)
    np.testing.assert_allclose(found_std**2, variance, atol=1e-4)
    scales, signal, noise = ref.unpack(theta)
    exact = GaussianProcess(
        kernel, lengthscale=scales, variance=signal, noise=noise, fit_hyperparameters=False, normalize_y=False
    ).fit(X, y)
    mine = values(theta, model.inducing_, model.mean_, model.factor_)
    reached = bound(kernel, mine, tensor(X), tensor(y))
    assert exact.log_marginal_likelihood_value_ - 0.01 < reached.item() < exact.log_marginal_likelihood_value_
    reached.backward()
    _, gradient = exact.log_marginal_likelihood(theta, eval_gradient=True)
    found = np.concatenate([mine[3].grad * mine[3].detach(), [mine[4].grad * mine[4].detach()]])
    np.testing.assert_allclose(found, gradient[:-1], atol=0.02)
    assert max(mine[1].grad.abs().max(), mine[2].grad.tril().abs().max()) < 1e-6


def test_known_noise_of_single_observations():
    """With the observations as inducing points: the exact process with these noises."""
    X, y, theta, rng = setting()
    known, points = rng.choice([0.0, 0.5, 1.5], 40), rng.random((50, 3))
    scales, signal, noise = ref.unpack(theta)
    exact = GaussianProcess(
        lengthscale=scales, variance=signal, noise=noise, fit_hyperparameters=False, normalize_y=False
    ).fit(X, y, noise_std=known)
    model = fixed(theta, epochs=0).fit(X, y, noise_std=known)
    for a, b in zip(model.predict(points, True), exact.predict(points, True), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-4)


def test_pending_points_leave_the_mean_and_shrink_the_deviation():
    X, y, theta, rng = setting()
    pending, query = rng.random((4, 3)), rng.random((50, 3))
    model = fixed(theta, n_inducing=15, epochs=0).fit(X, y)
    imagined = fantasize(model, pending)
    mean, std = model.posterior(query)
    shared = model.covariance(pending, query)
    inverse = np.linalg.inv(model.covariance(pending, pending) + model.noise_ * np.eye(4))
    np.testing.assert_array_equal(imagined.posterior(query)[0], mean)
    expected = std**2 - np.einsum("ij,ik,kj->j", shared, inverse, shared)
    np.testing.assert_allclose(imagined.posterior(query)[1] ** 2, expected, atol=1e-10)
    two = fantasize(fantasize(model, pending[:2]), pending[2:])
    np.testing.assert_allclose(two.posterior(query)[1], imagined.posterior(query)[1], atol=1e-10)
    assert (imagined.posterior_bound(query)[1] >= imagined.posterior(query)[1]).all()


# The fit


def test_inducing_points_start_at_observations_drawn_at_random():
    X, y, _, _ = setting(100)
    model = SparseProcess(epochs=0, rng=0).fit(X, y)
    assert len(set(model.fit_info_["start"].tolist())) == 40
    np.testing.assert_array_equal(model.inducing_, X[model.fit_info_["start"]])
    assert not np.array_equal(SparseProcess(epochs=0, rng=1).fit(X, y).inducing_, model.inducing_)
    assert len(SparseProcess(epochs=0, rng=0).fit(X[:25], y[:25]).inducing_) == 25


def test_training_climbs_and_goes_on_from_the_last_fit():
    X, y, _, _ = setting(100)
    model = SparseProcess(epochs=50, rng=0)
    model.prepare(3)
    model.condition(X, y, optimize=True)
    assert (model.fit_info_["status"], model.fit_info_["epochs"]) == ("trained", 50)

    def reached(model, theta, Z, a, L):
        return bound("matern52", values(theta, Z, a, L, False), tensor(X), tensor(model.y_train_)).item()

    before = SparseProcess(epochs=0, rng=0).fit(X, y)
    start = reached(before, before.theta_, before.inducing_, before.mean_, before.factor_)
    end = reached(model, model.theta_, model.inducing_, model.mean_, model.factor_)
    assert end > start + 1.0
    theta = model.theta_
    model.condition(X, y, optimize=False)
    np.testing.assert_array_equal(model.theta_, theta)
    model.condition(X, y, optimize=True)
    first = SparseProcess(epochs=50, rng=0).fit(X, y).theta_
    assert np.abs(model.theta_ - first).max() > 0.1
    model.condition(X, np.ones(100), optimize=True)
    assert model.fit_info_["status"] == "constant" and model.posterior(X)[0] == pytest.approx(np.zeros(100))


def test_failed_evaluations_are_taken_for_bad_ones():
    X, y, _, _ = setting()
    model = SparseProcess(epochs=5, rng=0)
    y = np.where(np.arange(40) == 7, np.nan, y)
    model.condition(X, y, optimize=True)
    assert model.y_train_[7] == pytest.approx(np.delete(model.y_train_, 7).min() - 1.0)
    assert np.isfinite(model.posterior(X)).all()


def test_nothing_global_is_touched_or_matters(other_torch_settings):
    X, y, _, rng = setting()
    points = rng.random((30, 3))
    plain = SparseProcess(epochs=5, rng=0).fit(X, y).predict(points, return_std=True)
    with other_torch_settings(), torch.no_grad():
        again = SparseProcess(epochs=5, rng=0, threads=2).fit(X, y).predict(points, return_std=True)
        assert not torch.is_grad_enabled()
    np.testing.assert_array_equal(again, plain)


def test_all_state_is_arrays_and_numbers():
    X, y, _, _ = setting()
    model = SparseProcess(epochs=5, rng=0).fit(X, y)
    assert not any(isinstance(each, (torch.Tensor, torch.nn.Module)) for each in vars(model).values())
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(twin.posterior(X), model.posterior(X))
        twin.warm_start = model.warm_start = True
        twin.condition(X, y, optimize=True, rng=np.random.default_rng(0))
        once = copy.deepcopy(model)
        once.condition(X, y, optimize=True, rng=np.random.default_rng(0))
        np.testing.assert_array_equal(twin.posterior(X), once.posterior(X))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_inducing": 0}, "^n_inducing must be at least 1, got 0"),
        ({"epochs": -1}, "^epochs must be at least 0, got -1"),
        ({"learning_rate": 0.0}, "^learning_rate must be (above|greater than) 0"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        SparseProcess(**options)
